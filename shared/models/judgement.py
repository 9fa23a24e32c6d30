"""A model's judgement of one example: P of its labels, and how that was read.

Encoders tell P by their head, causal models by their next token, servers in as many ways as they
have log-probabilities to show. Where P cannot be read it is null, with the reason: never a number
from a guess. Source: specs "models" §4.1, §4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts import Message, UnreadCode
from shared.errors import DegenerateInput

Reading = Literal["head", "verbalizers", "scored", "label-endpoint", "top-logprobs", "votes"]
LOW_MASS, NO_MASS = 0.5, 0.01  # the model would rather say, or says, something else
Share = Annotated[float, Field(ge=0, le=1)]


class Unread(Message):
    """Why there is no P."""

    code: UnreadCode
    detail: str


class Judgement(Message):
    """P of the labels of one example, or why there is none."""

    labels: tuple[str, ...] = Field(min_length=1)
    probabilities: tuple[Share, ...] | None = Field(
        description="(L,) in the order of `labels`, of sum 1 unless the model has outputs that "
        "stand for no label; null: `unread` says why"
    )
    mass: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="what the model gave to all labels together, before normalising; null: unknown",
    )
    reading: Reading | None = Field(description="null where no way to read P was found")
    uncertainty: float = Field(
        default=0,
        ge=0,
        le=1,
        description="how far a probability may be from the model's own because of the reading: the "
        "share of labels that a server did not list, half the 95 % Wilson interval of votes",
    )
    read_share: Share = Field(default=1.0, description="of the text; below 1: it was cut")
    unread: Unread | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.probabilities is None) == (self.unread is None):
            raise ValueError("give either `probabilities` or why there are none")
        if self.probabilities is not None and len(self.probabilities) != len(self.labels):
            raise ValueError("there must be one probability for each label")
        return self

    @property
    def low_mass(self) -> bool:
        """Whether the model would rather have said something else (warning `low-mass`)."""
        return self.mass is not None and self.mass < LOW_MASS

    def demand(self) -> tuple[float, ...]:
        """(L,) probabilities. Raises DegenerateInput with the reason where there are none."""
        if self.probabilities is None:
            unread = self.unread
            raise DegenerateInput(f"{unread.code}: {unread.detail}" if unread else "not read")
        return self.probabilities


def unread(
    labels: Sequence[str],
    code: UnreadCode,
    detail: str,
    *,
    reading: Reading | None = None,
    mass: float | None = None,
) -> Judgement:
    """A judgement without P."""
    return Judgement(
        labels=tuple(labels),
        probabilities=None,
        mass=mass,
        reading=reading,
        unread=Unread(code=code, detail=detail),
    )


def normalised(
    shares: Mapping[str, float], reading: Reading, *, uncertainty: float = 0.0
) -> Judgement:
    """P from each label's share of all that the model may say next.

    shares: label → probability, [0, 1]; their sum is the mass. Below 0.01 of it there is no P: the
    model was going to say something else.
    """
    total = sum(shares.values())
    mass = min(1.0, total)
    if total < NO_MASS:
        detail = f"the model gives all labels together {mass:.3g}: it would say something else"
        return unread(tuple(shares), "answer-unread", detail, reading=reading, mass=mass)
    return Judgement(
        labels=tuple(shares),
        probabilities=tuple(value / total for value in shares.values()),
        mass=mass,
        reading=reading,
        uncertainty=uncertainty,
    )


def voted(counts: Mapping[str, int], draws: int) -> Judgement:
    """P as the share of votes; draws: all of them, those that were no label included.

    Uncertainty is half the width of the widest label's 95 % interval (Wilson, JASA 1927).
    """
    read = sum(counts.values())
    labels = tuple(counts)
    if read < max(1.0, NO_MASS * draws):
        detail = f"none of {draws} answers is a label"
        return unread(labels, "answer-unread", detail, reading="votes", mass=read / draws)
    shares = tuple(count / read for count in counts.values())
    return Judgement(
        labels=labels,
        probabilities=shares,
        mass=read / draws,
        reading="votes",
        uncertainty=max(half_wilson(share, read) for share in shares),
    )


def half_wilson(share: float, count: int, z: float = 1.959963984540054) -> float:
    """Half the width of a share's 95 % score interval, [0, 0.5]."""
    spread = share * (1 - share) / count + z * z / (4 * count * count)
    return z * math.sqrt(spread) / (1 + z * z / count)
