from __future__ import annotations

from itertools import product
from typing import get_args

from services.hatexscore.report import ConsistencyRule, Side
from services.hatexscore.verdict import chance, coherence, finding
from tests.hatexscore.test_metric import ask
from tests.hatexscore.test_page import beaten, scored

RULES: tuple[ConsistencyRule, ...] = get_args(ConsistencyRule)
LABELS: tuple[Side, ...] = get_args(Side)


def test_the_sentence_on_consistency_says_what_cc_says() -> None:
    for rule, label in [*product(RULES, LABELS)]:
        for masked in [0.0, 0.15, 0.2, 0.4, 0.65, 0.6999, 0.7]:
            for grounds in ["foreigners", "somebody"]:
                original = 0.7 if label == "hateful" else 0.45  # the asked model makes the decision
                report = scored(
                    ask(
                        explanation=f'It says "lazy tourists", blaming {grounds}. {label}.',
                        probabilities={"original": original, "masked": masked},
                        consistency_rule=rule,
                        predicted_label=label,
                        tau=0.3,
                    )
                )
                said = coherence(report)
                group = "and a group is named" if label == "hateful" else "and no group is named"
                if label == "non-hateful" and rule == "causal":
                    group = "and no group is attacked"
                assert (" holds" in said and group in said) == (report.components.cc == 1)


def test_numbers_that_round_to_the_threshold_are_told_apart() -> None:
    said = coherence(
        scored(
            ask(
                probabilities={"original": 0.8, "masked": 0.50001},
                predicted_label="hateful",
            )
        )
    )
    assert "0.29999 ≥ 0.3 does not hold" in said


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
