"""What a page shows first of a report over many ICE results: out of the stored report, which may be
of another version of the service."""

from __future__ import annotations

from collections.abc import Iterator

from shared.report_design import (
    Block,
    Record,
    forest,
    histogram_bars,
    integer,
    record,
    records,
    stacked_bar,
)

CHANCE = 0.5  # win rate of who knows nothing
MOST_DRAWN = 4  # configurations with pictures of their own
WORDS = {"undecidable": "too few rivals to tell"}  # a verdict's words
VERDICTS = ("faithful", "inconclusive", "anti-faithful", "undecidable")


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    named = {_configuration(one): one for one in records(report, "configurations")}
    drawn = list(named.items())[:MOST_DRAWN]
    for name, one in drawn:
        yield histogram_bars(
            f"Random explanations beaten: {name}", record(one, "win_rates"), "tests",
            mark=(CHANCE, "½, which chance has"), part="win_rate" if one.get("leads") else "",
        )  # fmt: skip
        verdicts = record(one, "verdicts")
        counted = {WORDS.get(word, word): integer(verdicts, word) for word in VERDICTS}
        yield stacked_bar(f"Single tests: {name}", counted)
    rates = {name: record(one, "win_rate") for name, one in named.items()}
    note = "" if len(drawn) == len(named) else _not_drawn(len(named))
    yield forest("Random explanations beaten, by configuration", rates, level=0.5, note=note)
    for name, one in drawn:
        found = record(one, "p_values")
        yield histogram_bars(
            f"p-values of single tests: {name}", {**found, "low": 0.0, "high": 1.0}, "p-values",
            expected=found.get("expected"), note=_least_p(record(one, "over_examples")),
        )  # fmt: skip


def _not_drawn(configurations: int) -> str:
    return f"Pictures of single tests are of the first {MOST_DRAWN} of {configurations}."


def _least_p(found: Record) -> str:
    least, alpha = found.get("least_p"), found.get("alpha")
    if not isinstance(least, float) or not isinstance(alpha, float):
        return ""
    told = f"The least p-value that so many draws allow is {least:.3g}."
    return f"{told} It cannot reach {alpha:.3g}: draw more." if least > alpha else told


def _configuration(one: Record) -> str:
    found = record(one, "configuration")
    shown = [found.get(name) for name in ("model", "explanation", "operator", "aspect")]
    usual = {"variant": "robust", "rows": "tokens"}
    shown += [found.get(name) for name, word in usual.items() if found.get(name) != word]
    budget = [] if found.get("k") is None else [f"k = {found['k']}"]  # spans have none
    return " · ".join([*(str(word) for word in shown if word), *budget])
