"""The display of messages in notebooks and by `print`. HTML is escaped and has no scripts. Texts
may be abusive, so they are folded away unless `options.show_texts` is set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
PLAIN_NAME = "what it is"  # title of a column of plain names
TEXTS = ("text", "text_pair", "explanation", "premise", "hypothesis", "question", "reasoning")


def text(shown: Shown) -> str:
    """Return the message as three lines of text."""
    if isinstance(shown, Result):
        head = f"{shown.metric}: {shown.verdict}, score {number(shown.score)} of {shown.range}"
        parts = ", ".join(f"{name} {value}" for name, value in parts_of(shown.components))
        return f"{head}\n{shown.reason}\n{parts or 'no part has a number'}"
    if isinstance(shown, models.ExplanationsResult):
        answer = shown.elicitation
        head = (
            f"{answer.outcome}: {answer.decision or 'no decision'}, P {number(answer.probability)}"
        )
        metrics = ", ".join(" ".join(cells) for cells in metrics_of(shown))
        return f"{head}\n{answer.explanation}\n{metrics or 'no metric scored this answer'}"
    if isinstance(shown, Report):
        head = f"{shown.metric}: {shown.scored} results, {shown.undefined} undefined"
        return f"{head}\nmean score {interval(shown.score)}\n{'; '.join(shown.warnings)}"
    return repr(shown)


def html(shown: Shown) -> str:
    """Return the message as an HTML table."""
    if isinstance(shown, Result):
        return result_html(shown)
    if isinstance(shown, models.ExplanationsResult):
        return elicited_html(shown)
    if isinstance(shown, Report):
        return report_html(shown)
    if isinstance(shown, models.SystemComparison):
        return comparison_html(shown)
    return f"<pre>{escape(repr(shown))}</pre>"


def result_html(result: Result) -> str:
    """Return a result as HTML: verdict, score and sentence, then its numbers and warnings. The
    texts are folded away."""
    badge = (
        f'<b style="color:{COLOURS.get(result.verdict, "#57606a")}">{escape(result.verdict)}</b> '
        f"&nbsp; {escape(result.metric)} <b>{number(result.score)}</b> "
        f"<small>of {escape(str(result.range))}, "
        f"{escape(result.direction.replace('_', ' '))}</small>"
    )
    chance = parts_of(getattr(result, "control", None))
    tables = table(("check", "outcome", ""), checks_of(result))
    tables += table(
        ("part", "value", PLAIN_NAME), with_plain_names(result.metric, parts_of(result.components))
    )
    if chance:
        tables += table(("chance", "value", PLAIN_NAME), with_plain_names(result.metric, chance))
    actions = [f"{item.reason}: {item.action}" for item in result.untested]
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in (*actions, *result.warnings))
    return (
        f"<div>{badge}<p>{escape(result.reason)}</p>{tables}"
        + (f"<ul>{warned}</ul>" if warned else "")
        + texts_html(result)
        + "</div>"
    )


def checks_of(result: Result) -> list[tuple[str, str, str]]:
    """Return (name, outcome, sentence) of each check."""
    return [(check.name, check.outcome, check.sentence) for check in result.checks]


def elicited_html(result: models.ExplanationsResult) -> str:
    """Return a model's explanation as HTML: outcome, decision, one row per metric, and the text of
    the explanation, collapsed by default."""
    answer = result.elicitation
    badge = f"<b>{escape(answer.outcome)}</b> &nbsp; {escape(answer.decision or 'no decision')}"
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in result.warnings)
    opened = " open" if options.show_texts else ""
    return (
        f"<div><p>{badge}, P {number(answer.probability)}</p>"
        + table(("metric", "verdict", "score"), metrics_of(result))
        + (f"<ul>{warned}</ul>" if warned else "")
        + f"<details{opened}><summary>Show the explanation</summary>"
        + f"<p>{escape(answer.explanation)}</p></details></div>"
    )


def metrics_of(result: models.ExplanationsResult) -> list[tuple[str, str, str]]:
    """Return (metric, verdict, score) for each score. A metric without a score gets (metric, code,
    reason)."""
    scored = [(score.metric, score.verdict, number(score.score)) for score in result.scores]
    return scored + [(score.metric, str(score.code), score.detail) for score in result.unscored]


def texts_html(result: Result) -> str:
    """Return the texts of the request as HTML, with the evidence highlighted."""
    sent = {name: result._sent[name] for name in TEXTS if isinstance(result._sent.get(name), str)}  # noqa: SLF001
    spans = [item for item in result.evidence or () if hasattr(item, "start")]
    shown = "".join(
        f"<p><small>{name}</small><br>{marked(value, spans_in(spans, name))}</p>"
        for name, value in sent.items()
    )
    if not shown:
        return ""
    opened = " open" if options.show_texts else ""
    return f"<details{opened}><summary>Show the text</summary>{shown}</details>"


def spans_in(spans: Iterable[Any], name: str) -> list[tuple[int, int]]:
    """Return the (start, end) of each piece of evidence in this field, in code points."""
    return sorted(
        (span.start, span.end)
        for span in spans
        if span.start is not None
        and span.end is not None
        and getattr(span, "offsets_into", "text") == name
    )


def marked(value: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the escaped text with these passages highlighted. If passages overlap, only the first
    is highlighted."""
    html, at = "", 0
    for start, end in spans:
        if at <= start < end <= len(value):
            inside = escape(value[start:end])
            html += f'{escape(value[at:start])}<mark style="{MARK}">{inside}</mark>'
            at = end
    return html + escape(value[at:])


