"""What is sent again, what is refused and how, and what never shows: against recorded answers."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from shared.contracts.errors import (
    BadInput,
    ModelNotReady,
    ScoringError,
    TextTooLong,
    Unavailable,
)
from shared.contracts.problems import problem
from shared.models import server_connection
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.protocol import CHAT, Dialect
from shared.models.openai.server_builds import names_a_build
from shared.models.server_connection import Address, AnswerUnread, Connection, Redirected
from shared.queue.job_context import JobContext, use_context
from tests.patience import SECONDS, eventually
from tests.shared.models.openai.recorded import Recorded, recordings
from tests.shared.models.openai.stub import listening

KEY = "sk-a-secret-of-the-tests"
ASKED = {"messages": [{"role": "user", "content": "What a lovely town"}], "max_tokens": 9}
Making = Callable[..., tuple[Recorded, Connection]]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Making]:
    """A double of these recordings, and a connection to it."""
    monkeypatch.setenv("DOUBLE_KEY", KEY)
    with ExitStack() as stack:

        def make(*names: str, **keys: Any) -> tuple[Recorded, Connection]:
            double = Recorded(*names)
            url = stack.enter_context(listening(double))
            entry = ModelEntry(
                name="m", kind="causal", source=f"openai:{url}", api_key_env="DOUBLE_KEY", **keys
            )
            return double, Connection(entry)

        yield make


def asked_once(connected: Making, *names: str, **body: Any) -> tuple[Recorded, Any]:
    double, connection = connected(*names)
    [found] = Dialect(connection, "m").complete_chat([{**ASKED, **body}])
    return double, found


@pytest.mark.parametrize("path", recordings(), ids=lambda path: "/".join(path.parts[-3:]))
def test_every_recording_says_where_and_when(path: Any) -> None:
    recorded = json.loads(path.read_text("utf-8"))
    assert recorded["source"]
    assert recorded["date"]
    assert recorded["exchanges"]


def test_the_newer_limit_is_asked_first_and_the_older_one_remembered(connected: Making) -> None:
    double, connection = connected("openai/2026-11/older_limit", "openai/2026-11/chat")
    dialect = Dialect(connection, "m")
    dialect.complete_chat([ASKED, ASKED])
    dialect.complete_chat([ASKED])
    bodies = double.bodies("/v1/chat/completions")
    assert [("max_completion_tokens" in body, "max_tokens" in body) for body in bodies] == [
        (True, False), (False, True), (False, True), (False, True),
    ]  # fmt: skip
    assert dialect.limit_field == "max_tokens"


def job(*, private: bool = False) -> JobContext:
    return JobContext("job", "a tenant", False, time.monotonic() + 1e6, private=private)


def test_the_build_of_a_server_is_of_the_jobs_own_answers(connected: Making) -> None:
    _, connection = connected("openai/2026-11/chat")
    dialect = Dialect(connection, "m")
    with use_context(job()):
        assert dialect.fingerprint is None
        dialect.complete_chat([ASKED])
        assert dialect.fingerprint == "fp_1"
    with use_context(job()):
        assert dialect.fingerprint is None
        dialect.complete_chat([{**ASKED, "messages": [{"role": "user", "content": "My fp_1"}]}])
        assert dialect.fingerprint is None
    assert dialect.fingerprint is None


@pytest.mark.parametrize("told", ["fp_44709d6fcb", "3.3.5-native", "b5124:ab-1", "fp_ollama"])
def test_a_fingerprint_is_a_short_token(told: str) -> None:
    assert names_a_build(told, ["What a lovely town", "no", "你好"])


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("What a lovely town", "another text"),
        ("x" * 65, "another text"),
        ("", "another text"),
        ("fp_lovely", "What a lovely town"),
        ("LOVELY", "What a lovely town"),
        ("fp_xxlovelyxx", "What a Lovely town"),
        ("Whatalovelytown", "What a lovely town"),
        ("fp_love", "What a lovely town"),
        ("fp_no", "no"),
        ("fp_1", "it is fp_12"),
    ],
)
def test_what_repeats_a_text_is_no_fingerprint(told: str, text: str) -> None:
    assert not names_a_build(told, ["a first one", text])


def test_of_a_private_job_no_words_of_a_server_are_kept(connected: Making) -> None:
    names = "azure/2024-10-21/content_filter", "openai/2026-11/too_long"
    for name, kind in zip(names, (BadInput, TextTooLong), strict=True):
        _, connection = connected(name)
        with use_context(job(private=True)), pytest.raises(kind) as caught:
            Dialect(connection, "m").complete_chat([{**ASKED, "seed": 1}])
        assert caught.value.detail == "the server of 'm' rejects the request (status 400)"


def test_a_private_job_learns_from_refusals_all_the_same(connected: Making) -> None:
    double, connection = connected("openai/2026-11/older_limit", "openai/2026-11/chat")
    with use_context(job(private=True)):
        assert Dialect(connection, "m").complete_chat([ASKED])[0].written == "safe"
    assert "max_tokens" in double.bodies("/v1/chat/completions")[-1]


def test_a_prompt_that_was_cut_without_a_word_is_too_long(connected: Making) -> None:
    """The recorded answer has read 21 tokens; no tokenizer reads 30 words as fewer than 30."""
    _, connection = connected("openai/2026-11/chat")
    dialect = Dialect(connection, "m")
    for count, fits in ((21, True), (30, False)):
        turns = [{"role": "user", "content": "word " * count}]
        if fits:
            assert dialect.complete_chat([{**ASKED, "messages": turns}])[0].written
            continue
        with pytest.raises(TextTooLong, match="read only 21 of at least 30 tokens") as caught:
            dialect.complete_chat([{**ASKED, "messages": turns}])
        assert caught.value.pointer == "/text"


def test_what_a_reasoning_model_refuses_is_left_out(connected: Making) -> None:
    double, found = asked_once(
        connected, "openai/2026-11/reasoning_model", temperature=0, logprobs=True, max_tokens=64
    )
    assert found.written == "safe"
    last = double.bodies("/v1/chat/completions")[-1]
    assert last["max_completion_tokens"] == 64
    assert not {"temperature", "logprobs", "top_logprobs", "max_tokens"} & set(last)


def test_a_refusal_that_quotes_a_text_teaches_nothing(connected: Making) -> None:
    double, connection = connected("azure/2024-10-21/content_filter")
    dialect = Dialect(connection, "m")
    with pytest.raises(BadInput, match="content management policy"):
        dialect.complete_chat([{**ASKED, "seed": 1}])
    assert dialect.left_out == frozenset()
    assert len(double.asked) == 1


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [
        ("vllm/0.33/reasoning", "The post"),
        ("sglang/0.5.23/reasoning", "The post"),
        ("ollama/0.13/think", "The post"),
    ],
)
def test_reasoning_is_kept_apart(connected: Making, name: str, reasoning: str) -> None:
    _, found = asked_once(connected, name)
    assert found.written.strip() == "safe"
    assert found.reasoning == reasoning


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("openai/2026-11/rate_limit_seconds", 1.0), ("openai/2026-11/rate_limit_date", 0.9)],
)
def test_retry_after_is_waited_for_in_both_forms(
    connected: Making, name: str, seconds: float
) -> None:
    started = time.monotonic()
    double, found = asked_once(connected, name, "openai/2026-11/chat")
    assert found.written == "safe"
    assert time.monotonic() - started >= seconds  # a date has no parts of seconds
    assert len(double.asked) == 2


@pytest.mark.parametrize(
    ("said", "waited"),
    [("3600", 60.0), ("nan", None), ("soon", None), ("Wed, 01 Jan 2020 00:00:00 GMT", 0.0)],
)
def test_a_pause_is_at_most_a_minute(said: str, waited: float | None) -> None:
    found = server_connection._retry_after(httpx.Response(429, headers={"Retry-After": said}))
    assert (None if found is None else min(found, server_connection.LONGEST_PAUSE)) == waited


def test_a_server_that_comes_back(connected: Making) -> None:
    double, found = asked_once(connected, "openai/2026-11/away", "openai/2026-11/chat")
    assert found.written == "safe"
    assert len(double.asked) == 3


class Always:
    """A server that answers every request with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.calls = 0

    def answer(
        self, _path: str, _body: dict[str, Any], _headers: dict[str, str]
    ) -> tuple[int, dict[str, str], dict[str, Any]]:
        self.calls += 1
        return self.status, {"Retry-After": "0"}, {}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, ModelNotReady),
        (502, ModelNotReady),
        (503, ModelNotReady),
        (504, ModelNotReady),
        (500, Unavailable),  # perhaps the fault of this request
    ],
)
def test_a_server_that_stays_away_is_waited_for(status: int, kind: type[ScoringError]) -> None:
    server = Always(status)
    with listening(server) as url:
        entry = ModelEntry(name="m", kind="causal", source=f"openai:{url}/v1")
        with pytest.raises(kind, match=f"status {status}") as caught:
            Connection(entry).get("/models")
    assert type(caught.value) is kind
    assert server.calls == server_connection.ATTEMPTS


