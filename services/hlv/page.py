"""The page of an HLV job: how humans and a judge rank the options, and how much the explanations
help."""

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
    """An option with the humans' value and rank."""

    value: float | None
    rank: float | None


@dataclass(frozen=True, slots=True)
class Control:
    """The values of one measure for the two baseline judges, `uniform` and `majority`. Both ignore
    the question."""

    name: str
    uniform: float | None
    majority: float | None


@dataclass(frozen=True, slots=True)
class CeilingLine:
    """The agreement between people by one measure, and how close the first method comes to it."""

    name: str
    ceiling: HlvCeilingOf
    explained: float | None  # 0: as the uniform judge, 1: as the people
    baseline: float | None


@dataclass(frozen=True, slots=True)
class HlvView:
    """The values that the template shows in addition to the report."""

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
        methods=tuple(method_view(report.gold, keys, row) for row in report.components.methods),
        ceilings=tuple(_ceilings(report)),
        controls=tuple(
            Control(measure.name, measure.of(uniform), measure.of(majority))
            for measure in MEASURES
            if measure.is_available((uniform, majority))
        ),
    )


def _ceilings(report: HlvResult) -> Iterator[CeilingLine]:
    ceilings = report.ceiling.metrics if report.ceiling else {}
    first = report.components.methods[:1]
    for measure in MEASURES:
        if (ceiling := ceilings.get(measure.field)) is not None:
            sides = [side for method in first for side in (method.explained, method.baseline)]
            shares = [side.normalised.get(measure.field) if side else None for side in sides]
            yield CeilingLine(measure.name, ceiling, *(shares or (None, None)))


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
    """A number that the report contains. `block` and `field` locate it in `HlvMeasured`.
    `better` says if higher or lower values are better."""

    field: str
    name: str
    block: str | None
    better: str

    def of(self, side: HlvMeasured | None) -> float | None:
        """Return the value, or None if it is undefined or was not measured."""
        block = side if self.block is None else getattr(side, self.block, None)
        value: float | None = getattr(block, self.field, None)
        return value

    def is_available(self, sides: Sequence[HlvMeasured | None]) -> bool:
        """True if any of `sides` has this measure."""
        return self.block is None or any(getattr(side, self.block, None) for side in sides)


