"""Computes how much people's judgements of results agree with one another and with the metric. Pure
functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

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
GOOD = {"holds_up": True, "problem_found": False}  # verdicts of a metric that count
INDEX = {value: index for index, value in enumerate(VALUES)}
MOST_DISPUTED, MOST_PAIRS, MOST_PEOPLE = 20, 45, 20
UPPER, LOWER = 0.7, 0.3  # shares of the score's range
CHOSEN = (
    "these lines are not a random sample, because people or a queue chose them, so the "
    "numbers do not apply to the whole batch"
)


@dataclass(frozen=True)
class GivenJudgement:
    """One person's judgement of one result's score."""

    job_id: str
    reviewer: str
    verdict: str  # one of `VALUES`
    human_score: float | None
    blind: bool = False  # without the score, the verdict is on the explanation

    def agrees_with(self, verdict: str) -> float | None:
        """Return 1 if the judgement agrees with the metric's verdict, 0 if not. Return None if the
        person is unsure or the metric has no clear verdict."""
        if self.verdict == "unsure":
            return None
        agrees = self.verdict == "agree"
        if not self.blind:
            return float(agrees)
        return float(agrees == GOOD[verdict]) if verdict in GOOD else None


@dataclass(frozen=True)
class JudgedResults:
    """Results and their current judgements, one per person."""

    over: BatchStatistics[Any]
    given: Sequence[GivenJudgement]

    def agreement(self, request: Judged) -> HumanAgreement:
        """Return the agreement of reviewers. Values without enough data are null."""
        people = sorted({judgement.reviewer for judgement in self.given})
        warnings = () if request.random else (CHOSEN,)
        if 0 < len(self.of_result) < FEW:
            warnings = (
                *warnings,
                f"there are too few judgements: people judged only {len(self.of_result)} texts",
            )
        return HumanAgreement(
            judgements=len(self.given),
            texts=len(self.of_result),
            reviewers=len(people),
            random=request.random,
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
        """Each job's result by job id. If several lines share a job, the result of the first line
        is used."""
        rows: dict[str, Scored[Any, Any]] = {}
        for row in self.over.rows:
            rows.setdefault(row.job_id, row)
        return rows

    @cached_property
    def of_result(self) -> dict[str, dict[str, str]]:
        """The verdict of each reviewer, by job."""
        verdicts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for judgement in self.given:
            if judgement.job_id in self.rows:
                verdicts[judgement.job_id][judgement.reviewer] = judgement.verdict
        return dict(verdicts)

    def _keys(self, ids: Iterable[str]) -> list[str]:
        return self.over.keys([self.rows[job_id] for job_id in ids])

    def _between(self, people: Sequence[str]) -> dict[str, Any]:
        shared = [job_id for job_id, verdicts in self.of_result.items() if len(verdicts) > 1]
        counts = np.zeros((len(shared), len(VALUES)))
        for index, job_id in enumerate(shared):
            for value in self.of_result[job_id].values():
                counts[index, INDEX[value]] += 1
        pairs = coincidences(counts)
        equal = np.stack([pairs[:, :: len(VALUES) + 1].sum(axis=1), pairs.sum(axis=1)], axis=1)
        agreed = [float(len(set(self.of_result[job_id].values())) == 1) for job_id in shared]
        common = self._common_ids(*people) if len(people) == 2 else []
        keys = self._keys(shared)
        return {
            "agreed": self.over.ratio("pairs alike", equal, _ratio, keys)
            if len(people) > 2 or not shared
            else self.over.share(agreed, keys),
            "alpha": self.over.ratio("alpha", pairs, nominal_alpha, keys),
            "kappa": self.over.ratio(
                "kappa", self._table(common, *people), kappa, self._keys(common)
            )
            if len(people) == 2
            else NONE,
            "pairs": tuple(self._pairs(people)),
            "disputed": tuple(self._disputed(shared)),
        }

    def _common_ids(self, first: str, second: str) -> list[str]:
        return [
            job_id
            for job_id, verdicts in self.of_result.items()
            if first in verdicts and second in verdicts
        ]

    def _table(self, ids: Sequence[str], first: str, second: str) -> Floats:
        """Return counts of the values that the reviewers `first` and `second` gave, as input for
        `classification.kappa`. There is one row per result."""
        rows = (self.of_result[job_id] for job_id in ids)
        return label_counts([(INDEX[row[first]], INDEX[row[second]]) for row in rows], len(VALUES))

    def _pairs(self, people: Sequence[str]) -> Iterator[ReviewerPair]:
        """Yield pairs of the reviewers with the most judgements, with their agreement. Pairs with
        the most texts in common come first, and pairs without a common text are left out."""
        counts = Counter(name for verdicts in self.of_result.values() for name in verdicts)
        busiest = sorted(people, key=lambda name: (-counts[name], name))[:MOST_PEOPLE]
        pairs = sorted(
            ((self._common_ids(*pair), pair) for pair in combinations(sorted(busiest), 2)),
            key=lambda row: (-len(row[0]), row[1]),
        )
        for common, (first, second) in pairs[:MOST_PAIRS]:
            if common:
                value = float(kappa(self._table(common, first, second).sum(axis=0)[None])[0])
                rows = (self.of_result[job_id] for job_id in common)
                agreed = [float(row[first] == row[second]) for row in rows]
                yield ReviewerPair(
                    first=first,
                    second=second,
                    texts=len(common),
                    agreed=self.over.share(agreed, self._keys(common)),
                    kappa=value if np.isfinite(value) else None,
                )

    def _disputed(self, shared: Sequence[str]) -> list[DisputedResult]:
        disputed = []
        for job_id in shared:
            count = Counter(self.of_result[job_id].values())
            if len(count) > 1:
                votes = {value: count[value] for value in VALUES}
                custom_id = self.rows[job_id].custom_id
                disputed.append(DisputedResult(job_id=job_id, custom_id=custom_id, **votes))
        disputed.sort(key=lambda row: (-min(row.agree, row.disagree), -row.unsure, row.job_id))
        return disputed[:MOST_DISPUTED]

    @cached_property
    def _judged(self) -> list[tuple[Scored[Any, Any], float]]:
        """Return (result, agreement) pairs. Agreement is 1 if a person agrees with the metric, else
        0."""
        judged = []
        for judgement in self.given:
            if (row := self.rows.get(judgement.job_id)) is not None:
                agrees = judgement.agrees_with(str(row.report.verdict))
                judged += [] if agrees is None else [(row, agrees)]
        return judged

    def _with_metric(self) -> dict[str, Any]:
        parts = parts_of(self.over.metric.report)
        low, high = parts[0].bounds
        figures: dict[str, Any] = {
            "with_metric": self._share(self._judged),
            "above": NONE,
            "below": NONE,
            "parts": tuple(map(self._part, parts)),
        }
        if low is None or high is None:
            return figures
        edges = [low + (high - low) * step / 10 for step in range(11)]
        upper, lower = low + (high - low) * UPPER, low + (high - low) * LOWER
        return figures | {
            "above": self._within(upper, high),
            "below": self._within(low, lower),
            "deciles": tuple(
                ScoreDecile(low=start, high=end, agreed=self._within(start, end, last=end == high))
                for start, end in pairwise(edges)
            ),
        }

    def _within(self, low: float, high: float, *, last: bool = True) -> Interval:
        """Return the agreement for scores from `low` to `high`. The upper end is included if `last`
        is True."""
        return self._share(
            [
                (row, agrees)
                for row, agrees in self._judged
                if (score := row.report.score) is not None
                and low <= score <= high
                and (last or score < high)
            ]
        )

    def _share(self, judged: Sequence[tuple[Scored[Any, Any], float]]) -> Interval:
        keys = self.over.keys([row for row, _ in judged])
        return self.over.share([agrees for _, agrees in judged], keys)

    def _by(self, value_of: Any) -> dict[str, Interval]:
        groups: defaultdict[str, list[Any]] = defaultdict(list)
        for row, agrees in self._judged:
            if (value := value_of(row)) is not None:
                groups[str(value)].append((row, agrees))
        return {value: self._share(group) for value, group in sorted(groups.items())}

    def _part(self, part: ReportPart) -> PartAgreement:
        rows, keys, scores, owners = [], [], [], []
        for judgement in self.given:
            row = self.rows.get(judgement.job_id)
            if row is None or judgement.verdict == "unsure" or (value := part.mean([row])) is None:
                continue
            rows.append((value, float(judgement.verdict == "agree")))
            keys.append(row)
            if judgement.human_score is not None:
                scores.append((value, judgement.human_score))
                owners.append(row)
        how, name = self.over.how, f"people {part.name}"
        pairs = np.array(rows, dtype=np.float64).reshape(-1, 2)
        scored = np.array(scores, dtype=np.float64).reshape(-1, 2)
        auc = intervals.statistic(name, pairs, roc_auc, self.over.keys(keys), how)
        return PartAgreement(
            part=part.name,
            auc=as_interval(auc),
            human_score=self.over.rank_correlation(f"{name} ranks", scored, self.over.keys(owners)),
        )


def _ratio(sums: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1]
