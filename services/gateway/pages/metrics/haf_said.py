"""What a model said, as cards: a reason or a decision, its numbers, and its tokens as marks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from services.gateway.pages.marks import Mark, Piece, pieces
from services.haf.report import DecisionPart, ReasonPart, StagePart
from services.haf.token_messages import TokenValue

STEPS = 5  # of relevance, against the statement's most relevant token
UNSURE = (0.9, 0.5, 0.1)  # below each of these probabilities the underline grows
MOST_HEAVY = 5


@dataclass(frozen=True, slots=True)
class Heavy:
    """A token that weighs much in a confidence."""

    text: str
    probability: float
    relevance: float
    weight: float  # its share of the statement's relevance (Eq. 2)


@dataclass(frozen=True, slots=True)
class Card:
    """A statement and its numbers. `number`: from 1, among its response's reasons."""

    number: int
    text: list[Piece]
    part: ReasonPart
    heaviest: tuple[Heavy, ...]


def cards(stage: StagePart) -> tuple[Card, ...]:
    """The reasons of a response."""
    return tuple(
        Card(number, marked(part), part, heaviest(part))
        for number, part in enumerate(stage.reasons, 1)
    )


def marked(part: ReasonPart | DecisionPart) -> list[Piece]:
    """A statement's text, with a mark a token where the tokens were asked for."""
    return pieces(part.text, _marks(part))


def heaviest(part: ReasonPart | DecisionPart) -> tuple[Heavy, ...]:
    """The tokens that its confidence rests on most; none where the text was not kept."""
    if not part.text or part.start is None:
        return ()
    total = _total(part)
    first = sorted(part.token_values, key=lambda token: (-token.relevance, token.start))
    return tuple(
        Heavy(
            part.text[max(0, token.start - part.start) : token.end - part.start],
            math.exp(token.logprob),
            token.relevance,
            token.relevance / total,
        )
        for token in first[:MOST_HEAVY]
        if token.relevance > 0
    )


def in_response(stage: StagePart) -> list[Piece]:
    """The whole response, with its decision and its reasons marked."""
    said = [(f"reason {number}", "reason", part) for number, part in enumerate(stage.reasons, 1)]
    parts: list[tuple[str, str, ReasonPart | DecisionPart]] = [*said]
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


def _total(part: ReasonPart | DecisionPart) -> float:
    return sum(token.relevance for token in part.token_values)


def _marks(part: ReasonPart | DecisionPart) -> Iterator[Mark]:
    if part.start is None or not part.token_values:
        return
    largest = max(token.relevance for token in part.token_values)
    for token in part.token_values:
        start, end = max(0, token.start - part.start), token.end - part.start
        yield Mark(start, end, f"weight-{_step(token, largest)}", _label(token))
        yield Mark(start, end, f"unsure-{_unsure(token)}")


def _step(token: TokenValue, largest: float) -> int:
    """0 (no relevance) to 5 (the most relevant token)."""
    return math.ceil(STEPS * (token.relevance / largest)) if largest else 0


def _unsure(token: TokenValue) -> int:
    """0 (at least 0.9) to 3 (below 0.1)."""
    return sum(math.exp(token.logprob) < border for border in UNSURE)


def _label(token: TokenValue) -> str:
    return f"p {math.exp(token.logprob):.2f}, relevance {token.relevance:.3f}"
