from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score  # type: ignore[import-untyped]

from services.ice.batch_report import CorrelationTest, ScoredIce, bins_for, correlation
from services.ice.comparison import average_precision, overlap
from services.ice.contract import CONTRACT, IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceBatchReport, IceBatchReportRequest, IceReportOptions
from shared.contracts.messages import Scored
from shared.contracts.reports import bin_edges
from shared.reports.estimates import BatchStatistics
from shared.statistics.families import benjamini_hochberg, holm
from shared.statistics.ranks import bin_counts
from tests.flat_requests import flat_request
from tests.ice.planted import noise, planted, weighted, word
from tests.summaries import summaries

score_batch = SERVICE.score_batch


batch_report = summaries(SERVICE)


LENGTH, SIGNAL, JOBS = 20, 10, 60
ASKED = IceBatchReportRequest(jobs=("all",), resamples=500)


def bodies(jobs: int) -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(4)
    for number in range(jobs):
        words = [*range(SIGNAL), *(100 + number * 30 + place for place in range(LENGTH - SIGNAL))]
        text = " ".join(map(word, words))
        start = int(random.integers(30, 52))
        yield {
            "text": text,
            "decision": "yes",
            "operators": ["delete", "mask_unk"],
            "rationale": [{"start": 0, "end": 11}],
            "attributions": [{"start": start, "end": start + 24, "value": 1.0}],
            "human": [{"start": 0, "end": 9}],
        }


def scored(jobs: int, **more: Any) -> list[ScoredIce]:
    """The first ten words hold the signal: the rationale finds it, the values do not."""
    one_side = {"null": "tokens", "aspects": ["sufficiency"], "draws": 50}
    robust = one_side if more.get("variant", "robust") == "robust" else {}
    requests = [flat_request(IceRequest, body | robust | more) for body in bodies(jobs)]
    signal = weighted(dict.fromkeys(range(SIGNAL), 1.0))

    def probability(ids: tuple[int, ...]) -> float:
        return 0.9 * signal(ids) + 0.1 * noise(ids)

    with planted(probability):
        reports = score_batch(requests)
    return [
        Scored(f"job{place}", None, *pair)
        for place, pair in enumerate(zip(requests, reports, strict=True))
    ]


@pytest.fixture(scope="module")
def report() -> Any:
    return batch_report(scored(JOBS), ASKED)


def test_a_faithful_explanation_is_told_from_one_that_is_not(report: IceBatchReport) -> None:
    found = {
        (one.configuration.explanation, one.configuration.operator): one
        for one in report.configurations
    }
    assert len(found) == 4
    for operator in ("delete", "mask_unk"):
        good = found["rationale", operator]
        assert good.verdict == "faithful"
        assert (good.win_rate.value or 0) > 0.9
        bad = found["attributions", operator]
        assert bad.verdict == "anti-faithful"
        assert bad.configuration in report.anti_faithful.configurations
    gaps = [
        gap.difference for gap in report.differences if gap.first.operator == gap.second.operator
    ]
    assert len(gaps) == 2
    for gap in gaps:
        assert gap.low is not None
        assert abs(gap.value or 0) > 0.2


def test_the_mean_and_its_interval_are_those_of_scipy(report: IceBatchReport) -> None:
    jobs = scored(JOBS)
    for one in report.configurations:
        rates = np.array(
            [
                test.win_rate
                for job in jobs
                for test in job.report.components.tests
                if (test.explanation, test.operator)
                == (one.configuration.explanation, one.configuration.operator)
            ],
            dtype=np.float64,
        )
        assert one.win_rate.value == pytest.approx(np.mean(rates))
        if np.ptp(rates) == 0:
            continue
        found: Any = stats.bootstrap((rates,), np.mean, method="BCa", rng=1)
        oracle = found.confidence_interval
        assert one.win_rate.low == pytest.approx(oracle.low, abs=0.03)
        assert one.win_rate.high == pytest.approx(oracle.high, abs=0.03)


def test_it_has_the_same_bytes_again_and_survives_the_wire(report: IceBatchReport) -> None:
    again = batch_report(scored(JOBS), ASKED)
    assert again.model_dump_json() == report.model_dump_json()
    assert IceBatchReport.model_validate_json(report.model_dump_json()) == report
    json.dumps(report.model_dump(mode="json"), allow_nan=False)


def test_the_plot_is_there_in_both_formats(report: IceBatchReport) -> None:
    [plot] = report.plots
    assert (plot.name,) == CONTRACT.batch_plots
    assert plot.svg.startswith("<?xml")
    assert "<svg" in plot.svg
    assert base64.b64decode(plot.png_base64)[:8] == b"\x89PNG\r\n\x1a\n"


