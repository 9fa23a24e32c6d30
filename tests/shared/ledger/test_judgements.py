"""A judgement that is sent again is the first one; another word of it is a second thought."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from shared.ledger import judgements
from shared.ledger.judgements import JudgementFilter, Origin, ReviewerJudgement
from shared.ledger.tables import DEFAULT_TENANT
from tests.gateway.judged import make_batch

ANN = Origin(DEFAULT_TENANT, "Ann", request_id="first")
SPAN = {"of": "text", "start": 0, "end": 4}
SAID = {
    "verdict": "disagree",
    "human_score": 0.25,
    "human_label": "hateful",
    "spans": [SPAN],
    "note": "it quotes nothing",
    "blind": True,
    "seconds": 7.5,
}


def judge(
    engine: Engine, job: str, origin: Origin = ANN, **more: Any
) -> tuple[ReviewerJudgement, bool]:
    with engine.begin() as connection:
        return judgements.write(connection, job, SAID | more, origin)


def history(engine: Engine, job: str) -> list[str]:
    with engine.connect() as connection:
        wanted = JudgementFilter(DEFAULT_TENANT, job_id=job, history=True)
        return [one.id for one in judgements.page_of(connection, wanted, 100)[0]]


def test_the_same_again_is_the_first(engine: Engine) -> None:
    _, (job,) = make_batch(engine, [0.9])
    first, is_known = judge(engine, job)
    assert not is_known
    later = Origin(DEFAULT_TENANT, "Ann", request_id="second")
    for same in ({}, {"seconds": 9.0}, {"blind": False}, {"about": "score"}, {"source": "file"}):
        assert judge(engine, job, later, **same) == (first, True)
    assert history(engine, job) == [first.id]


def test_an_empty_note_is_none(engine: Engine) -> None:
    _, (job,) = make_batch(engine, [0.9])
    first, _ = judge(engine, job, note="")
    assert first.note is None
    assert judge(engine, job, note=None) == (first, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"verdict": "agree"},
        {"human_score": None},
        {"human_score": 0.5},
        {"human_label": "friendly"},
        {"note": None},
        {"note": "it quotes nothing."},
        {"spans": []},
        {"spans": [SPAN | {"end": 5}]},
    ],
)
def test_what_has_changed_supersedes(engine: Engine, changed: dict[str, Any]) -> None:
    _, (job,) = make_batch(engine, [0.9])
    first, _ = judge(engine, job)
    second, is_known = judge(engine, job, **changed)
    assert (second.supersedes, is_known) == (first.id, False)
    third, _ = judge(engine, job)  # back to what was said first: the one before is no more
    assert third.supersedes == second.id
    assert history(engine, job) == [third.id, second.id, first.id]


def test_others_subjects_and_queues_have_answers_of_their_own(engine: Engine) -> None:
    _, (job,) = make_batch(engine, [0.9])
    first, _ = judge(engine, job, blind=False)
    ben, proven = Origin(DEFAULT_TENANT, "Ben"), Origin(DEFAULT_TENANT, "Ann", verified=True)
    for other in (judge(engine, job, ben), judge(engine, job, proven)):
        assert (other[0].supersedes, other[1]) == (None, False)
    assert judge(engine, job, about="QF")[0].supersedes is None
    blind, is_known = judge(engine, job)
    assert (blind.supersedes, is_known) == (first.id, False)
    asked, is_known = judge(engine, job, queue_id="rq_1")
    assert (asked.supersedes, is_known) == (blind.id, False)
    assert judge(engine, job, queue_id="rq_1") == (asked, True)
    assert judge(engine, job) == (asked, True)  # from the job's page: the queue's stays it


def test_what_was_withdrawn_is_said_anew(engine: Engine) -> None:
    _, (job,) = make_batch(engine, [0.9])
    first, _ = judge(engine, job)
    with engine.begin() as connection:
        gone = judgements.withdraw(connection, first.id, ANN)
    again, is_known = judge(engine, job)
    assert (again.supersedes, is_known) == (gone.id, False)
