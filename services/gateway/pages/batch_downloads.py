"""Files that a batch's page offers for download: lines, report, and plots of the report. The lines
have the columns of the API's CSV report, followed by columns that only the page uses. A file with
texts has the request's fields instead of numeric results, and can be uploaded again."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from fastapi import Depends, Path, Request
from sqlalchemy import Connection, Engine
from starlette.responses import Response, StreamingResponse

from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_csv import (
    FIRST,
    LAST,
    cells_of,
    csv_field,
    encode_rows,
    number_columns,
    outcomes,
    result_names,
    warning_cells,
    why_none,
)
from services.gateway.pages.batch_report import FileSelection
from services.gateway.pages.batches import SELECTION_BYTES, SELECTION_FIELDS, get_batch
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import Pair, ResultQuery, query_to_take
from services.gateway.pages.saved_views import list_views
from services.gateway.pages.templates import FIELD, checked_form
from services.gateway.refusals import NoReport
from services.gateway.results import result_exports, result_pages
from services.gateway.results.result_exports import ExportedRow
from services.gateway.results.result_pages import ResultRow
from services.gateway.routes import batch_results
from services.gateway.routes import judgements as judgement_routes
from services.gateway.routes.batch_results import (
    find_plot,
    unknown_plot,
    view_report_job,
    write_facts,
)
from services.gateway.routes.batches import find_batch
from services.gateway.routes.files import get_file_content
from services.gateway.state import Gateway, State
from services.registry import contracts, metrics, reported, tag_words
from shared.contracts.checks import route_of
from shared.contracts.column_names import PARTS
from shared.contracts.errors import NotThere, UnknownFile
from shared.ledger import judgements
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction
from shared.ledger.jobs import Job, Owner
from shared.ledger.judgements import OPINIONS, JudgementFilter
from shared.ledger.keys import TENANT
from shared.reports.charts.engine import in_the_dark

LINES_AT_ONCE = 200
OF_TABLE = ("chance", "decision_sent", "decision_stated", "language", "model")
REASONS, CHECKS, MASKED = "reasons", "checks", "masked_text"
NAMES = {"sentence": "verdict_reason", "model": "judge_model"}  # of a row → in the file
IN_FRONT = (*FIRST, "verdict", "sentence")  # of a row
JUDGED = ("route", *OPINIONS, "tags")
TOLD = (*IN_FRONT, *OF_TABLE, "warnings")
MOST_IN_FILE = 1_000  # lines of a selection
router = page_router()
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
REPORT_SECONDS = 10  # that a download waits for a report which is still being made


@dataclass(frozen=True)
class ExportColumns:
    """The columns of a downloaded file: `numbers` are paths into a result, `keys` are metadata
    keys, and `texts` are fields of the request."""

    numbers: Sequence[tuple[str, ...]]
    keys: Sequence[str]
    texts: Sequence[str] = ()

    @property
    def header(self) -> list[str]:
        names = result_names(self.numbers)
        return [
            *(NAMES.get(name, name) for name in IN_FRONT),
            *self.texts,
            *names,
            *((CHECKS, MASKED) if self.texts else ()),
            *LAST,
            *(f"line.{name}" if name in names else NAMES.get(name, name) for name in OF_TABLE),
            REASONS,
            *JUDGED,
            *(f"metadata.{key}" for key in self.keys),
        ]

    def row(self, exported: ExportedRow, batch: Batch, words: Mapping[str, int]) -> list[str]:
        row, result = exported.row, exported.result or {}
        tags = (f"{word}: {count}" for word, count in words.items() if word not in OPINIONS)
        return [
            *(csv_field(getattr(row, name)) for name in IN_FRONT),
            *(csv_field(_text_of(exported, name)) for name in self.texts),
            *cells_of(result, self.numbers),
            *(
                (outcomes(result.get("checks") or ()), csv_field(result.get(MASKED)))
                if self.texts
                else ()
            ),
            *warning_cells(exported.result),
            csv_field(why_none(row.status, exported.error, batch)),
            *(csv_field(getattr(row, name)) for name in OF_TABLE),
            csv_field(" ".join(row.reasons)),
            csv_field(_route(row, batch)),
            *(csv_field(words.get(opinion)) for opinion in OPINIONS),
            csv_field("; ".join(tags)),
            *(csv_field(row.metadata.get(key)) for key in self.keys),
        ]


def _route(row: ResultRow, batch: Batch) -> str | None:
    """Return what to do with the explanation, or None without a metric's verdict."""
    return route_of(row.verdict, row.reasons) if batch.metric in metrics() else None


def _text_of(exported: ExportedRow, name: str) -> Any:
    """Return a field of the request, or a part of a field. Return None if it was not kept."""
    whole, _, part = name.partition(".")
    value = (exported.request or {}).get(whole)
    return value.get(part) if part and isinstance(value, dict) else None if part else value


