"""Scores at their destinations: each once, many together, and never a word of anybody's text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select, text

from services.scheduler.facts import Facts
from services.scheduler.webhooks import delivering
from shared.ledger import jobs, leases, webhook_deliveries, webhooks
from shared.ledger.score_formats import JOINED, MOST_TOGETHER, PUSH_FORMATS
from shared.ledger.score_pushes import in_sample
from shared.ledger.tables import deliveries, endpoints
from shared.ledger.webhook_deliveries import TenantShare
from shared.process.encryption import new_secret, sealer_of
from shared.process.settings import Settings
from tests.batches import Scene, line
from tests.gateway.results import a_result
from tests.ledger import must_claim
from tests.patience import SECONDS, eventually
from tests.push_destinations import destination, scores_of
from tests.receivers import Receiver, receiving

FAR = timedelta(hours=1)
MARKER = "zqxjkv"  # in every text that a caller could send
KEY = "Bearer a-key-of-the-tool"
TRACE = {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}
PROBLEM = {"type": "/guide/errors#too-costly", "detail": MARKER, "status": 422}


def endpoint(engine: Engine, chosen: Settings, url: str, name: str, **more: Any) -> str:
    """A new one that scores are pushed to, in this format."""
    sealer = sealer_of(chosen)
    assert sealer is not None
    values = {"url": url, "events": [], "description": "", "secret": sealer.seal(new_secret())}
    values |= {"format": name, "authorization": sealer.seal(KEY)}
    with engine.begin() as connection:
        return webhooks.make_endpoint(connection, "default", values | more).id


def ended(
    engine: Engine,
    result: dict[str, Any] | None = None,
    trace: dict[str, str] | None = TRACE,
    **request: Any,
) -> str:
    """A job of HateXScore that has ended with this result; without one it has failed."""
    asked = {"text": MARKER, "explanation": MARKER, "metadata": {MARKER: MARKER}, "trace": trace}
    job_id = jobs.new_id()
    with engine.begin() as connection:
        jobs.insert_job(connection, job_id, "hatexscore", asked | request, FAR)
        claim = must_claim(connection, job_id)
        if result is None:
            assert leases.fail(connection, claim, PROBLEM)
        else:
            assert leases.succeed(connection, claim, result)
    return job_id


def marked(score: float | None = 0.5) -> dict[str, Any]:
    """A result with the marker in whatever may repeat a caller's text."""
    found = a_result(0.5) | {"score": score, "warnings": [MARKER]}
    for one in found["evidence"]:
        one["text"] = MARKER
    return found


def written(engine: Engine) -> None:
    """Rows of all that has ended, and what is owed with them."""
    while Facts(engine).round():
        pass


@contextmanager
def pushing(engine: Engine, chosen: Settings) -> Iterator[None]:
    hasty = chosen.model_copy(update={"tick_seconds": 0.05, "webhook_seconds": SECONDS})
    with delivering(engine, hasty, threading.Event()):
        yield


def left(engine: Engine, status: str = "pending") -> int:
    with engine.connect() as connection:
        query = select(deliveries.c.id).where(deliveries.c.status == status)
        return len(connection.execute(query).all())


