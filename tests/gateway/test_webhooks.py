"""/v1/webhook-endpoints: made, changed, rotated, forgotten; deliveries listed and replayed."""

from __future__ import annotations

import base64
import threading
import time
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text
from standardwebhooks import Webhook

from services.gateway.routes import webhooks as routes
from services.scheduler.webhooks import delivering
from shared.ledger.webhooks import MOST_ENDPOINTS
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.gateway.conftest import Opens
from tests.gateway.results import a_result
from tests.gateway.serving import serving
from tests.gateway.test_scores import GOOD, URL
from tests.patience import SECONDS, eventually
from tests.receivers import Receiver, receiving
from tests.servers import finish_next

HOOKS = "/v1/webhook-endpoints"
EXAMPLE = {"url": "https://example.com/hooks"}
PUSH = {"format": "otlp-logs"}
NOBODY = f"{HOOKS}/we_{'0' * 32}"


def made(client: httpx.Client, **more: Any) -> dict[str, Any]:
    answer = client.post(HOOKS, json=EXAMPLE | more)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"{HOOKS}/{answer.json()['id']}"
    assert answer.headers["Cache-Control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def test_the_secret_is_shown_once_and_sealed_in_the_ledger(
    client: httpx.Client, engine: Engine
) -> None:
    new = made(client, events=["job.failed"], description="ours")
    secret = new.pop("secret")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert client.get(HOOKS).json()["data"] == [new]
    assert (new["events"], new["description"], new["enabled"]) == (["job.failed"], "ours", True)
    with engine.begin() as connection:
        row = connection.execute(text("SELECT * FROM webhook_endpoints")).mappings().one()
    assert secret.removeprefix("whsec_") not in str(dict(row))


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"url": "http://8.8.8.8/"}, "#/url"),
        ({"url": "https://8.8.8.8:22/"}, "#/url"),
        ({"url": "http://127.0.0.1:99999/"}, "#/url"),
        ({"url": "https://10.0.0.1/"}, "#/url"),
        ({"url": "https://[::1]/"}, "#/url"),
        ({"url": "https://169.254.169.254/latest/meta-data/"}, "#/url"),
        ({"url": "https://user:word@example.com/"}, "#/url"),
        ({"url": "ftp://example.com/"}, "#/url"),
        ({"url": "nonsense"}, "#/url"),
        ({"url": None}, "#/url"),
        ({"events": ["job.exploded"]}, "#/events/0"),
        ({"description": "\x00"}, "#/description"),
        ({"secret": "whsec_x"}, "#/secret"),
        ({"sample": 0.5}, "#/sample"),
        ({"parts": True}, "#/parts"),
        ({"metrics": ["ice"]}, "#/metrics"),
        (PUSH | {"metrics": ["ice", "nonsense"]}, "#/metrics/1"),
        (PUSH | {"events": ["job.failed", "batch.completed"]}, "#/events/1"),
        (PUSH | {"url": "https://example.com/?a=b"}, "#/url"),
        (PUSH | {"authorization": "Bearer a\r\nX-More: b"}, "#/authorization"),
        (PUSH | {"authorization": "Bearer é"}, "#/authorization"),
    ],
)
def test_what_is_not_allowed_is_refused_with_a_pointer(
    client: httpx.Client, change: dict[str, Any], pointer: str
) -> None:
    answer = client.post(HOOKS, json=EXAMPLE | change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (["127.0.0.1"], 201),  # allowed: in any way on any port
        (["8.8.8.8"], 422),
        (["127.0.0.1", "8.8.8.8"], 422),
        (["10.0.0.1"], 422),
        (None, 201),  # nothing can be sent there yet
    ],
)
@pytest.mark.parametrize("url", ["https://example.com:444/", "http://example.com/"])
def test_ports_of_allowed_networks_are_for_names_that_lead_there(
    client: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    found: list[str] | None,
    status: int,
) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        if found is None:
            raise OSError
        return found

    monkeypatch.setattr(routes, "resolve", resolve)
    assert client.post(HOOKS, json={"url": url}).status_code == status


def test_without_an_allow_list_plain_http_is_refused_at_once(chosen: Settings) -> None:
    strict = chosen.model_copy(update={"webhook_allow": (), "authentication": "none"})
    with serving(strict) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        for refused in ("http://example.com/", "https://example.com:22/", "https://127.0.0.1/"):
            assert client.post(HOOKS, json={"url": refused}).status_code == 422
        assert client.post(HOOKS, json=EXAMPLE).status_code == 201


