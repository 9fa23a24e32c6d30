from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from services.ftc import kernel
from services.ftc.kernel import Floats
from shared.contracts.errors import DegenerateInput

EPSILON = 1e-6
HARD = np.eye(3)
UNIFORM = np.full((1, 3), 1 / 3)

weights = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 1e-3)
distributions = weights.map(lambda row: np.array([row]) / sum(row))
alphas = st.floats(0.5, 1)
labels = st.integers(0, 2)


def by_linear_programming(answer: Floats, target: Floats, distance: Floats) -> float:
    """The transport problem as such: nine flows, six marginals."""
    rows = [np.kron(np.eye(3)[i], np.ones(3)) for i in range(3)]
    columns = [np.kron(np.ones(3), np.eye(3)[j]) for j in range(3)]
    found = linprog(
        distance.ravel(),
        A_eq=np.array(rows + columns),
        b_eq=np.concatenate([answer, target]),
        bounds=(0, None),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.success
    assert found.x is not None
    assert found.fun is not None
    flows = found.x.reshape(3, 3)
    assert np.abs(flows.sum(axis=1) - answer).max() < 1e-12
    return float(found.fun)


def drawn(generator: np.random.Generator) -> Floats:
    """Sharp and flat distributions, in millionths: a solver takes less than 1e-9 for nothing."""
    shape = generator.dirichlet(np.full(3, generator.choice([0.1, 1, 10])))
    return np.asarray(generator.multinomial(10**6, shape) / 10**6)


@pytest.mark.parametrize("soft", [False, True])
def test_transport_is_what_a_linear_programming_solver_finds(soft: bool) -> None:
    generator = np.random.default_rng(20)
    for _ in range(1_000):
        answer = drawn(generator)
        target = drawn(generator) if soft else HARD[generator.integers(3)]
        alpha = float(generator.uniform(0.5, 1))
        wanted = 1 - by_linear_programming(answer, target, kernel.ground_distance(alpha))
        assert kernel.w(answer[None], target[None], alpha)[0] == pytest.approx(wanted, abs=1e-12)


@given(distributions, labels, alphas)
def test_a_hard_target_has_the_closed_form(answer: Floats, label: int, alpha: float) -> None:
    e, n, c = answer[0]
    wanted = [c + alpha * n, alpha * (e + c), e + alpha * n][label]
    found = kernel.w(answer, HARD[[label]], alpha)[0]
    assert found == pytest.approx(1 - wanted, abs=1e-12)


@given(distributions, distributions)
def test_on_a_line_it_is_half_the_difference_of_the_cumulated(p: Floats, t: Floats) -> None:
    wanted = 0.5 * np.abs(np.cumsum(p - t)[:2]).sum()
    assert kernel.transport(p, t, kernel.ground_distance(0.5))[0] == pytest.approx(wanted, abs=1e-9)


@given(distributions, distributions)
def test_with_equal_distances_it_is_total_variation(p: Floats, t: Floats) -> None:
    wanted = 0.5 * np.abs(p - t).sum()
    assert kernel.transport(p, t, kernel.ground_distance(1))[0] == pytest.approx(wanted, abs=1e-9)


@given(distributions, distributions, distributions, alphas)
def test_transport_is_a_metric(a: Floats, b: Floats, c: Floats, alpha: float) -> None:
    distance = kernel.ground_distance(alpha)

    def far(p: Floats, t: Floats) -> float:
        return float(kernel.transport(p, t, distance)[0])

    assert far(a, a) == 0
    assert far(a, b) == pytest.approx(far(b, a), abs=1e-12)
    assert far(a, c) <= far(a, b) + far(b, c) + 1e-12


@given(distributions, distributions, alphas)
def test_every_score_stays_in_its_range(p: Floats, t: Floats, alpha: float) -> None:
    assert kernel.delta(p, t)[0] in (0, 1)
    assert 1 + math.log(EPSILON) - 1e-9 <= kernel.k(p, t, EPSILON)[0] <= 1
    assert 0 <= kernel.w(p, t, alpha)[0] <= 1
    assert 0 <= kernel.w_normalized(p, t, alpha)[0] <= 1


@given(distributions, alphas)
def test_a_perfect_answer_earns_everything(p: Floats, alpha: float) -> None:
    assert kernel.k(p, p, 1e-300)[0] == pytest.approx(1, abs=1e-9)
    assert kernel.w(p, p, alpha)[0] == 1
    assert kernel.w_normalized(p, p, alpha)[0] == 1


@given(labels, alphas)
def test_the_worst_answer_earns_nothing_when_normalized(label: int, alpha: float) -> None:
    scores = kernel.w_normalized(HARD, HARD[[label] * 3], alpha)
    assert min(scores) == pytest.approx(0, abs=1e-12)
    assert max(scores) == 1


@given(distributions, distributions, st.permutations(range(3)))
def test_k_and_delta_do_not_care_which_label_is_which(
    p: Floats, t: Floats, order: list[int]
) -> None:
    assert kernel.delta(p, t)[0] == kernel.delta(p[:, order], t[:, order])[0]
    ours, theirs = kernel.k(p, t, EPSILON)[0], kernel.k(p[:, order], t[:, order], EPSILON)[0]
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_a_uniform_model_earns_what_the_paper_s_numbers_imply() -> None:
    uniform = np.repeat(UNIFORM, 3, axis=0)
    assert kernel.k(uniform, HARD, EPSILON) == pytest.approx([-0.0986123] * 3, abs=1e-7)
    assert kernel.w(uniform, HARD, 0.7) == pytest.approx([0.4333333, 0.5333333, 0.4333333])
    assert kernel.delta(uniform, HARD).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("mean_k", "p"), [(0.126, 0.417), (-0.245, 0.288), (-1.407, 0.090)])
def test_k_is_read_as_a_probability(mean_k: float, p: float) -> None:
    assert kernel.geometric_mean_p(mean_k) == pytest.approx(p, abs=5e-4)


def test_the_smallest_probability_is_told() -> None:
    answer, wanted = HARD[[0, 0]], HARD[[2, 0]]
    assert kernel.k(answer, wanted, EPSILON).tolist() == [1 + math.log(EPSILON), 1]
    assert kernel.floored(answer, wanted, EPSILON).tolist() == [True, False]


@pytest.mark.parametrize("alpha", [0.3, 0.499, 1.01, -1])
def test_what_is_no_metric_is_refused(alpha: float) -> None:
    with pytest.raises(DegenerateInput) as caught:
        kernel.w(UNIFORM, HARD[[0]], alpha)
    assert caught.value.pointer == "/alpha"


def test_rows_do_not_know_each_other() -> None:
    generator = np.random.default_rng(4)
    p, t = generator.dirichlet(np.ones(3), 50), generator.dirichlet(np.ones(3), 50)
    whole = kernel.w_normalized(p, t, 0.7)
    assert whole.tolist() == [kernel.w_normalized(p[[i]], t[[i]], 0.7)[0] for i in range(50)]
