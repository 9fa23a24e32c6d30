"""Stages 1 to 3: reasoning, parse and structure, from a language model or from the caller.

Source: Chen et al., EMNLP 2025, section 4.1, Tables 6 and 7. Both sides of an option are prompted
for: prompted for support alone, a model mixes in what opposes (footnote 6). The rules for keys are
ours: footnote 7 names their normalisation and does not give it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from services.cot2el.contract import Cot2elRequest, Cot2elWriting
from shared.contracts.calls import Completion, Prompt, Sampling, Turn
from shared.contracts.errors import BadInput
from shared.contracts.messages import MAX_TEXT
from shared.contracts.questions import STANCES, Explanation, Option, choose
from shared.models.ports import PromptOfRequest, generate

OPEN, CLOSE = "<think>", "</think>"
TRIES = 3
AGAIN = 0.6  # temperature of the second and third try: a greedy one would repeat the first
MOST_OBJECTS = 100  # that are tried in one answer
MARKS = re.compile(r"^\s*(?:(?:[-*•]+|\(?\d{1,3}[.)])\s+)+")
QUOTES = "\"'“”‘’«»*_` "
LETTER = re.compile(r"^(?:option\s*)?\(?([A-Za-z])\)?\s*(?:[.:)\-–]|$)", re.IGNORECASE)

PARSE = """\
The content of your reasoning process is below:
{reasoning}
Please extract and list all the original sentences from the aforementioned reasoning process that \
support and oppose each option separately."""

STRUCTURE = """\
Convert the given markdown into a structured JSON where each option has two keys: support and \
oppose. Each key should map to a list of statements from the markdown that either support or \
oppose that option.
EXAMPLE JSON OUTPUT:
{
  "Option A": {"support": ["SentenceA.1", "SentenceA.2"], "oppose": ["SentenceA.3"]},
  "Option B": {"support": ["SentenceB.1"], "oppose": []}
}"""

Status = Literal["ok", "no_reasoning", "parse_failed"]


@dataclass(frozen=True)
class ReasoningDraft:
    """One request between the stages."""

    place: int  # in the batch
    request: Cot2elRequest
    reasoning: str | None
    answer: str | None
    parse: str | None = None
    pairs: tuple[Explanation, ...] = ()
    unplaced: tuple[tuple[str, int], ...] = ()
    status: Status = "ok"
    warnings: tuple[str, ...] = ()

    @property
    def writing(self) -> Cot2elWriting:
        return self.request.writing or Cot2elWriting()

    @property
    def open(self) -> bool:
        """Whether a stage is left for a model."""
        return self.request.model is not None and self.status == "ok"


def drafts(requests: Sequence[Cot2elRequest]) -> list[ReasoningDraft]:
    """Every request with its reasoning and its pairs; a failed stage is a status, no exception."""
    begun = [
        ReasoningDraft(
            place,
            request,
            request.reasoning,
            request.answer,
            pairs=unique_pairs(request.pairs or ()),
        )
        for place, request in enumerate(requests)
    ]
    return _add_structure(_add_parse(_add_reasoning(begun)))


def split_reasoning(text: str) -> tuple[str | None, str]:
    """Reasoning and answer of what a model wrote; no reasoning: None.

    A template that opens the reasoning by itself leaves only its end in the text; a reasoning that
    was cut off has no answer.
    """
    before, closed, after = text.partition(CLOSE)
    _, opened, inside = before.partition(OPEN)
    if not opened and not closed:
        return None, text.strip()
    reasoning = (inside if opened else before).strip()
    return reasoning or None, after.strip()


def _add_reasoning(begun: list[ReasoningDraft]) -> list[ReasoningDraft]:
    """Stage 1, for requests without reasoning."""
    return _prompt_each(
        begun,
        [draft for draft in begun if draft.open and draft.reasoning is None],
        lambda draft: reasoning_prompt(draft.request),
        _with_reasoning,
    )


def _with_reasoning(draft: ReasoningDraft, completion: Completion) -> ReasoningDraft:
    reasoning, answer = split_reasoning(completion.text)
    if draft.writing.source == "answer_text":
        reasoning = completion.text.replace(OPEN, "").replace(CLOSE, "").strip() or None
    if reasoning is None:
        why = "the model wrote no reasoning part: ask for `answer_text`, or name a reasoning model"
        return replace(draft, status="no_reasoning", warnings=(why,))
    warnings = ("the reasoning was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, reasoning=reasoning, answer=answer or None, warnings=warnings)


def _add_parse(reasoned: list[ReasoningDraft]) -> list[ReasoningDraft]:
    """Stage 2: what supports and what opposes each option, in the model's own words."""
    return _prompt_each(
        reasoned,
        [draft for draft in reasoned if draft.open],
        lambda draft: parse_prompt(draft.request, draft.reasoning or "", draft.answer),
        _with_parse,
    )