def test_an_endpoint_is_changed_in_part(client: httpx.Client) -> None:
    endpoint = made(client, events=["job.failed"], description="ours")
    path = f"{HOOKS}/{endpoint['id']}"
    changed = client.patch(path, json={"events": []}).json()
    assert (changed["events"], changed["description"]) == ([], "ours")
    moved = client.patch(path, json={"url": "https://example.org/"}).json()
    assert moved["url"] == "https://example.org/"
    assert client.patch(path, json={}).json() == moved
    assert client.patch(path, json={"url": "https://10.0.0.1/"}).status_code == 422
    off = client.patch(path, json={"enabled": False}).json()
    assert (off["enabled"], off["disabled_reason"]) == (False, "by request")
    on = client.patch(path, json={"enabled": True}).json()
    assert (on["enabled"], on["disabled_reason"]) == (True, None)


def test_where_scores_are_pushed_is_chosen_and_its_key_is_sealed(
    client: httpx.Client, engine: Engine
) -> None:
    chosen = {"sample": 0.5, "metrics": ["ice"], "parts": True, "events": ["job.succeeded"]}
    new = made(client, **PUSH, **chosen, authorization="Basic dXNlcjp3b3Jk")
    path = f"{HOOKS}/{new['id']}"
    assert {name: new[name] for name in chosen} == chosen
    assert (new["format"], new["has_authorization"], new["untraced"]) == ("otlp-logs", True, 0)
    assert "dXNlcjp3b3Jk" not in client.get(HOOKS).text
    with engine.begin() as connection:
        row = connection.execute(text("SELECT * FROM webhook_endpoints")).mappings().one()
    assert "dXNlcjp3b3Jk" not in str(dict(row))
    changed = client.patch(path, json={"sample": 1, "metrics": [], "authorization": ""}).json()
    assert (changed["sample"], changed["metrics"], changed["parts"]) == (1, [], True)
    assert not changed["has_authorization"]
    for refused in ({"events": ["batch.failed"]}, {"url": "https://example.com/?a=b"}):
        assert client.patch(path, json=refused).status_code == 422
    other = f"{HOOKS}/{made(client)['id']}"
    assert client.patch(other, json={"parts": True}).status_code == 422
    assert client.patch(other, json={"authorization": "Bearer x"}).json()["has_authorization"]


