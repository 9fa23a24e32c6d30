"""Reports over many results: SciPy's bootstrap as the oracle, undefined items counted."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import r2_score  # type: ignore[import-untyped]

from services.hlv.batch_report import tied_share
from services.hlv.contract import CONTRACT
from services.hlv.metric import SERVICE
from services.hlv.report import HlvBatchReport, HlvTable
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from tests.hlv.judges import request
from tests.summaries import summaries

score = SERVICE.score


batch_report = summaries(SERVICE)
ASKED = BatchReportRequest(jobs=("job_1",), resamples=4_000)


NUMBERS = count(1)  # no two items are one


def scored(**fields: Any) -> Scored[Any, Any]:
    asked = request(**{"question": f"Which of these? ({next(NUMBERS)})"} | fields)
    return Scored(job_id="job_1", custom_id=None, request=asked, report=score(asked))


def table(report: HlvBatchReport, method: str | None, judged: str) -> HlvTable:
    return next(t for t in report.tables if (t.method, t.judged) == (method, judged))


def distributions(count: int, seed: int = 0) -> list[Scored[Any, Any]]:
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        gold, near, far = draw.dirichlet([1, 1, 1], size=3)
        sides = {
            "explained": {"distributions": [_row((2 * gold + near) / 3)]},
            "baseline": {"distributions": [_row(far)]},
        }
        rows.append(scored(human={"votes": _row(gold)}, predictions=sides))
    return rows


def _row(values: Any) -> dict[str, float]:
    return dict(zip("ABC", map(float, values), strict=True))


def test_the_gain_is_paired_and_its_interval_is_scipys() -> None:
    rows = distributions(60)
    report = batch_report(rows, ASKED)
    gain = table(report, "logits", "gain").metrics["tau_b"].mean
    items = [row.report.components.kendall_gain for row in rows]
    oracle = bootstrap(
        (np.array(items),),
        np.mean,
        n_resamples=4_000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert gain.value == pytest.approx(np.mean(items))
    assert (gain.low, gain.high) == pytest.approx((oracle.low, oracle.high), abs=0.03)
    assert report.score == gain.model_copy(update=_ends(report.score))
    sides = [
        table(report, "logits", side).metrics["tau_b"].mean for side in ("explained", "baseline")
    ]
    assert gain.value == pytest.approx(sides[0].value - sides[1].value)  # type: ignore[operator]
    assert gain.low is not None
    assert gain.low > 0


def _ends(one: Any) -> dict[str, Any]:
    """The score has draws of its own."""
    return {"low": one.low, "high": one.high}


def test_the_judges_that_read_nothing_are_always_there() -> None:
    report = batch_report(distributions(20), ASKED)
    uniform = table(report, None, "uniform").metrics["tau_b"]
    assert (uniform.mean.value, uniform.undefined, uniform.undefined_as_zero) == (None, 20, 0)
    majority = table(report, None, "majority").metrics
    assert majority["tau_b"].mean.value == pytest.approx(0.8165, abs=1e-4)
    assert majority["tau_a"].mean.value == pytest.approx(2 / 3)


def test_undefined_items_are_counted_and_shown_as_zero() -> None:
    flat = {"explained": {"distributions": [{"A": 1, "B": 1, "C": 1}]}}
    right = {"explained": {"distributions": [{"A": 7, "B": 2, "C": 1}]}}
    report = batch_report([scored(predictions=p) for p in (flat, right, right, right)], ASKED)
    found = table(report, "logits", "explained").metrics["tau_b"]
    assert (found.mean.value, found.mean.of, found.undefined) == (1, 3, 1)
    assert found.undefined_as_zero == 0.75
    assert report.undefined == 1


def ratings(count: int) -> list[Scored[Any, Any]]:
    draw = np.random.default_rng(3)
    rows = []
    for _ in range(count):
        gold = draw.uniform(1, 5, size=3)
        given = np.clip(gold + draw.normal(0, 0.7, size=3), 1, 5)
        sides = {"explained": {"scores": [_row(given)]}}
        rows.append(scored(human={"ratings": _row(gold)}, predictions=sides))
    return rows


def test_pooled_errors_are_those_of_all_pairs() -> None:
    rows = ratings(30)
    found = table(batch_report(rows, ASKED), "score", "explained").metrics
    gold = np.concatenate([list(row.report.gold.values.values()) for row in rows])
    given = np.concatenate(
        [list(row.report.components.methods[0].explained.values.values()) for row in rows]
    )
    assert found["r2_pooled"].mean.value == pytest.approx(r2_score(gold, given))
    assert found["rmse_pooled"].mean.value == pytest.approx(np.sqrt(np.mean((gold - given) ** 2)))
    assert found["mae_pooled"].mean.value == pytest.approx(np.mean(np.abs(gold - given)))
    low, high = found["r2_pooled"].mean.low, found["r2_pooled"].mean.high
    assert low is not None
    assert high is not None
    assert low < r2_score(gold, given) < high


def test_gains_and_agreements_have_no_common_mean() -> None:
    report = batch_report([*distributions(2), *ratings(2)], ASKED)
    assert (report.score.value, report.score_of) == (None, "mixed")
    assert report.warnings


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_results(count: int) -> None:
    report = batch_report(distributions(count), ASKED)
    assert report.scored == count
    assert (report.score.low is None) == (count < 2)
    assert CONTRACT.batch.report.model_validate_json(report.model_dump_json()) == report


def test_the_same_seed_gives_the_same_bytes() -> None:
    rows = distributions(10)
    one, other = batch_report(rows, ASKED), batch_report(rows, ASKED)
    assert one.model_dump_json() == other.model_dump_json()
    another = batch_report(rows, ASKED.model_copy(update={"seed": 1}))
    assert another.tables != one.tables


def test_gains_are_paired_counted_and_in_the_histogram_once() -> None:
    rows = [*distributions(30), *distributions(30)]
    report = batch_report(rows, ASKED)
    [found] = report.paired
    gains = [row.report.components.kendall_gain for row in rows]
    known = [gain for gain in gains if gain is not None]
    assert found.closer + found.equal + found.farther == found.items == len(known)
    assert found.closer == sum(gain > 1e-9 for gain in known)
    assert sum(found.gains.counts) == found.items
    middle = len(found.gains.counts) // 2
    assert found.gains.counts[middle] >= found.equal
    assert sum(found.gains.counts[middle + 1 :]) <= found.closer
    assert (found.gains.low, found.gains.high) == (-2, 2)
    assert found.gain.value == pytest.approx(np.mean(known))
    difference = (found.explained.value or 0) - (found.baseline.value or 0)
    assert found.gain.value == pytest.approx(difference)
    assert batch_report(ratings(3), ASKED).paired == ()


def test_ties_are_shares_of_all_pairs_of_options() -> None:
    assert tied_share({"A": 1, "B": 2.5, "C": 2.5}) == pytest.approx(1 / 3)
    assert tied_share({"A": 2, "B": 2, "C": 2}) == 1
    assert tied_share({}) is None
    report = batch_report(distributions(5), ASKED)
    uniform = table(report, None, "uniform").tied
    assert uniform is not None
    assert uniform.value == 1
    assert report.gold_tied is not None
    assert report.gold_tied.value == 0
