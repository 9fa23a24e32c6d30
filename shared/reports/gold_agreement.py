"""Results beside what people say of their texts and explanations. Pure.

Decisions beside gold labels, the passages that explanations rest on beside marked ones, scores
beside ratings: each with its interval over texts and with what chance would have. What people say
stands in the metadata of the lines (`shared.contracts.gold_metadata`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from shared.contracts.fields import value_at
from shared.contracts.gold import (
    ConfusionCell,
    GoldAgreement,
    GoldColumns,
    GoldLabels,
    HumanRatings,
    LabelAccuracy,
    Plausibility,
)
from shared.contracts.gold_metadata import (
    COLUMNS,
    Span,
    fold_label,
    gold_label,
    gold_spans,
    has_column,
    ratings,
)
from shared.contracts.messages import Report, Scored
from shared.contracts.reports import Interval
from shared.contracts.service import MetricContract
from shared.reports.estimates import BatchStatistics
from shared.reports.human_ratings import NONE, RatedResult, RatedResults
from shared.statistics import classification, spans
from shared.statistics.clusters import FEW, Floats

Row = Scored[Any, Any]
T = TypeVar("T")
MOST_LABELS = 20  # whose F1 has an interval
UNREADABLE = "{what}: {count} lines could not be read and are left out"


@dataclass(frozen=True)
class GoldSource:
    """How results are read. decision: None where a result decides nothing that can be read;
    refused: whether its model would not; spans: None where the metric, or what scored this result,
    points at no passages."""

    decision: Callable[[Row], str | None]
    refused: Callable[[Row], bool] = lambda _: False
    spans: Callable[[Row], list[Span] | None] = lambda _: None
    text: Callable[[Row], str | None] = lambda _: None
    score: Callable[[Row], float | None] = lambda row: row.report.score
    higher_is_better: bool = True


def metric_source(contract: MetricContract) -> GoldSource:
    """As the metric's facts say it (`shared.contracts.service.FactPaths`)."""
    facts = contract.facts

    def decision(row: Row) -> str | None:
        told = (
            value_at(row.report, facts.decision or "-"),
            getattr(row.request, facts.label_sent or "-", None),
            value_at(row.report, facts.label_stated or "-"),
        )
        return next((one for one in told if isinstance(one, str)), None)

    return GoldSource(
        decision=decision,
        refused=lambda row: bool(getattr(row.report, "refusal", False)),
        spans=lambda row: spans_of(row.report, facts.passages) if facts.passages else None,
        text=lambda row: getattr(row.request, facts.text, None),
        higher_is_better=contract.report.model_fields["direction"].default != "lower_is_better",
    )


def spans_of(report: Report, kinds: Sequence[str]) -> list[Span]:
    """The evidence of these kinds that lies in the judged text; of several explanations the first
    one's."""
    found = [one for one in report.evidence if one.kind in kinds]
    first = getattr(found[0], "explanation", None) if found else None
    return [
        (one.start, one.end)
        for one in found
        if one.start is not None
        and one.end is not None
        and getattr(one, "offsets_into", "text") == "text"
        and getattr(one, "explanation", None) == first
    ]


