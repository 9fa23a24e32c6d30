"""Two systems on the same texts: whose explanations score higher, number by number?

Results are paired by `custom_id`, else by text and explained label; the test asks both Student's t
and sign flips of whole texts (`shared.statistics.comparison`). Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
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
Place = tuple[str, str]  # a text, an explained label
COMPARABLE = ("metric versions", "variants", "null kinds")  # in these both must be alike
SAME_LINES = "these are the same lines"
NO_PAIR = "no pair: no result of the one has the custom_id, or the text and label, of the other"


@dataclass(frozen=True)
class TextPair:
    """Results of both systems on one text."""

    first: tuple[Row, ...]
    second: tuple[Row, ...]


@dataclass(frozen=True)
class Pairing:
    pairs: tuple[TextPair, ...]
    unpaired_a: int
    unpaired_b: int
    conflicting: int  # results that share a custom_id and not the text
    by_text: int  # pairs of one text and label without a custom_id in common


@dataclass(frozen=True)
class SystemResults:
    """over: the statistics over both systems' results."""

    over: BatchStatistics[Any]
    first: Sequence[Row]
    second: Sequence[Row]

    def comparison(self, asked: Against) -> SystemComparison:
        """Raises BadInput where the two were not scored alike."""
        check_compatible(self.first, self.second)
        pairing = self.paired()
        # of pairs that are equal in requests and reports the first
        places, repeats = without_repeats(
            [(_contents(pair.first), _contents(pair.second)) for pair in pairing.pairs]
        )
        pairs = [pairing.pairs[place] for place in places]
        tested = []
        for part in parts_of(self.over.metric.report):
            found, keys = self._differences(part, pairs)
            test = self.over.compare(f"systems {part.name}", found, keys, part.differences)
            wilcoxon = asked.wilcoxon and found.size
            tested.append((part, test, wilcoxon_p(clustered(found, keys)) if wilcoxon else None))
        adjusted = iter(holm([p for _, test, _ in tested if (p := test.test.p_value) is not None]))
        return SystemComparison(
            pairs=len(pairs),
            unpaired_a=pairing.unpaired_a,
            unpaired_b=pairing.unpaired_b,
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
            slices=tuple(
                one for by in self.over.request.by for one in self._slices(by, tested[0][0], pairs)
            ),
            warnings=tuple(self._warnings(pairing, repeats, tested[0][1])),
            **self._details(tested[0][0], pairs),
        )

    def _problems(self, pairs: Sequence[TextPair]) -> tuple[ProblemChange, ...]:
        """Test for each problem whether both systems have it equally often; Holm over them."""
        keys = self.over.keys([pair.first[0] for pair in pairs])
        tested = []
        for code in self.over.metric.problems:
            gaps = np.array(
                [_share_with(code, one.first) - _share_with(code, one.second) for one in pairs],
                dtype=np.float64,
            )
            if gaps.any():
                test = self.over.compare(f"systems problem {code}", gaps, keys, (-1.0, 1.0))
                tested.append((code, test))
        adjusted = iter(holm([p for _, test in tested if (p := test.test.p_value) is not None]))
        return tuple(
            ProblemChange(
                problem=code,
                only_first=test.better,
                only_second=test.worse,
                p_value=test.test.p_value,
                p_adjusted=None if test.test.p_value is None else next(adjusted),
            )
            for code, test in tested
        )

    def _details(self, score: ReportPart, pairs: Sequence[TextPair]) -> dict[str, Any]:
        return details_of(
            [
                ScoredPair(
                    min(pair.first, key=lambda row: row.job_id),
                    min(pair.second, key=lambda row: row.job_id),
                    score.mean(pair.first),
                    score.mean(pair.second),
                )
                for pair in pairs
            ],
            score.bounds,
        )

    def _slices(
        self, by: str, score: ReportPart, pairs: Sequence[TextPair]
    ) -> list[ComparisonSlice]:
        found: dict[str, list[TextPair]] = {}
        for pair in pairs:
            row = min(pair.first, key=lambda row: row.job_id)
            if (value := value_of(self.over, row, by)) is not None:
                found.setdefault(value, []).append(pair)
        if not FEWEST <= len(found) <= MOST:
            return []
        slices = []
        for value, some in found.items():
            differences, keys = self._differences(score, some)
            about = f"systems {by} {value}"
            gap = self.over.mean(about, differences.tolist(), keys, score.differences)
            slices.append(ComparisonSlice(by=by, value=value, pairs=len(keys), difference=gap))
        return sorted(slices, key=lambda one: (one.difference.value or 0.0, one.value))

    def paired(self) -> Pairing:
        """By custom_id where both have it, about one text; the rest by text and explained label."""
        theirs = {row.custom_id: row for row in self.second if row.custom_id is not None}
        named = [(row, theirs[row.custom_id]) for row in self.first if row.custom_id in theirs]
        texts = [{self.over.text_of(a), self.over.text_of(b)} for a, b in named]
        agreeing = [
            pair for pair, some in zip(named, texts, strict=True) if None in some or len(some) == 1
        ]
        taken = {id(row) for pair in agreeing for row in pair}
        mine = self._by_place(row for row in self.first if id(row) not in taken)
        others = self._by_place(row for row in self.second if id(row) not in taken)
        common = [place for place in mine if place in others]
        pairs = [TextPair((a,), (b,)) for a, b in agreeing]
        pairs += [TextPair(tuple(mine[place]), tuple(others[place])) for place in common]
        return Pairing(
            tuple(pairs),
            len(self.first) - sum(len(pair.first) for pair in pairs),
            len(self.second) - sum(len(pair.second) for pair in pairs),
            len(named) - len(agreeing),
            len(common),
        )

    def _by_place(self, rows: Iterable[Row]) -> dict[Place, list[Row]]:
        """Of the results whose text is known."""
        found: dict[Place, list[Row]] = {}
        for row in rows:
            if (text := self.over.text_of(row)) is not None:
                name = self.over.metric.explained
                label = "" if name is None else str(getattr(row.report, name))
                found.setdefault((text, label), []).append(row)
        return found

    def _differences(self, part: ReportPart, pairs: Sequence[TextPair]) -> tuple[Floats, list[str]]:
        """(N,) first - second where both have this number, and the cluster of each."""
        found, own = [], []
        for pair in pairs:
            a, b = part.mean(pair.first), part.mean(pair.second)
            if a is not None and b is not None:
                found.append(a - b)
                own.append(pair.first[0])
        return np.array(found, dtype=np.float64), self.over.keys(own)

    def _warnings(self, pairing: Pairing, repeats: int, score: PairedTest) -> Iterator[str]:
        if not pairing.pairs:
            yield NO_PAIR
        lines = [[{row.job_id for row in side} for side in (pair.first, pair.second)]
                 for pair in pairing.pairs]  # fmt: skip
        if same := sum(not first.isdisjoint(second) for first, second in lines):
            yield (
                f"{SAME_LINES}: {same:,} of {counted(len(pairing.pairs), 'pair')} hold a line "
                "against itself, so they differ in nothing"
            )
        if pairing.conflicting:
            yield (
                f"{counted(pairing.conflicting, 'custom_id')} of both systems: the texts differ, "
                "so these are no pairs"
            )
        if repeats:
            yield f"{counted(repeats, 'pair')} that repeat others count once"
        yield from score.difference.warnings