MEASURES = (
    Measure("tau_b", "Kendall's tau-b", None, "higher"),
    Measure("tau_a", "Kendall's tau-a, as in the paper", None, "higher"),
    Measure("spearman", "Spearman's rho", None, "higher"),
    Measure("spearman_without_ties", "Spearman's rho, as in the paper", None, "higher"),
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
    """One measure with and without explanations. `word` says what the gain means, such as "closer
    to humans"."""

    name: str
    better: str
    explained: float | None
    baseline: float | None
    gain: float | None
    word: str


@dataclass(frozen=True, slots=True)
class MethodView:
    """The data that the page shows for one method."""

    title: str
    result: HlvMethodResult
    ranks: Chart | None
    values: Chart | None
    not_drawn: str  # why there is no chart of values; "" if there is one
    lines: tuple[MeasureLine, ...]


def method_view(gold: HlvGold, keys: Sequence[str], result: HlvMethodResult) -> MethodView:
    """Return the view of one method. `keys` has the options in the order in which they are
    shown."""
    unit = COMPARABLE.get((gold.kind, result.method))
    values = _values(gold, keys, result, unit) if unit else None
    reason = (
        "the judge's answers could not be read"
        if unit
        else f"people gave a {gold.kind}, which this method does not return"
    )
    return MethodView(
        title=METHODS[result.method],
        result=result,
        ranks=_ranks(gold, keys, result),
        values=values,
        not_drawn="" if values else reason,
        lines=tuple(_lines(result)),
    )


def _ranks(gold: HlvGold, keys: Sequence[str], result: HlvMethodResult) -> Chart | None:
    """Draw the human ranks between the judge's ranks without and with explanations, so that both
    can be compared with the humans."""
    columns = [("humans", _select_keys(gold.ranks, keys))]
    if result.explained is not None and result.explained.ranks:
        columns.append((WITH, _select_keys(result.explained.ranks, keys)))
    if result.baseline is not None and result.baseline.ranks:
        columns.insert(0, (WITHOUT, _select_keys(result.baseline.ranks, keys)))
    if len(columns) == 1:
        return None
    return slope(columns, title="Ranks", summary=_in_words(columns))


def _values(gold: HlvGold, keys: Sequence[str], result: HlvMethodResult, unit: str) -> Chart | None:
    series = [("humans", _select_keys(gold.values or {}, keys))]
    for name, measured in ((WITH, result.explained), (WITHOUT, result.baseline)):
        if measured is not None and measured.values:
            series.append((name, _select_keys(measured.values, keys)))
    if len(series) == 1:
        return None
    caption = Caption("Humans and the judge", _in_words(series), unit)
    return bars(series, caption, top=1 if unit == "probability" else None)


def _select_keys(values: Mapping[str, float], keys: Sequence[str]) -> dict[str, float]:
    return {key: values[key] for key in keys if key in values}


def _in_words(rows: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    sentences = [
        f"{name}: " + ", ".join(f"{key} {round(value, 2):g}" for key, value in values.items())
        for name, values in rows
    ]
    return ". ".join(sentences) + "."


def _lines(result: HlvMethodResult) -> Iterator[MeasureLine]:
    for measure in MEASURES:
        if measure.is_available((result.explained, result.baseline)):
            gain: float | None = getattr(result.gain, measure.field, None)
            values = measure.of(result.explained), measure.of(result.baseline)
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
    "majority": "a judge that knows only people's first choice",
}


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    paired = records(report, "paired")
    for pair in paired:
        method = pair.get("method")
        sides = {words: record(pair, condition) for condition, words in SIDES.items()}
        note = "All rows use the same texts. The dashed line marks a judge that ranks at random."
        yield forest(
            f"Agreement with people ({method})", sides, bounds=CORRELATIONS, level=0.0, note=note
        )
        # Tables of results show the gains of the first method; link the bars only to those.
        gain = record(record(record(report, "parts"), "kendall_gain"), "mean")
        is_complete = len(paired) == 1 and gain.get("of") == pair.get("items")
        yield histogram_bars(
            f"Effect of explanations ({method})", record(pair, "gains"), "items",
            mark=(0.0, "no change"), part="kendall_gain" if is_complete else "",
            note="Bars to the right of the middle count items where explanations bring the judge "
            "closer to people.",
        )  # fmt: skip
        changes = {
            "closer to people with explanations": integer(pair, "closer"),
            "tied: no change": integer(pair, "equal"),
            "farther from people": integer(pair, "farther"),
        }
        tones = dict(zip(changes, (GOOD, NEUTRAL, BAD), strict=True))
        title = f"Items, by the effect of explanations ({method})"
        yield stacked_bar(title, changes, tones=tones)
    gains = {str(pair.get("method")): record(pair, "gain") for pair in paired}
    yield forest("Gain by method", gains, bounds=GAINS, level=0.0)
    tables = {}
    for table in records(report, "tables"):
        if table.get("judged") in SIDES:
            words = SIDES[str(table.get("judged"))]
            tables[f"{table['method']}, {words}" if table.get("method") else words] = table
    means = {
        name: record(record(record(table, "metrics"), "tau_b"), "mean")
        for name, table in tables.items()
    }
    yield forest("Methods side by side (Kendall's tau-b)", means, bounds=CORRELATIONS, level=0.0)
    tied = {"people": record(report, "gold_tied")}
    tied |= {name: record(table, "tied") for name, table in tables.items()}
    yield forest("Pairs of options with tied ranks", tied)
