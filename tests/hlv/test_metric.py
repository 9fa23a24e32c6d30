"""Answers that were sent, what humans said, and the report that follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.hlv.metric import SERVICE
from services.hlv.report import HlvResult
from tests.hlv.judges import request

score = SERVICE.score

GOOD = {"distributions": [{"A": 0.7, "B": 0.2, "C": 0.1}]}
BAD = {"distributions": [{"A": 0.1, "B": 0.2, "C": 0.7}]}


def sent(**fields: Any) -> HlvResult:
    return score(request(**{"predictions": {"explained": GOOD, "baseline": BAD}} | fields))


def test_the_score_is_the_gain_and_both_sides_are_told() -> None:
    report = sent()
    parts = report.components
    assert (report.score, report.score_of, report.range) == (2, "gain", (-2, 2))
    assert (parts.kendall, parts.kendall_baseline, parts.kendall_gain) == (1, -1, 2)
    gained = parts.methods[0].gain
    assert gained is not None
    assert gained.tvd == pytest.approx(0.6)
    assert min(gained.kl_model_gold or 0, gained.kl_gold_model or 0, gained.jsd or 0) > 0


def test_without_a_baseline_the_score_is_the_agreement() -> None:
    report = sent(predictions={"explained": GOOD})
    assert (report.score, report.score_of, report.range) == (1, "agreement", (-1, 1))
    assert report.components.kendall_gain is None
    assert any("no gain" in warning for warning in report.warnings)


def test_uniform_and_majority_stand_beside_every_score() -> None:
    control = sent().control
    assert control.uniform.tau_b is None
    assert control.uniform.distribution is not None
    assert control.uniform.distribution.tvd == pytest.approx(0.7 - 1 / 3)
    assert control.majority.tau_b == pytest.approx(0.8165, abs=1e-4)


@pytest.mark.parametrize(
    ("human", "ranks"),
    [
        ({"votes": {"A": 1, "B": 3}}, {"A": 2, "B": 1, "C": 3}),
        ({"votes": [{"A": 90, "B": 10}, {"B": 1}]}, {"A": 2, "B": 1, "C": 3}),
        ({"ratings": [{"A": 1, "B": 2, "C": 3}, {"A": 5, "B": 2, "C": 3}]}, [1.5, 3, 1.5]),
        ({"ranking": [{"A": 1, "B": 2}, {"B": 1}]}, {"A": 2, "B": 1, "C": 3}),
        ({"ranking": {"C": 1}}, {"A": 2.5, "B": 2.5, "C": 1}),
    ],
)
def test_gold_is_the_mean_over_sources(human: dict[str, Any], ranks: Any) -> None:
    found = sent(human=human).gold.ranks
    assert found == (ranks if isinstance(ranks, dict) else dict(zip("ABC", ranks, strict=True)))


def test_votes_of_a_small_source_weigh_as_much_as_those_of_a_large_one() -> None:
    gold = sent(human={"votes": [{"A": 100}, {"B": 2}, {"B": 3}]}).gold
    assert gold.values == pytest.approx({"A": 1 / 3, "B": 2 / 3, "C": 0})


def test_an_option_that_nobody_chose_makes_kl_hang_on_epsilon() -> None:
    human = {"votes": {"A": 3, "B": 1}}
    assert any("epsilon" in warning for warning in sent(human=human).warnings)
    printed = sent(human=human, variant="paper")
    found = printed.components.methods[0].explained
    assert found is not None
    assert found.distribution is not None
    assert found.distribution.kl_model_gold is None
    assert any("infinite" in warning for warning in printed.warnings)


def test_the_variants_take_their_own_coefficients() -> None:
    predictions = {"explained": {"distributions": [{"A": 1}]}}
    robust, paper = (
        sent(predictions=predictions, variant=name).components for name in ("robust", "paper")
    )
    assert (robust.kendall, paper.kendall) == pytest.approx((0.8165, 2 / 3), abs=1e-4)
    assert (robust.spearman, paper.spearman) == pytest.approx((0.8660, 0.875), abs=1e-4)


def test_the_released_normalisation_is_there_for_comparison() -> None:
    predictions = {"explained": {"logits": [{"A": 20, "B": 10, "C": -5}]}}
    report = sent(predictions=predictions, variant="reference")
    found = report.components.methods[0].explained
    assert found is not None
    assert found.values == pytest.approx({"A": 20 / 35, "B": 10 / 35, "C": 5 / 35})
    assert report.provenance.parameters["normalisation"] == "abs_sum_reference"


def test_equal_humans_have_no_ranking() -> None:
    report = sent(human={"votes": {"A": 1, "B": 1, "C": 1}})
    assert report.score is None
    assert any("rank all options equally" in warning for warning in report.warnings)


def test_runs_are_averaged_as_ranks_and_as_distributions() -> None:
    runs = [{"A": 0.5, "B": 0.4, "C": 0.1}, {"A": 0.2, "B": 0.7, "C": 0.1}]
    found = sent(predictions={"baseline": {"distributions": runs}}).components.methods[0].baseline
    assert found is not None
    assert found.values == pytest.approx({"A": 0.35, "B": 0.55, "C": 0.1})
    assert found.ranks == {"A": 1.5, "B": 1.5, "C": 3}


votes = st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any)


@given(votes, votes, st.permutations("ABC"))
def test_letters_mean_nothing(gold: list[int], said: list[int], order: list[str]) -> None:
    """Renaming the options changes no number."""

    def named(keys: Any) -> HlvResult:
        human = {"votes": dict(zip(keys, gold, strict=True))}
        rows = [dict(zip(keys, said, strict=True))]
        return sent(human=human, predictions={"explained": {"distributions": rows}})

    one, other = named("ABC"), named(order)
    assert one.score == pytest.approx(other.score, abs=1e-12)
    ours, theirs = (r.components.methods[0].explained for r in (one, other))
    assert ours is not None
    assert theirs is not None
    assert ours.distribution is not None
    assert theirs.distribution is not None
    assert np.isclose(ours.distribution.jsd, theirs.distribution.jsd, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"options": [{"key": "A", "text": "x"}]}, "options"),
        ({"options": [{"key": k, "text": k} for k in "AAB"]}, "options"),
        ({"options": [{"key": k, "text": "x"} for k in "AB"]}, "options"),
        ({"options": [{"key": k, "text": k} for k in "ab"]}, "options"),
        ({"human": {"votes": {"D": 1}}}, "human"),
        ({"human": {"votes": {"A": 0}}}, "human"),
        ({"human": {"votes": {"A": 1}, "ranking": {"A": 1}}}, "human"),
        ({"human": {}}, "human"),
        ({"predictions": {"baseline": {"scores": [dict.fromkeys("ABC", 1e200)]}}}, "predictions"),
        ({"predictions": {"baseline": {"logits": [dict.fromkeys("ABC", 1e308)]}}}, "predictions"),
        ({"human": {"ratings": {"A": 1, "B": 2}}}, "human"),
        ({"human": {"ratings": {"A": 1, "B": 2, "C": 6}}}, "human"),
        ({"human": {"votes": {"A": float("nan")}}}, "human"),
        ({"explanations": [{"explanation": "x", "label": "D"}]}, "explanations"),
        ({"predictions": {}}, "predictions"),
        ({"predictions": {"explained": {"rankings": [{"Z": 1}]}}}, "predictions"),
        ({"predictions": {"explained": {"scores": [{"A": 1}]}}}, "predictions"),
        ({"predictions": {"explained": {"distributions": [{"A": 0}]}}}, "predictions"),
        ({"question": {"premise": "x"}}, "question"),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        request(**{"predictions": {"explained": GOOD}} | fields)
    assert {error["loc"][0] for error in caught.value.errors()} == {where}


def test_either_a_judge_or_its_answers() -> None:
    with pytest.raises(ValidationError):
        request(model=None)
    with pytest.raises(ValidationError):
        request(model="stub", predictions={"explained": GOOD})
    with pytest.raises(ValidationError):
        request(judge={}, predictions={"explained": GOOD})


@pytest.mark.parametrize("variant", ["robust", "paper", "reference"])
def test_a_masked_letter_of_single_precision_is_a_logit(variant: str) -> None:
    masked = float(np.finfo(np.float32).min)
    logits = [{"A": 1.5, "B": 2.5, "C": masked}]
    found = sent(variant=variant, predictions={"baseline": {"logits": logits}})
    own = found.components.methods[0].baseline
    assert own is not None
    assert own.ranks == {"A": 2, "B": 1, "C": 3}
    assert own.values is not None
    assert sum(own.values.values()) == pytest.approx(1)
