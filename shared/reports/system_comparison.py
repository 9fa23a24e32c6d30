"""Compares two systems on the same texts: the score, and each component that is a number.

Results are paired by `custom_id`, or else by text and explained label. The test uses both Student's
t and sign flips of whole texts (`shared.statistics.comparison`). Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shared.contracts.batches import Against
from shared.contracts.errors import BadInput
from shared.contracts.fields import bounds_of, is_number, messages_in
from shared.contracts.messages import Report, Scored
from shared.contracts.reports import (
    ComparisonSlice,
    ComponentDifference,
    ProblemChange,
    SystemComparison,
)
from shared.reports.comparison_details import ScoredPair, details_of
from shared.reports.estimates import BatchStatistics, as_interval, origins_of
from shared.reports.pages.page_text import counted
from shared.reports.score_splits import FEWEST, MOST, value_of
from shared.statistics.clusters import Floats, clustered, without_repeats
from shared.statistics.comparison import PairedTest, wilcoxon_p
from shared.statistics.families import holm
from shared.statistics.intervals import UNBOUNDED, Bounds

Row = Scored[Any, Any]
TextLabel = tuple[str, str]  # a text, an explained label
COMPARABLE = ("metric versions", "variants", "null kinds")  # must be equal for both
SAME_RESULTS = "both sides have the same explanation and the same result"
NO_PAIR = (
    "there are no pairs, because the systems share no custom_id and no text with the same label"
)


@dataclass(frozen=True)
class TextPair:
    """The results of both systems on one text."""

    new: tuple[Row, ...]
    baseline: tuple[Row, ...]


@dataclass(frozen=True)
class Pairing:
    pairs: tuple[TextPair, ...]
    unpaired_new: int
    unpaired_baseline: int
    conflicting: int  # results that share a custom_id but not the text
    by_text: int  # pairs of one text and label without a common custom_id


@dataclass(frozen=True)
class SystemResults:
    """The results of two systems, `new` and `baseline`. `over` is the object that computes
    statistics. `failed` maps the custom id of each failed line of the two systems to its text, or
    to None if the text is unknown."""

    over: BatchStatistics[Any]
    new: Sequence[Row]
    baseline: Sequence[Row]
    failed: tuple[Mapping[str, str | None], Mapping[str, str | None]] = ({}, {})

    def comparison(self, request: Against) -> SystemComparison:
        """Compare the systems. Raises BadInput if they were not scored in the same way."""
        check_compatible(self.new, self.baseline)
        pairing = self.paired()
        # pairs with equal requests and reports count once
        indices, repeats = without_repeats(
            [(_contents(pair.new), _contents(pair.baseline)) for pair in pairing.pairs]
        )
        pairs = [pairing.pairs[index] for index in indices]
        tested = []
        for part in parts_of(self.over.metric.report):
            differences, keys = self._differences(part, pairs)
            test = self.over.compare(f"systems {part.name}", differences, keys, part.differences)
            wilcoxon = None
            if request.wilcoxon and differences.size:
                wilcoxon = wilcoxon_p(clustered(differences, keys))
            tested.append((part, test, wilcoxon))
        adjusted = iter(holm([p for _, test, _ in tested if (p := test.test.p_value) is not None]))
        score, score_test, _ = tested[0]
        slices = [row for by in self.over.request.by for row in self._slices(by, score, pairs)]
        return SystemComparison(
            pairs=len(pairs),
            unpaired_new=pairing.unpaired_new,
            unpaired_baseline=pairing.unpaired_baseline,
            differences=tuple(
                _difference(
                    part,
                    test,
                    pairs,
                    p_adjusted=None if test.test.p_value is None else next(adjusted),
                    p_wilcoxon=p_wilcoxon,
                )
                for part, test, p_wilcoxon in tested
            ),
            conflicting=pairing.conflicting,
            by_text=pairing.by_text,
            problems=self._problems(pairs),
            slices=tuple(slices),
            warnings=tuple(self._warnings(pairing, repeats, score_test)),
            **self._details(score, pairs, pairing),
        )

    def _problems(self, pairs: Sequence[TextPair]) -> tuple[ProblemChange, ...]:
        """Test for each problem whether both systems have it equally often. P-values are adjusted
        by Holm."""
        keys = self.over.keys([pair.new[0] for pair in pairs])
        tested = []
        for code in self.over.metric.problems:
            gaps = np.array(
                [_share_with(code, pair.new) - _share_with(code, pair.baseline) for pair in pairs],
                dtype=np.float64,
            )
            if gaps.any():
                test = self.over.compare(f"systems problem {code}", gaps, keys, (-1.0, 1.0))
                tested.append((code, test))
        adjusted = iter(holm([p for _, test in tested if (p := test.test.p_value) is not None]))
        return tuple(
            ProblemChange(
                problem=code,
                only_new=test.higher,
                only_baseline=test.lower,
                p_value=test.test.p_value,
                p_adjusted=None if test.test.p_value is None else next(adjusted),
            )
            for code, test in tested
        )

    def _details(
        self, score: ReportPart, pairs: Sequence[TextPair], pairing: Pairing
    ) -> dict[str, Any]:
        paired = {id(row) for pair in pairing.pairs for row in (*pair.new, *pair.baseline)}
        details = details_of(
            [
                ScoredPair(
                    min(pair.new, key=lambda row: row.job_id),
                    min(pair.baseline, key=lambda row: row.job_id),
                    score.mean(pair.new),
                    score.mean(pair.baseline),
                )
                for pair in pairs
            ],
            score.bounds,
        )
        sides = (
            ("undefined_new", self.failed[0], self.baseline),
            ("undefined_baseline", self.failed[1], self.new),
        )
        for name, failed, scored in sides:
            details[name] += sum(
                row.report.score is not None and id(row) not in paired and self._is_in(failed, row)
                for row in scored
            )
        return details

    def _is_in(self, failed: Mapping[str, str | None], row: Row) -> bool:
        """Return True if the other system's line with this custom id and text failed."""
        if row.custom_id is None or row.custom_id not in failed:
            return False
        text, own = failed[row.custom_id], self.over.contract.judged_text(row.request)
        return text is None or own is None or text == own

    def _slices(
        self, by: str, score: ReportPart, pairs: Sequence[TextPair]
    ) -> list[ComparisonSlice]:
        groups: dict[str, list[TextPair]] = {}
        for pair in pairs:
            row = min(pair.new, key=lambda row: row.job_id)
            if (value := value_of(self.over, row, by)) is not None:
                groups.setdefault(value, []).append(pair)
        if not FEWEST <= len(groups) <= MOST:
            return []
        slices = []
        for value, group in groups.items():
            differences, keys = self._differences(score, group)
            name = f"systems {by} {value}"
            gap = self.over.mean(name, differences.tolist(), keys, score.differences)
            slices.append(ComparisonSlice(by=by, value=value, pairs=len(keys), difference=gap))
        return sorted(slices, key=lambda row: (row.difference.value or 0.0, row.value))

    def paired(self) -> Pairing:
        """Pair results by a common custom_id with the same text, and the remaining results by text
        and explained label."""
        theirs = {row.custom_id: row for row in self.baseline if row.custom_id is not None}
        same_id = [(row, theirs[row.custom_id]) for row in self.new if row.custom_id in theirs]
        agreeing = []
        for a, b in same_id:
            texts = {self.over.text_of(a), self.over.text_of(b)}
            if None in texts or len(texts) == 1:
                agreeing.append((a, b))
        paired = {id(row) for pair in agreeing for row in pair}
        new = self._by_text(row for row in self.new if id(row) not in paired)
        baseline = self._by_text(row for row in self.baseline if id(row) not in paired)
        common = [key for key in new if key in baseline]
        pairs = [TextPair((a,), (b,)) for a, b in agreeing]
        pairs += [TextPair(tuple(new[key]), tuple(baseline[key])) for key in common]
        return Pairing(
            tuple(pairs),
            len(self.new) - sum(len(pair.new) for pair in pairs),
            len(self.baseline) - sum(len(pair.baseline) for pair in pairs),
            len(same_id) - len(agreeing),
            len(common),
        )

    def _by_text(self, rows: Iterable[Row]) -> dict[TextLabel, list[Row]]:
        groups: dict[TextLabel, list[Row]] = {}
        for row in rows:
            if (text := self.over.text_of(row)) is not None:
                name = self.over.metric.explained
                label = "" if name is None else str(getattr(row.report, name))
                groups.setdefault((text, label), []).append(row)
        return groups

    def _differences(self, part: ReportPart, pairs: Sequence[TextPair]) -> tuple[Floats, list[str]]:
        differences, rows = [], []
        for pair in pairs:
            a, b = part.mean(pair.new), part.mean(pair.baseline)
            if a is not None and b is not None:
                differences.append(a - b)
                rows.append(pair.new[0])
        return np.array(differences, dtype=np.float64), self.over.keys(rows)

    def _warnings(self, pairing: Pairing, repeats: int, score: PairedTest) -> Iterator[str]:
        if not pairing.pairs:
            yield NO_PAIR
        shared = sum(
            not {row.job_id for row in pair.new}.isdisjoint(row.job_id for row in pair.baseline)
            for pair in pairing.pairs
        )
        if shared:
            yield (
                f"{SAME_RESULTS} in {shared:,} of {counted(len(pairing.pairs), 'pair')}, "
                "so these pairs do not differ"
            )
        if pairing.conflicting:
            yield (
                f"{counted(pairing.conflicting, 'custom_id')} of both systems: the texts differ, "
                "so these lines are not paired"
            )
        if repeats:
            yield f"{counted(repeats, 'pair')} that repeat other pairs count only once"
        yield from score.difference.warnings


