"""Compares scores with people's ratings: rank correlation, agreement, and a score threshold. Pure
functions. A value without enough ratings is null, with its reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from shared.contracts.gold import CalibratedThreshold, HumanRatings
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import BatchStatistics, as_interval
from shared.statistics import classification, intervals
from shared.statistics.agreement import coincidences, interval_alpha, nominal_alpha
from shared.statistics.clusters import Floats
from shared.statistics.intervals import OfSums
from shared.statistics.thresholds import calibrated_threshold

NONE = Interval(value=None, low=None, high=None, of=0)
MOST_VALUES = 50  # different ratings for an alpha
MOST_RANKED = 2_000  # results for an interval of Kendall's tau, which ranks each resample
NO_AND_YES = 2


class RatedResult(NamedTuple):
    """A result with its score, and the ratings by person."""

    row: Scored[Any, Any]
    score: float
    given: Mapping[str, float]


@dataclass(frozen=True)
class RatedResults:
    """Results with ratings. A rating of `accepted_from` or more accepts the explanation. If it is
    None, there must be two rating values, and the higher one accepts."""

    over: BatchStatistics[Any]
    rated: Sequence[RatedResult]
    accepted_from: float | None = None
    higher_is_better: bool = True

    def ratings(self) -> HumanRatings:
        """Return the agreement with human ratings. Values without enough data are null."""
        counts = _counts([list(row.given.values()) for row in self.rated], self.values)
        alpha = interval_alpha(np.array(self.values))
        spearman = kendall = NONE
        if self._ranked:
            spearman = self.over.rank_correlation("gold spearman", self.pairs, self.keys)
        if self._ranked and len(self.pairs) <= MOST_RANKED:
            how = self.over.how
            kendall = as_interval(
                intervals.statistic("gold kendall", self.pairs, _tau_b, self.keys, how)
            )
        elif self._ranked:
            tau = {"value": _tau_b(self.pairs), "of": len(self.pairs)}
            kendall = NONE.model_copy(update=tau)
        return HumanRatings(
            results=len(self.rated),
            people=len({person for row in self.rated for person in row.given}),
            spearman=spearman,
            kendall=kendall,
            alpha=self._alpha("ratings", counts, alpha, self.keys)
            if len(self.values) <= MOST_VALUES
            else NONE,
            threshold=self._threshold(),
        )

    def warnings(self) -> Iterator[str]:
        """Yield the reasons why values are null or uncertain."""
        if not self._ranked:
            yield (
                "ratings: there is no correlation, because all scores or all ratings are "
                "equal, or there are too few"
            )
        elif len(self.rated) > MOST_RANKED:
            yield (
                f"kendall: no interval for {len(self.rated)} results; it is computed for at most "
                f"{MOST_RANKED}"
            )
        if len(self.values) > MOST_VALUES:
            yield (
                f"alpha: ratings have {len(self.values)} values; at most {MOST_VALUES} are allowed"
            )

    @cached_property
    def values(self) -> list[float]:
        """Return all different ratings in ascending order."""
        return sorted({rating for row in self.rated for rating in row.given.values()})

    @cached_property
    def keys(self) -> list[str]:
        return self.over.keys([rated.row for rated in self.rated])

    @property
    def sign(self) -> float:
        return 1.0 if self.higher_is_better else -1.0

    @cached_property
    def pairs(self) -> Floats:
        """Return an array of shape (N, 2) with each score (higher is better) and its mean
        rating."""
        pairs = [(self.sign * row.score, np.mean(list(row.given.values()))) for row in self.rated]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def _ranked(self) -> bool:
        return len(self.pairs) > 2 and bool(np.ptp(self.pairs, axis=0).all())

    def _alpha(self, name: str, counts: Floats, of: OfSums, keys: Sequence[str]) -> Interval:
        """Return Krippendorff's alpha over results with several ratings. `counts` has one row per
        result and one column per value, with the number of people who chose it."""
        several = counts.sum(axis=1) > 1
        if not several.any():
            return NONE
        used = [key for key, is_used in zip(keys, several, strict=True) if is_used]
        return self.over.ratio(f"gold alpha {name}", coincidences(counts[several]), of, used)

    def _threshold(self) -> CalibratedThreshold:
        start = self.accepted_from  # the lowest rating that accepts
        if start is None and len(self.values) == NO_AND_YES:
            start = self.values[1]
        if start is None and self.values in ([0.0], [1.0]):
            start = 1.0
        if start is None:
            reason = (
                f"ratings have {len(self.values)} values; set `accepted_from` to the lowest "
                "rating that accepts an explanation"
            )
            return _no_threshold(0, 0, reason)
        accepted = [[rating >= start for rating in row.given.values()] for row in self.rated]
        votes = _counts(accepted, [False, True])
        clear = votes[:, 0] != votes[:, 1]
        people = (votes[clear, 1] > votes[clear, 0]).astype(np.float64)
        rows = np.stack([self.pairs[clear, 0], people], axis=1)
        keys = [key for key, is_clear in zip(self.keys, clear, strict=True) if is_clear]
        ties = int((~clear).sum())
        threshold = calibrated_threshold("gold", rows, keys, self.over.how)
        if threshold.decided is None:
            return _no_threshold(people.size, ties, threshold.obstacle)
        # ties had no part in the choice of the threshold
        least = math.inf if threshold.value is None else threshold.value
        decided = (self.pairs[:, 0] >= least).astype(np.float64)
        decided[clear] = threshold.decided
        value, low, high = (
            None if number is None else self.sign * number
            for number in (threshold.value, threshold.low, threshold.high)
        )
        return CalibratedThreshold(
            results=people.size,
            ties=ties,
            value=value,
            low=low if self.higher_is_better else high,
            high=high if self.higher_is_better else low,
            **self._agreement(people, threshold.decided, keys),
            **self._alphas(votes, decided),
        )

    def _agreement(self, people: Floats, decided: Floats, keys: Sequence[str]) -> dict[str, Any]:
        """Return the agreement of the people's majority (`people`) with the decision that follows
        from the score (`decided`): share, share by chance, and kappa. Both arrays contain 0 and 1.
        """
        cells = list(zip(people.astype(int).tolist(), decided.astype(int).tolist(), strict=True))
        counts = classification.label_counts(cells, NO_AND_YES)
        return {
            "agreed": self.over.share((people == decided).astype(np.float64), keys),
            "chance": float(max(people.mean(), 1 - people.mean())),
            "kappa": self.over.ratio("gold kappa", counts, classification.kappa, keys),
        }

    def _alphas(self, votes: Floats, decided: Floats) -> dict[str, Interval]:
        """Return Krippendorff's alpha of the people, and of people and score together, over all
        texts, including ties. `votes` has the numbers of people who say no and yes. `decided` is 1
        if the score says yes."""
        people = self._alpha("people", votes, nominal_alpha, self.keys)
        if people.of == 0:
            return {"alpha_people": NONE, "alpha_with_score": NONE}
        joined = votes + np.stack([1 - decided, decided], axis=1)
        with_score = self._alpha("with score", joined, nominal_alpha, self.keys)
        return {"alpha_people": people, "alpha_with_score": with_score}


def _counts(rows: Sequence[Sequence[float]], values: Sequence[float]) -> Floats:
    columns = {value: index for index, value in enumerate(values)}
    counts = np.zeros((len(rows), len(values)))
    for index, row in enumerate(rows):
        for entry in row:
            counts[index, columns[entry]] += 1
    return counts


def _no_threshold(results: int, ties: int, reason: str | None) -> CalibratedThreshold:
    figures = ("agreed", "kappa", "alpha_people", "alpha_with_score")
    return CalibratedThreshold(
        results=results,
        ties=ties,
        value=None,
        low=None,
        high=None,
        chance=None,
        reason=reason,
        **dict.fromkeys(figures, NONE),
    )


def _tau_b(pairs: Floats) -> float:
    """Return Kendall's tau-b, or NaN if one side is constant."""
    tau = float(kendalltau(pairs[:, 0], pairs[:, 1]).statistic)
    return tau if math.isfinite(tau) else math.nan
