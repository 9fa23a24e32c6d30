"""The routes of /v1/files, which hold the input and output files of batches."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse
from sqlalchemy import Connection
from starlette.datastructures import FormData

from services.gateway import views
from services.gateway.auth import Batcher
from services.gateway.caller import Caller
from services.gateway.http_requests import (
    IdempotencyKey,
    ListedSlice,
    declared_bytes,
    file_in,
    form_of,
    key_of,
    list_json,
    missing,
    page_after,
    store_file,
)
from services.gateway.refusals import FileInUse
from services.gateway.state import Gateway, State
from services.gateway.views import Deleted, FileList, StoredFileSchema, file_json
from shared.contracts.errors import QuotaExceeded, UnknownFile
from shared.ledger import files
from shared.ledger.files import File, NewFile, Purpose
from shared.ledger.jobs import Owner, check_file_limit
from shared.ledger.request_keys import KeyReused

FILE_ID = re.compile(r"file_[0-9a-f]{32}")
LONGEST_NAME = 255
SHORTEST_TERM, LONGEST_TERM = 3_600, 2_592_000  # seconds
FORM: dict[str, Any] = {
    "type": "object",
    "required": ["purpose", "file"],
    "properties": {
        "purpose": {"type": "string", "enum": ["batch"]},
        "file": {"type": "string", "format": "binary", "description": "JSON Lines"},
        "expires_after[seconds]": {
            "type": "integer",
            "minimum": SHORTEST_TERM,
            "maximum": LONGEST_TERM,
        },
    },
}

router = APIRouter(prefix="/v1/files", tags=["files"])


def validate_id(file_id: str) -> str:
    """Return the id. Raises UnknownFile if it is not a valid file id."""
    if not FILE_ID.fullmatch(file_id):
        raise UnknownFile(f"there is no file {file_id[:64]!r}")
    return file_id


@router.post(
    "",
    operation_id="create_file",
    summary="Upload the input of a batch, up to 200 MB",
    response_model=None,
    responses={200: {"model": StoredFileSchema}, **views.error_responses(403, 413, 415, 422, 507)},
    openapi_extra={
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": FORM}}}
    },
)
async def create_file(
    request: Request,
    gateway: Gateway,
    caller: Batcher,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Stores a file, the input of a batch."""
    key = key_of(idempotency_key)
    limit, owner = most_bytes(gateway, caller), caller.owner(gateway.settings)
    declared = declared_bytes(request, limit=limit)
    await gateway.in_ledger(lambda connection: check_file_limit(connection, owner, declared))
    with gateway.spool.upload(caller, declared) as upload:
        form = await form_of(request, upload, limit=limit)
        try:
            if form.get("purpose") != "batch":
                raise missing("purpose", "must be `batch`")
            sent = file_in(form)
            new = NewFile(
                id=files.new_id(),
                purpose="batch",
                filename=(sent.filename or "input.jsonl").replace("\x00", "")[:LONGEST_NAME],
                bytes=0,
                kept_hours=gateway.settings.retention_hours,
                requested_seconds=_parse_expiration(form),
                tenant=owner.tenant,
                key=key,
            )
            file, replayed = await keep(sent.file, new, gateway, owner, limit)
        finally:
            await form.close()
    return JSONResponse(
        file_json(file), headers={"Idempotent-Replayed": "true"} if replayed else {}
    )


def most_bytes(gateway: State, caller: Caller) -> int:
    """Return the maximum size of a file in bytes."""
    most = gateway.settings.max_file_bytes
    return most if caller.key is None else min(most, gateway.settings.stored_bytes)