def _with_parse(draft: ReasoningDraft, completion: Completion) -> ReasoningDraft:
    _, parse = split_reasoning(completion.text)
    if not parse:
        why = "the model wrote no parse"
        return replace(draft, status="parse_failed", warnings=(*draft.warnings, why))
    cut = ("the parse was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, parse=parse, warnings=(*draft.warnings, *cut))


def _add_structure(parsed: list[ReasoningDraft]) -> list[ReasoningDraft]:
    """Stage 3: JSON of the right shape, in at most three tries."""
    for number in range(TRIES):
        pending = [draft for draft in parsed if draft.open and not _has_structure(draft)]
        answers = generate([_json(draft, number) for draft in pending])
        done = {
            draft.place: _with_structure(draft, completion, last=number == TRIES - 1)
            for draft, completion in zip(pending, answers, strict=True)
        }
        parsed = [done.get(draft.place, draft) for draft in parsed]
    return parsed


def _has_structure(draft: ReasoningDraft) -> bool:
    return bool(draft.pairs or draft.unplaced or draft.status == "parse_failed")


def _json(draft: ReasoningDraft, number: int) -> PromptOfRequest:
    """The first try is greedy; the others are drawn."""
    settings = draft.writing
    sampling = Sampling(
        temperature=AGAIN if number else 0.0,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        seed=(draft.request.seed + number) % 2**63,
    )
    model = settings.structuring_model or draft.request.model or ""
    return PromptOfRequest(draft.place, model, structure_prompt(draft.parse or ""), sampling)


def _with_structure(draft: ReasoningDraft, completion: Completion, *, last: bool) -> ReasoningDraft:
    _, text = split_reasoning(completion.text)
    sides = first_valid_json(text)
    found = pairs_of(sides, draft.request.options) if sides is not None else None
    if found is not None and (found.pairs or found.unplaced):
        return replace(draft, pairs=found.pairs, unplaced=found.unplaced)
    if not last:
        return draft
    why = f"no valid JSON with an explanation in {TRIES} tries"
    return replace(draft, status="parse_failed", warnings=(*draft.warnings, why))


def _prompt_each(
    all_drafts: list[ReasoningDraft],
    chosen: list[ReasoningDraft],
    prompt: Callable[[ReasoningDraft], Prompt],
    read: Callable[[ReasoningDraft, Completion], ReasoningDraft],
) -> list[ReasoningDraft]:
    """One prompt to `model` for each chosen draft, in as few calls as their draws allow."""
    prompts = [
        PromptOfRequest(draft.place, draft.request.model or "", prompt(draft), _sampling(draft))
        for draft in chosen
    ]
    answers = zip(chosen, generate(prompts), strict=True)
    done = {draft.place: read(draft, completion) for draft, completion in answers}
    return [done.get(draft.place, draft) for draft in all_drafts]


def _sampling(draft: ReasoningDraft) -> Sampling:
    settings = draft.writing
    return Sampling(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        seed=draft.request.seed,
    )


def _cut(completion: Completion) -> bool:
    return completion.finish == "length"


# JSON can write half a surrogate pair, which is no character: for the pattern pydantic looks
Statement = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=r"^(?s:.*)$")]


class Sides(BaseModel):
    """Statements for and against one option."""

    model_config = ConfigDict(extra="forbid")

    support: list[Statement] = Field(max_length=200)
    oppose: list[Statement] = Field(default_factory=list, max_length=200)


SCHEMA = TypeAdapter(Annotated[dict[Statement, Sides], Field(min_length=1, max_length=100)])


