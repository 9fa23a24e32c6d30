"""What a metric's report shows first, as charts of counts and of intervals; all numbers follow it.

A design reads the stored report, also of another version of the service: what is not there is left
out. Metrics without one show their tables only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.report_finding import is_interval

MOST_BARS = 15
Bounds = tuple[float, float]
UNIT: Bounds = (0.0, 1.0)
Record = Mapping[str, Any]


@dataclass(frozen=True)
class CountBars:
    """Counts of one kind. bars: (name, count), the most frequent first. other: of those not
    shown."""

    title: str
    bars: Sequence[tuple[str, int]]
    note: str = ""
    other: int = 0

    @property
    def most(self) -> int:
        return max((count for _, count in self.bars), default=0) or 1


@dataclass(frozen=True)
class ForestRow:
    """An estimate. level: what chance, or whoever does not look, has."""

    name: str
    interval: Record
    level: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Forest:
    """Estimates on one scale, a row each."""

    title: str
    rows: Sequence[ForestRow]
    bounds: Bounds = UNIT
    note: str = ""

    def place(self, value: float | None) -> float | None:
        """Where a value lies on the scale, [0, 1]."""
        if value is None:
            return None
        low, high = self.bounds
        return min(max((value - low) / (high - low), 0.0), 1.0)


Block = CountBars | Forest


def design_of(metric: str, report: Record | None) -> list[Block]:
    """The charts of this report, in their order; without one none."""
    design = DESIGNS.get(metric)
    if design is None or report is None:
        return []
    blocks = [*design(report), *_common(report)]
    return [one for one in blocks if (one.bars if isinstance(one, CountBars) else one.rows)]


def _hatexscore(report: Record) -> Iterator[Block]:
    labels = _record(report, "labels")
    compared, conflicting = _count(labels, "compared"), _count(labels, "conflicting")
    stated = {
        "state the decision that was sent": compared - conflicting,
        "state another one": conflicting,
        "state no decision": _count(labels, "no_conclusion"),
    }
    yield _bars("What the explanations conclude", stated)
    decisions = _record(report, "by_decision")
    means = {name: _record(one, "score") for name, one in decisions.items()}
    yield _forest("Mean score by decision", means, note="What is high for one is low for another.")
    beaten = {name: _record(one, "share_beaten") for name, one in decisions.items()}
    yield _forest("Random spans beaten, by decision", beaten, level=0.5)
    agreement = _record(report, "model_agreement")
    agreed = {"all results": _record(agreement, "agreement")}
    agreed |= {name: one for name, one in _record(agreement, "by_decision").items()}
    note = "QF asks this model: it says little where the model decides otherwise."
    yield _forest("Does the model make the decisions that are explained?", agreed, note=note)
    yield _bars("Groups that are named as the target", _record(report, "groups"))
    yield _bars("Languages", _record(report, "languages"))


def _ice(report: Record) -> Iterator[Block]:
    tested = [one for one in _list(report, "configurations") if isinstance(one, Mapping)]
    named = {_configuration(one): one for one in tested}
    rates = {name: _record(one, "win_rate") for name, one in named.items()}
    yield _forest("Random explanations beaten, by configuration", rates, level=0.5)
    for name, one in named.items():
        verdicts = _record(one, "verdicts")
        words = {VERDICTS.get(word, word): count for word, count in verdicts.items()}
        yield _bars(f"Single tests: {name}", words, note=_least_p(_record(one, "over_examples")))


VERDICTS = {"undecidable": "too few rivals to tell"}


def _least_p(found: Record) -> str:
    least, alpha = found.get("least_p"), found.get("alpha")
    if not isinstance(least, float) or not isinstance(alpha, float):
        return ""
    told = f"The least p-value that so many draws allow is {least:.3g}."
    return f"{told} It cannot reach {alpha:.3g}: draw more." if least > alpha else told


def _configuration(one: Record) -> str:
    found = _record(one, "configuration")
    shown = [found.get(name) for name in ("model", "explanation", "operator", "aspect")]
    return " · ".join([*(str(word) for word in shown if word), f"k = {found.get('k')}"])


def _haf(report: Record) -> Iterator[Block]:
    for group in _list(report, "groups"):
        name = " · ".join(str(group[key]) for key in ("model", "dataset") if group.get(key))
        stances = {str(one["stance"]): _count(one, "results") for one in _list(group, "by_stance")}
        yield _bars(f"Stances: {name}", stances)
        refused = {"refuse to justify": _record(group, "refused")}
        yield _forest(f"Refusals: {name}", refused)
        sufficient = _record(group, "sufficient")
        yield _forest(f"Decisions that say “sufficient”, by stage: {name}", sufficient)
        off = _record(group, "irrelevant")
        yield _forest(
            f"Answers beside the question, by stage: {name}", off, note="Lower is better."
        )


def _ftc(report: Record) -> Iterator[Block]:
    macro = _record(report, "macro")
    baselines = {one.get("name"): one for one in _list(report, "baselines")}
    for symbol, title in (
        ("delta", "Logic carried over"),
        ("k", "How nearly"),
        ("w", "How surely"),
    ):
        rows = [ForestRow("explanations", _record(macro, symbol))]
        rows += [
            ForestRow(f"without them: {str(name).replace('_', ' ')}", _point(one.get(symbol)))
            for name, one in baselines.items()
        ]
        kept = [row for row in rows if _is_shown(row.interval)]
        note = "Below the first line: what answers earn that have not seen the explanation."
        yield Forest(f"{title} ({symbol})", kept, note=note)
    null = {"random substitutions beaten": _record(report, "null_win_rate")}
    yield _forest("Against random substitutions", null, level=0.5)
    cases = {
        str(one.get("case")): _record(_record(one, "scores"), "w") for one in _list(report, "cases")
    }
    yield _forest("By original label (w)", cases)
    yield _bars("Abstentions, by reason", _record(report, "abstentions"))


def _cot2el(report: Record) -> Iterator[Block]:
    rows = [
        ForestRow("the reasoning", _record(report, "faithfulness")),
        ForestRow("shuffled words", _record(report, "faithfulness_by_chance")),
        ForestRow("the reasoning of others", _record(report, "faithfulness_of_others")),
    ]
    kept = [row for row in rows if _is_shown(row.interval)]
    yield Forest("Really said in the reasoning", kept)
    shares = {"contradicted": _record(report, "contradicted")}
    yield _forest("Explanations that the reasoning contradicts", shares, note="Lower is better.")
    yield _bars("What became of the results", _record(report, "statuses"))


def _hlv(report: Record) -> Iterator[Block]:
    for table in _list(report, "tables"):
        gain = table.get("judged") == "gain"
        method = f" ({table['method']})" if table.get("method") else ""
        found = {
            name: _record(one, "mean")
            for name, one in _record(table, "metrics").items()
            if name in CORRELATIONS
        }
        level = 0.0 if gain else None
        note = "Right of the dashed line: closer to people with explanations." if gain else ""
        bounds = (-2.0, 2.0) if gain else (-1.0, 1.0)
        title = f"{str(table.get('judged')).replace('_', ' ').capitalize()}{method}"
        yield _forest(title, found, bounds=bounds, level=level, note=note)


CORRELATIONS = ("kendall", "spearman")


def _sor(report: Record) -> Iterator[Block]:
    parts = {
        "says what is asked for": _record(report, "completeness"),
        "is about its post": _record(report, "specificity"),
    }
    yield _forest("What the statements say", parts)
    missing = _record(report, "missing")
    lacking = {str(item).replace("_", " "): _record(missing, item) for item in missing}
    yield _forest("Statements that lack", lacking, note="Lower is better.")
    fits = {"other posts whose facts are named less": _record(report, "beats_other_posts")}
    yield _forest("Against other posts", fits, level=0.5)
    copies = {
        "runs of words that others have": _record(report, "boilerplate"),
        "likeness to the nearest other": _record(report, "nearest_similarity"),
        "copies (0.8 alike)": _record(report, "copies"),
    }
    yield _forest("Copies of each other", copies, note="Lower is better.")


def _consistency(report: Record) -> Iterator[Block]:
    parts = {
        "predict the model's answers": _record(report, "simulatability"),
        "rest on the same words": _record(report, "attribution_agreement"),
    }
    yield _forest("What the explanations do", parts, level=0.5)
    rivals = {
        "random citations that predict less": _record(report, "beats_random_citations"),
        "permuted words that agree less": _record(report, "beats_permuted_words"),
    }
    yield _forest("Against chance", rivals, level=0.5)
    tests = {
        "predictions": _record(report, "simulatability_significant"),
        "agreement": _record(report, "attribution_significant"),
    }
    yield _forest("Single tests with p <= 0.05", tests, level=0.05)
    yield _bars("How citations were found", _record(report, "cited_by"))


def _common(report: Record) -> Iterator[Block]:
    languages = {
        code: _record(one, "score") for code, one in _record(report, "by_language").items()
    }
    if len(languages) > 1:
        yield _forest("Mean score by language of the text", languages)
    yield _bars("Left out, by state", _record(report, "left_out"))


DESIGNS: Mapping[str, Callable[[Record], Iterator[Block]]] = {
    "consistency": _consistency,
    "cot2el": _cot2el,
    "ftc": _ftc,
    "haf": _haf,
    "hatexscore": _hatexscore,
    "hlv": _hlv,
    "ice": _ice,
    "sor": _sor,
}


def _bars(title: str, counted: Record, note: str = "") -> CountBars:
    counts = [(str(name), count) for name, count in counted.items() if isinstance(count, int)]
    ordered = sorted((one for one in counts if one[1]), key=lambda one: (-one[1], one[0]))
    left = sum(count for _, count in ordered[MOST_BARS:])
    return CountBars(title, ordered[:MOST_BARS], note, left)


def _forest(
    title: str, found: Record, *, bounds: Bounds = UNIT, level: float | None = None, note: str = ""
) -> Forest:
    rows = [ForestRow(str(name), one, level) for name, one in found.items() if _is_shown(one)]
    return Forest(title, rows, bounds, note)


def _is_shown(interval: Any) -> bool:
    return is_interval(interval) and interval["value"] is not None


def _point(value: Any) -> Record:
    found = float(value) if isinstance(value, int | float) else None
    return {"value": found, "low": None, "high": None, "of": 0}


def _record(report: Record, name: str) -> Record:
    found = report.get(name)
    return found if isinstance(found, Mapping) else {}


def _list(report: Record, name: str) -> list[Any]:
    found = report.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _count(report: Record, name: str) -> int:
    found = report.get(name)
    return found if isinstance(found, int) else 0
