"""The card's figures are those of the released numbers."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.haf.released import FILES, METRICS, Change, changes

CARD = Path(__file__).parents[2] / "docs" / "methods" / "haf.md"
STORED = 1e-5  # what the released numbers are rounded to
NAMES = dict(zip(METRICS, ("SoS", "DiS", "UII", "UEI", "RS", "RN"), strict=True))

pytestmark = [
    pytest.mark.skipif(not FILES, reason="no golden numbers on this machine"),
    pytest.mark.usefixtures("_embedded_models"),
]


@lru_cache(maxsize=1)
def by_metric() -> dict[str, list[Change]]:
    found = defaultdict(list)
    for change in changes():
        found[change.metric].append(change)
    return dict(found)


def figure(value: float) -> str:
    if value < STORED:
        return "0"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


@pytest.mark.parametrize("metric", METRICS)
def test_the_card_says_how_much_changes_of_every_metric(metric: str) -> None:
    found = by_metric()[metric]
    pairs = [(each.released, each.ours) for each in found if each.ours is not None]
    moved = [abs(ours - released) for released, ours in pairs]
    read = f"{figure(float(np.mean(moved)))}, {figure(max(moved))}"
    mean = float(np.mean([each.bounds[0] for each in found]))
    most = max(each.bounds[1] for each in found)
    row = (
        f"| {NAMES[metric]} | {len(pairs)} of {len(found)} | {read} "
        f"| {figure(mean)}, {figure(most)} |"
    )
    assert row in CARD.read_text("utf-8"), row
