"""Every call of the client against the real service, blocking and awaited."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, TypeVar

import openai
import pandas as pd
import pytest

from tests.end_to_end.service import Service
from tests.patience import eventually
from tests.receivers import Receiver, receiving
from touchstone_client import (
    AsyncTouchstone,
    BadRequest,
    BatchFailed,
    Conflict,
    JobFailed,
    NotFound,
    TimedOut,
    Touchstone,
    models,
    webhooks,
)
from touchstone_client._lines import line_of
from touchstone_client._sync import many
from touchstone_client._sync.resources import endpoint_of
from touchstone_client._wire import METRICS
from touchstone_client.cli.main import main
from touchstone_client.cli.output import WRONG

pytestmark = pytest.mark.end_to_end

T = TypeVar("T")
POST: dict[str, Any] = {
    "text": "Honestly, those immigrants are ruining our lovely old town.",
    "explanation": 'It says "those immigrants are ruining our lovely old town". Hateful.',
    "decision": "hateful",
    "options": {"control_draws": 5},
}
GIVEN = POST | {"probabilities": {"original": 0.9, "masked": 0.1}}  # no model is asked


def posts(count: int) -> list[dict[str, Any]]:
    return [GIVEN | {"text": f"{POST['text']} {number}"} for number in range(count)]


async def listed(found: AsyncIterator[T]) -> list[T]:
    return [one async for one in found]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_gives_its_own_result(
    ts: Touchstone, bodies: dict[str, dict[str, Any]], metric: str
) -> None:
    result = getattr(ts, metric)(**bodies[metric])
    assert type(result) is getattr(models, f"{metric.capitalize()}Result")
    assert result.job.status == "succeeded"
    assert result.verdict
    again = ts.jobs.get(result.job.id).result
    assert again == result
    assert ts.score(metric, bodies[metric]).model_dump() == result.model_dump()


@pytest.mark.parametrize("metric", METRICS)
def test_awaited_it_is_the_same(
    service: Service, ts: Touchstone, bodies: dict[str, dict[str, Any]], metric: str
) -> None:
    async def score() -> Any:
        async with AsyncTouchstone(service.url) as client:
            return await getattr(client, metric)(**bodies[metric])

    assert asyncio.run(score()).model_dump() == ts.score(metric, bodies[metric]).model_dump()


def test_a_message_is_a_request_as_well(ts: Touchstone) -> None:
    request = models.HatexscoreRequest.model_validate(POST)
    assert ts.hatexscore(request) == ts.hatexscore(**POST)


def test_a_refusal_says_where(ts: Touchstone) -> None:
    with pytest.raises(BadRequest) as refused:
        ts.hatexscore(text="a")
    error = refused.value
    assert (error.status, error.slug) == (422, "invalid-request")
    assert [fault.pointer for fault in error.errors] == ["#/explanation"]
    assert "explanation" in str(error)
    assert error.request_id is not None
    assert error.request_id in str(error)


def test_jobs(ts: Touchstone) -> None:
    job = ts.jobs.create("hatexscore", POST, metadata={"model": "v7"})
    seen = [one["status"] for one in job.events()]
    assert seen[-1] == "succeeded"
    result = job.wait()
    assert result.job is job
    assert job.data.metadata == {"model": "v7"}
    with pytest.raises(Conflict):
        job.cancel()
    with pytest.raises(NotFound):
        ts.jobs.get(f"job_{'0' * 32}")
    assert [one.id for one in ts.jobs.get_many([job.id, job.id])] == [job.id] * 2
    assert next(iter(ts.jobs.list(metric="hatexscore", status="succeeded"))).is_final


def test_a_list_pages_by_itself(ts: Touchstone) -> None:
    made = ts.score_many(posts(130), "hatexscore", progress=False, via="calls")
    ids = {one.job.id for one in made}
    assert ids <= {one.id for one in ts.jobs.list(metric="hatexscore")}


def test_what_is_not_waited_for_goes_on(ts: Touchstone, bodies: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(TimedOut) as late:
        ts.ice(**bodies["ice"], seed=77, wait=0)
    assert ts.jobs.get(late.value.id).wait(120).metric == "ice"


def test_a_job_that_fails_says_why(ts: Touchstone) -> None:
    with pytest.raises(JobFailed, match="no token") as failed:
        ts.ice(
            text="\ufffd",
            model="embedded-sentiment",
            attribution="gradient",
            language="en",
            options={"rows": "tokens"},
        )
    assert failed.value.slug == "degenerate-input"
    assert ts.jobs.get(failed.value.job_id or "").status == "failed"


def test_other_services(ts: Touchstone) -> None:
    job = ts.jobs.create("similarity", pairs=[{"a": "a cat", "b": "a kitten"}])
    assert len(job.wait().similarities) == 1


def test_models(ts: Touchstone) -> None:
    names = [one.name for one in ts.models.list()]
    assert "embedded-hate" in names
    assert ts.models.get("embedded-hate").labels
    with pytest.raises(NotFound):
        ts.models.get("nobody")


def test_a_batch_of_a_file(ts: Touchstone, tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text(
        "".join(f"{json.dumps({'id': f'p{n}'} | one)}\n" for n, one in enumerate(posts(5)))
    )
    told: list[tuple[int, int | None]] = []
    batch = ts.batches.create(file, "hatexscore", metadata={"model": "v7"})
    assert batch.metadata == {"model": "v7"}
    ended = batch.wait(progress=lambda done, total: told.append((done, total)))
    assert ended is batch
    assert told[-1] == (5, 5)
    scores = {line.custom_id: line.result.score for line in batch.results()}
    assert set(scores) == {f"p{n}" for n in range(5)}
    assert list(batch.failures()) == []
    report = batch.report()
    assert isinstance(report, models.BatchReport)
    assert report.scored == 5
    assert batch.items_csv().count("\n") >= 6
    assert batch.report_html().startswith("<!")
    assert ts.batches.get(batch.id).status == "completed"
    assert batch.id in [one.id for one in ts.batches.list()]
    target = ts.files.download(batch.output_file_id or "", tmp_path / "out.jsonl")
    assert len(target.read_text().splitlines()) == 5
    stored = ts.files.get(batch.input_file_id)
    assert stored.filename == "posts.jsonl"
    assert stored.id in [one.id for one in ts.files.list(purpose="batch")]
    assert ts.files.delete(stored.id).deleted


def test_openais_client_runs_a_batch(ts: Touchstone, tmp_path: Path) -> None:
    """The shape is that of OpenAI's Batch API, whose types know its own endpoints alone."""
    file = tmp_path / "lines.jsonl"
    file.write_bytes(
        b"".join(
            json.dumps(line_of(f"p{number}", endpoint_of("hatexscore"), one)).encode() + b"\n"
            for number, one in enumerate(posts(3))
        )
    )
    with openai.OpenAI(base_url=f"{ts.url}/v1", api_key="none") as client:
        uploaded = client.files.create(file=file, purpose="batch")
        endpoint: Any = endpoint_of("hatexscore")
        made = client.batches.create(
            input_file_id=uploaded.id, endpoint=endpoint, completion_window="24h"
        )
        ended = eventually(
            lambda: found if (found := client.batches.retrieve(made.id)).output_file_id else None
        )
        lines = client.files.content(ended.output_file_id or "").text.splitlines()
    assert ended.status == "completed"
    assert {json.loads(line)["custom_id"] for line in lines} == {"p0", "p1", "p2"}


