"""HLV's page: how humans and a judge rank the options, and how far the explanations help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.hlv.contract import HlvRequest
from services.hlv.report import (
    HlvCeilingOf,
    HlvGain,
    HlvGold,
    HlvMeasured,
    HlvMethodResult,
    HlvResult,
    Method,
)
from services.hlv.verdict import chance
from shared.contracts.questions import Explanation, to_prompt
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import bars, slope
from shared.reports.pages.page_text import MarkedText, OptionRow, choices, pieces
from shared.reports.pages.report_design import (
    BAD,
    GOOD,
    NEUTRAL,
    Block,
    Bounds,
    Record,
    forest,
    histogram_bars,
    integer,
    record,
    records,
    stacked_bar,
)

TEMPLATE = "hlv/page.html"


@dataclass(frozen=True, slots=True)
class OptionRank(OptionRow):
    """An option and what humans said of it: by value and by rank."""

    value: float | None
    rank: float | None


@dataclass(frozen=True, slots=True)
class Control:
    """One measure of the two judges that read nothing."""

    name: str
    uniform: float | None
    majority: float | None


@dataclass(frozen=True, slots=True)
class CeilingLine:
    """One measure of people before themselves, and where the first way of asking stands."""

    name: str
    found: HlvCeilingOf
    explained: float | None  # 0: as the uniform judge, 1: as near as people come
    baseline: float | None


@dataclass(frozen=True, slots=True)
class HlvView:
    """All that the template shows beside the report."""

    chance: str | None
    question: list[MarkedText]
    rationale: list[MarkedText]
    explanations: tuple[Explanation, ...]
    options: tuple[OptionRank, ...]
    methods: tuple[MethodView, ...]
    ceilings: tuple[CeilingLine, ...]
    controls: tuple[Control, ...]


def view(request: HlvRequest | None, report: HlvResult) -> HlvView:
    options = _options(request, report)
    keys = [option.key for option in options]
    uniform, majority = report.control.uniform, report.control.majority
    return HlvView(
        chance=chance(report),
        question=pieces(to_prompt(request.question), ()) if request else [],
        rationale=pieces(request.rationale, ()) if request and request.rationale else [],
        explanations=request.explanations if request else (),
        options=options,
        methods=tuple(method_view(report.gold, keys, one) for one in report.components.methods),
        ceilings=tuple(_ceilings(report)),
        controls=tuple(
            Control(measure.name, measure.of(uniform), measure.of(majority))
            for measure in MEASURES
            if measure.is_available((uniform, majority))
        ),
    )


def _ceilings(report: HlvResult) -> Iterator[CeilingLine]:
    found = report.ceiling.metrics if report.ceiling else {}
    first = report.components.methods[:1]
    for measure in MEASURES:
        if (one := found.get(measure.field)) is not None:
            sides = [side for method in first for side in (method.explained, method.baseline)]
            shares = [side.normalised.get(measure.field) if side else None for side in sides]
            yield CeilingLine(measure.name, one, *(shares or (None, None)))


def _options(request: HlvRequest | None, report: HlvResult) -> tuple[OptionRank, ...]:
    values, ranks = report.gold.values or {}, report.gold.ranks
    return tuple(
        OptionRank(choice.key, choice.text, values.get(choice.key), ranks.get(choice.key))
        for choice in choices(None if request is None else request.options, ranks)
    )


METHODS: dict[Method, str] = {
    "rank": "Prompted for a ranking",
    "logits": "Read from the first token",
    "score": "Prompted to rate each option",
}
COMPARABLE = {("distribution", "logits"): "probability", ("scores", "score"): "rating"}
WITH, WITHOUT = "with explanations", "without"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of the report: its field, where in `Measured` it stands, and what is better."""

    field: str
    name: str
    block: str | None
    better: str

    def of(self, side: HlvMeasured | None) -> float | None:
        """Its value; None where it is undefined or was not measured."""
        held = side if self.block is None else getattr(side, self.block, None)
        found: float | None = getattr(held, self.field, None)
        return found

    def is_available(self, sides: Sequence[HlvMeasured | None]) -> bool:
        """Whether one of these has the block that it stands in."""
        return self.block is None or any(getattr(side, self.block, None) for side in sides)


MEASURES = (
    Measure("tau_b", "Kendall's tau-b", None, "higher"),
    Measure("tau_a", "Kendall's tau-a, as printed", None, "higher"),
    Measure("spearman", "Spearman's rho", None, "higher"),
    Measure("spearman_without_ties", "Spearman's rho, as printed", None, "higher"),
    Measure("kl_model_gold", "KL(model, humans), nats", "distribution", "lower"),
    Measure("kl_gold_model", "KL(humans, model), nats", "distribution", "lower"),
    Measure("jsd", "Jensen-Shannon distance", "distribution", "lower"),
    Measure("tvd", "total variation distance", "distribution", "lower"),
    Measure("rmse", "root mean square error", "scalar", "lower"),
    Measure("mae", "mean absolute error", "scalar", "lower"),
    Measure("r2", "R squared", "scalar", "higher"),
)


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """One measure with explanations and without; `word` says what the gain means."""

    name: str
    better: str
    explained: float | None
    baseline: float | None
    gain: float | None
    word: str


@dataclass(frozen=True, slots=True)
class MethodView:
    """One way of asking, as the page shows it."""

    title: str
    result: HlvMethodResult
    ranks: Chart | None
    values: Chart | None
    not_drawn: str  # why there is no picture of values; "" where there is one
    lines: tuple[MeasureLine, ...]


