"""The statistics of a batch: a summary sentence, a histogram of the scores, and the numbers that
make up the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from services.gateway.pages.terms import Term, terms
from services.gateway.results.result_pages import ResultCounts
from shared.contracts.service import MetricContract, ReportedContract
from shared.ledger.score_hours import edges_of
from shared.reports.pages.report_design import HistogramBars
from shared.reports.pages.report_summary import ResultTally, interval_in, record_at, sentences

MOST_REASONS = 8  # why results are not tested


@dataclass(frozen=True)
class Scale:
    """The range of a score. `chance` is the position of the score of random decisions in the range,
    from 0 to 1. `chance` is None if the score of random decisions depends on the text."""

    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class PartRow:
    """One component of the score, over the whole batch. `interval` is its estimate in the report.
    `undefined` and `not_applicable` are shares of the results, or None if unknown. If only
    `undefined` is known, it includes both."""

    term: Term
    interval: Mapping[str, Any]
    undefined: float | None
    not_applicable: float | None = None

    def place(self, value: float | None) -> float | None:
        """Return where a value lies between the lowest and highest possible value, from 0 to 1."""
        if value is None or self.term.range is None:
            return None
        low, high = self.term.range
        return min(max((value - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True)
class BatchOutcome:
    """The conclusion about the selected lines of a batch, with the charts for it."""

    sentences: Sequence[str]
    histogram: HistogramBars | None
    parts: Sequence[PartRow]
    counts: ResultCounts


def outcome_of(
    contract: ReportedContract | None,
    counts: ResultCounts,
    report: Mapping[str, Any] | None,
) -> BatchOutcome:
    """Return the conclusion, histogram and score components of a batch. `report` is None while it
    is being computed."""
    codes = () if contract is None else contract.problems
    problems = {code: counts.card.problems[code] for code in codes if code in counts.card.problems}
    why = dict(islice(counts.card.untested.items(), MOST_REASONS))
    return BatchOutcome(
        sentences=_sentences(
            contract,
            ResultTally(counts.rows, counts.scored, counts.values["verdict"], problems, why),
            report or {},
        ),
        histogram=_histogram(contract, counts) if counts.scored else None,
        parts=_parts(contract, report or {}),
        counts=counts,
    )


def _sentences(
    contract: ReportedContract | None, tally: ResultTally, report: Mapping[str, Any]
) -> list[str]:
    """Return the conclusion of the batch report as sentences. A service that is not a metric states
    it in `finding`."""
    metric = contract if isinstance(contract, MetricContract) else None
    if metric is None and report.get("finding"):
        return [str(report["finding"])]
    return sentences(metric, tally, report)


def _histogram(contract: ReportedContract | None, counts: ResultCounts) -> HistogramBars:
    edges = edges_of(contract)
    facts = None if contract is None else contract.facts
    chance = None if facts is None else facts.chance_score
    return HistogramBars(
        "Distribution of the scores",
        counts.bins,
        (edges[0], edges[-1]),
        "results",
        mark=None if chance is None else (chance, "chance"),
        part="score",
    )


def scale_of(contract: ReportedContract | None) -> Scale:
    """Return the range of a metric's score."""
    edges = edges_of(contract)
    low, high = edges[0], edges[-1]
    facts = None if contract is None else contract.facts
    chance = None if facts is None else facts.chance_score
    return Scale(low, high, None if chance is None else (chance - low) / (high - low))


def _parts(contract: ReportedContract | None, report: Mapping[str, Any]) -> list[PartRow]:
    """Return the report's components that have an interval. A component that means something
    different in each group has one row per group."""
    if contract is None:
        return []
    groups = () if contract.facts is None else contract.facts.groups
    rows = []
    for name, term in terms().of(contract.name).items():
        apart = [group for group in groups if name in group.better]
        for group in apart:
            means = record_at(report, group.path)
            named = replace(term, name=f"{term.name}: {group.name}", better=group.better[name])
            rows.append(_row(named, interval_in(means, name), means.get("results")))
        if apart:
            continue
        scored = report.get("scored")
        part: Any = (report.get("parts") or {}).get(name)
        if part is None:
            rows.append(_row(term, interval_in(report, name), scored))
        else:
            without = (part["undefined"], part["not_applicable"])
            shares = (count / scored if scored else None for count in without)
            rows.append(PartRow(term, part["mean"], *shares))
    return [row for row in rows if row is not None]


def _row(term: Term, interval: Mapping[str, Any] | None, results: int | None) -> PartRow | None:
    if interval is None:
        return None
    return PartRow(term, interval, max(0.0, 1 - interval["of"] / results) if results else None)