def text_columns(batch: Batch) -> list[str]:
    """Return the request's fields that a file with texts contains, in the order of the form."""
    contract = metrics().get(batch.metric)
    if contract is None:
        return []
    fields = [field.name for field in contract.form]
    return [
        *fields,
        *(part for part in PARTS if part.partition(".")[0] in contract.request.model_fields),
    ]


def file_chunks(
    engine: Engine, batch: Batch, view: ResultQuery, ending: str, *, texts: bool = False
) -> Iterator[bytes]:
    """Yield the file of a batch's lines in pieces, in the order of the input. `ending` is `csv` or
    `jsonl`."""
    with transaction(engine) as connection:
        keys = result_pages.metadata_keys(connection, view.filter.batch_filter)
    columns = (
        ExportColumns((), list(keys), text_columns(batch))
        if texts
        else ExportColumns(number_columns(contracts().get(batch.metric)), list(keys))
    )
    tags = tag_words(batch.metric).values()
    if ending == "csv":
        yield encode_rows([columns.header])
    last = 0
    while True:
        with transaction(engine) as connection:
            some = result_exports.exported(connection, view.filter, last, LINES_AT_ONCE)
            ids = [one.row.job_id for one in some if one.row.job_id is not None]
            judged = judgements.count_by_job(connection, batch.tenant, ids, tags)
        if not some:
            return
        last = some[-1].row.line
        rows = [(one, judged.get(one.row.job_id or "", {})) for one in some]
        yield (
            encode_rows(columns.row(row, batch, words) for row, words in rows)
            if ending == "csv"
            else "".join(
                f"{json.dumps(_to_dict(row, batch, words, texts=texts))}\n" for row, words in rows
            ).encode()
        )


def _to_dict(
    exported: ExportedRow, batch: Batch, words: Mapping[str, int], *, texts: bool
) -> dict[str, Any]:
    row = exported.row
    return {
        "batch_id": batch.id,
        **{NAMES.get(name, name): getattr(row, name) for name in TOLD},
        "reasons": row.reasons,
        "route": _route(row, batch),
        "judgements": words,
        "metadata": row.metadata,
        **({"request": exported.request} if texts else {}),
        "result": exported.result,
        "error": exported.error,
    }


async def form_pairs(request: Request, caller: Viewer) -> list[Pair] | None:
    """Return the fields of a form that creates a report, or None for GET, which creates nothing.
    Raises Forbidden."""
    if request.method != "POST":
        return None
    check_scope(caller, "batch")
    form = await checked_form(request, limit=SELECTION_BYTES, fields=SELECTION_FIELDS)
    return [pair for pair in form.pairs if pair[0] != FIELD]


FormPairs = Annotated[list[Pair] | None, Depends(form_pairs)]


@router.api_route("/batches/{batch_id}/results.html", methods=["GET", "POST"])
async def results_html(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer, sent: FormPairs
) -> Response:
    """Return the selected lines and the report as one HTML file without users' texts. POST creates
    the report if there is none."""
    batch = await get_batch(batch_id, gateway, caller)
    pairs = request.query_params.multi_items() if sent is None else sent
    owner, create = caller.owner(gateway.settings), sent is not None
    return await lines_html(batch, pairs, gateway, owner, create=create)


async def lines_html(
    batch: Batch,
    pairs: Sequence[Pair],
    gateway: State,
    owner: Owner,
    *,
    create: bool,
    name: str = "",
    until: float | None = None,
) -> Response:
    """Return the lines that the parameters select as HTML. The file has a report only if they are
    all lines of the batch, because a mean over lines chosen by a filter would mislead. `name` and
    `until` are those of a shared link. Raises BadInput, NoReport."""
    view = query_to_take(batch, batch.tenant, pairs)
    await write_facts(gateway, batch)
    report: dict[str, Any] = {}
    if view.is_whole:
        job = await view_report_job(
            batch, gateway, owner, None, create=create, seconds=REPORT_SECONDS
        )
        report = _result(job)
    shown = FileSelection([chip.text for chip in view.chips], name, until)
    return await batch_results.as_html(batch, report, gateway, view.filter, MOST_IN_FILE, shown)


