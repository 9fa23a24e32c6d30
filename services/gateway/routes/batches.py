"""The routes of /v1/batches. A batch is a file with many requests, in the OpenAI format."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints
from sqlalchemy import Connection

from services.gateway import http_requests, views
from services.gateway.auth import Batcher
from services.gateway.http_requests import (
    METADATA_PARAMETER,
    IdempotencyKey,
    ListedSlice,
    key_of,
    list_json,
    page_after,
)
from services.gateway.refusals import AlreadyFinal
from services.gateway.routes.files import FILE_ID
from services.gateway.state import Gateway, State
from services.gateway.views import BatchList, BatchSchema, batch_json
from services.registry import contracts
from shared.contracts.errors import BadInput, UnknownBatch, UnknownFile
from shared.contracts.messages import LanguageTag, Message, MetadataKey, MetadataValue
from shared.ledger import batches, files
from shared.ledger.batches import Batch, NewBatch

BATCH_ID = re.compile(r"batch_[0-9a-f]{32}")
REFUSED = views.error_responses(403, 409, 413, 415, 422)
router = APIRouter(prefix="/v1/batches", tags=["batches"])


class OutputExpiry(Message):
    """Expiry of the output and error files."""

    anchor: Literal["created_at"]
    seconds: int = Field(ge=3_600, le=2_592_000)


class BatchRequest(Message):
    input_file_id: Annotated[str, StringConstraints(pattern=f"^{FILE_ID.pattern}$")] = Field(
        description="id of a file of purpose `batch`, with one request per line"
    )
    endpoint: str = Field(
        description="the route that every line is sent to, as in /v1/scores/hatexscore",
        json_schema_extra={"enum": [*sorted(contract.path for contract in contracts().values())]},
    )
    completion_window: Literal["24h"] = "24h"
    metadata: dict[MetadataKey, MetadataValue] = Field(default_factory=dict, max_length=16)
    language: LanguageTag = Field(
        default="auto",
        description="language of lines that state none, BCP 47; `auto` identifies the language of "
        "each text. To score a file again in another language, create another batch from it",
    )
    output_expires_after: OutputExpiry | None = None


def validate_id(batch_id: str) -> str:
    """Return the id. Raises UnknownBatch if it is not a valid batch id."""
    if not BATCH_ID.fullmatch(batch_id):
        raise UnknownBatch(f"there is no batch {batch_id[:64]!r}")
    return batch_id


@router.post(
    "",
    operation_id="create_batch",
    summary="Score every line of a file",
    response_model=None,
    responses={200: views.schema_response("BatchSchema", "it", ["Location"]), **REFUSED},
    openapi_extra=views.body_schema(BatchRequest),
)
async def create_batch(
    request: Request,
    gateway: Gateway,
    caller: Batcher,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Creates a batch. The scheduler then validates its file."""
    body = await http_requests.parse(request, BatchRequest, limit=gateway.settings.max_body_bytes)
    by_path = {contract.path: contract for contract in contracts().values()}
    if body.endpoint not in by_path:
        offered = ", ".join(sorted(by_path))
        raise BadInput(f"`endpoint` must be one of {offered}", pointer="/endpoint")
    gateway.check_served(by_path[body.endpoint])
    expiry = body.output_expires_after
    new = NewBatch(
        metric=by_path[body.endpoint].name,
        endpoint=body.endpoint,
        input_file_id=body.input_file_id,
        metadata=body.metadata,
        output_seconds=None if expiry is None else expiry.seconds,
        expires_after=timedelta(hours=gateway.settings.batch_hours),
        tenant=caller.tenant,
        accept_untrained_languages=caller.accepts_untrained_languages,
        language=None if body.language == "auto" else body.language,
    )
    key, owner = key_of(idempotency_key), caller.owner(gateway.settings)

    def work(connection: Connection) -> tuple[Batch, bool]:
        check_input(connection, new.input_file_id, new.tenant)
        return batches.make(connection, new, key=key, owner=owner)

    batch, replayed = await gateway.in_ledger(work)
    headers = {"Location": f"/v1/batches/{batch.id}"}
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    return JSONResponse(batch_json(batch), headers=headers)


def check_input(connection: Connection, file_id: str, tenant: str) -> None:
    """Raises BadInput unless this is an input file. The file is kept until the batch has ended."""
    try:
        file = files.acquire_file(connection, file_id, tenant=tenant)
    except UnknownFile as error:
        raise BadInput(error.detail, pointer="/input_file_id") from None
    if file.purpose != "batch":
        raise BadInput(
            "the purpose of the file is not `batch`; upload it again with that purpose",
            pointer="/input_file_id",
        )


@router.get(
    "",
    operation_id="list_batches",
    summary="Batches, newest first",
    response_model=None,
    responses={200: {"model": BatchList}, **views.error_responses(403, 422)},
    openapi_extra={"parameters": [METADATA_PARAMETER]},
)
async def list_batches(
    gateway: Gateway,
    caller: Batcher,
    listed: ListedSlice,
    after: Annotated[str | None, page_after(BATCH_ID)] = None,
) -> JSONResponse:
    """A page of batches."""
    page = replace(listed, after=after, tenant=caller.tenant)
    rows, more = await gateway.in_ledger(lambda connection: batches.page_of(connection, page))
    return JSONResponse(list_json([batch_json(batch) for batch in rows], has_more=more))


@router.get(
    "/{batch_id}",
    operation_id="get_batch",
    summary="A batch with its state, counts and files",
    response_model=None,
    responses={
        200: views.schema_response("BatchSchema", "it", ["Retry-After"]),
        **views.error_responses(403, 404),
    },
)
async def get_batch(batch_id: str, gateway: Gateway, caller: Batcher) -> JSONResponse:
    """The batch with this id."""
    batch = await find_batch(batch_id, gateway, caller.tenant)
    return JSONResponse(batch_json(batch), headers={} if batch.is_final else {"Retry-After": "2"})


@router.post(
    "/{batch_id}/cancel",
    operation_id="cancel_batch",
    summary="Cancel an open batch",
    response_model=None,
    responses={200: {"model": BatchSchema}, **views.error_responses(403, 404, 409)},
)
async def cancel_batch(batch_id: str, gateway: Gateway, caller: Batcher) -> JSONResponse:
    """Cancels the batch; cancelling twice changes nothing. Lines may run for ten more minutes. The
    output file has all results."""
    batch = await gateway.in_ledger(
        lambda connection: batches.cancel(connection, validate_id(batch_id), tenant=caller.tenant)
    )
    if batch.status not in ("cancelling", "cancelled"):
        raise AlreadyFinal(f"the batch is {batch.status}")
    return JSONResponse(batch_json(batch))


async def find_batch(batch_id: str, gateway: State, tenant: str) -> Batch:
    """Return the batch with this id. Raises UnknownBatch."""
    return await gateway.in_ledger(
        lambda connection: batches.find(connection, validate_id(batch_id), tenant=tenant)
    )
