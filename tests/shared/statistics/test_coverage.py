"""How often intervals hold the truth, and tests are wrong: the promise of every batch report.

The cells and their floors are measured; a small size runs with the suite, where the floor gives way
by three standard errors; `-m nightly` runs them whole, and with `--junitxml FILE
-o junit_family=xunit1` writes down what each cell gave (`bench/RESULTS.md`, "Coverage").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from shared.statistics import intervals
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats, Integers, clustered
from shared.statistics.comparison import mean_test, sign_flip_p
from shared.statistics.intervals import Bounds, IntervalEstimate
from shared.statistics.seeds import generator

UNIT: Bounds = (0.0, 1.0)
FREE: Bounds = (None, None)
EACH = 5  # rows of a cluster
UNEQUAL: dict[int, tuple[int, ...]] = {  # clusters → rows of each; the largest: 30, 29, 10, 8 %
    12: (1, 1, 1, 2, 2, 3, 4, 5, 7, 9, 12, 20),
    20: (*[1] * 10, *[2] * 4, 4, 6, 8, 10, 15, 25),
    60: (*[1] * 30, *[2] * 12, *[4] * 8, *[8] * 6, 14, 18, 22, 22),
    110: (*[1] * 50, *[2] * 25, *[4] * 15, *[8] * 10, *[14] * 4, 18, 22, 26, 30, 34, 36),
}
LOPSIDED = (1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 53)  # one cluster holds 69 %
MOST_COVERAGE = 0.985
NIGHTLY, SMALL = 2_000, 100
FEW_DRAWS = Resampling(resamples=500)

Record = Callable[[str, object], None]
Draw = Callable[[np.random.Generator, Integers], Floats]  # (G,) rows of each cluster → values


def covered(held: list[bool], floor: float, most: float = MOST_COVERAGE) -> None:
    """Fail where the share is below the floor, or above what an honest interval holds."""
    slack = 0.0 if len(held) >= NIGHTLY else 3 * math.sqrt(floor * (1 - floor) / len(held))
    assert floor - slack <= np.mean(held) <= min(1.0, most + slack)


def holds(found: IntervalEstimate, truth: float) -> bool:
    assert found.value is not None
    low = -math.inf if found.low is None else found.low
    high = math.inf if found.high is None else found.high
    return low - 1e-12 <= truth <= high + 1e-12


@pytest.mark.parametrize("true", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("count", [5, 10, 20, 30, 110])
def test_shares_of_single_rows_by_exact_sums(true: float, count: int) -> None:
    held = 0.0
    for ones in range(count + 1):
        found = intervals.share([1.0] * ones + [0.0] * (count - ones))
        held += float(stats.binom.pmf(ones, count, true)) * holds(found, true)
    assert held >= (0.92 if count == 20 else 0.91)


@dataclass(frozen=True)
class Cell:
    """A population, clusters drawn of it, and how often the interval must hold its mean."""

    name: str
    draw: Draw
    truth: float
    clusters: int
    floor: float
    each: int | tuple[int, ...] = 1  # rows of every cluster, or of each
    bounds: Bounds = FREE
    is_share: bool = False

    def held(self, runs: int) -> list[bool]:
        sizes = np.broadcast_to(np.array(self.each, dtype=np.int64), self.clusters)
        keys = [f"{cluster:04d}" for cluster, size in enumerate(sizes) for _ in range(size)]
        return [holds(self._estimate(run, sizes, keys), self.truth) for run in range(runs)]

    def _estimate(self, run: int, sizes: Integers, keys: list[str]) -> IntervalEstimate:
        values = self.draw(generator(run, self.name, self.clusters), sizes)
        if self.is_share:
            return intervals.share(values, keys)
        return intervals.mean("x", values, keys, self.bounds, FEW_DRAWS)


def bernoulli(true: float, correlation: float) -> Draw:
    """Beta-binomial clusters: each has a rate of its own, around the true one."""

    def draw(random: np.random.Generator, sizes: Integers) -> Floats:
        rates = np.full(sizes.size, true)
        if correlation:
            scale = 1 / correlation - 1
            rates = random.beta(true * scale, (1 - true) * scale, size=sizes.size)
        drawn = random.random(int(sizes.sum())) < np.repeat(rates, sizes)
        return np.asarray(drawn, dtype=np.float64)

    return draw


def normal(correlation: float, margin: Callable[[Floats], Floats] | None = None) -> Draw:
    def draw(random: np.random.Generator, sizes: Integers) -> Floats:
        shared = random.normal(size=sizes.size) * math.sqrt(correlation)
        own = random.normal(size=sizes.sum()) * math.sqrt(1 - correlation)
        values = np.repeat(shared, sizes) + own
        return values if margin is None else margin(values)

    return draw


def beta_margin(values: Floats) -> Floats:
    return np.asarray(stats.beta.ppf(stats.norm.cdf(values), 8, 0.8))


def single(of: Callable[[np.random.Generator, int], Floats]) -> Draw:
    return lambda random, sizes: np.asarray(of(random, sizes.size), dtype=np.float64)


def table() -> list[Cell]:
    cells = []
    for true in (0.5, 0.8):
        cells += [
            Cell(f"share {true}", bernoulli(true, 0.5), true, groups, 0.94, EACH, is_share=True)
            for groups in (20, 40, 110)
        ]
    cells += [
        Cell("share 0.95", bernoulli(0.95, 0.5), 0.95, groups, floor, EACH, is_share=True)
        for groups, floor in ((20, 0.95), (40, 0.91), (110, 0.93))
    ]
    cells += [
        Cell(f"apart {true}", bernoulli(true, 0.0), true, 20, 0.94, EACH, is_share=True)
        for true in (0.5, 0.8, 0.95)
    ]
    cells += [Cell("normal", normal(0.5), 0.0, groups, 0.93, EACH) for groups in (8, 20, 40, 100)]
    cells += [
        Cell("beta margins", normal(0.5, beta_margin), 8 / 8.8, groups, floor, EACH, UNIT)
        for groups, floor in ((8, 0.915), (20, 0.93), (40, 0.93))
    ]
    return [*cells, *single_rows(), *unequal()]


def unequal() -> list[Cell]:
    """Clusters of a few rows beside clusters of many."""
    cells = [
        Cell(f"unequal share {true} {icc}", bernoulli(true, icc), true, groups, 0.94, sizes,
             is_share=True)
        for groups, sizes in UNEQUAL.items()
        for true in (0.5, 0.8, 0.95)
        for icc in (0.2, 0.5)
    ]  # fmt: skip
    cells += [
        Cell(f"lopsided share {true}", bernoulli(true, 0.5), true, 12, 0.95, LOPSIDED,
             is_share=True)
        for true in (0.5, 0.8, 0.95)
    ]  # fmt: skip
    for groups, sizes in UNEQUAL.items():
        cells += [
            Cell("unequal normal", normal(0.5), 0.0, groups, 0.94, sizes),
            Cell("unequal beta", normal(0.5, beta_margin), 8 / 8.8, groups, 0.94, sizes, UNIT),
        ]
    return cells


def single_rows() -> list[Cell]:
    a = 0.6
    log_mean = float(stats.beta.expect(np.log, (a, a)))
    populations: list[tuple[str, Draw, float, Bounds, tuple[float, float, float]]] = [
        ("beta", single(lambda r, n: r.beta(8, 0.8, n)), 8 / 8.8, UNIT, (0.925, 0.93, 0.935)),
        ("uniform", single(lambda r, n: r.random(n)), 0.5, UNIT, (0.95, 0.945, 0.935)),
        ("quarters", single(lambda r, n: r.integers(1, 5, n) / 4), 0.625, UNIT,
         (0.95, 0.95, 0.935)),
        ("ftc k", single(lambda r, n: 1 + np.log(r.beta(a, a, n))), 1 + log_mean, (None, 1.0),
         (0.91, 0.93, 0.935)),
        ("lognormal", single(lambda r, n: r.lognormal(size=n)), math.exp(0.5), (0.0, None),
         (0.89, 0.91, 0.905)),
    ]  # fmt: skip
    return [
        Cell(name, draw, truth, count, floor, bounds=bounds)
        for name, draw, truth, bounds, floors in populations
        for count, floor in zip((10, 20, 50), floors, strict=True)
    ]


def most_of(cell: Cell) -> float:
    """Shares and the fewest clusters may hold more: they cannot be nearer."""
    return 1.0 if cell.is_share or cell.clusters <= 10 else MOST_COVERAGE


def named(cell: Cell) -> str:
    return f"{cell.name}-{cell.clusters}"


@pytest.mark.nightly
@pytest.mark.parametrize("cell", table(), ids=named)
def test_intervals_hold_the_truth(cell: Cell, record_property: Record) -> None:
    held = cell.held(NIGHTLY)
    record_property("coverage", float(np.mean(held)))
    covered(held, cell.floor, most_of(cell))


@pytest.mark.parametrize("cell", table()[::4], ids=named)
def test_a_few_intervals_hold_the_truth(cell: Cell) -> None:
    covered(cell.held(SMALL), cell.floor, most_of(cell))


def test_rows_that_are_taken_as_independent_do_not() -> None:
    """The fault that clusters mend: this test fails if they do not matter."""
    held = []
    for run in range(300):
        values = bernoulli(0.8, 0.5)(generator(run, "apart"), np.full(40, EACH))
        held.append(holds(intervals.share(values), 0.8))
    assert np.mean(held) < 0.85


SIZES = {
    "uniform": lambda random, count: random.random(count),
    "u-shaped": lambda random, count: random.beta(0.2, 0.2, count),
}


def sizes(name: str, count: int, runs: int) -> tuple[float, float]:
    """How often t and the sign flips reject a true mean of 1/2 at 0.05."""
    found = [
        mean_test(clustered(SIZES[name](generator(run, name, count), count)), 0.5)
        for run in range(runs)
    ]
    by_t = np.mean([(one.p_t or 1) <= 0.05 for one in found])
    by_flips = np.mean([(one.p_randomization or 1) <= 0.05 for one in found])
    return float(by_t), float(by_flips)


@pytest.mark.nightly
@pytest.mark.parametrize("count", [10, 20, 50])
@pytest.mark.parametrize("name", SIZES)
def test_tests_of_a_mean_are_wrong_as_often_as_they_say(
    name: str, count: int, record_property: Record
) -> None:
    by_t, by_flips = sizes(name, count, NIGHTLY)
    record_property("size of t", by_t)
    record_property("size of flips", by_flips)
    limit = 0.01 if count >= 20 else 0.02
    assert by_t == pytest.approx(0.05, abs=limit)
    assert by_flips == pytest.approx(0.05, abs=limit)


@pytest.mark.parametrize("name", SIZES)
def test_a_few_tests_of_a_mean(name: str) -> None:
    by_t, by_flips = sizes(name, 20, 300)
    assert by_t <= 0.09
    assert by_flips <= 0.09


@pytest.mark.nightly
@pytest.mark.parametrize(("count", "most"), [(20, 0.08), (50, 0.065)])
def test_skewed_rates_with_a_mean_of_a_half(
    count: int, most: float, record_property: Record
) -> None:
    """Most texts a little under, few far over: the verdict asks both tests."""
    wrong = 0
    for run in range(NIGHTLY):
        values = generator(run, "skewed", count).beta(0.5, 2.0, count) - 0.2 + 0.5
        wrong += (mean_test(clustered(values), 0.5).p_value or 1) <= 0.05
    record_property("size", wrong / NIGHTLY)
    assert wrong / NIGHTLY <= most


@pytest.mark.nightly
@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("groups", [20, 50])
def test_comparisons_of_two_systems_are_wrong_as_often_as_they_say(
    groups: int, correlation: float, record_property: Record
) -> None:
    wrong = 0
    for run in range(NIGHTLY):
        values = normal(correlation)(
            generator(run, "paired", groups, correlation), np.full(groups, EACH)
        )
        sums = values.reshape(groups, EACH).sum(axis=1)
        wrong += sign_flip_p(sums, np.full(groups, float(EACH)), 0, "x") <= 0.05
    record_property("size", wrong / NIGHTLY)
    assert wrong / NIGHTLY == pytest.approx(0.05, abs=0.01)
