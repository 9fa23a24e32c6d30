"""What people say of results, beside what the metric says: one report over all judgements. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.stats import rankdata

from shared.contracts.batches import Judged
from shared.contracts.messages import Scored
from shared.contracts.reports import (
    DisputedResult,
    HumanAgreement,
    Interval,
    PartAgreement,
    ReviewerPair,
    ScoreDecile,
)
from shared.reports.estimates import BatchStatistics, as_interval
from shared.reports.human_ratings import NONE
from shared.reports.system_comparison import ReportPart, parts_of
from shared.statistics import intervals
from shared.statistics.agreement import coincidences, nominal_alpha, roc_auc
from shared.statistics.classification import kappa, label_counts
from shared.statistics.clusters import FEW, Floats

VALUES = ("agree", "disagree", "unsure")
GOOD = {"holds_up": True, "problem_found": False}  # verdicts of a metric that decide
PLACES = {value: place for place, value in enumerate(VALUES)}
MOST_DISPUTED, MOST_PAIRS, MOST_PEOPLE = 20, 45, 20
UPPER, LOWER = 0.7, 0.3  # shares of the score's range
CHOSEN = (
    "no random sample: people or a queue chose these lines; the figures do not hold for the batch"
)


@dataclass(frozen=True)
class GivenJudgement:
    """One person's opinion of one result's score.

    verdict: of `VALUES`. blind: who saw no score says whether the explanation is a good one.
    """

    job_id: str
    reviewer: str
    verdict: str
    human_score: float | None
    blind: bool = False

    def agrees_with(self, verdict: str) -> float | None:
        """1 or 0; None where one of the two decides nothing. verdict: the metric's."""
        if self.verdict == "unsure":
            return None
        agrees = self.verdict == "agree"
        if not self.blind:
            return float(agrees)
        return float(agrees == GOOD[verdict]) if verdict in GOOD else None


