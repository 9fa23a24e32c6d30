"""From values and spans to rationales: what ranks, what ties, and what the caller may send."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import ValidationError

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.contracts.errors import DegenerateInput
from tests.flat_requests import flat_request
from tests.ice.planted import planted, word

score = SERVICE.score

TEXT = " ".join(map(word, range(8)))  # each two characters long


def valued(*values: float) -> list[dict[str, float]]:
    return [
        {"start": 3 * place, "end": 3 * place + 2, "value": value}
        for place, value in enumerate(values)
    ]


def report(**fields: Any) -> IceResult:
    with planted():
        return score(flat_request(IceRequest, {"text": TEXT, "decision": "yes", **fields}))


def test_auprc_is_of_the_ranking_that_makes_the_rationale() -> None:
    fields: dict[str, Any] = {"attributions": valued(-5, 1, 0), "human": [{"start": 0, "end": 2}]}
    by_value = report(**fields).components.plausibility[0]
    by_size = report(**fields, rank_by="magnitude").components.plausibility[0]
    assert (by_value.iou, by_value.auprc) == (0.0, 1 / 8)
    assert (by_size.iou, by_size.auprc) == (1.0, 1.0)


def test_the_largest_values_stay_finite_and_larger_ones_are_refused() -> None:
    found = report(attributions=valued(*[1e300] * 8), k=0.5)
    assert found.evidence[0].value == 1e300
    for value in (1.1e300, float("nan"), float("inf")):
        with pytest.raises(ValidationError):
            report(attributions=valued(value))


def test_overlapping_spans_give_a_token_the_value_of_the_one_that_holds_most_of_it() -> None:
    spans = [
        {"start": 0, "end": 4, "value": 1.0},  # w0 whole, half of w1
        {"start": 3, "end": 5, "value": 2.0},  # w1 whole
        {"start": 3, "end": 5, "value": 9.0},  # as much of w1, later
    ]
    found = report(attributions=spans, k=0.25)
    assert [(item.start, item.end, item.value) for item in found.evidence] == [(0, 5, 1.5)]


def test_values_that_do_not_tell_tokens_apart_are_named() -> None:
    flat = report(attributions=valued(*[1.0] * 8), k=(0.5, 1.0))
    assert (
        sum("those that come first in the text count as inside" in one for one in flat.warnings)
        == 1
    )
    clear = report(attributions=valued(*range(8)), k=0.5)
    assert not any("come first in the text" in one for one in clear.warnings)


def test_two_explanations_without_a_common_rival_say_so() -> None:
    own = [
        {"name": name, "attributions": [{"start": start, "end": start + 2, "value": 1}]}
        for name, start in (("a", 0), ("b", 3))
    ]
    found = report(text="w1 w2", explanations=own, k=0.5)
    assert found.components.comparisons[0].win_rate_difference is None
    assert any("win rates is null" in warning for warning in found.warnings)


@pytest.mark.parametrize(("variant", "tokens"), [("robust", 29), ("reference", 28)])
def test_only_the_released_floor_is_off_by_rounding(variant: str, tokens: int) -> None:
    text = " ".join(map(word, range(100)))
    found = report(text=text, attribution="attention", k=0.29, variant=variant, draws=1)
    assert found.components.tests[0].tokens == tokens


def test_composed_characters_and_emoji_keep_their_offsets() -> None:
    text = "e\u0301te\u0301 🙂👩\u200d👩\u200d👧 w1 \U0001f1e9\U0001f1ea w2"
    start = text.index("👩")
    found = report(text=text, rationale=[{"start": start, "end": start + 1}])
    assert [item.text for item in found.evidence] == ["🙂👩\u200d👩\u200d👧"]  # the whole token


def test_spans_behind_what_the_model_reads_are_degenerate() -> None:
    with planted(longest=5), pytest.raises(DegenerateInput, match="contain no token"):
        score(IceRequest.model_validate({"text": TEXT, "rationale": [{"start": 21, "end": 23}]}))


def test_many_spans_take_no_long() -> None:
    text = " ".join(word(place % 10) for place in range(3_000))
    spans = [{"start": place, "end": place + 1, "value": 1.0} for place in range(len(text))]
    started = time.process_time()
    found = report(text=text, attributions=spans, draws=1)
    assert time.process_time() - started < 5
    assert found.eligible_tokens == 510


def test_a_model_that_answers_no_number_has_no_score() -> None:
    with planted(lambda ids: float("nan")):
        found = score(IceRequest(text=TEXT, attribution="attention"))
        assert found.score is None
        assert [one.code for one in found.reasons] == ["answer-unread"]
        with pytest.raises(DegenerateInput, match="not a number"):
            score(IceRequest(text=TEXT, attribution="attention", variant="paper"))
    with (
        planted(lambda ids: float("nan") if len(ids) < 10 else 0.5),
        pytest.raises(DegenerateInput, match="not a number"),
    ):
        score(IceRequest(text=TEXT, attribution="attention"))
