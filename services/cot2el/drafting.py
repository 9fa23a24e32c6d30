"""Stages 1 to 3: reasoning, parse and structure, from a language model or from the caller.

Source: Chen et al., EMNLP 2025, section 4.1 and Appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from services.cot2el import prompts
from services.cot2el.contract import Cot2elRequest, Writing
from services.cot2el.structuring import distinct, structured, validated
from shared.models.calls import Completion, Prompt, Sampling
from shared.models.ports import PromptOfRequest, written
from shared.questions import Explanation

OPEN, CLOSE = "<think>", "</think>"
TRIES = 3
AGAIN = 0.6  # temperature of the second and third try: a greedy one would repeat the first

Status = Literal["ok", "no_reasoning", "parse_failed"]


@dataclass(frozen=True)
class Draft:
    """How far one request has come."""

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
    def writing(self) -> Writing:
        """How its model is asked."""
        return self.request.writing or Writing()

    @property
    def open(self) -> bool:
        """Whether a model has still to work on it."""
        return self.request.model is not None and self.status == "ok"


def drafts(requests: Sequence[Cot2elRequest]) -> list[Draft]:
    """Every request with its reasoning and its pairs; a failed stage is a status, no exception."""
    begun = [
        Draft(
            place, request, request.reasoning, request.answer, pairs=distinct(request.pairs or ())
        )
        for place, request in enumerate(requests)
    ]
    return _structured(_parsed(_reasoned(begun)))


def thought(text: str) -> tuple[str | None, str]:
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


def _reasoned(begun: list[Draft]) -> list[Draft]:
    """Stage 1, for those who sent no reasoning."""
    return _advance(
        begun,
        [draft for draft in begun if draft.open and draft.reasoning is None],
        lambda draft: prompts.think(draft.request),
        _with_reasoning,
    )


def _with_reasoning(draft: Draft, completion: Completion) -> Draft:
    reasoning, answer = thought(completion.text)
    if draft.writing.source == "answer_text":
        reasoning = completion.text.replace(OPEN, "").replace(CLOSE, "").strip() or None
    if reasoning is None:
        why = "the model wrote no reasoning part: ask for `answer_text`, or name a reasoning model"
        return replace(draft, status="no_reasoning", warnings=(why,))
    warnings = ("the reasoning was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, reasoning=reasoning, answer=answer or None, warnings=warnings)


def _parsed(reasoned: list[Draft]) -> list[Draft]:
    """Stage 2: what supports and what opposes each option, in the model's own words."""
    return _advance(
        reasoned,
        [draft for draft in reasoned if draft.open],
        lambda draft: prompts.parse(draft.request, draft.reasoning or "", draft.answer),
        _with_parse,
    )


def _with_parse(draft: Draft, completion: Completion) -> Draft:
    _, parse = thought(completion.text)
    if not parse:
        why = "the model wrote no parse"
        return replace(draft, status="parse_failed", warnings=(*draft.warnings, why))
    cut = ("the parse was cut off at `max_tokens`",) if _cut(completion) else ()
    return replace(draft, parse=parse, warnings=(*draft.warnings, *cut))


def _structured(parsed: list[Draft]) -> list[Draft]:
    """Stage 3: JSON of the right shape, in at most three tries."""
    for number in range(TRIES):
        waiting = [draft for draft in parsed if draft.open and not _has_structure(draft)]
        answers = written([_json(draft, number) for draft in waiting])
        done = {
            draft.place: _with_structure(draft, completion, last=number == TRIES - 1)
            for draft, completion in zip(waiting, answers, strict=True)
        }
        parsed = [done.get(draft.place, draft) for draft in parsed]
    return parsed


def _has_structure(draft: Draft) -> bool:
    return bool(draft.pairs or draft.unplaced or draft.status == "parse_failed")


def _json(draft: Draft, number: int) -> PromptOfRequest:
    """The first try is greedy; the others are drawn."""
    how = draft.writing
    sampling = Sampling(
        temperature=AGAIN if number else 0.0,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=(draft.request.seed + number) % 2**63,
    )
    model = how.structuring_model or draft.request.model or ""
    return PromptOfRequest(draft.place, model, prompts.structure(draft.parse or ""), sampling)


def _with_structure(draft: Draft, completion: Completion, *, last: bool) -> Draft:
    _, text = thought(completion.text)
    sides = validated(text)
    found = structured(sides, draft.request.options) if sides is not None else None
    if found is not None and (found.pairs or found.unplaced):
        return replace(draft, pairs=found.pairs, unplaced=found.unplaced)
    if not last:
        return draft
    why = f"no valid JSON with an explanation in {TRIES} tries"
    return replace(draft, status="parse_failed", warnings=(*draft.warnings, why))


def _advance(
    all_drafts: list[Draft],
    chosen: list[Draft],
    prompt: Callable[[Draft], Prompt],
    read: Callable[[Draft, Completion], Draft],
) -> list[Draft]:
    """Ask `model` for the chosen drafts, in as few calls as their draws allow."""
    asked = [
        PromptOfRequest(draft.place, draft.request.model or "", prompt(draft), _sampling(draft))
        for draft in chosen
    ]
    answers = zip(chosen, written(asked), strict=True)
    done = {draft.place: read(draft, completion) for draft, completion in answers}
    return [done.get(draft.place, draft) for draft in all_drafts]


def _sampling(draft: Draft) -> Sampling:
    how = draft.writing
    return Sampling(
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=draft.request.seed,
    )


def _cut(completion: Completion) -> bool:
    return completion.finish == "length"
