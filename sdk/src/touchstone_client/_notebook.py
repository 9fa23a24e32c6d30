"""What a notebook and `print` show: escaped, without scripts, with inline styles only.

Texts may be abusive: they lie in a closed `<details>` unless `options.show_texts` is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from pydantic import BaseModel

from touchstone_client import options
from touchstone_client._base import JobMessage, Report, Result, Shown
from touchstone_client._messages import models
from touchstone_client._terms import NAMES

MOST_ROWS = 20
COLOURS = {
    "holds_up": "#1a7f37",
    "problem_found": "#b00020",
    "not_tested": "#57606a",
}
CELL = "padding:2px 10px;text-align:left;vertical-align:top"
MARK = "background:#fff3a3"
NAMED = "what it is"  # title of a column of plain names
TEXTS = ("text", "text_pair", "explanation", "premise", "hypothesis", "question", "reasoning")


def text(shown: Shown) -> str:
    """Three lines."""
    if isinstance(shown, Result):
        head = f"{shown.metric}: {shown.verdict}, score {number(shown.score)} of {shown.range}"
        parts = ", ".join(f"{name} {value}" for name, value in parts_of(shown.components))
        return f"{head}\n{shown.reason}\n{parts or 'no parts that are numbers'}"
    if isinstance(shown, models.ExplanationsResult):
        found = shown.elicitation
        head = f"{found.outcome}: {found.decision or 'no decision'}, P {number(found.probability)}"
        metrics = ", ".join(" ".join(one) for one in metrics_of(shown))
        return f"{head}\n{found.explanation}\n{metrics or 'no metric scored it'}"
    if isinstance(shown, Report):
        head = f"{shown.metric}: {shown.scored} results, {shown.undefined} undefined"
        return f"{head}\nmean score {interval(shown.score)}\n{'; '.join(shown.warnings)}"
    return repr(shown)


def html(shown: Shown) -> str:
    """A table of it."""
    if isinstance(shown, Result):
        return result_html(shown)
    if isinstance(shown, models.ExplanationsResult):
        return elicited_html(shown)
    if isinstance(shown, Report):
        return report_html(shown)
    if isinstance(shown, models.SystemComparison):
        return comparison_html(shown)
    return f"<pre>{escape(repr(shown))}</pre>"


def result_html(found: Result) -> str:
    """Verdict, score, sentence; parts, chance, warnings; the texts, closed."""
    badge = (
        f'<b style="color:{COLOURS.get(found.verdict, "#57606a")}">{escape(found.verdict)}</b> '
        f"&nbsp; {escape(found.metric)} <b>{number(found.score)}</b> "
        f"<small>of {escape(str(found.range))}, {escape(found.direction.replace('_', ' '))}</small>"
    )
    chance = parts_of(getattr(found, "control", None))
    tables = table(("check", "outcome", ""), checks_of(found))
    tables += table(("part", "value", NAMED), named(found.metric, parts_of(found.components)))
    if chance:
        tables += table(("chance", "value", NAMED), named(found.metric, chance))
    actions = [f"{one.reason}: {one.action}" for one in found.untested]
    warned = "".join(f"<li>{escape(one)}</li>" for one in (*actions, *found.warnings))
    return (
        f"<div>{badge}<p>{escape(found.reason)}</p>{tables}"
        + (f"<ul>{warned}</ul>" if warned else "")
        + texts_html(found)
        + "</div>"
    )


def checks_of(found: Result) -> list[tuple[str, str, str]]:
    """Name, outcome and sentence of each check."""
    return [(one.name, one.outcome, one.sentence) for one in found.checks]


def elicited_html(found: models.ExplanationsResult) -> str:
    """How the answer ended, what it decides, a row a metric; the explanation, closed."""
    said = found.elicitation
    badge = f"<b>{escape(said.outcome)}</b> &nbsp; {escape(said.decision or 'no decision')}"
    warned = "".join(f"<li>{escape(one)}</li>" for one in found.warnings)
    opened = " open" if options.show_texts else ""
    return (
        f"<div><p>{badge}, P {number(said.probability)}</p>"
        + table(("metric", "verdict", "score"), metrics_of(found))
        + (f"<ul>{warned}</ul>" if warned else "")
        + f"<details{opened}><summary>Show the explanation</summary>"
        + f"<p>{escape(said.explanation)}</p></details></div>"
    )


def metrics_of(found: models.ExplanationsResult) -> list[tuple[str, str, str]]:
    """(metric, verdict, score); of one that scored nothing (metric, code, why)."""
    scored = [(one.metric, one.verdict, number(one.score)) for one in found.scores]
    return scored + [(one.metric, str(one.code), one.detail) for one in found.unscored]


def texts_html(found: Result) -> str:
    """What was sent, with what the evidence points at marked."""
    sent = {name: found._sent[name] for name in TEXTS if isinstance(found._sent.get(name), str)}  # noqa: SLF001
    spans = [one for one in found.evidence or () if hasattr(one, "start")]
    shown = "".join(
        f"<p><small>{name}</small><br>{marked(value, spans_in(spans, name))}</p>"
        for name, value in sent.items()
    )
    if not shown:
        return ""
    opened = " open" if options.show_texts else ""
    return f"<details{opened}><summary>Show the text</summary>{shown}</details>"


def spans_in(spans: Iterable[Any], name: str) -> list[tuple[int, int]]:
    """(start, end) of the evidence in this field, in code points."""
    return sorted(
        (one.start, one.end)
        for one in spans
        if one.start is not None
        and one.end is not None
        and getattr(one, "offsets_into", "text") == name
    )


def marked(value: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text, escaped, with these spans marked; of two that overlap the first one."""
    made, at = "", 0
    for start, end in spans:
        if at <= start < end <= len(value):
            inside = escape(value[start:end])
            made += f'{escape(value[at:start])}<mark style="{MARK}">{inside}</mark>'
            at = end
    return made + escape(value[at:])


