"""What other tools are sent: as they take it, the same for the same record, and nothing made up."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.messages import Trace
from shared.ledger.score_formats import FORMATS, PUSH_FORMATS, ScoreRecord, push_url
from tests.push_destinations import LangfuseScore, PhoenixBody, logs_of

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TRACE = Trace(trace_id="0af7651916cd43dd8448eb211c80319c", span_id="b7ad6b7169203331")
WHOLE = ScoreRecord(
    name="touchstone.ice",
    job_id="job_1",
    at=NOON,
    trace=TRACE,
    score=0.25,
    verdict="not_tested",
    explanation="Chance would do as well.",
    facts={"metric_version": "1.0", "variant": "robust", "model": "m", "chance": 0.5},
)
records = st.builds(
    ScoreRecord,
    name=st.just("touchstone.ice"),
    job_id=st.uuids().map(lambda one: f"job_{one.hex}"),
    at=st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    line=st.integers(0, 50_000),
    trace=st.just(TRACE),
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    verdict=st.none() | st.just("holds_up"),
    explanation=st.sampled_from(["", 'A sentence: "one", \u2028 and another.']),
    error_type=st.none() | st.just("too-costly"),
    by_language_model=st.booleans(),
    facts=st.just(WHOLE.facts),
)


@given(st.lists(records, min_size=1, max_size=5))
def test_every_body_is_read_by_its_destination(some: list[ScoreRecord]) -> None:
    logs = logs_of(body("otlp-logs", some))
    assert len(logs.resource_logs[0].scope_logs[0].log_records) == len(some)
    for one in some:
        LangfuseScore.model_validate_json(body("langfuse-scores", [one]))
    assert len(PhoenixBody.model_validate_json(body("phoenix-annotations", some)).data) == len(some)


def body(name: str, some: list[ScoreRecord]) -> bytes:
    one = FORMATS[name]
    return one.body([one.item_text(record) for record in some]).encode()


def log_of(record: ScoreRecord) -> tuple[object, dict[str, object]]:
    (log,) = logs_of(body("otlp-logs", [record])).resource_logs[0].scope_logs[0].log_records
    values = {one.key: one.value for one in log.attributes}
    return log, {
        key: value.double_value if value.HasField("double_value") else value.string_value
        for key, value in values.items()
    }


def test_a_log_record_has_the_names_of_the_conventions() -> None:
    log, attributes = log_of(WHOLE)
    assert (log.event_name, log.severity_number) == ("gen_ai.evaluation.result", 9)  # type: ignore[attr-defined]
    assert log.trace_id.hex() == TRACE.trace_id  # type: ignore[attr-defined]
    assert log.span_id.hex() == TRACE.span_id  # type: ignore[attr-defined]
    assert log.time_unix_nano == NOON.timestamp() * 1_000_000_000  # type: ignore[attr-defined]
    assert attributes == {
        "gen_ai.evaluation.name": "touchstone.ice",
        "gen_ai.evaluation.score.value": 0.25,
        "gen_ai.evaluation.score.label": "not_tested",
        "gen_ai.evaluation.explanation": "Chance would do as well.",
        "touchstone.job.id": "job_1",
        "touchstone.metric.version": "1.0",
        "touchstone.variant": "robust",
        "touchstone.model.name": "m",
        "touchstone.chance": 0.5,
    }


def test_the_answer_is_named_by_its_id_where_no_span_is_known() -> None:
    for trace, named in (
        (Trace(response_id="r"), True),
        (Trace(response_id="r", span_id="a" * 16), False),
    ):
        _, attributes = log_of(replace(WHOLE, trace=trace))
        assert (attributes.get("gen_ai.response.id") == "r") is named


@pytest.mark.parametrize("error", [None, "too-costly"])
def test_what_is_undefined_is_no_number_anywhere(error: str | None) -> None:
    verdict = None if error else "not_tested"
    record = replace(WHOLE, score=None, verdict=verdict, error_type=error)  # type: ignore[arg-type]
    _, attributes = log_of(record)
    assert "gen_ai.evaluation.score.value" not in attributes
    assert attributes.get("error.type") == error
    assert attributes.get("gen_ai.evaluation.score.label") == verdict
    langfuse = json.loads(body("langfuse-scores", [record]))
    word = "not_tested" if error is None else "failed"
    assert (langfuse["name"], langfuse["value"]) == ("touchstone.ice.status", word)
    assert (langfuse["id"], langfuse["dataType"]) == ("job_1-touchstone.ice.status", "CATEGORICAL")
    (phoenix,) = json.loads(body("phoenix-annotations", [record]))["data"]
    assert phoenix["result"] == {"label": word, "explanation": "Chance would do as well."}


def test_a_session_is_the_target_only_where_there_is_no_trace() -> None:
    both = replace(WHOLE, trace=TRACE.model_copy(update={"session_id": "s"}))
    found = LangfuseScore.model_validate_json(body("langfuse-scores", [both]))
    assert (found.trace_id, found.observation_id) == (TRACE.trace_id, TRACE.span_id)
    alone = replace(WHOLE, trace=Trace(session_id="s", span_id="a" * 16))
    assert LangfuseScore.model_validate_json(body("langfuse-scores", [alone])).session_id == "s"


def test_lines_that_share_a_job_have_scores_of_their_own() -> None:
    ids = [
        json.loads(body("langfuse-scores", [replace(WHOLE, line=one)]))["id"] for one in (0, 1, 2)
    ]
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("trace", "takers"),
    [
        (Trace(), ["otlp-logs"]),
        (Trace(response_id="r"), ["otlp-logs"]),
        (Trace(session_id="s"), ["otlp-logs", "langfuse-scores"]),
        (Trace(trace_id="a" * 32), ["otlp-logs", "langfuse-scores"]),
        (Trace(span_id="a" * 16), ["otlp-logs", "phoenix-annotations"]),
        (TRACE, list(PUSH_FORMATS)),
    ],
)
def test_who_can_tell_what_was_evaluated(trace: Trace, takers: list[str]) -> None:
    assert [name for name in PUSH_FORMATS if FORMATS[name].supports(trace)] == takers


@pytest.mark.parametrize(
    "base", ["https://a.example", "https://a.example/", "https://a.example/v1/logs"]
)
def test_the_path_is_added_once(base: str) -> None:
    assert push_url(base, "otlp-logs") == "https://a.example/v1/logs"


def test_a_path_before_it_stays_and_a_query_comes_last() -> None:
    base = "https://a.example/s/tools/"
    assert push_url(base, "phoenix-annotations") == (
        "https://a.example/s/tools/v1/span_annotations?sync=false"
    )
