"""Forms and addresses that name what cannot be: an answer of 4xx, never a fault of ours."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway.pages.templates import PLACES
from shared.ledger.keys import Scope
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch
from tests.gateway.pages.test_new_batches import uploaded
from tests.gateway.pages.test_pages import entered, token

SCORES = [0.2, 0.5, None]
DEEP = "[" * 100_000


def queue_of(client: httpx.Client, batch_id: str) -> str:
    body = {"batch": batch_id, "name": "first", "rubric": ["agree"]}
    found = client.post("/v1/review-queues", json=body).raise_for_status().json()
    return str(found["id"])


def test_no_form_is_our_fault(client: httpx.Client, engine: Engine) -> None:
    batch_id, jobs = make_batch(engine, SCORES)
    judge = f"/queues/{queue_of(client, batch_id)}/judge"
    client.cookies.set("touchstone_reviewer", "a%00")
    forms: list[tuple[str, dict[str, str]]] = [
        (f"/jobs/{jobs[0]}/judgements", {"verdict": "agree", "reviewer": "a\0"}),
        (f"/jobs/{jobs[0]}/judgements", {"verdict": "agree", "reviewer": "a" * 30_000}),
        (f"/jobs/{jobs[0]}/lens", {"words": "\0"}),
        (judge, {"action": "start", "reviewer": "a\nb"}),
        (judge, {"action": "agree", "job": "\0", "reviewer": "Ann"}),
        (judge, {"action": "skip", "position": "²"}),
        ("/texts/0123456789abcdef", {"job": "\0", "metric": "ice"}),
        ("/try", {"metric": "hatexscore", "field.seed": DEEP[:50_000], "text": "a"}),
        ("/try", {"metric": "hatexscore", "parent": "\0", "text": "a", "explanation": "b"}),
        (f"/batches/{batch_id}/again", {"query": "%ff", "metric": "hatexscore"}),
        ("/views", {"name": "a\0", "metric": "hatexscore", "query": ""}),
    ]
    for path, form in forms:
        sent = {"csrf": token(client.get("/batches/new")), **form}
        assert client.post(path, data=sent).status_code < 500, (path, form.keys())


def test_no_address_is_our_fault(client: httpx.Client, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, SCORES)
    compared = f"/compare?baseline={batch_id}&new={batch_id}"
    for path in (
        f"{compared}:model=%00",
        f"{compared}:model={'a' * 500}",
        f"{compared}&by=metadata.a%0Ab",
        f"/batches/{batch_id}/statistics?split=metadata.%0A",
        f"/batches/{batch_id}?sort=custom_id&after=%5B%22%5Cu0000%22,1%5D",
        f"/batches/{batch_id}?sort=custom_id&after=%5B%22%5Cud800%22,1%5D",
    ):
        assert client.get(path).status_code < 500, path
        page, _, query = path.partition("?")
        if "after" not in query:
            sent = {"csrf": token(client.get("/batches/new")), **dict(parse_qsl(query))}
            assert client.post(page, data=sent).status_code < 500, path


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"text": "\\ud800", "explanation": "b"}\n', "surrogate"),
        (b'{"text": "\\u0000", "explanation": "b"}\n', "U+0000"),
        (json.dumps(dict.fromkeys(map(str, range(300)), 1)).encode(), "at most 200 columns"),
        (b"a" * 300 + b",b\n1,2\n", "at most 200 columns"),
        (b"text,explanation\n" + b"a" * 2_000_001 + b",b\n", "longer than"),
    ],
)
def test_no_table_is_our_fault(client: httpx.Client, content: bytes, reason: str) -> None:
    shown = client.get(uploaded(client, content, "table.csv"))
    assert shown.status_code == 200
    assert reason in shown.text
    assert len(shown.content) < 300_000


def test_a_deep_line_of_an_import_is_a_bad_line(client: httpx.Client) -> None:
    answer = client.post(
        "/v1/judgements?source=x",
        content=DEEP,
        headers={"Content-Type": "application/jsonl"},
    )
    assert answer.status_code == 422


def test_a_name_is_not_the_one_who_has_it(opens: Opens, engine: Engine) -> None:
    """Whoever only says a name takes nothing from the key that has it."""
    _, jobs = make_batch(engine, SCORES, tenant="a")
    path, job = "/v1/judgements", {"job_id": jobs[0]}
    ann, other = opens("a", "review", reviewer="Ann"), opens("a", "review")
    body = job | {"verdict": "agree", "note": "quite so"}
    first = ann.post(path, json=body).raise_for_status().json()
    body = job | {"verdict": "disagree", "reviewer": "Ann"}
    false = other.post(path, json=body).raise_for_status()
    gone = other.post(f"/v1/judgements/{false.json()['id']}/withdraw")
    assert gone.status_code == 200
    assert other.post(f"/v1/judgements/{first['id']}/withdraw").status_code == 403
    [kept] = ann.get("/v1/judgements", params={"job": jobs[0]}).json()["data"]
    assert (kept["id"], kept["verdict"], kept["note"]) == (first["id"], "agree", "quite so")


def test_who_only_judges_makes_no_comparison(opens: Opens, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, SCORES, tenant="a")
    reviewer = entered(opens, "a", "review")
    assert reviewer.get(f"/compare?baseline={batch_id}&new={batch_id}").status_code == 403
    assert reviewer.get(f"/batches/{batch_id}/statistics?split=verdict").status_code == 200


@pytest.mark.parametrize("scope", ["score", "batch", "review"])
def test_the_head_of_a_page_names_only_what_this_key_may_open(opens: Opens, scope: Scope) -> None:
    visitor = entered(opens, "a", scope)
    head = visitor.get("/").text.partition("</nav>")[0].partition("<nav")[2]
    named = re.findall(r'href="(/[a-z]*)"', head)
    assert {path: visitor.get(path).status_code for path in named} == dict.fromkeys(named, 200)
    assert {path for path, _, scopes in PLACES if scope in scopes} <= set(named)
