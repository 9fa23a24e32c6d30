"""Variance components: known ones are found again; survival is that of simulated reruns."""

from __future__ import annotations

import numpy as np
import pytest

from bench.components import (
    Variances,
    components,
    jackknife_ends,
    survival_expected,
    survival_observed,
)
from shared.statistics.clusters import Floats
from shared.statistics.seeds import generator

TRUE = {
    "text": 4.0,
    "adapter": 1.0,
    "operator": 0.5,
    "text:adapter": 0.8,
    "text:operator": 0.6,
    "adapter:operator": 0.3,
    "residual": 1.5,
}


def simulated(random: np.random.Generator, shape: tuple[int, int, int, int]) -> Floats:
    axes = {"text": 0, "adapter": 1, "operator": 2}
    y = np.zeros(shape)
    for name, variance in TRUE.items():
        parts = [axes[one] for one in name.split(":")] if name != "residual" else [0, 1, 2, 3]
        size = tuple(shape[axis] if axis in parts else 1 for axis in range(4))
        y = y + random.normal(0, np.sqrt(variance), size=size)
    return y


def test_known_components_are_found() -> None:
    random = generator(0, "components")
    found = [components(simulated(random, (30, 8, 8, 3))) for _ in range(200)]
    for name, true in TRUE.items():
        assert np.mean([one.raw[name] for one in found]) == pytest.approx(true, rel=0.15), name


def test_what_a_rerun_moves() -> None:
    found = components(simulated(generator(1, "one"), (60, 6, 5, 3)))
    others = sum(variance for name, variance in found.variances.items() if name != "text")
    assert found.sd_rerun == pytest.approx(np.sqrt(others))
    assert found.sd_rerun_of_mean(50) < found.sd_rerun
    once = found.generalisability()
    assert once is not None
    assert 0 < once < (found.generalisability(10) or 0) <= 1
    wanted = (once + (found.generalisability(10_000) or 1)) / 2
    seeds = found.seeds_for(wanted)
    assert seeds is not None
    assert (found.generalisability(seeds) or 0) >= wanted > (found.generalisability(seeds - 1) or 1)


def test_nothing_varies() -> None:
    found = components(np.ones((3, 2, 2, 1)))
    assert set(found.variances.values()) == {0.0}
    assert found.generalisability() is None
    assert found.seeds_for() is None
    with pytest.raises(ValueError, match="two levels"):
        components(np.ones((3, 1, 2, 2)))


def test_the_anova_is_statsmodels_mixed_model() -> None:
    import pandas as pd
    import statsmodels.formula.api as smf

    y = simulated(generator(2, "mixed"), (12, 5, 4, 2))
    index = np.indices(y.shape).reshape(4, -1)
    frame = pd.DataFrame({"y": y.ravel(), "t": index[0], "a": index[1], "o": index[2], "g": 1})
    terms = {
        "text": "0 + C(t)",
        "adapter": "0 + C(a)",
        "operator": "0 + C(o)",
        "text:adapter": "0 + C(t):C(a)",
        "text:operator": "0 + C(t):C(o)",
        "adapter:operator": "0 + C(a):C(o)",
    }
    fitted = smf.mixedlm("y ~ 1", frame, groups="g", vc_formula=terms).fit(reml=True)
    theirs = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))
    ours = components(y)
    assert ours.raw["residual"] == pytest.approx(fitted.scale, rel=0.02)
    for name, variance in theirs.items():
        if min(ours.raw.values()) > 0:  # REML is the ANOVA where no estimate is cut at 0
            assert ours.variances[name] == pytest.approx(variance, rel=0.02), name


def test_two_factors_are_known_components_too() -> None:
    random = generator(8, "two")
    true = {"text": 2.0, "wording": 0.7, "text:wording": 0.5, "residual": 0.4}
    found = []
    for _ in range(200):
        y = random.normal(0, np.sqrt(true["text"]), size=(30, 1, 1))
        y = y + random.normal(0, np.sqrt(true["wording"]), size=(1, 8, 1))
        y = y + random.normal(0, np.sqrt(true["text:wording"]), size=(30, 8, 1))
        y = y + random.normal(0, np.sqrt(true["residual"]), size=(30, 8, 3))
        found.append(components(y, ("text", "wording")))
    for name, variance in true.items():
        assert np.mean([one.raw[name] for one in found]) == pytest.approx(variance, rel=0.15), name
    assert found[0].levels == {"text": 30, "wording": 8, "seed": 3}
    with pytest.raises(ValueError, match="two seeds"):
        components(np.ones((3, 2, 1)), ("text", "wording"))


def test_the_jackknife_of_a_mean_is_student_s_interval() -> None:
    from scipy.stats import ttest_1samp

    values = generator(5, "jackknife").normal(size=(12, 2, 3, 1))
    means = values.mean(axis=(1, 2, 3))
    theirs = ttest_1samp(means, 0).confidence_interval()
    found = jackknife_ends(values, lambda some: float(some.mean()))
    assert found == pytest.approx((theirs.low, theirs.high))
    assert jackknife_ends(values[:2], lambda some: float(some.mean())) is None
    assert jackknife_ends(values, lambda some: None) is None


def test_the_jackknife_covers_a_known_component() -> None:
    random = generator(6, "covered")
    covered = 0
    for _ in range(60):
        ends = jackknife_ends(
            simulated(random, (24, 4, 3, 2)), lambda some: components(some).raw["residual"]
        )
        assert ends is not None
        covered += ends[0] <= TRUE["residual"] <= ends[1]
    assert covered / 60 >= 0.85


def test_the_variances_of_a_difference_over_operators() -> None:
    found = components(simulated(generator(7, "of"), (20, 5, 4, 2)))
    own = Variances.of(found)
    by = found.variances
    assert own.adapter == pytest.approx(by["adapter"] + by["adapter:operator"] / 4)
    assert own.text == pytest.approx(by["text"] + by["text:adapter"] + by["text:operator"] / 4)
    assert own.seed == pytest.approx(by["residual"] / 4)


def test_survival_is_that_of_simulated_reruns() -> None:
    variances = Variances(adapter=0.04, text=1.0, seed=0.5)
    random = generator(3, "survival")
    texts, seeds, difference = 50, 3, 0.2
    sd = np.sqrt(variances.adapter + variances.text / texts + variances.seed / (texts * seeds))
    # a rerun against one run, whose own difference is as far from the truth as the rerun's
    truth = difference + sd * random.normal(size=20_000)
    again = truth + sd * random.normal(size=20_000)
    expected = survival_expected(difference, variances, texts, seeds)
    assert np.mean(np.sign(again) == 1) == pytest.approx(expected, abs=0.03)
    assert survival_expected(0.0, variances, 9, 1) == 0.5
    assert survival_expected(0.1, Variances(0, 0, 0), 9, 1) == 1


def test_observed_survival() -> None:
    random = generator(4, "observed")
    sure = np.full((5, 40), 0.3)
    assert survival_observed(sure, 20, random) == 1
    noise = random.normal(size=(5, 40))
    assert survival_observed(noise, 200, random) == pytest.approx(0.5, abs=0.2)
    assert survival_observed(sure[:1], 20, random) is None
