"""Every operation of the API has a call of the client: all of them are called, and what they ask
for is held against the description. The service answers that nothing is there."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from services.gateway.openapi import operations, parameters_of
from tests.end_to_end.service import ROOT
from tests.gateway.results import recorded
from tests.sdk.recorded_service import RecordedService, recorded_service
from touchstone_client import Touchstone, TouchstoneError, models
from touchstone_client._sync.handles import Batch, Job
from touchstone_client._sync.resources import Pages
from touchstone_client._wire import METRICS, job_of

OTHERWISE = {"limit", "after", "order", "prefer", "id", "history"}  # or by other calls
HEALTH = {"get_health", "get_readiness"}  # of who runs the service: `touchstone doctor` asks
ID = "0" * 32
ARGUMENTS: dict[str, Any] = {
    "job_id": f"job_{ID}", "file_id": f"file_{ID}", "batch_id": f"batch_{ID}", "ids": ["job_1"],
    "endpoint_id": f"we_{ID}", "delivery_id": "msg_1", "queue_id": "rq_1", "judgement_id": "jd_1",
    "metric": "ice", "batch": f"batch_{ID}", "name": "mine", "verdict": "agree", "position": 1,
    "url": "https://receiver.test", "source": "elsewhere", "lines": [{"text": "a"}],
    "requests": [{"text": "a"}], "file": BytesIO(b"{}\n"), "a": f"batch_{ID}", "b": f"batch_{ID}",
    "data": [{"text": "a"}], "wait": 0, "metadata": {"user": "u17"},
}  # fmt: skip


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedService]:
    """Nothing that is asked for is there."""
    problem = {"type": "x/not-found", "title": "Not found", "status": 404, "detail": "no"}
    with recorded_service() as made:
        monkeypatch.setattr(made, "answer", lambda _: (404, json.dumps(problem).encode()))
        yield made


def calls(client: Touchstone) -> Iterator[Callable[..., Any]]:
    """Every public method of the client, of its resources, of a job and of a batch."""
    job = Job[Any](client._api, job_of(recorded("score_ice") | {"status": "queued"}))
    batch = Batch(client._api, recorded("get_batch") | {"status": "in_progress"})
    resources = [one for name, one in vars(client).items() if not name.startswith("_")]
    for one in (*resources, job, client):
        for name in dir(type(one)):
            made = getattr(one, name)
            if callable(made) and not name.startswith("_") and made != client.close:
                yield made
    for name in ("events", "report", "report_html", "items_csv", "cancel", "refresh"):
        yield getattr(batch, name)


def call(method: Callable[..., Any], folder: Path) -> None:
    """With what it needs; what it lists is asked for, too."""
    given: list[Any] = []
    named = {}
    for name, one in inspect.signature(method).parameters.items():
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD:
            value = folder / "target.jsonl" if name == "target" else ARGUMENTS[name]
            if one.kind is one.POSITIONAL_ONLY:
                given.append(value)
            else:
                named[name] = value
    with suppress(TouchstoneError):
        found = method(*given, **named)
        if isinstance(found, Iterator | Pages):
            next(iter(found), None)


def test_every_operation_has_its_call(service: RecordedService, tmp_path: Path) -> None:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    with Touchstone(service.url, patience=0) as client:
        for method in calls(client):
            call(method, tmp_path)
        with suppress(TouchstoneError):
            stored = models.StoredFile.model_validate(recorded("get_file"))
            client.batches.create(stored, "hatexscore")
        for metric in (*METRICS, "explanations", "inference", "similarity"):
            with suppress(TouchstoneError):
                client.jobs.create(metric, {"text": "a"})
            with suppress(TouchstoneError):
                client.jobs.create_many(metric, [{"text": "a"}])
            with suppress(TouchstoneError):
                client.reports.make(metric, jobs=["job_1"])
    asked = set(service.asked)
    missing = {
        one["operationId"]
        for path, methods in described["paths"].items()
        for method, one in methods.items()
        if not any(re.fullmatch(pattern(method, path), seen) for seen in asked)
    }
    assert missing == HEALTH


def test_lists_take_every_filter_of_the_api() -> None:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    with Touchstone("http://127.0.0.1:9") as client:
        lists: dict[str, Callable[..., Any]] = {
            "list_jobs": client.jobs.list,
            "list_batches": client.batches.list,
            "list_files": client.files.list,
            "list_judgements": client.judgements.list,
            "list_review_queues": client.review_queues.list,
            "list_webhook_endpoints": client.webhooks.list,
            "list_webhook_deliveries": client.webhooks.deliveries,
        }
    for _, operation in operations(described):
        if operation["operationId"] in lists:
            declared = {one["name"] for one in parameters_of(described, operation)}
            taken = set(inspect.signature(lists.pop(operation["operationId"])).parameters)
            assert declared - OTHERWISE == taken
    assert not lists


def test_filters_are_sent_as_the_api_reads_them() -> None:
    moment = datetime(2026, 11, 26, tzinfo=UTC)
    with recorded_service() as made, Touchstone(made.url) as client:
        list(client.jobs.list(created_after=moment, created_before=9, metadata={"user": "ü 17"}))
        list(client.batches.list(metadata={"a": "1", "b": "2"}))
    assert parse_qs(made.queries["GET /v1/jobs"]) == {
        "created_after": ["1795651200"],
        "created_before": ["9"],
        "metadata[user]": ["ü 17"],
        "limit": ["100"],
    }
    asked = {"metadata[a]": ["1"], "metadata[b]": ["2"], "limit": ["100"]}
    assert parse_qs(made.queries["GET /v1/batches"]) == asked


def test_what_is_listed_is_a_summary_with_the_fields_of_the_api() -> None:
    listed, whole = recorded("list_jobs"), recorded("get_job")
    facts = {"metric": "sor", "verdict": "holds_up", "score": 0.5, "decision": "illegal"}
    summary = listed["data"][0] | facts
    with recorded_service() as made, Touchstone(made.url) as client:
        made.changed["GET /v1/jobs"] = listed | {"data": [summary], "has_more": False}
        (job,) = client.jobs.list()
        for name, value in summary.items():
            assert name == "object" or getattr(job, name) == value, name
        assert job.result is None
        assert job.wait().score == whole["result"]["score"]  # which is fetched
        job = client.jobs.get(job.id)
    assert whole["request"]
    assert job.request == whole["request"]
    assert (job.verdict, job.score) == (whole["result"]["verdict"], whole["result"]["score"])


def test_a_misspelt_field_is_an_error_of_types(service: RecordedService) -> None:
    """mypy reports an ignored error that does not occur."""
    with Touchstone(service.url, patience=0) as client:
        with suppress(TouchstoneError):
            client.jobs.create("ftc", hypotheses="b")  # type: ignore[call-overload]
        with suppress(TouchstoneError):
            client.score("hatexscore", text="a", desicion="x")  # type: ignore[call-overload]


def pattern(method: str, path: str) -> str:
    """Of `GET /v1/jobs/ID`."""
    return f"{method.upper()} " + "[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path)))