def hurry(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE webhook_deliveries SET due_at = now()"))


def untraced(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        rows = connection.execute(select(endpoints.c.format, endpoints.c.untraced))
        return {row.format: row.untraced for row in rows}


def everything(receiver: Receiver) -> str:
    return "".join(f"{one.path}{one.headers}{one.body.decode()}" for one in receiver.received)


@pytest.mark.parametrize("name", PUSH_FORMATS)
def test_a_score_and_its_parts_arrive_without_any_text(
    engine: Engine, chosen: Settings, name: str
) -> None:
    with receiving(destination(name, KEY)) as tool, pushing(engine, chosen):
        endpoint(engine, chosen, tool.url, name, parts=True)
        for score in (0.5, None):
            ended(engine, marked(score))
        ended(engine)
        written(engine)
        assert eventually(lambda: left(engine) == 0)
    assert left(engine, "failed") == 0
    scores = [score for request in tool.received for score in scores_of(name, request)]
    parts = len(marked()["components"])
    assert len(scores) == 2 * (1 + parts) + 1
    assert MARKER not in everything(tool)
    assert "too-costly" in everything(tool)
    ids = {one.get("traceId", one.get("span_id")) for one in scores}
    assert ids == {TRACE["span_id"] if name == "phoenix-annotations" else TRACE["trace_id"]}


def test_without_a_trace_a_job_is_counted_where_it_cannot_be_pushed(
    engine: Engine, chosen: Settings
) -> None:
    for name in PUSH_FORMATS:
        endpoint(engine, chosen, "https://example.com", name)
    ended(engine, marked(), trace=None)
    ended(engine, marked(), trace={"span_id": "a" * 16})
    written(engine)
    assert untraced(engine) == {
        "otlp-logs": 0,
        "langfuse-scores": 2,
        "phoenix-annotations": 1,
    }
    assert left(engine) == 3  # two logs, one annotation


@pytest.mark.parametrize("name", PUSH_FORMATS)
def test_many_go_together_where_the_format_has_it(
    engine: Engine, chosen: Settings, name: str
) -> None:
    count = MOST_TOGETHER + 5 if name in JOINED else 3
    with receiving(destination(name, KEY)) as tool:
        endpoint(engine, chosen, tool.url, name)
        some = [ended(engine, marked()) for _ in range(count)]
        written(engine)
        with pushing(engine, chosen):
            assert eventually(lambda: left(engine) == 0)
    sizes = [len(scores_of(name, request)) for request in tool.received]
    assert sizes == ([MOST_TOGETHER, 5] if name in JOINED else [1] * count)
    assert all(everything(tool).count(job_id) > 0 for job_id in some)
    assert left(engine, "succeeded") == count


def test_what_is_refused_goes_alone_then_and_its_neighbours_arrive(
    engine: Engine, chosen: Settings
) -> None:
    name = "phoenix-annotations"
    with receiving(destination(name, KEY)) as tool:
        takes = tool.chooses
        assert takes is not None
        endpoint(engine, chosen, tool.url, name)
        bad, *good = [ended(engine, marked()) for _ in range(4)]
        tool.chooses = lambda got: 422 if bad in got.body.decode() else takes(got)
        written(engine)
        with pushing(engine, chosen):
            assert eventually(lambda: len(tool.received) == 1)
            assert eventually(lambda: _refused(engine) == 4)
            hurry(engine)
            assert eventually(lambda: left(engine, "succeeded") == 3)
    assert [len(scores_of(name, one)) for one in tool.received] == [4, 1, 1, 1, 1]
    assert left(engine) == 1
    assert all(job_id in everything(tool) for job_id in good)


def _refused(engine: Engine) -> int:
    with engine.connect() as connection:
        query = select(deliveries.c.id).where(deliveries.c.last_status == 422)
        return len(connection.execute(query).all())


@pytest.mark.parametrize("name", ["standard-webhooks", *PUSH_FORMATS])
def test_an_endpoint_has_so_many_requests_at_a_time(
    engine: Engine, chosen: Settings, name: str
) -> None:
    endpoint(engine, chosen, "https://example.com", name)
    share = TenantShare(each=4, tenant=16, most=64)
    taken = []
    for _ in range(3):
        for _ in range(6):
            ended(engine, marked())
        written(engine)
        with engine.begin() as connection:
            taken.append(len(webhook_deliveries.take(connection, share, lease=FAR)))
    assert taken == ([6, 0, 0] if name in JOINED else [4, 0, 0])


def test_an_endpoint_chooses_what_it_is_pushed(engine: Engine, chosen: Settings) -> None:
    ended(engine, marked())
    made: dict[str, dict[str, Any]] = {
        "early": {},
        "failures": {"events": ["job.failed"]},
        "another metric": {"metrics": ["ice"]},
        "this metric": {"metrics": ["ice", "hatexscore"]},
        "almost none": {"sample": 1e-12},
    }
    ids = {
        endpoint(engine, chosen, "https://example.com", "otlp-logs", **more): what
        for what, more in made.items()
    }
    named = endpoint(engine, chosen, "https://example.com", "otlp-logs", metrics=["ice"])
    ids[named] = "named"
    ended(engine, marked())
    ended(engine)
    ended(engine, marked(), webhook=named)  # it and no other, and it wants ICE alone
    written(engine)
    with engine.connect() as connection:
        found = [ids[row.endpoint_id] for row in connection.execute(select(deliveries))]
    assert sorted(found) == ["early", "early", "failures", "this metric", "this metric"]


def test_a_sample_is_its_share_and_grows_with_it() -> None:
    keys = [f"job_{number} 0" for number in range(4_000)]
    few = {key for key in keys if in_sample("we_1", key, 0.1)}
    more = {key for key in keys if in_sample("we_1", key, 0.4)}
    assert few < more
    assert len(few) / len(keys) == pytest.approx(0.1, abs=0.02)
    assert len(more) / len(keys) == pytest.approx(0.4, abs=0.03)
    assert all(in_sample("we_1", key, 1.0) for key in keys)
    assert few != {key for key in keys if in_sample("we_2", key, 0.1)}


def test_rows_that_are_written_anew_are_not_pushed_again(engine: Engine, chosen: Settings) -> None:
    endpoint(engine, chosen, "https://example.com", "otlp-logs")
    ended(engine, marked())
    written(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE result_facts SET rules = 'of before'"))
    written(engine)
    assert left(engine) == 1


def test_lines_of_a_batch_count_each_with_its_own_trace(scene: Scene) -> None:
    traces = [{"span_id": f"{number:016x}"} for number in (1, 2)]
    lines = [line(f"id {n}", "the same", trace=trace) for n, trace in enumerate(traces)]
    lines += [line("without", "the same"), line("bad", "bad text", trace=TRACE)]
    pushed = endpoint(scene.engine, scene.chosen, "https://example.com", "phoenix-annotations")
    events = endpoint(scene.engine, scene.chosen, "https://example.com", "standard-webhooks")
    made = scene.finish(scene.make(lines))
    written(scene.engine)
    with scene.engine.connect() as connection:
        owed = connection.execute(select(deliveries)).all()
    bodies = [json.loads(row.body) for row in owed if row.endpoint_id == pushed]
    assert {one["span_id"] for one in bodies} == {
        *(one["span_id"] for one in traces),
        TRACE["span_id"],
    }
    assert len({one["identifier"] for one in bodies}) == 2  # equal lines share a job
    assert [row.event for row in owed if row.endpoint_id == events] == ["batch.completed"]
    assert untraced(scene.engine)["phoenix-annotations"] == 1
    files = (made["output_file_id"], made["error_file_id"])
    contents = [scene.client.get(f"/v1/files/{one}/content").text for one in files]
    shown = [json.loads(row) for row in "".join(contents).splitlines()]
    found = {one["custom_id"]: one["response"]["body"]["trace"] for one in shown}
    assert found["without"] is None
    assert [found[f"id {n}"]["span_id"] for n in (0, 1)] == [one["span_id"] for one in traces]