def method_view(gold: HlvGold, keys: Sequence[str], one: HlvMethodResult) -> MethodView:
    """keys: of the options, in the order in which they are shown."""
    unit = COMPARABLE.get((gold.kind, one.method))
    values = _values(gold, keys, one, unit) if unit else None
    why = (
        "no answer could be read"
        if unit
        else f"humans gave a {gold.kind}, and this way of asking answers with something else"
    )
    return MethodView(
        title=METHODS[one.method],
        result=one,
        ranks=_ranks(gold, keys, one),
        values=values,
        not_drawn="" if values else why,
        lines=tuple(_lines(one)),
    )


def _ranks(gold: HlvGold, keys: Sequence[str], one: HlvMethodResult) -> Chart | None:
    """Humans stand in the middle, so that either side can be compared with them."""
    columns = [("humans", _select_keys(gold.ranks, keys))]
    if one.explained is not None and one.explained.ranks:
        columns.append((WITH, _select_keys(one.explained.ranks, keys)))
    if one.baseline is not None and one.baseline.ranks:
        columns.insert(0, (WITHOUT, _select_keys(one.baseline.ranks, keys)))
    if len(columns) == 1:
        return None
    return slope(columns, title="Ranks", summary=_in_words(columns))


def _values(gold: HlvGold, keys: Sequence[str], one: HlvMethodResult, unit: str) -> Chart | None:
    series = [("humans", _select_keys(gold.values or {}, keys))]
    for name, side in ((WITH, one.explained), (WITHOUT, one.baseline)):
        if side is not None and side.values:
            series.append((name, _select_keys(side.values, keys)))
    if len(series) == 1:
        return None
    caption = Caption("Humans and the judge", _in_words(series), unit)
    return bars(series, caption, top=1 if unit == "probability" else None)


def _select_keys(values: Mapping[str, float], keys: Sequence[str]) -> dict[str, float]:
    return {key: values[key] for key in keys if key in values}


def _in_words(rows: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    said = [
        f"{name}: " + ", ".join(f"{key} {round(value, 2):g}" for key, value in values.items())
        for name, values in rows
    ]
    return ". ".join(said) + "."


def _lines(one: HlvMethodResult) -> Iterator[MeasureLine]:
    sides = one.explained, one.baseline
    for measure in MEASURES:
        if measure.is_available(sides):
            gain: float | None = getattr(one.gain, measure.field, None)
            values = measure.of(one.explained), measure.of(one.baseline)
            word = _word(gain) if measure.field in HlvGain.model_fields else ""
            yield MeasureLine(measure.name, measure.better, *values, gain, word)


def _word(gain: float | None) -> str:
    if gain is None:
        return "not defined"
    return "closer to humans" if gain > 0 else "farther from humans" if gain < 0 else "no change"


CORRELATIONS: Bounds = (-1.0, 1.0)
GAINS: Bounds = (-2.0, 2.0)
SIDES = {
    "explained": "with explanations",
    "baseline": "without explanations",
    "majority": "who knows people's first choice only",
}


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    paired = records(report, "paired")
    for one in paired:
        method = one.get("method")
        sides = {words: record(one, side) for side, words in SIDES.items()}
        note = "The same texts on both lines. Dashed: a judge that ranks at random."
        yield forest(
            f"Agreement with people ({method})", sides, bounds=CORRELATIONS, level=0.0, note=note
        )
        yield histogram_bars(
            f"What explanations change ({method})", record(one, "gains"), "items",
            mark=(0.0, "no change"), part="kendall_gain" if _is_whole(one, report) else "",
            note="Right of the middle bar: closer to people.",
        )  # fmt: skip
        changes = {
            "closer to people with explanations": integer(one, "closer"),
            "tied: no change": integer(one, "equal"),
            "farther from people": integer(one, "farther"),
        }
        tones = dict(zip(changes, (GOOD, NEUTRAL, BAD), strict=True))
        title = f"Items, by what explanations change ({method})"
        yield stacked_bar(title, changes, tones=tones)
    gains = {str(one.get("method")): record(one, "gain") for one in paired}
    yield forest("Gain by method", gains, bounds=GAINS, level=0.0)
    yield from _side_by_side(report)


def _is_whole(one: Record, report: Record) -> bool:
    """Whether these gains are those that tables of results show: of the first method."""
    gain = record(record(record(report, "parts"), "kendall_gain"), "mean")
    return len(records(report, "paired")) == 1 and gain.get("of") == one.get("items")


def _side_by_side(report: Record) -> Iterator[Block]:
    """All methods on one scale; what judges that read nothing have is below them."""
    tables = {
        _judge(table): table for table in records(report, "tables") if table.get("judged") in SIDES
    }
    found = {
        name: record(record(record(table, "metrics"), "tau_b"), "mean")
        for name, table in tables.items()
    }
    yield forest("Methods side by side (Kendall's tau-b)", found, bounds=CORRELATIONS, level=0.0)
    tied = {"people": record(report, "gold_tied")}
    tied |= {name: record(table, "tied") for name, table in tables.items()}
    yield forest("Pairs of options that are ranked alike", tied)


def _judge(table: Record) -> str:
    words = SIDES[str(table.get("judged"))]
    return f"{table['method']}, {words}" if table.get("method") else words
