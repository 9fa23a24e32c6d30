"""A key may call so often: one bucket for all gateways, said in headers, and open without Redis."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from cli.stack.servers import free_port, redis_child, redis_url
from services.gateway.caller import WINDOW_SECONDS, RateLimit
from shared.ledger import keys
from shared.ledger.keys import NewKey
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.gateway.conftest import Opens
from tests.gateway.serving import serving
from tests.patience import SECONDS, eventually, looks

POLICY = re.compile(r'"requests";q=(\d+);w=60')
LIMIT = re.compile(r'"requests";r=(\d+);t=(\d+)')


def left(answer: httpx.Response) -> int:
    found = LIMIT.fullmatch(answer.headers["RateLimit"])
    assert found
    return int(found[1])


def asked_at_once(opens: Opens, quota: int, times: int) -> list[httpx.Response]:
    """The answers to these requests of a new key, before it was given another one."""

    def asked() -> list[httpx.Response] | None:
        client, begun = opens(requests_per_minute=quota), time.monotonic()
        answers = [client.get("/v1/jobs") for _ in range(times)]
        return answers if time.monotonic() - begun < WINDOW_SECONDS / quota else None

    return eventually(asked)


def test_the_headers_say_what_is_left_and_429_what_to_do(opens: Opens) -> None:
    answers = asked_at_once(opens, 5, 7)
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert [left(answer) for answer in answers] == [4, 3, 2, 1, 0, 0, 0]
    for answer in answers:
        policy = POLICY.fullmatch(answer.headers["RateLimit-Policy"])
        assert policy
        assert policy[1] == "5"
    refused = answers[-1]
    assert 1 <= int(refused.headers["Retry-After"]) <= 12
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["violated-policies"] == ["requests"]
    assert refused.json()["type"].endswith("#quota-exceeded")


def test_who_waits_as_told_may_call_again(opens: Opens) -> None:
    client = opens(
        requests_per_minute=60
    )  # a request comes back each second: who asks more often is refused
    answers = (client.get("/v1/jobs") for _ in looks(every=0))
    refused = next(answer for answer in answers if answer.status_code != 200)
    assert refused.status_code == 429
    time.sleep(int(refused.headers["Retry-After"]))
    assert client.get("/v1/jobs").status_code == 200


def test_every_key_has_a_bucket_of_its_own(opens: Opens) -> None:
    one, two = opens(requests_per_minute=1), opens(requests_per_minute=1)
    assert [one.get("/v1/jobs").status_code for _ in range(2)] == [200, 429]
    assert two.get("/v1/jobs").status_code == 200


def test_refusals_for_other_reasons_count_and_say_so(opens: Opens) -> None:
    client = opens("a", "score", requests_per_minute=3)
    answers = [client.get("/v1/webhook-endpoints"), client.get("/v1/jobs/x"), client.get("/v1/x")]
    assert [answer.status_code for answer in answers] == [403, 404, 404]
    assert [left(answer) for answer in answers[:2]] == [2, 1]


def test_a_crowd_gets_the_quota_and_not_one_more(opens: Opens) -> None:
    client = opens(requests_per_minute=20)

    def call(_: int) -> int:
        return client.get("/v1/models").status_code

    started = time.monotonic()
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(call, range(60)))
    refilled = 20 * (time.monotonic() - started) / WINDOW_SECONDS
    assert 20 <= answers.count(200) <= 21 + refilled


def test_two_gateways_share_a_bucket(opens: Opens, chosen: Settings) -> None:
    first = opens(requests_per_minute=2)
    with (
        serving(chosen.model_copy(update={"authentication": "keys"})) as url,
        CheckedClient(base_url=url, headers=first.headers, timeout=SECONDS) as second,
    ):
        answers = [one.get("/v1/jobs").status_code for one in (first, second, first, second)]
    assert answers == [200, 200, 429, 429]


def test_without_keys_there_is_no_limit(client: httpx.Client) -> None:
    answer = client.get("/v1/jobs")
    assert answer.status_code == 200
    assert "RateLimit" not in answer.headers


PASSWORD = "word"


def test_while_redis_is_away_nobody_is_limited_and_then_again(
    chosen: Settings, engine: Engine, tmp_path: Path
) -> None:
    port = free_port()
    mine = chosen.model_copy(
        update={"authentication": "keys", "redis_url": SecretStr(redis_url(port, PASSWORD))}
    )
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("a", "", ("score",), requests_per_minute=1))
    bearer = {"Authorization": f"Bearer {secret}"}
    with (
        serving(mine) as url,
        CheckedClient(base_url=url, headers=bearer, timeout=SECONDS) as client,
    ):
        answers = [client.get("/v1/jobs") for _ in range(3)]
        assert {answer.status_code for answer in answers} == {200}
        assert not any("RateLimit" in answer.headers for answer in answers)
        redis = redis_child(tmp_path / "redis", port, PASSWORD)
        redis.start(tmp_path)
        try:
            eventually(lambda: client.get("/v1/jobs").status_code == 429, every=0.2)
        finally:
            redis.stop()


@pytest.mark.parametrize(
    ("quota", "left_over", "retry", "full"),
    [(60, 0.0, 1, 60), (1, 0.0, 60, 60), (1, 0.5, 30, 30), (600, 599.0, 1, 1), (60, 59.5, 1, 1)],
)
def test_the_times_follow_from_the_bucket(
    quota: int, left_over: float, retry: int, full: int
) -> None:
    grant = RateLimit(quota, left_over, granted=False)
    assert grant.retry_after == retry
    assert grant.headers["RateLimit"].endswith(f"t={full}")
