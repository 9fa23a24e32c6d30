"""The scheduler writes the rows of results: soon after a job has ended, each once."""

from __future__ import annotations

from sqlalchemy import func, select, update

from services.scheduler.facts import Facts
from shared.ledger.tables import result_facts, score_hours
from tests.batches import Scene, line


def test_it_writes_lines_and_single_jobs_in_portions(scene: Scene) -> None:
    made = scene.finish(scene.make([line(f"id {number}", f"t{number}") for number in range(5)]))
    scene.client.post("/v1/scores/hatexscore", json=line("", "alone")["body"]).raise_for_status()
    scene.work()
    facts = Facts(scene.engine, at_once=2)
    assert [facts.round() for _ in range(4)] == [2, 2, 0, 0]
    with scene.engine.connect() as connection:
        rows = connection.execute(
            select(result_facts.c.batch_id, func.count()).group_by(result_facts.c.batch_id)
        )
        assert dict(map(tuple, rows)) == {made["id"]: 5, None: 1}
        counted = connection.execute(select(func.sum(score_hours.c.results))).scalar_one()
        assert counted == 6


def test_rows_of_another_version_are_written_anew(scene: Scene) -> None:
    scene.finish(scene.make([line("one", "a"), line("two", "b"), line("three", "c")]))
    facts = Facts(scene.engine, at_once=2)
    while facts.round():
        pass
    with scene.engine.begin() as connection:
        connection.execute(update(result_facts).values(rules="of before", reasons=["old"]))
    assert [facts.round() for _ in range(3)] == [2, 0, 0]
    with scene.engine.connect() as connection:
        counted = connection.execute(select(func.sum(score_hours.c.results))).scalar_one()
        assert counted == 3
        left = connection.execute(select(result_facts.c.reasons)).scalars().all()
    assert left == [[], [], []]
