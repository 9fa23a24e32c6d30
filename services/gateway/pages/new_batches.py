"""Pages to create a batch from a table that is uploaded in the browser. The next page shows the
first rows, the mapping of columns to fields, the first requests, and errors by line. Nothing is
scored before that. The pages work without scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BytesIO
from typing import BinaryIO

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from services.gateway import http_requests
from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_input import BatchInput, make_batch
from services.gateway.caller import Caller
from services.gateway.pages import table_preview, templates
from services.gateway.pages.page_route import page_router
from services.gateway.pages.saved_views import LONGEST_NAME, is_name, list_views, save_view
from services.gateway.pages.templates import checked_form, page
from services.gateway.refusals import BodyTooLarge, InvalidBody
from services.gateway.routes import files as file_routes
from services.gateway.state import Gateway, State
from services.gateway.table_mapping import TableError
from services.registry import metrics
from shared.contracts.column_names import ID, PARTS
from shared.contracts.elicitation import is_needed
from shared.contracts.errors import BadInput, QuotaExceeded, UnknownFile
from shared.contracts.fields import field_paths
from shared.contracts.service import MetricContract
from shared.ledger import batches, files
from shared.ledger.files import File, NewFile
from shared.ledger.jobs import check_file_limit

PASTED_BYTES = 400_000
FORM_BYTES = 64_000
MOST_FIELDS = 500  # a box a column, a choice a field, one a cell that is mapped

router = page_router()


FIRST = "hatexscore"  # its default model is in the image, and its columns are two texts


@router.get("/batches/new")
async def new_batch(request: Request, caller: Viewer, metric: str = "") -> Response:
    """Show the form to choose a file or paste rows."""
    check_scope(caller, "batch")
    selected = metric if metric in metrics() else FIRST
    return page(
        request,
        "new_batch.html",
        metrics={name: metric.summary for name, metric in metrics().items()},
        metric=selected,
        rows="",
        wrong="",
    )


@router.post("/batches/new")
async def upload(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Store the file and show a preview. Raises InvalidBody, QuotaExceeded, BodyTooLarge."""
    check_scope(caller, "batch")
    limit, owner = file_routes.most_bytes(gateway, caller), caller.owner(gateway.settings)
    declared = http_requests.declared_bytes(request, limit=limit)
    await gateway.in_ledger(lambda connection: check_file_limit(connection, owner, declared))
    with gateway.spool.upload(caller, declared) as path:
        form = await http_requests.form_of(request, path, limit=limit, part_bytes=PASTED_BYTES)
        try:
            sent = {name: value for name, value in form.items() if isinstance(value, str)}
            templates.check_csrf(request, sent)
            contract = metric_named(sent.get("metric", ""))
            name, table = _table(form)
            digest = await run_in_threadpool(hashlib.file_digest, table, "sha256")  # type: ignore[arg-type]
            key = templates.once_key(sent, "file", f"{name} {digest.hexdigest()}")
            hours = gateway.settings.retention_hours
            new = NewFile(files.new_id(), "batch", name, 0, hours, owner.tenant, key)
            file, _ = await file_routes.keep(table, new, gateway, owner, limit)
        except (BadInput, BodyTooLarge, QuotaExceeded) as error:
            return page(
                request,
                "new_batch.html",
                error.status,
                metrics={name: metric.summary for name, metric in metrics().items()},
                metric=sent.get("metric", FIRST),
                rows=sent.get("rows", ""),
                wrong=error.detail,
            )
        finally:
            await form.close()
    return RedirectResponse(f"/batches/new/{file.id}?metric={contract.name}", 303)


def metric_named(name: str) -> MetricContract:
    contract = metrics().get(name)
    if contract is None:
        raise InvalidBody.at_root("choose the metric")
    return contract


def _table(form: FormData) -> tuple[str, BinaryIO]:
    """Return (name, binary file) of the uploaded file, or of the pasted rows if there is no file.
    Raises InvalidBody."""
    sent, pasted = form.get("file"), str(form.get("rows", ""))
    if isinstance(sent, UploadFile) and sent.filename:
        return sent.filename.replace("\0", "")[: file_routes.LONGEST_NAME], sent.file
    if pasted.strip():
        return "pasted.csv", BytesIO(pasted.replace("\r\n", "\n").encode("utf-8", "replace"))
    raise InvalidBody.at_root("choose a file, or paste rows")


