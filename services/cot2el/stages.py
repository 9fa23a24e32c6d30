"""The three stages of extraction: reasoning, parse and structure, from a language model or from the
request. The prompts ask for arguments for and against each option. The rules that normalise keys
are our own (footnote 7). Source: Chen et al., EMNLP 2025, section 4.1, Tables 6 and 7."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

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
RETRY_TEMPERATURE = 0.6  # a greedy retry would repeat the first answer
MOST_OBJECTS = 100  # JSON objects tried per answer
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
    """The state of a request between the three stages of extraction."""

    position: int  # in the batch
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
        """True if a stage still has to call the model."""
        return self.request.model is not None and self.status == "ok"


def write_drafts(requests: Sequence[Cot2elRequest]) -> list[ReasoningDraft]:
    """Return a draft for every request: the model's reasoning, and the explanations extracted from
    it. If a stage fails, the draft's `status` says so."""
    drafts = [
        ReasoningDraft(
            position,
            request,
            request.reasoning,
            request.answer,
            pairs=unique_pairs(request.pairs or ()),
        )
        for position, request in enumerate(requests)
    ]
    drafts = _prompt_each(
        drafts,
        [draft for draft in drafts if draft.open and draft.reasoning is None],
        lambda draft: reasoning_prompt(draft.request),
        _with_reasoning,
    )
    drafts = _prompt_each(
        drafts,
        [draft for draft in drafts if draft.open],
        lambda draft: parse_prompt(draft.request, draft.reasoning or "", draft.answer),
        _with_parse,
    )
    return _add_structure(drafts)


def split_reasoning(text: str) -> tuple[str | None, str]:
    """Split a model's text into its reasoning, or None, and its answer. The opening tag may be
    missing, because some chat templates write it in the prompt. If the reasoning was cut off, the
    answer is empty."""
    before, closed, after = text.partition(CLOSE)
    _, opened, inside = before.partition(OPEN)
    if not opened and not closed:
        return None, text.strip()
    reasoning = (inside if opened else before).strip()
    return reasoning or None, after.strip()