@router.get("/shared/{tenant}/{metric}/{token}.html")
async def shared_lines(
    tenant: Annotated[str, Path(pattern=f"^{TENANT.pattern}$")],
    metric: Annotated[str, Path(pattern="^[a-z0-9_-]+$")],
    token: Annotated[str, Path(pattern="^[0-9a-f]{32}$")],
    gateway: Gateway,
) -> Response:
    """Show the lines of a shared link to anybody who has the link. Raises NotThere if the link has
    expired or was deleted, and NoReport if it shows the whole batch and there is no report."""

    def read(connection: Connection) -> list[tuple[str, Any]]:
        links = list_views(connection, tenant, f"shared {metric}").items()
        return [link for link in links if hmac.compare_digest(link[1]["token"], token)]

    for name, link in await gateway.in_ledger(read):
        if time.time() < link["until"]:
            batch = await find_batch(link["batch"], gateway, tenant)
            owner = Owner(tenant, most_open=gateway.settings.open_jobs)
            pairs = parse_qsl(link["query"])
            response = await lines_html(
                batch, pairs, gateway, owner, create=False, name=name, until=link["until"]
            )
            response.headers["Content-Disposition"] = "inline"
            return response
    raise NotThere("This link has expired, or its owner has deleted it.")


@router.get("/batches/{batch_id}/results.{ending}")
async def batch_results_file(
    request: Request,
    batch_id: str,
    ending: Literal["jsonl", "csv"],
    gateway: Gateway,
    caller: Viewer,
    texts: Literal["", "1"] = "",
) -> Response:
    """Return the selected lines as a CSV or JSON Lines file. If no line is selected, the file has
    all lines that match the filters. `texts` is `1` to include the users' texts."""
    batch = await get_batch(batch_id, gateway, caller)
    batch_results.check_final(batch)
    await write_facts(gateway, batch)
    view = query_to_take(batch, batch.tenant, request.query_params.multi_items())
    pieces = file_chunks(gateway.engine, batch, view, ending, texts=bool(texts))
    kind = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}[ending]
    headers = batch_results.download_headers(f"{batch.id}-results.{ending}")
    return StreamingResponse(pieces, media_type=kind, headers=headers)


@router.get("/batches/{batch_id}/plots/{name}.svg")
async def batch_plot(
    batch_id: str,
    name: str,
    gateway: Gateway,
    caller: Viewer,
    theme: Literal["light", "dark"] = "light",
) -> Response:
    batch = await get_batch(batch_id, gateway, caller)
    contract = reported().get(batch.metric)
    drawn = () if contract is None else contract.batch_plots
    seconds = REPORT_SECONDS if name in drawn else 0
    try:
        owner = caller.owner(gateway.settings)
        job = await view_report_job(batch, gateway, owner, None, create=False, seconds=seconds)
        svg = find_plot(_result(job), name).svg
    except NoReport:
        if name in drawn:
            raise
        raise unknown_plot(name, drawn) from None
    return Response(
        in_the_dark(svg) if theme == "dark" else svg,
        media_type="image/svg+xml",
        headers={"Content-Security-Policy": PICTURE_POLICY},
    )


@router.api_route("/batches/{batch_id}/report.html", methods=["GET", "POST"])
async def batch_html(batch_id: str, gateway: Gateway, caller: Viewer, sent: FormPairs) -> Response:
    """Return the report as one HTML file. POST creates the report if there is none."""
    batch = await get_batch(batch_id, gateway, caller)
    owner, create = caller.owner(gateway.settings), sent is not None
    job = await view_report_job(batch, gateway, owner, None, create=create, seconds=REPORT_SECONDS)
    return await batch_results.as_html(batch, _result(job), gateway)


@router.get("/batches/{batch_id}/judgements.{form}")
async def batch_judgements_file(
    batch_id: str,
    form: Literal["jsonl", "csv", "label-studio"],
    gateway: Gateway,
    caller: Viewer,
    texts: Literal["", "1"] = "",
) -> Response:
    """Return all judgements of a batch's lines as a file, with the users' texts if `texts` is
    `1`."""
    batch = await get_batch(batch_id, gateway, caller)
    wanted = JudgementFilter(caller.tenant, batch_id=batch.id)
    return await judgement_routes.as_file(gateway, wanted, form, texts=bool(texts))


@router.get("/batches/{batch_id}/{kind}.jsonl")
async def batch_output(
    batch_id: str,
    kind: Literal["output", "errors"],
    gateway: Gateway,
    caller: Viewer,
) -> Response:
    """Return the batch's output file or error file unchanged."""
    batch = await get_batch(batch_id, gateway, caller)
    file_id = batch.output_file_id if kind == "output" else batch.error_file_id
    if file_id is None:
        raise UnknownFile(f"this batch has no file of {kind}")
    return await get_file_content(file_id, gateway, caller)


def _result(job: Job | None) -> dict[str, Any]:
    """Return the finished report. Raises NoReport."""
    if job is None:
        raise NoReport("these lines have no report yet. Create one on the page of the batch")
    if job.error is not None:
        raise NoReport(str(job.error.get("detail", "the report failed")))
    if job.result is None:
        raise NoReport("the report is still being made. Try again in a moment")
    return job.result
