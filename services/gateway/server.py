"""Runs the gateway's HTTP server (uvicorn with limits), and the port for Prometheus."""

from __future__ import annotations

import resource
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import uvicorn
from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from sqlalchemy import Engine
from starlette.types import ASGIApp

from services.gateway.connections import SPARE, Limits, protocol
from services.gateway.http_requests import MAX_WAIT_SECONDS
from services.gateway.results import overview
from services.gateway.state import State
from shared.contracts.errors import Unavailable
from shared.ledger import batches, jobs
from shared.ledger.engine import transaction
from shared.process import telemetry
from shared.process.settings import Settings

OTHER_FILES = 256  # that a gateway holds open besides: ledger, broker, uploads, libraries

logger = telemetry.logger(__name__)


def config_of(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """Return uvicorn's configuration for this application."""
    limits = Limits(
        connections=connection_limit(settings.connections),
        proxies=settings.proxies,
    )
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=protocol(limits),
        ws="none",
        log_config=None,
        access_log=False,
        limit_concurrency=limits.connections + SPARE + 1,  # ours are the first to act
        timeout_graceful_shutdown=MAX_WAIT_SECONDS + 5,
    )


def connection_limit(connections: int) -> int:
    """Return `connections`, or fewer if the process may not open that many files. A few are
    reserved, so that health probes are always answered."""
    needed = connections + SPARE + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            connections = max(1, soft - SPARE - OTHER_FILES)
            logger.warning("gateway.few_files", open_files=soft, connections=connections)
    return connections


def start_metrics_server(app: FastAPI, host: str, port: int) -> ThreadingHTTPServer:
    """Serve the Prometheus counters on a separate port. Return the server, which the caller can
    shut down."""
    gateway: State = app.state.gateway

    class MetricsHandler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            is_metrics = self.path.partition("?")[0] == "/metrics"
            body = render_metrics(gateway.engine) if is_metrics else b"only /metrics is here\n"
            self.send_response(200 if is_metrics else 404)
            self.send_header("Content-Type", CONTENT_TYPE_LATEST if is_metrics else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing, since Prometheus sends requests frequently."""

    server = ThreadingHTTPServer((host, port), MetricsHandler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


def render_metrics(engine: Engine) -> bytes:
    """Return the counters in Prometheus's text format. This blocks the thread."""
    registry = CollectorRegistry()
    gauge = Gauge(
        "touchstone_jobs_open", "Jobs that have not ended", ["metric", "status"], registry=registry
    )
    oldest = Gauge(
        "touchstone_oldest_job_seconds",
        "Seconds that the oldest interactive job has been queued",
        ["metric"],
        registry=registry,
    )
    backlog = Gauge(
        "touchstone_backlog",
        "Unfinished jobs and batch lines, used for scaling workers",
        ["metric"],
        registry=registry,
    )
    waiting = Gauge(
        "touchstone_batches_waiting",
        "Unfinished batches whose next step waits for the file store or a model's folder",
        registry=registry,
    )
    try:
        with transaction(engine) as connection:
            backlogs = overview.backlog(connection)
            counts = jobs.open_counts(connection)
            waits = overview.oldest_seconds(connection)
            held_up = batches.count_waiting(connection)
    except Unavailable:  # the process's own counters are still worth a scrape
        backlogs, counts, waits, held_up = {}, {}, {}, 0
    for metric, count in backlogs.items():
        backlog.labels(metric).set(count)
    for metric, seconds in waits.items():
        oldest.labels(metric).set(seconds)
    waiting.set(held_up)
    for (metric, status), count in counts.items():
        gauge.labels(metric, status).set(count)
    return generate_latest() + generate_latest(registry)
