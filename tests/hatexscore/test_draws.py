"""The random passages of the control in a report."""

from __future__ import annotations

from typing import get_args

import pytest

from services.hatexscore.metric import SERVICE
from shared.contracts.messages import Variant
from tests.hatexscore.fake import FakeClassifier, bound, surely
from tests.hatexscore.test_metric import ask

score = SERVICE.score

LONGER = "The old bridge near our village was closed by lazy tourists again, and the mill as well"


@pytest.mark.parametrize("variant", get_args(Variant))
def test_every_draw_is_reported_and_the_mean_is_theirs(variant: Variant) -> None:
    with bound(FakeClassifier(surely)):
        control = score(
            ask(text=LONGER, variant=variant, decision="hateful", control_draws=5)
        ).control
    if variant == "reference":
        assert control is None
        return
    assert control is not None
    assert len(control.drops) == len(control.signed_drops) == control.draws == 5
    assert control.drops == tuple(map(abs, control.signed_drops))
    assert sum(control.drops) / 5 == pytest.approx(control.mean_drop)
    if variant == "paper":
        below = sum(drop < control.quoted_drop for drop in control.drops)
        assert control.share_beaten == pytest.approx(below / 5)


def test_the_draws_come_in_the_order_of_drawing() -> None:
    with bound(FakeClassifier(surely)):
        few, many = (
            score(
                ask(
                    text=LONGER,
                    explanation='It says "lazy tourists".',
                    decision="hateful",
                    control_draws=draws,
                )
            ).control
            for draws in (5, 10)
        )
    assert few is not None
    assert many is not None
    assert few.drops == many.drops[:5]
