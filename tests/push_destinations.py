"""Destinations of pushed scores, as far as they refuse: by OpenTelemetry's own message classes, and
by the rules that Langfuse and Phoenix check a body by."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

from google.protobuf.json_format import Parse, ParseError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from tests.receivers import Received, Receiver

Json = dict[str, Any]
MOST = 100


class Closed(BaseModel):
    """No member that the destination does not know."""

    model_config = ConfigDict(extra="forbid")


class LangfuseScore(Closed):
    """The body of `POST /api/public/scores`."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    value: StrictFloat | str
    data_type: Literal["NUMERIC", "CATEGORICAL"]
    trace_id: str | None = None
    observation_id: str | None = None
    session_id: str | None = None
    comment: str | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.trace_id is None) == (self.session_id is None):
            raise ValueError("exactly one of traceId, sessionId")
        if self.observation_id is not None and self.trace_id is None:
            raise ValueError("observationId requires traceId")
        if isinstance(self.value, str) != (self.data_type == "CATEGORICAL"):
            raise ValueError("a number is numeric, a word is categorical")
        return self


class PhoenixResult(Closed):
    score: float | None = None
    label: str | None = None
    explanation: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.score is None and self.label is None and self.explanation is None:
            raise ValueError("score, label or explanation")
        return self


class PhoenixAnnotation(Closed):
    span_id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    annotator_kind: Literal["LLM", "CODE", "HUMAN"]
    result: PhoenixResult
    identifier: str
    metadata: dict[str, Any]


class PhoenixBody(Closed):
    """The body of `POST /v1/span_annotations`."""

    data: list[PhoenixAnnotation] = Field(min_length=1, max_length=MOST)


def logs_of(body: bytes) -> ExportLogsServiceRequest:
    """OTLP/JSON, read strictly. Raises ParseError, ValueError.

    It has ids in hex, where protobuf's own JSON has base64.
    """
    document = json.loads(body)
    for resource in document["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            for record in scope["logRecords"]:
                for name, length in (("traceId", 16), ("spanId", 8)):
                    if name in record:
                        raw = bytes.fromhex(record[name])
                        if len(raw) != length:
                            raise ValueError(f"{name} has {length} bytes")
                        record[name] = base64.b64encode(raw).decode()
    read: ExportLogsServiceRequest = Parse(
        json.dumps(document), ExportLogsServiceRequest(), ignore_unknown_fields=False
    )
    return read


PLACES: Mapping[str, tuple[str, Callable[[bytes], Any]]] = {
    "otlp-logs": ("/v1/logs", logs_of),
    "langfuse-scores": ("/api/public/scores", LangfuseScore.model_validate_json),
    "phoenix-annotations": ("/v1/span_annotations?sync=false", PhoenixBody.model_validate_json),
}


def destination(name: str, authorization: str | None = None) -> Receiver:
    """Answers as the tool of this format does: 401, 404 or 422 to what it does not take."""
    path, read = PLACES[name]

    def status(received: Received) -> int:
        if received.path != f"/hooks{path}":
            return 404
        if received.headers.get("authorization") != authorization:
            return 401
        try:
            read(received.body)
        except (ValidationError, ParseError, ValueError, KeyError):
            return 422
        return 200

    return Receiver(chooses=status)


def scores_of(name: str, received: Received) -> list[Json]:
    """The scores of a request: name, score, trace_id or session, span_id, label or words."""
    if name == "langfuse-scores":
        return [json.loads(received.body)]
    if name == "phoenix-annotations":
        found: list[Json] = json.loads(received.body)["data"]
        return found
    records = logs_of(received.body).resource_logs[0].scope_logs[0].log_records
    return [
        {one.key: one.value.string_value or one.value.double_value for one in record.attributes}
        | {"traceId": record.trace_id.hex(), "spanId": record.span_id.hex()}
        | {"event": record.event_name, "severity": record.severity_number}
        | {"nanoseconds": record.time_unix_nano}
        for record in records
    ]
