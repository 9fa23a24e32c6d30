"""The reliability bench: what it makes of values whose components are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.reliability import DOUBT, EXPLANATIONS, QUOTATIONS, QUOTED, compared, explained, markdown
from shared.statistics.clusters import Floats
from shared.statistics.seeds import generator


def crossed(name: str, adapter: float, residual: float, mean: float = 0.0) -> Floats:
    """(30, 5, 3, 2): texts of variance 1, adapters that differ for each text, and noise."""
    random = generator(0, "reliability", name)
    texts = random.normal(0, 1, size=(30, 1, 1, 1))
    by_adapter = random.normal(0, np.sqrt(adapter), size=(30, 5, 1, 1))
    return mean + texts + by_adapter + random.normal(0, np.sqrt(residual), size=(30, 5, 3, 2))


def test_the_largest_component_is_named_and_a_rerun_moves_by_the_others() -> None:
    found = explained(crossed("explained", 0.5, 0.1), 30)
    parts = found["components"]
    assert parts["text"]["share"] > parts["text:adapter"]["share"] > parts["residual"]["share"]
    assert sum(part["share"] for part in parts.values()) == pytest.approx(1, abs=0.01)
    value, low, high = parts["text:adapter"]["variance"]
    assert low < value < high
    assert low < 0.5 < high
    assert found["sd_rerun"][0] == pytest.approx(np.sqrt(0.6), abs=0.15)
    assert found["sd_rerun_of_mean_30"][0] < 0.4
    assert found["generalisability"][0] == pytest.approx(1 / 1.6, abs=0.15)


def test_a_clear_difference_survives_and_none_does_not() -> None:
    clear = compared(crossed("clear", 0.1, 0.1, mean=2.0))
    assert clear["survival_observed"][0] == 1
    assert clear["survival_expected"][0] > 0.99
    assert clear["says"] is None
    noise = crossed("none", 0.5, 0.5)
    none = compared(noise - noise.mean())
    value, low, high = none["survival_observed"]
    assert 0 <= low <= value <= high <= 1
    assert value < 0.9
    assert none["says"] == DOUBT


def test_the_same_values_give_the_same_bytes() -> None:
    values = crossed("bytes", 0.2, 0.2, mean=0.3)
    assert json.dumps(compared(values)) == json.dumps(compared(values.copy()))
    figures = {
        "texts": 30,
        "components": {name: explained(values, 30) for name in EXPLANATIONS},
        "comparisons": {"first - second": compared(values)},
        "quoted_texts": 30,
        "quotations": {name: explained(values[:, :, 0], 30, QUOTED) for name in QUOTATIONS},
    }
    lines = list(markdown(figures))
    assert len({line.count("|") for line in lines[:10]}) == 1
    assert any(line.startswith("| first - second | ") for line in lines)
