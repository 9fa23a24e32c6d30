"""A model's judgement of one example: label probabilities, and how they were read.

Probabilities come from an encoder's head, a causal model's next token, or a server's
log-probabilities or samples. Unreadable probabilities are null, with a reason. Doubtful
probabilities have warnings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal, Self

from pydantic import Field, model_validator

from shared.contracts.errors import DegenerateInput
from shared.contracts.messages import Message, ModelUse, PartExcess, Share, UnreadCode
from shared.statistics.wilson import Z_95, half_wilson

Reading = Literal["head", "verbalizers", "scored", "label-endpoint", "top-logprobs", "votes"]
LOW_MASS, NO_MASS = 0.5, 0.01  # the model would rather say, or says, something else
ROUNDING = 1e-9  # of a sum of probabilities
NO_NUMBER = "the model's server returned a value that is not a number"
TOO_LONG = "the text is longer than the model's server accepts"  # its own words may repeat the text
FEWEST_VOTES = 200  # of which a difference between two P is read


class Unread(Message):
    """The reason why there are no probabilities."""

    code: UnreadCode
    detail: str


class Judgement(Message):
    """The label probabilities of one example, or the reason why there are none."""

    labels: tuple[str, ...] = Field(min_length=1)
    probabilities: tuple[Share, ...] | None = Field(
        description="an array of length L in the order of `labels`, with sum 1 unless the model "
        "has outputs without a label; null: `unread` gives the reason"
    )
    mass: Share | None = Field(
        default=None,
        description="probability of all labels together, before they are normalised; null: unknown",
    )
    reading: Reading | None = Field(
        description="how `probabilities` were read; null if they could not be read"
    )
    uncertainty: Share = Field(
        default=0,
        description="how far a probability may be off because of the way it was read: the "
        "possible share of labels that a server did not list, or half the width of the 95 % "
        "Wilson interval of votes",
    )
    votes: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda votes: votes is None,
        description="number of drawn answers, if the probability is a share of such answers",
    )
    prompt_sha256: str | None = Field(
        default=None,
        exclude_if=lambda sha256: sha256 is None,
        description="hash of the prompt with an empty text, if the example has its own prompt",
    )
    read_share: Share = Field(
        default=1.0, description="share of the text that the model read; below 1: the text was cut"
    )
    unread: Unread | None = None
    categories: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda categories: not categories,
        description="a guard model's further labels → its judgement in words, if requested; "
        "they do not change the probabilities",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.probabilities is None) == (self.unread is None):
            raise ValueError(
                "give either `probabilities`, or `unread` with the reason why there are none"
            )
        if self.probabilities is not None and len(self.probabilities) != len(self.labels):
            raise ValueError("give one probability for each label")
        return self

    @property
    def low_mass(self) -> bool:
        """Return True if the model prefers an answer other than its labels (warning `low-mass`)."""
        return self.mass is not None and self.mass < LOW_MASS

    def fine(self) -> Judgement:
        """Return the judgement, or an unread one without probabilities if it has fewer than 200
        sampled answers (votes). So few votes do not show small effects."""
        if self.votes is None or self.votes >= FEWEST_VOTES or self.probabilities is None:
            return self
        detail = (
            f"the probability is a share of {self.votes} votes, but at least {FEWEST_VOTES} votes "
            "are needed to compare probabilities"
        )
        return unread(self.labels, "votes-too-coarse", detail, reading="votes", mass=self.mass)

    def among_labels(self) -> tuple[float, ...]:
        """Return one probability per label, normalised to sum 1. Raises DegenerateInput if the
        judgement has no probabilities."""
        row = self.unwrap()
        total = sum(row)
        return row if abs(total - 1) < ROUNDING else tuple(value / total for value in row)

    def unwrap(self) -> tuple[float, ...]:
        """Return one probability per label. Raises DegenerateInput if there are none."""
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
    return Judgement(
        labels=tuple(labels),
        probabilities=None,
        mass=mass,
        reading=reading,
        unread=Unread(code=code, detail=detail),
    )


def normalize(
    shares: Mapping[str, float], reading: Reading, *, uncertainty: float = 0.0
) -> Judgement:
    """Scale each label's share of the next token's probability so that the shares sum to 1.
    `shares` maps labels to [0, 1]. If the shares sum to less than 0.01, the judgement is marked
    as unread, because the model prefers other answers."""
    total = sum(shares.values())
    row = [value / total if total else 0.0 for value in shares.values()]
    judgement = with_mass(tuple(shares), row, total, reading)
    return (
        judgement if judgement.unread else judgement.model_copy(update={"uncertainty": uncertainty})
    )


def with_mass(
    labels: Sequence[str], row: Sequence[float], mass: float, reading: Reading
) -> Judgement:
    """Return a judgement with probabilities `row`. If `mass`, the sum over all labels, is below
    0.01, return one without probabilities."""
    if not all(map(math.isfinite, row)):
        return unread(labels, "answer-unread", NO_NUMBER, reading=reading)
    mass = min(1.0, mass)
    if mass < NO_MASS:
        detail = (
            f"all labels together have a probability of only {mass:.3g}, so the model would "
            "probably answer something else"
        )
        return unread(labels, "answer-unread", detail, reading=reading, mass=mass)
    return Judgement(labels=tuple(labels), probabilities=tuple(row), mass=mass, reading=reading)


def average(each: Sequence[Judgement], reading: Reading) -> Judgement:
    """Return the mean of judgements that follow different sampled reasonings. Its uncertainty is at
    least half the width of the 95 % confidence interval. If no judgement has probabilities, return
    the first one."""
    read = [judgement for judgement in each if judgement.probabilities is not None]
    if not read:
        return each[0]
    rows = [judgement.unwrap() for judgement in read]
    columns = list(zip(*rows, strict=True))
    spread = max(map(stdev, columns)) / math.sqrt(len(rows)) if len(rows) > 1 else 0.0
    return Judgement(
        labels=read[0].labels,
        probabilities=tuple(map(fmean, columns)),
        mass=fmean([judgement.mass or 0.0 for judgement in read]),
        reading=reading,
        uncertainty=min(1.0, max(Z_95 * spread, *(judgement.uncertainty for judgement in read))),
    )


def from_counts(counts: Mapping[str, int], draws: int) -> Judgement:
    """Return shares of votes as probabilities. `draws` includes answers without a label.
    Uncertainty is half the width of the widest label's 95 % interval (Wilson, JASA 1927)."""
    read = sum(counts.values())
    labels = tuple(counts)
    if read < max(1.0, NO_MASS * draws):
        detail = f"none of the model's {draws} answers is a label"
        return unread(labels, "answer-unread", detail, reading="votes", mass=read / draws)
    shares = tuple(count / read for count in counts.values())
    return Judgement(
        labels=labels,
        probabilities=shares,
        mass=read / draws,
        reading="votes",
        uncertainty=max(half_wilson(share, read, Z_95) for share in shares),
        votes=draws,
    )


