"""A client reads what a newer service answers, and an older one: every object may have more members
than it knows, and may lack what came later."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.registry import metrics
from tests.gateway.results import recorded
from touchstone_client._base import IN_EVERY_VERSION
from touchstone_client._wire import job_of
from touchstone_client.cli.reports import sentence_of
from touchstone_client.models import BatchReport, HatexscoreRequest

NEW = {"a_field_of_the_next_version": {"of": ["any", "kind"]}}


SAYS_MORE = {"result", "components", "control", "null", "provenance", "timing"}  # no maps
LISTS = {"evidence", "models", "warnings"}
TAGS = {"kind", "result"}  # what tells the members of a union apart, and what all is about


def newer(value: dict[str, Any]) -> dict[str, Any]:
    """The same answer of a service that says more, in every object whose members it names."""
    more: dict[str, Any] = {**value, **NEW}
    for name, one in value.items():
        if name in SAYS_MORE and isinstance(one, dict):
            more[name] = newer(one)
        elif name in LISTS and isinstance(one, list):
            more[name] = [newer(entry) if isinstance(entry, dict) else entry for entry in one]
    return more


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_what_is_new_is_passed_over(metric: str) -> None:
    answer = recorded(f"score_{metric}")
    known, read = job_of(answer), job_of(newer(answer))
    assert read.result is not None
    assert read.result.score == known.result.score
    told = read.result.model_dump(mode="json", include={*type(known.result).model_fields})
    assert told["verdict"] == known.result.verdict
    assert told["provenance"]["variant"] == known.result.provenance.variant


def older(value: Any, gone: str) -> Any:
    """The same answer of a service that does not know this field yet, wherever it stands."""
    if isinstance(value, list):
        return [older(one, gone) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: older(one, gone) for name, one in value.items() if name != gone}


def names_in(value: Any) -> set[str]:
    """Of every field, wherever it stands."""
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    return set(value).union(*map(names_in, value.values())) if isinstance(value, dict) else set()


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_whatever_an_older_service_does_not_say_is_none(metric: str) -> None:
    answer = recorded(f"score_{metric}")
    for gone in sorted(names_in(answer) - IN_EVERY_VERSION - TAGS):
        read = job_of(older(answer, gone))
        assert read.result.score == job_of(answer).result.score
        if gone in type(read.result).model_fields:
            assert getattr(read.result, gone) == type(read.result).model_fields[gone].default


def test_a_report_of_a_service_without_findings_is_read_and_shown() -> None:
    answer = recorded("get_batch_report")
    now = BatchReport.model_validate(answer)
    then = BatchReport.model_validate(older(answer, "finding"))
    assert now.finding == answer["finding"]
    assert not then.finding
    assert then.scored == now.scored
    assert "could be scored" in sentence_of(then)


@pytest.mark.parametrize("gone", ["id", "status"])
def test_what_says_whose_answer_it_is_is_never_missing(gone: str) -> None:
    answer = recorded("score_ice")
    del answer[gone]
    with pytest.raises(ValidationError, match=gone):
        job_of(answer)


def test_a_request_lacks_nothing_that_it_needs() -> None:
    with pytest.raises(ValidationError, match="text"):
        HatexscoreRequest.model_validate({"explanation": "It is hateful."})
