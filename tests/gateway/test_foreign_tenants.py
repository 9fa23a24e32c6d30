"""Whatever page or operation names a thing, to another tenant's key it is not there.

The addresses are the app's own, so that a new one is asked by itself: each `{…}` of a path, each
query that names a job, a batch or a queue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import Engine, update

from services.gateway.openapi import parameters_of
from services.gateway.pages.assets import PARTS
from shared.ledger.keys import Scope
from shared.ledger.tables import result_facts
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.test_batch_tenants import uploaded
from tests.gateway.test_webhooks import made as made_endpoint

NAMED = re.compile(r"\{(\w+)\}")
KEY = "fedcba9876543210" * 2
SCOPES: tuple[Scope, ...] = ("score", "batch", "review", "admin")
FORMS = {"ending": "csv", "kind": "output", "form": "csv", "name": "means"}  # of a page's file
FORMS |= {"tenant": "a", "metric": "hatexscore", "token": "0" * 32}  # of a link that nobody made
WHO = {"reviewer": "Ann"}
NOBODY = "nobodys"
EMPTY = {  # this batch has no file of its output and no link, its metric's reports no pictures
    "/shared/{tenant}/{metric}/{token}.html",
    "/batches/{batch_id}/{kind}.jsonl",
    "/batches/{batch_id}/plots/{name}.svg",
}
BODIES: dict[str, Any] = {
    "lease": WHO,
    "replay": {},
}


@dataclass(frozen=True)
class Owned:
    """A thing of each kind, of one tenant. ids: name in a path → id."""

    api: httpx.Client
    browser: httpx.Client
    ids: dict[str, str] = field(default_factory=dict)

    def path(self, template: str) -> str:
        return NAMED.sub(lambda name: (self.ids | FORMS)[name[1]], template)


@pytest.fixture
def owned(opens: Opens, engine: Engine) -> Owned:
    api = opens("a", *SCOPES)
    batch_id, (job_id, *_) = make_batch(engine, [0.9, 0.1, 0.5], tenant="a")
    found = Owned(api, entered(opens, "a", *SCOPES))
    found.browser.get(f"/batches/{batch_id}").raise_for_status()  # writes the rows
    with engine.begin() as connection:
        connection.execute(update(result_facts).values(text_key=KEY))
    queue = api.post("/v1/review-queues", json={"batch": batch_id, "name": "a look"}).json()
    said = api.post("/v1/judgements", json={"job_id": job_id, "verdict": "agree"} | WHO).json()
    found.ids.update(
        job_id=job_id, batch_id=batch_id, queue_id=queue["id"], judgement_id=said["id"],
        text_key=KEY, file_id=uploaded(api), endpoint_id=made_endpoint(api)["id"],
    )  # fmt: skip
    return found


Asked = tuple[str, str]  # method, path as it is declared


def described(api: httpx.Client) -> dict[Asked, dict[str, Any]]:
    """The operations of the API, with whole parameters."""
    description = api.get("/openapi.json").json()
    return {
        (verb.upper(), path): one | {"parameters": [*parameters_of(description, one)]}
        for path, verbs in description["paths"].items()
        for verb, one in verbs.items()
    }


def page_operations() -> Iterator[Asked]:
    for one in (one for part in PARTS for one in part.router.routes):
        if isinstance(one, APIRoute) and "{" in one.path:
            yield from ((method, one.path) for method in sorted(one.methods or ()))


def sent_by(asked: Asked, told: dict[str, Any]) -> dict[str, Any]:
    """Query and body of a call that is refused for nothing else."""
    sent = {"params": WHO} if "reviewer" in names_of(told) else {}
    body = {} if "requestBody" not in told else BODIES.get(asked[1].rpartition("/")[2], {})
    return sent if asked[0] in ("GET", "DELETE") else sent | {"json": body}


def names_of(told: dict[str, Any]) -> set[str]:
    return {one["name"] for one in told["parameters"] if one["in"] == "query"}


def test_what_an_address_names_is_not_there_for_another_tenant(opens: Opens, owned: Owned) -> None:
    api, browser = opens("b", *SCOPES), entered(opens, "b", *SCOPES)
    browser.cookies.set("touchstone_reviewer", "Ann")
    form = {"csrf": token(browser.get("/batches")), "action": "agree", "verdict": "agree"}
    calls = {one: told for one, told in described(api).items() if "{" in one[1]}
    del calls["POST", "/v1/scores/{metric}"]  # metrics are everybody's
    calls = {one: sent_by(one, told) for one, told in calls.items()}
    pages = {one: {"data": form} if one[0] == "POST" else {} for one in page_operations()}
    found = {
        one: client.request(one[0], owned.path(one[1]), **sent).status_code
        for client, some in ((api, calls), (browser, pages))
        for one, sent in some.items()
    }
    assert {one: status for one, status in found.items() if status != 404} == {}
    gone = set()  # of what is theirs: nothing has happened to it
    for client, some in ((owned.api, calls), (owned.browser, pages)):
        for (method, path), sent in some.items():
            if method == "GET":
                with client.stream(method, owned.path(path), **sent) as answer:
                    if answer.status_code == 404:
                        gone.add(path)
    assert gone == EMPTY


def test_what_a_query_names_is_not_there_either(opens: Opens, owned: Owned) -> None:
    api, browser = opens("b", *SCOPES), entered(opens, "b", *SCOPES)
    asked = [
        (api, path, name)
        for (method, path), told in described(api).items()
        for name in names_of(told)
        if method == "GET" and "{" not in path and f"{name}_id" in owned.ids
    ]
    asked += [(browser, "/try", "from"), (browser, "/queues", "batch")]
    assert len(asked) > 5
    for client, path, name in asked:
        named = owned.ids["job_id" if name == "from" else f"{name}_id"]
        answer = client.get(path, params={name: named})
        rows = answer.text.replace(named, "")
        assert answer.status_code in (200, 404), path
        assert not [one for one in owned.ids.values() if one in rows], path
    batch = owned.ids["batch_id"]
    for path in ("/compare", "/compare/pairs.csv"):
        assert browser.get(path, params={"baseline": batch, "new": batch}).status_code == 404, path


def test_a_body_that_names_another_tenants_is_answered_as_one_that_names_nobodys(
    opens: Opens, owned: Owned, engine: Engine
) -> None:
    other = opens("b", *SCOPES)
    own, _ = make_batch(engine, [0.5], tenant="b")
    batch, job = owned.ids["batch_id"], owned.ids["job_id"]
    for body in (
        {"batch": batch},
        {"jobs": [job]},
        {"batch": own, "against": {"batch": batch}},
        {"batch": own, "against": {"batch": own}, "further": [{"batch": batch}]},
    ):
        answers = []
        for theirs in (False, True):
            nobodys = json.loads(json.dumps(body).replace(batch, NOBODY).replace(job, NOBODY))
            answer = other.post(
                "/v1/reports", json={"metric": "hatexscore"} | (body if theirs else nobodys)
            )
            told = answer.json() | {"request_id": "", "instance": ""}
            said = json.dumps(told).replace(batch, NOBODY).replace(job, NOBODY)
            answers.append((answer.status_code, said))
        assert answers[0] == answers[1]
        assert answers[0][0] == 422
