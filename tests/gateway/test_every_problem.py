"""Every error that the code can raise is a problem as the description has it, with an entry."""

from __future__ import annotations

import json

import pytest

from cli.generators.reference import errors
from shared.contracts.problems import KINDS, TYPE_BASE, can_retry, problem, to_public
from tests.answers import problem_validator

FIELDS = {"policy": "requests", "model": "m", "ability": "judge", "abilities": ()}
RETRIED = {"still-running", "quota-exceeded"}  # of those below 500


@pytest.mark.parametrize("slug", sorted(errors()))
def test_it_is_described_and_says_whether_a_retry_helps(slug: str) -> None:
    kind = errors()[slug]
    error = kind.__new__(kind)  # constructors ask for what only the place of the fault knows
    error.detail, error.pointer, error.pointers = "what was wrong", "/a/b", ("/a/b",)
    for name, value in FIELDS.items():
        setattr(error, name, value)
    found = to_public(problem(error), "req_1")
    problem_validator().validate(json.loads(json.dumps(found)))
    assert found["error"]["code"] == slug
    assert found["error"]["param"] == "a.b"
    assert found["type"].endswith(slug)
    assert found["type"].startswith(TYPE_BASE) or slug == "quota-exceeded"
    if 400 <= kind.status < 500:
        assert can_retry(found) is (slug in RETRIED)
    assert found["error"]["type"] in {*KINDS.values(), "invalid_request_error"}
