"""Batch reports: results come in order, what is left out is named, the metric sums up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert

from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.messages import Scored
from shared.ledger import jobs
from shared.ledger.jobs import Job
from shared.ledger.tables import batch_lines, batches
from shared.reports.estimates import BatchStatistics
from shared.worker import register, registered
from shared.worker.job import run_job
from shared.worker.tasks import collect_results
from tests.echo_metric import ECHO, Echo, EchoReport, EchoRequest, echo
from tests.ledger import fail, find_job

MINUTE = timedelta(minutes=1)
CONTRACT = ECHO.batch
MEAN = "Their mean score is 1 (interval 0.158 to 1)."

seen: list[Sequence[Scored[Any, Any]]] = []


class Remembering(Echo):
    def summarize(
        self, rows: Sequence[Scored[EchoRequest, EchoReport]], over: BatchStatistics[Any]
    ) -> BatchReport:
        seen.append(rows)
        return super().summarize(rows, over)


register(Remembering())


def accept(engine: Engine, metric: str, request: dict[str, Any]) -> str:
    with engine.begin() as connection:
        return jobs.accept(connection, metric, request, key=None, resend_after=MINUTE).job.id


def echoed(engine: Engine, content: str) -> str:
    """A job of the echo metric that has ended."""
    job_id = accept(engine, "echo", EchoRequest(text=content).model_dump(mode="json"))
    run_job(job_id, ECHO, echo)
    return job_id


def reported(engine: Engine, **asked: Any) -> Job:
    """The report's job, ended."""
    job_id = accept(engine, CONTRACT.name, BatchReportRequest(**asked).model_dump(mode="json"))
    run_job(job_id, CONTRACT, registered[CONTRACT.name].score)
    return find_job(engine, job_id)


Line = tuple[str, str | None, dict[str, str]]


def failed(engine: Engine, content: str) -> str:
    """A job of the echo metric that has failed."""
    job_id = accept(engine, "echo", EchoRequest(text=content).model_dump(mode="json"))
    fail(engine, job_id, {"type": "x/y", "status": 500, "detail": "d"})
    return job_id


def with_lines(engine: Engine, lines: Sequence[Line], batch_id: str = "batch_1") -> None:
    """A batch of lines with custom_id, job and metadata."""
    with engine.begin() as connection:
        connection.execute(
            insert(batches).values(
                id=batch_id,
                metric="echo",
                endpoint="/v1/scores/echo",
                input_file_id="file_1",
                metadata={},
                expires_at=func.now(),
            )
        )
        connection.execute(
            insert(batch_lines),
            [
                {
                    "batch_id": batch_id,
                    "number": number,
                    "custom_id": custom_id,
                    "fingerprint": "",
                    "request": {},
                    "job_id": job_id,
                    "caller": {"metadata": own} if own else None,
                }
                for number, (custom_id, job_id, own) in enumerate(lines, 1)
            ],
        )


def test_listed_jobs_come_in_the_listed_order_and_the_rest_is_counted(engine: Engine) -> None:
    ids = [echoed(engine, text) for text in ("b", "bad", "a")]
    waiting = accept(engine, "echo", EchoRequest(text="c").model_dump(mode="json"))
    result = reported(engine, jobs=(ids[2], waiting, *ids[:2])).result
    assert result is not None
    assert [row.request.text for row in seen[-1]] == ["a", "b"]
    assert [row.report.echo for row in seen[-1]] == ["a", "b"]
    assert result["left_out"] == {"failed": 1, "queued": 1}
    assert (result["scored"], result["score"]["value"]) == (2, 1.0)
    assert (
        result["finding"]
        == "Of 2 explanations 2 could not be tested. These are too few for a conclusion. " + MEAN
    )