@router.get("/batches/new/{file_id}")
async def preview(request: Request, file_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Show the first rows, the mapping of columns as select boxes, the first requests, and
    errors."""
    check_scope(caller, "batch")
    file = await _find_table(file_id, gateway, caller)
    return await _table_page(request, file, gateway, caller, request.query_params.multi_items())


async def _find_table(file_id: str, gateway: State, caller: Caller) -> File:
    """Return the uploaded table. Raises UnknownFile."""
    try:
        return await file_routes.find_file(file_id, gateway, caller.tenant)
    except UnknownFile:
        raise UnknownFile(
            "this table is gone: it has expired, or was deleted with one of its rows; upload it "
            "again to score it"
        ) from None


async def _table_page(
    request: Request,
    file: File,
    gateway: State,
    caller: Caller,
    sent: Sequence[tuple[str, str]],
    refused: TableError | None = None,
) -> Response:
    """Show the preview of a table. `refused` holds the errors if lines were rejected."""
    fields = dict(sent)
    contract = metric_named(fields.get("metric", ""))
    kind = f"columns {contract.name}"
    kept = await gateway.in_ledger(lambda one: list_views(one, caller.tenant, kind))
    each = await gateway.in_ledger(
        lambda one: batches.seconds_per_line(one, caller.tenant, contract.name)
    )
    if fields.get("saved") in kept:
        sent = [("metric", contract.name), *map(tuple, kept[fields["saved"]])]
    with gateway.previews.acquire(caller):
        seen = await gateway.file_store.call(
            table_preview.read_preview, gateway, file, contract, sent
        )
    if refused is not None and not seen.faults:
        seen.faults.add(refused)  # of a line behind those that were read for the page
    return page(
        request,
        "new_batch_table.html",
        422 if seen.faults and request.method == "POST" else 200,
        file=file,
        contract=contract,
        mapping=seen.mapping,
        seen=seen,
        plain=seen.plain,
        keep=fields.get("keep", ""),
        fields=_fields(contract),
        saved=sorted(kept),
        seconds=None if each is None else each * seen.lines,
    )


def _fields(contract: MetricContract) -> list[tuple[str, bool, tuple[str, ...]]]:
    """Return (field, True if required, choices) for each field that a column can fill. The id comes
    first, then required fields and those of the metric's form."""
    choices = {field.name: field.choices for field in contract.form}
    hidden = {"metadata", "context", "webhook", "trace", "accept_untrained_languages"}
    request = contract.request
    parts = [one for one in PARTS if one.partition(".")[0] in request.model_fields]
    known = dict.fromkeys((*field_paths(request), *parts), False)
    known |= {name: is_needed(request, name) for name in request.model_fields}
    needed = [name for name, one in known.items() if one or name in choices]
    rest = [name for name in known if name not in needed and name not in hidden]
    return [
        (ID, False, ()),
        *((name, known[name], choices.get(name, ())) for name in (*needed, *rest)),
    ]


@router.post("/batches/new/{file_id}")
async def score_table(request: Request, file_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Score the uploaded table with the settings in the form. If a line is invalid, score nothing
    and show the line."""
    check_scope(caller, "batch")
    file = await _find_table(file_id, gateway, caller)
    form = await checked_form(request, limit=FORM_BYTES, fields=MOST_FIELDS)
    sent = [(name, value) for name, value in form.pairs if name != templates.FIELD]
    contract = metric_named(form.get("metric", ""))
    name = form.get("keep", "").strip()
    if name and not is_name(name):
        raise InvalidBody.at_root(f"a mapping needs a name of at most {LONGEST_NAME} characters")
    if name:
        kept = [
            list(pair)
            for pair in sent
            if pair[1] and (pair[0][:2] in ("c.", "v.", "k.") or pair[0] == "m")
        ]
        kind = f"columns {contract.name}"
        await gateway.in_ledger(lambda one: save_view(one, caller.tenant, kind, name, kept))
    skips = request.query_params.get("faulty") == "skip"
    lines = table_preview.TableLines(gateway, file, contract, sent, skips)
    metadata = {"uploaded": file.filename[:200]}
    made = BatchInput(
        contract,
        lines.read(metadata),
        file.filename,
        metadata,
        caller.accepts_untrained_languages,
        table_preview.upload_key(file, sent, skips=skips),
    )
    try:
        batch = await make_batch(made, gateway, caller.owner(gateway.settings))
    except TableError as fault:
        return await _table_page(request, file, gateway, caller, sent, fault)
    if lines.is_private:
        await gateway.in_ledger(lambda connection: files.delete_unused(connection, [file.id]))
        await gateway.file_store.remove(file.id)
    return RedirectResponse(f"/batches/{batch.id}", 303)
