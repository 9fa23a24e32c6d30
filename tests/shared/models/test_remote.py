"""Models behind the queue answer as models in the process do, bit for bit, or fail as they do."""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis

from shared.contracts import calls
from shared.contracts.calls import (
    AttributionMethod,
    Example,
    ExampleRows,
    Pair,
    Prompt,
    Row,
    Sampling,
    Template,
)
from shared.contracts.errors import (
    BadInput,
    DeadlineExceeded,
    JobCancelled,
    JobStopped,
    ModelNotReady,
    ScoringError,
    Unavailable,
)
from shared.models import ports
from shared.models import remote as call_module
from shared.models.catalogue.catalogue import READER, Catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Floats
from shared.models.remote import (
    CallResponse,
    QueueModels,
    RemoteCall,
    call_model,
    decode_message,
    encode_message,
    handle_call,
    response_list,
)
from shared.process.settings import Settings
from shared.queue import broker
from shared.queue.job_context import JobContext, check, use_context, wait_all
from shared.queue.worker_board import WorkerSender
from tests.fakes import KINDS, FakeModel, FakeModels
from tests.patience import SECONDS, eventually

TEXTS = ["a", "Grüße 🙂", "\x00", "x" * 200]
TEMPLATE = Template(prefix="p", suffix="s", verbalizers={"a": " a", "b": " b", "c": " c"})
CATALOGUE = Catalogue(
    tuple(ModelEntry(name=name, kind=kind, source="path:none") for name, kind in KINDS.items()),
    Path(),
)


@pytest.fixture
def worker(chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A thread that answers calls as a model worker does; the messages that it saw."""
    seen: list[str] = []
    threads: list[threading.Thread] = []

    def send_task(name: str, args: tuple[str], **_: object) -> None:
        assert name == args_queue(name)
        seen.append(args[0])
        threads.append(threading.Thread(target=handle_call, args=args))
        threads[-1].start()

    def args_queue(name: str) -> str:
        return name if name in ("model.inference", "model.similarity") else ""

    monkeypatch.setattr(broker.app, "send_task", send_task)
    ports.bind(FakeModels())
    call_module.response_client.cache_clear()
    yield seen
    for thread in threads:  # before the next test closes the connection that they answer on
        thread.join(SECONDS)
    ports.bind(None)


def test_a_model_worker_knows_the_reader_without_an_entry() -> None:
    assert QueueModels(CATALOGUE).kind(READER.name) == READER.kind == "classifier"


@pytest.fixture
def hasty(worker: list[str], chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no answer after 0.2 s sends again."""
    impatient = chosen.model_copy(update={"call_seconds": 0.2})
    monkeypatch.setattr(call_module, "settings", lambda: impatient)


@pytest.mark.usefixtures("worker")
def test_every_port_answers_over_the_queue_as_in_the_process() -> None:
    here, there = FakeModel(), QueueModels(CATALOGUE)
    classifier, writer = there.classifier("fake"), there.language_model("lm")
    examples = [Example(text=text) for text in TEXTS]
    rows = [ExampleRows(example=example, rows=(Row(kept=(0,)), Row())) for example in examples]
    method = AttributionMethod(name="gradient")
    prompts = [Prompt(text="p")] * 2
    assert np.array_equal(classifier.probabilities(TEXTS), here.probabilities(TEXTS))
    assert classifier.truncated(TEXTS) == here.truncated(TEXTS)
    assert classifier.tokens(examples) == here.tokens(examples)
    assert np.array_equal(classifier.judge(examples), here.judge(examples))
    assert there.judge("fake").judgements(examples) == here.judgements(examples)
    assert there.judge("lm").judgements(examples) == here.judgements(examples)
    assert np.array_equal(classifier.judge_rows(rows), here.judge_rows(rows))
    spans = (calls.WordSpan(start=0, end=1),)
    rewritten = (calls.WordRow(kept=()), calls.WordRow(masked=(0,)), calls.WordRow())
    words = [calls.WordRows(example=one, words=spans, rows=rewritten) for one in examples[:1]]
    assert classifier.judge_words(words) == here.judge_words(words)
    assert classifier.mask_text == here.mask_text
    assert {"judge", "word_rows", "token_rows"} <= classifier.abilities
    targets = ["yes"] * len(examples)
    assert classifier.attributions(examples, targets, method) == here.attributions(
        examples, targets, method
    )
    assert (classifier.use, classifier.labels, classifier.languages) == (
        here.use,
        here.labels,
        here.languages,
    )
    sampling = Sampling(seed=7)
    assert writer.generate(prompts, sampling) == here.generate(prompts, sampling)
    assert writer.score(prompts, ["x", "y"]) == here.score(prompts, ["x", "y"])
    assert writer.labels_of(Example(text="", template=TEMPLATE)) == ("a", "b", "c")
    pairs = [Pair(a="a", b="b"), Pair(a="", b="")]
    assert np.array_equal(there.similarity("alike").similarities(pairs), here.similarities(pairs))


def test_nothing_asked_sends_nothing(worker: list[str]) -> None:
    model = QueueModels(CATALOGUE).language_model("lm")
    assert (
        model.judge([]) == model.tokens([]) == model.judge_rows([]) == model.judge_words([]) == []
    )
    assert model.score([], []) == model.generate([], Sampling()) == []
    assert worker == []


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("text", "error"), [("bad", BadInput), ("away", Unavailable), ("crash", ScoringError)]
)
def test_errors_cross_the_wire(text: str, error: type[ScoringError]) -> None:
    with pytest.raises(ScoringError) as caught:
        call_model("inference", "fake", calls.Probabilities(texts=(text,)))
    assert type(caught.value) is error
    if error is BadInput:
        assert caught.value.pointer == "/texts"


