from __future__ import annotations

from typing import get_args

from services.hatexscore.report import ConsistencyRule, Side
from services.hatexscore.verdict import chance, finding
from tests.hatexscore.test_page import beaten

RULES: tuple[ConsistencyRule, ...] = get_args(ConsistencyRule)
LABELS: tuple[Side, ...] = get_args(Side)


def test_only_a_hateful_decision_is_held_against_chance() -> None:
    """The reason says what the explanation does; that of chance stands beside it."""
    for share, said in [
        (0.0, "no more than any of all 20 random spans"),
        (0.6, "more than 60 % of all 20 random spans"),
        (1.0, "more than each of all 20 random spans"),
    ]:
        for label in LABELS:
            report = beaten(label, share)
            control = report.control
            assert control is not None
            found = report.model_copy(
                update={"control": control.model_copy(update={"exact": True})}
            )
            assert said in chance(found)
            apart = "are not compared with chance"
            assert (apart in chance(found)) == (label == "non-hateful")
            assert apart not in finding(found).reason
