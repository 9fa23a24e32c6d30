"""What reaches the ledger's JSON: all of it, and nothing that PostgreSQL refuses to look into."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from services.gateway.results import overview
from shared.ledger import jobs, leases
from shared.ledger.engine import encode_json
from tests.ledger import must_claim

MINUTE = timedelta(minutes=1)
PIECES = st.sampled_from(("\x00", "\\", "u0000", '"', "a", "é", "\U0001f600"))
TEXTS = st.lists(PIECES, max_size=12).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def without_nul(value: Any) -> Any:
    """Replaced in every string."""
    match value:
        case str():
            return value.replace("\x00", "\ufffd")
        case list():
            return [without_nul(one) for one in value]
        case dict():
            return {without_nul(name): without_nul(one) for name, one in value.items()}
    return value


@given(VALUES)
def test_nothing_but_nul_changes(value: Any) -> None:
    assert json.loads(encode_json(value)) == without_nul(value)


@pytest.mark.parametrize("ending", ["succeeded", "failed", "cancelled"])
def test_a_job_whose_texts_hold_nul_ends_and_is_shown(engine: Engine, ending: str) -> None:
    request = {"text": "a\x00b", "model": "m\x00", "do_not_store_text": True}
    with engine.begin() as connection:
        job = jobs.insert_job(connection, jobs.new_id(), "echo", request, MINUTE)
        claim = must_claim(connection, job.id)
        if ending == "succeeded":
            assert leases.succeed(connection, claim, {"score": 0.5, "echo": "a\x00b"})
        elif ending == "failed":
            assert leases.fail(connection, claim, {"status": 503, "detail": "a\x00b"})
        else:
            jobs.cancel(connection, job.id)
        found = jobs.find(connection, job.id)
        assert found.status == ending
        counts = overview.counts(connection, "default").by_state
        signs = overview.model_history(connection, "default")
    assert counts == {("echo", ending): 1}
    assert signs.away == ({("echo", "m\ufffd"): 1} if ending == "failed" else {})
