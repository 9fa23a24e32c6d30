"""Converts a score to the formats of other tools: OpenTelemetry log events, Langfuse scores,
Phoenix annotations.

The functions are pure. A `ScoreRecord` becomes one JSON object of the format, and one or more
objects form the body of a request. A record has only numbers, ids and the service's own words, so
no user's text is sent.

Sources: OpenTelemetry semantic-conventions-genai, `docs/gen-ai/gen-ai-events.md` (status
Development, read in November 2026) and OTLP 1.8 (JSON: ids in hex, 64-bit integers as strings);
Langfuse, "Scores via API/SDK" and "Scores data model"; Phoenix, `POST /v1/span_annotations`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from shared.contracts.messages import Trace, VerdictWord
from shared.process.settings import SERVICE_VERSION

PushFormat = Literal["otlp-logs", "langfuse-scores", "phoenix-annotations"]
EndpointFormat = Literal["standard-webhooks", "otlp-logs", "langfuse-scores", "phoenix-annotations"]
PUSH_FORMATS: tuple[PushFormat, ...] = get_args(PushFormat)
STANDARD: EndpointFormat = "standard-webhooks"
MOST_TOGETHER = 100  # scores of one request
NO_TRACE = Trace()
Json = dict[str, Any]

# names of OpenTelemetry's conventions
EVENT_NAME = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE_VALUE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
RESPONSE_ID = "gen_ai.response.id"
ERROR_TYPE = "error.type"
SEVERITY_INFO = 9


@dataclass(frozen=True)
class ScoreRecord:
    """One number to send and its subject. `score` is null if it is undefined or the job failed.

    `name` is `touchstone.` and the metric, and for a part of the score also `.` and the part's
    name. `line` is the number of the line in a batch, or 0 without a batch; equal lines share a
    job. `verdict` is null for a part and for a failed job. `facts` holds `metric_version`,
    `variant`, `model` and `chance`, unless they are null.
    """

    name: str
    job_id: str
    at: datetime
    line: int = 0
    trace: Trace = NO_TRACE
    score: float | None = None
    verdict: VerdictWord | None = None
    explanation: str = ""
    error_type: str | None = None  # slug of a failed job
    by_language_model: bool = False  # whether one judged
    facts: Mapping[str, str | float | None] = field(default_factory=dict)

    @property
    def label(self) -> VerdictWord | None:
        """Return the verdict, or `not_tested` if there is no verdict, no score and no error."""
        if self.verdict is None and self.error_type is None and self.score is None:
            return "not_tested"
        return self.verdict

    @property
    def ours(self) -> Json:
        """Return the job id, the facts and the verdict under the service's own names, without
        missing values."""
        properties = {"job_id": self.job_id, **self.facts, "verdict": self.verdict}
        return {name: value for name, value in properties.items() if value is not None}


@dataclass(frozen=True)
class ScoreFormat:
    """The format in which a destination accepts scores. `path` is appended to the endpoint's URL.
    `wants` lists fields of a trace; at least one of them is required. `together` is the maximum
    number of scores in one request."""

    path: str
    together: int
    wants: tuple[str, ...]
    item: Callable[[ScoreRecord], Json]
    body: Callable[[Sequence[str]], str]  # of items as JSON

    def supports(self, trace: Trace) -> bool:
        """Return True if the trace has the fields that this format needs."""
        return not self.wants or any(getattr(trace, name) for name in self.wants)

    def item_text(self, record: ScoreRecord) -> str:
        """Return the item as JSON text, as it is stored until it is sent."""
        return format_value(self.item(record))


def format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def log_record(record: ScoreRecord) -> Json:
    nanoseconds = str(int(record.at.timestamp() * 1_000_000) * 1_000)
    trace, ours = record.trace, record.facts
    attributes = {
        EVALUATION_NAME: record.name,
        SCORE_VALUE: record.score,
        SCORE_LABEL: record.label,
        EXPLANATION: record.explanation or None,
        RESPONSE_ID: None if trace.span_id else trace.response_id,
        ERROR_TYPE: record.error_type,
        "touchstone.job.id": record.job_id,
        "touchstone.metric.version": ours.get("metric_version"),
        "touchstone.variant": ours.get("variant"),
        "touchstone.model.name": ours.get("model"),
        "touchstone.chance": ours.get("chance"),
    }
    ids = {"traceId": trace.trace_id, "spanId": trace.span_id}
    return {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": SEVERITY_INFO,
        "severityText": "INFO",
        "eventName": EVENT_NAME,
        "attributes": [
            _attribute(key, item) for key, item in attributes.items() if item is not None
        ],
        **{name: value for name, value in ids.items() if value is not None},
    }


def _attribute(key: str, value: str | float) -> Json:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": key, "value": {kind: value}}


def logs_body(items: Sequence[str]) -> str:
    resource = [_attribute("service.name", "touchstone")]
    resource.append(_attribute("service.version", SERVICE_VERSION))
    scope = {"name": "touchstone", "version": SERVICE_VERSION}
    return (
        f'{{"resourceLogs":[{{"resource":{{"attributes":{format_value(resource)}}},'
        f'"scopeLogs":[{{"scope":{format_value(scope)},"logRecords":[{",".join(items)}]}}]}}]}}'
    )


def langfuse_score(record: ScoreRecord) -> Json:
    """Return the body of a Langfuse score. Its id depends only on the score, so sending it twice
    does no harm."""
    name = record.name if record.score is not None else f"{record.name}.status"
    status = "not_tested" if record.error_type is None else "failed"
    value: Json = {"value": status, "dataType": "CATEGORICAL"}
    if record.score is not None:
        value = {"value": record.score, "dataType": "NUMERIC"}
    line = f"-{record.line}" if record.line else ""
    trace = record.trace
    target = {"sessionId": trace.session_id}
    if trace.trace_id:
        target = {"traceId": trace.trace_id, "observationId": trace.span_id}
    optional = {"comment": record.explanation or None, **target}
    more = {} if record.error_type is None else {"error_type": record.error_type}
    return {
        "id": f"{record.job_id}{line}-{name}",
        "name": name,
        **value,
        **{key: value for key, value in optional.items() if value is not None},
        "metadata": record.ours | more,
    }


def phoenix_annotation(record: ScoreRecord) -> Json:
    """Return an annotation of a span. Phoenix updates an existing annotation with the same span,
    name and identifier."""
    label = "failed" if record.error_type is not None else record.label
    values = {"score": record.score, "label": label, "explanation": record.explanation or None}
    more = {} if record.error_type is None else {"error_type": record.error_type}
    return {
        "span_id": record.trace.span_id,
        "name": record.name,
        "annotator_kind": "LLM" if record.by_language_model else "CODE",
        "result": {name: value for name, value in values.items() if value is not None},
        "identifier": record.job_id,
        "metadata": record.ours | more,
    }


def _single(items: Sequence[str]) -> str:
    (item,) = items
    return item


FORMATS: Mapping[str, ScoreFormat] = {
    "otlp-logs": ScoreFormat("/v1/logs", MOST_TOGETHER, (), log_record, logs_body),
    "langfuse-scores": ScoreFormat(
        "/api/public/scores", 1, ("trace_id", "session_id"), langfuse_score, _single
    ),
    "phoenix-annotations": ScoreFormat(
        "/v1/span_annotations?sync=false",
        MOST_TOGETHER,
        ("span_id",),
        phoenix_annotation,
        lambda items: f'{{"data":[{",".join(items)}]}}',
    ),
}
JOINED = tuple(name for name, one in FORMATS.items() if one.together > 1)


def push_url(url: str, name: str) -> str:
    """Return the endpoint's URL with the format's path, which is appended unless it is present."""
    path, _, query = FORMATS[name].path.partition("?")
    base = url.rstrip("/").removesuffix(path)
    return f"{base}{path}?{query}" if query else base + path