def job_html(job: JobMessage) -> str:
    """Return a job as HTML: one line, and its result if it has one."""
    head = f"<p><code>{escape(job.id)}</code> {escape(job.metric)}: <b>{escape(job.status)}</b></p>"
    if isinstance(job.result, Shown):
        return head + html(job.result)
    problem = job.error
    if problem is None:
        return head
    return head + f"<p>{escape(str(problem.title))}: {escape(str(problem.detail))}</p>"


def scores_html(results: list[Any]) -> str:
    """Return the results as an HTML table, at most twenty rows."""
    rows = [
        (index, result.verdict, number(result.score), result.reason)
        if isinstance(result, Result)
        else (index, "error", "", str(result))
        for index, result in enumerate(results[:MOST_ROWS])
    ]
    more = len(results) - len(rows)
    rest = f"<p>… and {more} more</p>" if more else ""
    return table(("", "verdict", "score", "reason"), rows) + rest


def report_html(report: Report) -> str:
    """Return a report as HTML: counts, mean score, and the means of its components with
    intervals."""
    means = ((name, interval(mean)) for name, mean in part_means(report))
    rows = [("score", interval(report.score)), *means]
    rows = with_plain_names(report.metric, rows)
    counted = f"{report.scored} results, {report.undefined} undefined"
    sentence = getattr(report, "finding", "") or counted
    head = f"<p><b>{escape(report.metric)}</b>: {escape(sentence)}</p>"
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in report.warnings)
    ending = f"<ul>{warned}</ul>" if warned else ""
    without = table(("results without", "undefined", "does not apply"), parts_without(report))
    return head + table(("mean of", "value", PLAIN_NAME), rows) + without + ending


def part_means(report: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, mean) for each component of the score."""
    yield from ((name, part.mean) for name, part in (report.parts or {}).items())


def parts_without(report: Any) -> Iterator[tuple[str, int, int]]:
    """Yield (component, undefined, not applicable): how many results lack the component. Components
    that all results have are skipped."""
    for name, part in (getattr(report, "parts", None) or {}).items():
        if part.undefined or part.not_applicable:
            yield name, part.undefined, part.not_applicable


def comparison_html(comparison: models.SystemComparison) -> str:
    """Return a comparison as an HTML table, one row per difference."""
    rows = [
        (difference.component, interval(difference.difference), number(difference.p_value))
        for difference in comparison.differences
    ]
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in comparison.warnings)
    head = f"<p>{comparison.pairs} texts that both batches contain</p>"
    return head + table(("", "difference", "p"), rows) + (f"<ul>{warned}</ul>" if warned else "")


def table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Return an HTML table. All cells are escaped."""
    titles = "".join(f'<th style="{CELL}">{escape(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{titles}</tr>{body}</table>" if body else ""


def parts_of(message: Any) -> list[tuple[str, str]]:
    """Return the name and displayed value of each field of a message that is a number, a string, a
    boolean or None."""
    if not isinstance(message, BaseModel):
        return []
    return [
        (name, number(value))
        for name, value in message
        if value is None or isinstance(value, bool | int | float | str)
    ]


def with_plain_names(metric: str, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Append the readable name of the component to each row, or "" for a row without one."""
    names = NAMES.get(metric, {})
    return [
        (
            *row,
            names.get(str(row[0]).removeprefix("chance: ").partition(",")[0].replace(" ", "_"), ""),
        )
        for row in rows
    ]


def number(value: Any) -> str:
    """Return a number with three decimals, or a dash for None."""
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def interval(mean: Any) -> str:
    """Format a mean with its interval and its number of results."""
    value = getattr(mean, "value", None)
    low, high, of = (getattr(mean, name, None) for name in ("low", "high", "of"))
    bounds = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return f"{number(value)}{bounds}, n = {of}"