@dataclass(frozen=True)
class GoldResults:
    """over: statistics of the results, whose metadata has what people say."""

    over: BatchStatistics[Any]
    source: GoldSource
    columns: GoldColumns
    warnings: list[str] = field(default_factory=list)

    def agreement(self) -> GoldAgreement | None:
        """None where no line has anything that people say."""
        for name in COLUMNS:  # that the request names and no line has
            told = (has_column(row.request.metadata, self.columns, name) for row in self.over.rows)
            if name in self.columns.model_fields_set and not any(told):
                key = getattr(self.columns, name)
                self.warnings.append(f"gold: no line has `{key}` in its metadata")
        labels, rationales, rated = self._labels(), self._rationales(), self._ratings()
        if labels is None and rationales is None and rated is None and not self.warnings:
            return None
        return GoldAgreement(
            labels=labels, rationales=rationales, ratings=rated, warnings=tuple(self.warnings)
        )

    def _read(self, what: str, of: Callable[[Any, GoldColumns], T | None]) -> list[tuple[Row, T]]:
        found, wrong = [], 0
        for row in self.over.rows:
            try:
                one = of(row.request.metadata, self.columns)
            except ValueError:
                wrong += 1
                continue
            if one is not None and one != {}:
                found.append((row, one))
        if wrong:
            self.warnings.append(UNREADABLE.format(what=what, count=wrong))
        return found

    def _ratio(self, name: str, sums: Floats, of: Any, rows: Sequence[Row]) -> Interval:
        return self.over.ratio(f"gold {name}", sums, of, self.over.keys(rows))

    def _labels(self) -> GoldLabels | None:
        told = self._read("gold labels", gold_label)
        if not told:
            return None
        names: dict[str, str] = {}  # folded label → as it is written first
        pairs = []
        for row, label in told:
            decision = self.source.decision(row)
            names.setdefault(fold_label(label), label)
            pairs.append((row, fold_label(label), decision and fold_label(decision)))
        names |= {one: one for _, _, one in pairs if one is not None and one not in names}
        read = [(row, gold, one) for row, gold, one in pairs if one is not None]
        rows = [row for row, _, _ in read]
        right = [float(gold == one) for _, gold, one in read]
        self.warnings.extend(_label_warnings(pairs))
        return GoldLabels(
            results=len(pairs),
            unread=sum(one is None and not self.source.refused(row) for row, _, one in pairs),
            refused=sum(one is None and self.source.refused(row) for row, _, one in pairs),
            accuracy=self.over.share(right, self.over.keys(rows)),
            accuracy_of_all=self.over.share(
                [float(gold == one) for _, gold, one in pairs],
                self.over.keys([row for row, _, _ in pairs]),
            ),
            chance=_majority_share([gold for _, gold, _ in read]),
            chance_of_all=_majority_share([gold for _, gold, _ in pairs]),
            **self._table(read, names),
            confusion=tuple(_cells(pairs, names)),
        )

    def _table(self, read: Sequence[tuple[Row, str, str]], names: dict[str, str]) -> dict[str, Any]:
        """What is made of the table of those that decided."""
        there = sorted({one for _, *both in read for one in both})
        if not read or len(there) > MOST_LABELS:
            if read:
                self.warnings.append(f"{len(there)} labels: F1 is of at most {MOST_LABELS}")
            return {"macro_f1": NONE, "kappa": NONE, "labels": ()}
        place = {label: number for number, label in enumerate(there)}
        rows = [row for row, _, _ in read]
        cells = [(place[gold], place[one]) for _, gold, one in read]
        counts = classification.label_counts(cells, len(there))
        whole = counts.sum(axis=0)[None]
        parts = np.split(counts, len(there), axis=1)
        of_label = {
            label: LabelAccuracy(
                label=names[label],
                gold=int(part[:, 1].sum()),
                decided=int(part[:, 2].sum()),
                precision=_finite(classification.precision(whole)[0, number]),
                recall=_finite(classification.recall(whole)[0, number]),
                f1=self._ratio(f"F1 of {label}", part, classification.macro_f1, rows),
            )
            for (label, number), part in zip(place.items(), parts, strict=True)
        }
        return {
            "macro_f1": self._ratio("macro F1", counts, classification.macro_f1, rows),
            "kappa": self._ratio("kappa of labels", counts, classification.kappa, rows),
            "labels": tuple(of_label.values()),
        }

    def _rationales(self) -> Plausibility | None:
        told = self._read("marked passages", gold_spans)
        if not told:
            return None
        pointed = [(row, self.source.spans(row), marked) for row, marked in told]
        found = [(row, own, marked) for row, own, marked in pointed if own is not None]
        if not found:
            self.warnings.append("marked passages: the metric points at no passages of the text")
            return None
        several = [one for one in found if spans.size(one[1]) or spans.size(one[2])]
        rows = [row for row, _, _ in several]
        of_characters = [spans.character_f1(own, marked) for _, own, marked in several]
        by_chance = []
        for row, own, marked in several:
            text = self.source.text(row) or ""
            fits = text and all(end <= len(text) for _, end in (*own, *marked))
            by_chance.append(spans.chance_f1(own, marked, len(text)) if fits else None)
        above = [
            None if own is None or chance is None else own - chance
            for own, chance in zip(of_characters, by_chance, strict=True)
        ]
        if beyond := sum(one is None for one in by_chance):
            self.warnings.append(
                f"marked passages: of {beyond} lines the text is not kept, or shorter than they say"
            )
        return Plausibility(
            results=len(several),
            without_spans=sum(not spans.size(own) for _, own, _ in several),
            character_f1=self._mean("character F1", of_characters, rows),
            span_f1=self._mean("span F1", [spans.span_f1(*one[1:]) for one in several], rows),
            chance=self._mean("chance F1", by_chance, rows),
            above_chance=self._mean("F1 above chance", above, rows, (-1.0, 1.0)),
        )

    def _mean(
        self,
        name: str,
        values: Sequence[float | None],
        rows: Sequence[Row],
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Interval:
        return self.over.mean(f"gold {name}", values, self.over.keys(rows), bounds)

    def _ratings(self) -> HumanRatings | None:
        told = self._read("ratings", ratings)
        if not told:
            return None
        of = self.source.score
        scored = [
            RatedResult(row, score, given) for row, given in told if (score := of(row)) is not None
        ]
        rated = RatedResults(
            self.over, scored, self.columns.accepted_from, self.source.higher_is_better
        )
        found = rated.ratings()
        self.warnings.extend(rated.warnings())
        return found


def _majority_share(labels: Sequence[str]) -> float | None:
    """Of the most frequent label, (0, 1]; None without any."""
    return max(Counter(labels).values()) / len(labels) if labels else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _label_warnings(pairs: Sequence[tuple[Row, str, str | None]]) -> Iterator[str]:
    golds = {gold for _, gold, _ in pairs}
    decided = {one for _, _, one in pairs if one is not None}
    if not decided:
        yield "gold labels: no result has a decision to compare with them"
    elif not golds & decided:
        yield "gold labels: none of them is a label that results have"
    elif len(golds) == 1:
        yield "gold labels: all are the same, so accuracy tells little"
    if decided and golds & decided and (unknown := golds - decided):
        lines = sum(gold in unknown for _, gold, _ in pairs)
        yield f"gold labels: no result decides what {lines} lines say; other words count as wrong"
    if 0 < len(pairs) < FEW:
        yield f"few: {len(pairs)} results have a gold label"


def _cells(
    pairs: Sequence[tuple[Row, str, str | None]], names: dict[str, str]
) -> Iterator[ConfusionCell]:
    counted = Counter((gold, one) for _, gold, one in pairs)
    for (gold, one), results in sorted(
        counted.items(), key=lambda cell: (cell[0][0], str(cell[0][1]))
    ):
        decided = None if one is None else names[one]
        yield ConfusionCell(gold=names[gold], decided=decided, results=results)