def test_an_unknown_model_and_another_kind_are_refused_before_anything_is_sent(
    worker: list[str],
) -> None:
    there = QueueModels(CATALOGUE)
    for ask_for, name in [
        (there.classifier, "lm"),
        (there.language_model, "fake"),
        (there.similarity, "fake"),
        (there.classifier, "nobody"),
    ]:
        with pytest.raises(BadInput, match=r"no model|of kind"):
            ask_for(name)
    assert worker == []


@pytest.mark.usefixtures("hasty")
def test_a_lost_call_is_sent_again(worker: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_module, "SENDINGS", 600)  # as many as a busy machine needs
    deliver = broker.app.send_task
    lost: list[str] = []

    def lossy(name: str, args: tuple[str], **options: object) -> None:
        if not lost:
            lost.append(name)
            return
        deliver(name, args=args, **options)

    monkeypatch.setattr(broker.app, "send_task", lossy)
    found = call_model("inference", "fake", calls.Truncated(texts=("a",)))
    assert (found, len(lost)) == ((False,), 1)
    assert worker


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("worker_runs", [True, False])
def test_without_any_answer_the_model_counts_as_away(
    monkeypatch: pytest.MonkeyPatch, worker_runs: bool
) -> None:
    """Without a worker the job waits, which costs no attempt; an attempt is for what may kill."""
    monkeypatch.setattr(broker.app, "send_task", lambda *_, **__: None)
    if worker_runs:
        WorkerSender(["inference"], dict).report()
    with pytest.raises(Unavailable, match="no answer") as caught:
        call_model("inference", "fake", calls.Describe())
    assert isinstance(caught.value, ModelNotReady) is not worker_runs


@pytest.mark.usefixtures("hasty")
def test_a_queue_that_is_away_costs_no_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise redis.ConnectionError

    WorkerSender(["inference"], dict).report()
    monkeypatch.setattr(broker.app, "send_task", fail)
    monkeypatch.setattr(call_module, "pause", lambda _: None)
    monkeypatch.setattr(redis.Redis, "ping", fail)
    with pytest.raises(ModelNotReady):
        call_model("inference", "fake", calls.Describe())


@pytest.mark.usefixtures("worker")
def test_nobody_works_on_a_call_that_nobody_waits_for(chosen: Settings) -> None:
    late = RemoteCall(id="late", model="fake", operation=calls.Describe(), deadline=time.time() - 1)
    handle_call(late.model_dump_json())
    handle_call("not a call")
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        assert client.exists(response_list("late")) == 0


def test_older_workers_read_what_is_not_private(chosen: Settings) -> None:
    call = RemoteCall(id="one", model="fake", operation=calls.Describe(), deadline=0)
    assert "private" not in json.loads(decode_message(encode_message(call)))
    private = call.model_copy(update={"private": True})
    assert RemoteCall.model_validate_json(decode_message(encode_message(private))).private


