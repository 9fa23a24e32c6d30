"""Secrets never reach the log, and what belongs to a request names it."""

from __future__ import annotations

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from shared.process.telemetry import of_request, request_id, without_secrets


@pytest.mark.parametrize(
    ("event", "secret"),
    [
        ({"url": "redis://:hunter2@localhost/0"}, "hunter2"),
        ({"detail": "cannot reach postgresql://me:hunter2@db:5432/x now"}, "hunter2"),
        ({"Authorization": "Bearer hunter2"}, "hunter2"),
        ({"password": "hunter2"}, "hunter2"),
    ],
)
def test_secrets_are_blotted_out(event: dict[str, str], secret: str) -> None:
    assert secret not in str(without_secrets(None, "info", event))


def test_other_text_stays() -> None:
    assert without_secrets(None, "info", {"event": "a@b", "n": 3}) == {"event": "a@b", "n": 3}


def test_what_belongs_to_a_request_says_so_in_the_log_and_in_the_span() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    with provider.get_tracer("test").start_as_current_span("work"), of_request("req_1"):
        assert request_id() == "req_1"
        assert structlog.contextvars.get_contextvars() == {"request_id": "req_1"}
    assert request_id() is None
    assert structlog.contextvars.get_contextvars() == {}
    (span,) = kept.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["touchstone.request_id"] == "req_1"
