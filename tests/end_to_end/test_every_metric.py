"""Every metric through workers of their own, asking models over the queue, says what it says here.

So neither the binding, nor the number of workers, nor the order of the jobs changes a byte, where
bytes are promised; elsewhere no number moves by more than is.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.agreement import difference
from services.registry import metrics, service
from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import serving

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
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A worker for each service."""
    folder: Path = tmp_path_factory.mktemp("every")
    served = (*SCORED_BY_EMBEDDED, "inference", "similarity")
    with (
        serving(folder, "--separate", "--services", *served) as service,
        CheckedClient(base_url=service.url, timeout=120) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def jobs(client: httpx.Client) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Every case twice, all at once, the second time in the opposite order."""

    def post(case: tuple[str, str]) -> tuple[tuple[str, str], dict[str, Any]]:
        body = metrics()[case[0]].examples[case[1]]
        return case, finished(client, f"/v1/scores/{case[0]}", body)

    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with ThreadPoolExecutor(8) as pool:
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
    expected = service(metric).score(request)
    assert len(jobs[case]) == TWICE
    for job in jobs[case]:
        assert job["status"] == "succeeded", job["error"]
        assert difference(job["result"], expected.model_dump(mode="json")) is None


@pytest.mark.parametrize("metric", SCORED_BY_EMBEDDED)
def test_a_report_over_these_jobs(
    client: httpx.Client, jobs: dict[tuple[str, str], list[dict[str, Any]]], metric: str
) -> None:
    ids = [job["id"] for case, some in jobs.items() if case[0] == metric for job in some]
    body = {"jobs": ids, "resamples": 100}
    job = finished(client, f"/v1/reports/{metric}", body)
    result = job["result"]
    assert result["scored"] * TWICE == result["scored"] + result["duplicates"] == len(ids)
    assert result["left_out"] == {}
    for plot in result["plots"]:
        assert plot["svg"].lstrip().startswith("<?xml") or "<svg" in plot["svg"]
