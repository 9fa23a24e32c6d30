"""Agreement of results with people's labels of texts and ratings of explanations. The functions are
pure.

Compares decisions with gold labels, passages of explanations with marked passages, and scores with
ratings. Each has a confidence interval and the value by chance. The people's data is in the
metadata of the lines (`shared.contracts.gold_metadata`)."""

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
MOST_LABELS = 20  # labels with an interval of F1
UNREADABLE = "{what}: {count} lines could not be read and are left out"


@dataclass(frozen=True)
class GoldSource:
    """The functions that read decision, passages, text and score from a result."""

    decision: Callable[[Row], str | None]  # None: no readable decision
    refused: Callable[[Row], bool] = lambda _: False
    spans: Callable[[Row], list[Span] | None] = lambda _: None  # None: the metric has no passages
    text: Callable[[Row], str | None] = lambda _: None
    score: Callable[[Row], float | None] = lambda row: row.report.score
    higher_is_better: bool = True


def metric_source(contract: MetricContract) -> GoldSource:
    """Return the functions that read decisions, passages and texts from a metric's results. They
    use the paths in the metric's `facts` (`shared.contracts.service.FactPaths`)."""
    facts = contract.facts

    def decision(row: Row) -> str | None:
        labels = (
            value_at(row.report, facts.decision or "-"),
            getattr(row.request, facts.decision_sent or "-", None),
            value_at(row.report, facts.decision_stated or "-"),
        )
        return next((label for label in labels if isinstance(label, str)), None)

    return GoldSource(
        decision=decision,
        refused=lambda row: bool(getattr(row.report, "refusal", False)),
        spans=lambda row: spans_of(row.report, facts.passages) if facts.passages else None,
        text=lambda row: getattr(row.request, facts.text, None),
        higher_is_better=contract.report.model_fields["direction"].default != "lower_is_better",
    )


def spans_of(report: Report, kinds: Sequence[str]) -> list[Span]:
    """Return the spans in the judged text that the report gives as evidence of these kinds. If
    there are several explanations, only the first one counts."""
    evidence = [row for row in report.evidence if row.kind in kinds]
    first = getattr(evidence[0], "explanation", None) if evidence else None
    return [
        (row.start, row.end)
        for row in evidence
        if row.start is not None
        and row.end is not None
        and getattr(row, "offsets_into", "text") == "text"
        and getattr(row, "explanation", None) == first
    ]


