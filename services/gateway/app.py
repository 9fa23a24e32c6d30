"""Creates the HTTP application of the gateway."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool

from services.gateway import openapi, refusals
from services.gateway.answer_headers import DefaultHeadersMiddleware, HeadMiddleware
from services.gateway.caller import (
    BULK_CALLS,
    PREVIEWS,
    STREAMS,
    ConcurrentLimiter,
    KeyCache,
    Limiter,
    RateLimitMiddleware,
    SessionStore,
)
from services.gateway.file_store_watch import FileStoreWatch
from services.gateway.http_requests import check_headers, check_query
from services.gateway.pages import assets as pages
from services.gateway.pages import guide
from services.gateway.request_limits import BodyTimeoutMiddleware, RequestLimitMiddleware
from services.gateway.request_record import RequestLogMiddleware
from services.gateway.routes import (
    batch_results,
    batches,
    bulk,
    events,
    files,
    health,
    jobs,
    judgements,
    review_queues,
    schemas,
    webhooks,
)
from services.gateway.site_security import SameOriginMiddleware
from services.gateway.spool import Spool
from services.gateway.state import JobWatcher, MessageSender, State, running
from shared.ledger.engine import connect, libpq_url
from shared.ledger.file_store import FileStore
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.reload import CatalogueReload
from shared.process.encryption import sealer_of
from shared.process.settings import SERVICE_VERSION, Settings
from shared.reports.charts.engine import painter

ROUTERS = (
    schemas.router,
    events.router,
    jobs.router,
    judgements.router,
    review_queues.router,
    files.router,
    batch_results.router,
    batches.router,
    webhooks.router,
    health.models_router,
    health.router,
)
LEDGER_CONNECTIONS = 20  # and as many again at peaks: no fewer than Starlette's 40 threads

DESCRIPTION = """\
Touchstone scores explanations: send a text and the explanation that a model gave for its
decision, and get a score with evidence, a chance baseline and an error bar.

A score measures an explanation. It is not legal compliance.
"""


def create_app(settings: Settings) -> FastAPI:
    """Create the gateway's HTTP application. Raises ValueError if the key for webhook secrets is
    not a Fernet key."""
    app = FastAPI(
        title="Touchstone",
        version=SERVICE_VERSION,
        summary="Scores explanations.",
        description=DESCRIPTION,
        lifespan=_lifespan,
        dependencies=[Depends(check_headers), Depends(check_query)],
        docs_url=None,  # they load scripts from elsewhere; `pages.reference` is our own
        redoc_url=None,
    )
    app.state.gateway = _state(settings)
    app.include_router(bulk.make_router())
    for router in ROUTERS:
        app.include_router(router)
    refusals.install(app)
    pages.install(app)
    guide.install(app)
    openapi.install(app)
    app.add_middleware(RateLimitMiddleware)
    app.add_middleware(SameOriginMiddleware, gateway=app.state.gateway)
    app.add_middleware(RequestLimitMiddleware)
    app.add_middleware(BodyTimeoutMiddleware)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(RequestLogMiddleware)
    app.add_middleware(DefaultHeadersMiddleware)
    return app


def _state(settings: Settings) -> State:
    database_url = settings.database_url.get_secret_value()
    engine = connect(database_url, pool_size=LEDGER_CONNECTIONS)
    store = FileStore(settings.files_url, engine)
    return State(
        settings=settings,
        engine=engine,
        catalogue=load_catalogue(settings.models_file),
        job_watcher=JobWatcher(libpq_url(database_url)),
        messages=MessageSender(),
        key_cache=KeyCache(settings),
        limiter=Limiter(settings),
        streams=ConcurrentLimiter(STREAMS),
        bulk_calls=ConcurrentLimiter(BULK_CALLS),
        previews=ConcurrentLimiter(PREVIEWS),
        sessions=SessionStore(settings),
        sealer=sealer_of(settings),
        files=store,
        file_store=FileStoreWatch(store),
        spool=Spool(settings),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    gateway: State = app.state.gateway
    reread = CatalogueReload(gateway.catalogue, gateway.settings.models_file)
    reread.start()
    if threading.current_thread() is threading.main_thread():
        reread.on_signal()
    with gateway.messages.run():
        async with (
            gateway.job_watcher.listen(),
            gateway.models.watch(gateway.served),
            running(gateway.file_store.run(), "file-store"),
        ):
            yield
    await run_in_threadpool(painter().close)
    await gateway.limiter.close()
    await gateway.sessions.close()
    gateway.engine.dispose()