@dataclass(frozen=True)
class StructuredParse:
    """The pairs of a parse, and the keys that no option has."""

    pairs: tuple[Explanation, ...]
    unplaced: tuple[tuple[str, int], ...]  # key, number of statements


def first_valid_json(raw: str) -> dict[str, Sides] | None:
    """The first JSON object of the text that fits the schema; None: there is none."""
    for found in _objects(raw):
        try:
            return SCHEMA.validate_python(found, strict=True)
        except ValidationError:
            continue
    return None


def _objects(raw: str) -> Iterator[Any]:
    """Every outermost JSON object, in order."""
    decoder, place = json.JSONDecoder(), raw.find("{")
    for _ in range(MOST_OBJECTS):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(raw, place)
        except (json.JSONDecodeError, RecursionError):
            end = place + 1
        else:
            yield found
        place = raw.find("{", end)


def pairs_of(sides: dict[str, Sides], options: Sequence[Option]) -> StructuredParse:
    """Pairs in the order of options, support before oppose; two keys of one option are joined."""
    placed: dict[str, list[Sides]] = {option.key: [] for option in options}
    unplaced = []
    for name, side in sides.items():
        key = label_of(name, options)
        if key is None:
            unplaced.append((name[:200], len(side.support) + len(side.oppose)))
        else:
            placed[key].append(side)
    pairs = [
        Explanation(explanation=statement, label=key, stance=stance)
        for key, own in placed.items()
        for stance in STANCES
        for side in own
        for statement in map(clean_statement, getattr(side, stance))
        if statement
    ]
    return StructuredParse(unique_pairs(pairs), tuple(unplaced))


def label_of(name: str, options: Sequence[Option]) -> str | None:
    """The option that a key of the parse means; None where none, or several, are meant.

    First an equal key or text, then a leading letter ("Option A: ..."), then a text that occurs as
    whole words.
    """
    plain = name.strip().casefold()
    for option in options:
        if plain in (option.key.casefold(), option.text.casefold()):
            return option.key
    keys = {option.key for option in options}
    found = LETTER.match(name.strip())
    if found and found[1].upper() in keys and (found[1].isupper() or len(plain) > 1):
        return found[1].upper()
    meant = [
        option.key
        for option in options
        if (re.search(rf"(?<!\w){re.escape(option.text.casefold())}(?!\w)", plain) is not None)
    ]
    return meant[0] if len(meant) == 1 else None


def clean_statement(statement: str) -> str:
    """Without list markers and surrounding quotes."""
    bare = MARKS.sub("", statement).strip()
    while len(bare) > 1 and bare[0] in QUOTES and bare[-1] in QUOTES:
        bare = bare[1:-1].strip()
    return bare.strip("*_` ").strip()


def unique_pairs(pairs: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Each statement once for a label and stance, the first one kept."""
    return tuple(dict.fromkeys(pairs))


def reasoning_prompt(request: Cot2elRequest) -> Prompt:
    """Stage 1, Table 6: choose an option; the reasoning before the answer is kept."""
    return Prompt(turns=(_turn("user", choose(request.question, request.options)),))


def parse_prompt(request: Cot2elRequest, reasoning: str, answer: str | None) -> Prompt:
    """Stage 2, Table 7: what supports and what opposes each option?

    Without an answer there is no assistant's turn, and the two questions are one turn: many chat
    templates want turns to alternate.
    """
    question = choose(request.question, request.options)
    instruction = PARSE.replace("{reasoning}", reasoning)
    if answer is None:
        return Prompt(turns=(_turn("user", f"{question}\n\n{instruction}"),))
    turns = (_turn("user", question), _turn("assistant", answer), _turn("user", instruction))
    return Prompt(turns=turns)


def structure_prompt(parsed: str) -> Prompt:
    """Stage 3, Table 7: the parse as JSON."""
    return Prompt(turns=(_turn("system", STRUCTURE), _turn("user", parsed)))


def _turn(role: str, content: str) -> Turn:
    if len(content) > MAX_TEXT:
        raise BadInput(
            f"question and reasoning make a prompt of {len(content):,} characters; {MAX_TEXT:,} "
            "at most",
            pointer="/reasoning",
        )
    return Turn.model_validate({"role": role, "content": content})