def mass_warnings(model: str, judged: Judgement) -> tuple[str, ...]:
    """Return the warning `low-mass` if the labels have too little probability in total, else ()."""
    if judged.unread or judged.mass is None or not judged.low_mass:
        return ()
    return (low_mass(model, judged.mass),)


def low_mass(model: str, mass: float) -> str:
    """Return the warning that all labels together have less than half of the next token's
    probability. `mass` is their sum."""
    return f"low-mass: {model} gives all labels together a probability of only {mass:.2g}"


def text_cut(model: str, share: float) -> str:
    """Return the warning for a truncated text. `share` is the part of its characters that was
    read."""
    return f"text-cut: {model} reads the first {share:.1%} of the text"


MOST_EXCESS = 0.05


def ece_perturbed(use: ModelUse, asked: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield a warning for each kind of shortened text for which the model's probabilities are less
    reliable. `asked` holds (way of shortening, share of the text kept)."""
    for part in nearest_parts(use, asked):
        if abs(part.excess) > MOST_EXCESS:
            yield (
                f"ece_perturbed: with {part.kept:.0%} of the words left ({part.operator}) the "
                f"probabilities of {use.name} are off by {part.excess:.2f} more than chance "
                "explains (calibration error, see the model's card); differences of these "
                "probabilities may be off as well"
            )


def nearest_parts(use: ModelUse, asked: Iterable[tuple[str, float]]) -> list[PartExcess]:
    """Return the distinct calibration errors (on texts with words deleted or masked) measured
    nearest to each requested (operator, share of words kept)."""
    nearest = (
        min((part for part in use.on_parts if part.operator == operator),
            key=lambda one: abs(one.kept - share), default=None)
        for operator, share in asked
    )  # fmt: skip
    return [part for part in dict.fromkeys(nearest) if part is not None]
