"""The routes that show the health of the service, its Prometheus counters, and its models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from sqlalchemy import text
from starlette.concurrency import run_in_threadpool

from services.gateway.auth import Reader
from services.gateway.file_store_watch import READY
from services.gateway.http_requests import (
    AFTER,
    MOST_ON_A_PAGE,
    Limit,
    list_json,
)
from services.gateway.refusals import problem_response
from services.gateway.server import render_metrics
from services.gateway.state import Gateway, State, requires_key
from services.gateway.views import ALWAYS_SENT, ListPage, ProblemSchema, error_responses
from shared.contracts.errors import ModelState, NotThere, Unavailable
from shared.contracts.problems import make
from shared.models import server_records
from shared.models.catalogue.availability import Status, read_statuses
from shared.models.catalogue.catalogue import ModelCard
from shared.models.server_records import ServerAbilities, ServerRecord
from shared.queue import broker

router = APIRouter(tags=["health"])
models_router = APIRouter(tags=["models"])


class HealthSchema(BaseModel):
    """The process is alive."""

    model_config = ALWAYS_SENT

    status: Literal["ok"] = "ok"


class ReadinessSchema(HealthSchema):
    """The database and the queue respond."""

    ledger: Literal["ok"] = "ok"
    broker: Literal["ok"] = "ok"
    files: str = Field(
        default=READY,
        description="`ready`, or why the file store is unavailable; until it is available, "
        "batches wait and uploads are rejected",
    )
    workers: dict[str, str] = Field(
        description="service → `ready`, or why its jobs wait: its worker is starting or not running"
    )


class ModelSchema(ModelCard):
    """A model in OpenAI's format, with further fields and its state."""

    model_config = ALWAYS_SENT

    id: str = Field(description="the name that requests use for the model")
    object: Literal["model"] = "model"
    created: int = Field(
        description="time of the last change of the model's entry or files, unix seconds"
    )
    owned_by: str
    fault: str | None = Field(default=None, exclude=True)
    device: str
    dtype: str  # type: ignore[assignment]  # as it was placed
    state: ModelState | None = Field(
        description="the model's state in the worker where it is closest to ready; null if no "
        "worker reports it. `waiting`: for memory; `away`: its server cannot be reached; `absent`: "
        "no files; `failed`: its files cannot be used"
    )
    error: str | None = Field(description="why the model is not ready")
    since: int | None = Field(description="time at which this state began, unix seconds")
    bytes: int | None = Field(
        description="size of the model's files in bytes; null if no worker has loaded it"
    )
    memory: int | None = Field(
        description="estimated memory that the model needs, in bytes; null if no worker has "
        "loaded it"
    )
    server: ServerAbilities | None = Field(
        description="abilities of a model behind a server. A worker tests them daily, and after "
        "an answer that contradicts them; `checked_at` is the last time"
    )
    checked_at: int | None = Field(
        description="time of the last test, unix seconds; null if no server was tested"
    )


class ModelList(ListPage[ModelSchema]):
    """A page of models."""


@router.get(
    "/healthz",
    operation_id="get_health",
    summary="The process is alive",
    response_model=None,
    responses={200: {"model": HealthSchema}},
)
async def get_health() -> JSONResponse:
    """Checks this process only, and responds even under heavy load."""
    return JSONResponse({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="Database and queue can be reached",
    response_model=None,
    responses={200: {"model": ReadinessSchema}, 503: {"model": ProblemSchema}},
)
async def get_readiness(gateway: Gateway) -> JSONResponse:
    """Status 503 lists the stores that do not respond. `workers` shows if workers are ready; jobs
    are accepted without them. `files` says if batches wait for the file store."""
    away = []
    try:
        await gateway.in_ledger(lambda connection: connection.execute(text("SELECT 1")).all())
    except Unavailable:
        away.append("ledger")
    away += await run_in_threadpool(broker.brokers_away)
    if away:
        detail = f"cannot be reached: {', '.join(away)}"
        return problem_response(
            make("unavailable", "A part of the service is unavailable", 503, detail)
        )
    workers = dict(gateway.models.workers)
    return JSONResponse(
        {
            "status": "ok",
            "ledger": "ok",
            "broker": "ok",
            "files": gateway.file_store.state,
            "workers": workers,
        }
    )


@router.get("/metrics", operation_id="metrics", summary="Prometheus", include_in_schema=False)
async def metrics(gateway: Gateway) -> Response:
    """Return the Prometheus counters. Raises NotThere if counters are served on a separate port, or
    if API keys are required."""
    if gateway.settings.metrics_port is not None or await requires_key(gateway):
        raise NotThere("the counters are only available on TOUCHSTONE_METRICS_PORT")
    body = await run_in_threadpool(render_metrics, gateway.engine)
    return Response(body, media_type=CONTENT_TYPE_LATEST)


@models_router.get(
    "/v1/models",
    operation_id="list_models",
    summary="The configured models",
    response_model=None,
    responses={200: {"model": ModelList}, **error_responses(422)},
)
def list_models(
    request: Request,
    gateway: Gateway,
    _caller: Reader,
    id: Annotated[str | None, Query(description="only the model of this name")] = None,
    limit: Limit = MOST_ON_A_PAGE,
    after: Annotated[str | None, Query(description=AFTER)] = None,
) -> JSONResponse:
    """Returns each model's name, kind, revision, file hash, languages, abilities and state in
    OpenAI's list format (`id`, `object`, `created`, `owned_by`, then additional fields).

    `state` is that of the best worker with this model, with `error` and `since` (unix seconds).
    It is null if no worker reports one. Values: `ready`, `loading`, `waiting` (for memory),
    `downloading`, `away` (its server does not respond), `absent` (no files), `failed` (unusable
    files). New jobs of an `absent` or `failed` model are refused (422 `model-unusable`). Jobs
    of other models wait.

    `labels` are the names for requests. `mapping` has the model's `outputs` of each label. A
    label without outputs gets 1 minus the probability of the other label. `activation` says how
    outputs become probabilities. Both are null if the model's files are not on this disk.
    `warnings` are in every report of the model."""
    cards = sorted(_model_list(gateway), key=lambda card: str(card["id"]))
    rest = [card for card in cards if id in (None, card["id"]) and card["id"] > (after or "")]
    return JSONResponse(list_json(rest[:limit], has_more=len(rest) > limit))


def _model_list(gateway: State) -> list[dict[str, Any]]:
    states, servers = read_statuses(), server_records.read()
    loaded = {
        name: status.placement.sha256
        for name, status in states.items()
        if status.state == "ready" and status.placement and status.placement.sha256
    }
    return [
        {"id": card.name, "object": "model", "bytes": None, "memory": None}
        | card.model_dump(mode="json", exclude={"fault"})
        | _state(card, states.get(card.name))
        | _server(servers.get(card.name))
        for card in gateway.catalogue.describe(loaded)
    ]


def _state(card: ModelCard, status: Status | None) -> dict[str, Any]:
    if card.fault is not None:  # no worker will ever load it
        return {"state": "failed", "error": card.fault, "since": None}
    if status is None:
        return {"state": None, "error": None, "since": None}
    resolved = status.placement
    shown = {
        "state": status.state,
        "error": status.reason or None,
        "since": int(status.since),
    }
    if resolved is not None:
        shown |= {"device": resolved.device, "dtype": resolved.dtype}
        shown |= {"bytes": resolved.size, "memory": resolved.memory}
    return shown


def _server(record: ServerRecord | None) -> dict[str, Any]:
    if record is None:
        return {"server": None, "checked_at": None}
    return {"server": record.abilities.model_dump(mode="json"), "checked_at": int(record.at)}