def job_html(job: JobMessage) -> str:
    """A job in a line; its result, once it has one."""
    head = f"<p><code>{escape(job.id)}</code> {escape(job.metric)}: <b>{escape(job.status)}</b></p>"
    if isinstance(job.result, Shown):
        return head + html(job.result)
    problem = job.error
    if problem is None:
        return head
    return head + f"<p>{escape(str(problem.title))}: {escape(str(problem.detail))}</p>"


def scores_html(found: list[Any]) -> str:
    """A row a result, the first twenty."""
    rows = [
        (index, one.verdict, number(one.score), one.reason)
        if isinstance(one, Result)
        else (index, "error", "", str(one))
        for index, one in enumerate(found[:MOST_ROWS])
    ]
    more = len(found) - len(rows)
    rest = f"<p>… and {more} more</p>" if more else ""
    return table(("", "verdict", "score", "reason"), rows) + rest


def report_html(found: Report) -> str:
    """Counts, mean score and parts with their intervals."""
    means = ((name, interval(one)) for name, one in part_means(found))
    rows = [("score", interval(found.score)), *means]
    rows = named(found.metric, rows)
    counted = f"{found.scored} results, {found.undefined} undefined"
    said = getattr(found, "finding", "") or counted
    head = f"<p><b>{escape(found.metric)}</b>: {escape(said)}</p>"
    warned = "".join(f"<li>{escape(one)}</li>" for one in found.warnings)
    ending = f"<ul>{warned}</ul>" if warned else ""
    without = table(("results without", "undefined", "does not apply"), parts_without(found))
    return head + table(("mean of", "value", NAMED), rows) + without + ending


def part_means(found: Any) -> Iterator[tuple[str, Any]]:
    """Of each part; a report of an earlier version has those of its `components`, if any."""
    if parts := getattr(found, "parts", None):
        yield from ((name, one.mean) for name, one in parts.items())
        return
    parts = getattr(found, "components", None)
    listed = parts.items() if isinstance(parts, Mapping) else parts or ()
    yield from ((name, one) for name, one in listed if hasattr(one, "value"))


def parts_without(found: Any) -> Iterator[tuple[str, int, int]]:
    """Results without a part: how many of which it cannot be told, and to how many there is nothing
    to ask; parts that every result has are left out."""
    for name, one in (getattr(found, "parts", None) or {}).items():
        if one.undefined or one.not_applicable:
            yield name, one.undefined, one.not_applicable


def comparison_html(found: models.SystemComparison) -> str:
    """A row a difference."""
    rows = [
        (one.component, interval(one.difference), number(one.p_value)) for one in found.differences
    ]
    warned = "".join(f"<li>{escape(one)}</li>" for one in found.warnings)
    head = f"<p>{found.pairs} texts that both have</p>"
    return head + table(("", "difference", "p"), rows) + (f"<ul>{warned}</ul>" if warned else "")


def table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Every cell escaped."""
    titles = "".join(f'<th style="{CELL}">{escape(one)}</th>' for one in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(one))}</td>' for one in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{titles}</tr>{body}</table>" if body else ""


def parts_of(message: Any) -> list[tuple[str, str]]:
    """name, value of what is a number or a word in a message."""
    if not isinstance(message, BaseModel):
        return []
    return [
        (name, number(value))
        for name, value in message
        if value is None or isinstance(value, bool | int | float | str)
    ]


def named(metric: str, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """These rows, which begin with the name of a part, with what people call it at their end."""
    own = NAMES.get(metric, {})
    return [
        (
            *row,
            own.get(str(row[0]).removeprefix("chance: ").partition(",")[0].replace(" ", "_"), ""),
        )
        for row in rows
    ]


def number(value: Any) -> str:
    """Three digits; a dash for what is undefined."""
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def interval(found: Any) -> str:
    """A mean with its interval and how many it rests on."""
    value = getattr(found, "value", None)
    low, high, of = (getattr(found, name, None) for name in ("low", "high", "of"))
    bounds = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return f"{number(value)}{bounds}, n = {of}"