def test_a_batch_comes_in_the_order_of_its_lines_and_equal_lines_count_once(
    engine: Engine,
) -> None:
    first, second = echoed(engine, "one"), echoed(engine, "two")
    lines: list[Line] = [("z", second, {}), ("y", first, {}), ("x", second, {}), ("w", None, {})]
    with_lines(engine, lines)
    result = reported(engine, batch="batch_1").result
    assert result is not None
    assert [(row.custom_id, row.report.echo) for row in seen[-1]] == [
        ("z", "two"),
        ("y", "one"),
    ]
    assert result["left_out"] == {"waiting": 1}
    assert result["duplicates"] == 1
    assert "1 result repeats other results and counts only once" in result["warnings"]
    assert result["finding"].startswith(
        "Of 3 explanations 3 could not be tested. These are too few for a conclusion. "
        "1 of the 3 repeats other results, and repeated results count once. "
        "Means are over 2 results with a score."
    )


def test_a_split_counts_each_line_under_its_own_value_though_lines_share_a_job(
    engine: Engine,
) -> None:
    shared_job, other = echoed(engine, "one"), echoed(engine, "two")
    markets = ("nl", "de", "de", None)
    told = [{} if market is None else {"market": market} for market in markets]
    ids = (shared_job, shared_job, other, shared_job)
    with_lines(engine, list(zip("zyxw", ids, told, strict=True)))
    result = reported(engine, batch="batch_1", by=("metadata.market",)).result
    assert result is not None
    (split,) = result["splits"]
    assert {one["value"]: one["results"] for one in split["values"]} == {"nl": 1, "de": 2}
    assert split["without"] == 1


@pytest.mark.parametrize("needs_text", [True, False])
def test_results_without_text_count_where_no_text_is_needed(
    engine: Engine, needs_text: bool
) -> None:
    job_id = accept(
        engine, "echo", EchoRequest(text="a", do_not_store_text=True).model_dump(mode="json")
    )
    run_job(job_id, ECHO, echo)
    contract = replace(CONTRACT, needs_text=needs_text)
    results = collect_results(contract, ECHO, request(jobs=(job_id,)))
    assert [row.report.score for row in results.rows] == ([] if needs_text else [1.0])
    assert results.left_out == ({"text_not_kept": 1} if needs_text else {})


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"batch": "batch_0"}, "#/batch"),
        ({"jobs": ("job_0",)}, "#/jobs/0"),
    ],
)
def test_what_nobody_knows_is_refused(engine: Engine, asked: dict[str, Any], pointer: str) -> None:
    error = reported(engine, **asked).error
    assert error is not None
    assert error["errors"][0]["pointer"] == pointer


def test_a_job_of_another_metric_is_refused(engine: Engine) -> None:
    other = accept(engine, "other", {})
    error = reported(engine, jobs=(echoed(engine, "a"), other)).error
    assert error is not None
    assert error["errors"][0]["pointer"] == "#/jobs/1"


def request(**more: Any) -> BatchReportRequest:
    return BatchReportRequest(**{"jobs": ("job_1",)} | more)


def of_version(version: str, text: str = "old") -> EchoReport:
    made = echo(EchoRequest(text=text))
    origin = made.provenance.model_copy(update={"metric_version": version})
    return made.model_copy(update={"provenance": origin})


def carried(engine: Engine, text: str, version: str) -> str:
    job_id = accept(engine, "echo", EchoRequest(text=text).model_dump(mode="json"))
    run_job(job_id, ECHO, lambda asked: of_version(version, asked.text))
    return job_id


def test_results_of_two_versions_are_refused_unless_they_may_be_mixed(engine: Engine) -> None:
    ids = tuple(carried(engine, f"t{version}", version) for version in ("1.0", "2.0"))
    error = reported(engine, jobs=ids).error
    assert error is not None
    assert error["errors"][0]["pointer"] == "#/mixed"
    assert "1.0, 2.0" in error["detail"]
    result = reported(engine, jobs=ids, mixed=True).result
    assert result is not None
    assert "results of several metric versions are averaged: 1.0, 2.0" in result["warnings"]


