"""A request that says `do_not_store_text` is never written in clear, and reads as it came."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from shared.contracts.errors import BadInput, Unavailable
from shared.ledger import jobs, leases
from shared.ledger.private_requests import (
    PLAIN,
    check_encryption_key,
    check_readable,
    decrypted,
    encrypted,
)
from shared.process.encryption import new_key
from shared.process.settings import settings
from tests.echo_metric import EchoRequest
from tests.ledger import must_claim

MINUTE = timedelta(minutes=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEYS", new_key())
    settings.cache_clear()
    yield
    settings.cache_clear()


@given(st.dictionaries(st.sampled_from([*PLAIN, "text", "explanation", "options"]), JSON))
def test_it_reads_as_it_came_and_names_nothing_but_what_is_kept(request: dict[str, Any]) -> None:
    request["do_not_store_text"] = True
    stored = encrypted(request)
    assert set(stored) <= {*PLAIN, "encrypted"}
    assert decrypted(stored) == request


def test_what_may_be_stored_is_left_as_it_is() -> None:
    request = {"text": "a lovely day", "do_not_store_text": False}
    assert encrypted(request) is request
    assert decrypted(request) is request


def test_without_a_key_it_is_refused_where_the_flag_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = EchoRequest(text="a", do_not_store_text=True)
    check_encryption_key(asked)
    monkeypatch.delenv("TOUCHSTONE_SECRET_KEYS")
    settings.cache_clear()
    with pytest.raises(BadInput) as refused:
        check_encryption_key(asked)
    assert refused.value.pointer == "/do_not_store_text"
    check_encryption_key(EchoRequest(text="a"))
    with pytest.raises(Unavailable):
        encrypted(asked.model_dump(mode="json"))


def test_a_worker_without_the_key_gives_the_job_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = encrypted({"text": "a", "do_not_store_text": True})
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEYS", new_key())
    settings.cache_clear()
    with pytest.raises(Unavailable):
        check_readable(decrypted(stored))


def test_the_key_may_change_while_jobs_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    request = {"text": "a", "do_not_store_text": True}
    stored = encrypted(request)
    both = f"{new_key()},{settings().secret_keys.get_secret_value()}"  # type: ignore[union-attr]
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEYS", both)
    settings.cache_clear()
    assert decrypted(stored) == request


@pytest.mark.parametrize("place", [lambda one: one, lambda one: {"requests": [one]}])
def test_a_fingerprint_cannot_be_guessed_without_the_key(
    place: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`place` puts one request into what is hashed: itself, or a call with many."""
    private, other = ({"text": "a", "do_not_store_text": flag} for flag in (True, False))
    ours = [jobs.fingerprint("hlv", place(one)) for one in (private, other)]
    assert jobs.fingerprint("hlv", place(private)) == ours[0]
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEYS", new_key())
    settings.cache_clear()
    theirs = [jobs.fingerprint("hlv", place(one)) for one in (private, other)]
    assert theirs[0] != ours[0]
    assert theirs[1] == ours[1]


def test_the_ledger_never_holds_the_text(engine: Engine) -> None:
    request = {"text": "mark of a text", "model": "m", "do_not_store_text": True}
    with engine.begin() as connection:
        job = jobs.insert_job(connection, jobs.new_id(), "echo", request, MINUTE)
        raw = connection.execute(text("SELECT request::text FROM jobs")).scalar_one()
        assert "mark of a text" not in raw
        assert jobs.find(connection, job.id).request == request
        claim = must_claim(connection, job.id)
        assert claim.request == request
        assert leases.succeed(connection, claim, {"score": None})
        left = connection.execute(text("SELECT request FROM jobs")).scalar_one()
        assert left == {"model": "m", "do_not_store_text": True}
