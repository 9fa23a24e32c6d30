"""Traces by OpenTelemetry, where `TOUCHSTONE_OTLP_ENDPOINT` says where to; else nothing happens.

A trace begins with the HTTP request, goes along in the header of the message to the queue, and
ends with the worker's job and its calls to models. A message that the scheduler sends again has
lost its trace and begins a new one. Spans carry ids and names, never texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind

from shared.settings import settings
from shared.version import SERVICE_VERSION

Carrier = Mapping[str, str]  # W3C trace context: `traceparent`

tracer = trace.get_tracer("touchstone", SERVICE_VERSION)


def configure(process: str) -> None:
    """Export what this process traces. `process`: gateway, scheduler, or a worker's rooms."""
    endpoint = settings().otlp_endpoint
    if endpoint is None:
        return
    # the exporter is loaded only where there is somebody to export to
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = {"service.name": f"touchstone-{process}", "service.version": SERVICE_VERSION}
    provider = TracerProvider(resource=Resource.create(about))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)


def carried() -> dict[str, str]:
    """The current trace, to go along with a message; empty where nothing is traced."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


@contextmanager
def continued(name: str, carrier: Carrier, **attributes: str | int) -> Iterator[None]:
    """A span that continues the trace of a message."""
    context = propagate.extract(carrier)
    with tracer.start_as_current_span(
        name, context=context, kind=SpanKind.CONSUMER, attributes=attributes
    ):
        yield
