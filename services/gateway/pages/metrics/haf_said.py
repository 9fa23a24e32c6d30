"""What a model said, as cards: a reason or a decision, its numbers, and its tokens as marks.

Neighbours of the same step are one stretch, and a page has colour for so many of them only: the
numbers of the strongest tokens stand in a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.haf.report import DecisionPart, ReasonPart, StagePart
from services.haf.token_messages import TokenValue
from shared.page_text import Mark, MarkedText, Warm, pieces, runs

STEPS = 5  # of relevance, against the statement's most relevant token
UNSURE = (0.9, 0.5, 0.1)  # below each of these probabilities the underline grows
STRONGEST = 10  # tokens listed
MOST_STRETCHES = 2_500  # coloured elements of a page: about 120 kB

Part = ReasonPart | DecisionPart


@dataclass(frozen=True, slots=True)
class Heavy:
    """A token that weighs much in a confidence."""

    text: str
    probability: float
    relevance: float
    weight: float  # its share of the statement's relevance (Eq. 2)


@dataclass(frozen=True, slots=True)
class Statement:
    """A reason or a decision. heaviest: its strongest tokens, where they were asked for."""

    text: list[MarkedText]
    part: Part
    heaviest: tuple[Heavy, ...]
    pale: bool = False  # the values are there, but the page has colours enough


@dataclass(frozen=True, slots=True)
class Spoken:
    """A response: its reasons in order, and its decision if it has one."""

    part: StagePart
    reasons: tuple[Statement, ...]
    decision: Statement | None


def spoken(stages: Sequence[StagePart]) -> tuple[Spoken, ...]:
    """Every response, coloured in the report's order until the page has colours enough."""
    found: list[Spoken] = []
    left = MOST_STRETCHES
    for stage in stages:
        said: list[Statement] = []
        parts: list[Part] = [*stage.reasons]
        parts += [stage.decision] if stage.decision else []
        for part in parts:
            said.append(_statement(part, left))
            left -= _weight(said[-1].text)
        count = len(stage.reasons)
        found.append(Spoken(stage, tuple(said[:count]), said[count] if said[count:] else None))
    return tuple(found)


def in_response(stage: StagePart) -> list[MarkedText]:
    """The whole response, with its decision and its reasons marked."""
    said = [(f"reason {number}", "reason", part) for number, part in enumerate(stage.reasons, 1)]
    parts: list[tuple[str, str, Part]] = [*said]
    if stage.decision is not None:
        parts.append(("decision", "decision", stage.decision))
    return pieces(
        stage.response,
        [
            Mark(part.start, part.end, kind, label)
            for label, kind, part in parts
            if part.start is not None and part.end is not None
        ],
    )


def _statement(part: Part, left: int) -> Statement:
    """left: stretches that may still be coloured."""
    coloured = Statement(pieces(part.text, _marks(part)), part, _heaviest(part))
    if _weight(coloured.text) <= left:
        return coloured
    return replace(coloured, text=pieces(part.text, []), pale=True)


def _weight(text: Sequence[MarkedText]) -> int:
    """How many elements a page needs for it."""
    return sum(bool(piece.marks) for piece in text)


def _heaviest(part: Part) -> tuple[Heavy, ...]:
    """The tokens that its confidence rests on most; none where the text was not kept."""
    if not part.text or part.start is None:
        return ()
    total = sum(token.relevance for token in part.token_values)
    return tuple(
        Heavy(
            part.text[slice(*_span(part.start, token))],
            math.exp(token.logprob),
            token.relevance,
            token.relevance / total,
        )
        for token in _strongest(part)[:STRONGEST]
    )


def _strongest(part: Part) -> list[TokenValue]:
    """Tokens of some relevance, the most relevant first; of equal ones the first in the text."""
    some = [token for token in part.token_values if token.relevance > 0]
    return sorted(some, key=lambda token: (-token.relevance, token.start))


def _marks(part: Part) -> Iterator[Mark]:
    """Relevance, probability, and the one most relevant token. No labels: a table says them."""
    if part.start is None:
        return
    first = _strongest(part)[:1]
    largest = first[0].relevance if first else 0.0
    yield from _stretches(part, "weight", lambda token: _step(token, largest))
    yield from _stretches(part, "unsure", _unsure)
    for token in first:
        yield Mark(*_span(part.start, token), "most")


def _stretches(part: Part, kind: str, step: Callable[[TokenValue], int]) -> Iterator[Mark]:
    """Neighbours of the same step as one mark; of step 0 none."""
    tokens = (Warm(*_span(part.start or 0, token), step(token)) for token in part.token_values)
    end = 0
    for run in runs(part.text, tokens):
        for stretch in run.stretches:
            start, end = end, end + len(stretch.text)
            if stretch.level:
                yield Mark(start, end, f"{kind}-{stretch.level}")


def _span(start: int, token: TokenValue) -> tuple[int, int]:
    """Where the token stands in a statement that starts there."""
    return max(0, token.start - start), max(0, token.end - start)


def _step(token: TokenValue, largest: float) -> int:
    """0 (no relevance) to 5 (above four fifths of the largest relevance)."""
    return math.ceil(STEPS * (token.relevance / largest)) if largest else 0


def _unsure(token: TokenValue) -> int:
    """0 (at least 0.9) to 3 (below 0.1)."""
    return sum(math.exp(token.logprob) < border for border in UNSURE)
