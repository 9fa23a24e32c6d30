"""Estimates as messages: what a batch report says of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from statsmodels.stats.power import TTestPower

from services.registry import metrics
from shared.contracts.batches import BatchReport, BatchReportRequest, StudyPlan, WantedEffect
from shared.contracts.messages import Scored
from shared.contracts.null_report import Histogram
from shared.contracts.reports import Interval, bin_edges
from shared.reports.estimates import BatchStatistics, has_null, plan_of
from shared.statistics import intervals
from shared.statistics.power import spread_upper
from shared.statistics.ranks import BINS, bin_counts, histogram_of
from tests.echo_metric import ECHO, EchoRequest, echo

ASKED = BatchReportRequest(jobs=("job_1",), resamples=400)


def test_an_estimate_reaches_the_reader_whole() -> None:
    values = np.random.default_rng(0).beta(4, 2, size=40).tolist()
    over = BatchStatistics(ECHO, (), ASKED)
    found = over.mean("x", values, bounds=(0, 1))
    oracle = intervals.mean("x", values, bounds=(0, 1), how=over.how)
    assert found == Interval(
        value=oracle.value,
        low=oracle.low,
        high=oracle.high,
        of=40,
        method="studentised",
        clusters=40,
        effective=40,
        se=oracle.se,
        detectable=oracle.detectable,
    )


def test_one_mean_has_one_interval_by_whatever_name() -> None:
    values = np.random.default_rng(4).beta(4, 2, size=40).tolist()
    keys = [f"text {n % 25}" for n in range(40)]
    over = BatchStatistics(ECHO, (), ASKED)
    found = over.mean("x", values, keys, (0, 1))
    order = np.random.default_rng(5).permutation(40)
    again = over.mean("y", [values[n] + 1e-15 for n in order], [keys[n] for n in order], (0, 1))
    assert (again.low, again.high) == pytest.approx((found.low, found.high), abs=1e-12)
    assert over.mean("y", values[1:], keys[1:]).low != found.low
    assert BatchStatistics(ECHO, (), ASKED).mean("y", values, keys, (0, 1)).low != found.low


def test_the_request_s_own_seed_level_and_size_are_taken() -> None:
    values = np.random.default_rng(1).normal(size=60).tolist()
    asked = ASKED.model_copy(update={"confidence": 0.8})
    wide = BatchStatistics(ECHO, (), ASKED).mean("x", values)
    narrow = BatchStatistics(ECHO, (), asked).mean("x", values)
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.low is not None
    assert wide.high is not None
    assert wide.low < narrow.low < narrow.high < wide.high
    other = BatchStatistics(ECHO, (), ASKED.model_copy(update={"seed": 1})).mean("x", values)
    assert other.low != wide.low


def echoed(text: str, job: str, **more: Any) -> Scored[Any, Any]:
    asked = EchoRequest.model_validate({"text": text} | more)
    return Scored(job, None, asked, echo(asked))


def test_results_of_one_text_are_one_cluster() -> None:
    texts = ["One  text", "one text", "ＯＮＥ TEXT", "another"]
    rows = [echoed(text, f"job_{number}") for number, text in enumerate(texts)]
    keys = BatchStatistics(ECHO, rows, ASKED).keys()
    assert len(set(keys)) == 2
    assert keys[0] == keys[1] == keys[2]
    assert BatchStatistics(ECHO, rows, ASKED).envelope()["score"].clusters == 2


def test_metadata_can_name_the_cluster_and_a_lost_text_is_one_of_its_own() -> None:
    asked = ASKED.model_copy(update={"cluster_key": "post"})
    rows = [echoed(text, f"job_{text}", metadata={"post": "7"}) for text in "abc"]
    rows.append(echoed("d", "job_d"))
    gone = [Scored(f"job_{n}", None, EchoRequest.model_construct(text=""), rows[0].report)
            for n in range(2)]  # fmt: skip
    keys = BatchStatistics(ECHO, [*rows, *gone], asked).keys()
    assert len(set(keys)) == 1 + 1 + 2


def report_on(scores: Sequence[float | None], each: int = 1) -> BatchReport:
    """each: results of one text."""
    rows = [echoed(f"text {number // each}", f"job_{number}") for number in range(len(scores))]
    rows = [
        Scored(row.job_id, None, row.request, row.report.model_copy(update={"score": score}))
        for row, score in zip(rows, scores, strict=True)
    ]
    return BatchReport(**BatchStatistics(ECHO, rows, ASKED).envelope())


def planned_for(wanted: WantedEffect, report: BatchReport) -> StudyPlan:
    return plan_of(wanted, report, against_random=True)


def test_a_plan_is_that_of_a_t_test_with_the_results_own_spread() -> None:
    scores = np.random.default_rng(3).uniform(0.3, 0.9, size=40)
    wanted = WantedEffect(effect=0.05, power=0.9, alpha=0.01)
    planned = planned_for(wanted, report_on(scores.tolist()))
    oracle = TTestPower().solve_power(0.05 / scores.std(ddof=1), power=0.9, alpha=0.01)
    assert planned.texts == np.ceil(oracle)
    assert (planned.compared_texts, planned.draws, planned.warnings) == (None, None, ())


def test_a_plan_counts_texts_and_not_results() -> None:
    """Copies of a text's result tell nothing new: as many texts as without them."""
    scores = np.random.default_rng(3).uniform(0.3, 0.9, size=40).tolist()
    wanted = WantedEffect(effect=0.05)
    copied = report_on([score for score in scores for _ in range(5)], each=5)
    assert planned_for(wanted, copied).texts == planned_for(wanted, report_on(scores)).texts


