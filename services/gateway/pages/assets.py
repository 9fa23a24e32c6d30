"""Adds the static files and all HTML pages to the application."""

from __future__ import annotations

import os

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.gateway.pages import (
    batch_downloads,
    batches,
    compare,
    drift,
    home,
    jobs,
    login,
    new_batches,
    reference,
    review,
    reviewers,
    saved_views,
    score_again,
    texts,
    try_it,
)
from services.gateway.pages.page_route import PAGE_HEADERS, page_or_problem
from services.gateway.pages.templates import STATIC, asset, style_sheet

PARTS = (
    home,
    try_it,
    jobs,
    new_batches,
    score_again,
    batches,
    batch_downloads,
    saved_views,
    compare,
    review,
    reviewers,
    texts,
    drift,
    login,
    reference,
)
A_YEAR = "public, max-age=31536000, immutable"


class Assets(StaticFiles):
    """Static files whose address changes with their content, so that browsers can cache them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file. Browsers may cache it for a year if the address has the file's current
        version."""
        response = await super().get_response(path, scope)
        response.headers.update(PAGE_HEADERS)
        address = f"/static/{path}?{scope.get('query_string', b'').decode('latin-1')}"
        current = response.status_code == 200 and address == asset(path)
        response.headers["Cache-Control"] = A_YEAR if current else "no-cache"
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the path and status of a static file. The style sheet of a single metric is in the
        folder of the metric's service."""
        sheet = style_sheet(path)
        return super().lookup_path(path) if sheet is None else (str(sheet), sheet.stat())


def install(app: FastAPI) -> None:
    for part in PARTS:
        app.include_router(part.router)
    app.state.page_paths = {
        getattr(route, "path", "") for part in PARTS for route in part.router.routes
    }
    app.add_exception_handler(HTTPException, page_or_problem)
    app.mount("/static", Assets(directory=STATIC), name="static")
