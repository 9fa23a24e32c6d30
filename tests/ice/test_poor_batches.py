"""Batch reports over few jobs, undefined ones, mixed ones, and ones without text."""

from __future__ import annotations

import json

import pytest

from services.ice.batch_report import name
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceBatchReport, IceResult
from shared.contracts.messages import Scored
from shared.contracts.redaction import without_text
from tests.ice.test_batch_report import ASKED, bodies, scored
from tests.summaries import summaries

batch_report = summaries(SERVICE)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_few_jobs_make_a_report_without_what_needs_more(jobs: int) -> None:
    found = batch_report(scored(jobs), ASKED)
    assert IceBatchReport.model_validate_json(found.model_dump_json()) == found
    first = found.configurations[0]
    assert (first.win_rate.of, first.effect.low) == (jobs, None)
    assert (first.win_rate.low is None) == (jobs == 1)
    assert first.omnibus_z is not None
    json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_all_undefined_is_reported_as_that_and_nothing_else() -> None:
    whole = [{"start": 0, "end": len(next(bodies(1))["text"])}]
    found = batch_report(scored(3, rationale=whole, attributions=None, k=1.0), ASKED)
    assert (found.scored, found.undefined, found.score.value) == (3, 3, None)
    assert {result.omnibus_z for result in found.configurations} == {None}
    assert {result.undefined for result in found.configurations} == {3}
    assert any("6 tests have no win rate" in warning for warning in found.warnings)
    assert found.plots == ()
    json.dumps(found.model_dump(mode="json"), allow_nan=False)


def test_variants_and_models_do_not_mix() -> None:
    mixed = [*scored(4), *scored(4, variant="paper"), *scored(4, variant="reference")]
    found = batch_report(mixed, ASKED)
    keys = [result.configuration for result in found.configurations]
    assert len(set(keys)) == len(keys)
    assert {result.win_rate.of for result in found.configurations} == {4}
    for gap in found.differences:
        assert gap.first.variant == gap.second.variant
    assert len(set(map(name, keys))) == len(keys)
    assert all(
        (r.omnibus_z is None) == (r.configuration.variant != "robust") for r in found.configurations
    )


def test_results_without_text_are_reported_on_alike() -> None:
    jobs = scored(5)
    kept = [
        Scored(
            one.job_id,
            None,
            IceRequest.model_construct(text="", do_not_store_text=True),
            IceResult.model_validate(without_text(one.report, one.request)),
        )
        for one in jobs
    ]
    assert batch_report(kept, ASKED) == batch_report(jobs, ASKED)


def test_a_plot_of_too_many_lines_says_so() -> None:
    budgets = [round(0.02 * place, 2) for place in range(5, 15)]
    more = {"k": budgets, "attribution": ["attention", "gradient"]}
    svg = batch_report(scored(2, **more), ASKED).plots[0].svg
    assert "the first 40 of" in svg
