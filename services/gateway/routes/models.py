"""GET /v1/models: what a request may name."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from services.gateway.callers import Reader
from services.gateway.state import Gateway
from services.gateway.views import problems

router = APIRouter(tags=["models"])


@router.get(
    "/v1/models",
    operation_id="list_models",
    summary="The configured models",
    responses=problems(),
)
def list_models(gateway: Gateway, _caller: Reader) -> JSONResponse:
    """Name, kind, revision, file hash, languages, and what each can do."""
    cards = [card.model_dump(mode="json") for card in gateway.catalogue.describe()]
    return JSONResponse({"object": "list", "data": cards})