def test_what_the_results_find_with_power_eight_tenths_needs_as_many_texts() -> None:
    found = report_on(np.random.default_rng(4).uniform(0.3, 0.9, size=60).tolist())
    assert found.score.detectable is not None
    needed = planned_for(WantedEffect(effect=found.score.detectable), found).texts
    assert needed == pytest.approx(60, abs=1)


def test_equal_scores_are_planned_by_the_end_of_their_own_interval() -> None:
    """As many equal scores as the plan says have an interval that reaches no further."""
    needed = planned_for(WantedEffect(effect=0.1), report_on([0.5] * 3)).texts
    assert needed is not None
    enough, fewer = (report_on([0.5] * count).score for count in (needed, needed - 1))
    assert enough.low is not None
    assert fewer.low is not None
    assert fewer.low < 0.4 <= enough.low


def test_a_plan_says_why_it_has_no_number() -> None:
    wanted = WantedEffect(effect=0.1, beat_rate=0.97)
    planned = planned_for(wanted, report_on([0.5]))
    assert (planned.texts, planned.draws) == (None, None)
    assert planned.one_sided_draws is not None
    assert any(one.startswith("texts: the spread") for one in planned.warnings)
    assert any(one.startswith("draws: no number") for one in planned.warnings)
    few = planned_for(WantedEffect(effect=1e-9), report_on([0.2, 0.4, None]))
    assert few.texts is None
    found = [one[:16] for one in few.warnings]
    assert found == ["texts: the sprea", "texts: more than", "texts_upper: mor", "only texts with "]
    with pytest.raises(ValidationError, match="give `effect`, `beat_rate` or both"):
        WantedEffect()


def test_a_plan_s_upper_number_rests_on_the_upper_end_of_the_spread() -> None:
    """In 80 % of pilots the true spread lies under it (Browne 1995), by SciPy's interval."""
    random = np.random.default_rng(8)
    pilots = random.normal(size=(4_000, 6)).std(axis=1, ddof=1)
    held = np.mean([(spread_upper(spread, 6) or 0.0) > 1 for spread in pilots])
    assert held == pytest.approx(0.8, abs=0.02)
    few, many = ([0.4, 0.6] * count for count in (2, 200))
    wanted = WantedEffect(effect=0.05)
    for scores, most in ((few, 5), (many, 1.2)):
        planned = planned_for(wanted, report_on(scores))
        assert planned.texts is not None
        assert planned.texts_upper is not None
        assert planned.texts < planned.texts_upper < most * planned.texts
    assert spread_upper(0.3, 1) is None


