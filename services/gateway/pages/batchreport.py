"""What the results of a batch say together, ready to be shown: on a page, or as one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError

from services.gateway.batch_views import batch_shown
from services.gateway.pages.batchtables import Table, tables_of
from services.gateway.pages.templating import STATIC, rendered
from services.registry import metrics, surprising_words
from shared.contracts import Interval
from shared.ledger.batches import Batch
from shared.ledger.items import Item

FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SHEETS = ("house.css", "batch.css")


@dataclass(frozen=True)
class Picture:
    """A plot of the report. source: where a browser finds it."""

    title: str
    source: str


@dataclass(frozen=True)
class Summary:
    """A finished report. range, direction: of the metric's score, where known."""

    score: Interval | None
    range: tuple[float, float] | None
    direction: str
    facts: list[tuple[str, Any]]
    warnings: list[str]
    tables: list[Table]
    pictures: list[Picture]


def summary_of(batch: Batch, report: dict[str, Any], *, inside: bool) -> Summary:
    """inside: the pictures stand in the page itself; else they have addresses of their own.

    A report of another version of the service is shown as it is.
    """
    room = metrics().get(batch.metric)
    fields = {} if room is None else room.report.model_fields
    bounds = fields["range"].default if "range" in fields else None
    return Summary(
        score=_score(report),
        range=bounds if isinstance(bounds, tuple) else None,
        direction=str(fields["direction"].default) if "direction" in fields else "",
        facts=_facts(report),
        warnings=[str(warning) for warning in report.get("warnings", ())],
        tables=_tables(batch, report),
        pictures=[
            Picture(plot["title"], _data(plot) if inside else _address(batch, plot))
            for plot in report.get("plots", ())
        ],
    )


def file_of(
    batch: Batch, report: dict[str, Any], items: Sequence[Item], reasons: dict[str, int]
) -> str:
    """The report as one HTML file: no script, nothing from outside, and no text of anybody's."""
    sheets = "\n".join((STATIC / name).read_text("utf-8") for name in SHEETS)
    return rendered(
        "batch_file.html",
        batch=batch_shown(batch),
        room=metrics().get(batch.metric),
        summary=summary_of(batch, report, inside=True),
        items=items,
        reasons=reasons,
        words=surprising_words(batch.metric),
        policy=FILE_POLICY,
        sheets=Markup(sheets),  # noqa: S704 (our own files)
    )


def _score(report: dict[str, Any]) -> Interval | None:
    try:
        return Interval.model_validate(report.get("score"))
    except ValidationError:
        return None


def _tables(batch: Batch, report: dict[str, Any]) -> list[Table]:
    metric = metrics().get(batch.metric)
    if metric is not None:
        try:
            return tables_of(metric.batch_report.model_validate(report))
        except ValidationError:
            pass
    return tables_of(report)


def _facts(report: dict[str, Any]) -> list[tuple[str, Any]]:
    named = {
        "results": "scored",
        "without a score": "undefined",
        "level of intervals": "confidence",
        "bootstrap resamples": "resamples",
        "seed": "seed",
        "version of the service": "service_version",
    }
    return [(words, report[name]) for words, name in named.items() if name in report]


def _address(batch: Batch, plot: dict[str, Any]) -> str:
    return f"/batches/{batch.id}/plots/{plot['name']}.svg"


def _data(plot: dict[str, Any]) -> str:
    encoded = base64.b64encode(plot["svg"].encode()).decode()
    return f"data:image/svg+xml;base64,{encoded}"
