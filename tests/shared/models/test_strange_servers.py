"""Servers that answer nonsense, without an end or never: each is one model's reason, never a P."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from shared.contracts.calls import Example
from shared.contracts.errors import ScoringError, Unavailable
from shared.contracts.judgement import Judgement
from shared.contracts.problems import problem
from shared.models.catalogue.entry import ModelEntry
from shared.models.classification import ServedClassifier
from shared.models.openai.labels import make_question
from shared.models.openai.model import ServedLanguageModel, judgements
from shared.models.openai.server import LanguageServer
from shared.models.server_check import probe, render
from shared.models.server_records import ServerAbilities
from shared.queue.job_context import JobContext, use_context
from tests.patience import SECONDS
from tests.shared.models.openai.stub import Reply, listening

WORDS = {"hateful": ["yes"], "non-hateful": ["no"]}
Serving = Callable[..., str]


def chat(*tops: tuple[str, float], **message: Any) -> bytes:
    """An answer with these listed tokens, in OpenAI's shape."""
    listed = [{"token": token, "logprob": logprob} for token, logprob in tops]
    told = [{**listed[0], "top_logprobs": listed}] if listed else None
    said = {"role": "assistant", "content": "yes", **message}
    choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": {"content": told}}
    return json.dumps({"model": "m", "choices": [choice]}).encode()


@dataclass(frozen=True)
class Strange:
    """A list of models, and the same content for every completion."""

    content: bytes
    every_path: bool = False
    status: int = 200

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        if self.every_path or path.endswith("completions"):
            return self.status, {}, self.content
        if body or not path.endswith("/models"):
            return 404, {}, {"detail": "Not Found"}
        return 200, {}, {"data": [{"id": "m", "owned_by": "x"}]}


@pytest.fixture
def serving() -> Iterator[Serving]:
    """A server that answers so: its URL."""
    with ExitStack() as stack:
        yield lambda *answer, **more: stack.enter_context(listening(Strange(*answer, **more)))


def entry(url: str, **keys: Any) -> ModelEntry:
    stated = {"name": "m", "kind": "causal", "source": f"openai:{url}", "timeout_seconds": SECONDS}
    return ModelEntry.model_validate(stated | {"prompt": {"verbalizers": WORDS}} | keys)


def judged(url: str) -> Judgement:
    own = entry(url)
    return judgements(LanguageServer(own), [make_question(Example(text="A text"), own)])[0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"<html>nginx</html>", "did not return JSON; check its address"),
        (b"[" * 100_000 + b"]" * 100_000, "did not return JSON; check its address"),
        (b"null", "did not return an object or list; check its address"),
        (b"[]", "does not have OpenAI's form: the whole answer; check the server's address"),
        (
            b'{"error": {"message": "overloaded"}}',
            "does not have OpenAI's form: choices; check the server's address",
        ),
        (b'{"choices": null}', "does not have OpenAI's form: choices"),
        (chat(content=[{"type": "text", "text": "yes"}]), "choices.0.message.content"),
    ],
)
@pytest.mark.parametrize("every_path", [True, False])
def test_an_answer_that_is_none_is_the_reason(
    serving: Serving, answer: bytes, reason: str, every_path: bool
) -> None:
    url = serving(answer, every_path=every_path)
    record = probe(entry(url))
    assert not record.is_usable
    assert reason in (record.error or "")
    with pytest.raises(ScoringError):
        judged(url)


@pytest.mark.parametrize("every_path", [True, False])
def test_a_redirect_is_no_fault_of_the_caller(serving: Serving, every_path: bool) -> None:
    own = entry(serving(b"", every_path=every_path, status=302))
    record = probe(own)
    assert (record.is_usable, record.is_away) == (False, False)
    assert "redirect (status 302); set the final address" in (record.error or "")
    with pytest.raises(Unavailable, match="redirect") as caught:
        ServedLanguageModel(own).judgements([Example(text="A text")])
    assert str(problem(caught.value)["type"]).endswith("#unavailable")


