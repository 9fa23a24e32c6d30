"""What one request may cost: rows come in calls of bounded size, and too many are refused."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from services.ice import model_calls
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from shared.contracts.errors import BadInput, TooCostly
from tests.flat_requests import flat_request
from tests.ice.planted import planted, word

score = SERVICE.score
score_batch = SERVICE.score_batch

LONG = " ".join(map(word, range(500)))


def request(text: str = LONG, **fields: Any) -> IceRequest:
    whole = {"text": text, "attribution": "attention", "aspects": ["sufficiency"], **fields}
    return flat_request(IceRequest, whole)


def test_a_long_request_comes_in_calls_of_bounded_size() -> None:
    asked = request(operators=["mask_unk", "delete"], draws=1_000)
    with planted() as judge:
        report = score(asked)
    a_row, kept = 502, 102
    assert len(judge.calls) == 7  # (1,002 rows of 502 tokens and of 102) / 100,000
    assert max(judge.calls) <= model_calls.TOKENS_A_CALL / kept
    assert judge.calls[0] == model_calls.TOKENS_A_CALL // a_row
    assert sum(judge.calls) == report.forward_rows - 1


@pytest.mark.parametrize("limit", [1, 700, 5_000])
def test_the_size_of_calls_changes_nothing(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(map(word, range(30)))
    some = [
        request(text, k=[0.1, 0.3], operators=["delete", "infill"], infill_pool=["w90 w91"]),
        request(text, seed=1, draws=400),
    ]
    with planted():
        whole = [report.model_dump_json() for report in score_batch(some)]
        monkeypatch.setattr(model_calls, "TOKENS_A_CALL", limit)
        assert [report.model_dump_json() for report in score_batch(some)] == whole


def test_rows_are_made_when_their_call_comes() -> None:
    """1,000 rows of 500 replaced tokens take 30 MB if they are made at once."""
    asked = request(operators=["mask_unk"], draws=1_000)
    with planted():
        tracemalloc.start()
        score(asked)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 20e6


def test_what_would_cost_too_much_is_refused_before_it_is_asked() -> None:
    asked = request(operators=["infill"], infill_pool=["w90 w91"], draws=10_000)
    with planted() as judge, pytest.raises(BadInput, match="20,080,000 tokens") as caught:
        score(asked)
    assert caught.value.pointer == "/options/draws"
    assert judge.calls == []


def test_few_subsets_cost_little_however_many_are_asked_for() -> None:
    short = " ".join(map(word, range(6)))
    with planted():
        report = score(request(short, k=[0.2, 0.5, 0.7], draws=10_000))
        both = score(
            request(short, k=[0.2, 0.5, 0.7], draws=10_000, aspects=["necessity", "sufficiency"])
        )
    assert report.forward_rows == 1 + 1 + 6 + 20 + 15
    assert both.forward_rows == 2**6  # the rests of some are others of other sizes


def test_short_rows_are_bounded_by_their_number() -> None:
    short = " ".join(map(word, range(30)))
    quoted = [
        {"name": f"e{number}", "rationale": [{"start": 0, "end": 6 * number + 12}]}
        for number in range(5)
    ]
    asked = request(short, explanations=quoted, k=[0.05, 0.3], draws=10_000, infills=8,
                    null="tokens", operators=["delete", "infill"], infill_pool=["w90"])  # fmt: skip
    with (
        planted() as judge,
        pytest.raises(TooCostly, match=r"rows, .* at most 400,000") as caught,
    ):
        score(asked)
    assert "lower `draws` to at most" in caught.value.detail
    assert judge.calls == []


def test_attributions_that_would_cost_too_much_are_refused_too() -> None:
    many = [{"name": "lime", "samples": 10_000, "seed": seed} for seed in range(4)]
    with planted() as judge:
        with pytest.raises(BadInput, match="20,080,000 tokens") as caught:
            score(request(attribution=many))
        assert caught.value.pointer == "/attribution"
        assert judge.calls == []
        assert score(request(attribution=many[:3], draws=1)).score is not None
