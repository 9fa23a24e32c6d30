"""Two systems on the same texts: whose explanations score higher, number by number?

Results are paired by `custom_id`, else by text and explained label; the test asks both Student's t
and sign flips of whole texts (`shared.statistics.comparison`). Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import numpy as np
from pydantic.fields import FieldInfo

from shared.contracts.batches import Against
from shared.contracts.errors import BadInput
from shared.contracts.fields import bounds_of, messages_in
from shared.contracts.messages import Report, Scored
from shared.contracts.reports import ComparisonSlice, ComponentDifference, SystemComparison
from shared.reports.comparison_details import ScoredPair, details_of
from shared.reports.estimates import BatchStatistics, as_interval, origins_of
from shared.reports.pages.page_text import counted
from shared.reports.score_splits import FEWEST, MOST, value_of
from shared.statistics.clusters import Floats, clustered, without_repeats
from shared.statistics.comparison import PairedTest, wilcoxon_p
from shared.statistics.families import holm
from shared.statistics.intervals import Bounds

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
        pairs, repeats = _drop_duplicates(pairing.pairs)
        tested = [self._test_part(part, pairs) for part in parts_of(self.over.metric.report)]
        adjusted = iter(holm([p for _, test in tested if (p := test.test.p_value) is not None]))
        return SystemComparison(
            pairs=len(pairs),
            unpaired_a=pairing.unpaired_a,
            unpaired_b=pairing.unpaired_b,
            differences=tuple(
                _difference(
                    part,
                    test,
                    None if test.test.p_value is None else next(adjusted),
                    self._wilcoxon(part, pairs) if asked.wilcoxon else None,
                ).model_copy(update=_means(part, pairs))
                for part, test in tested
            ),
            conflicting=pairing.conflicting,
            by_text=pairing.by_text,
            slices=tuple(
                one for by in self.over.request.by for one in self._slices(by, tested[0][0], pairs)
            ),
            warnings=tuple(self._warnings(pairing, repeats, tested[0][1])),
            **self._details(tested[0][0], pairs),
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
        agreeing = [pair for pair in named if self._one_text(*pair)]
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

    def _one_text(self, a: Row, b: Row) -> bool:
        texts = self.over.text_of(a), self.over.text_of(b)
        return None in texts or texts[0] == texts[1]

    def _by_place(self, rows: Iterable[Row]) -> dict[Place, list[Row]]:
        """Of the results whose text is known."""
        found: dict[Place, list[Row]] = {}
        for row in rows:
            if (text := self.over.text_of(row)) is not None:
                name = self.over.metric.explained
                label = "" if name is None else str(getattr(row.report, name))
                found.setdefault((text, label), []).append(row)
        return found

    def _test_part(
        self, part: ReportPart, pairs: Sequence[TextPair]
    ) -> tuple[ReportPart, PairedTest]:
        found, keys = self._differences(part, pairs)
        return part, self.over.compare(f"systems {part.name}", found, keys, part.differences)

    def _wilcoxon(self, part: ReportPart, pairs: Sequence[TextPair]) -> float | None:
        found, keys = self._differences(part, pairs)
        return wilcoxon_p(clustered(found, keys)) if found.size else None

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
        if same := sum(_is_one_line(pair) for pair in pairing.pairs):
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


def _is_one_line(pair: TextPair) -> bool:
    """Whether a result stands on both sides."""
    theirs = {row.job_id for row in pair.second}
    return any(row.job_id in theirs for row in pair.first)


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


def _drop_duplicates(pairs: Sequence[TextPair]) -> tuple[list[TextPair], int]:
    """(the first of pairs that are equal in requests and reports, how many repeat another)."""
    places, repeats = without_repeats(
        [(_contents(pair.first), _contents(pair.second)) for pair in pairs]
    )
    return [pairs[place] for place in places], repeats


def _contents(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (row.request.model_dump_json(warnings=False), row.report.model_dump_json()) for row in rows
    )


def _difference(
    part: ReportPart, found: PairedTest, p_adjusted: float | None, p_wilcoxon: float | None
) -> ComponentDifference:
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
    )


def _means(part: ReportPart, pairs: Sequence[TextPair]) -> dict[str, float]:
    """Of both systems, over the pairs where both have this number."""
    both = [(part.mean(pair.first), part.mean(pair.second)) for pair in pairs]
    known = [(a, b) for a, b in both if a is not None and b is not None]
    if not known:
        return {}
    first, second = (math.fsum(values) / len(known) for values in zip(*known, strict=True))
    return {"first": first, "second": second}


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
        found = sorted(value for row in rows if (value := self._of(row.report)) is not None)
        return float(np.mean(found)) if found else None

    def _of(self, report: Report) -> float | None:
        value = report.score if self.name == "score" else getattr(report.components, self.name)
        return None if value is None else float(value)


def parts_of(report: type[Report]) -> list[ReportPart]:
    """The score, and every single number of the components."""
    found = [ReportPart("score", _range_of(report))]
    for components in messages_in(report.model_fields["components"].annotation):
        fields = components.model_fields.items()
        found += [ReportPart(name, bounds_of(field)) for name, field in fields if is_number(field)]
    return found


def _range_of(report: type[Report]) -> Bounds:
    default = report.model_fields["range"].default
    return default if isinstance(default, tuple) else (None, None)


def is_number(field: FieldInfo) -> bool:
    """Whether it is a number, a truth value, or null; a list or a word is none."""
    kinds = [kind for kind in _alternatives(field.annotation) if kind is not type(None)]
    return bool(kinds) and all(kind in (int, float, bool) for kind in kinds)


def _alternatives(hint: Any) -> Iterator[Any]:
    """The types that a value may have; of a literal those of its values."""
    if get_origin(hint) is Literal:
        yield from map(type, get_args(hint))
    elif isinstance(hint, type) or not get_args(hint):
        yield hint
    elif hasattr(hint, "__metadata__"):  # Annotated
        yield from _alternatives(hint.__origin__)
    elif get_origin(hint) in (list, tuple, dict, set, frozenset):
        yield get_origin(hint)
    else:
        for argument in get_args(hint):
            yield from _alternatives(argument)
