"""Tables over many results: by hand on a few, laws on their intervals, a picture that repeats."""

from __future__ import annotations

import base64
from statistics import mean
from typing import Any, get_args

import pytest

from services.haf.batch_report import FEW, MIXED, PART_OF, Row
from services.haf.contract import CONTRACT
from services.haf.metric import SERVICE
from services.haf.report import HafBatchReport, HafBatchReportRequest, Stage
from shared.contracts.messages import Scored
from tests.haf.fake import ENOUGH, MORE, PLAIN, bound
from tests.haf.test_metric import ask, bring
from tests.summaries import summaries

score_batch = SERVICE.score_batch


batch_report = summaries(SERVICE)
REQUEST = HafBatchReportRequest(batch="batch_1", resamples=200)
LATER = {"internal": MORE, "external": ENOUGH}


def rows(*requests: Any) -> list[Row]:
    with bound():
        reports = score_batch(requests)
    return [
        Scored(f"job_{place}", None, request, report)
        for place, (request, report) in enumerate(zip(requests, reports, strict=True))
    ]


def named(dataset: str) -> dict[str, Any]:
    return {"metadata": {"model": "theirs", "dataset": dataset}}


@pytest.fixture(scope="module")
def some() -> list[Row]:
    """Two data sets of a brought model, and one of our own."""
    return rows(
        bring(**LATER, individual=[ENOUGH, MORE], text="one", **named("a")),
        bring(PLAIN, **LATER, individual=["The text is toxic.", MORE], text="two", **named("a")),
        bring("I cannot help with that.", **named("a")),
        bring(**LATER, individual=[ENOUGH, ENOUGH], text="four", **named("b")),
        ask(model="lm", text="five"),
    )


def test_groups_are_models_and_data_sets(some: list[Row]) -> None:
    report = batch_report(some, REQUEST)
    assert [(group.model, group.dataset, group.results) for group in report.groups] == [
        ("lm", "(unnamed)", 1),
        ("theirs", "a", 3),
        ("theirs", "b", 1),
    ]
    assert [(group.of_model, group.of_metadata) for group in report.groups] == [
        ("lm", {}),  # a report over them alone is asked for like this
        (None, {"model": "theirs", "dataset": "a"}),
        (None, {"model": "theirs", "dataset": "b"}),
    ]
    assert (report.scored, report.undefined, report.score.of) == (5, 1, 4)
    few, models, groups = report.warnings
    assert (few, groups) == ("there are only 4 clusters, fewer than 8", FEW)
    assert models.startswith("results of several models are averaged: ")
    assert models.endswith(
        "embedded-reader 1, lm 1 and embedded-similarity 1 and embedded-reader 1"
    )
    assert report.variants == ("robust",)


def test_groups_that_nothing_tells_apart_are_not_named() -> None:
    same = bring(metadata={"model": "m"})
    wider = batch_report(rows(same, bring(metadata={"model": "m", "dataset": "d"})), REQUEST)
    assert [(one.dataset, one.of_metadata) for one in wider.groups] == [
        ("(unnamed)", None),  # the other has all that it has
        ("d", {"model": "m", "dataset": "d"}),
    ]


def test_means_and_sample_sizes_are_those_of_the_results(some: list[Row]) -> None:
    group = batch_report(some, REQUEST).groups[1]
    for name in ("sos", "dis", "uii", "uei", "rs", "rn"):
        values = [getattr(row.report.components, name) for row in some[:3]]
        defined = [value for value in values if value is not None]
        interval = getattr(group.means, name)
        assert interval.of == len(defined)
        assert interval.value == (pytest.approx(mean(defined)) if defined else None)
        if len(defined) > 1:
            assert interval.low <= interval.value <= interval.high
    assert (group.means.sos.of, group.means.rs.of, group.means.rn.of) == (2, 1, 1)