def test_another_system_s_jobs_are_compared_and_what_they_lack_is_counted(engine: Engine) -> None:
    ours = tuple(echoed(engine, text) for text in ("a", "b", "c"))
    theirs = tuple(echoed(engine, text) for text in ("B ", "bad", "a"))
    result = reported(engine, jobs=ours, against={"jobs": theirs}).result
    assert result is not None
    found = result["comparison"]
    assert (found["pairs"], found["unpaired_new"], found["unpaired_baseline"]) == (2, 1, 0)
    assert found["left_out"] == {"failed": 1}
    assert found["differences"][0]["component"] == "score"
    assert (found["differences"][0]["p_value"], found["differences"][0]["equal"]) == (1, 2)
    assert result["corrected"]["comparison.differences.p_adjusted"].startswith("`p_value` after")


def test_lines_that_failed_count_as_lost_if_the_other_run_scored_them(engine: Engine) -> None:
    team = {"team": "a"}
    new = [
        ("kept", echoed(engine, "kept"), team),
        *((f"lost {n}", failed(engine, f"text {n}"), team) for n in range(3)),
        ("other text", failed(engine, "another"), team),
        ("other team", failed(engine, "text"), {"team": "b"}),
        ("new", failed(engine, "new"), team),
    ]
    base = [
        ("kept", echoed(engine, "kept"), team),
        *((f"lost {n}", echoed(engine, f"text {n}"), team) for n in range(3)),
        ("other text", echoed(engine, "own"), team),
        ("other team", echoed(engine, "text"), team),
        ("never", failed(engine, "never"), team),
    ]
    with_lines(engine, new)
    with_lines(engine, base, "batch_2")
    sides = [{"batch": name, "of_metadata": team} for name in ("batch_1", "batch_2")]
    for (first, second), expected in ((sides, (3, 0)), (sides[::-1], (0, 3))):
        result = reported(engine, **first, against=second).result
        assert result is not None
        comparison = result["comparison"]
        assert comparison["pairs"] == 1
        assert (comparison["undefined_new"], comparison["undefined_baseline"]) == expected


def test_a_further_study_is_planned_from_the_results_and_from_both_systems(engine: Engine) -> None:
    ours = tuple(echoed(engine, text) for text in ("a", "bb", "ccc"))
    asked = {"plan": {"effect": 0.1, "beat_rate": 0.99}, "against": {"jobs": ours[:2]}}
    result = reported(engine, jobs=ours, **asked).result
    assert result is not None
    planned = result["plan"]
    assert planned["wanted"] == {"effect": 0.1, "beat_rate": 0.99, "power": 0.8, "alpha": 0.05}
    assert (planned["draws"], planned["one_sided_draws"]) == (None, None)
    assert "draws: echo does not compare explanations with random ones" in planned["warnings"]
    assert planned["compared_texts"] is None  # it was compared with itself, and nothing bounds it
    assert any("compared_texts: the spread" in one for one in planned["warnings"])


def test_an_unknown_job_of_the_other_system_is_pointed_at(engine: Engine) -> None:
    error = reported(engine, jobs=(echoed(engine, "a"),), against={"jobs": ("job_0",)}).error
    assert error is not None
    assert error["errors"][0]["pointer"] == "#/against/jobs/0"


def test_a_text_is_known_by_its_hash_once_it_is_gone(engine: Engine) -> None:
    asked = [EchoRequest(text=text, do_not_store_text=True) for text in ("One  text", "one TEXT")]
    ids = [accept(engine, "echo", one.model_dump(mode="json")) for one in asked]
    ids.append(accept(engine, "echo", EchoRequest(text="one text", seed=3).model_dump(mode="json")))
    ids.append(accept(engine, "echo", EchoRequest(text="two").model_dump(mode="json")))
    for job_id in ids:
        run_job(job_id, ECHO, echo)
    rows = collect_results(CONTRACT, ECHO, request(jobs=tuple(ids))).rows
    found = {row.report.provenance.text_key for row in rows}
    assert (len(found), None in found) == (2, False)
    assert "one" not in " ".join(str(key) for key in found)
    keys = BatchStatistics(ECHO, rows, request()).keys()
    assert (len(set(keys)), len(set(keys[:3]))) == (2, 1)
    assert len(set(BatchStatistics(ECHO, rows[:2], request()).keys())) == 1
