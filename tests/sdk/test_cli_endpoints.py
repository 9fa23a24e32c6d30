"""`touchstone webhooks`, `judgements`, `doctor`, and what is shown of an elicited answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.results import recorded
from tests.sdk.recorded_service import RecordedService, recorded_service
from touchstone_client.cli.main import main
from touchstone_client.cli.output import WRONG

ENDPOINT = f"we_{'0' * 32}"
PUSH = ["webhooks", "create", "https://langfuse.test", "--format", "langfuse-scores"]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedService]:
    with recorded_service() as made:
        monkeypatch.setenv("TOUCHSTONE_URL", made.url)
        yield made


def sent(service: RecordedService, operation: str) -> Any:
    return json.loads(service.sent[operation])


def test_scores_are_pushed_to_where_people_look(service: RecordedService, tmp_path: Path) -> None:
    (tmp_path / "header").write_text("Basic cHVibGljOnNlY3JldA==\n", "utf-8")
    more = ["--authorization", f"@{tmp_path / 'header'}", "--sample", "0.1", "--parts"]
    assert main([*PUSH, *more, "--metric", "ice", "--metric", "haf"]) == 0
    assert sent(service, "POST /v1/webhook-endpoints") == {
        "url": "https://langfuse.test",
        "events": [],
        "description": "",
        "format": "langfuse-scores",
        "authorization": "Basic cHVibGljOnNlY3JldA==",
        "sample": 0.1,
        "parts": True,
        "metrics": ["ice", "haf"],
    }


def test_of_a_push_nothing_is_sent_that_was_not_said(service: RecordedService) -> None:
    assert main(PUSH) == 0
    body = sent(service, "POST /v1/webhook-endpoints")
    assert body.keys() == {"url", "events", "description", "format"}
    assert main([*PUSH, "--sample", "0"]) == 0, "the service refuses it, not a client that drops it"
    assert sent(service, "POST /v1/webhook-endpoints")["sample"] == 0


@pytest.mark.parametrize("option", [["--sample", "0.5"], ["--parts"], ["--metric", "ice"]])
def test_what_is_of_a_push_needs_its_format(
    service: RecordedService, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["webhooks", "create", "https://receiver.test", *option]) == WRONG
    assert "add --format" in capsys.readouterr().err
    assert service.asked == []


@pytest.mark.parametrize(("action", "is_on"), [("enable", True), ("disable", False)])
def test_an_endpoint_is_switched(
    service: RecordedService, action: str, is_on: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    operation = "PATCH /v1/webhook-endpoints/ID"
    answer = recorded("change_webhook_endpoint") | {"enabled": is_on}
    service.changed[operation] = answer
    assert main(["webhooks", action, ENDPOINT]) == 0
    assert sent(service, operation) == {"enabled": is_on}
    assert capsys.readouterr().out.split()[-1] == ("on" if is_on else "off")


def test_an_endpoint_is_forgotten(service: RecordedService) -> None:
    service.changed["DELETE /v1/webhook-endpoints/ID"] = b""
    assert main(["webhooks", "delete", ENDPOINT]) == 0
    assert service.asked == ["DELETE /v1/webhook-endpoints/ID"]


def test_judgements_are_taken_in_as_they_lie(
    service: RecordedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "judged.jsonl"
    file.write_bytes(b'{"job_id": "job_1", "reviewer": "ann", "verdict": "agree"}\n')
    operation = "POST /v1/judgements"
    service.changed[operation] = {"object": "judgement_import", "imported": 1, "unchanged": 0}
    assert main(["judgements", "import", str(file), "--source", "label-studio"]) == 0
    assert service.sent[operation] == file.read_bytes()
    assert "1 imported" in capsys.readouterr().out


def test_an_elicited_answer_is_shown_with_what_scores_it(
    service: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    job = recorded("ask_explanations")
    service.changed["GET /v1/jobs/ID"] = job
    assert main(["get", job["id"]]) == 0
    said = capsys.readouterr().out
    assert job["result"]["elicitation"]["explanation"] in said
    for one in job["result"]["scores"]:
        assert re.search(rf"^{one['metric']} +{one['verdict']} +", said, re.MULTILINE)


def test_what_is_no_metric_has_an_example_as_well(
    service: RecordedService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", "explanations"]) == 0
    assert "touchstone score explanations -" in capsys.readouterr().out
    assert main(["metrics", "nobodys"]) == WRONG


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        ("ready", 0, "workers: ready: ftc, ice"),
        ("its worker is loading a model", 0, "worker of ice: its worker is loading"),
        ("no worker", 1, "worker of ice: no worker (jobs of ice are waiting"),
    ],
)
def test_the_doctor_sees_whether_workers_are_alive(
    service: RecordedService, state: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    workers = {"workers": {"ftc": "ready", "ice": state}}
    service.changed["GET /readyz"] = recorded("get_readiness") | workers
    service.changed["GET /v1/jobs"] = {"object": "list", "data": [], "has_more": False}
    service.changed["GET /v1/files/ID/content"] = b"{}\n"
    deleted = {"id": "file_1", "object": "file", "deleted": True}
    service.changed["DELETE /v1/files/ID"] = deleted
    assert main(["doctor"]) == code
    assert said in capsys.readouterr().out