def test_the_same_key_makes_one_endpoint(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "once"}
    first, again = (client.post(HOOKS, json=EXAMPLE, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    other = client.post(HOOKS, json=EXAMPLE | {"description": "other"}, headers=key)
    assert other.json()["type"].endswith("#idempotency-key-reused")


def test_a_secret_is_rotated_with_an_overlap(client: httpx.Client) -> None:
    endpoint = made(client)
    path = f"{HOOKS}/{endpoint['id']}/rotate-secret"
    rotated = client.post(path, json={"overlap_seconds": 3_600}).json()
    assert rotated["secret"] not in (endpoint["secret"], None)
    assert rotated["rotating_until"] == pytest.approx(time.time() + 3_600, abs=1_800)
    key = {"Idempotency-Key": "once"}
    second, again = (client.post(path, json={}, headers=key) for _ in range(2))
    assert again.json() == second.json()  # the overlap goes on
    assert again.json()["secret"] != rotated["secret"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert client.post(path, json={"overlap_seconds": 0}).json()["rotating_until"] is None
    assert client.post(path, json={"overlap_seconds": 604_801}).status_code == 422
    assert client.post(path, json={}).status_code == 200


def test_a_forgotten_endpoint_is_gone(client: httpx.Client) -> None:
    path = f"{HOOKS}/{made(client)['id']}"
    gone = client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert client.delete(path).status_code == 404
    assert client.get(HOOKS).json()["data"] == []


@pytest.mark.parametrize("path", [NOBODY, f"{HOOKS}/x", f"{HOOKS}/%00", f"{HOOKS}/we_0"])
def test_an_unknown_endpoint_is_not_found(client: httpx.Client, path: str) -> None:
    for method, rest in (
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate-secret"),
        ("GET", "/deliveries"),
        ("POST", "/replay"),
    ):
        answer = client.request(method, path + rest, json={})
        assert answer.status_code == 404, (method, rest)
        assert answer.json()["type"].endswith("#unknown-webhook-endpoint")


@pytest.mark.parametrize("query", ["status=lost", "limit=0", "after=x", "sort=up"])
def test_a_bad_list_query_is_refused(client: httpx.Client, query: str) -> None:
    answer = client.get(f"{HOOKS}/{made(client)['id']}/deliveries?{query}")
    assert answer.status_code == 422


def test_there_are_so_many_and_no_more(client: httpx.Client) -> None:
    for _ in range(MOST_ENDPOINTS):
        made(client)
    answer = client.post(HOOKS, json=EXAMPLE)
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (
        409,
        "too-many-webhook-endpoints",
    )


def test_endpoints_are_listed_newest_first_by_pages(client: httpx.Client) -> None:
    ids = [made(client)["id"] for _ in range(3)]
    first = client.get(HOOKS, params={"limit": 2}).json()
    rest = client.get(HOOKS, params={"after": first["last_id"]}).json()
    assert [one["id"] for one in first["data"] + rest["data"]] == sorted(ids, reverse=True)
    assert (first["has_more"], rest["has_more"]) == (True, False)


def test_an_endpoint_is_its_tenants(opens: Opens) -> None:
    mine, other = opens("a", "admin"), opens("b", "admin")
    path = f"{HOOKS}/{made(mine)['id']}"
    assert len(mine.get(HOOKS).json()["data"]) == 1
    assert other.get(HOOKS).json()["data"] == []
    assert other.delete(path).status_code == 404
    assert other.post(f"{path}/rotate-secret", json={}).status_code == 404


def test_a_job_may_name_an_endpoint_of_its_tenant_only(opens: Opens) -> None:
    mine, other = opens("a", "admin"), opens("b", "admin")
    endpoint_id = made(mine)["id"]
    assert mine.post(URL, json=GOOD | {"webhook": endpoint_id}).status_code == 202
    for client, named in ((other, endpoint_id), (mine, "we_" + "0" * 32), (mine, "x")):
        answer = client.post(URL, json=GOOD | {"webhook": named})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "#/webhook"


def test_without_a_key_to_seal_with_there_are_no_webhooks(chosen: Settings) -> None:
    keyless = chosen.model_copy(update={"webhook_keys": None, "authentication": "none"})
    with serving(keyless) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        answer = client.post(HOOKS, json=EXAMPLE)
        assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (
            503,
            "webhooks-off",
        )
        assert client.get(HOOKS).status_code == 200


def deliveries(client: httpx.Client, endpoint_id: str, **query: str) -> list[dict[str, Any]]:
    answer = client.get(f"{HOOKS}/{endpoint_id}/deliveries", params=query)
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


def settled(client: httpx.Client, endpoint_id: str, status: str) -> dict[str, Any]:
    """The one delivery, once it has this status."""
    found = eventually(
        lambda: deliveries(client, endpoint_id, status=status),
        lambda: deliveries(client, endpoint_id),
    )
    (one,) = found
    return one


def test_from_a_job_to_a_verified_request_and_its_replay(
    client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    hasty = chosen.model_copy(update={"tick_seconds": 0.05, "webhook_schedule": (0.0, 0.0)})
    refusing = Receiver(status=500, body=b"a stack trace with a password")
    with receiving(refusing) as receiver, delivering(engine, hasty, threading.Event()):
        endpoint = made(client, url=receiver.url)
        job = client.post(URL, json=GOOD).json()
        finish_next(engine, a_result(0.25))
        failed = settled(client, endpoint["id"], "failed")
        assert (failed["last_status"], failed["attempts"]) == (500, 2)
        assert "password" not in client.get(f"{HOOKS}/{endpoint['id']}/deliveries").text
        replay, asked = f"{HOOKS}/{endpoint['id']}/replay", {"delivery": failed["id"]}
        assert (
            client.post(replay, json=asked).status_code == 409
        )  # disabled: nothing had ever arrived
        client.patch(f"{HOOKS}/{endpoint['id']}", json={"enabled": True})
        receiver.status = 200
        again = client.post(replay, json=asked)
        assert (again.status_code, again.json()["replayed"]) == (202, 1)
        arrived = settled(client, endpoint["id"], "succeeded")
    assert arrived["id"] == failed["id"]
    assert set(receiver.ids) == {failed["id"]}
    for got in receiver.received:
        payload = Webhook(endpoint["secret"]).verify(got.body, got.headers)
        assert payload["type"] == "job.succeeded"
        assert payload["data"] == {
            "id": job["id"],
            "object": "job",
            "metric": "hatexscore",
            "status": "succeeded",
            "batch_id": None,
            "score": 0.25,
            "error_type": None,
        }
    last = client.get(HOOKS).json()["data"][0]["last_success_at"]
    assert last == pytest.approx(time.time(), abs=3_600)


def test_all_that_failed_is_replayed_at_once(
    client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    hasty = chosen.model_copy(update={"tick_seconds": 0.05})
    with receiving(Receiver()) as receiver:
        endpoint = made(client, url=receiver.url)
        for _ in range(3):
            client.post(f"/v1/jobs/{client.post(URL, json=GOOD).json()['id']}/cancel")
        path = f"{HOOKS}/{endpoint['id']}"
        client.patch(path, json={"enabled": False})
        assert len(deliveries(client, endpoint["id"], status="failed")) == 3
        assert client.post(f"{path}/replay", json={}).status_code == 409
        client.patch(path, json={"enabled": True})
        answer = client.post(f"{path}/replay", json={})
        assert (answer.status_code, answer.json()["replayed"]) == (202, 3)
        with delivering(engine, hasty, threading.Event()):
            eventually(lambda: len(deliveries(client, endpoint["id"], status="succeeded")) == 3)
    assert len(set(receiver.ids)) == 3
