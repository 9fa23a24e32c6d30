"""Every refusal is a problem that SDKs can show: a sentence, a code, a place, and whether to retry.

The oracle is OpenAI's own Python SDK: what it shows, and how often it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import openai
import pytest
from sqlalchemy import Engine

from shared.contracts.errors import DegenerateInput
from shared.contracts.problems import problem
from shared.process.settings import Settings
from tests.batches import Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.test_scores import GOOD, URL
from tests.ledger import fail

UNKNOWN_FILE = "file_" + "0" * 32


Sdks = Callable[[httpx.Client], "Sdk"]


class Sdk:
    """OpenAI's client of one gateway, and how many answers it got."""

    def __init__(self, client: httpx.Client) -> None:
        self.answers = 0
        key = client.headers.get("authorization", "Bearer none").removeprefix("Bearer ")
        http = openai.DefaultHttpxClient(event_hooks={"response": [self._count]})
        self.openai = openai.OpenAI(
            base_url=str(client.base_url.join("/v1")), api_key=key, http_client=http
        )

    def _count(self, _answer: Any) -> None:
        self.answers += 1


@pytest.fixture
def sdk_of() -> Iterator[Sdks]:
    """Makes one for this client's gateway and key."""
    with ExitStack() as held:

        def made(client: httpx.Client) -> Sdk:
            found = Sdk(client)
            held.enter_context(found.openai)
            return found

        yield made


@pytest.fixture
def sdk(client: httpx.Client, sdk_of: Sdks) -> Sdk:
    return sdk_of(client)


def test_the_sdk_shows_what_is_not_there(sdk: Sdk) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        sdk.openai.files.retrieve(UNKNOWN_FILE)
    error = caught.value
    assert (error.code, error.type, error.param) == ("unknown-file", "not_found_error", None)
    assert "No such file: there is no file" in str(error)
    assert sdk.answers == 1


def test_the_sdk_shows_what_is_not_valid_and_where(sdk: Sdk) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        sdk.openai.post("/scores/hatexscore", cast_to=object, body={"text": "a"})
    error = caught.value
    assert (error.code, error.param) == ("invalid-request", "explanation")
    assert error.type == "invalid_request_error"
    assert str(error).endswith("The request is not valid: Field required (at explanation)")
    assert sdk.answers == 1


def test_the_sdk_shows_a_wrong_key_and_a_missing_scope(opens: Opens, sdk_of: Sdks) -> None:
    client = opens("a", "score")
    with pytest.raises(openai.PermissionDeniedError, match="lacks the scope batch") as caught:
        sdk_of(client).openai.files.list()
    assert caught.value.type == "permission_error"
    client.headers["authorization"] = "Bearer tsk_" + "x" * 43
    with pytest.raises(openai.AuthenticationError, match="unknown, expired or revoked") as denied:
        sdk_of(client).openai.files.list()
    assert (denied.value.code, denied.value.type) == ("unauthenticated", "authentication_error")


def test_a_final_conflict_is_not_tried_again(
    sdk: Sdk, client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    scene = Scene(client, engine, chosen)
    batch = scene.make([line("a", "a")])
    scene.finish(batch)
    with pytest.raises(openai.ConflictError) as caught:
        sdk.openai.batches.cancel(batch["id"])
    assert (caught.value.code, caught.value.type) == ("already-final", "conflict_error")
    assert sdk.answers == 1


def test_a_rate_is_tried_again_as_told_and_a_used_up_quota_is_not(
    opens: Opens, sdk_of: Sdks
) -> None:
    hasty = opens("a", "score", requests_per_minute=1)
    assert hasty.get("/v1/jobs").status_code == 200
    refused = hasty.get("/v1/jobs")
    assert (refused.status_code, refused.headers["x-should-retry"]) == (429, "true")
    assert refused.json()["error"]["type"] == "rate_limit_error"
    full = sdk_of(client := opens("b", "score"))
    for _ in range(5):
        assert client.post(URL, json=GOOD).status_code == 202
    with pytest.raises(openai.RateLimitError, match="5 jobs queued or running") as caught:
        full.openai.post("/scores/hatexscore", cast_to=object, body=GOOD)
    assert (caught.value.type, caught.value.code) == ("insufficient_quota", "quota-exceeded")
    assert full.answers == 1


def test_a_failed_job_says_it_in_the_same_words(client: httpx.Client, engine: Engine) -> None:
    job = client.post(URL, json=GOOD).json()
    fail(engine, job["id"], problem(DegenerateInput("no sentence", pointer="/text")))
    error = client.get(f"/v1/jobs/{job['id']}").json()["error"]["error"]
    assert error == {
        "message": "The metric is undefined on this input: no sentence (at text)",
        "type": "invalid_request_error",
        "code": "degenerate-input",
        "param": "text",
    }


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [("GET", "/v2/nothing", "not-found"), ("PUT", "/v1/jobs", "method-not-allowed")],
)
def test_what_the_router_refuses_has_a_code_too(
    client: httpx.Client, method: str, path: str, code: str
) -> None:
    found = client.request(method, path)
    assert found.json()["error"]["code"] == code
    assert found.json()["type"].endswith(f"/guide/errors#{code}")
    assert found.headers["x-should-retry"] == "false"


def test_an_unknown_address_is_a_page_to_browsers_only(client: httpx.Client) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = client.get("/nowhere", headers=browser)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    program = client.get("/nowhere", headers={"Accept": "*/*"})
    assert program.headers["content-type"] == "application/problem+json"


def test_the_sdk_lists_models(sdk: Sdk) -> None:
    listed = list(sdk.openai.models.list())
    assert {model.object for model in listed} == {"model"}
    assert all(type(model.created) is int and model.owned_by for model in listed)
    assert "embedded-hate" in {model.id for model in listed}
