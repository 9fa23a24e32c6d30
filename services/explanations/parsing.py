"""What a model answered: its decision, or that it refused, or that nothing can be read.

The chain of thought of a reasoning model is taken off first. A refusal and an unreadable answer end
as such: no metric sees them. Source: specs "models" §5.1, §7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.explanations.structured_answer import (
    is_data,
    read_grade,
    read_lone_label,
    read_structured,
    without_leans,
)
from services.explanations.yes_or_no import read_yes_or_no
from shared.elicitation import ExplanationsObstacle, Outcome
from shared.metric import StatedDecision
from shared.models.calls import Completion, WrittenToken
from shared.refusals import REFUSES_WITHIN, is_refusal

OPENED, CLOSED = "<think>", "</think>"
_BORDER = re.compile(r"(?<=[.!?。！？])(?=\s|[^\x00-\x7f])|\n")  # between sentences
_NAMED = r"(?:label|decision|answer|conclusion|classification|verdict|relation(?:ship)?)"

Stated = Callable[[str], StatedDecision | None]


@dataclass(frozen=True)
class Answer:
    """An answer without the reasoning before it; tokens: with offsets into `text`.

    reasoning: None where there was none, or nobody tells it. reasoning_tokens: None: not known.
    cut: whether the tokens were used up before the answer began.
    """

    text: str
    tokens: tuple[WrittenToken, ...]
    finish: str
    reasoning: str | None = None
    reasoning_tokens: int | None = 0
    cut: bool = False


CUT = Answer("", (), "length", None, None, cut=True)


@dataclass(frozen=True)
class AnswerOutcome:
    """How an answer ends: with a decision, or without one, and why."""

    outcome: Outcome
    decision: StatedDecision | None = None
    obstacle: ExplanationsObstacle | None = None


def answer_of(completion: Completion) -> Answer:
    """Answer and reasoning apart: as the server tells them, else as the text marks them. A chat
    template may open the reasoning itself, so that the text only closes it."""
    text = completion.text
    if completion.reasoning is not None:
        return Answer(text, completion.tokens, completion.finish, completion.reasoning, None)
    before, closed, after = text.partition(CLOSED)
    opens = text.lstrip().startswith(OPENED)
    if not closed and not opens:
        return Answer(text, completion.tokens, completion.finish)
    reasoning = before.replace(OPENED, "", 1).strip()
    start = len(text) - len(after.lstrip()) if closed else len(text)
    kept = [token for token in completion.tokens if token.end > start]
    moved = tuple(
        token.model_copy(update={"start": max(0, token.start - start), "end": token.end - start})
        for token in kept
    )
    spent = len(completion.tokens) - len(kept) if completion.tokens else None
    return Answer(text[start:], moved, completion.finish, reasoning, spent, cut=not closed)


def parse_answer(answer: Answer, stated: Stated) -> AnswerOutcome:
    """stated: what reads a decision."""
    if answer.cut:
        detail = "the model was still reasoning when its tokens were used up: allow more"
        return _unparsable("answer-cut-by-reasoning", detail)
    if not answer.text.strip():
        return _unparsable("conclusion-unread", "the model wrote nothing")
    decision = stated(answer.text)
    if refuses(answer.text, decision):
        detail = "the model refuses to decide or to explain"
        obstacle = ExplanationsObstacle(component="decision", code="refused", detail=detail)
        return AnswerOutcome("refused", None, obstacle)
    if decision is not None:
        return AnswerOutcome("answered", decision)
    ended = "; its tokens were used up: allow more" if answer.finish == "length" else ""
    return _unparsable("conclusion-unread", f"no decision can be read from the answer{ended}")


def refuses(answer: str, decision: StatedDecision | None) -> bool:
    """Whether one of its first sentences refuses, and no other one decides: none does where the
    request names the label, whose place in the answer is empty."""
    first = [span for span in _sentences(answer) if answer[slice(*span)].strip()][:REFUSES_WITHIN]
    refusing = [span for span in first if is_refusal(answer[slice(*span)])]
    if decision is None or decision.start == decision.end or not refusing:
        return bool(refusing)
    return any(decision.start < end and start < decision.end for start, end in refusing)


def by_labels(labels: Sequence[str]) -> Stated:
    """Reads a line that is a label, alone or behind a word such as `Label:`; where lines differ,
    nothing."""
    listed = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    line = re.compile(
        rf"^[^\w\n]{{0,9}}(?:{_NAMED}[^\w\n]{{0,9}})?(?P<label>{listed})[^\w\n]{{0,9}}$",
        re.IGNORECASE | re.MULTILINE,
    )
    named = {label.casefold(): label for label in labels}

    def read(answer: str) -> StatedDecision | None:
        found = list(line.finditer(answer))
        if len({match["label"].casefold() for match in found}) != 1:
            return None
        match = found[0]
        label = named[match["label"].casefold()]
        return StatedDecision(
            label=label, start=match.start(), end=match.end(), words=match.span("label")
        )

    return read


def hateful_or_not(stated: Stated, *, asked: bool) -> Stated:
    """Reads an answer of data by its fields, any other as `stated` does, else by its fields.

    asked: whether the prompt asks "is this hateful?", so that yes and no decide too.
    """

    def read(answer: str) -> StatedDecision | None:
        fields = read_structured(answer, asked=asked)
        if fields is not None and is_data(answer):
            return fields
        read = stated(without_leans(answer)) or fields or read_lone_label(answer)
        read = read or read_grade(answer)
        return read or (read_yes_or_no(answer) if asked else None)

    return read


def explanation_in(answer: str, after: str | None) -> tuple[int, int]:
    """Its span in the answer."""
    found = re.search(re.escape(after), answer, re.IGNORECASE) if after else None
    start = found.end() if found else 0
    inner = answer[start:]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())


def _sentences(answer: str) -> Iterator[tuple[int, int]]:
    start = 0
    for border in _BORDER.finditer(answer):
        yield start, border.start()
        start = border.end()
    yield start, len(answer)


def _unparsable(code: str, detail: str) -> AnswerOutcome:
    obstacle = ExplanationsObstacle.model_validate(
        {"component": "decision", "code": code, "detail": detail}
    )
    return AnswerOutcome("unparsable", None, obstacle)
