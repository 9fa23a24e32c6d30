"""Two systems on the same texts: who is paired with whom, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from services.registry import metrics
from shared.contracts.batches import Against, BatchReportRequest
from shared.contracts.errors import BadInput
from shared.contracts.messages import Scored
from shared.contracts.null_report import Null
from shared.contracts.reports import SystemComparison
from shared.reports.estimates import BatchStatistics
from shared.reports.system_comparison import SystemResults, check_compatible, parts_of
from shared.statistics.seeds import generator
from tests.echo_metric import ECHO, EchoRequest, echo

ASKED = BatchReportRequest(jobs=("job_1",), resamples=200)
AGAINST = Against(jobs=("job_2",))

Row = Scored[Any, Any]


def result(text: str, score: float | None, custom_id: str | None = None, **origin: Any) -> Row:
    asked = EchoRequest(text=text)
    made = echo(asked)
    provenance = made.provenance.model_copy(update=origin)
    report = made.model_copy(update={"score": score, "provenance": provenance})
    return Scored(f"job_{text}_{score}", custom_id, asked, report)


def compared(
    first: list[Row], second: list[Row], by: tuple[str, ...] = (), **asked: Any
) -> SystemComparison:
    over = BatchStatistics(ECHO, (*first, *second), ASKED.model_copy(update={"by": by}))
    return SystemResults(over, first, second).comparison(AGAINST.model_copy(update=asked))


def systems(gap: float, texts: int = 24) -> tuple[list[Row], list[Row]]:
    random = generator(5, "systems")
    base, noise = random.uniform(0.2, 0.6, texts), random.normal(0, 0.1, texts)
    first = [result(f"text {n}", float(base[n] + gap + noise[n])) for n in range(texts)]
    second = [result(f"text {n}", float(base[n])) for n in range(texts)]
    return first, second


def test_the_order_of_the_results_changes_no_bit() -> None:
    first, second = systems(0.05)
    assert compared(first, second) == compared(first[::-1], second[5:] + second[:5])


def test_the_other_way_round_is_the_same_with_the_sign_turned() -> None:
    first, second = systems(0.05)
    one, other = (compared(*both).differences[0] for both in ((first, second), (second, first)))
    assert one.difference.value == pytest.approx(-(other.difference.value or 0))
    assert one.effect == pytest.approx(-(other.effect or 0))
    assert (one.higher, one.lower) == (other.lower, other.higher)
    assert one.p_t == pytest.approx(other.p_t)
    assert one.p_randomization == pytest.approx(other.p_randomization)


def test_the_test_is_scipy_s() -> None:
    first, second = systems(0.05)
    found = compared(first, second, wilcoxon=True).differences[0]
    a, b = ([row.report.score for row in rows] for rows in (first, second))
    gaps = np.array(a) - np.array(b)
    assert found.p_t == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(gaps).pvalue)
    assert found.effect == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    assert found.p_value == max(found.p_t or 0, found.p_randomization or 0)
    assert found.p_adjusted == found.p_value
    assert compared(first, second).differences[0].p_wilcoxon is None


def test_whole_texts_are_the_unit() -> None:
    first, second = systems(0.05, 12)
    many = [row for row in first for _ in range(20)], [row for row in second for _ in range(20)]
    copies = [
        [Scored(f"{row.job_id}{n}", f"{n}", row.request, row.report) for n, row in enumerate(rows)]
        for rows in many
    ]
    few, lots = compared(first, second), compared(copies[0], copies[1])
    assert few.differences[0].p_value == pytest.approx(lots.differences[0].p_value)
    assert lots.differences[0].difference.clusters == 12


def test_pairs_by_custom_id_then_by_text() -> None:
    first = [result("a", 0.5, "1"), result("b", 0.7, "2"), result("c", 0.1, "3")]
    second = [result("B", 0.2, "9"), result("a", 0.25, "1"), result("d", 0.0, "3")]
    found = compared(first, second)
    assert (found.pairs, found.unpaired_new, found.unpaired_baseline) == (2, 1, 1)
    assert found.differences[0].difference.value == pytest.approx(0.375)
    assert (
        "1 custom_id of both systems: the texts differ, so these lines are not paired"
        in found.warnings
    )


def test_several_results_of_one_text_are_averaged() -> None:
    first = [result("a", 0.5), result("a", 0.7), result("b", 0.4)]
    second = [result("a", 0.3), result("b", 0.1)]
    found = compared(first, second)
    assert (found.pairs, found.unpaired_new) == (2, 0)
    assert found.differences[0].difference.value == pytest.approx(0.3)


def test_results_whose_text_is_gone_are_paired_by_its_hash() -> None:
    [kept], [other] = [result("a", 0.5, text_key="0" * 32)], [result("x", 0.2, text_key="0" * 32)]
    gone = Scored(other.job_id, None, EchoRequest.model_construct(text=""), other.report)
    found = compared([kept], [gone])
    assert (found.pairs, found.differences[0].difference.clusters) == (1, 1)


def test_no_pair_one_pair_and_no_difference() -> None:
    none = compared([result("a", 0.5)], [result("b", 0.5)])
    [score] = none.differences
    assert (none.pairs, score.difference.value, score.p_value, score.effect) == (0,) + (None,) * 3
    assert any(warning.startswith("there are no pairs") for warning in none.warnings)
    [one] = compared([result("a", 0.5)], [result("a", 0.25)]).differences
    assert (one.p_value, one.difference.value, one.difference.low) == (1, 0.25, None)
    first, _ = systems(0.0)
    [same] = compared(first, first, wilcoxon=True).differences
    assert (same.p_value, same.difference.value, same.p_wilcoxon, same.equal) == (1, 0, None, 24)
    [unknown] = compared([result("a", None)], [result("a", 0.2)]).differences
    assert (unknown.pairs, unknown.p_value) == (0, None)


def test_the_difference_of_each_value_is_that_of_its_pairs_alone() -> None:
    first, second = systems(0.05)
    marked = [
        replace(row, request=row.request.model_copy(update={"metadata": {"market": f"m{n % 3}"}}))
        for n, row in enumerate(first)
    ]
    found = compared(marked, second, by=("metadata.market", "language"))
    assert {one.value for one in found.slices} == {"m0", "m1", "m2"}
    assert sum(one.pairs for one in found.slices) == found.pairs
    for one in found.slices:
        alone = compared(marked[int(one.value[1]) :: 3], second).differences[0].difference
        assert one.difference.value == pytest.approx(alone.value)
        assert (one.difference.low or 0) <= (alone.value or 0) <= (one.difference.high or 0)
        assert one.difference.clusters == alone.clusters
    gaps = [one.difference.value or 0 for one in found.slices]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("other", [{"metric_version": "2.0"}, {"variant": "paper"}])
def test_what_was_scored_otherwise_is_refused(other: dict[str, str]) -> None:
    with pytest.raises(BadInput) as refused:
        compared([result("a", 0.5)], [result("a", 0.5, **other)])
    assert refused.value.pointer == "/against"


def test_other_nulls_are_refused() -> None:
    rows = [
        replace(
            row := result("a", 0.5),
            report=row.report.model_copy(update={"null": Null(kind=kind, draws=1)}),
        )
        for kind in ("spans", "tokens")
    ]
    with pytest.raises(BadInput, match="null kinds: spans and tokens"):
        check_compatible(rows[:1], rows[1:])
    check_compatible(rows, rows[::-1])


def test_every_metric_s_numbers_are_compared_within_their_range() -> None:
    for contract in metrics().values():
        parts = {part.name: part.bounds for part in parts_of(contract.report)}
        assert "score" in parts
        assert len(parts) > 1 or contract.name == "ice"  # its numbers stand in lists
    parts = {part.name: part.bounds for part in parts_of(metrics()["ftc"].report)}
    assert parts["w_normalized"] == (0, 1)
    assert parts["k"] == (None, 1)


def test_size_under_no_difference() -> None:
    rejected = 0
    for run in range(200):
        random = generator(run, "size")
        texts, each = 20, random.normal(0, 0.1, 20)
        first = [
            result(f"t{n}", float(0.5 + each[n] + random.normal(0, 0.05))) for n in range(texts)
        ]
        second = [result(f"t{n}", float(0.5 + random.normal(0, 0.05))) for n in range(texts)]
        over = BatchStatistics(ECHO, (*first, *second), ASKED.model_copy(update={"seed": run}))
        found = SystemResults(over, first, second).comparison(AGAINST).differences[0]
        rejected += (found.p_value or 0) <= 0.05
    assert rejected / 200 <= 0.05 + 3 * 0.0154
