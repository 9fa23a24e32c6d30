"""Laws of the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.haf import kernel

SHARES = st.floats(0, 1)
POSITIVE = st.floats(1e-6, 1)
NLLS = st.lists(st.floats(0, 50), min_size=1, max_size=20)
MAYBE = st.one_of(st.none(), POSITIVE)


@st.composite
def reasons(draw: st.DrawFn) -> tuple[list[float], kernel.Floats]:
    """Confidences and a symmetric matrix of similarities."""
    size = draw(st.integers(2, 6))
    upper = np.array(draw(st.lists(SHARES, min_size=size**2, max_size=size**2)))
    square = np.triu(upper.reshape(size, size), 1)
    return draw(st.lists(POSITIVE, min_size=size, max_size=size)), square + square.T + np.eye(size)


@given(NLLS, st.data())
def test_a_confidence_is_positive_and_at_most_one(nll: list[float], data: st.DataObject) -> None:
    relevances = data.draw(st.lists(POSITIVE, min_size=len(nll), max_size=len(nll)))
    weights = kernel.normalised_relevance(np.array(relevances))
    assert weights is not None
    assert weights.sum() == pytest.approx(1)
    found = kernel.confidence(np.array(nll), np.array(relevances))
    assert found is not None
    assert 0 < found <= 1
    assert np.exp(-max(nll)) * (1 - 1e-9) <= found <= np.exp(-min(nll)) * (1 + 1e-9)


def test_a_hopeless_token_leaves_a_confidence_above_zero() -> None:
    assert kernel.confidence(np.array([9_999.0]), np.array([1.0])) == kernel.SMALLEST > 0


def test_uniform_relevance_is_the_geometric_mean_of_the_probabilities() -> None:
    probabilities = np.array([0.9, 0.4, 0.7])
    found = kernel.confidence(-np.log(probabilities), kernel.uniform_relevance(3))
    assert found == pytest.approx(float(probabilities.prod() ** (1 / 3)))


def test_without_tokens_or_relevance_there_is_no_confidence() -> None:
    assert kernel.confidence(np.zeros(0), np.zeros(0)) is None
    assert kernel.confidence(np.ones(2), np.zeros(2)) is None


@given(st.lists(POSITIVE, min_size=2, max_size=6))
def test_one_repeated_reason_has_no_diversity(confidences: list[float]) -> None:
    assert kernel.diversity_in_support(confidences, np.ones((len(confidences),) * 2)) == 0


@given(reasons(), st.randoms())
def test_the_order_of_reasons_changes_no_symmetric_formula(
    given_reasons: tuple[list[float], kernel.Floats], random: object
) -> None:
    confidences, alike = given_reasons
    order = np.random.default_rng(len(confidences)).permutation(len(confidences))
    moved = [confidences[place] for place in order]
    matrix = alike[np.ix_(order, order)]
    assert kernel.diversity_in_support(moved, matrix) == pytest.approx(
        kernel.diversity_in_support(confidences, alike)
    )
    assert kernel.determinantal_diversity(moved, matrix) == pytest.approx(
        kernel.determinantal_diversity(confidences, alike), abs=1e-9
    )
    assert kernel.diversity_from(list(alike[0][order]), moved) == pytest.approx(
        kernel.diversity_from(list(alike[0]), confidences)
    )
    assert kernel.mean(moved) == pytest.approx(kernel.mean(confidences))


@given(reasons())
def test_diversity_is_the_pairwise_loop_and_in_its_range(
    given_reasons: tuple[list[float], kernel.Floats],
) -> None:
    confidences, alike = given_reasons
    size = len(confidences)
    terms = [(1 - alike[i, j]) * confidences[j] for i in range(size) for j in range(size) if i != j]
    found = kernel.diversity_in_support(confidences, alike)
    assert found == pytest.approx(np.mean(terms), abs=1e-12)
    assert found is not None
    assert 0 <= found <= 1


@given(SHARES, SHARES, SHARES)
def test_support_lies_between_its_parts(c: float, g: float, share: float) -> None:
    found = kernel.weighted_pair(c, g, share)
    assert found is not None
    assert min(c, g) - 1e-12 <= found <= max(c, g) + 1e-12


@given(SHARES, SHARES, SHARES)
def test_sufficiency_is_one_only_when_sure_sufficient_and_complete(
    w: float, c: float, i: float
) -> None:
    found = kernel.sufficiency(w, c, i)
    assert found is not None
    assert 0 <= found <= 1
    if found == 1:
        assert (w, c) == (1, 1)
        assert i < 1e-15
    assert kernel.sufficiency(1, 1, 0) == 1


@given(st.lists(MAYBE, min_size=2, max_size=5), reasons())
def test_undefined_confidences_are_left_out(
    mixed: list[float | None], given_reasons: tuple[list[float], kernel.Floats]
) -> None:
    alike = given_reasons[1]
    size = min(len(mixed), len(alike))
    part, square = mixed[:size], alike[:size, :size]
    found = kernel.diversity_in_support(part, square)
    assert (found is None) == all(c is None for c in part)
    counted = kernel.diversity_in_support(part, square, count_undefined=True)
    assert counted is None or found is None or counted <= found + 1e-12
    diverse = kernel.diversity_from(list(square[0]), part)
    assert (diverse is None) == all(c is None for c in part)
    assert diverse is None or -1e-12 <= diverse <= 1 + 1e-12


def test_undefined_stays_undefined() -> None:
    assert kernel.weighted_pair(None, 0.5, 0.8) is None
    assert kernel.recovery(0.5, 0.5, None) is None
    assert kernel.sufficiency(1, None, 0) is None
    assert kernel.necessity(1, 0.5, None) is None
    assert kernel.mean([None]) is None
    assert kernel.diversity_in_support([0.5], np.eye(1)) is None
    assert kernel.determinantal_diversity([0.5, None], np.eye(2)) is None
    assert kernel.diversity_from([], []) is None
    assert kernel.predictive_entropy_change([], [0.5]) is None


def test_surer_later_reasons_lower_the_entropy() -> None:
    found = kernel.predictive_entropy_change([0.9, 0.9], [0.5])
    assert found == pytest.approx(np.log(0.5) - np.log(0.9))
