"""What people reach before themselves: row by row as the kernel's, and honest about the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from services.hlv import ceiling, kernel
from services.hlv.ceiling import ceiling_of, normalize
from services.hlv.contract import HlvRequest
from services.hlv.metric import SERVICE
from services.hlv.report import HlvBatchReport, HlvCeiling, HlvResult
from services.hlv.scoring import human_gold
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.reports.estimates import BatchStatistics
from shared.statistics.agreement import spearman
from shared.statistics.seeds import generator

KEYS = ("A", "B", "C")
OPTIONS = [{"key": key, "text": f"option {key}"} for key in KEYS]
RANDOM = generator(1, "ceilings")


def ask(human: dict[str, Any], said: dict[str, Any] | None = None, **more: Any) -> HlvRequest:
    answers = said or {"distributions": [{"A": 0.5, "B": 0.3, "C": 0.2}]}
    return HlvRequest.model_validate(
        {
            "question": "Which one?",
            "options": OPTIONS,
            "human": human,
            "predictions": {"explained": answers},
            **more,
        }
    )


def found(request: HlvRequest) -> HlvCeiling:
    report = SERVICE.score(request)
    assert report.ceiling is not None
    return report.ceiling


def test_rows_are_the_kernel_s_numbers() -> None:
    p, q = RANDOM.dirichlet([0.5] * 4, 50), np.round(RANDOM.dirichlet([0.5] * 4, 50), 1)
    q /= q.sum(axis=1, keepdims=True)
    ranks = kernel.fractional_ranks(p), kernel.fractional_ranks(q)
    oracles: dict[Any, tuple[Any, Any]] = {
        ceiling.tau_a: (kernel.kendall_tau_a, ranks),
        ceiling.tau_b: (kernel.kendall_tau_b, ranks),
        lambda x, y: np.nan_to_num(spearman(x, y)): (kernel.spearman, ranks),
    }
    for rows, (oracle, sides) in oracles.items():
        one_by_one = [oracle(*pair) for pair in zip(*sides, strict=True)]
        expected = [0.0 if value is None else value for value in one_by_one]
        assert rows(*sides) == pytest.approx(expected, abs=1e-12)
    for base in (np.e, 2.0):
        expected = [
            float(kernel.jensen_shannon(*pair, base=base)) for pair in zip(p, q, strict=True)
        ]
        assert kernel.jensen_shannon(p, q, base=base) == pytest.approx(expected, abs=1e-12)


def test_one_annotator_has_no_ceiling_and_shares_are_no_counts() -> None:
    for human, reason in (
        ({"votes": {"A": 1}}, "one annotator"),
        ({"ratings": {"A": 5, "B": 2, "C": 1}}, "one annotator"),
        ({"votes": {"A": 0.7, "B": 0.3}}, "not counts"),
    ):
        report = SERVICE.score(ask(human))
        assert report.ceiling is None
        assert any(warning.startswith("no ceiling") and reason in warning
                   for warning in report.warnings)  # fmt: skip
        assert report.components.kendall_normalised is None


def test_more_people_agree_more_with_themselves() -> None:
    few, many = (found(ask({"votes": {"A": 6 * n, "B": 3 * n, "C": n}})) for n in (1, 20))
    assert (few.annotators, many.annotators) == (10, 200)
    for name in ("tau_b", "spearman"):
        assert few.metrics[name].high < many.metrics[name].high
    for name in ("jsd", "tvd"):
        assert many.metrics[name].high < few.metrics[name].high < few.metrics[name].chance
        low = few.metrics[name].low
        assert low is not None
        assert low > few.metrics[name].high


def test_single_votes_are_the_votes_together() -> None:
    one_by_one = found(ask({"votes": [{"A": 1}, {"A": 1}, {"B": 1}, {"C": 1}]}))
    together = found(ask({"votes": {"A": 2, "B": 1, "C": 1}}))
    assert one_by_one.annotators == together.annotators == 4
    for name, one in one_by_one.metrics.items():
        assert one.high == pytest.approx(together.metrics[name].high, abs=0.05)


def test_options_may_come_in_any_order_and_everything_is_seeded() -> None:
    human = {"votes": {"A": 6, "B": 3, "C": 1}}
    assert found(ask(human)) == found(ask(human))
    turned = found(ask(human, options=OPTIONS[::-1]))
    for name, one in found(ask(human)).metrics.items():
        assert turned.metrics[name].high == pytest.approx(one.high, abs=0.04)
    assert found(ask(human, seed=4)) != found(ask(human))


def test_ratings_and_rankings_have_one_too() -> None:
    rated = [{"A": 5, "B": 4, "C": 1}, {"A": 4, "B": 4, "C": 2}, {"A": 5, "B": 2, "C": 1}]
    ratings = found(ask({"ratings": rated}, {"scores": [{"A": 5, "B": 3, "C": 1}]}))
    assert set(ratings.metrics) == {"tau_b", "tau_a", "spearman", "rmse", "mae"}
    assert 0 < ratings.metrics["rmse"].high < ratings.metrics["rmse"].chance
    placed = [{"A": 1, "B": 2, "C": 3}, {"A": 1, "B": 3, "C": 2}, {"B": 1, "A": 2, "C": 3}]
    rankings = found(ask({"ranking": placed}))
    assert set(rankings.metrics) == {"tau_b", "tau_a", "spearman"}
    assert rankings.annotators == 3


def simulated(annotators: int, items: int, judge: str) -> HlvBatchReport:
    """Annotators of a known p, and a judge who says p, or the same of all."""
    random = generator(7, "annotators", annotators)
    rows = []
    for item in range(items):
        p = random.dirichlet([0.5] * 3)
        votes = dict(zip(KEYS, random.multinomial(annotators, p).tolist(), strict=True))
        said = p if judge == "truth" else np.full(3, 1 / 3)
        answers = {"distributions": [dict(zip(KEYS, said.tolist(), strict=True))]}
        request = ask({"votes": votes}, answers, question=f"Item {item}?")
        rows.append(Scored(f"job_{item}", None, request, SERVICE.score(request)))
    asked = BatchReportRequest(jobs=("job",), resamples=200)
    return SERVICE.summarize(rows, BatchStatistics(SERVICE.contract, rows, asked))


def check(annotators: int, items: int, within: float) -> None:
    [table] = [
        one for one in simulated(annotators, items, "truth").tables if one.judged == "explained"
    ]
    for metric in ("tvd", "jsd", "tau_a"):
        assert table.normalised[metric].value == pytest.approx(1, abs=within), metric


def test_a_judge_who_is_the_truth_is_at_the_ceiling() -> None:
    check(20, 150, 0.03 + 0.06)
    [table] = [one for one in simulated(20, 60, "uniform").tables if one.judged == "explained"]
    assert table.normalised["tvd"].value == pytest.approx(0, abs=0.02)
    assert table.normalised["jsd"].value == pytest.approx(0, abs=0.02)


@pytest.mark.nightly
@pytest.mark.parametrize(("annotators", "within"), [(5, 0.08), (20, 0.03), (100, 0.03)])
def test_a_judge_who_is_the_truth_at_full_size(annotators: int, within: float) -> None:
    check(annotators, 4_000, within)


def test_a_batch_says_what_people_reach() -> None:
    report = simulated(20, 40, "truth")
    assert report.ceilings["tvd"].high.of == 40
    high, chance = report.ceilings["tvd"].high.value, report.ceilings["tvd"].chance.value
    assert high is not None
    assert chance is not None
    assert high < chance
    assert HlvBatchReport.model_validate_json(report.model_dump_json()) == report


def test_people_hardly_better_than_chance_normalise_nothing() -> None:
    report = SERVICE.score(ask({"votes": {"A": 34, "B": 33, "C": 33}}))
    assert report.ceiling is not None
    side = report.components.methods[0].explained
    assert side is not None
    assert side.normalised["tvd"] is None
    gold = human_gold(ask({"votes": {"A": 9, "B": 1}}))
    request = ask({"votes": {"A": 9, "B": 1}})
    uniform = SERVICE.score(request).control.uniform
    own = ceiling_of(request, gold, uniform)
    assert isinstance(own, HlvCeiling)
    assert normalize(uniform, own)["tvd"] == pytest.approx(0)
    assert HlvResult.model_validate_json(SERVICE.score(request).model_dump_json())