def over_systems(comparisons: Sequence[SystemComparison]) -> list[SystemComparison]:
    """Adjust the scores' p-values for several comparisons with the same system, by Holm's
    method."""
    if len(comparisons) < 2:
        return list(comparisons)
    scores = [row.differences[0] for row in comparisons]
    adjusted = iter(holm([score.p_value for score in scores if score.p_value is not None]))
    results = []
    for row, score in zip(comparisons, scores, strict=True):
        p = None if score.p_value is None else next(adjusted)
        differences = (score.model_copy(update={"p_systems": p}), *row.differences[1:])
        results.append(row.model_copy(update={"differences": differences}))
    return results


def check_compatible(new: Sequence[Row], baseline: Sequence[Row]) -> None:
    """Raise BadInput if the systems were scored with different versions, variants or null
    distributions."""
    ours, theirs = origins_of(new), origins_of(baseline)
    for name in COMPARABLE:
        if ours[name] and theirs[name] and ours[name] != theirs[name]:
            kinds = [", ".join(sorted(origins[name])) for origins in (ours, theirs)]
            raise BadInput(
                f"the two systems have different {name}: {kinds[0]} and {kinds[1]}; "
                "score both in the same way to compare them",
                pointer="/against",
            )
    for name in COMPARABLE[:2]:
        if len(ours[name]) > 1:
            listed = ", ".join(sorted(ours[name]))
            raise BadInput(
                f"results with several {name} cannot be compared: {listed}; compare "
                "results with one of them",
                pointer="/against",
            )


