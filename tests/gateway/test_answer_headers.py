"""No answer of the API is kept by anybody; counters are not for strangers."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cli.stack.servers import HOST
from services.gateway.answer_headers import without_host
from services.gateway.app import create_app
from services.gateway.server import start_metrics_server
from shared.process.settings import Settings
from tests.gateway.conftest import Opens
from tests.gateway.serving import serving
from tests.gateway.test_scores import GOOD, URL


def guarded(answer: httpx.Response) -> bool:
    """Whether nobody keeps the answer or guesses its type."""
    headers = answer.headers
    return headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"


def test_every_answer_of_the_api_is_kept_by_nobody(client: httpx.Client) -> None:
    job = client.post(URL, json=GOOD)
    answers = [job, client.post(URL, json={}), client.post(URL, content=b"x" * 2_000_000)]
    paths = ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/jobs", "/v1/models", "/none")
    answers += [client.get(path) for path in (*paths, job.headers["location"], "/v1/jobs/x")]
    answers += [client.put("/v1/jobs"), client.get("/v1/jobs", headers={"Host": "a.example"})]
    for answer in answers:
        assert guarded(answer), answer.url
    with client.stream("GET", f"{job.headers['location']}/events") as events:
        assert guarded(events)
        assert events.headers["x-accel-buffering"] == "no"


def test_assets_are_still_kept(client: httpx.Client) -> None:
    page = client.get("/")
    asset = page.text.partition('href="/static/')[2].partition('"')[0]
    assert "immutable" in client.get(f"/static/{asset}").headers["cache-control"]


@pytest.mark.parametrize("path", ["/jobs/", "/batches/new/?a=b", "/static", "/v1/jobs/"])
def test_who_is_sent_on_stays_here_whatever_host_was_named(opens: Opens, path: str) -> None:
    """With keys a gateway answers to any name; a cache may keep what it says."""
    answer = opens().get(path, headers={"Host": "elsewhere.example"})
    assert answer.status_code == 307
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith("//")
    assert "elsewhere" not in str(answer.headers)


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("http://h/jobs?a=b", "/jobs?a=b"),
        ("http://h//other.example/", "/other.example/"),
        ("https://[", "/"),
        ("/login?next=http://h/jobs", "/login?next=http://h/jobs"),
    ],
)
def test_an_address_loses_its_host_alone(said: str, sent: str) -> None:
    assert without_host(said) == sent


def test_a_crash_is_kept_by_nobody_either(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("services.gateway.routes.jobs.metadata_filter", crash)
    answer = client.get("/v1/jobs")
    assert answer.status_code == 500
    assert guarded(answer)


def test_with_keys_the_counters_are_not_on_the_public_port(opens: Opens) -> None:
    with opens() as client:
        assert client.get("/metrics").status_code == 404
        del client.headers["Authorization"]
        assert client.get("/metrics").status_code == 404


def test_with_a_port_of_their_own_the_counters_are_there_only(chosen: Settings) -> None:
    apart = chosen.model_copy(update={"authentication": "none", "metrics_port": 1})
    with serving(apart) as url:
        assert httpx.get(f"{url}/metrics").status_code == 404


def test_the_port_of_their_own_says_everything(chosen: Settings) -> None:
    app = create_app(chosen)
    server = start_metrics_server(app, HOST, 0)
    try:
        url = f"http://{HOST}:{server.server_port}"
        found = httpx.get(f"{url}/metrics")
        names = {family.name for family in text_string_to_metric_families(found.text)}
        assert {"touchstone_http_request_seconds", "touchstone_jobs_open"} <= names
        assert httpx.get(f"{url}/v1/jobs").status_code == 404
    finally:
        server.shutdown()
        server.server_close()
        app.state.gateway.engine.dispose()
