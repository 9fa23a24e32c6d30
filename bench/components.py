"""Estimates the variance components of a crossed design, and how often a comparison keeps its
result in a rerun.

y = mean + text + adapter + operator + text:adapter + text:operator + adapter:operator + residual.
All terms are random and crossed, and null seeds are in the residual. A design may also cross texts
with one other factor, such as wordings of a prompt. ANOVA estimators: Searle, Casella & McCulloch
(1992), Variance Components, chapter 4; generalisability: Brennan (2001), Generalizability Theory.
Pure functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from shared.statistics.clusters import Floats, finite

FACTORS = ("text", "adapter", "operator")


@dataclass(frozen=True)
class Components:
    """Variances in squared units of the value. Negative estimates in `raw` are 0 in `variances`."""

    variances: dict[str, float]  # by text, adapter, text:adapter, ..., residual
    raw: dict[str, float]
    levels: dict[str, int]  # of each factor, and `seed`

    @property
    def sd_rerun(self) -> float:
        """Return the standard deviation of a single result if everything except its text is drawn
        again."""
        return math.sqrt(sum(v for name, v in self.variances.items() if name != "text"))

    def sd_rerun_of_mean(self, texts: int) -> float:
        """Return the standard deviation of the mean over `texts` texts in such a rerun, with one
        adapter, operator and seed."""
        return math.sqrt(
            sum(
                variance / (texts if "text" in name or name == "residual" else 1)
                for name, variance in self.variances.items()
                if name != "text"
            )
        )

    def generalisability(self, seeds: int = 1) -> float | None:
        """Return the share of the variance of a text's value that the text explains, [0, 1]. The
        value is averaged over `seeds` null seeds. None if nothing varies."""
        of_text = self.variances["text"]
        error = sum(
            variance / (seeds if name == "residual" else 1)
            for name, variance in self.variances.items()
            if "text:" in name or name == "residual"
        )
        return of_text / (of_text + error) if of_text + error > 0 else None

    def seeds_for(self, target: float = 0.8, most: int = 10_000) -> int | None:
        """Return the fewest null seeds that reach this generalisability, or None."""
        for seeds in range(1, most + 1):
            reached = self.generalisability(seeds)
            if reached is None:
                return None
            if reached >= target:
                return seeds
        return None


def components(values: Floats, factors: Sequence[str] = FACTORS) -> Components:
    """Estimate the components. `values` has shape (texts, adapters, operators, seeds). `factors`
    names all axes except the last, `text` first. Every factor needs two levels. With only one other
    factor than texts, the seeds need two levels for a residual. Raises ValueError."""
    y = finite(values)
    if y.ndim != len(factors) + 1 or min(y.shape[:-1]) < 2:
        raise ValueError("the design is crossed: two levels of each factor at least")
    design = CrossedValues(y, tuple(factors))
    squares = {names: design.mean_square(names) for names in design.terms}
    residual = design.residual()
    raw = {"residual": residual}
    for names in design.terms:
        if len(names) == 2:
            raw[":".join(names)] = (squares[names] - residual) / design.repeats(names)
    for names in design.terms:
        if len(names) == 1:
            raw[names[0]] = design.main_effect(names[0], squares, residual)
    levels = dict(zip((*factors, "seed"), y.shape, strict=True))
    return Components({key: max(0.0, value) for key, value in raw.items()}, raw, levels)


@dataclass(frozen=True)
class CrossedValues:
    """Values with one axis for each factor and one for seeds. A term is one factor or a pair."""

    values: Floats
    factors: tuple[str, ...]

    @property
    def terms(self) -> list[tuple[str, ...]]:
        return [names for size in (1, 2) for names in combinations(self.factors, size)]

    def repeats(self, names: tuple[str, ...]) -> int:
        """Return the number of values that share a level of the term."""
        return self.values.size // math.prod(self._levels(names))

    def mean_square(self, names: tuple[str, ...]) -> float:
        freedom = math.prod(count - 1 for count in self._levels(names))
        return float(self.repeats(names) * np.sum(self.effect(names) ** 2) / freedom)

    def effect(self, names: tuple[str, ...]) -> Floats:
        """Return the effect of a factor, or the interaction of two, in a shape that broadcasts with
        the values."""
        axes = [self.factors.index(name) for name in names]
        other_axes = tuple(axis for axis in range(self.values.ndim) if axis not in axes)
        effect = self.values.mean(axis=other_axes, keepdims=True) - self.values.mean()
        for name in names if len(names) == 2 else ():
            effect = effect - self.effect((name,))
        return np.asarray(effect)

    def residual(self) -> float:
        fitted = np.full(self.values.shape, self.values.mean())
        for names in self.terms:
            fitted = fitted + self.effect(names)
        used = 1 + sum(
            math.prod(count - 1 for count in self._levels(names)) for names in self.terms
        )
        if self.values.size <= used:
            raise ValueError("nothing is left for a residual: two seeds at least")
        return float(np.sum((self.values - fitted) ** 2) / (self.values.size - used))

    def main_effect(
        self, name: str, squares: dict[tuple[str, ...], float], residual: float
    ) -> float:
        """Return the variance of a factor. Its mean square is expected to be residual +
        interactions + main effect."""
        pairs = [names for names in self.terms if len(names) == 2 and name in names]
        interactions = sum(squares[names] for names in pairs) - (len(pairs) - 1) * residual
        return (squares[(name,)] - interactions) / self.repeats((name,))

    def _levels(self, names: tuple[str, ...]) -> list[int]:
        return [self.values.shape[self.factors.index(name)] for name in names]


def jackknife_ends(
    values: Floats, of: Callable[[Floats], float | None], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return a confidence interval of `of(values)`, from a jackknife over the first axis (texts)
    with Student's t. Source: Tukey (1958); Efron & Tibshirani (1993), An Introduction to the
    Bootstrap, chapter 11. None for fewer than three texts, and if a value is undefined."""
    count = len(values)
    whole = of(values)
    if count < 3 or whole is None:
        return None
    left = [of(np.delete(values, index, axis=0)) for index in range(count)]
    defined = np.array([estimate for estimate in left if estimate is not None])
    if defined.size < count:
        return None
    error = math.sqrt((count - 1) / count * float(np.sum((defined - defined.mean()) ** 2)))
    half = float(stats.t.isf((1 - confidence) / 2, count - 1)) * error
    return whole - half, whole + half


