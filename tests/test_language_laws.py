"""No metric gives a number for a language that its models did not learn or its rules do not read.

The examples of the contracts are sent as Finnish (`language` is believed as it is), under
models that state English, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from services.gateway.pages.templates import render
from services.registry import metrics, page
from shared.contracts.messages import ReasonCode, Report, Scored, ScoreRequest
from shared.contracts.service import MetricContract
from shared.reports.estimates import BatchStatistics
from shared.text.language import UNDECIDED
from tests.metric_laws import cheap_examples, metric_of

pytestmark = pytest.mark.usefixtures("_embedded_models")

EXAMPLES = [(name, which) for name, one in metrics().items() for which in one.examples]
LANGUAGE_CODES = {"no-rules", "untrained-language"}


def ask(contract: MetricContract, which: str, **more: Any) -> ScoreRequest:
    return contract.request.model_validate(cheap_examples(contract)[which] | more)


def null_parts(report: Report) -> set[str]:
    parts = {name for name, value in dict(report.components).items() if value is None}
    return parts | ({"score"} if report.score is None else set())


def numbers(value: Any) -> Iterator[float]:
    """Every number of a component, counts of nothing left out."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float) and value != 0:
        yield value


def rests_on_no_language(request: ScoreRequest) -> bool:
    """Answers of a judge that were sent, and units that were: numbers alone are compared."""
    sent = request.model_dump(exclude_none=True)
    return not sent.keys().isdisjoint({"predictions", "units", "probabilities"})


@pytest.mark.parametrize(("name", "which"), EXAMPLES)
def test_a_language_that_nobody_learned_has_no_number(name: str, which: str) -> None:
    metric = metric_of(name)
    request = ask(metric.contract, which, language="fi")
    report = metric.score(request)
    if rests_on_no_language(request):
        assert report.reasons == ()
        return
    assert report.score is None
    codes = {reason.code for reason in report.reasons if reason.component == "score"}
    assert codes
    assert codes <= LANGUAGE_CODES
    inapplicable = set(getattr(report, "not_applicable", ()))
    assert null_parts(report) == {reason.component for reason in report.reasons} | inapplicable
    assert {reason.detail for reason in report.reasons} <= set(report.warnings)
    if name != "hatexscore":  # whose parts may be defined one by one
        assert list(numbers(report.components)) == []
        assert report.provenance.models == ()
        assert report.languages is not None
        assert (report.languages.text.code, report.languages.text.by) == ("fi", "request")


@pytest.mark.parametrize(("name", "which"), EXAMPLES)
def test_an_undecided_language_is_none_that_was_learned(name: str, which: str) -> None:
    metric = metric_of(name)
    request = ask(metric.contract, which, language=UNDECIDED)
    report = metric.score(request)
    sent = request.model_dump(exclude_none=True)
    numbers_sent = rests_on_no_language(request) or "probabilities" in sent
    if not numbers_sent and report.provenance.models == ():
        assert report.score is None
        assert "language-undecided" in {reason.code for reason in report.reasons}


@pytest.mark.parametrize(("name", "which"), EXAMPLES)
def test_accepting_asks_the_models_and_marks_it(name: str, which: str) -> None:
    """What no rules read stays null: only a model can be asked all the same."""
    metric = metric_of(name)
    known = metric.score(ask(metric.contract, which, language="en"))
    report = metric.score(
        ask(metric.contract, which, language="fi", accept_untrained_languages=True)
    )
    assert report.provenance.parameters["accept_untrained_languages"] is True
    assert "untrained-language" not in {reason.code for reason in report.reasons}
    if not report.reasons and known.provenance.models:
        assert report.score == known.score
        assert any("learned English (en)" in warning for warning in report.warnings)


@pytest.mark.parametrize("name", ["hatexscore", "ice", "ftc", "hlv"])
def test_a_model_that_states_no_language_is_asked_with_a_warning(name: str) -> None:
    metric = metric_of(name)
    which = {"hlv": "a classifier as the judge", "ftc": "your own counterfactual"}.get(
        name, next(iter(metric.contract.examples))
    )
    with stating(()):
        report = metric.score(ask(metric.contract, which, language="fi"))
    assert report.provenance.models
    assert any(said.startswith("languages-not-stated: ") for said in report.warnings)


@contextmanager
def stating(languages: tuple[str, ...]) -> Iterator[None]:
    """The bound classifiers, as if they stated these languages."""
    from services.inference.classifier import LocalClassifier

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalClassifier, "languages", property(lambda self: languages))
        yield


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_null_report_can_be_shown_and_summed_up(name: str) -> None:
    """Its page, and the batch report: with a result that has a number, and without one.

    An example that sends a judge's answers has a number in every language, so it cannot be null.
    """
    metric = metric_of(name)
    examples = list(metric.contract.examples)
    reading = [one for one in examples if not rests_on_no_language(ask(metric.contract, one))]
    requests = [
        ask(metric.contract, which, language=code)
        for which, code in ((reading[0], "fi"), (examples[0], "en"))
    ]
    reports = metric.score_batch(requests)
    assert [report.score is None for report in reports] == [True, False]
    shown = page(name)
    assert shown is not None
    for sent in (requests[0], None):
        view = shown.view(sent, reports[0])
        assert render(shown.TEMPLATE, view=view, job={}, report=reports[0])
    rows = [
        Scored(job_id=f"job_{place}", custom_id=None, request=request, report=report)
        for place, (request, report) in enumerate(zip(requests, reports, strict=True))
    ]
    asked = metric.contract.batch_request(batch="batch_1", resamples=100)
    for some in (rows, rows[:1]):
        summed = metric.summarize(some, BatchStatistics(metric.contract, some, asked))
        assert set(summed.reasons) <= set(get_args(ReasonCode))
        assert summed.reasons
        assert summed.by_language["fi"].undefined == summed.by_language["fi"].results == 1
        assert summed.by_language["fi"].score.value is None
    assert metric.summarize(rows, BatchStatistics(metric.contract, rows, asked)).undefined >= 1
