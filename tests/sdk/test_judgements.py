"""What people think of scores, through the client: a queue, its lines, how far people agree."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Service
from tests.sdk.test_service import posts
from touchstone_client import AsyncTouchstone, BadRequest, Batch, NotFound, Touchstone

pytestmark = pytest.mark.end_to_end
SOURCE = "elsewhere"


@pytest.fixture
def batch(ts: Touchstone) -> Batch:
    return ts.batches.create(posts(3), "hatexscore").wait(progress=False)


@pytest.fixture
def queue(ts: Touchstone, batch: Batch) -> Iterator[str]:
    """Each line for two people."""
    made = ts.review_queues.create(batch.id, "weekly", per_line=2, order="surprising")
    assert made.id in [one.id for one in ts.review_queues.list(batch=batch.id)]
    yield made.id
    assert ts.review_queues.close(made.id).state == "closed"


def test_people_judge_line_by_line(ts: Touchstone, queue: str) -> None:
    for reviewer in ("ann", "ben"):
        found = ts.review_queues.lease(queue, reviewer=reviewer)
        assert found.item is not None
        found = ts.review_queues.lease(queue, skip=found.item.position, reviewer=reviewer)
        while found.item is not None:
            ts.judgements.give(found.item.job_id, "agree", reviewer=reviewer, queue=queue)
            found = ts.review_queues.lease(queue, reviewer=reviewer)
    assert ts.review_queues.get(queue).progress.done == 4
    assert len(list(ts.judgements.list(queue=queue))) == 4
    report = ts.review_queues.agreement(queue)
    assert report.agreement is not None
    events = [one.verdict for one in ts.judgements.audit()][:4]
    assert events == ["agree"] * 4


def test_judgements_go_out_and_come_in(ts: Touchstone, batch: Batch, tmp_path: Path) -> None:
    ids = [one.id for one in ts.jobs.list(batch=batch.id)]
    told = [{"job_id": id, "reviewer": "eve", "verdict": "disagree"} for id in ids]
    assert ts.judgements.take_in(told, SOURCE).imported == 3
    file = tmp_path / "judged.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in told), "utf-8")
    again = ts.judgements.take_in(file, SOURCE)
    assert (again.imported, again.unchanged) == (0, 3)
    with pytest.raises(BadRequest):
        ts.judgements.take_in([told[0] | {"verdict": "maybe"}], SOURCE)
    out = ts.judgements.export(tmp_path / "out.jsonl", batch=batch.id)
    assert out.read_text("utf-8").count('"disagree"') == 3
    one = next(iter(ts.judgements.list(batch=batch.id)))
    assert ts.judgements.withdraw(one.id).verdict == "withdrawn"


def test_awaited_it_is_the_same(service: Service, batch: Batch) -> None:
    async def use() -> None:
        async with AsyncTouchstone(service.url) as client:
            queue = await client.review_queues.create(batch.id, "again")
            found = await client.review_queues.lease(queue.id, reviewer="ann")
            assert found.item is not None
            await client.judgements.give(found.item.job_id, "unsure", reviewer="ann")
            listed = [one async for one in client.judgements.list(batch=batch.id)]
            assert [one.verdict for one in listed] == ["unsure"]
            with pytest.raises(NotFound):
                await client.review_queues.get(f"rq_{'0' * 32}")

    asyncio.run(use())
