"""Keys: who has none gets nothing, who has one sees what is its tenant's, and no log shows it."""

from __future__ import annotations

import io
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from services.gateway import caller
from shared.ledger import keys
from shared.ledger.keys import NewKey
from shared.process import telemetry
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.gateway.conftest import Opens
from tests.gateway.serving import serving
from tests.gateway.test_scores import GOOD, URL
from tests.patience import SECONDS

UNKNOWN = "tsk_" + "x" * 43


def routes(client: httpx.Client) -> list[tuple[str, str]]:
    """(method, path) of every operation under /v1, from the API's own description."""
    described: dict[str, dict[str, Any]] = client.get("/openapi.json").json()["paths"]
    ids = {
        f"{kind}_id": f"{prefix}_{'0' * 32}"
        for kind, prefix in (
            ("job", "job"),
            ("file", "file"),
            ("batch", "batch"),
            ("endpoint", "we"),
            ("judgement", "jdg"),
            ("queue", "rq"),
        )
    }
    return [
        (method.upper(), path.format(**ids, metric="hatexscore"))
        for path, methods in described.items()
        for method in methods
        if path.startswith("/v1")
    ]


@pytest.mark.parametrize(
    ("header", "challenge"),
    [
        (None, 'Bearer realm="touchstone"'),
        ("Basic dXNlcjpwYXNz", 'Bearer realm="touchstone"'),
        ("Bearer", 'Bearer realm="touchstone"'),
        ("Bearer x", 'Bearer realm="touchstone", error="invalid_token"'),
        (f"Bearer {UNKNOWN}", 'Bearer realm="touchstone", error="invalid_token"'),
        (f"Bearer {UNKNOWN}\u00e9", 'Bearer realm="touchstone", error="invalid_token"'),
    ],
)
def test_without_a_valid_key_every_route_answers_401(
    opens: Opens, header: str | None, challenge: str
) -> None:
    with opens() as client:
        known = routes(client)
        client.headers.pop("Authorization")
        sent = [] if header is None else [(b"Authorization", header.encode("latin-1"))]
        assert len(known) >= 25
        for method, path in known:
            answer = client.request(method, path, json={}, headers=sent)
            assert answer.status_code == 401, path
            assert answer.json()["type"].endswith("#unauthenticated")
            assert answer.headers["WWW-Authenticate"] == challenge
            assert answer.headers["content-type"] == "application/problem+json"


def test_probes_and_the_description_need_no_key(opens: Opens) -> None:
    with opens() as client:
        client.headers.pop("Authorization")
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert client.get(path).status_code == 200


def test_the_scheme_is_spelled_in_any_case(opens: Opens) -> None:
    client = opens()
    client.headers["Authorization"] = client.headers["Authorization"].replace("Bearer", "bEARER")
    assert client.get("/v1/jobs").status_code == 200


@pytest.mark.parametrize(
    ("scope", "method", "path", "allowed"),
    [
        ("score", "POST", URL, True),
        ("batch", "POST", URL, False),
        ("admin", "POST", URL, True),
        ("score", "GET", "/v1/jobs", True),
        ("batch", "GET", "/v1/jobs", True),
        ("score", "GET", "/v1/models", True),
        ("score", "GET", "/v1/webhook-endpoints", False),
        ("batch", "POST", "/v1/webhook-endpoints", False),
        ("admin", "GET", "/v1/webhook-endpoints", True),
    ],
)
def test_a_scope_opens_its_routes_and_no_others(
    opens: Opens, scope: Any, method: str, path: str, allowed: bool
) -> None:
    answer = opens("a", scope).request(method, path, json=GOOD)
    assert (answer.status_code == 403) is not allowed
    if not allowed:
        assert answer.json()["type"].endswith("#forbidden")


def test_a_job_is_there_for_its_tenant_alone(opens: Opens) -> None:
    mine, colleague, other = opens("a"), opens("a"), opens("b")
    job = mine.post(URL, json=GOOD).json()
    for client, status in ((mine, 200), (colleague, 200), (other, 404)):
        assert client.get(f"/v1/jobs/{job['id']}").status_code == status
    assert [one["id"] for one in colleague.get("/v1/jobs").json()["data"]] == [job["id"]]
    assert other.get("/v1/jobs").json()["data"] == []
    refused = other.post(f"/v1/jobs/{job['id']}/cancel")
    unknown = other.post(f"/v1/jobs/job_{'0' * 32}/cancel")
    assert refused.status_code == unknown.status_code == 404
    assert refused.json().keys() == unknown.json().keys()
    assert mine.get(f"/v1/jobs/{job['id']}").json()["status"] == "queued"


def test_an_idempotency_key_belongs_to_its_tenant(opens: Opens) -> None:
    key = {"Idempotency-Key": '"one"'}
    mine, other = opens("a"), opens("b")
    first = mine.post(URL, json=GOOD, headers=key).json()["id"]
    theirs = other.post(URL, json=GOOD | {"seed": 7}, headers=key)
    assert theirs.status_code == 202
    assert theirs.json()["id"] != first
    assert mine.post(URL, json=GOOD, headers=key).json()["id"] == first


