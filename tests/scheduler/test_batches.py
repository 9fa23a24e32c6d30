"""Batches keep their laws: every line is answered exactly once, and the counts add up."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import text, update

from services.scheduler import batch_files
from services.scheduler.fair_allocation import allocate
from shared.contracts.errors import Unavailable
from shared.ledger import batches as ledger_batches
from shared.ledger.batches import Fault
from shared.ledger.tables import batches
from shared.queue import broker
from tests.batches import Json, Scene, line, store_folder, upload

SLOW = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


def counts(batch: Json) -> tuple[int, int, int]:
    found = batch["request_counts"]
    return found["total"], found["completed"], found["failed"]


@hypothesis_settings(max_examples=15, suppress_health_check=SLOW)
@given(
    texts=st.lists(st.sampled_from(["a", "b", "c", "bad 1", "bad 2", "é"]), min_size=1, max_size=30)
)
def test_every_line_is_answered_once_and_equal_lines_are_scored_once(
    scene: Scene, texts: list[str]
) -> None:
    with scene.engine.begin() as connection:
        connection.execute(
            text(
                "TRUNCATE jobs, batches, batch_lines, result_facts, files, idempotency_keys CASCADE"
            )
        )
    lines = [line(f"id-{number}", content) for number, content in enumerate(texts)]
    batch = scene.finish(scene.make(lines), batch_window=3)
    output, errors = scene.file(batch["output_file_id"]), scene.file(batch["error_file_id"])
    assert batch["status"] == "completed"
    assert sorted(one["custom_id"] for one in output + errors) == sorted(
        one["custom_id"] for one in lines
    )
    assert counts(batch) == (len(texts), len(output), len(errors))
    assert sum(scene.job_count().values()) == len(set(texts))
    asked = {one["custom_id"]: one["body"]["text"] for one in lines}
    for one in output:
        assert one["response"]["status_code"] == 200
        assert one["response"]["body"]["result"]["echo"] == asked[one["custom_id"]]
    for one in errors:
        assert asked[one["custom_id"]].startswith("bad")
        assert one["response"]["status_code"] == 422
        assert one["error"]["code"] == "invalid-request"


def test_the_statuses_and_their_times_come_in_order(scene: Scene) -> None:
    batch = scene.make([line("a", "a"), line("b", "b")])
    assert (batch["status"], counts(batch)) == ("validating", (0, 0, 0))
    assert scene.client.get(f"/v1/batches/{batch['id']}").headers["Retry-After"]
    batch = scene.read(batch)
    assert (batch["status"], counts(batch)) == ("in_progress", (2, 0, 0))
    batch = scene.finish(batch)
    moments = ("created_at", "in_progress_at", "finalizing_at", "completed_at")
    assert sorted(batch[moment] for moment in moments) == [batch[moment] for moment in moments]
    assert all(
        batch[moment] is None
        for moment in ("failed_at", "expired_at", "cancelling_at", "cancelled_at")
    )
    assert batch["error_file_id"] is None
    assert batch["expires_at"] - batch["created_at"] == 24 * 3_600


def test_jobs_of_a_batch_are_listed_by_it_and_travel_in_its_lane(scene: Scene) -> None:
    batch = scene.read(scene.make([line("a", "a"), line("b", "b"), line("c", "a")]))
    scene.feeder().round()
    found = scene.client.get("/v1/jobs", params={"batch": batch["id"]}).json()["data"]
    assert [job["batch_id"] for job in found] == [batch["id"]] * 2
    assert broker.queue_length("hatexscore", batch=True) == 2
    assert broker.queue_length("hatexscore") == 0


def test_lines_that_share_a_job_keep_their_own_metadata(scene: Scene) -> None:
    lines = [line(name, "same", metadata={"who": name}) for name in ("a", "b")]
    batch = scene.finish(scene.make([*lines, line("c", "same"), line("d", "same", seed=1)]))
    output = scene.file(batch["output_file_id"])
    assert [one["response"]["body"]["metadata"] for one in output] == [
        {"who": "a"},
        {"who": "b"},
        {},
        {},
    ]
    assert sum(scene.job_count().values()) == 2  # another seed is another job


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", ("invalid_json", 2, "#")),
        ("[]", ("invalid_line", 2, "#")),
        (line("", "x"), ("invalid_line", 2, "#/custom_id")),
        (line("x", "x") | {"method": "GET"}, ("invalid_line", 2, "#/method")),
        (line("x", "x") | {"more": 1}, ("invalid_line", 2, "#/more")),
        (line("x", "x") | {"url": "/v1/scores/ice"}, ("mismatched_url", 2, "#/url")),
        (line("x", "x", options={"tau": 2}), ("invalid_request", 2, "#/body/options/tau")),
        (line("x", "x", model="nobody"), ("invalid_request", 2, "#/body/model")),
        (line("x", "x", nonsense=1), ("invalid_request", 2, "#/body/nonsense")),
        (line("first", "x"), ("duplicate_custom_id", 2, "#/custom_id")),
        (line("x", "x" * 1_100_000), ("line_too_long", 2, None)),
        (b'{"custom_id": "\xff"}', ("invalid_json", 2, "#")),
        (
            '{"custom_id": "x", "method": "POST", "url": "/v1/scores/hatexscore", '
            '"body": {"text": "x", "explanation": "", "options": {"tau": NaN}}}',
            ("invalid_request", 2, "#/body/options/tau"),
        ),
        (
            '{"custom_id": "x", "method": "POST", "url": "/v1/scores/hatexscore", '
            '"body": {"text": "x", "explanation": "", "a/b": [0, 1e999]}}',
            ("invalid_request", 2, "#/body/a~1b/1"),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_fault_is_named_with_its_line_and_nothing_is_scored(
    scene: Scene, content: Json | str | bytes, fault: tuple[str, int, str | None]
) -> None:
    batch = scene.read(scene.make([line("first", "a"), content, line("last", "b")]))
    assert (batch["status"], counts(batch)) == ("failed", (0, 0, 0))
    assert batch["failed_at"] is not None
    found = batch["errors"]["data"]
    assert [(one["code"], one["line"], one["param"]) for one in found] == [fault]
    scene.feeder().round()
    assert scene.job_count() == Counter()


def test_blank_lines_and_a_byte_order_mark_do_no_harm(scene: Scene) -> None:
    content: list[str | Json] = [
        "\ufeff" + json.dumps(line("a", "a")),
        "",
        "   ",
        line("b", "b"),
        "",
        "",
    ]
    batch = scene.finish(scene.make(content))
    assert (batch["status"], counts(batch)) == ("completed", (2, 2, 0))


@pytest.mark.parametrize("content", [[], ["", " "]])
def test_an_empty_file_is_refused(scene: Scene, content: list[str]) -> None:
    batch = scene.read(scene.make(content))
    assert [one["code"] for one in batch["errors"]["data"]] == ["empty_file"]


def test_too_many_lines_are_refused(scene: Scene) -> None:
    batch = scene.make([line(str(number), "a") for number in range(4)])
    scene.filing(max_batch_lines=3).round()
    found = scene.batch(batch)["errors"]["data"]
    assert [(one["code"], one["line"]) for one in found] == [("too_many_lines", 4)]


def test_only_so_many_faults_are_listed(scene: Scene) -> None:
    batch = scene.read(scene.make(["{"] * 2_000))
    assert [one["line"] for one in batch["errors"]["data"]] == list(range(1, 101))


def test_no_more_jobs_are_open_than_the_window_holds(scene: Scene) -> None:
    batches_made = [
        scene.read(scene.make([line(str(n), f"{name} {n}") for n in range(20)]))
        for name in ("one", "two")
    ]
    feeder = scene.feeder(batch_window=10)
    feeder.round()
    feeder.round()
    with scene.engine.connect() as connection:
        held = Counter(
            row.batch_id for row in connection.execute(text("SELECT batch_id FROM jobs"))
        )
    assert held == {batch["id"]: 5 for batch in batches_made}


@given(
    hungry=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20)),
    held=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 20)),
    window=st.integers(0, 60),
)
def test_shares_are_fair(hungry: dict[str, int], held: dict[str, int], window: int) -> None:
    given_out = allocate(hungry, held, window)
    free = max(0, window - sum(held.values()))
    assert sum(given_out.values()) == min(free, sum(hungry.values()))
    assert all(given_out[batch] <= most for batch, most in hungry.items())
    after = {batch: held.get(batch, 0) + given_out[batch] for batch in hungry}
    for fed in given_out:
        for batch, most in hungry.items():
            if given_out[batch] < most:  # who could use more has no less than who got something
                assert after[batch] >= after[fed] - 1


def test_jobs_that_wait_for_a_model_take_no_place_from_other_batches(scene: Scene) -> None:
    stuck = scene.read(scene.make([line(str(n), f"stuck {n}") for n in range(40)]))
    scene.feeder(batch_window=5).round()
    with scene.engine.begin() as connection:
        wait = text("UPDATE jobs SET waiting_for = '{}', resend_at = now() + interval '1 h'")
        assert connection.execute(wait).rowcount == 5
    scene.feeder(batch_window=5).round()
    assert scene.job_count()["queued"] == 5  # no more of those that would only wait
    free = scene.read(scene.make([line(str(n), f"free {n}") for n in range(40)]))
    scene.feeder(batch_window=5).round()
    with scene.engine.begin() as connection:
        fed = connection.execute(text("SELECT batch_id, count(*) FROM jobs GROUP BY batch_id"))
        assert dict(tuple(row) for row in fed) == {stuck["id"]: 5, free["id"]: 5}


def test_a_cancelled_batch_keeps_what_it_has(scene: Scene) -> None:
    batch = scene.read(scene.make([line(str(n), f"text {n}") for n in range(10)]))
    scene.feeder(batch_window=6).round()
    scene.work(most=2)
    cancelled = scene.client.post(f"/v1/batches/{batch['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelling")
    batch = scene.finish(batch)
    again = scene.client.post(f"/v1/batches/{batch['id']}/cancel")
    assert (again.status_code, again.json()) == (200, batch)
    output, errors = scene.file(batch["output_file_id"]), scene.file(batch["error_file_id"])
    assert (batch["status"], counts(batch)) == ("cancelled", (10, 2, 0))
    assert {one["custom_id"] for one in output + errors} == {str(n) for n in range(10)}
    assert (len(output), len(errors)) == (2, 8)
    assert {one["error"]["code"] for one in errors} == {"batch_cancelled"}
    assert scene.job_count() == {"succeeded": 2, "cancelled": 4}


def test_an_ended_batch_cannot_be_cancelled(scene: Scene) -> None:
    batch = scene.finish(scene.make([line("a", "a")]))
    assert scene.client.post(f"/v1/batches/{batch['id']}/cancel").status_code == 409


def test_a_batch_past_its_time_expires_with_what_it_has(scene: Scene) -> None:
    batch = scene.read(scene.make([line(str(n), f"text {n}") for n in range(5)]))
    scene.feeder(batch_window=3).round()
    scene.work(most=1)
    with scene.engine.begin() as connection:
        connection.execute(update(batches).values(expires_at=text("now() - interval '1 second'")))
    for _ in range(3):
        scene.feeder().round()
        scene.filing().round()
    batch = scene.batch(batch)
    assert (batch["status"], counts(batch)) == ("expired", (5, 1, 0))
    assert batch["expired_at"] >= batch["finalizing_at"]
    errors = scene.file(batch["error_file_id"])
    assert [one["error"]["code"] for one in errors] == ["batch_expired"] * 4


def test_a_job_that_is_cancelled_by_itself_is_a_failed_line(scene: Scene) -> None:
    batch = scene.read(scene.make([line("a", "a"), line("b", "b")]))
    scene.feeder().round()
    job = scene.client.get("/v1/jobs", params={"batch": batch["id"]}).json()["data"][0]
    scene.client.post(f"/v1/jobs/{job['id']}/cancel")
    batch = scene.finish(batch)
    assert (batch["status"], counts(batch)) == ("completed", (2, 1, 1))
    assert scene.file(batch["error_file_id"])[0]["error"]["code"] == "job_cancelled"


def test_without_a_broker_the_lines_are_fed_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise Unavailable("away")

    batch = scene.read(scene.make([line("a", "a")]))
    with monkeypatch.context() as patch:
        patch.setattr(broker, "send", away)
        scene.feeder().round()
    assert scene.job_count() == {"queued": 1}
    assert scene.finish(batch)["status"] == "completed"


def requests_of_lines(scene: Scene) -> list[str]:
    """The requests that lines hold, as they are stored."""
    query = text("SELECT request::text FROM batch_lines WHERE request IS NOT NULL ORDER BY number")
    with scene.engine.connect() as connection:
        return list(connection.execute(query).scalars())


def test_a_validated_batch_goes_on_without_its_file(scene: Scene) -> None:
    batch = scene.read(scene.make([line(str(n), f"text {n}", seed=n) for n in range(6)]))
    for blob in store_folder(scene.chosen).glob("*.jsonl"):
        if blob.is_file():
            blob.unlink()
    with scene.engine.begin() as connection:
        connection.execute(text("DELETE FROM files"))
    batch = scene.finish(batch, batch_window=4)
    assert (batch["status"], counts(batch)) == ("completed", (6, 6, 0))


def test_a_request_moves_from_its_line_to_its_job(scene: Scene) -> None:
    texts = ["a", "b", "a", "c"]
    scene.read(scene.make([line(str(n), content) for n, content in enumerate(texts)]))
    waiting = requests_of_lines(scene)
    assert [json.loads(request)["text"] for request in waiting] == texts
    scene.feeder(batch_window=2).round()
    assert requests_of_lines(scene) == waiting[3:]
    with scene.engine.connect() as connection:
        fed = connection.execute(text("SELECT request::text FROM jobs ORDER BY id")).scalars()
        assert list(fed) == waiting[:2]


@pytest.mark.parametrize("ending", ["completed", "cancelled", "expired", "failed", "crashed"])
def test_a_text_that_must_not_be_stored_is_sealed_and_then_gone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    private = [line(str(n), f"secret {n}", do_not_store_text=True) for n in range(3)]
    if ending == "crashed":  # while it is validated
        monkeypatch.setattr(batch_files, "LINES_AT_ONCE", 2)
    batch = scene.make(private)
    scene.filing().round()
    stored = requests_of_lines(scene)
    assert len(stored) == (2 if ending == "crashed" else 3)
    assert not any("secret" in request for request in stored)
    if ending == "cancelled":
        scene.client.post(f"/v1/batches/{batch['id']}/cancel")
    elif ending == "expired":
        with scene.engine.begin() as connection:
            connection.execute(update(batches).values(expires_at=text("now()")))
    elif ending in ("failed", "crashed"):
        with scene.engine.begin() as connection:
            found = ledger_batches.fail(connection, batch["id"], Fault("internal", "on purpose"))
        assert found == ("failed" if ending == "crashed" else "finalizing")
    if ending != "crashed":
        assert scene.finish(batch)["status"] == ending
    assert requests_of_lines(scene) == []


def test_the_file_of_an_open_batch_cannot_be_deleted(scene: Scene) -> None:
    batch = scene.make([line("a", "a")])
    url = f"/v1/files/{batch['input_file_id']}"
    assert scene.client.delete(url).status_code == 409
    scene.finish(batch)
    assert scene.client.delete(url).json()["deleted"] is True
    assert scene.client.get(url).status_code == 404
    assert scene.client.get(f"{url}/content").status_code == 404


def test_the_same_key_is_the_same_batch(scene: Scene) -> None:
    file = upload(scene.client, b"{}")
    asked = {"input_file_id": file["id"], "endpoint": "/v1/scores/hatexscore"}
    key = {"Idempotency-Key": '"one"'}
    first, second = (scene.client.post("/v1/batches", json=asked, headers=key) for _ in range(2))
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"
    other = scene.client.post("/v1/batches", json=asked | {"metadata": {"a": "b"}}, headers=key)
    assert other.status_code == 422