def test_draws_are_planned_where_there_are_random_explanations_and_texts_with_a_score() -> None:
    # .99^39 < .8, and of 79 draws one may be lost: .99^79 + 79 (.01) .99^78 = .813; .99^19 = .826
    wanted = WantedEffect(effect=0.1, beat_rate=0.99)
    planned = planned_for(wanted, report_on([0.2, 0.4, 0.5, None]))
    assert (planned.draws, planned.one_sided_draws) == (79, 19)
    assert "only texts with a score count: 1 of 4 results have no score" in planned.warnings
    held = {name: has_null(found.report) for name, found in metrics().items()}
    assert [name for name, null in held.items() if not null] == ["cot2el", "haf", "hlv"]


def test_a_growing_batch_may_be_looked_at_again_and_again() -> None:
    rows = [echoed(f"text {number}", f"job_{number}") for number in range(40)]
    asked = ASKED.model_copy(update={"sequence": True})
    widths = []
    for count in (5, 20, 40):
        found = BatchStatistics(ECHO, rows[:count], asked).envelope()
        assert found["sequence"].of == count
        assert found["sequence"].low <= found["score"].value <= found["sequence"].high
        widths.append(found["sequence"].high - found["sequence"].low)
    assert widths == sorted(widths, reverse=True)
    assert BatchStatistics(ECHO, rows, ASKED).envelope()["sequence"] is None
    assert BatchStatistics(ECHO, (), asked).envelope()["sequence"] is None


VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


def binned(values: np.ndarray, bins: int = BINS) -> Histogram | None:
    found = histogram_of(values, bins)
    return None if found is None else Histogram(**found)


@given(VALUES)
def test_every_value_is_counted_once_between_the_least_and_the_greatest(
    values: np.ndarray,
) -> None:
    found = binned(values)
    assert found is not None
    assert sum(found.counts) == values.size
    assert (found.low, found.high) == (values.min(), values.max())
    assert len(found.counts) == (BINS if found.low < found.high else 1)
    assert found.counts[0] > 0
    assert found.counts[-1] > 0
    assert Histogram.model_validate_json(found.model_dump_json()) == found


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_values_changes_nothing(values: np.ndarray, random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert binned(shuffled) == binned(values)


def test_counts_are_numpy_s_where_numpy_counts() -> None:
    values = np.random.default_rng(5).beta(2, 3, size=500)
    found = binned(values, 7)
    assert found is not None
    assert found.counts == tuple(np.histogram(values, bins=7)[0].tolist())


def test_ranges_of_one_float_s_width_are_counted_too() -> None:
    values = np.array([0.5, np.nextafter(0.5, 1)])
    found = binned(values)
    assert found is not None
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (1, 1, 2)
    with pytest.raises(ValueError, match="finite-sized"):
        np.histogram(values, bins=20)


def test_no_values_have_no_histogram() -> None:
    assert binned(np.empty(0)) is None


def test_a_histogram_does_not_end_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="before it begins"):
        Histogram(low=1, high=0, counts=(1,))


@given(
    st.lists(st.floats(-1, 1), max_size=60),
    st.integers(1, 30),
)
def test_bins_count_as_numpy_does_and_lose_nothing(values: list[float], bins: int) -> None:
    edges = bin_edges(-1.0, 1.0, bins)
    found = np.array(values, dtype=np.float64)
    left = bin_counts(found, edges)
    assert sum(left) == found.size
    assert list(left) == np.histogram(found, edges)[0].tolist()
    mirrored = bin_counts(-found, sorted(-edge for edge in edges), closed="right")
    assert mirrored[::-1] == left
