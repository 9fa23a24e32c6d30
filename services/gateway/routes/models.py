"""GET /v1/models: what a request may name."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from services.gateway.callers import Reader
from services.gateway.state import Gateway
from services.gateway.views import problems
from shared import model_board
from shared.model_board import Status

router = APIRouter(tags=["models"])


@router.get(
    "/v1/models",
    operation_id="list_models",
    summary="The configured models",
    responses=problems(),
)
def list_models(gateway: Gateway, _caller: Reader) -> JSONResponse:
    """Name, kind, revision, file hash, languages, what each can do, and how it is.

    `state`: `ready`, `loading` or `failed`, of the best worker that holds it, with `error` and
    `since` (unix seconds); null where no worker tells, as for servers and idle workers.
    """
    told = model_board.read()
    cards = [
        card.model_dump(mode="json") | _state(told.get(card.name))
        for card in gateway.catalogue.describe()
    ]
    return JSONResponse({"object": "list", "data": cards})


def _state(status: Status | None) -> dict[str, Any]:
    if status is None:
        return {"state": None, "error": None, "since": None}
    return {
        "state": status.state,
        "error": status.reason or None,
        "since": round(status.since, 3),
    }