async def keep(
    content: BinaryIO, new: NewFile, gateway: State, owner: Owner, limit: int
) -> tuple[File, bool]:
    """Store a file and its database entry. Return it, and True if an earlier request with the same
    key created it. Raises FileStoreAway, QuotaExceeded, BodyTooLarge, and KeyReused if the key was
    used for another file."""
    size, sha256 = await gateway.file_store.call(
        store_file, content, gateway.files, new.id, limit=limit
    )

    def write(connection: Connection) -> File:
        existing = files.find_by_key(connection, owner.tenant, new.key)
        if existing is not None:
            if (existing.sha256, existing.filename) != (sha256, new.filename):
                raise KeyReused(
                    "this Idempotency-Key was already sent with another file; use a new key",
                    pointer="",
                )
            return existing
        check_file_limit(connection, owner, size)
        return files.insert_file(connection, replace(new, bytes=size, sha256=sha256))

    try:
        file = await gateway.in_ledger(write)
    except (QuotaExceeded, KeyReused):
        await gateway.file_store.remove(new.id)
        raise
    if replayed := file.id != new.id:
        await gateway.file_store.remove(new.id)
    return file, replayed


def _parse_expiration(form: FormData) -> int | None:
    """Return how many seconds the caller wants to keep the file, or None."""
    field = "expires_after[seconds]"
    value = form.get(field)
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        seconds = int(value)
        if SHORTEST_TERM <= seconds <= LONGEST_TERM:
            return seconds
    raise missing(field, f"must be an integer from {SHORTEST_TERM} to {LONGEST_TERM}")


@router.get(
    "",
    operation_id="list_files",
    summary="Files, newest first",
    response_model=None,
    responses={200: {"model": FileList}, **views.error_responses(403, 422)},
)
async def list_files(
    gateway: Gateway,
    caller: Batcher,
    listed: ListedSlice,
    purpose: Annotated[Purpose | None, Query()] = None,
    after: Annotated[str | None, page_after(FILE_ID)] = None,
) -> JSONResponse:
    """A page of files."""
    page = replace(listed, after=after, tenant=caller.tenant)
    rows, more = await gateway.in_ledger(
        lambda connection: files.page_of(connection, page, purpose=purpose)
    )
    return JSONResponse(list_json([file_json(file) for file in rows], has_more=more))


@router.get(
    "/{file_id}",
    operation_id="get_file",
    summary="A file, without its content",
    response_model=None,
    responses={200: {"model": StoredFileSchema}, **views.error_responses(403, 404)},
)
async def get_file(file_id: str, gateway: Gateway, caller: Batcher) -> JSONResponse:
    """The file with this id."""
    return JSONResponse(file_json(await find_file(file_id, gateway, caller.tenant)))


@router.get(
    "/{file_id}/content",
    operation_id="get_file_content",
    summary="The content of a file",
    response_model=None,
    responses={
        200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}},
        **views.error_responses(403, 404),
    },
)
async def get_file_content(file_id: str, gateway: Gateway, caller: Batcher) -> StreamingResponse:
    """The bytes of the file."""
    file = await find_file(file_id, gateway, caller.tenant)
    pieces = gateway.files.iter_chunks(file.id, size=file.bytes)
    first = await gateway.file_store.call(next, pieces, b"")  # an error is a 503, not a broken 200
    return StreamingResponse(
        gateway.file_store.iterate(chain([first], pieces)),
        media_type="application/jsonl",
        headers={
            "Content-Length": str(file.bytes),
            "Content-Disposition": f"attachment; filename*=utf-8''{quote(file.filename, safe='')}",
        },
    )


@router.delete(
    "/{file_id}",
    operation_id="delete_file",
    summary="Delete a file that no unfinished batch reads",
    response_model=None,
    responses={200: {"model": Deleted}, **views.error_responses(403, 404, 409)},
)
async def delete_file(file_id: str, gateway: Gateway, caller: Batcher) -> JSONResponse:
    """Deletes the file and its content."""
    file = await find_file(file_id, gateway, caller.tenant)
    if not await gateway.in_ledger(lambda connection: files.delete_unused(connection, [file.id])):
        raise FileInUse("an unfinished batch reads the file; cancel the batch, or wait for its end")
    await gateway.file_store.remove(file.id)
    return JSONResponse({"id": file.id, "object": "file", "deleted": True})


async def find_file(file_id: str, gateway: State, tenant: str) -> File:
    """Return the tenant's file. Raises UnknownFile."""
    return await gateway.in_ledger(
        lambda connection: files.find(connection, validate_id(file_id), tenant=tenant)
    )