def test_shares_of_answers(some: list[Row]) -> None:
    group = batch_report(some, REQUEST).groups[1]
    assert group.sufficient.internal.value == 0
    assert group.sufficient.external.value == 1
    assert group.sufficient.sufficiency.value == 0.5
    assert group.irrelevant.necessity.value == 0.5
    assert group.irrelevant.internal.value == 0
    assert group.refused.value == pytest.approx(1 / 3)
    assert [(each.stance, each.results) for each in group.by_stance] == [
        ("toxic", 1),
        ("non-toxic", 1),
        ("unclear", 1),
    ]


def test_the_factors_of_sufficiency(some: list[Row]) -> None:
    group = batch_report(some, REQUEST).groups[1]
    parts = [part for part in some[0].report.stages if part.stage == "sufficiency"]
    weighed = [
        part.weight * part.decision.confidence
        for part in parts
        if part.weight is not None
        and part.decision is not None
        and part.decision.confidence is not None
    ]
    assert group.individual.rs_decision.value == pytest.approx(mean(weighed))
    news = [part.informativeness for part in parts if part.informativeness is not None]
    assert group.individual.rs_informativeness.value == pytest.approx(mean(news))


def test_order_and_repetition_change_nothing(some: list[Row]) -> None:
    once = batch_report(some, REQUEST)
    assert batch_report(some, REQUEST) == once
    wider = batch_report(some, REQUEST.model_copy(update={"confidence": 0.99}))
    assert once.score.low is not None
    assert wider.score.low is not None
    assert wider.score.low <= once.score.low
    assert HafBatchReport.model_validate_json(once.model_dump_json()) == once


def test_the_picture_is_in_both_formats_with_the_same_bytes(some: list[Row]) -> None:
    first, again = (batch_report(some, REQUEST).plots[0] for _ in range(2))
    assert (first.name,) == CONTRACT.batch_plots
    assert first == again
    assert base64.b64decode(first.png_base64).startswith(b"\x89PNG")
    assert "<svg" in first.svg
    assert "theirs" in first.svg or "#DejaVuSans" in first.svg  # text may be drawn as glyphs


def test_names_that_look_like_formulas_are_drawn_as_they_are() -> None:
    odd: dict[str, Any] = {"metadata": {"model": r"cost$_{x", "dataset": r"\frac{$"}}
    assert batch_report(rows(bring(**odd)), REQUEST).plots[0].svg


def test_one_result_and_results_without_numbers_have_a_report() -> None:
    for asked in (bring(), bring("I cannot help with that."), bring("")):
        report = batch_report(rows(asked), REQUEST)
        assert HafBatchReport.model_validate_json(report.model_dump_json()) == report
        assert report.groups[0].means.rs.value is None
        assert report.groups[0].irrelevant.internal.of == 0
        assert report.plots


def test_nothing_and_mixtures_are_said() -> None:
    empty = batch_report([], REQUEST)
    assert (empty.groups, empty.plots, empty.warnings) == ((), (), ("no result has a score",))
    mixed = batch_report(rows(bring(), bring(variant="reference")), REQUEST)
    assert MIXED in mixed.warnings


def test_stages_lose_results_and_never_gain_any(some: list[Row]) -> None:
    for group in batch_report(some, REQUEST).groups:
        first = group.stages["justify"]
        assert first.reached == group.results
        assert list(group.stages) == list(get_args(Stage))
        for stage, found in group.stages.items():
            assert found.scored + found.refused <= found.reached <= first.reached, stage
            assert found.scored <= getattr(group.means, PART_OF[stage]).of
    middle = batch_report(some, REQUEST).groups[1].stages
    assert (middle["justify"].refused, middle["justify"].scored) == (1, 2)
    assert (middle["sufficiency"].reached, middle["necessity"].reached) == (1, 1)


def test_a_stance_is_asked_for_one_of_the_two_last_parts(some: list[Row]) -> None:
    parts = batch_report(some, REQUEST).parts
    for found in parts.values():
        assert found.mean.of + found.undefined + found.not_applicable == len(some)
    stances = [row.report.stance for row in some]
    assert parts["rs"].not_applicable == stances.count("non-toxic")
    assert parts["rn"].not_applicable == stances.count("toxic") + stances.count("maybe")
    assert parts["sos"].not_applicable == 0
