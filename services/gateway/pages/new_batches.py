"""A new batch in the browser: of an uploaded table, or of lines of another batch.

An upload is kept as a file; the next page shows its first rows, how columns become fields, the
first requests and what is wrong by line, before anything is scored. It works without a script.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from services.gateway import http_requests
from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_input import BatchInput, Line, make_batch
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.other_metrics import request_for
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import ResultQuery, parse_query, query_to_take
from services.gateway.pages.saved_views import LONGEST_NAME, is_name
from services.gateway.pages.table_faults import TableFaults, named_fault, validation_error
from services.gateway.pages.templates import form_of, page
from services.gateway.refusals import BodyTooLarge, InvalidBody
from services.gateway.routes import files as file_routes
from services.gateway.routes.batch_results import write_facts
from services.gateway.routes.batches import find_batch
from services.gateway.state import Gateway, State
from services.gateway.table_mapping import (
    ID,
    Row,
    TableError,
    TableMapping,
    guess_columns,
    guess_metadata,
    pause_between,
    rows_of,
)
from services.registry import metrics
from shared.contracts import MOST_METADATA
from shared.elicitation import is_needed
from shared.errors import BadInput, QuotaExceeded, ScoringError
from shared.ledger import batches, files, result_pages, saved_views
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction
from shared.ledger.files import File, NewFile
from shared.ledger.jobs import check_file_limit
from shared.service_contract import MetricContract

SHOWN, REQUESTS = 20, 3
CHECK_SECONDS = 2.0
PASTED_BYTES = 400_000
LONGEST_REQUEST = 4_000  # characters that are shown
LONG_CELL = 40  # characters: longer ones are no label
MOST_VALUES = 8  # of a column whose cells are mapped one by one
AT_ONCE = 500
FORM_BYTES = 64_000

router = page_router()


@dataclass(frozen=True)
class TablePreview:
    """What would be scored. complete: whether every line was read.
    cells: of fields with choices, field → what the mapped column holds."""

    names: list[str]
    rows: list[list[str]]
    requests: list[str]
    faults: TableFaults
    lines: int
    complete: bool
    cells: dict[str, list[str]] = field(default_factory=dict)


FIRST = "hatexscore"  # its default model is in the image, and its columns are two texts


@router.get("/batches/new")
async def new_batch(request: Request, caller: Viewer, metric: str = "") -> Response:
    """Where a file is chosen, or rows are pasted."""
    check_scope(caller, "batch")
    chosen = metric if metric in metrics() else FIRST
    return page(
        request, "new_batch.html", metrics=list(metrics()), metric=chosen, rows="", wrong=""
    )


@router.post("/batches/new")
async def upload(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Keep the file, and show what it holds. Raises InvalidBody, QuotaExceeded, BodyTooLarge."""
    check_scope(caller, "batch")
    limit, owner = file_routes.most_bytes(gateway, caller), caller.owner(gateway.settings)
    declared = http_requests.declared_bytes(request, limit=limit)
    await gateway.in_ledger(lambda connection: check_file_limit(connection, owner, declared))
    with gateway.spool.upload(caller, declared) as place:
        form = await http_requests.form_of(
            request, gateway.spool.folder, place, limit=limit, part_bytes=PASTED_BYTES
        )
        try:
            sent = _words(form)
            templates.check_csrf(request, sent)
            contract = _metric(sent.get("metric", ""))
            file = await run_in_threadpool(_store_file, form, gateway, caller, limit)
        except (BadInput, BodyTooLarge, QuotaExceeded) as error:
            return _form_with_error(request, sent, error)
        finally:
            await form.close()
    return RedirectResponse(f"/batches/new/{file}?metric={contract.name}", 303)


def _form_with_error(request: Request, sent: Mapping[str, str], error: ScoringError) -> Response:
    """The form as it was filled; a browser lets nobody fill in the file."""
    return page(
        request,
        "new_batch.html",
        error.status,
        metrics=list(metrics()),
        metric=sent.get("metric", FIRST),
        rows=sent.get("rows", ""),
        wrong=error.detail,
    )


def _words(form: FormData) -> dict[str, str]:
    return {name: value for name, value in form.items() if isinstance(value, str)}


def _metric(name: str) -> MetricContract:
    contract = metrics().get(name)
    if contract is None:
        raise InvalidBody.at_root("choose the metric")
    return contract