@pytest.mark.usefixtures("worker")
def test_calls_and_replies_travel_encrypted(chosen: Settings) -> None:
    call = RemoteCall(
        id="marked",
        model="fake",
        operation=calls.JudgeExamples(examples=(Example(text="mark of a text"),)),
        deadline=time.time() + 900,
    )
    message = encode_message(call)
    assert "mark of a text" not in message
    handle_call(message)
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        (raw,) = client.lrange(response_list("marked"), 0, -1)
    assert not raw.startswith(b"{")
    assert CallResponse.model_validate_json(decode_message(raw))


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize("seconds", [0.0004, 0.001, 0.5004])
def test_a_wait_ends_however_short_its_rest_is(seconds: float) -> None:
    """Redis waits for ever where it is asked to for less than a millisecond."""
    until = time.time() + seconds
    call = RemoteCall(id="unanswered", model="fake", operation=calls.Describe(), deadline=until)
    assert call_module._wait(call, seconds, broker.own_address()) is None


@pytest.mark.usefixtures("worker")
def test_an_answer_that_nobody_takes_is_forgotten(chosen: Settings) -> None:
    later = time.time() + 900
    call = RemoteCall(id="left", model="fake", operation=calls.Describe(), deadline=later)
    handle_call(call.model_dump_json())
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        assert 0 < client.ttl(response_list("left")) <= 300


class Slow(FakeModel):
    """A model that works until nobody waits any more, as the micro-batcher's callers do."""

    def __init__(self) -> None:
        self.began, self.stopped = threading.Event(), threading.Event()

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        self.began.set()
        try:
            wait_all([Future[Floats]()])
        except JobStopped:
            self.stopped.set()
            raise
        raise AssertionError("its future was never answered")


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_stopped_job_ends_its_call_on_both_sides(
    worker: list[str], monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    call_module.prompt_client.cache_clear()
    model = Slow()
    monkeypatch.setattr(FakeModels, "similarity", lambda *_: model)
    context = JobContext("job", "a tenant", True, time.monotonic() + 1e6)

    def stop() -> None:
        model.began.wait()
        if cancelled:
            context.cancelled.set()
        else:
            context.deadline = time.monotonic()

    threading.Thread(target=stop).start()
    with use_context(context), pytest.raises(JobCancelled if cancelled else DeadlineExceeded):
        QueueModels(CATALOGUE).similarity("alike").similarities([Pair(a="a", b="b")])
    assert model.stopped.wait(60)
    [message] = worker
    call = RemoteCall.model_validate_json(decode_message(message))
    assert (call.tenant, call.batch) == ("a tenant", True)


def test_a_call_that_is_computed_is_not_computed_again(
    worker: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []

    class Long(FakeModel):
        def similarities(self, pairs: Sequence[Pair]) -> Floats:
            begun.append(time.monotonic())
            eventually(lambda: check() or len(worker) > 3)  # type: ignore[func-returns-value]
            return super().similarities(pairs)

    call_module.prompt_client.cache_clear()
    monkeypatch.setattr(FakeModels, "similarity", lambda *_: Long())
    monkeypatch.setattr(call_module, "iter_retries", lambda *_: [0.2] * 3_000)
    QueueModels(CATALOGUE).similarity("alike").similarities([Pair(a="a", b="b")])
    assert len(begun) == 1


def test_a_call_whose_worker_died_is_computed_again(chosen: Settings) -> None:
    call = RemoteCall(id="died", model="fake", operation=calls.Describe(), deadline=1e12)
    assert call_module._begin(call)
    assert not call_module._begin(call)
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        mark = call_module.running_key(call.id)
        assert 0 < client.pttl(mark) < 1_000 * chosen.call_seconds  # gone before the next sending


def logged(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Event -> its fields, of all that is logged as an error from now on."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(
        call_module.logger, "error", lambda event, **said: found.update({event: said})
    )
    return found


@pytest.mark.parametrize("private", [True, False])
def test_a_crash_behind_the_queue_quotes_no_private_text(
    worker: list[str], monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    def crash(_: FakeModel, pairs: Sequence[Pair]) -> None:
        raise RuntimeError(f"{pairs[0].a} is odd")

    monkeypatch.setattr(FakeModel, "similarities", crash)
    said = logged(monkeypatch)
    context = JobContext("job", "a tenant", False, time.monotonic() + 1e6, private=private)
    with use_context(context), pytest.raises(ScoringError):
        QueueModels(CATALOGUE).similarity("alike").similarities([Pair(a="secret", b="b")])
    written = "".join(traceback.format_exception(said["call.crashed"]["exc_info"]))
    assert ("secret" in written) is not private
    assert "in crash" in written


def test_a_call_that_cannot_be_read_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = logged(monkeypatch)
    handle_call('{"id": "a secret text"}')
    written = "".join(traceback.format_exception(said["call.unreadable"]["exc_info"]))
    assert "secret" not in written
    assert "ValidationError" in written