class OnlyChat(Strange):
    """Every other path is redirected, for example to a log-in page."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        if path.endswith("/chat/completions"):
            return super().answer(path, body, headers)
        return 302, {}, b""


def test_a_path_that_is_redirected_is_a_missing_ability() -> None:
    with listening(OnlyChat(chat(("yes", -0.1), ("no", -2.5)))) as url:
        [judgement] = ServedLanguageModel(entry(url)).judgements([Example(text="A text")])
    assert judgement.probabilities is not None
    assert dict(zip(judgement.labels, judgement.probabilities, strict=True))["hateful"] > 0.5


NO_ANSWERS = (
    b"<html>a lovely town</html>",
    b"[" * 2_000 + b"]" * 2_000,
    b'{"choices": ' + b"[" * 700 + b"]" * 700 + b"}",
    b'{"choices": [{"logprobs": {"top_logprobs": [{"lovely": "x"}]}}]}',
    b'{"data": 5}',
    chat(content=[{"type": "text", "text": "a lovely town"}]),
)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """A destructor that runs on the last frame of a deep recursion cannot say what it has to."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("answer", NO_ANSWERS)
@pytest.mark.parametrize("kind", ["openai", "classify"])
def test_a_job_asks_again_later_for_what_could_not_be_read(
    serving: Serving, answer: bytes, kind: str
) -> None:
    url = serving(answer, every_path=True)
    if kind == "openai":
        served: Any = ServedLanguageModel(entry(url))
    else:
        keys = {"name": "m", "kind": "classifier", "source": f"classify:{url}", "protocol": "vllm"}
        served = ServedClassifier(ModelEntry.model_validate({**keys, "outputs": ["no", "yes"]}))
    context = JobContext("job", "a tenant", False, time.monotonic() + 1e6, private=True)
    with use_context(context), pytest.raises(Unavailable, match="cannot be read") as caught:
        served.judgements([Example(text="A lovely town")])
    assert "the server of 'm'" in caught.value.detail
    assert "lovely" not in caught.value.detail


@pytest.mark.parametrize(
    "tops",
    [
        (("yes", 3.0), ("no", 2.0)),
        (("yes", -0.1), ("Yes", -0.1), ("no", -0.2)),
        (("yes", 1e4), ("no", -1.0)),
        (("yes", float("nan")), ("no", -1.0)),
    ],
)
def test_what_are_no_probabilities_are_no_p(
    serving: Serving, tops: tuple[tuple[str, float], ...]
) -> None:
    found = judged(serving(chat(*tops)))
    assert found.probabilities is None
    assert found.unread is not None
    assert found.unread.code == "answer-unread"


def test_rounding_is_no_reason(serving: Serving) -> None:
    found = judged(serving(chat(("yes", 0.001), ("no", -4.0))))
    assert found.probabilities is not None


def test_a_gateway_that_answers_every_path_has_a_chat_all_the_same(
    serving: Serving,
) -> None:
    """Its `/tokenize` answers a chat, too: then it tells no tokens, and P is of the listed ones."""
    url = serving(chat(("yes", -0.2), ("no", -2.0)), every_path=True)
    found = judged(url)
    assert found.reading == "top-logprobs"
    assert found.probabilities is not None


def test_who_forgot_v1_is_told_so(serving: Serving) -> None:
    url = serving(b'{"detail": "Not Found"}', status=404)
    said = "most addresses of such servers end in /v1"
    assert said in (probe(entry(url.removesuffix("/v1"))).error or "")
    told = probe(entry(url)).error or ""
    assert (
        "supports neither chat nor text completion (the server of 'm' rejects the request "
        "(status 404)" in told
    )
    assert said not in told


@pytest.mark.parametrize(
    ("unread", "said"),
    [
        ("no-logprobs: it tells none", "votes (off)"),
        ("text-too-long: it reads 96 tokens", "no, text-too-long: it reads 96 tokens"),
    ],
)
def test_check_says_why_no_label_was_read(unread: str, said: str) -> None:
    keys = {"name": "m", "source": "openai:", "served": "m", "unread": unread, "metrics": {}}
    record = ServerAbilities.model_validate(keys)
    assert f"judge reads by    {said}" in render(record)