def test_operators_and_people_are_compared(report: IceBatchReport) -> None:
    pairs = {(one.first.explanation, one.second.operator): one for one in report.operator_agreement}
    assert set(pairs) == {("rationale", "mask_unk"), ("attributions", "mask_unk")}
    assert (pairs["rationale", "mask_unk"].same_side or 0) > 0.9
    measures = {(one.configuration.explanation, one.measure) for one in report.orthogonality}
    assert ("attributions", "auprc") in measures
    assert ("rationale", "iou") in measures
    assert ("rationale", "auprc") not in measures


def test_draws_that_may_repeat_have_no_z(report: IceBatchReport) -> None:
    assert all(one.omnibus_z is not None for one in report.configurations)
    paper = batch_report(scored(8, variant="paper"), ASKED)
    assert all(one.omnibus_z is None for one in paper.configurations)


def test_the_granularity_of_the_correction_over_examples_is_stated(
    report: IceBatchReport,
) -> None:
    over = {one.configuration.explanation: one.over_examples for one in report.configurations}[
        "attributions"
    ]
    assert over.least_p == pytest.approx(1 / 51)
    assert over.needed == np.ceil(JOBS / 51 / 0.10)
    assert any("coarse" in warning for warning in report.warnings)


def test_nothing_to_report_is_said() -> None:
    report = batch_report([], ASKED)
    assert report.configurations == ()
    assert report.plots == ()
    assert report.score.value is None
    assert report.warnings


def test_the_bootstrap_of_a_correlation_holds_it() -> None:
    random = np.random.default_rng(5)
    first = random.normal(size=80)
    pair = np.stack([first, 0.5 * first + random.normal(size=80)], axis=1)
    asked = IceBatchReportRequest(jobs=("job",), resamples=1_000)
    drawn = BatchStatistics(SERVICE.contract, (), asked).correlation("r", pair)
    low, high = drawn.low, drawn.high
    found = correlation(pair[:, 0], pair[:, 1], [str(place) for place in range(80)])
    oracle = stats.pearsonr(pair[:, 0], pair[:, 1])
    assert found.p_pearson == pytest.approx(oracle.pvalue)
    assert found.spearman == pytest.approx(stats.spearmanr(pair[:, 0], pair[:, 1]).statistic)
    fisher = oracle.confidence_interval(0.95)
    assert (low, high) == pytest.approx((fisher.low, fisher.high), abs=0.08)
    same = correlation(first, np.ones(80), [str(place) for place in range(80)])
    assert same == CorrelationTest(None, None, None)


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_is_scikit_learn_s_ties_included(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 6, size=30).astype(np.float64)
    marked = np.unique(random.integers(0, 30, size=8))
    truth = np.isin(np.arange(30), marked)
    expected = average_precision_score(truth, values)
    assert average_precision(values, marked.tolist()) == pytest.approx(expected)


def test_overlap_is_that_of_sets() -> None:
    found = overlap((1, 2, 3), (2, 3, 4, 5))
    assert (found.iou, found.precision, found.recall) == (2 / 5, 2 / 3, 1 / 2)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))


def test_copies_of_a_text_say_no_more_than_the_text() -> None:
    """Twelve texts, each judged twenty times under other seeds of nothing: one cluster each."""
    few = scored(12)
    copies = [
        replace(job, job_id=f"{job.job_id} {copy}", custom_id=None)
        for job in few
        for copy in range(20)
    ]
    once, often = batch_report(few, ASKED), batch_report(copies, ASKED)
    for one, many in zip(once.configurations, often.configurations, strict=True):
        assert many.win_rate.of == 20 * one.win_rate.of
        assert many.win_rate.clusters == one.win_rate.clusters == 12
        assert many.win_rate.low == pytest.approx(one.win_rate.low)
        assert many.win_rate.high == pytest.approx(one.win_rate.high)
        assert many.p_value == pytest.approx(one.p_value)
        assert many.verdict == one.verdict
    assert any("rows of the same text are similar" in warning for warning in often.warnings)


