"""What a batch comes to: one finding with its denominators, the verdicts, and two pictures as data.

No judgement is formed here: verdicts are the results' own, intervals and means the report's. The
sentence says the undefined share first where it is large, and never "better" where the interval
holds what chance would have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from services.gateway.pages.result_query import VERDICTS, ResultView, edges_of
from services.gateway.pages.result_tables import is_interval
from services.gateway.pages.terms import Term, terms
from shared.ledger.result_pages import ResultCounts
from shared.page_text import significant
from shared.service_contract import MetricContract

FEW = 30  # results: fewer are said to be few
MUCH = 0.1  # an undefined share above it is said first
DEPTH = 4  # of a report, where a part's interval is looked for


@dataclass(frozen=True)
class Bar:
    """A count that leads to its lines. share: of the whole, or of the largest; [0, 1]."""

    name: str
    count: int
    share: float
    address: str
    start: float = 0.0  # share of those before it


@dataclass(frozen=True)
class ScoreHistogram:
    """Scores in equal bins over the metric's range. chance: where its score lies, [0, 1]."""

    bars: Sequence[Bar]
    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class Scale:
    """What a score lies on. chance: where chance lies, [0, 1]; None: it depends on the text."""

    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class PartRow:
    """A part of the score over the batch. interval: the report's, null where it has none."""

    term: Term
    interval: Mapping[str, Any]
    undefined: float | None

    def place(self, value: float | None) -> float | None:
        """Where a value lies on the part's range, [0, 1]."""
        if value is None or self.term.range is None:
            return None
        low, high = self.term.range
        return min(max((value - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True)
class BatchFinding:
    """What stands first on a batch's page."""

    sentences: Sequence[str]
    verdicts: Sequence[Bar]
    histogram: ScoreHistogram | None
    parts: Sequence[PartRow]
    undefined: Sequence[Bar]
    counts: ResultCounts


def finding_of(
    view: ResultView,
    contract: MetricContract | None,
    counts: ResultCounts,
    why: Mapping[str, int],
    report: Mapping[str, Any] | None,
) -> BatchFinding:
    """report: the finished one; None: while it is being made."""
    return BatchFinding(
        sentences=_sentences(contract, counts, why, report or {}),
        verdicts=_verdicts(view, counts),
        histogram=_histogram(view, contract, counts) if counts.scored else None,
        parts=_parts(contract, report or {}),
        undefined=_bars(view, "why", why),
        counts=counts,
    )


def _sentences(
    contract: MetricContract | None,
    counts: ResultCounts,
    why: Mapping[str, int],
    report: Mapping[str, Any],
) -> list[str]:
    undefined = counts.rows - counts.scored
    few = " That is few." if 0 < counts.scored < FEW else ""
    explanations = "explanation" if counts.rows == 1 else "explanations"
    scored = f"Of {counts.rows:,} {explanations} {counts.scored:,} could be scored.{few}"
    without = [f"{undefined:,} {'has' if undefined == 1 else 'have'} no score{_most(why)}."]
    said = [scored, *_compared(contract, counts, report)]
    if not undefined:
        return said
    return [scored, *without, *said[1:]] if undefined > MUCH * counts.rows else [*said, *without]


def _most(why: Mapping[str, int]) -> str:
    """The most frequent reason, where there is one."""
    sentence, count = next(iter(why.items()), ("", 0))
    if not sentence:
        return ""
    told = sentence.rstrip(".")
    return f": {told}" if count == sum(why.values()) else f", most often ({count:,}): {told}"


def _compared(
    contract: MetricContract | None, counts: ResultCounts, report: Mapping[str, Any]
) -> list[str]:
    verdicts = counts.values["verdict"]
    if counts.scored and verdicts.get("undecided") == counts.scored:
        told = f"All {counts.scored:,} are undecided"
        return [f"{told}: chance would do as well, or it cannot be told."]
    if contract is None or not counts.scored:
        return []
    name = contract.facts.chance.rpartition(".")[2]
    term, beaten = terms().of(contract.name).get(name), _interval(report, name)
    if term is not None and term.many and term.level is not None and beaten is not None:
        return [_against(term, beaten, term.level)]
    mean: Any = report.get("score")
    if not is_interval(mean) or mean["value"] is None:
        return []
    return [f"Their mean score is {significant(mean['value'])}{_between(mean)}."]


def _against(term: Term, beaten: Mapping[str, Any], level: float) -> str:
    stem, rivals = term.many or ("", "")
    low, high = beaten["low"], beaten["high"]
    told = f"({beaten['value']:.0%}; chance {level:.0%})"
    if low is None or high is None:
        own = f"{stem[:1].lower()}{stem[1:]}"
        return f"Too few to tell whether {own} better than {rivals} {told}."
    told = f"({beaten['value']:.0%}, interval {low:.0%} to {high:.0%}; chance {level:.0%})"
    if low <= level <= high:
        own = f"{stem[:1].lower()}{stem[1:]}"
        return f"It cannot be told apart from chance whether {own} better than {rivals} {told}."
    return f"{stem} {'better' if low > level else 'worse'} than {rivals} {told}."


def _between(mean: Mapping[str, Any]) -> str:
    if mean["low"] is None or mean["high"] is None:
        return ""
    return f" (interval {significant(mean['low'])} to {significant(mean['high'])})"


def _verdicts(view: ResultView, counts: ResultCounts) -> list[Bar]:
    found = {word: counts.values["verdict"].get(word, 0) for word in VERDICTS}
    return _bars(view, "verdict", {word: count for word, count in found.items() if count})


def _bars(view: ResultView, name: str, counted: Mapping[str, int]) -> list[Bar]:
    """Side by side: their shares add up to 1."""
    whole = sum(counted.values()) or 1
    bars, start = [], 0.0
    for value, count in counted.items():
        bars.append(Bar(value, count, count / whole, view.only((name, value)), start))
        start += count / whole
    return bars


def _histogram(
    view: ResultView, contract: MetricContract | None, counts: ResultCounts
) -> ScoreHistogram:
    edges = edges_of(contract)
    most = max(counts.bins) or 1
    bars = [
        Bar(
            f"{significant(low)} to {significant(high)}",
            count,
            count / most,
            view.only(("score_from", repr(low)), ("score_to", repr(high))),
        )
        for (low, high), count in zip(pairwise(edges), counts.bins, strict=True)
    ]
    scale = scale_of(contract)
    return ScoreHistogram(bars, scale.low, scale.high, scale.chance)


def scale_of(contract: MetricContract | None) -> Scale:
    """Of a metric's score."""
    edges = edges_of(contract)
    low, high = edges[0], edges[-1]
    chance = None if contract is None else contract.facts.chance_score
    return Scale(low, high, None if chance is None else (chance - low) / (high - low))


def _parts(contract: MetricContract | None, report: Mapping[str, Any]) -> list[PartRow]:
    """The parts that the report has an interval of, and what beats chance first."""
    if contract is None:
        return []
    whole = (report.get("scored") or 0) or None
    rows = []
    for name, term in terms().of(contract.name).items():
        interval = _interval(report, name)
        if interval is not None:
            share = None if whole is None else max(0.0, 1 - interval["of"] / whole)
            rows.append(PartRow(term, interval, share))
    return rows


def _interval(report: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The first estimate of this name in the report, the least nested one."""
    for level in _levels(report):
        for one in level:
            found: Any = one.get(name)
            if is_interval(found) and found["value"] is not None:
                return dict(found)
    return None


def _levels(report: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    level = [report]
    for _ in range(DEPTH):
        yield level
        level = [
            inner
            for one in level
            for value in one.values()
            for inner in (value if isinstance(value, list) else [value])
            if isinstance(inner, Mapping) and not is_interval(inner)
        ]
