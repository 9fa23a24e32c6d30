"""What a parser finds in a response."""

from __future__ import annotations

from dataclasses import dataclass

from services.haf.report import Answer, Judge, Stance

Span = tuple[int, int]  # character offsets into the response, exclusive end


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a reason; `span` is None where it does not stand in the response as such."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a later stage's decision says about the reasons, and how sure that reading is.

    certainty: [0, 1]: of the cues that fired, the share that agrees; of a model, its probability
    or the share of the winning side.
    """

    answer: Answer
    judge: Judge
    certainty: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision sentence, and what it answers; `verdict` is None where a model must say."""

    statement: Statement
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A response, read."""

    decision: Decision | None
    stance: Stance
    reasons: tuple[Statement, ...]
    refusal: bool