def _store_file(form: FormData, gateway: State, caller: Caller, limit: int) -> str:
    """The id of the stored file. Blocks."""
    sent, pasted = form.get("file"), str(form.get("rows", ""))
    file_id = files.new_id()
    if isinstance(sent, UploadFile) and sent.filename:
        name = sent.filename
        size = http_requests.store_file(sent, gateway.files, file_id, limit=limit)
    elif pasted.strip():
        name, raw = "pasted.csv", pasted.replace("\r\n", "\n").encode("utf-8", "replace")
        with gateway.files.open_write(file_id) as stream:
            size = stream.write(raw)
    else:
        raise InvalidBody.at_root("choose a file, or paste rows")
    kept_for = files.max_age(None, gateway.settings.file_retention_hours)
    cut = name.replace("\0", "")[: file_routes.LONGEST_NAME]
    new = NewFile(file_id, "batch", cut, size, kept_for, caller.tenant)
    try:
        with transaction(gateway.engine) as connection:
            check_file_limit(connection, caller.owner(gateway.settings), size)
            files.insert_file(connection, new)
    except BaseException:
        gateway.files.remove(file_id)
        raise
    return file_id


@router.get("/batches/new/{file_id}")
async def preview(request: Request, file_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The first rows, the mapping as selects, the first requests, and what is wrong."""
    check_scope(caller, "batch")
    file = await _file(file_id, gateway, caller)
    return await _table_page(request, file, gateway, caller, request.query_params.multi_items())


async def _file(file_id: str, gateway: State, caller: Caller) -> File:
    """The tenant's file. Raises UnknownFile."""
    known = file_routes.validate_id(file_id)
    return await gateway.in_ledger(
        lambda connection: files.find(connection, known, tenant=caller.tenant)
    )


async def _table_page(
    request: Request, file: File, gateway: State, caller: Caller, sent: Sequence[tuple[str, str]]
) -> Response:
    chosen = dict(sent)
    contract = _metric(chosen.get("metric", ""))
    kind = f"columns {contract.name}"
    kept = await gateway.in_ledger(lambda one: saved_views.list_views(one, caller.tenant, kind))
    each = await gateway.in_ledger(
        lambda one: batches.seconds_per_line(one, caller.tenant, contract.name)
    )
    if chosen.get("saved") in kept:
        sent = [("metric", contract.name), *map(tuple, kept[chosen["saved"]])]
    with gateway.previews.acquire(caller):
        mapping, seen = await run_in_threadpool(_read_preview, gateway, file, contract, sent)
    return page(
        request,
        "new_batch_table.html",
        422 if seen.faults and request.method == "POST" else 200,
        file=file,
        contract=contract,
        mapping=mapping,
        seen=seen,
        fields=_fields(contract),
        saved=sorted(kept),
        seconds=None if each is None else each * seen.lines,
    )


def _fields(contract: MetricContract) -> list[tuple[str, bool, tuple[str, ...]]]:
    """(field, whether it is needed, its choices): those of the form first."""
    choices = {one.name: one.choices for one in contract.form}
    hidden = {"metadata", "context", "webhook", "trace", "accept_untrained_languages"}
    known = {name: is_needed(contract.request, name) for name in contract.request.model_fields}
    needed = [name for name, one in known.items() if one or name in choices]
    rest = [name for name in known if name not in needed and name not in hidden]
    return [
        (ID, False, ()),
        *((name, known[name], choices.get(name, ())) for name in (*needed, *rest)),
    ]


def _mapping_of(
    contract: MetricContract, names: Sequence[str], sent: Sequence[tuple[str, str]]
) -> TableMapping:
    """As the address or the form says; where it says nothing, guessed."""
    columns = {name[2:]: value for name, value in sent if name.startswith("c.") and value in names}
    metadata = [value for name, value in sent if name == "m" and value in names]
    if not any(name.startswith("c.") for name, _ in sent):
        columns = guess_columns(contract, names)
        metadata = metadata or guess_metadata(names)
    values: dict[str, dict[str, str]] = {}
    for name, value in sent:
        field_name, _, cell = name[2:].partition(".")
        if name.startswith("v.") and value and field_name in columns:
            values.setdefault(field_name, {})[cell] = value
    return TableMapping(columns, values, list(dict.fromkeys(metadata))[:MOST_METADATA])


def _read_preview(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[tuple[str, str]]
) -> tuple[TableMapping, TablePreview]:
    """Blocks, for two seconds at most; the rest of a large file is checked when it is sent."""
    until = time.monotonic() + CHECK_SECONDS
    seen = TableReader(contract, sent, gateway.settings.max_batch_lines)
    with gateway.files.open_read(file.id) as stream:
        try:
            for number, row in pause_between(rows_of(stream)):
                seen.add_row(number, row)
                if time.monotonic() > until:
                    seen.complete = False
                    break
        except TableError as fault:
            seen.faults.add(fault)
            seen.complete = False
    return seen.mapping, seen.preview


@dataclass
class TableReader:
    """What has been seen of a table's rows so far. sent: what the address or the form says."""

    contract: MetricContract
    sent: Sequence[tuple[str, str]]
    most_lines: int
    mapping: TableMapping = field(default_factory=lambda: TableMapping({}))
    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    cells: dict[str, dict[str, None]] = field(default_factory=dict)
    lines: int = 0
    complete: bool = True
    faults: TableFaults = field(init=False)

    def __post_init__(self) -> None:
        self.faults = TableFaults(self.contract)

    def add_row(self, number: int, row: Row) -> None:
        """One row more. Raises TableError."""
        if not self.lines:
            self.names = list(row)
            self.mapping = _mapping_of(self.contract, self.names, self.sent)
        self.lines += 1
        if self.lines > self.most_lines:
            raise TableError(number, f"a batch may have {self.most_lines:,} lines")
        if len(self.rows) < SHOWN:
            self.rows.append([_cut(row.get(name)) for name in self.names])
        self._collect_values(row)
        body = self.mapping.body(row, self.contract)
        if len(self.requests) < REQUESTS:
            told = json.dumps(body, ensure_ascii=False, indent=1)
            self.requests.append(_cut(told, LONGEST_REQUEST))
        self.faults.check_row(number, row, body, self.mapping)

    def _collect_values(self, row: Row) -> None:
        for one in self.contract.form:
            cell = row.get(self.mapping.columns.get(one.name, ""))
            seen = self.cells.setdefault(one.name, {})
            if one.choices and cell and len(seen) <= MOST_VALUES and len(str(cell)) < LONG_CELL:
                seen[str(cell)] = None

    @property
    def preview(self) -> TablePreview:
        told = {name: list(some) for name, some in self.cells.items() if len(some) <= MOST_VALUES}
        return TablePreview(
            self.names, self.rows, self.requests, self.faults, self.lines, self.complete, told
        )


def _cut(value: Any, most: int = 120) -> str:
    said = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return said if len(said) <= most else f"{said[:most]}…"


@router.post("/batches/new/{file_id}")
async def score_table(request: Request, file_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Score it; where a line is wrong, nothing is, and the page says which."""
    check_scope(caller, "batch")
    file = await _file(file_id, gateway, caller)
    form = await form_of(request, limit=FORM_BYTES, fields=200)
    templates.check_csrf(request, form)
    sent = [(name, value) for name, value in form.pairs if name != templates.FIELD]
    contract = _metric(form.get("metric", ""))
    name = form.get("keep", "").strip()
    if name and not is_name(name):
        raise InvalidBody.at_root(f"a mapping needs a name of at most {LONGEST_NAME} characters")
    if name:
        await _save_mapping(gateway, caller.tenant, contract, name, sent)
    private = PrivateLines(_lines(gateway, file, contract, sent))
    made = BatchInput(
        contract,
        private.lines(),
        file.filename,
        {"uploaded": file.filename[:200]},
        caller.accepts_untrained_languages,
    )
    try:
        batch = await make_batch(made, gateway, caller.owner(gateway.settings))
    except TableError:
        return await _table_page(request, file, gateway, caller, sent)
    if private.found:
        await _delete_file(gateway, file)
    return RedirectResponse(f"/batches/{batch.id}", 303)


async def _save_mapping(
    gateway: State,
    tenant: str,
    contract: MetricContract,
    name: str,
    sent: Sequence[tuple[str, str]],
) -> None:
    """The mapping. Raises QuotaExceeded."""
    kept = [list(pair) for pair in sent if pair[0][:2] in ("c.", "v.") or pair[0] == "m"]
    kind = f"columns {contract.name}"
    await gateway.in_ledger(lambda one: saved_views.save_view(one, tenant, kind, name, kept))


@dataclass
class PrivateLines:
    """The lines as they come; found: whether the texts of one must not be stored."""

    source: Iterator[Line]
    found: bool = False

    def lines(self) -> Iterator[Line]:
        for custom_id, body in self.source:
            self.found |= bool(body.get("do_not_store_text"))
            yield custom_id, body


async def _delete_file(gateway: State, file: File) -> None:
    """The table itself: the batch's own file goes when its texts must."""
    await gateway.in_ledger(lambda connection: files.delete_unused(connection, [file.id]))
    await run_in_threadpool(gateway.files.remove, file.id)


def _lines(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[tuple[str, str]]
) -> Iterator[Line]:
    """Raises TableError at the first line that is no request."""
    mapping: TableMapping | None = None
    with gateway.files.open_read(file.id) as stream:
        for count, (number, row) in enumerate(pause_between(rows_of(stream)), 1):
            mapping = mapping or _mapping_of(contract, list(row), sent)
            if count > gateway.settings.max_batch_lines:
                raise TableError(number, "a batch may not have so many lines")
            body = mapping.body(row, contract)
            if error := validation_error(contract, body):
                raise TableError(number, named_fault(error, body)[1])
            yield mapping.custom_id(row, count), body
    if mapping is None:
        raise TableError(1, "there is no row")


@router.get("/batches/{batch_id}/again")
async def choose_metric(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Under which metric and model the chosen lines are to be scored again."""
    check_scope(caller, "batch")
    batch = await find_batch(batch_id, gateway, caller.tenant)
    sent = request.query_params.multi_items()
    return await _choice(request, batch, gateway, [one for one in sent if one[0] != "metric"])


async def _choice(
    request: Request,
    batch: Batch,
    gateway: State,
    pairs: Sequence[tuple[str, str]],
    error: ScoringError | None = None,
) -> Response:
    """The form, as it was filled where it was refused."""
    await write_facts(gateway, batch)
    view = parse_query(batch, batch.tenant, pairs)
    count = await gateway.in_ledger(lambda one: result_pages.count_of(one, view.filter))
    names = [one.name for one in gateway.catalogue.entries if one.kind in ("classifier", "causal")]
    sent: Mapping[str, str] = getattr(request.state, "form", {})
    return page(
        request,
        "score_again.html",
        200 if error is None else error.status,
        batch=batch,
        query=urlencode(list(view.pairs)),
        count=count,
        metrics=list(metrics()),
        metric=sent.get("metric") or request.query_params.get("metric", batch.metric),
        models=names,
        model=sent.get("model", ""),
        wrong="" if error is None else error.detail,
    )


@router.post("/batches/{batch_id}/again")
async def score_selected(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    metric: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """A new batch of these lines. Raises BadInput where none of them can be scored so."""
    check_scope(caller, "batch")
    form = await form_of(request, limit=FORM_BYTES)
    templates.check_csrf(request, form)
    batch = await find_batch(batch_id, gateway, caller.tenant)
    await write_facts(gateway, batch)
    try:
        pairs = templates.pairs_of(form.get("query", ""))
    except ValueError:
        raise InvalidBody.at_root("the query of the lines cannot be read") from None
    view = query_to_take(batch, batch.tenant, pairs)
    target = _metric(form.get("metric", metric))
    lines = _selected_lines(gateway, batch, view, target, form.get("model") or None)
    about = {"scored_again": batch.id}
    accepts = caller.accepts_untrained_languages
    made = BatchInput(target, lines, f"{batch.id}.jsonl", about, accepts)
    try:
        new = await make_batch(made, gateway, caller.owner(gateway.settings))
    except (BadInput, BodyTooLarge, QuotaExceeded) as error:
        return await _choice(request, batch, gateway, pairs, error)
    return RedirectResponse(f"/batches/{new.id}", 303)


def _selected_lines(
    gateway: State, batch: Batch, view: ResultQuery, target: MetricContract, model: str | None
) -> Iterator[Line]:
    """The lines as requests of `target`; what lacks something is left out. Raises BadInput where
    nothing is left."""
    lacks, made, last = "", 0, 0
    while some := _requests(gateway, view, last):
        last = some[-1].line
        for one in pause_between(some):
            other = request_for(target, batch.metric, one.request, one.result, model)
            if other.body is None:
                lacks = lacks or other.lacks
            else:
                made += 1
                yield one.custom_id, other.body
    if not made:
        why = f"it {lacks}" if lacks else "no text of theirs is kept"
        raise BadInput(f"none of these lines can be scored by {target.name}: {why}")


def _requests(gateway: State, view: ResultQuery, after_line: int) -> list[result_pages.RequestRow]:
    with transaction(gateway.engine) as connection:
        return result_pages.requests_of(connection, view.filter, after_line, AT_ONCE)
