"""Event streams are counted, end by themselves, and end with the session that opened them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway import auth
from services.gateway.caller import ANYBODY, STREAMS, Caller, ConcurrentLimiter
from services.gateway.routes import events as event_routes
from services.gateway.routes.scores import LOOK_AGAIN_SECONDS
from shared.contracts.errors import QuotaExceeded
from shared.ledger import keys
from shared.ledger.keys import Key
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.batches import Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.results import a_result
from tests.gateway.test_events import events
from tests.gateway.test_scores import GOOD, URL
from tests.patience import SECONDS, looks
from tests.servers import finish_next

MOST_SECONDS_AFTER_REVOCATION = 10  # as docs/guide/access.md promises
KEY = Key("key_1", "a", "test", "tsk_", ["score"], None, False, datetime.now(UTC), None, None)


def caller_with_key(number: int) -> Caller:
    """Somebody with a key of their own."""
    return Caller("a", frozenset({"score"}), replace(KEY, id=f"key_{number}"))


def test_a_key_holds_so_many_and_lets_go_of_them() -> None:
    held = ConcurrentLimiter(STREAMS)
    for _ in range(3):
        with ExitStack() as stack:
            for _ in range(STREAMS.most_of_a_key):
                stack.enter_context(held.acquire(caller_with_key(1)))
            with pytest.raises(QuotaExceeded) as refused:
                stack.enter_context(held.acquire(caller_with_key(1)))
            assert refused.value.retry_after
            stack.enter_context(held.acquire(caller_with_key(2)))


def test_a_process_holds_so_many_whoever_asks() -> None:
    held = ConcurrentLimiter(STREAMS)
    with ExitStack() as stack:
        for number in range(STREAMS.most):
            stack.enter_context(held.acquire(ANYBODY if number % 2 else caller_with_key(number)))
        for who in (ANYBODY, caller_with_key(-1)):
            with pytest.raises(QuotaExceeded), held.acquire(who):
                pass
    with held.acquire(ANYBODY):
        pass


def test_a_stream_too_many_is_refused_until_another_is_closed(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STREAMS, "most_of_a_key", 2)
    client, other = opens("a"), opens("a")
    job_id = client.post(URL, json=GOOD).json()["id"]
    path = f"/v1/jobs/{job_id}/events"
    with client.stream("GET", path) as one:
        with client.stream("GET", path) as two:
            assert [one.status_code, two.status_code] == [200, 200]
            refused = client.get(path)
            assert refused.status_code == 429
            assert refused.json()["violated-policies"] == ["open-streams"]
            assert int(refused.headers["retry-after"]) > 0
            with other.stream("GET", path) as three:
                assert three.status_code == 200
        assert status_in_the_end(client, path, 200) == 200


def test_a_page_too_many_is_told_so(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STREAMS, "most_of_a_key", 1)
    browser = entered(opens, "a")
    with browser.stream("GET", "/live") as one:
        assert one.status_code == 200
        refused = browser.get("/live")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert refused.headers["content-type"].startswith("text/html")
    assert status_in_the_end(browser, "/live", 200) == 200


def status_in_the_end(client: httpx.Client, path: str, wanted: int) -> int:
    """The gateway may notice a little later that somebody has hung up."""
    status = 0
    for _ in looks(every=0.05):
        with client.stream("GET", path) as answer:
            status = answer.status_code
        if status == wanted:
            break
    return status


def test_a_stream_of_an_hour_goes_on_where_it_was(
    client: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_routes, "LONGEST_SECONDS", 0.1)
    path = f"/v1/jobs/{client.post(URL, json=GOOD).json()['id']}/events"
    first = list(events(client, path))
    assert [name for _, name, _ in first] == ["job.queued"]  # no `end`: the browser comes back
    finish_next(engine, a_result(1))
    rest = list(events(client, path, first[-1][0]))
    assert [name for _, name, _ in rest] == ["job.running", "job.succeeded", "end"]


@pytest.mark.parametrize("what", ["job", "batch"])
def test_the_api_tells_nothing_more_to_a_revoked_key(scene: Scene, what: str) -> None:
    """As the gateway is configured: a revoked key sees the last of a stream ten seconds later."""
    address = f"/v1/jobs/{scene.client.post(URL, json=GOOD).json()['id']}/events"
    if what == "batch":
        address = f"/v1/batches/{scene.make([line('a', 'a')])['id']}/events"
    with scene.client.stream("GET", address) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
        with scene.engine.begin() as connection:
            for key in keys.all_of(connection, "a"):
                keys.revoke(connection, key.id)
        assert "event: end" not in list(lines)  # the stream ends, and a test that hangs fails
    assert auth.ASKED_AGAIN_SECONDS + LOOK_AGAIN_SECONDS < MOST_SECONDS_AFTER_REVOCATION


def test_a_revoked_key_that_is_still_remembered_opens_no_stream(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "ASKED_AGAIN_SECONDS", 3_600.0)
    address = f"/v1/jobs/{scene.client.post(URL, json=GOOD).json()['id']}/events"
    with scene.engine.begin() as connection:
        for key in keys.all_of(connection, "a"):
            keys.revoke(connection, key.id)
    assert scene.client.get(address).status_code == 401


@pytest.fixture
def scene(opens: Opens, engine: Engine, chosen: Settings) -> Scene:
    """What the tenant has sent."""
    return Scene(opens("a", "score", "batch"), engine, chosen)


@pytest.mark.parametrize("what", ["home", "job", "batch"])
@pytest.mark.parametrize("how", ["revoked", "logged out"])
def test_a_page_hears_nothing_more_when_its_session_has_ended(
    opens: Opens, scene: Scene, monkeypatch: pytest.MonkeyPatch, what: str, how: str
) -> None:
    monkeypatch.setattr(auth, "ASKED_AGAIN_SECONDS", 0.0)
    browser = entered(opens, "a", "score", "batch")
    address = "/live"
    if what == "job":
        address = f"/jobs/{scene.client.post(URL, json=GOOD).json()['id']}/live"
    if what == "batch":
        address = f"/batches/{scene.make([line('a', 'a')])['id']}/live"
    with browser.stream("GET", address) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
        if how == "revoked":
            with scene.engine.begin() as connection:
                for key in keys.all_of(connection, "a"):
                    keys.revoke(connection, key.id)
        else:
            _end(browser, browser.cookies["touchstone_session"])
        assert "event: end" not in list(lines)  # long before the stream's own end, of an hour
    again = browser.get(address, headers={"accept": "text/event-stream"})
    assert again.status_code == 401  # a redirect would send the log-in to who waits for events


def _end(browser: httpx.Client, session: str) -> None:
    """Log out in another window."""
    held = {"touchstone_session": session}
    with CheckedClient(base_url=browser.base_url, cookies=held, timeout=SECONDS) as other:
        out = other.post("/logout", data={"csrf": token(other.get("/jobs"))})
        assert out.status_code == 303
