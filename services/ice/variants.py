"""The three variants of ICE. They differ in the scores, in how random sets are drawn, and in how
ties and zeros count.

`robust`: raw scores, random sets without repetition, ties that count half, corrected verdicts.
`paper`: Eq. 1 and Algorithm 1 as printed. `reference`: `ICEEvaluator` of ice-faithfulness 1.0.1
(metrics.py, evaluation.py), including its defects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from services.ice.kernel import Floats
from shared.contracts.messages import Variant
from shared.statistics.ranks import TIE

DEAD_ZONE = 0.05  # metrics.py, compute_nsd: a smaller denominator makes every NSR 0
CLIPPED = 2.0  # metrics.py, compute_nsd
CONFIDENCE = 0.5  # evaluation.py, evaluate_dataset: less confident examples are skipped

BLOCK = 64  # subsets drawn at a time; part of the definition of the draws

Subset = tuple[int, ...]  # ascending places among the eligible tokens
# (M,) scores, s(x), s(empty) -> (M,) what is compared; None: undefined
Statistic = Callable[[Floats, float, float | None], Floats | None]
# seed, generator of the request's text, eligible tokens, size -> subsets
Stream = Callable[[int, np.random.Generator, int, int], Iterator[Subset]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IceVariant:
    statistic: Statistic
    stream: Stream | None  # of random rationales; None: distinct placements of the null
    ddof: int = 1
    tie: float = TIE
    distinct: bool = True  # subsets without repetition, never the rationale
    strict: bool = False  # the score counts ties as losses
    mean_of_operators: bool = False  # one test on the mean over operators
    eligible: Literal["text", "all"] = "text"
    magnitude: bool = False  # computed attributions rank by |value|
    zero_effect: float | None = None  # the effect where the null has no spread
    matched_null: bool = False  # random rationales are made in the way of the explanation's kind
    corrected: bool = False  # verdicts are corrected for all tests of the request
    nsr_beside: bool = False  # NSR is reported beside the statistic, not as it
    gold_label: bool = False  # scores the gold label, which `decision` names
    last_attention: bool = False  # an encoder's attention is that of its last layer
    released_operators: bool = False  # baselines and fills as released
    calibrated: bool = True  # a classifier answers at its own temperature; else at 1
    doubts: bool = False  # labels that have little of a language model's probability answer nothing
    least_confidence: float | None = None  # less confident examples have no score
    dead_zone: float | None = None  # |s(x) - s(empty)| below which every NSR is 0
    rounding: float = 1e-9  # added before the floor of kE: 0.29 of 100 tokens is 29


def raw(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """Return the scores unchanged, because normalising them (NSR) would not change their ranks."""
    return scores


def printed_nsr(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """Return the retained share of the score, NSR (Eq. 1 of the ICE paper), without bounds. If s(x)
    < s(empty), a higher score gives a lower NSR. Return None if the two are equal."""
    if empty is None or abs(full - empty) <= TIE:
        return None
    return (scores - empty) / (full - empty)


def released_nsr(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """Return the retained share of the score (NSR) as the released code does. It is 0 if |s(x) -
    s(empty)| is too small, else clipped to [-2, 2]."""
    if empty is None:
        return None
    if abs(full - empty) < DEAD_ZONE:
        return np.zeros_like(scores)
    return np.clip((scores - empty) / (full - empty), -CLIPPED, CLIPPED)


VARIANTS: dict[Variant, IceVariant] = {
    "robust": IceVariant(
        statistic=raw,
        stream=None,
        matched_null=True,
        doubts=True,
        corrected=True,
        nsr_beside=True,
    ),
    "paper": IceVariant(
        statistic=printed_nsr,
        stream=lambda _, random, eligible, size: independent(random, eligible, size),
        gold_label=True,
        ddof=0,
        tie=0.0,
        distinct=False,
        strict=True,
        mean_of_operators=True,
    ),
    "reference": IceVariant(
        statistic=released_nsr,
        stream=lambda seed, _, eligible, size: released(seed, eligible, size),
        last_attention=True,
        released_operators=True,
        calibrated=False,
        least_confidence=CONFIDENCE,
        dead_zone=DEAD_ZONE,
        ddof=0,
        tie=0.0,
        distinct=False,
        strict=True,
        mean_of_operators=True,
        eligible="all",
        magnitude=True,
        zero_effect=0.0,
        rounding=0.0,
    ),
}


def independent(random: np.random.Generator, eligible: int, size: int) -> Iterator[Subset]:
    """Yield uniform token sets that may repeat, as Algorithm 1 of the ICE paper draws them."""
    while True:
        keys = random.random((BLOCK, eligible))  # the places of the smallest of uniform keys
        subsets = np.sort(np.argpartition(keys, size - 1, axis=1)[:, :size], axis=1)
        yield from map(tuple, subsets.tolist())


def released(seed: int, eligible: int, size: int) -> Iterator[Subset]:
    """Yield the token sets that `ICEEvaluator` of ice-faithfulness 1.0.1 draws for the first
    example after this seed."""
    random = np.random.RandomState(seed % 2**32)
    while True:
        yield tuple(sorted(random.choice(eligible, size=size, replace=False).tolist()))