def _share_with(problem: str, rows: Sequence[Row]) -> float:
    return sum(problem in row.report.problems for row in rows) / len(rows)


def _contents(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (row.request.model_dump_json(warnings=False), row.report.model_dump_json()) for row in rows
    )


def _difference(
    part: ReportPart,
    test: PairedTest,
    pairs: Sequence[TextPair],
    *,
    p_adjusted: float | None,
    p_wilcoxon: float | None,
) -> ComponentDifference:
    scores = [(part.mean(pair.new), part.mean(pair.baseline)) for pair in pairs]
    defined = [(a, b) for a, b in scores if a is not None and b is not None]
    means = [math.fsum(values) / len(defined) for values in zip(*defined, strict=True)]
    return ComponentDifference(
        component=part.name,
        pairs=test.difference.rows,
        difference=as_interval(test.difference),
        p_value=test.test.p_value,
        p_t=test.test.p_t,
        p_randomization=test.test.p_randomization,
        p_adjusted=p_adjusted,
        p_wilcoxon=p_wilcoxon,
        effect=test.effect,
        higher=test.higher,
        equal=test.equal,
        lower=test.lower,
        **dict(zip(("new", "baseline"), means, strict=False)),
    )


@dataclass(frozen=True)
class ReportPart:
    """A number in a report: its score, or one of its components."""

    name: str
    bounds: Bounds

    @property
    def differences(self) -> Bounds:
        """The bounds of the difference between two systems in this part of the report. Unbounded
        parts have (None, None)."""
        least, most = self.bounds
        return (None, None) if least is None or most is None else (least - most, most - least)

    def mean(self, rows: Sequence[Row]) -> float | None:
        """Return the mean over the results that have this number. The order of the rows has no
        effect."""
        score = self.name == "score"
        values = [
            row.report.score if score else getattr(row.report.components, self.name) for row in rows
        ]
        numbers = sorted(float(value) for value in values if value is not None)
        return float(np.mean(numbers)) if numbers else None


def parts_of(report: type[Report]) -> list[ReportPart]:
    """Return the numeric parts of a report: the score, and each field of `components` with a single
    number."""
    bounds = report.model_fields["range"].default
    parts = [ReportPart("score", bounds if isinstance(bounds, tuple) else UNBOUNDED)]
    for components in messages_in(report.model_fields["components"].annotation):
        fields = components.model_fields.items()
        parts += [
            ReportPart(name, bounds_of(field))
            for name, field in fields
            if is_number(field.annotation, (int, float, bool))
        ]
    return parts
