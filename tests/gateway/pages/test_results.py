"""Finished jobs over real HTTP: every kind of result has a page, and stands in the lists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from services.cot2el.metric import SERVICE as COT2EL_SERVICE
from services.ftc.metric import SERVICE as FTC_SERVICE
from services.ftc.report import FtcBatchReport
from services.hlv.metric import SERVICE as HLV_SERVICE
from services.inference.contract import InferenceResult
from services.similarity.contract import SimilarityResult
from shared.contracts.messages import Message
from shared.ledger import leases
from shared.reports.estimates import BatchStatistics
from tests.cot2el import writers
from tests.fakes import USE
from tests.ftc import test_page
from tests.ftc.test_batch_report import ASKED, rows
from tests.hlv import judges

cot2el = COT2EL_SERVICE.score
hlv = HLV_SERVICE.score


def batch_report(rows: Any, request: Any) -> FtcBatchReport:
    """The report over these results."""
    over = BatchStatistics(FTC_SERVICE.contract, rows, request)
    return FTC_SERVICE.summarize(rows, over)


Ends = Callable[[str, dict[str, Any], Message], str]
PAIRS = {"pairs": [{"a": "one", "b": "two"}]}
JUDGE = {
    "model": "embedded-hate",
    "ask": {"operation": "judge", "examples": [{"text": "We lost again"}]},
}


@pytest.fixture
def ends(client: httpx.Client, engine: Engine) -> Ends:
    """Posts a request and gives it a result; the job's id."""

    def end(path: str, request: dict[str, Any], report: Message) -> str:
        job: str = client.post(path, json=request).raise_for_status().json()["id"]
        with engine.begin() as connection:
            held = leases.claim(connection, job, lease=timedelta(minutes=1), max_attempts=3)
            assert held is not None
            assert leases.succeed(connection, held, report.model_dump(mode="json"))
        return job

    return end


def similar() -> SimilarityResult:
    return SimilarityResult(similarities=(0.625,), model=USE, service_version="1")


def judged() -> InferenceResult:
    return InferenceResult(
        operation="judge",
        answer=[[0.375, 0.625]],
        labels=("no", "yes"),
        model=USE,
        service_version="1",
    )


@pytest.mark.parametrize(
    ("path", "request_body", "report"),
    [("/v1/similarity", PAIRS, similar()), ("/v1/inference", JUDGE, judged())],
)
def test_a_result_that_is_no_score_has_a_page(
    client: httpx.Client, ends: Ends, path: str, request_body: dict[str, Any], report: Message
) -> None:
    job = ends(path, request_body, report)
    page = client.get(f"/jobs/{job}")
    assert (page.status_code, "0.625" in page.text) == (200, True)
    for path in ("/", "/jobs"):
        assert job in client.get(path).text


def test_a_report_over_many_has_a_page(client: httpx.Client, ends: Ends) -> None:
    asked, scored = test_page.scored()
    one = ends("/v1/scores/ftc", asked.model_dump(mode="json"), scored)
    report = batch_report(rows(), ASKED)
    job = ends("/v1/reports", {"metric": "ftc", "jobs": [one]}, report)
    page = client.get(f"/jobs/{job}")
    assert (page.status_code, "The mean score of" in page.text) == (200, True)
    for path in ("/", "/jobs"):
        assert job in client.get(path).text


def test_the_three_have_their_own_pages_and_sheets(client: httpx.Client, ends: Ends) -> None:
    with judges.bound():
        rated = judges.request(model="embedded-nli"), hlv(judges.request(model="embedded-nli"))
    with writers.bound():
        refined = writers.sent(), cot2el(writers.sent())
    for metric, (asked, report) in {
        "ftc": test_page.scored(),
        "cot2el": refined,
        "hlv": rated,
    }.items():
        job = ends(f"/v1/scores/{metric}", asked.model_dump(mode="json"), report)
        page = client.get(f"/jobs/{job}")
        assert page.status_code == 200
        assert (f"/static/{metric}.css" in page.text) is (metric != "hlv")  # it needs none
        assert unescape(page.text).count(str(report.reason)) == 1  # the verdict is said once
        assert " style=" not in page.text
