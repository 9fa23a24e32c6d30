"""A worker for each service, models over the queue: the same results, and nothing is lost.

So neither the binding, nor the number of workers, nor the order of the jobs changes a byte, where
bytes are promised; elsewhere no number moves by more than is.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.agreement import difference
from services import registry
from services.registry import metrics
from tests.answers import CheckedClient
from tests.end_to_end.load import all_succeed_once, examples, finished
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS, busy

pytestmark = pytest.mark.end_to_end

SCORED_BY_EMBEDDED = ("hatexscore", "ice", "ftc")
CASES = [
    (metric, name)
    for metric in SCORED_BY_EMBEDDED
    for name, body in metrics()[metric].examples.items()
    if "extractor" not in body and "template" not in body  # those ask a language model
]
TWICE = 2


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Workers apart; a lost call is sent again after 30 seconds of an idle machine."""
    folder: Path = tmp_path_factory.mktemp("apart")
    options = ("--services", *SCORED_BY_EMBEDDED, "inference", "similarity")
    seconds = str(round(30 * busy()))
    with serving(folder, "--separate", *options, TOUCHSTONE_CALL_SECONDS=seconds) as running:
        yield running


@pytest.mark.usefixtures("_embedded_models")
def test_the_same_results_apart_and_here_though_the_inference_worker_is_killed(
    service: Service,
) -> None:
    apart = all_succeed_once(service, 40, 8, lambda running: running.kill("inference"))
    metric = metrics()["hatexscore"]
    for body, result in zip(examples(), apart, strict=True):
        here = registry.service("hatexscore").score(metric.request.model_validate(body))
        assert difference(result, here.model_dump(mode="json")) is None


@pytest.fixture(scope="module")
def jobs(service: Service) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Every case twice, all at once, the second time in the opposite order."""

    def post(case: tuple[str, str]) -> tuple[tuple[str, str], dict[str, Any]]:
        body = metrics()[case[0]].examples[case[1]]
        return case, finished(client, f"/v1/scores/{case[0]}", body)

    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with (
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        for case, job in pool.map(post, [*CASES, *reversed(CASES)]):
            found.setdefault(case, []).append(job)
    return found


@pytest.mark.usefixtures("_embedded_models")
@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_same_as_in_one_process(
    jobs: dict[tuple[str, str], list[dict[str, Any]]], case: tuple[str, str]
) -> None:
    metric, name = case
    contract = metrics()[metric]
    request = contract.request.model_validate(contract.examples[name])
    expected = registry.service(metric).score(request)
    assert len(jobs[case]) == TWICE
    for job in jobs[case]:
        assert job["status"] == "succeeded", job["error"]
        assert difference(job["result"], expected.model_dump(mode="json")) is None


@pytest.mark.parametrize("metric", SCORED_BY_EMBEDDED)
def test_a_report_over_these_jobs(
    service: Service, jobs: dict[tuple[str, str], list[dict[str, Any]]], metric: str
) -> None:
    ids = [job["id"] for case, some in jobs.items() if case[0] == metric for job in some]
    body = {"metric": metric, "jobs": ids, "resamples": 100}
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        job = finished(client, "/v1/reports", body)
    result = job["result"]
    assert result["scored"] * TWICE == result["scored"] + result["duplicates"] == len(ids)
    assert result["left_out"] == {}
    for plot in result["plots"]:
        assert plot["svg"].lstrip().startswith("<?xml") or "<svg" in plot["svg"]
