"""What the gateway says of itself: OpenAPI, models, health, metrics; and what it does not load."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest

from services.gateway.http_requests import parse_wait
from services.registry import metrics, service
from shared.models import ports
from shared.reports.metric import Metric
from tests import metric_laws
from tests.shipped import shipped_models


def test_models_carry_their_hash(client: httpx.Client) -> None:
    data = client.get("/v1/models").json()["data"]
    hate = next(card for card in data if card["name"] == "embedded-hate")
    assert len(hate["sha256"]) == 64
    assert hate["languages"] == ["en", "de", "es", "fr", "it", "nl", "pl", "pt", "zh"]


def test_models_are_listed_page_by_page(client: httpx.Client) -> None:
    names = [card["id"] for card in client.get("/v1/models").json()["data"]]
    read: list[str] = []
    while True:
        after = f"&after={read[-1]}" if read else ""
        page = client.get(f"/v1/models?limit=2{after}").json()
        read += [card["id"] for card in page["data"]]
        assert page["last_id"] == read[-1]
        if not page["has_more"]:
            break
    assert read == names
    # a model that left models.toml between two pages: its name need not be there
    after_it = client.get(f"/v1/models?after={names[0]}!").json()["data"]
    assert [card["id"] for card in after_it] == names[1:]
    for query in ("limit=0", "name=embedded-hate"):
        assert client.get(f"/v1/models?{query}").status_code == 422


def test_health(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").status_code == 200
    assert "touchstone_http_request_seconds" in client.get("/metrics").text


def test_a_wrong_method_is_told_all_that_there_are(client: httpx.Client) -> None:
    endpoint = "/v1/webhook-endpoints/we_" + "0" * 32
    for path, methods in {
        "/v1/files": "GET, HEAD, POST",
        endpoint: "DELETE, PATCH",
    }.items():
        answer = client.put(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)
    assert client.put("/metrics").headers["allow"] == "GET, HEAD"  # not described, and still said


PROBE = """
import json, sys
from services.gateway.app import create_app
from types import SimpleNamespace
from services.gateway.pages.jobs import result_html
from shared.process.settings import Settings
create_app(Settings())
for metric, request, result in json.load(sys.stdin):
    job = SimpleNamespace(metric=metric, request=request, result=result)
    assert "</section>" in result_html(job), metric
heavy = {'torch', 'numpy', 'scipy', 'transformers', 'sentence_transformers', 'spacy', 'jieba',
         'kiwipiepy', 'peft', 'vl_convert'}
print(sorted(heavy & set(sys.modules)))
"""


def test_the_gateway_starts_and_shows_every_page_without_model_code() -> None:
    ports.bind(shipped_models())
    results = []
    for name in metrics():
        metric = service(name)
        assert isinstance(metric, Metric)
        request, report = metric_laws.first_scored_example(metric)
        results.append((name, request.model_dump(mode="json"), report.model_dump(mode="json")))
    ports.bind(None)
    ran = subprocess.run(
        [sys.executable, "-c", PROBE],
        input=json.dumps(results),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("wait=5", 5),
        ("respond-async, wait=10", 10),
        ('wait="7"; foo', 7),
        ("wait=999", 30),
        ("wait=-1", 0),
        ("wait=x", 0),
        ("await=5", 0),
        ("WAIT = 3", 3),
    ],
)
def test_prefer_wait(prefer: str | None, seconds: int) -> None:
    assert parse_wait(prefer) == seconds


def test_models_say_what_their_outputs_stand_for(client: httpx.Client) -> None:
    data = client.get("/v1/models").json()["data"]
    hate = next(card for card in data if card["name"] == "embedded-hate")
    assert hate["outputs"] == hate["labels"] == ["non-hateful", "hateful"]
    assert hate["mapping"] == {"non-hateful": ["non-hateful"], "hateful": ["hateful"]}
    assert (hate["activation"], hate["warnings"]) == ("softmax", [])
    assert "fault" not in hate