def test_the_command_line_from_a_table_to_a_comparison(
    service: Service,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", service.url)
    batches = []
    for name, why in (("v7", POST["explanation"]), ("v8", "Rude. Hateful.")):
        file, target = tmp_path / f"{name}.csv", tmp_path / f"{name}.parquet"
        frame = pd.DataFrame(posts(5)).drop(columns="probabilities")
        frame.assign(explanation=why, model_name=name).to_csv(file, index=False)
        given = f"--field=probabilities={json.dumps(GIVEN['probabilities'])}"
        command = ["submit", str(file), "--metric=hatexscore", given, "--keep=model_name"]
        maps = [f"--map={one}={one}" for one in ("text", "explanation", "decision")]
        assert main([*command, *maps, "--wait", f"--output={target}"]) == 0
        batches.append(capsys.readouterr().out.strip())
        scores = pd.read_parquet(target)
        assert list(scores["metadata.model_name"]) == [name] * 5
        assert scores["score"].between(0, 1).all()
    assert main(["report", batches[0], "--by", "metadata.model_name"]) == 0
    said = capsys.readouterr().out
    assert "Of 5 explanations 5 hold up." in said
    assert re.search(r"^metadata.model_name +mean score +low +high", said, re.MULTILINE)
    assert main(["report", batches[0], "--by", "market"]) == WRONG
    assert "--by 'market'" in capsys.readouterr().err
    assert main(["compare", *batches, "--by", "verdict"]) == 0
    said = capsys.readouterr().out
    assert f"the new batch is {batches[0]}; the baseline is {batches[1]}" in said
    assert "5 lines are in both" in said
    fields = ["--text", POST["text"], "--explanation", POST["explanation"]]
    assert main(["score", "hatexscore", *fields, "--field", "options.control_draws=5"]) == 0
    assert capsys.readouterr().out.startswith("hatexscore: ")
    assert main(["doctor"]) == 0, capsys.readouterr().out


def test_lines_with_an_empty_cell_are_told_and_left_out_if_wanted(
    service: Service,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOUCHSTONE_URL", service.url)
    file, target = tmp_path / "posts.csv", tmp_path / "scores.csv"
    frame = pd.DataFrame(posts(4))[["text", "explanation"]].assign(id=list("abcd"))
    frame.loc[1, "text"] = ""
    frame.to_csv(file, index=False)
    command = ["submit", str(file), "--metric=hatexscore", "--wait", f"--output={target}"]
    assert main(command) == 64
    said = capsys.readouterr().err
    assert "line 3: Field required (at #/body/text)" in said
    assert "--skip-invalid` scores the others" in said
    assert main([*command, "--skip-invalid"]) == 0
    said = capsys.readouterr().err
    assert "left out (1 in all):" in said
    assert "line 3: Field required (at #/body/text)" in said
    assert list(pd.read_csv(target)["custom_id"]) == ["a", "c", "d"]
    file.write_text("text,explanation\n,a\n,b\n", "utf-8")
    assert main([*command, "--skip-invalid"]) == 64


def test_two_batches_are_compared(ts: Touchstone) -> None:
    kinder = [one | {"explanation": "Rude. Hateful."} for one in posts(6)]
    a, b = (
        ts.batches.create(some, "hatexscore").wait(progress=False) for some in (posts(6), kinder)
    )
    found = ts.compare(a, b.id)
    assert found.pairs == 6
    score = found.differences[0]
    assert score.component == "score"
    means = [ts.batches.get(one.id).report().score.value for one in (a, b)]
    assert score.difference.value == pytest.approx(means[0] - means[1])
    turned = ts.compare(b, a).differences[0]
    assert turned.difference.value == pytest.approx(-(score.difference.value or 0))
    assert (turned.higher, turned.lower) == (score.lower, score.higher)
    by_jobs = ts.reports.make("hatexscore", batch=a.id, resamples=100)
    assert by_jobs.scored == 6


def test_a_batch_that_is_not_valid_says_which_lines(ts: Touchstone) -> None:
    batch = ts.batches.create([*posts(2), {"text": "no explanation"}], "hatexscore")
    with pytest.raises(BatchFailed) as failed:
        batch.wait(progress=False)
    assert [line for line, _ in failed.value.faults] == [3]


def test_webhooks_from_making_one_to_verifying_its_event(ts: Touchstone) -> None:
    with receiving(Receiver()) as receiver:
        made = ts.webhooks.create(receiver.url, events=["job.succeeded"], description="here")
        assert made.id in [one.id for one in ts.webhooks.list()]
        assert ts.webhooks.test(made.id).delivered
        result = ts.hatexscore(**POST, webhook=made.id)
        eventually(lambda: len(receiver.received) == 2)
        tested, ended = (
            webhooks.verify(one.body, one.headers, made.secret) for one in receiver.received
        )
        assert isinstance(tested, models.EndpointWebhook)
        assert isinstance(ended, models.JobWebhook)
        assert ended.data.id == result.job.id
        assert ended.data.score == result.score
        rotated = ts.webhooks.rotate_secret(made.id, overlap_seconds=0)
        assert rotated.secret != made.secret
        assert ts.webhooks.change(made.id, description="there").description == "there"
        (delivery,) = ts.webhooks.deliveries(made.id)
        assert delivery.event == "job.succeeded"
        assert ts.webhooks.replay(made.id, delivery.id) == 1
        assert ts.webhooks.replay(made.id) == 0  # none has failed
        assert ts.webhooks.get(made.id).enabled
        ts.webhooks.delete(made.id)
    with pytest.raises(NotFound):
        ts.webhooks.get(made.id)


def test_resources_awaited(service: Service) -> None:
    async def use() -> None:
        async with AsyncTouchstone(service.url) as client:
            job = await client.jobs.create("hatexscore", POST)
            assert [one["status"] async for one in job.events()][-1] == "succeeded"
            assert (await job.wait()).metric == "hatexscore"
            assert await client.models.list()
            batch = await client.batches.create(posts(3), "hatexscore")
            await batch.wait(progress=False)
            assert len(await listed(batch.results())) == 3
            assert (await batch.report()).scored == 3
            assert batch.id in [one.id async for one in client.batches.list()]
            other = await client.batches.create(posts(3), "hatexscore")
            await other.wait(progress=False)
            assert (await client.compare(batch, other)).pairs == 3
            scores = await client.score_many(posts(3), "hatexscore", progress=False)
            assert [one.metric for one in scores] == ["hatexscore"] * 3

    asyncio.run(use())


def test_fifty_at_a_time(service: Service) -> None:
    async def use() -> list[models.HatexscoreResult]:
        async with AsyncTouchstone(service.url) as client:
            return await asyncio.gather(*(client.hatexscore(**one) for one in posts(50)))

    assert len({one.job.id for one in asyncio.run(use())}) == 50


FAULTY = {"text": "no explanation"}


@pytest.mark.parametrize("via", ["calls", "batch"])
def test_rows_keep_their_order_and_a_faulty_one_its_error(ts: Touchstone, via: Any) -> None:
    data: Iterable[Any] = [*posts(3), FAULTY, *posts(6)[3:]]
    told: list[int] = []
    scores = ts.score_many(data, "hatexscore", via=via, progress=lambda done, _: told.append(done))
    assert [isinstance(one, BadRequest) for one in scores] == [n == 3 for n in range(7)]
    assert "explanation" in str(scores[3])
    assert told[-1] == 7
    with pytest.raises(BadRequest):
        ts.score_many(data, "hatexscore", via=via, progress=False, on_error="raise")


def test_answers_of_a_model_are_scored_row_by_row(ts: Touchstone) -> None:
    """They go as a batch, since there is no call for many."""
    answer = {"text": POST["explanation"]}
    asked = {"text": POST["text"], "answer": answer, "score": ["hatexscore"]}
    frame = pd.DataFrame([asked, asked], index=["a", "b"])
    found = ts.score_many(frame, "explanations", progress=False)
    assert list(found.index) == ["a", "b"]
    assert set(found["elicitation.decision"]) == {"hateful"}
    assert found["scores.hatexscore.score"].notna().all()
    explained = ts.explain(**asked)
    assert explained.job.metric == "explanations"
    assert explained.scores[0].score == found["scores.hatexscore.score"].iloc[0]


def test_a_frame_becomes_a_frame(ts: Touchstone) -> None:
    frame = pd.DataFrame(
        {
            "post": [one["text"] for one in posts(4)],
            "why": [POST["explanation"]] * 3 + [None],
            "flag": [1, 1, 0, 1],
            "reason": "mine",
        },
        index=[10, 20, 30, 40],
    )
    columns = {
        "text": "post",
        "explanation": "why",
        "decision": {"column": "flag", "values": {"1": "hateful", "0": "non-hateful"}},
        "probabilities": {"value": GIVEN["probabilities"]},
    }
    found = ts.score_many(frame, "hatexscore", columns=columns, progress=False)
    assert list(found.index) == [10, 20, 30, 40]
    assert list(found.columns[:4]) == list(frame.columns)
    assert {"score", "components.qf", "verdict", "touchstone.reason", "error"} <= set(found.columns)
    assert list(found["error"].isna()) == [True, True, True, False]
    assert found["job_id"].notna().sum() == 3
    assert found.loc[10, "score"] == ts.jobs.get(str(found.loc[10, "job_id"])).wait().score
    assert list(frame.columns) == ["post", "why", "flag", "reason"]  # the caller's is untouched


def test_above_so_many_rows_it_is_a_batch(ts: Touchstone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "MOST_A_CALL", 20)
    monkeypatch.setattr(many, "MOST_A_BATCH", 15)  # so that there are two
    before = sum(1 for _ in ts.batches.list())
    found = ts.score_many(pd.DataFrame(posts(25)), "hatexscore", progress=False)
    assert sum(1 for _ in ts.batches.list()) == before + 2
    assert found["job_id"].notna().all()
    assert list(found["score"]) == [
        one.score for one in ts.score_many(posts(25)[:20], "hatexscore", progress=False)
    ] + list(found["score"][20:])