def test_metadata_can_say_which_results_belong_together() -> None:
    asked = ASKED.model_copy(update={"cluster_key": "source"})
    jobs = [
        replace(job, request=job.request.model_copy(update={"metadata": {"source": str(n // 5)}}))
        for n, job in enumerate(scored(20))
    ]
    found = batch_report(jobs, asked)
    assert {one.win_rate.clusters for one in found.configurations} == {4}
    assert {one.verdict for one in found.configurations} == {"undecidable"}


def test_agreement_of_operators_is_corrected_over_its_table(report: IceBatchReport) -> None:
    table = report.operator_agreement
    assert [one.p_value for one in table if one.spearman is None] == []
    assert [one.q_value for one in table] == pytest.approx(
        stats.false_discovery_control([one.p_value or 1.0 for one in table])
    )
    assert all((one.q_value or 0) >= (one.p_value or 0) for one in table)
    corrected = CONTRACT.batch.corrections
    assert set(corrected) >= {"operator_agreement.q_value", "orthogonality.q_value"}


def test_results_that_repeat_a_text_make_no_correlation_surer() -> None:
    random = np.random.default_rng(3)
    first, second = random.random(12), random.random(12)
    keys = [str(n) for n in range(12)]
    once = correlation(first, second, keys)
    often = correlation(np.tile(first, 20), np.tile(second, 20), keys * 20)
    assert once.p_spearman == pytest.approx(stats.spearmanr(first, second).pvalue)
    assert once.p_pearson == pytest.approx(stats.pearsonr(first, second).pvalue)
    assert often.p_spearman == pytest.approx(once.p_spearman)
    assert often.p_pearson == pytest.approx(once.p_pearson)
    assert often.spearman == pytest.approx(once.spearman)


@pytest.mark.parametrize("texts", [0, 1, 2])
def test_too_few_texts_have_no_correlation_to_test(texts: int) -> None:
    keys = [str(n % texts) for n in range(8)] if texts else []
    values = np.arange(len(keys), dtype=np.float64)
    found = correlation(values, values**2, keys)
    assert (found.p_spearman, found.p_pearson) == (None, None)
    constant = correlation(values, np.zeros_like(values), keys)
    assert constant.spearman is None


def test_differences_and_correlations_are_corrected(report: IceBatchReport) -> None:
    pairs = report.differences
    assert pairs
    assert [one.p_adjusted for one in pairs] == pytest.approx(
        holm([one.p_value or 1.0 for one in pairs])
    )
    for one in pairs:
        assert one.first_better + one.second_better + one.equal == one.difference.of
    known = [one for one in report.orthogonality if one.p_value is not None]
    assert [one.q_value for one in known] == pytest.approx(
        benjamini_hochberg([one.p_value or 1.0 for one in known])
    )


def test_the_chance_of_any_false_verdict_can_be_bounded(report: IceBatchReport) -> None:
    family = batch_report(
        scored(JOBS), ASKED.model_copy(update={"options": IceReportOptions(error="family")})
    )
    raw = [one.p_value or 1.0 for one in family.configurations]
    assert [one.q_value for one in family.configurations] == pytest.approx(holm(raw))
    assert [one.q_value for one in report.configurations] == pytest.approx(benjamini_hochberg(raw))


def test_both_sides_are_configurations_and_their_readings_are_counted() -> None:
    found = batch_report(scored(8, aspects=["sufficiency", "necessity"], draws=99), ASKED)
    aspects = [one.configuration.aspect for one in found.configurations]
    assert aspects.count("sufficiency") == aspects.count("necessity") == 4
    assert {one.configuration.aspect for one in found.orthogonality} == {"sufficiency"}
    for gap in found.differences:
        assert gap.first.aspect == gap.second.aspect
    assert {one.examples for one in found.readings} == {8}
    for one in found.readings:
        assert sum(one.readings.values()) == 8


def test_the_histograms_hold_every_test_once(report: IceBatchReport) -> None:
    for one in report.configurations:
        assert one.win_rates is not None
        assert sum(one.win_rates.counts) == one.win_rate.of
        assert one.p_values is not None
        assert sum(one.p_values.counts) == one.win_rate.of
        assert one.p_values.expected * len(one.p_values.counts) == pytest.approx(one.win_rate.of)


@pytest.mark.parametrize("draws", [4, 19, 50, 99, 100, 199, 999, 1_000, 9_999])
def test_p_values_of_random_explanations_lie_on_the_uniform_line(draws: int) -> None:
    steps = draws + 1
    bins = bins_for([draws])
    p_values = np.arange(1, steps + 1) / steps  # each as likely as the next
    counts = bin_counts(p_values, bin_edges(0.0, 1.0, bins), closed="right")
    assert sum(counts) == steps
    assert np.ptp(counts) <= (0 if steps % bins == 0 else 1)
    assert np.max(np.abs(np.array(counts) - steps / bins)) <= 0.21 * steps / bins


def test_bins_are_even_for_every_number_of_draws_that_there_is() -> None:
    assert bins_for([99, 199]) == 20
    assert bins_for([9, 29]) == 10
    assert bins_for([]) == 20


def test_one_configuration_is_that_of_every_first_test(report: IceBatchReport) -> None:
    firsts = [job.report.components.tests[0] for job in scored(JOBS)]
    leading = [one.configuration for one in report.configurations if one.leads]
    assert [(one.explanation, one.operator) for one in leading] == list(
        {(test.explanation, test.operator) for test in firsts}
    )
