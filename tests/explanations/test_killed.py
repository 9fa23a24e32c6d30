"""A worker that dies between the stages: what the model answered is not asked for again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from sqlalchemy import Engine, text

from services.explanations import service as explanations
from services.explanations.contract import CONTRACT
from services.explanations.explained_scores import bind_explainer
from services.explanations.service import SERVICE
from services.registry import metrics, service
from shared.ledger import jobs
from shared.ledger.jobs import Job
from shared.worker.job import run_job
from tests.explanations.scripted import HATEFUL, NAME, Scripted, saying
from tests.ledger import expire_lease, find_job

BODY = {
    "text": "Those immigrants are ruining our town",
    "model": NAME,
    "score": {"hatexscore": {"options": {"control_draws": 20}}},
    "seed": 11,
}
PRIVATE = {"do_not_store_text": True}


class Killed(BaseException):
    """No handler of the worker's sees it, as none sees a signal."""


def accept(engine: Engine, **more: Any) -> str:
    request = CONTRACT.request.model_validate({**BODY, **more}).model_dump(mode="json")
    hour = timedelta(hours=1)
    with engine.begin() as connection:
        return jobs.accept(connection, CONTRACT.name, request, key=None, resend_after=hour).job.id


def steps(engine: Engine, job_id: str) -> dict[str, str]:
    """Name → what is stored of it."""
    query = text("SELECT name, content FROM job_steps WHERE job_id = :id")
    with engine.begin() as connection:
        return {row.name: row.content for row in connection.execute(query, {"id": job_id})}


def die(*_: Any) -> Any:
    raise Killed


def lose(engine: Engine, job_id: str, stage: str = "_score_metrics") -> Scripted:
    """The attempt dies where this stage begins, and its lease runs out."""
    with (
        saying(HATEFUL, p=(0.9, 0.1)) as model,
        mock.patch.object(explanations, stage, die),
        pytest.raises(Killed),
    ):
        run_job(job_id, CONTRACT, SERVICE.score)
    expire_lease(engine, job_id)
    return model


def finish(engine: Engine, job_id: str, says: str = HATEFUL) -> tuple[Job, Scripted]:
    with saying(says, p=(0.9, 0.1)) as model:
        run_job(job_id, CONTRACT, SERVICE.score)
    return find_job(engine, job_id), model


@pytest.mark.parametrize("private", [{}, PRIVATE], ids=["stored", "not stored"])
def test_an_attempt_that_died_between_the_stages_asked_for_all(
    engine: Engine, private: dict[str, bool]
) -> None:
    job_id = accept(engine, **private)
    first = lose(engine, job_id)
    assert (len(first.prompts), len(first.samplings)) == (1, 1)
    ended, second = finish(engine, job_id)
    assert (ended.status, ended.attempts) == ("succeeded", 2)
    assert second.prompts == []  # one generation
    assert ended.result is not None
    assert [one["metric"] for one in ended.result["scores"]] == ["hatexscore"]  # one score
    assert ended.result["elicitation"]["decision"] == "hateful"
    undisturbed, _ = finish(engine, accept(engine, **private))
    assert ended.result == undisturbed.result  # equal bytes on repeat with the seed


def test_what_was_answered_is_kept_though_the_judgement_was_lost(engine: Engine) -> None:
    job_id = accept(engine)
    first = lose(engine, job_id, stage="_predict")
    assert (len(first.prompts), first.judged) == (1, [])
    ended, second = finish(engine, job_id, says="Something else. Conclusion: non-hateful.")
    assert second.prompts == []
    assert len(second.judged) >= 1
    assert ended.result is not None
    assert ended.result["elicitation"]["answer"] == HATEFUL


def test_an_attempt_that_died_before_the_answer_asks_again(engine: Engine) -> None:
    job_id = accept(engine)
    lose(engine, job_id, stage="_write")
    assert steps(engine, job_id) == {}
    ended, second = finish(engine, job_id)
    assert (ended.status, len(second.prompts)) == ("succeeded", 1)


def test_what_was_kept_goes_with_the_end_of_the_job(engine: Engine) -> None:
    for private, stands in (({}, True), (PRIVATE, False)):
        job_id = accept(engine, **private)
        lose(engine, job_id)
        kept = steps(engine, job_id)
        assert set(kept) == {"answer", "judgement"}
        assert ("immigrants are ruining" in kept["answer"]) is stands
        assert ("Conclusion" in kept["answer"]) is stands
        finish(engine, job_id)
        assert steps(engine, job_id) == {}


