"""One trace from the HTTP request to the model's worker, sent to a collector over OTLP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import serving
from tests.http_server import HttpServer
from tests.patience import SECONDS, eventually

pytestmark = pytest.mark.end_to_end

SERVICES = {
    "touchstone-gateway",
    "touchstone-worker-hatexscore",
    "touchstone-worker-inference",
}

Spans = list[tuple[str, Span]]  # with the name of the service


@pytest.fixture
def collector() -> Iterator[tuple[str, Spans]]:
    """An OTLP receiver over HTTP, and what it received."""
    spans: Spans = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            for resource in ExportTraceServiceRequest.FromString(raw).resource_spans:
                names = {a.key: a.value.string_value for a in resource.resource.attributes}
                for scope in resource.scope_spans:
                    spans.extend((names["service.name"], span) for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = HttpServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", spans
    server.shutdown()
    server.server_close()


def test_a_job_is_one_trace_and_holds_no_text(tmp_path: Path, collector: tuple[str, Spans]) -> None:
    url, spans = collector
    settings = {"TOUCHSTONE_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    body = {"text": "We lost the match", "explanation": '"lost the match" is no hate speech.'}
    options = ("--separate", "--services", "hatexscore", "inference")
    with (
        serving(tmp_path, *options, **settings) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
    ):
        job = finished(client, "/v1/scores/hatexscore", body)
        eventually(lambda: {name for name, _ in _trace_of(job["id"], spans)} >= SERVICES)
    found = _trace_of(job["id"], spans)  # stopped, every process has sent all that it had
    assert {name for name, _ in found} == SERVICES
    assert any(span.name == "score hatexscore" for _, span in found)
    assert any(span.name == "model.inference" for _, span in found)
    assert all("match" not in str(span) for _, span in spans)
    assert not any("healthz" in span.name or "readyz" in span.name for _, span in spans)


def _trace_of(job_id: str, spans: Spans) -> Spans:
    """The spans of the trace in which this job was scored."""
    traces = {
        span.trace_id
        for _, span in spans
        for attribute in span.attributes
        if attribute.value.string_value == job_id
    }
    return [(name, span) for name, span in spans if span.trace_id in traces]