@dataclass(frozen=True)
class JudgedResults:
    """over: statistics of the results. given: current judgements of these, one a person."""

    over: BatchStatistics[Any]
    given: Sequence[GivenJudgement]

    def agreement(self, asked: Judged) -> HumanAgreement:
        """All figures; those that nothing supports are null."""
        people = sorted({one.reviewer for one in self.given})
        warnings = () if asked.random else (CHOSEN,)
        if 0 < len(self.of_result) < FEW:
            warnings = (*warnings, f"few: {len(self.of_result)} texts were judged")
        return HumanAgreement(
            judgements=len(self.given),
            texts=len(self.of_result),
            reviewers=len(people),
            random=asked.random,
            **self._between(people),
            **self._with_metric(),
            by_verdict=self._by(lambda row: row.report.verdict),
            by_language=self._by(
                lambda row: row.report.languages and row.report.languages.text.code
            ),
            warnings=warnings,
        )

    @cached_property
    def rows(self) -> dict[str, Scored[Any, Any]]:
        """job → its result; of lines that share a job the first."""
        found: dict[str, Scored[Any, Any]] = {}
        for row in self.over.rows:
            found.setdefault(row.job_id, row)
        return found

    @cached_property
    def of_result(self) -> dict[str, dict[str, str]]:
        """job → reviewer → what they say."""
        found: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for one in self.given:
            if one.job_id in self.rows:
                found[one.job_id][one.reviewer] = one.verdict
        return dict(found)

    def _keys(self, ids: Iterable[str]) -> list[str]:
        return self.over.keys([self.rows[one] for one in ids])

    def _between(self, people: Sequence[str]) -> dict[str, Any]:
        shared = [one for one, said in self.of_result.items() if len(said) > 1]
        counts = np.zeros((len(shared), len(VALUES)))
        for place, one in enumerate(shared):
            for value in self.of_result[one].values():
                counts[place, PLACES[value]] += 1
        pairs = coincidences(counts)
        alike = np.stack([pairs[:, :: len(VALUES) + 1].sum(axis=1), pairs.sum(axis=1)], axis=1)
        same = [float(len(set(self.of_result[one].values())) == 1) for one in shared]
        both = self._common_ids(*people) if len(people) == 2 else []
        keys = self._keys(shared)
        return {
            "agreed": self.over.ratio("pairs alike", alike, _ratio, keys)
            if len(people) > 2 or not shared
            else self.over.share(same, keys),
            "alpha": self.over.ratio("alpha", pairs, nominal_alpha, keys),
            "kappa": self.over.ratio("kappa", self._table(both, *people), kappa, self._keys(both))
            if len(people) == 2
            else NONE,
            "pairs": tuple(self._pairs(people)),
            "disputed": tuple(self._disputed(shared)),
        }

    def _common_ids(self, first: str, second: str) -> list[str]:
        return [one for one, said in self.of_result.items() if first in said and second in said]

    def _table(self, ids: Sequence[str], first: str, second: str) -> Floats:
        """(N, 3 C) counts of both people's values, as `classification.kappa` takes their sums."""
        said = (self.of_result[one] for one in ids)
        return label_counts(
            [(PLACES[one[first]], PLACES[one[second]]) for one in said], len(VALUES)
        )

    def _pairs(self, people: Sequence[str]) -> Iterator[ReviewerPair]:
        """Of those who judged most, the pairs that share most texts first."""
        busy = Counter(name for said in self.of_result.values() for name in said)
        several = sorted(people, key=lambda name: (-busy[name], name))[:MOST_PEOPLE]
        pairs = sorted(
            ((self._common_ids(*pair), pair) for pair in combinations(sorted(several), 2)),
            key=lambda found: (-len(found[0]), found[1]),
        )
        for both, (first, second) in pairs[:MOST_PAIRS]:
            if both:
                found = float(kappa(self._table(both, first, second).sum(axis=0)[None])[0])
                said = (self.of_result[one] for one in both)
                same = [float(one[first] == one[second]) for one in said]
                yield ReviewerPair(
                    first=first,
                    second=second,
                    texts=len(both),
                    agreed=self.over.share(same, self._keys(both)),
                    kappa=found if np.isfinite(found) else None,
                )

    def _disputed(self, shared: Sequence[str]) -> list[DisputedResult]:
        """Those whose sides are most even, first."""
        found = []
        for one in shared:
            count = Counter(self.of_result[one].values())
            if len(count) > 1:
                told = {value: count[value] for value in VALUES}
                custom_id = self.rows[one].custom_id
                found.append(DisputedResult(job_id=one, custom_id=custom_id, **told))
        found.sort(key=lambda one: (-min(one.agree, one.disagree), -one.unsure, one.job_id))
        return found[:MOST_DISPUTED]

    @cached_property
    def _beside_metric(self) -> list[tuple[Scored[Any, Any], float]]:
        """(result, 1 agrees with the metric or 0 does not)."""
        found = []
        for one in self.given:
            if (row := self.rows.get(one.job_id)) is not None:
                agrees = one.agrees_with(str(row.report.verdict))
                found += [] if agrees is None else [(row, agrees)]
        return found

    def _with_metric(self) -> dict[str, Any]:
        score = parts_of(self.over.metric.report)[0]
        low, high = score.bounds
        found: dict[str, Any] = {
            "with_metric": self._share(self._beside_metric),
            "above": NONE,
            "below": NONE,
            "parts": tuple(map(self._part, parts_of(self.over.metric.report))),
        }
        if low is None or high is None:
            return found
        edges = [low + (high - low) * place / 10 for place in range(11)]
        upper, lower = low + (high - low) * UPPER, low + (high - low) * LOWER
        return found | {
            "above": self._within(upper, high),
            "below": self._within(low, lower),
            "deciles": tuple(
                ScoreDecile(low=start, high=end, agreed=self._within(start, end, last=end == high))
                for start, end in pairwise(edges)
            ),
        }

    def _within(self, low: float, high: float, *, last: bool = True) -> Interval:
        """last: whether the upper border belongs to it."""
        return self._share(
            [
                one
                for one in self._beside_metric
                if (score := one[0].report.score) is not None
                and low <= score <= high
                and (last or score < high)
            ]
        )

    def _share(self, chosen: Sequence[tuple[Scored[Any, Any], float]]) -> Interval:
        return self.over.share(
            [agreed for _, agreed in chosen], self.over.keys([row for row, _ in chosen])
        )

    def _by(self, value_of: Any) -> dict[str, Interval]:
        found: defaultdict[str, list[Any]] = defaultdict(list)
        for one in self._beside_metric:
            if (value := value_of(one[0])) is not None:
                found[str(value)].append(one)
        return {value: self._share(some) for value, some in sorted(found.items())}

    def _part(self, part: ReportPart) -> PartAgreement:
        rows, keys, ranked, owners = [], [], [], []
        for one in self.given:
            row = self.rows.get(one.job_id)
            if row is None or one.verdict == "unsure" or (value := part.mean([row])) is None:
                continue
            rows.append((value, float(one.verdict == "agree")))
            keys.append(row)
            if one.human_score is not None:
                ranked.append((value, one.human_score))
                owners.append(row)
        how, name = self.over.how, f"people {part.name}"
        pairs = np.array(rows, dtype=np.float64).reshape(-1, 2)
        ranks = np.array(ranked, dtype=np.float64).reshape(-1, 2)
        if len(ranks):
            ranks = np.stack([rankdata(ranks[:, 0]), rankdata(ranks[:, 1])], axis=1)
        auc = intervals.statistic(name, pairs, roc_auc, self.over.keys(keys), how)
        return PartAgreement(
            part=part.name,
            auc=as_interval(auc),
            human_score=self.over.correlation(f"{name} ranks", ranks, self.over.keys(owners)),
        )


def _ratio(sums: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1]