def test_an_answer_that_is_cut_is_asked_again(
    connected: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_connection, "_pause", lambda _: 0.0)
    double, found = asked_once(connected, "openai/2026-11/cut", "openai/2026-11/chat")
    assert found.written == "safe"
    assert len(double.asked) == 2


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("openai/2026-11/quota_used_up", BadInput, "quota or credit is used up"),
        ("openai/2026-11/credit_used_up", BadInput, "quota or credit is used up"),
        ("openai/2026-11/redirect", Redirected, "redirect"),
        ("openai/2026-11/malformed", AnswerUnread, "not return JSON"),
        ("openai/2026-11/too_long", TextTooLong, "8192 tokens"),
        ("vllm/0.33/too_long", TextTooLong, "1014 tokens"),
        ("vllm/0.9/too_long", TextTooLong, "8192"),
        ("sglang/0.5.23/too_long", TextTooLong, "512 tokens"),
    ],
)
def test_what_is_not_asked_again(
    connected: Making, name: str, kind: type[ScoringError], words: str
) -> None:
    double, connection = connected(name)
    with pytest.raises(kind, match=words) as caught:
        Dialect(connection, "m").complete_chat([ASKED])
    assert type(caught.value) is kind
    assert len(double.asked) == 1


def test_a_text_that_is_too_long_is_a_problem_of_its_own(connected: Making) -> None:
    _, connection = connected("tei/1.8/too_long")
    with pytest.raises(TextTooLong) as caught:
        connection.post_at_root("/predict", [{"inputs": [["A text"]]}])
    assert str(problem(caught.value)["type"]).endswith("#text-too-long")


