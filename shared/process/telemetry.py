"""Logs, traces and Prometheus counters of a process.

Logs are one JSON object per line on stderr, for our events and those of libraries. Traces use
OpenTelemetry if `TOUCHSTONE_OTLP_ENDPOINT` is set. A trace begins with the HTTP request, travels in
the header of the queue message, and ends with the worker's job and its calls to models. A message
that the scheduler sends again begins a new trace. Spans carry ids and names, never texts. Counters
have base units and no ids or free text in labels. Requests are labelled by route, not by path.
"""

from __future__ import annotations

import logging
import logging.config
import re
import secrets
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import structlog
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind
from prometheus_client import Counter, Gauge, Histogram

from shared.process.settings import SERVICE_VERSION, settings, unknown_settings

CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")  # user:password@ of any URL
SECRETS = re.compile(r"(?:tsk_|whsec_)[A-Za-z0-9_+/=-]{8,}|(?<=[Bb]earer )[^\s,'\"]+")
SECRET_NAMES = frozenset({"authorization", "password", "secret", "api_key", "token"})

Event = MutableMapping[str, Any]


def without_secrets(_logger: Any, _method: str, event: Event) -> Event:
    """Mask fields with secret names, API keys, webhook secrets, and credentials in URLs."""
    for name, value in event.items():
        event[name] = "[redacted]" if name.lower() in SECRET_NAMES else _mask_value(value)
    return event


def _mask_value(value: Any) -> Any:
    if isinstance(value, str):
        return SECRETS.sub("[redacted]", CREDENTIALS.sub("[redacted]@", value))
    if isinstance(value, dict):
        return without_secrets(None, "", value.copy())
    if isinstance(value, (list, tuple)):
        return [_mask_value(item) for item in value]
    return value


def configure_logging(level: str, style: str) -> None:
    """Send everything that this process logs to stderr; `style` is `json` or `console`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(style, shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("httpx").setLevel("WARNING")  # no line per request
    processors = structlog.get_config()["processors"]  # shared by existing loggers
    processors[:] = [
        structlog.stdlib.filter_by_level,  # skip filtered events early
        *shared,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ]
    structlog.configure(
        processors=processors,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    for name, nearest in unknown_settings():
        logger(__name__).warning("setting.unknown", name=name, nearest=nearest)


def _formatter(
    style: str, shared: list[structlog.typing.Processor]
) -> structlog.stdlib.ProcessorFormatter:
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            without_secrets,
            renderer,
        ],
    )


def log_context(**fields: str) -> AbstractContextManager[None]:
    """Add these fields to all log lines of the block, including those of libraries."""
    return structlog.contextvars.bound_contextvars(**fields)


_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


def new_request_id() -> str:
    """Return `req_` and 32 hex digits."""
    return f"req_{secrets.token_hex(16)}"


def request_id() -> str | None:
    """Return the id of the request being answered, or of the request that created the running
    job."""
    return _request_id.get()


@contextmanager
def of_request(request_id: str | None) -> Iterator[None]:
    """Assign logs, traces and jobs in the block to this request. None means an unknown request."""
    if request_id is None:
        yield
        return
    trace.get_current_span().set_attribute("touchstone.request_id", request_id)
    token = _request_id.set(request_id)
    try:
        with log_context(request_id=request_id):
            yield
    finally:
        _request_id.reset(token)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a named logger, used as `logger(__name__).info("job.finished", job=…)`."""
    bound: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound


Carrier = Mapping[str, str]  # W3C trace context: `traceparent`

tracer = trace.get_tracer("touchstone", SERVICE_VERSION)


def configure_tracing(process: str) -> None:
    """Export the traces of this process. `process` is `gateway`, `scheduler`, or `worker-` followed
    by the worker's services."""
    endpoint = settings().otlp_endpoint
    if endpoint is None:
        return
    # load the exporter only if it is used
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = {"service.name": f"touchstone-{process}", "service.version": SERVICE_VERSION}
    provider = TracerProvider(resource=Resource.create(about))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)


def inject_trace() -> dict[str, str]:
    """Return the current trace for a message's header; empty without tracing."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


@contextmanager
def start_span(name: str, carrier: Carrier, **attributes: str | int) -> Iterator[None]:
    """Start a span that continues the trace of a message."""
    context = propagate.extract(carrier)
    with tracer.start_as_current_span(
        name, context=context, kind=SpanKind.CONSUMER, attributes=attributes
    ):
        yield


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300)

MODEL_READY = Gauge(  # `model` is a configured name: there are few
    "touchstone_model_ready", "1 if this process has the model loaded, or reaches it", ["model"]
)
FILE_STORE_READY = Gauge(
    "touchstone_file_store_ready",
    "1 if this process could reach the file store at its last attempt",
)
JOBS_ACCEPTED = Counter("touchstone_jobs_accepted_total", "Jobs committed", ["metric"])
JOBS_FINISHED = Counter(
    "touchstone_jobs_finished_total", "Jobs that reached a final state", ["metric", "status"]
)
JOBS_FENCED = Counter(
    "touchstone_jobs_fenced_total", "Results that came too late and were dropped", ["metric"]
)
JOBS_RESENT = Counter("touchstone_jobs_resent_total", "Messages sent again", ["metric"])
SCORE_SECONDS = Histogram(
    "touchstone_score_seconds",
    "Seconds from the start of a job to its result",
    ["metric"],
    buckets=SECONDS,
)
QUEUE_SECONDS = Histogram(
    "touchstone_queue_seconds",
    "Seconds from the acceptance of a job to its start",
    ["metric"],
    buckets=SECONDS,
)
BATCH_ERRORS = Counter(
    "touchstone_batch_errors_total",
    "Unexpected errors in one batch, by step",
    ["step"],
)
BATCHES_FAILED = Counter(
    "touchstone_batches_failed_total", "Batches that ended because of unexpected errors", ["step"]
)
WEBHOOK_ATTEMPTS = Counter(
    "touchstone_webhook_attempts_total",
    "Attempts to deliver a webhook, by outcome: arrived, again (a retry follows), failed, "
    "disabled, fenced (another scheduler took over)",
    ["outcome"],
)
WEBHOOK_SECONDS = Histogram(
    "touchstone_webhook_attempt_seconds",
    "Seconds of one attempt to deliver a webhook",
    buckets=SECONDS,
)
REQUEST_SECONDS = Histogram(
    "touchstone_http_request_seconds",
    "HTTP requests",
    ["method", "route", "status"],
    buckets=SECONDS,
)
HTTP_REFUSED = Counter(
    "touchstone_http_refused_total",
    "Refused early, by reason: connections beyond the limit (connections), late headers and bodies "
    "(head, body), input other than HTTP (syntax), too many requests at a time (busy), requests "
    "from other sites (site)",
    ["reason"],
)