def over_systems(found: Sequence[SystemComparison]) -> list[SystemComparison]:
    """The same comparisons, all with one system; the scores' p-values after Holm over them."""
    if len(found) < 2:
        return list(found)
    scores = [one.differences[0] for one in found]
    adjusted = iter(holm([one.p_value for one in scores if one.p_value is not None]))
    made = []
    for one, score in zip(found, scores, strict=True):
        p = None if score.p_value is None else next(adjusted)
        told = (score.model_copy(update={"p_systems": p}), *one.differences[1:])
        made.append(one.model_copy(update={"differences": told}))
    return made


def check_compatible(first: Sequence[Row], second: Sequence[Row]) -> None:
    """Raises BadInput where the systems were scored by other versions, variants or nulls."""
    ours, theirs = origins_of(first), origins_of(second)
    for what in COMPARABLE:
        if ours[what] and theirs[what] and ours[what] != theirs[what]:
            kinds = [", ".join(sorted(found[what])) for found in (ours, theirs)]
            raise BadInput(
                f"the two were scored with other {what}: {kinds[0]} and {kinds[1]}; score both "
                "alike to compare them",
                pointer="/against",
            )
    for what in COMPARABLE[:2]:
        if len(ours[what]) > 1:
            listed = ", ".join(sorted(ours[what]))
            raise BadInput(
                f"results of several {what} cannot be compared: {listed}", pointer="/against"
            )


def _share_with(problem: str, rows: Sequence[Row]) -> float:
    return sum(problem in row.report.problems for row in rows) / len(rows)


def _contents(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (row.request.model_dump_json(warnings=False), row.report.model_dump_json()) for row in rows
    )


def _difference(
    part: ReportPart,
    found: PairedTest,
    pairs: Sequence[TextPair],
    *,
    p_adjusted: float | None,
    p_wilcoxon: float | None,
) -> ComponentDifference:
    both = [(part.mean(pair.first), part.mean(pair.second)) for pair in pairs]
    known = [(a, b) for a, b in both if a is not None and b is not None]
    means = [math.fsum(values) / len(known) for values in zip(*known, strict=True)]
    return ComponentDifference(
        component=part.name,
        pairs=found.difference.rows,
        difference=as_interval(found.difference),
        p_value=found.test.p_value,
        p_t=found.test.p_t,
        p_randomization=found.test.p_randomization,
        p_adjusted=p_adjusted,
        p_wilcoxon=p_wilcoxon,
        effect=found.effect,
        better=found.better,
        equal=found.equal,
        worse=found.worse,
        **dict(zip(("first", "second"), means, strict=False)),
    )


@dataclass(frozen=True)
class ReportPart:
    """A number of a report: its score, or one of its components."""

    name: str
    bounds: Bounds

    @property
    def differences(self) -> Bounds:
        """The bounds of a difference of two such numbers."""
        least, most = self.bounds
        return (None, None) if least is None or most is None else (least - most, most - least)

    def mean(self, rows: Sequence[Row]) -> float | None:
        """Of the results that have it; in an order that no input order changes."""
        score = self.name == "score"
        values = [
            row.report.score if score else getattr(row.report.components, self.name) for row in rows
        ]
        found = sorted(float(value) for value in values if value is not None)
        return float(np.mean(found)) if found else None


def parts_of(report: type[Report]) -> list[ReportPart]:
    """The score, and every single number of the components."""
    bounds = report.model_fields["range"].default
    found = [ReportPart("score", bounds if isinstance(bounds, tuple) else UNBOUNDED)]
    for components in messages_in(report.model_fields["components"].annotation):
        fields = components.model_fields.items()
        found += [
            ReportPart(name, bounds_of(field))
            for name, field in fields
            if is_number(field.annotation, (int, float, bool))
        ]
    return found