@dataclass(frozen=True)
class Variances:
    """Variances of the paired difference of two systems, in squared units. `text` is the variance
    of one text under one adapter, including their interaction."""

    adapter: float
    text: float
    seed: float

    @classmethod
    def of(cls, components: Components) -> Variances:
        """Return the variances of a difference that is averaged over the design's operators."""
        by, operators = components.variances, components.levels["operator"]
        return cls(
            adapter=by["adapter"] + by["adapter:operator"] / operators,
            text=by["text"] + by["text:adapter"] + by["text:operator"] / operators,
            seed=by["residual"] / operators,
        )


def survival_expected(difference: float, variances: Variances, texts: int, seeds: int) -> float:
    """Return the probability that a rerun keeps the sign of this mean difference, [0.5, 1]."""
    if difference == 0:
        return 0.5
    variance = variances.adapter + variances.text / texts + variances.seed / (texts * seeds)
    if variance == 0:
        return 1.0
    return float(stats.norm.cdf(abs(difference) / math.sqrt(2 * variance)))


def survival_observed(
    differences: Floats, splits: int, random: np.random.Generator
) -> float | None:
    """Return the share of reruns that keep the sign of (adapters, texts) paired differences. A
    rerun is an ordered pair of two adapters, each on one half of the texts, over `splits` random
    halvings. None for fewer than two adapters or texts. A difference of 0 keeps no sign."""
    adapters, texts = finite(differences).shape
    if adapters < 2 or texts < 2:
        return None
    surviving, pairs = 0, 0
    for _ in range(splits):
        order = random.permutation(texts)
        first = np.sign(differences[:, order[: texts // 2]].mean(axis=1))
        second = np.sign(differences[:, order[texts // 2 :]].mean(axis=1))
        matches = (first[:, None] == second[None, :]) & (first[:, None] != 0)
        surviving += int(matches.sum() - np.trace(matches))
        pairs += adapters * (adapters - 1)
    return surviving / pairs