@dataclass(frozen=True)
class GoldResults:
    """Compares results with people's labels, passages and ratings, which the requests carry in
    their metadata."""

    over: BatchStatistics[Any]
    source: GoldSource
    columns: GoldColumns
    warnings: list[str] = field(default_factory=list)

    def agreement(self) -> GoldAgreement | None:
        """Return the agreement, or None if no line has people's labels, passages or ratings."""
        for name in COLUMNS:  # warn of columns in the request that no line has
            present = (
                has_column(row.request.metadata, self.columns, name) for row in self.over.rows
            )
            if name in self.columns.model_fields_set and not any(present):
                key = getattr(self.columns, name)
                self.warnings.append(f"gold: no line has `{key}` in its metadata")
        labels, rationales, rated = self._labels(), self._rationales(), self._ratings()
        if labels is None and rationales is None and rated is None and not self.warnings:
            return None
        return GoldAgreement(
            labels=labels, rationales=rationales, ratings=rated, warnings=tuple(self.warnings)
        )

    def _read(self, what: str, of: Callable[[Any, GoldColumns], T | None]) -> list[tuple[Row, T]]:
        values, unreadable = [], 0
        for row in self.over.rows:
            try:
                value = of(row.request.metadata, self.columns)
            except ValueError:
                unreadable += 1
                continue
            if value is not None and value != {}:
                values.append((row, value))
        if unreadable:
            self.warnings.append(UNREADABLE.format(what=what, count=unreadable))
        return values

    def _ratio(self, name: str, sums: Floats, of: Any, rows: Sequence[Row]) -> Interval:
        return self.over.ratio(f"gold {name}", sums, of, self.over.keys(rows))

    def _labels(self) -> GoldLabels | None:
        labelled = self._read("gold labels", gold_label)
        if not labelled:
            return None
        names: dict[str, str] = {}  # folded label → its first spelling
        pairs: list[tuple[Row, str, str | None]] = []
        for row, label in labelled:
            decision = self.source.decision(row)
            names.setdefault(fold_label(label), label)
            pairs.append((row, fold_label(label), decision and fold_label(decision)))
        names |= {d: d for _, _, d in pairs if d is not None and d not in names}
        decided = [(row, gold, d) for row, gold, d in pairs if d is not None]
        refused = sum(d is None and self.source.refused(row) for row, _, d in pairs)
        self.warnings.extend(_label_warnings(pairs))
        return GoldLabels(
            results=len(pairs),
            unread=len(pairs) - len(decided) - refused,
            refused=refused,
            accuracy=self.over.share(
                [float(gold == d) for _, gold, d in decided],
                self.over.keys([row for row, _, _ in decided]),
            ),
            accuracy_of_all=self.over.share(
                [float(gold == d) for _, gold, d in pairs],
                self.over.keys([row for row, _, _ in pairs]),
            ),
            chance=_majority_share([gold for _, gold, _ in decided]),
            chance_of_all=_majority_share([gold for _, gold, _ in pairs]),
            **self._table(decided, names),
            confusion=tuple(_cells(pairs, names)),
        )

    def _table(
        self, decided: Sequence[tuple[Row, str, str]], names: dict[str, str]
    ) -> dict[str, Any]:
        labels = sorted({label for _, *pair in decided for label in pair})
        if not decided or len(labels) > MOST_LABELS:
            if decided:
                self.warnings.append(
                    f"{len(labels)} labels: F1 is computed for at most {MOST_LABELS}"
                )
            return {"macro_f1": NONE, "kappa": NONE, "labels": ()}
        index = {label: number for number, label in enumerate(labels)}
        rows = [row for row, _, _ in decided]
        cells = [(index[gold], index[decision]) for _, gold, decision in decided]
        counts = classification.label_counts(cells, len(labels))
        total = counts.sum(axis=0)[None]
        parts = np.split(counts, len(labels), axis=1)
        of_label = {
            label: LabelAccuracy(
                label=names[label],
                gold=int(part[:, 1].sum()),
                decided=int(part[:, 2].sum()),
                precision=_finite(classification.precision(total)[0, number]),
                recall=_finite(classification.recall(total)[0, number]),
                f1=self._ratio(f"F1 of {label}", part, classification.macro_f1, rows),
            )
            for (label, number), part in zip(index.items(), parts, strict=True)
        }
        return {
            "macro_f1": self._ratio("macro F1", counts, classification.macro_f1, rows),
            "kappa": self._ratio("kappa of labels", counts, classification.kappa, rows),
            "labels": tuple(of_label.values()),
        }

    def _rationales(self) -> Plausibility | None:
        marked_rows = self._read("marked passages", gold_spans)
        if not marked_rows:
            return None
        pairs = [(row, self.source.spans(row), marked) for row, marked in marked_rows]
        pointed = [
            (row, explained, marked) for row, explained, marked in pairs if explained is not None
        ]
        if not pointed:
            self.warnings.append("marked passages: the metric marks no passages of the text")
            return None
        results = [row for row in pointed if spans.size(row[1]) or spans.size(row[2])]
        rows = [row for row, _, _ in results]
        characters = [spans.character_f1(explained, marked) for _, explained, marked in results]
        chances, above = [], []
        for (row, explained, marked), f1 in zip(results, characters, strict=True):
            text = self.source.text(row) or ""
            fits = text and all(end <= len(text) for _, end in (*explained, *marked))
            chance = spans.chance_f1(explained, marked, len(text)) if fits else None
            chances.append(chance)
            above.append(None if f1 is None or chance is None else f1 - chance)
        if beyond := sum(chance is None for chance in chances):
            self.warnings.append(
                f"marked passages: in {beyond} lines the text is not stored, or it ends before a "
                "marked passage"
            )
        return Plausibility(
            results=len(results),
            without_spans=sum(not spans.size(explained) for _, explained, _ in results),
            character_f1=self._mean("character F1", characters, rows),
            span_f1=self._mean("span F1", [spans.span_f1(*row[1:]) for row in results], rows),
            chance=self._mean("chance F1", chances, rows),
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
        rows = self._read("ratings", ratings)
        if not rows:
            return None
        scored = [
            RatedResult(row, score, rating)
            for row, rating in rows
            if (score := self.source.score(row)) is not None
        ]
        rated = RatedResults(
            self.over, scored, self.columns.accepted_from, self.source.higher_is_better
        )
        result = rated.ratings()
        self.warnings.extend(rated.warnings())
        return result


def _majority_share(labels: Sequence[str]) -> float | None:
    return max(Counter(labels).values()) / len(labels) if labels else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _label_warnings(pairs: Sequence[tuple[Row, str, str | None]]) -> Iterator[str]:
    golds = {gold for _, gold, _ in pairs}
    decided = {decision for _, _, decision in pairs if decision is not None}
    if not decided:
        yield "gold labels: no result has a decision to compare with them"
    elif not golds & decided:
        yield "gold labels: no decision equals any gold label"
    elif len(golds) == 1:
        yield "gold labels: all labels are equal, so the accuracy means little"
    if decided and golds & decided and (unknown := golds - decided):
        lines = sum(gold in unknown for _, gold, _ in pairs)
        yield (
            f"gold labels: no decision equals the gold labels of {lines} lines, so these lines "
            "count as wrong"
        )
    if 0 < len(pairs) < FEW:
        yield f"there are too few results: only {len(pairs)} have a gold label"


def _cells(
    pairs: Sequence[tuple[Row, str, str | None]], names: dict[str, str]
) -> Iterator[ConfusionCell]:
    counts = Counter((gold, decision) for _, gold, decision in pairs)
    cells = sorted(counts.items(), key=lambda cell: (cell[0][0], str(cell[0][1])))
    for (gold, decision), results in cells:
        decided = None if decision is None else names[decision]
        yield ConfusionCell(gold=names[gold], decided=decided, results=results)
