"""A refusal is an error of its own kind, and its text one sentence with place and request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.contracts.errors import QuotaExceeded
from shared.contracts.problems import problem, to_public
from touchstone_client import errors

PROBLEM = {
    "type": "https://example.com/problems/invalid-request",
    "title": "The request is not valid",
    "status": 422,
    "detail": "Field required",
    "errors": [{"detail": "Field required", "pointer": "#/explanation"}],
}


def refusal(status: int, found: dict[str, Any]) -> errors.ApiError:
    return errors.refusal(status, {"x-request-id": "req_1"}, json.dumps(found).encode())


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequest),
        (401, errors.Unauthenticated),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (405, errors.BadRequest),
        (408, errors.Unavailable),
        (409, errors.Conflict),
        (413, errors.BadRequest),
        (422, errors.BadRequest),
        (429, errors.RateLimited),
        (500, errors.ApiError),
        (503, errors.Unavailable),
    ],
)
def test_each_status_has_its_kind(status: int, kind: type[errors.ApiError]) -> None:
    found = refusal(status, PROBLEM | {"status": status})
    assert type(found) is kind
    assert (found.status, found.slug, found.detail) == (status, "invalid-request", "Field required")
    assert found.errors == (errors.Fault("Field required", "#/explanation"),)


def test_the_sentence_is_the_service_s_own() -> None:
    said = str(refusal(422, to_public(PROBLEM, None)))
    assert said == "The request is not valid: Field required (at explanation) [req_1]"
    assert str(refusal(422, PROBLEM)) == "The request is not valid: Field required [req_1]"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'"no"', b"\xff"])
def test_what_is_no_problem_is_told_by_its_status(body: bytes) -> None:
    found = errors.refusal(502, {}, body)
    assert isinstance(found, errors.Unavailable)
    assert str(found) == "HTTP 502"
    assert found.request_id is None


def test_a_quota_says_which() -> None:
    error = QuotaExceeded("too many jobs are open", policy="open-jobs", retry_after=5)
    found = refusal(429, problem(error))
    assert isinstance(found, errors.RateLimited)
    assert found.policies == ("open-jobs",)


def test_one_base_catches_all() -> None:
    kinds = [one for one in vars(errors).values() if isinstance(one, type)]
    raised = [one for one in kinds if issubclass(one, Exception)]
    assert len(raised) > 12
    assert all(issubclass(one, errors.TouchstoneError) for one in raised)