def test_a_cancelled_job_keeps_no_answer(engine: Engine) -> None:
    job_id = accept(engine)
    lose(engine, job_id)
    assert steps(engine, job_id)
    with engine.begin() as connection:
        assert jobs.cancel(connection, job_id).status == "cancelled"
    assert steps(engine, job_id) == {}


def test_a_worker_that_was_thought_dead_keeps_nothing(engine: Engine) -> None:
    """It comes back with an answer when another attempt has the job: the fence holds."""
    job_id = accept(engine)
    write = explanations._write

    def slow(*asked: Any) -> Any:
        answer = write(*asked)
        query = text("UPDATE jobs SET attempts = attempts + 1 WHERE id = :id")
        with engine.begin() as connection:
            connection.execute(query, {"id": job_id})
        return answer

    with saying(HATEFUL, p=(0.9, 0.1)), mock.patch.object(explanations, "_write", slow):
        run_job(job_id, CONTRACT, SERVICE.score)
    assert steps(engine, job_id) == {}
    assert find_job(engine, job_id).status == "running"


def test_what_another_version_was_told_is_not_taken(engine: Engine) -> None:
    job_id = accept(engine)
    lose(engine, job_id)
    with engine.begin() as connection:
        connection.execute(text("UPDATE job_steps SET fingerprint = 'of another question'"))
    ended, second = finish(engine, job_id)
    assert (ended.status, len(second.prompts)) == ("succeeded", 1)


KILLS_ITSELF = """
import os, signal, sys
from services.explanations import service
from services.explanations.contract import CONTRACT
from shared.worker.job import run_job
from tests.explanations.scripted import HATEFUL, Scripted, saying

job_id, says, told, dies = sys.argv[1:]
generate = Scripted.generate

def counted(self, *asked):
    with open(told, "a") as file:
        file.write("generated\\n")
    return generate(self, *asked)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

Scripted.generate = counted
if dies == "yes":
    service._score_metrics = die
with saying(says, p=(0.9, 0.1)):
    run_job(job_id, CONTRACT, service.SERVICE.score)
"""


def test_a_killed_process_costs_no_second_generation(engine: Engine, tmp_path: Path) -> None:
    job_id, told = accept(engine, score=["sor"]), tmp_path / "told"
    script = [sys.executable, "-c", KILLS_ITSELF, job_id, HATEFUL, str(told)]
    killed = subprocess.run([*script, "yes"], check=False, env=os.environ, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert find_job(engine, job_id).status == "running"
    expire_lease(engine, job_id)
    subprocess.run([*script, "no"], check=True, env=os.environ, timeout=300)
    ended = find_job(engine, job_id)
    assert (ended.status, ended.attempts) == ("succeeded", 2)
    assert ended.result is not None
    assert [one["metric"] for one in ended.result["scores"]] == ["sor"]
    assert told.read_text().splitlines() == ["generated"]


def test_a_metric_s_own_job_asks_once_too(engine: Engine) -> None:
    """With `explain`: its worker died between the explanation and the score."""
    contract, body = metrics()["hatexscore"], {**BODY, "explain": True}
    body.pop("score")
    asked = contract.request.model_validate(body).model_dump(mode="json")
    hour = timedelta(hours=1)
    with engine.begin() as connection:
        job_id = jobs.accept(connection, contract.name, asked, key=None, resend_after=hour).job.id
    bind_explainer()
    score = service(contract.name).score
    with (
        saying(HATEFUL, p=(0.9, 0.1)) as first,
        mock.patch.object(explanations, "_score_metrics", die),
        pytest.raises(Killed),
    ):
        run_job(job_id, contract, score)
    expire_lease(engine, job_id)
    with saying("Something else.", p=(0.9, 0.1)) as second:
        run_job(job_id, contract, score)
    ended = find_job(engine, job_id)
    assert (len(first.prompts), len(second.prompts), ended.attempts) == (1, 0, 2)
    assert ended.result is not None
    assert ended.result["score"] is not None
    assert ended.result["elicitation"]["answer"] == HATEFUL
    assert steps(engine, job_id) == {}
