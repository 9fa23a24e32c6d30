"""A worker for each service, models over the queue: the same results, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.agreement import difference
from services import registry
from services.registry import metrics
from tests.answers import CheckedClient
from tests.end_to_end.load import all_succeed_once, examples, finished
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS, busy

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Workers apart; a lost call is asked again after five seconds of an idle machine."""
    folder: Path = tmp_path_factory.mktemp("apart")
    options = ("--services", "hatexscore", "inference", "similarity")
    seconds = str(round(5 * busy()))
    with serving(folder, "--separate", *options, TOUCHSTONE_CALL_SECONDS=seconds) as running:
        yield running


@pytest.mark.usefixtures("_embedded_models")
def test_the_same_results_apart_and_here_though_the_inference_worker_is_killed(
    service: Service,
) -> None:
    apart = all_succeed_once(service, 60, 12, lambda running: running.kill("inference"))
    metric = metrics()["hatexscore"]
    for body, result in zip(examples(), apart, strict=True):
        here = registry.service("hatexscore").score(metric.request.model_validate(body))
        assert difference(result, here.model_dump(mode="json")) is None


def test_the_inference_room_answers_jobs_of_its_own(service: Service) -> None:
    body = {
        "model": "embedded-hate",
        "ask": {"operation": "judge", "examples": [{"text": "a lovely day"}, {"text": "rain"}]},
    }
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        job = finished(client, "/v1/inference", body)
        refused = client.post("/v1/inference", json=body | {"ask": {"operation": "dance"}})
    assert job["result"]["labels"] == ["non-hateful", "hateful"]
    assert [sum(row) for row in job["result"]["answer"]] == pytest.approx([1, 1])
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "#/ask"


def test_the_similarity_room_answers_jobs_of_its_own(service: Service) -> None:
    pairs = [{"a": "We lost the match", "b": "The game was lost"}, {"a": "rain", "b": "rain"}]
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        job = finished(client, "/v1/similarity", {"pairs": pairs})
        refused = client.post("/v1/similarity", json={"pairs": pairs, "model": "embedded-hate"})
    alike, same = job["result"]["similarities"]
    assert 0.5 < alike < 1
    assert same == pytest.approx(1, abs=1e-6)
    assert job["result"]["model"]["name"] == "embedded-similarity"
    assert refused.status_code == 422