def _with_reasoning(draft: ReasoningDraft, completion: Completion) -> ReasoningDraft:
    reasoning, answer = split_reasoning(completion.text)
    if draft.writing.source == "answer_text":
        reasoning = completion.text.replace(OPEN, "").replace(CLOSE, "").strip() or None
    if reasoning is None:
        reason = (
            "the model wrote no separate reasoning; use a reasoning model, or set `source` to "
            "`answer_text`"
        )
        return replace(draft, status="no_reasoning", warnings=(reason,))
    warnings = ("the reasoning was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, reasoning=reasoning, answer=answer or None, warnings=warnings)


def _with_parse(draft: ReasoningDraft, completion: Completion) -> ReasoningDraft:
    _, parse = split_reasoning(completion.text)
    if not parse:
        reason = "the model returned an empty parse"
        return replace(draft, status="parse_failed", warnings=(*draft.warnings, reason))
    cut = ("the parse was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, parse=parse, warnings=(*draft.warnings, *cut))


def _add_structure(drafts: list[ReasoningDraft]) -> list[ReasoningDraft]:
    """Run stage 3: ask for JSON of the right shape, up to three times."""
    for attempt in range(TRIES):
        pending = [
            draft
            for draft in drafts
            if draft.open and not (draft.pairs or draft.unplaced or draft.status == "parse_failed")
        ]
        answers = generate([_json_prompt(draft, attempt) for draft in pending])
        structured = {
            draft.position: _with_structure(draft, completion, last=attempt == TRIES - 1)
            for draft, completion in zip(pending, answers, strict=True)
        }
        drafts = [structured.get(draft.position, draft) for draft in drafts]
    return drafts


def _json_prompt(draft: ReasoningDraft, attempt: int) -> PromptOfRequest:
    settings = draft.writing
    sampling = _sampling(draft).model_copy(
        update={
            "temperature": RETRY_TEMPERATURE if attempt else 0.0,
            "seed": (draft.request.seed + attempt) % 2**63,
        }
    )
    model = settings.structuring_model or draft.request.model or ""
    return PromptOfRequest(draft.position, model, structure_prompt(draft.parse or ""), sampling)


def _with_structure(draft: ReasoningDraft, completion: Completion, *, last: bool) -> ReasoningDraft:
    _, text = split_reasoning(completion.text)
    sides = first_valid_json(text)
    parse = pairs_of(sides, draft.request.options) if sides is not None else None
    if parse is not None and (parse.pairs or parse.unplaced):
        return replace(draft, pairs=parse.pairs, unplaced=parse.unplaced)
    if not last:
        return draft
    reason = f"none of the model's {TRIES} answers was valid JSON with an explanation"
    return replace(draft, status="parse_failed", warnings=(*draft.warnings, reason))


def _prompt_each(
    all_drafts: list[ReasoningDraft],
    pending: list[ReasoningDraft],
    prompt: Callable[[ReasoningDraft], Prompt],
    read: Callable[[ReasoningDraft, Completion], ReasoningDraft],
) -> list[ReasoningDraft]:
    """Prompt the model once for each pending draft, in as few calls as possible. Return all drafts,
    with the pending ones replaced by the results of `read`."""
    prompts = [
        PromptOfRequest(draft.position, draft.request.model or "", prompt(draft), _sampling(draft))
        for draft in pending
    ]
    answers = zip(pending, generate(prompts), strict=True)
    updated = {draft.position: read(draft, completion) for draft, completion in answers}
    return [updated.get(draft.position, draft) for draft in all_drafts]


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


# JSON can write half a surrogate pair, which is no character; the pattern makes pydantic check
Statement = Annotated[str, StringConstraints(max_length=MAX_TEXT, pattern=r"^(?s:.*)$")]


class Sides(BaseModel):
    """Statements for and against one option."""

    model_config = ConfigDict(extra="forbid")

    support: list[Statement] = Field(max_length=200)
    oppose: list[Statement] = Field(default_factory=list, max_length=200)


SCHEMA = TypeAdapter(Annotated[dict[Statement, Sides], Field(min_length=1, max_length=100)])


@dataclass(frozen=True)
class StructuredParse:
    """The explanations in a parsed answer. `unplaced` holds the keys that name no answer option,
    each with its number of statements."""

    pairs: tuple[Explanation, ...]
    unplaced: tuple[tuple[str, int], ...]  # key, number of statements


def first_valid_json(raw: str) -> dict[str, Sides] | None:
    """Return the first JSON object in the text that fits the schema, or None."""
    decoder, position = json.JSONDecoder(), raw.find("{")
    for _ in range(MOST_OBJECTS):
        if position < 0:
            return None
        try:
            value, end = decoder.raw_decode(raw, position)
            return SCHEMA.validate_python(value, strict=True)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        except ValidationError:
            pass
        position = raw.find("{", end)
    return None


def pairs_of(sides: dict[str, Sides], options: Sequence[Option]) -> StructuredParse:
    """Return the explanations in the order of `options`, support before opposition. The result also
    has the names that match no option, with their number of statements."""
    sides_by_option: dict[str, list[Sides]] = {option.key: [] for option in options}
    unplaced = []
    for name, side in sides.items():
        key = label_of(name, options)
        if key is None:
            unplaced.append((name[:200], len(side.support) + len(side.oppose)))
        else:
            sides_by_option[key].append(side)
    pairs = [
        Explanation(explanation=statement, label=key, stance=stance)
        for key, sides_of_option in sides_by_option.items()
        for stance in STANCES
        for side in sides_of_option
        for statement in map(clean_statement, getattr(side, stance))
        if statement
    ]
    return StructuredParse(unique_pairs(pairs), tuple(unplaced))


def label_of(name: str, options: Sequence[Option]) -> str | None:
    """Return the key of the option that a key of the parsed answer refers to, or None if no option
    or several match. It first tries equal keys and texts, then a leading letter ("Option A: ...").
    Last, it searches `name` for an option's text as whole words."""
    folded = name.strip().casefold()
    for option in options:
        if folded in (option.key.casefold(), option.text.casefold()):
            return option.key
    keys = {option.key for option in options}
    match = LETTER.match(name.strip())
    if match and match[1].upper() in keys and (match[1].isupper() or len(folded) > 1):
        return match[1].upper()
    matching = [
        option.key
        for option in options
        if (re.search(rf"(?<!\w){re.escape(option.text.casefold())}(?!\w)", folded) is not None)
    ]
    return matching[0] if len(matching) == 1 else None


def clean_statement(statement: str) -> str:
    """Return the statement without list markers and surrounding quotes."""
    text = MARKS.sub("", statement).strip()
    while len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES:
        text = text[1:-1].strip()
    return text.strip("*_` ").strip()


def unique_pairs(pairs: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Return the pairs without duplicates of the same statement, label and stance."""
    return tuple(dict.fromkeys(pairs))


def reasoning_prompt(request: Cot2elRequest) -> Prompt:
    """Return the prompt that asks the model to choose an option (Table 6 of the CoT2EL paper). The
    model's reasoning before its answer is kept."""
    return Prompt(turns=(_turn("user", choose(request.question, request.options)),))


def parse_prompt(request: Cot2elRequest, reasoning: str, answer: str | None) -> Prompt:
    """Return the prompt that asks which sentences support and oppose each option (Table 7 of the
    CoT2EL paper). Without an answer, both questions form one turn, since many chat templates
    require alternating turns."""
    question = choose(request.question, request.options)
    instruction = PARSE.replace("{reasoning}", reasoning)
    if answer is None:
        return Prompt(turns=(_turn("user", f"{question}\n\n{instruction}"),))
    turns = (_turn("user", question), _turn("assistant", answer), _turn("user", instruction))
    return Prompt(turns=turns)


def structure_prompt(parsed: str) -> Prompt:
    """Return the prompt that asks for the parsed explanations as JSON (Table 7 of the CoT2EL
    paper)."""
    return Prompt(turns=(_turn("system", STRUCTURE), _turn("user", parsed)))


def _turn(role: str, content: str) -> Turn:
    if len(content) > MAX_TEXT:
        raise BadInput(
            f"the prompt with question and reasoning has {len(content):,} characters; shorten "
            f"them, because at most {MAX_TEXT:,} are allowed",
            pointer="/reasoning",
        )
    return Turn.model_validate({"role": role, "content": content})
