"""A test event arrives at once, signed like the rest, once; and it changes nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from sqlalchemy import Engine, text
from standardwebhooks import Webhook

from cli.stack.servers import free_port
from services.gateway.routes import webhooks as routes
from services.scheduler.webhooks import delivering
from shared.ledger.score_formats import PUSH_FORMATS
from shared.process.settings import Settings
from tests.gateway.conftest import Opens
from tests.gateway.test_webhooks import HOOKS, NOBODY, deliveries, made
from tests.patience import SECONDS, eventually
from tests.push_destinations import destination
from tests.receivers import Receiver, receiving, until


@pytest.fixture(params=[SECONDS])
def scheduler(engine: Engine, chosen: Settings, request: pytest.FixtureRequest) -> Iterator[None]:
    """The scheduler's own delivery; the parameter: seconds of an attempt."""
    hasty = chosen.model_copy(update={"tick_seconds": 0.05, "webhook_seconds": request.param})
    with delivering(engine, hasty, threading.Event()):
        yield


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("enabled", [True, False])
def test_it_arrives_at_once_signed_like_the_rest(client: httpx.Client, enabled: bool) -> None:
    with receiving(Receiver(body=b"a secret of the receiver's")) as receiver:
        endpoint = made(client, url=receiver.url, events=["job.failed"])
        path = f"{HOOKS}/{endpoint['id']}"
        before = client.patch(path, json={"enabled": enabled}).json()
        answer = client.post(f"{path}/test")
    found = answer.json()
    assert (answer.status_code, found["delivered"], found["status"]) == (200, True, 204)
    assert (type(found["milliseconds"]), found["error"]) == (int, None)
    assert "secret of the receiver" not in answer.text
    (got,) = receiver.received
    payload = Webhook(endpoint["secret"]).verify(got.body, got.headers)
    assert (payload["type"], payload["data"]["id"]) == ("endpoint.test", endpoint["id"])
    assert got.headers["webhook-id"] == found["id"]
    assert client.get(HOOKS).json()["data"] == [before]
    assert deliveries(client, endpoint["id"]) == []


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("name", PUSH_FORMATS)
def test_where_scores_are_pushed_a_score_of_nothing_arrives(
    client: httpx.Client, engine: Engine, name: str
) -> None:
    with receiving(destination(name, "Bearer key")) as tool:
        endpoint = made(client, url=tool.url, format=name, authorization="Bearer key")
        path = f"{HOOKS}/{endpoint['id']}"
        found = client.post(f"{path}/test").json()
        assert (found["delivered"], found["note"], found["untraced"]) == (True, None, 0)
        with engine.begin() as connection:
            connection.execute(text("UPDATE webhook_endpoints SET untraced = 3"))
        note = client.post(f"{path}/test").json()["note"]
        client.patch(path, json={"authorization": "Bearer other"})
        assert client.post(f"{path}/test").json()["error"] == "it answered 401"
    assert "touchstone.test" in tool.received[0].body.decode()
    if name == "otlp-logs":  # it takes jobs without a trace
        assert note is None
    else:
        assert note.startswith("3 jobs were not sent, because their requests lack `trace.")


@pytest.mark.usefixtures("scheduler")
def test_what_does_not_arrive_is_said_and_not_tried_again(client: httpx.Client) -> None:
    with receiving(Receiver(status=410)) as gone:
        endpoint = made(client, url=gone.url)
        path = f"{HOOKS}/{endpoint['id']}"
        found = client.post(f"{path}/test").json()
        assert (found["delivered"], found["status"]) == (False, 410)
        assert found["error"] == "it answered 410"
        assert client.post(f"{path}/test").json()["id"] != found["id"]
        assert len(gone.received) == 2  # one attempt each
        assert client.get(HOOKS).json()["data"][0]["enabled"]
    nobody = made(client, url=f"http://127.0.0.1:{free_port()}/")
    found = client.post(f"{HOOKS}/{nobody['id']}/test").json()
    assert (found["delivered"], found["status"]) == (False, None)
    assert "cannot be reached" in found["error"]


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("scheduler", [1], indirect=True)
def test_one_at_a_time_and_a_receiver_that_hangs_is_given_up(client: httpx.Client) -> None:
    ended = threading.Event()
    hanging, answers = Receiver(before=until(ended)), list[httpx.Response]()

    def second_beside_first() -> httpx.Response | None:
        """Its refusal; None: this machine stood still until the first one was given up."""
        known = len(hanging.received)
        first = pool.submit(client.post, path)
        eventually(lambda: len(hanging.received) > known or first.done())
        second = client.post(path)
        answers.append(first.result(SECONDS))
        if second.status_code == 409:
            return second
        answers.append(second)
        return None

    with receiving(hanging) as receiver, ThreadPoolExecutor(1) as pool:
        path = f"{HOOKS}/{made(client, url=receiver.url)['id']}/test"
        refused = eventually(second_beside_first)
        ended.set()
    assert refused.json()["error"]["code"] == "webhook-test-running"
    for found in (answer.json() for answer in answers):
        assert (found["delivered"], found["error"]) == (False, "no answer within 1 s")
    assert len(receiver.received) <= len(answers)


def test_without_a_scheduler_it_says_so_and_leaves_nothing_that_is_sent_later(
    client: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch, chosen: Settings
) -> None:
    monkeypatch.setattr(routes, "TEST_SLACK_SECONDS", 0.5 - chosen.webhook_seconds)
    with receiving(Receiver()) as receiver:
        endpoint = made(client, url=receiver.url)
        answer = client.post(f"{HOOKS}/{endpoint['id']}/test")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert "scheduler" in answer.json()["detail"]
        assert client.post(f"{HOOKS}/{endpoint['id']}/test").status_code == 503  # not 409
        with engine.connect() as connection:
            left = connection.execute(text("SELECT count(*) FROM webhook_tests")).scalar_one()
        assert (left, receiver.received) == (0, [])


def test_of_others_and_of_nobody_there_is_nothing_to_test(opens: Opens) -> None:
    mine, other = opens("a", "admin"), opens("b", "admin")
    endpoint = made(mine)["id"]
    for client, path in ((other, f"{HOOKS}/{endpoint}/test"), (mine, f"{NOBODY}/test")):
        assert client.post(path).status_code == 404
    assert opens("a", "score").post(f"{HOOKS}/{endpoint}/test").status_code == 403


def test_the_test_event_cannot_be_listened_to(client: httpx.Client) -> None:
    answer = client.post(HOOKS, json={"url": "https://example.com/", "events": ["endpoint.test"]})
    assert answer.status_code == 422
    assert json.loads(answer.text)["error"]["param"] == "events.0"
