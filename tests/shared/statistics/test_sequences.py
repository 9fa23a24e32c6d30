"""The confidence sequence: it holds at every look, and is not much wider than one look's."""

from __future__ import annotations

import numpy as np
import pytest

from shared.statistics.seeds import generator
from shared.statistics.sequences import confidence_sequence

RUNS, TEXTS = 300, 2_000


@pytest.mark.parametrize(
    ("name", "mean"), [("bernoulli", 0.3), ("uniform", 0.5), ("beta", 8 / 8.8)]
)
def test_the_truth_is_left_in_few_of_all_runs(name: str, mean: float) -> None:
    left, widths = 0, []
    for run in range(RUNS):
        random = generator(run, "sequence", name)
        values = {
            "bernoulli": lambda random=random: (random.random(TEXTS) < 0.3).astype(float),
            "uniform": lambda random=random: random.random(TEXTS),
            "beta": lambda random=random: random.beta(8, 0.8, size=TEXTS),
        }[name]()
        found = confidence_sequence(values)
        left += bool(np.any((found.low > mean) | (found.high < mean)))
        fixed = 2 * 1.96 * values[:500].std(ddof=1) / np.sqrt(500)
        widths.append((found.high[499] - found.low[499]) / fixed)
    assert left / RUNS <= 0.05
    assert np.mean(widths) <= 2.4


def test_it_only_narrows() -> None:
    found = confidence_sequence(generator(0, "narrow").random(300))
    assert np.all(np.diff(found.low) >= 0)
    assert np.all(np.diff(found.high) <= 0)
    assert confidence_sequence([]).low.size == 0
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        confidence_sequence([1.2])
