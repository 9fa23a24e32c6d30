"""What a page shows first of a report over many ICE results: out of the stored report, which may be
of another version of the service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shared.reports.pages.page_text import significant
from shared.reports.pages.report_design import (
    GOOD,
    NEUTRAL,
    NONE,
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
WORDS = {"undecidable": "too few rivals to tell"}  # a verdict's words
REMOVED = {
    "delete": "deleted",
    "mask": "masked",
    "mask_unk": "made unknown",
    "mask_pad": "made padding",
    "infill": "replaced by those of other texts",
    "mean": "removed: the mean over the operators",
}
TONES = {
    "faithful": GOOD,
    "inconclusive": NEUTRAL,
    "anti-faithful": "contradicted",
    "undecidable": NONE,
}
VERDICTS = tuple(TONES)


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    listed = records(report, "configurations")
    models = {record(one, "configuration").get("model") for one in listed}
    named = {_configuration(one, with_model=len(models) > 1): one for one in listed}
    for number, (name, one) in enumerate(named.items()):
        yield histogram_bars(
            f"Random explanations beaten: {name}", record(one, "win_rates"), "tests",
            mark=(CHANCE, "½, which chance has"), part="win_rate" if one.get("leads") else "",
            number=number,
        )  # fmt: skip
        verdicts = record(one, "verdicts")
        counted = {WORDS.get(word, word): integer(verdicts, word) for word in VERDICTS}
        tones = {WORDS.get(word, word): TONES[word] for word in VERDICTS}
        yield replace(stacked_bar(f"Single tests: {name}", counted, tones=tones), number=number)
    rates = {name: record(one, "win_rate") for name, one in named.items()}
    yield forest("Random explanations beaten, by configuration", rates, level=0.5)
    for number, (name, one) in enumerate(named.items()):
        found = record(one, "p_values")
        yield histogram_bars(
            f"p-values of single tests: {name}", {**found, "low": 0.0, "high": 1.0}, "p-values",
            expected=found.get("expected"), note=_least_p(record(one, "over_examples")),
            number=number,
        )  # fmt: skip


def _least_p(found: Record) -> str:
    least, alpha = found.get("least_p"), found.get("alpha")
    if not isinstance(least, float) or not isinstance(alpha, float):
        return ""
    told = f"The least p-value that so many draws allow is {least:.3g}."
    return f"{told} It cannot reach {alpha:.3g}: draw more." if least > alpha else told


def _configuration(one: Record, *, with_model: bool) -> str:
    """In plain words: what is taken of a text, and what is done with it or with all else."""
    found = record(one, "configuration")
    rows, name = found.get("rows") or "tokens", found.get("explanation")
    share = found.get("k")
    named = f"The {rows} of {name}"  # spans have no budget
    if isinstance(share, int | float):
        named = f"Top {significant(100 * share)} % of the {rows} by {name}"
    operator = str(found.get("operator"))
    removed = REMOVED.get(operator, operator)
    said = [f"{named}, {'' if found.get('aspect') == 'necessity' else 'all others '}{removed}"]
    if with_model:
        said.append(str(found.get("model")))
    if found.get("variant") not in (None, "robust"):
        said.append(f"variant {found['variant']}")
    return "; ".join(said)
