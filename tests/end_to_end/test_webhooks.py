"""The whole service with keys: every end is told to its tenant, though the scheduler is killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.answers import CheckedClient
from tests.end_to_end.keys import opened
from tests.end_to_end.load import PATIENCE_SECONDS, examples, submit
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS, eventually
from tests.receivers import Receiver, receiving

JOBS = 60

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("webhooks")
    settings = {"ALLOW": '["127.0.0.1/32"]', "SECONDS": "20"}
    chosen = {f"TOUCHSTONE_WEBHOOK_{name}": value for name, value in settings.items()}
    with serving(folder, "--services", "hatexscore", "inference", **chosen) as running:
        yield running


def until_told(receiver: Receiver, number: int) -> None:
    eventually(
        lambda: len(set(receiver.ids)) >= number,
        lambda: len(receiver.received),
        seconds=PATIENCE_SECONDS,
    )


def test_every_end_is_told_once_though_the_scheduler_is_killed(service: Service) -> None:
    mine, other = opened(service, "a", "admin"), opened(service, "b", "admin")
    flaky = Receiver(before=lambda _: time.sleep(0.02))
    with mine, other, receiving(flaky) as receiver:
        endpoint = mine.post("/v1/webhook-endpoints", json={"url": receiver.url}).json()
        bodies = examples()
        ids = [submit(mine, bodies[number % len(bodies)]) for number in range(JOBS)]
        for number in range(5):
            submit(other, bodies[number])
        until_told(receiver, 10)
        service.kill("services.scheduler")
        until_told(receiver, JOBS)
        ended = {job_id: mine.get(f"/v1/jobs/{job_id}").json() for job_id in ids}
    told: dict[str, dict[str, Any]] = {}
    for got in receiver.received:
        payload = Webhook(endpoint["secret"]).verify(got.body, got.headers)
        message = got.headers["webhook-id"]
        assert told.setdefault(message, payload) == payload  # again, perhaps; never otherwise
    assert {payload["data"]["id"] for payload in told.values()} == set(ids)
    assert len(told) == JOBS
    for payload in told.values():
        data = payload["data"]
        job = ended[data["id"]]
        assert (data["status"], data["score"]) == (job["status"], job["result"]["score"])


def test_keys_are_asked_for_from_then_on(service: Service) -> None:
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        answers: list[int] = []

        def is_refused() -> bool:
            answers.append(client.get("/v1/jobs").status_code)
            return answers[-1] == 401

        eventually(is_refused, lambda: answers[-5:], every=0.5)  # it looks anew after ten seconds
    assert (service.folder / "webhook.key").stat().st_mode & 0o777 == 0o600
