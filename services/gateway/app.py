"""The HTTP application, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from sqlalchemy import Engine
from starlette.types import Lifespan

from services.gateway import openapi, refusals
from services.gateway.hints import Hints
from services.gateway.routes import (
    batch_reports,
    batches,
    events,
    files,
    health,
    jobs,
    models,
    scores,
)
from services.gateway.state import State
from services.gateway.timing import Timing
from services.gateway.waiting import Finishes
from shared.catalogue import load_catalogue
from shared.files import FileStore
from shared.ledger.engine import connect, libpq_url
from shared.settings import Settings
from shared.version import SERVICE_VERSION

LEDGER_CONNECTIONS = 20  # and as many again at peaks: no fewer than Starlette's 40 threads

DESCRIPTION = """\
Touchstone scores explanations: send a text and the explanation that a model gave for its
decision, and get a score with evidence, a chance baseline and an error bar.

A score measures an explanation. It is not legal compliance.
"""


def create_app(settings: Settings) -> FastAPI:
    """The gateway for these settings."""
    database_url = settings.database_url.get_secret_value()
    engine = connect(database_url, pool_size=LEDGER_CONNECTIONS)
    finishes, hints = Finishes(libpq_url(database_url)), Hints()
    app = FastAPI(
        title="Touchstone",
        version=SERVICE_VERSION,
        summary="Scores explanations.",
        description=DESCRIPTION,
        lifespan=_lifespan(engine, finishes, hints),
    )
    app.state.gateway = State(
        settings=settings,
        engine=engine,
        catalogue=load_catalogue(settings.models_file),
        finishes=finishes,
        hints=hints,
        files=FileStore(settings.files_url),
    )
    app.include_router(scores.make_router())
    for routes in (events, jobs, files, batch_reports, batches, models, health):
        app.include_router(routes.router)
    app.add_api_route("/", lambda: RedirectResponse("/docs"), include_in_schema=False)
    refusals.install(app)
    openapi.install(app)
    app.add_middleware(Timing)
    return app


def _lifespan(engine: Engine, finishes: Finishes, hints: Hints) -> Lifespan[FastAPI]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with hints.sending():
            async with finishes.listening():
                yield
        engine.dispose()

    return lifespan
