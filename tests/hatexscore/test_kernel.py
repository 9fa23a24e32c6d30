from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from services.hatexscore.kernel import (
    NamedGroups,
    consistency,
    drop,
    quotation_faithfulness,
    share_beaten,
    weighted_mean,
)
from services.hatexscore.report import ConsistencyRule
from shared.contracts.errors import DegenerateInput

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "hatexscore_cases.json"
RULES: tuple[ConsistencyRule, ...] = ("causal", "eq5", "reference")

PROBABILITY = st.floats(0, 1)
WEIGHT = st.floats(0, 1000, allow_subnormal=False)


@given(PROBABILITY, PROBABILITY)
def test_the_two_labels_share_one_unit_of_faithfulness(original: float, masked: float) -> None:
    moved = drop(original, masked)
    hateful = quotation_faithfulness("hateful", moved)
    harmless = quotation_faithfulness("non-hateful", moved)
    assert 0 <= hateful <= 1
    assert 0 <= harmless <= 1
    assert hateful + harmless == pytest.approx(1)


NONE, ATTACKED = NamedGroups(False, False), NamedGroups(True, True)
NAMED = NamedGroups(True, False)


@given(PROBABILITY, PROBABILITY)
def test_a_group_that_is_named_and_not_attacked_is_no_incoherence(qf: float, tau: float) -> None:
    named = consistency("causal", "non-hateful", qf, NAMED, tau)
    assert named == consistency("causal", "non-hateful", qf, NONE, tau)
    assert consistency("eq5", "non-hateful", qf, NAMED, tau) == 0
    assert consistency("reference", "non-hateful", qf, NAMED, tau) == 0


@given(PROBABILITY, PROBABILITY)
def test_a_hateful_decision_coheres_only_with_a_group_and_evidence(qf: float, tau: float) -> None:
    for rule in RULES:
        assert consistency(rule, "hateful", qf, NONE, tau) == 0
        assert consistency(rule, "non-hateful", qf, ATTACKED, tau) == 0
        assert consistency(rule, "hateful", 1.0, ATTACKED, tau) == 1


@given(PROBABILITY, st.floats(0.001, 0.999))
def test_eq5_and_the_released_code_contradict_each_other(qf: float, tau: float) -> None:
    as_printed = consistency("eq5", "non-hateful", qf, NONE, tau)
    as_released = consistency("reference", "non-hateful", qf, NONE, tau)
    assert {as_printed, as_released} == {0.0, 1.0}


def test_a_threshold_is_reached_in_spite_of_floats() -> None:
    assert 0.7 - 0.4 < 0.3
    assert consistency("causal", "hateful", drop(0.7, 0.4), ATTACKED, 0.3) == 1
    assert consistency("causal", "non-hateful", 1 - drop(0.7, 0.4), NONE, 0.3) == 0


def test_without_a_label_only_what_both_labels_agree_on() -> None:
    assert consistency("causal", None, 0.0, NONE, 0.3) == 0
    assert consistency("eq5", None, 0.0, NONE, 0.3) is None


@given(
    st.lists(st.tuples(PROBABILITY, WEIGHT), min_size=1, max_size=4).filter(
        lambda parts: any(weight > 0 for _, weight in parts)
    )
)
def test_the_mean_stays_between_its_parts(parts: list[tuple[float, float]]) -> None:
    mean = weighted_mean([part for part, _ in parts], [weight for _, weight in parts])
    counted = [part for part, weight in parts if weight > 0]
    assert mean is not None
    assert 0 <= mean <= 1
    assert min(counted) - 1e-12 <= mean <= max(counted) + 1e-12


def test_a_missing_part_is_never_a_number_unless_it_has_no_weight() -> None:
    assert weighted_mean([1.0, None, 0.0, 1.0], [1, 1, 1, 1]) is None
    assert weighted_mean([1.0, None, 0.0, 1.0], [1, 0, 1, 1]) == pytest.approx(2 / 3)
    with pytest.raises(DegenerateInput):
        weighted_mean([1.0], [0.0])


@given(PROBABILITY, st.lists(PROBABILITY, min_size=1, max_size=50))
def test_share_beaten_is_the_mid_rank_percentile(observed: float, null: list[float]) -> None:
    # Rounded, so that no two drops differ by less than the tolerance for ties.
    observed, rounded = round(observed, 6), np.round(np.array(null), 6)
    oracle = float(percentileofscore(rounded, observed, kind="mean")) / 100
    assert share_beaten(observed, rounded) == pytest.approx(oracle)


@given(PROBABILITY, st.lists(PROBABILITY, min_size=1, max_size=30))
def test_beating_and_being_beaten_are_one(observed: float, null: list[float]) -> None:
    drops = np.round(np.array(null), 6)
    forth, back = share_beaten(round(observed, 6), drops), share_beaten(-round(observed, 6), -drops)
    assert math.isclose(forth + back, 1)


def test_no_placement_no_share() -> None:
    with pytest.raises(DegenerateInput):
        share_beaten(0.3, np.array([]))


def truth_table() -> list[dict[str, Any]]:
    if not GOLDEN.exists():
        return []
    return list(json.loads(GOLDEN.read_text(encoding="utf-8"))["cc_truth_table"])


@pytest.mark.skipif(not GOLDEN.exists(), reason="no golden numbers on this machine")
def test_the_truth_table_of_consistency() -> None:
    rows = truth_table()
    assert rows
    for row in rows:
        label, qf = row["label"], row["QF"]
        tgi = ATTACKED if row["TGI"] else NONE
        assert consistency("causal", label, qf, tgi, 0.3) == row["causal_tau_0.3"], row
        assert consistency("eq5", label, qf, tgi, 0.3) == row["eq5_tau_0.3"], row
        assert consistency("reference", label, qf, tgi, 0.45) == row["reference_tau_0.45"], row