def test_a_slow_answer_is_not_asked_for_again(
    connected: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    double, connection = connected("openai/2026-11/slow")
    connection._client.timeout = httpx.Timeout(SECONDS, read=0.2)
    with pytest.raises(Unavailable, match="did not answer"):
        Dialect(connection, "m").complete_chat([ASKED])
    eventually(lambda: double.asked)  # it may read it later than nobody waits
    assert len(double.bodies("/v1" + CHAT)) == 1


def address(**changed: Any) -> Address:
    keys = {"name": "m", "kind": "causal", "source": "openai:http://localhost"}
    return Address(ModelEntry.model_validate({**keys, "api_key_env": "DOUBLE_KEY", **changed}))


def test_keys_and_variables_are_sent_as_the_entry_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOUBLE_KEY", KEY)
    monkeypatch.setenv("TENANT", "t-1")
    assert address().sent_headers() == {"Authorization": f"Bearer {KEY}"}
    assert address(auth="api-key").sent_headers() == {"api-key": KEY}
    assert address(auth="none").sent_headers() == {}
    stated = address(headers={"X-Tenant": "$TENANT"}, query={"api-version": "2024-10-21"})
    assert stated.sent_headers()["X-Tenant"] == "t-1"
    assert stated.sent_query() == {"api-version": "2024-10-21"}
    with pytest.raises(Unavailable, match="environment variable NOT_SET"):
        address(query={"k": "$NOT_SET"}).sent_query()


def test_secrets_are_in_no_message_and_no_log(
    connected: Making, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("QUERY_KEY", "query-secret")
    caplog.set_level(logging.DEBUG)
    double, connection = connected("openai/2026-11/chat")
    stated = connection._address.entry
    query = {"key": "$QUERY_KEY"}
    connection._address = Address(stated.model_copy(update={"query": query}))
    Dialect(connection, "m").complete_chat([ASKED])
    path, _, headers = double.asked[-1]
    assert path.endswith("?key=query-secret")
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "query-secret" not in caplog.text
    assert KEY not in caplog.text
    said = connection._address.redacted(f"{KEY} and query-secret may not")
    assert said == "[redacted] and [redacted] may not"
