"""`do_not_store_text`: whatever the metric reports, no text of the request outlives the job."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select, text

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from shared.contracts.messages import Message, Trace
from shared.contracts.redaction import RUN, repeats, without_text
from shared.ledger import jobs, recovery
from shared.ledger.tables import metadata
from shared.worker.job import run_job
from tests.echo_metric import ECHO, EchoRequest, echo
from tests.flat_requests import flat_request
from tests.ledger import find_job

score = SERVICE.score

MINUTE = timedelta(minutes=1)
SECRET = "a sentence that nobody may find again"
SPAN = "b7ad6b7169203331"
KEPT = {"model", "variant", "seed", "metadata", "context", "webhook", "trace", "do_not_store_text"}


def accept(engine: Engine, content: str) -> str:
    request = EchoRequest(
        text=content, do_not_store_text=True, metadata={"a": "b"}, trace=Trace(span_id=SPAN)
    )
    with engine.begin() as connection:
        return jobs.accept(
            connection, "echo", request.model_dump(mode="json"), key=None, resend_after=MINUTE
        ).job.id


def everything(engine: Engine) -> str:
    """All that the ledger says, in one string."""
    tables = ("jobs", "idempotency_keys", "batches", "batch_lines", "files")
    with engine.connect() as connection:
        return "".join(
            str(row)
            for table in tables
            for row in connection.execute(select(metadata.tables[table]))
        )


def test_after_the_score_no_text_is_left(engine: Engine) -> None:
    job_id = accept(engine, SECRET)
    assert SECRET in everything(engine)
    run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert SECRET not in everything(engine)
    assert job.request["trace"]["span_id"] == SPAN
    assert job.result is not None
    assert (job.status, job.result["score"], job.result["metric"]) == ("succeeded", 1.0, "echo")
    assert (set(job.request), job.request["metadata"]) == (KEPT, {"a": "b"})


@pytest.mark.parametrize("content", ["bad", "crash"])
def test_after_a_failure_no_text_is_left_either(engine: Engine, content: str) -> None:
    job_id = accept(engine, content)
    run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert (job.status, set(job.request)) == ("failed", KEPT)


def test_after_a_cancellation_no_text_is_left(engine: Engine) -> None:
    job_id = accept(engine, SECRET)
    with engine.begin() as connection:
        jobs.cancel(connection, job_id)
    assert SECRET not in everything(engine)


def test_after_the_last_attempt_no_text_is_left(engine: Engine) -> None:
    accept(engine, SECRET)
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE jobs SET status = 'running', attempts = 3, lease_expires_at = '2020-01-01'"
            )
        )
        recovery.fail_exhausted(connection, max_attempts=3, error={"status": 503})
    assert SECRET not in everything(engine)


def test_who_does_not_ask_keeps_the_request(engine: Engine) -> None:
    request = EchoRequest(text=SECRET).model_dump(mode="json")
    with engine.begin() as connection:
        job_id = jobs.accept(connection, "echo", request, key=None, resend_after=MINUTE).job.id
    run_job(job_id, ECHO, echo)
    assert find_job(engine, job_id).request == request


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.usefixtures("_embedded_models")
@pytest.mark.parametrize("name", ["your own probabilities"])
def test_hatexscore_keeps_its_numbers_and_names(name: str) -> None:
    request = HatexscoreRequest.model_validate(CONTRACT.examples[name])
    full = score(request)
    kept = without_text(full, request)
    whole = full.model_dump(mode="json")
    for field in ("score", "components", "groups", "stated_decision", "language", "decision_match"):
        assert kept[field] == whole[field]
    assert kept["masked_text"] is None
    assert [quote["start"] for quote in kept["evidence"]] == [
        quote["start"] for quote in whole["evidence"]
    ]
    assert not any(repeats(leaf, [request.text, request.explanation_text]) for leaf in leaves(kept))
    CONTRACT.report.model_validate(kept)  # it is still a report


@pytest.mark.usefixtures("_embedded_models")
def test_no_word_of_the_callers_own_policy_stays() -> None:
    policy = {"Road Users": ["cyclists", "pedestrians"], "others": ["immigrants"]}
    example = dict(CONTRACT.examples["your own probabilities"])
    example["explanation"] = "It blames immigrants and cyclists. Conclusion: hateful."
    request = flat_request(HatexscoreRequest, example | {"policy": policy})
    full = score(request)
    assert {"immigrants", "cyclists"} & set(full.groups)  # or this shows nothing
    kept = without_text(full, request)
    said = json.dumps(kept).casefold()
    for category, terms in policy.items():
        assert not any(word.casefold() in said for word in (category, *terms))
    assert kept["score"] == full.score
    assert len(kept["evidence"]) == len(full.evidence)
    assert [len(terms) for terms in kept["provenance"]["parameters"]["policy"].values()] == [2, 1]
    CONTRACT.report.model_validate(kept)


class Quoting(Message):
    """A report that repeats the text in its warnings."""

    warnings: tuple[str, ...]


@given(sent=st.text(min_size=RUN + 1, max_size=60), before=st.text(max_size=9))
def test_a_warning_that_repeats_the_text_does_not_stay(sent: str, before: str) -> None:
    report = Quoting(warnings=(f"{before}{sent}", "no control"))
    kept = without_text(report, EchoRequest(text=sent))["warnings"]
    assert sent not in kept[0]
    assert kept[1] == "no control" or repeats("no control", [sent])
