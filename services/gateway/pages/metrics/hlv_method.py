"""One way of asking the judge of HLV: ranks and values beside the humans', and what was gained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.hlv.report import Gain, Gold, Measured, Method, MethodResult
from shared.charts.engine import Caption, Chart
from shared.charts.shapes import bars, slope

METHODS: dict[Method, str] = {
    "rank": "Asked for a ranking",
    "logits": "Read from the first token",
    "score": "Asked to rate each option",
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

    def of(self, side: Measured | None) -> float | None:
        """Its value; None where it is undefined or was not measured."""
        held = side if self.block is None else getattr(side, self.block, None)
        found: float | None = getattr(held, self.field, None)
        return found

    def stands_in(self, sides: Sequence[Measured | None]) -> bool:
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
class Line:
    """One measure with explanations and without; `word` says what the gain means."""

    name: str
    better: str
    explained: float | None
    baseline: float | None
    gain: float | None
    word: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One way of asking, as the page shows it."""

    title: str
    result: MethodResult
    ranks: Chart | None
    values: Chart | None
    not_drawn: str  # why there is no picture of values; "" where there is one
    lines: tuple[Line, ...]


def asked_by(gold: Gold, keys: Sequence[str], one: MethodResult) -> Asked:
    """keys: of the options, in the order in which they are shown."""
    unit = COMPARABLE.get((gold.kind, one.method))
    values = _values(gold, keys, one, unit) if unit else None
    why = (
        "no answer could be read"
        if unit
        else f"humans gave a {gold.kind}, and this way of asking answers with something else"
    )
    return Asked(
        title=METHODS[one.method],
        result=one,
        ranks=_ranks(gold, keys, one),
        values=values,
        not_drawn="" if values else why,
        lines=tuple(_lines(one)),
    )


def _ranks(gold: Gold, keys: Sequence[str], one: MethodResult) -> Chart | None:
    """Humans stand in the middle, so that either side can be compared with them."""
    columns = [("humans", _ordered(gold.ranks, keys))]
    if one.explained is not None and one.explained.ranks:
        columns.append((WITH, _ordered(one.explained.ranks, keys)))
    if one.baseline is not None and one.baseline.ranks:
        columns.insert(0, (WITHOUT, _ordered(one.baseline.ranks, keys)))
    if len(columns) == 1:
        return None
    return slope(columns, title="Ranks", summary=_spoken(columns))


def _values(gold: Gold, keys: Sequence[str], one: MethodResult, unit: str) -> Chart | None:
    series = [("humans", _ordered(gold.values or {}, keys))]
    for name, side in ((WITH, one.explained), (WITHOUT, one.baseline)):
        if side is not None and side.values:
            series.append((name, _ordered(side.values, keys)))
    if len(series) == 1:
        return None
    caption = Caption("Humans and the judge", _spoken(series), unit)
    return bars(series, caption, top=1 if unit == "probability" else None)


def _ordered(values: Mapping[str, float], keys: Sequence[str]) -> dict[str, float]:
    return {key: values[key] for key in keys if key in values}


def _spoken(rows: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    said = [
        f"{name}: " + ", ".join(f"{key} {round(value, 2):g}" for key, value in values.items())
        for name, values in rows
    ]
    return ". ".join(said) + "."


def _lines(one: MethodResult) -> Iterator[Line]:
    sides = one.explained, one.baseline
    for measure in MEASURES:
        if measure.stands_in(sides):
            gain: float | None = getattr(one.gain, measure.field, None)
            values = measure.of(one.explained), measure.of(one.baseline)
            word = _word(gain) if measure.field in Gain.model_fields else ""
            yield Line(measure.name, measure.better, *values, gain, word)


def _word(gain: float | None) -> str:
    if gain is None:
        return "not defined"
    return "closer to humans" if gain > 0 else "farther from humans" if gain < 0 else "no change"
