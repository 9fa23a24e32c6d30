"""The common part of every batch report: counts, means with intervals, and warnings. Only this
module converts the estimates of `shared.statistics` to messages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.stats import rankdata

from shared.contracts.batches import BatchReport, BatchReportRequest, StudyPlan, WantedEffect
from shared.contracts.fields import bounds_of, field_at, messages_in, number_at
from shared.contracts.messages import Message, Scored
from shared.contracts.null_report import Null
from shared.contracts.reports import (
    Interval,
    LanguageScores,
    PartSummary,
    SequenceInterval,
    ValueHistogram,
    bin_edges,
)
from shared.contracts.service import MetricContract, ReportedContract
from shared.process.settings import SERVICE_VERSION
from shared.queue.job_context import check
from shared.statistics import intervals, power
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import FEW, Floats
from shared.statistics.comparison import PairedTest, paired
from shared.statistics.intervals import UNBOUNDED, Bounds, IntervalEstimate, Keys, OfSums
from shared.statistics.ranks import BINS, bin_counts
from shared.statistics.sequences import confidence_sequence

BatchRequest = TypeVar("BatchRequest", bound=BatchReportRequest)
Values = Iterable[float | None] | Floats

STATISTICS_VERSION = "2"  # 1: percentile bootstrap over results
UNIT: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class BatchStatistics(Generic[BatchRequest]):
    """Counts and intervals over results, with the request's seed, resamples and confidence level.

    Each quantity has a name, which determines its random resamples. Quantities with equal values
    share their resamples, so that a mean has only one interval per report. `keys` holds the cluster
    of each value; if None, each value is its own cluster."""

    contract: ReportedContract
    rows: Sequence[Scored[Any, Any]]
    request: BatchRequest

    @property
    def metric(self) -> MetricContract:
        """The contract of the metric. Raises TypeError if these are not results of a metric."""
        if not isinstance(self.contract, MetricContract):
            raise TypeError(f"{self.contract.name} is not a metric")
        return self.contract

    @cached_property
    def how(self) -> Resampling:
        request = self.request
        return Resampling(request.seed, request.resamples, request.confidence, check, names={})

    def keys(self, rows: Sequence[Scored[Any, Any]] | None = None) -> list[str]:
        """Return each result's cluster: its metadata under `cluster_key`, or else its text. A
        result whose text is unknown is its own cluster."""
        name = self.request.cluster_key
        keys = []
        for row in self.rows if rows is None else rows:
            value = row.request.metadata.get(name) if name is not None else None
            if value is not None:
                keys.append(f"metadata {value}")
            else:
                keys.append(self.text_of(row) or f"job {row.job_id}")
        return keys

    def text_of(self, row: Scored[Any, Any]) -> str | None:
        """Return a key of the row's text: the text itself, or its keyed hash if it was not kept.
        Return None if neither is known."""
        key = getattr(row.report.provenance, "text_key", None)
        text = self.contract.judged_text(row.request) or self._texts.get(key)
        if text is not None:
            return f"text {text}"
        return None if key is None else f"key {key}"

    @cached_property
    def _texts(self) -> dict[str | None, str]:
        """Map keyed hashes to the texts of results that still have their text."""
        texts: dict[str | None, str] = {}
        for row in self.rows:
            text = self.contract.judged_text(row.request)
            key = getattr(row.report.provenance, "text_key", None)
            if key is not None and text is not None:
                texts[key] = text
        return texts

    @property
    def score_bounds(self) -> Bounds:
        """The range of the scores, or an unbounded range if the results have different ranges."""
        ranges: set[Bounds] = {row.report.range for row in self.rows}
        return ranges.pop() if len(ranges) == 1 else UNBOUNDED

    def envelope(self) -> dict[str, Any]:
        scores = [row.report.score for row in self.rows]
        undefined = sum(score is None for score in scores)
        bounds = self.score_bounds
        estimate = intervals.mean("score", scores, self.keys(), bounds, self.how)
        nothing = () if len(scores) > undefined else ("no result has a score",)
        reasons = (
            {reason.code for reason in row.report.reasons if reason.component == "score"}
            for row in self.rows
        )
        mixtures = (
            f"results of several {origin} are averaged: {', '.join(sorted(kinds))}"
            for origin, kinds in origins_of(self.rows).items()
            if len(kinds) > 1
        )
        return {
            "metric": self.contract.name,
            "scored": len(scores),
            "undefined": undefined,
            "score": as_interval(estimate),
            # the most frequent first
            "reasons": dict(Counter(chain.from_iterable(map(sorted, reasons))).most_common()),
            "by_language": self._by_language(),
            "parts": self._parts(),
            "sequence": self._sequence(scores, bounds) if self.request.sequence else None,
            "warnings": (*nothing, *estimate.warnings, *mixtures),
            "seed": self.request.seed,
            "resamples": self.request.resamples,
            "confidence": self.request.confidence,
            "statistics_version": STATISTICS_VERSION,
            "service_version": SERVICE_VERSION,
        }

    def _parts(self) -> dict[str, PartSummary]:
        """Return the summary of each part of a metric's score, or {} for a service that is not a
        metric."""
        if not isinstance(self.contract, MetricContract):
            return {}
        keys, parts = self.keys(), {}
        for name, path in self.contract.parts.items():
            values = [number_at(row.report, path) for row in self.rows]
            not_applicable = sum(
                value is None and name in row.report.unasked
                for value, row in zip(values, self.rows, strict=True)
            )
            bounds = bounds_of(field_at(self.contract.report, path))
            parts[name] = PartSummary(
                mean=self.mean(name, values, keys, bounds),
                undefined=values.count(None) - not_applicable,
                not_applicable=not_applicable,
            )
        return parts

    def histogram(
        self, values: Values, bounds: tuple[float, float], bins: int = BINS
    ) -> ValueHistogram:
        """Count the defined values in bins. `bounds` are the bounds of the quantity."""
        defined = np.array([value for value in values if value is not None], dtype=np.float64)
        edges = bin_edges(*bounds, bins)
        return ValueHistogram(low=bounds[0], high=bounds[1], counts=bin_counts(defined, edges))

    def _by_language(self) -> dict[str, LanguageScores]:
        groups: dict[str, list[Scored[Any, Any]]] = {}
        for row in self.rows:
            if row.report.languages is not None:
                groups.setdefault(row.report.languages.text.code, []).append(row)
        by_language = {}
        for code, rows in sorted(groups.items()):
            scores = [row.report.score for row in rows]
            mean = self.mean(f"score in {code}", scores, self.keys(rows), self.score_bounds)
            undefined = scores.count(None)
            by_language[code] = LanguageScores(results=len(rows), undefined=undefined, score=mean)
        return by_language

    def _sequence(self, scores: Sequence[float | None], bounds: Bounds) -> SequenceInterval | None:
        """Return a confidence sequence for the mean over texts, in the order of their first
        results. Return None without scores or bounds."""
        least, most = bounds
        by_text: dict[str, list[float]] = {}
        for score, key in zip(scores, self.keys(), strict=True):
            if score is not None:
                by_text.setdefault(key, []).append(score)
        if not by_text or least is None or most is None:
            return None
        means = np.array([np.mean(values) for values in by_text.values()])
        scaled = np.clip((means - least) / (most - least), 0, 1)
        sequence = confidence_sequence(scaled, 1 - self.request.confidence)
        low, high = (
            least + (most - least) * float(ends[-1]) for ends in (sequence.low, sequence.high)
        )
        return SequenceInterval(low=low, high=high, of=means.size) if low <= high else None

    def compare(
        self, name: str, differences: Floats, keys: Keys = None, bounds: Bounds = UNBOUNDED
    ) -> PairedTest:
        """Test the differences (first - second) of two systems on the same texts."""
        return paired(name, differences, keys, bounds, self.how)

    def mean(
        self, name: str, values: Values, keys: Keys = None, bounds: Bounds = UNBOUNDED
    ) -> Interval:
        """Return the mean of the defined values. `bounds` are the bounds of the quantity. With
        fewer than two clusters there is no interval."""
        return as_interval(intervals.mean(name, list(values), keys, bounds, self.how))

    def share(self, values: Values, keys: Keys = None) -> Interval:
        """Return the share of ones among the defined values, which are 0 or 1."""
        return as_interval(intervals.share(list(values), keys, self.how))

    def macro(
        self,
        name: str,
        groups: Sequence[Floats],
        keys: Sequence[Keys] = (),
        *,
        bounds: Bounds = UNBOUNDED,
        weights: Sequence[float] | None = None,
    ) -> Interval:
        """Return the mean of the groups' means. Each group is resampled separately, and empty
        groups are left out.

        `keys` holds the clusters of each group's values; without it each value is its own cluster.
        `weights` apply to the groups' means and are >= 0; None means equal weights.
        """
        strata = list(zip(groups, keys or [None] * len(groups), strict=True))
        return as_interval(intervals.macro(name, strata, bounds, self.how, weights))

    def ratio(self, name: str, parts: Floats, of: OfSums, keys: Keys = None) -> Interval:
        """Return a function of column sums, such as a share or R², with its interval. `of` computes
        the function from the sums of the columns of `parts`, shape (N, K). The interval is None if
        `of` is undefined for a resample."""
        return as_interval(intervals.ratio(name, parts, of, keys, self.how))

    def correlation(self, name: str, pairs: Floats, keys: Keys = None) -> Interval:
        """Return Pearson's r of pairs, shape (N, 2). It is None if a column is constant or N <
        3."""
        return as_interval(intervals.correlation(name, pairs, keys, self.how))

    def rank_correlation(self, name: str, pairs: Floats, keys: Keys = None) -> Interval:
        """Return Spearman's rho of the two columns of `pairs`, shape (N, 2), with its interval. The
        value is None if a column is constant or N < 3."""
        return self.correlation(name, rankdata(pairs, axis=0), keys)

    def median(self, name: str, values: Values, keys: Keys = None) -> Interval:
        """Return the median. If there are too few values for the confidence level, it has no
        interval."""
        return as_interval(intervals.median(name, list(values), keys, self.how))


def origins_of(rows: Sequence[Scored[Any, Any]]) -> dict[str, set[str]]:
    """Return the values of each property that must be equal before results may be averaged:
    variant, model, metric version and null kind."""
    origins = [row.report.provenance for row in rows]
    return {
        "variants": {origin.variant for origin in origins},
        "models": {
            " and ".join(f"{use.name} {use.revision}".strip() for use in origin.models)
            for origin in origins
            if origin.models
        },
        "metric versions": {origin.metric_version for origin in origins},
        "null kinds": {kind for row in rows for kind in _null_kinds(row.report)},
    }


def _null_kinds(message: Message) -> Iterator[str]:
    if isinstance(message, Null):
        yield message.kind
    for _, value in message:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Message):
                yield from _null_kinds(item)


def as_interval(estimate: IntervalEstimate) -> Interval:
    """Convert an estimate to the `Interval` of the API, without the warnings."""
    return Interval(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        of=estimate.rows,
        method=estimate.method,
        clusters=estimate.clusters,
        effective=estimate.effective,
        se=estimate.se,
        detectable=estimate.detectable,
    )


def has_null(message: type[Message]) -> bool:
    """Return True if reports of this type can have a null distribution (scores of random
    explanations)."""
    if issubclass(message, Null):
        return True
    return any(
        has_null(inner)
        for field in message.model_fields.values()
        for inner in messages_in(field.annotation)
    )


def plan_of(target: WantedEffect, report: BatchReport, *, against_random: bool) -> StudyPlan:
    """Return how many texts and random explanations (draws) a study needs to detect this effect,
    given the spread in the report.

    The plan counts texts, so it uses the spread of a text's mean: the standard error times the
    square root of the number of texts. `against_random` is true for metrics that compare an
    explanation with random ones."""
    warnings: list[str] = []
    scores = {"texts": report.score}
    if report.comparison is not None:  # its first number is the score
        scores["compared_texts"] = report.comparison.differences[0].difference
    texts: dict[str, int | None] = {}
    for name, mean in scores.items():
        texts |= _texts_for(target, name, mean, report.confidence, warnings)
    if target.effect is not None and report.undefined:
        warnings.append(
            f"only texts with a score count: {report.undefined} of {report.scored} results "
            "have no score"
        )
    draws = _draws_for(target, warnings) if against_random else {}
    if target.beat_rate is not None and not against_random:
        warnings.append(f"draws: {report.metric} does not compare explanations with random ones")
    return StudyPlan(wanted=target, **texts, **draws, warnings=tuple(warnings))


def _texts_for(
    target: WantedEffect, name: str, mean: Interval, confidence: float, warnings: list[str]
) -> dict[str, int | None]:
    if target.effect is None:
        return {}
    if mean.se == 0 and mean.clusters and mean.low is not None and mean.high is not None:
        warnings.append(
            f"{name}: all {mean.clusters} scores are equal; the plan says how many equal scores "
            "would rule out the effect"
        )
        value = mean.value or 0.0
        tail = (1 - confidence) / 2
        range_end = max(mean.high - value, value - mean.low) / (1 - tail ** (1 / mean.clusters))
        return {name: power.equal_texts_needed(target.effect / range_end, target.alpha)}
    if not mean.se or not mean.clusters:
        warnings.append(
            f"{name}: the spread of the scores is unknown, so no number of texts can be computed"
        )
        return {}
    if mean.clusters < FEW:
        warnings.append(f"{name}: the spread is estimated from only {mean.clusters} texts")
    spread = mean.se * math.sqrt(mean.clusters)
    spreads = {name: spread, f"{name}_upper": power.spread_upper(spread, mean.clusters)}
    sizes = {
        size_name: power.texts_needed(target.effect / sd, target.power, target.alpha)
        for size_name, sd in spreads.items()
        if sd is not None
    }
    warnings += [
        f"{size_name}: more than {power.MOST_TEXTS:,} texts would be needed"
        for size_name, needed in sizes.items()
        if needed is None
    ]
    return sizes


def _draws_for(target: WantedEffect, warnings: list[str]) -> dict[str, int | None]:
    if target.beat_rate is None:
        return {}
    sizes = {
        name: power.draws_needed(target.beat_rate, target.power, target.alpha, sides=sides)
        for name, sides in (("draws", 2), ("one_sided_draws", 1))
    }
    warnings += [
        f"{name}: no number of draws up to {power.MOST_DRAWS:,} suffices"
        for name, draws in sizes.items()
        if draws is None
    ]
    return sizes
