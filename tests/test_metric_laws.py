"""Every metric that is found keeps the laws of `tests.metric_laws`."""

from __future__ import annotations

from typing import get_args

import pytest

from services.registry import metrics
from shared.contracts.messages import (
    OF_PROVENANCE,
    TRANSPORT,
    Provenance,
    Report,
    ScoreRequest,
    Variant,
)
from tests import metric_laws
from tests.metric_laws import metric_of

pytestmark = pytest.mark.usefixtures("_embedded_models")

NAMES = sorted(metrics())
WITH_NULLS = {"ftc", "hatexscore", "ice"}  # in every variant
# all laws of a metric in a row: its examples are scored once a process
of_each_metric = pytest.mark.parametrize("name", NAMES, scope="module")


@of_each_metric
def test_a_batch_changes_nothing(name: str) -> None:
    metric_laws.batches_change_nothing(metric_of(name))


@of_each_metric
def test_requests_and_reports_survive_the_wire(name: str) -> None:
    metric_laws.messages_survive_the_wire(metric_of(name))


@of_each_metric
def test_a_report_begins_as_every_report_does(name: str) -> None:
    fields = list(Report.model_fields)
    assert list(metrics()[name].report.model_fields)[: len(fields)] == fields


@of_each_metric
def test_random_nulls_are_one_message(name: str) -> None:
    metric_laws.nulls_are_one_message(metrics()[name])


@of_each_metric
def test_random_nulls_add_up(name: str) -> None:
    count = metric_laws.nulls_add_up(metric_of(name))
    assert count or name not in WITH_NULLS


@of_each_metric
def test_each_parameter_is_in_the_provenance(name: str) -> None:
    metric_laws.parameters_are_in_the_provenance(metric_of(name))


@of_each_metric
def test_an_added_field_is_in_the_provenance(name: str) -> None:
    metric_laws.added_fields_are_in_the_provenance(metric_of(name))


def test_what_is_no_parameter_is_a_field_of_every_request() -> None:
    assert not TRANSPORT & OF_PROVENANCE
    assert ScoreRequest.model_fields.keys() == TRANSPORT | OF_PROVENANCE
    assert OF_PROVENANCE - Provenance.model_fields.keys() == {"model"}  # `models` has it


@of_each_metric
def test_a_text_that_must_not_be_empty_must_not_be_blank(name: str) -> None:
    metric_laws.blank_texts_are_refused(metrics()[name])


@of_each_metric
def test_each_string_of_a_request_is_marked(name: str) -> None:
    metric_laws.strings_are_marked(metrics()[name])


@of_each_metric
def test_no_text_stays_where_none_may(name: str) -> None:
    metric_laws.no_text_stays(metric_of(name))


@of_each_metric
def test_a_verdict_has_a_reason_that_quotes_nobody(name: str) -> None:
    metric_laws.checks_make_the_verdict(metric_of(name))


@of_each_metric
def test_there_are_three_variants(name: str) -> None:
    assert set(metric_of(name).variants) == set(get_args(Variant))