def test_a_revoked_or_expired_key_opens_nothing(
    opens: Opens, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opens()  # never used before, so nobody remembers it
    with engine.begin() as connection:
        (key,) = keys.all_of(connection)
        assert keys.revoke(connection, key.id) is not None
    assert client.get("/v1/jobs").status_code == 401
    late = opens()
    with engine.begin() as connection:
        connection.execute(text("UPDATE api_keys SET expires_at = now()"))
    assert late.get("/v1/jobs").status_code == 401


def test_a_key_is_remembered_for_a_few_seconds_and_no_longer() -> None:
    ring = caller.KeyCache(Settings())
    assert ring._callers.ttl == caller.REMEMBERED_SECONDS <= 10


def test_the_ledger_keeps_a_hash_and_nothing_that_opens(opens: Opens, engine: Engine) -> None:
    client = opens()
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    with engine.begin() as connection:
        row = connection.execute(text("SELECT * FROM api_keys")).mappings().one()
    assert row["sha256"] == keys.hash_key(secret)
    assert secret not in str(dict(row))
    assert secret[keys.SHOWN_CHARACTERS :] not in str(dict(row))


def test_no_log_shows_a_key(opens: Opens, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that any library logs, at the lowest level, through refusals and a crash."""
    client, text_of = opens("a", "admin"), io.StringIO()
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    root = logging.getLogger()
    before = (root.handlers, root.level)
    monkeypatch.setattr("sys.stderr", text_of)
    telemetry.configure_logging("debug", "json")
    try:
        client.post(URL, json=GOOD)
        client.get("/v1/jobs")
        url = {"url": "https://example.com/hooks"}
        hook = client.post("/v1/webhook-endpoints", json=url).json()["secret"]
        client.get("/v1/jobs", headers={"Authorization": f"Bearer {UNKNOWN}"})
        client.get(f"/v1/jobs/{secret}")
        with monkeypatch.context() as patch:
            patch.setattr("shared.ledger.jobs.summary_page", _crash)
            assert client.get("/v1/jobs").status_code == 500
        logging.getLogger("some.library").warning("sent %s", f"Authorization: Bearer {secret}")
        logging.getLogger("some.library").warning("secret %s and headers %r", hook, {"x": secret})
    finally:
        root.handlers, root.level = before
    said = text_of.getvalue()
    assert "request.crashed" in said
    for kept in (secret, UNKNOWN, hook, secret[keys.SHOWN_CHARACTERS :]):
        assert kept not in said


def _crash(*arguments: object, **_: object) -> None:
    raise RuntimeError(f"a crash with {arguments}")


def test_the_quota_of_open_jobs_is_the_tenants_and_ends_with_the_jobs(opens: Opens) -> None:
    one, two, other = opens("a"), opens("a"), opens("b")
    ids = [one.post(URL, json=GOOD).json()["id"] for _ in range(5)]
    for client in (one, two):
        refused = client.post(URL, json=GOOD)
        problem = refused.json()
        assert refused.status_code == problem["status"] == 429
        assert problem["type"].endswith("#quota-exceeded")
        assert problem["violated-policies"] == ["open-jobs"]
        assert int(refused.headers["Retry-After"]) >= 1
    assert other.post(URL, json=GOOD).status_code == 202
    one.post(f"/v1/jobs/{ids[0]}/cancel")
    assert two.post(URL, json=GOOD).status_code == 202


def test_the_quota_holds_without_keys_and_says_when_there_is_room(
    chosen: Settings, engine: Engine
) -> None:
    few = chosen.model_copy(update={"open_jobs": 2})
    with serving(few) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        ids = [client.post(URL, json=GOOD).json()["id"] for _ in range(2)]
        assert client.post(URL, json=GOOD).headers["Retry-After"] == "5"
        with engine.begin() as connection:  # a backlog: the oldest job has waited for 40 s
            old = "UPDATE jobs SET created_at = created_at - interval '40 s' WHERE id = :id"
            connection.execute(text(old), {"id": ids[0]})
        refused = client.post(URL, json=GOOD)
        assert (refused.status_code, 20 <= int(refused.headers["Retry-After"]) < 40) == (429, True)
        waits = [int(client.get(f"/v1/jobs/{one}").headers["Retry-After"]) for one in ids]
        assert waits[0] in range(4, 10)
        assert waits[1] < waits[0]


def test_a_replay_needs_no_room_in_the_quota(opens: Opens) -> None:
    client, key = opens(), {"Idempotency-Key": '"one"'}
    first = client.post(URL, json=GOOD, headers=key).json()["id"]
    for _ in range(4):
        client.post(URL, json=GOOD)
    assert client.post(URL, json=GOOD, headers=key).json()["id"] == first
    assert client.post(URL, json=GOOD).status_code == 429


def test_a_crowd_does_not_overrun_the_quota(opens: Opens, engine: Engine) -> None:
    client = opens()

    def post(_: int) -> int:
        return client.post(URL, json=GOOD).status_code

    with ThreadPoolExecutor(40) as pool:
        answers = sorted(pool.map(post, range(40)))
    assert answers == [202] * 5 + [429] * 35
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM jobs")).scalar() == 5


def test_the_first_key_closes_the_door_for_good(chosen: Settings, engine: Engine) -> None:
    with serving(chosen) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.get("/v1/jobs").status_code == 200
        with engine.begin() as connection:
            key, secret = keys.make(connection, NewKey("a", "", ("score",)))
    with serving(chosen) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.get("/v1/jobs").status_code == 401
        bearer = {"Authorization": f"Bearer {secret}"}
        assert client.get("/v1/jobs", headers=bearer).status_code == 200
        with engine.begin() as connection:
            keys.revoke(connection, key.id)
    with serving(chosen) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.get("/v1/jobs").status_code == 401


def test_a_running_gateway_notices_the_first_key(
    chosen: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "REMEMBERED_SECONDS", 0.0)
    with serving(chosen) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.get("/v1/jobs").status_code == 200
        with engine.begin() as connection:
            keys.make(connection, NewKey("a", "", ("score",), lasts=timedelta(days=1)))
        assert client.get("/v1/jobs").status_code == 401
