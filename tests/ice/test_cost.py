"""What the gateway counts is never more than what the worker counts after tokenizing."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ice import model_calls
from services.ice.contract import CONTRACT, IceRequest
from services.ice.cost import MOST_ROWS, MOST_TOKENS
from services.ice.metric import SERVICE
from shared.contracts.errors import DegenerateInput, TooCostly
from shared.contracts.request_cost import TOKENS, Work, WorkLimit
from tests.flat_requests import flat_request, with_options
from tests.ice.planted import planted, word

score = SERVICE.score

READS = 512  # tokens of the planted judge
NO_LIMIT = WorkLimit(seconds=1e12, tokens_per_second=1)


@st.composite
def requests(draw: st.DrawFn) -> IceRequest:
    count = draw(st.sampled_from([1, 3, 12, 40, 600]))
    text = " ".join(map(word, range(count)))
    end = draw(st.integers(1, len(text)))
    fields: dict[str, Any] = {
        "text": text,
        "variant": draw(st.sampled_from(["robust", "paper", "reference"])),
        "draws": draw(st.sampled_from([1, 50, 10_000])),
        "infills": draw(st.integers(1, 32)),
        "infill_pool": ["w90 w91"],
        "operators": draw(
            st.lists(
                st.sampled_from(["delete", "mask", "mask_unk", "infill"]), min_size=1, unique=True
            )
        ),
        "k": draw(st.lists(st.floats(0.01, 1), min_size=1, max_size=10, unique=True)),
        "attribution": draw(st.sampled_from([None, "attention"])),
        "rationale": draw(st.sampled_from([None, [{"start": 0, "end": end}]])),
    }
    if not fields["attribution"] and not fields["rationale"]:
        fields["rationale"] = [{"start": end - 1, "end": len(text)}]
    return flat_request(IceRequest, fields)


def amount(works: Any, unit: str) -> float:
    return float(sum(work.amount for work in works if work.unit == unit and work.certain))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_nothing_is_refused_that_the_worker_would_have_done(request: IceRequest) -> None:
    counted: list[float] = []

    def spy(experiment: Any) -> None:
        works = model_calls.cost_of(experiment)
        counted.extend(amount(works, unit) for unit in (TOKENS, "rows"))
        raise TooCostly("far enough")

    with pytest.MonkeyPatch.context() as patch, planted():
        patch.setattr("services.ice.model_calls.check_cost", spy)
        with pytest.raises((TooCostly, DegenerateInput)):
            score(request)
    if counted:
        works = [work for work in CONTRACT.work(request, READS) if "attribution" not in str(work)]
        assert amount(works, TOKENS) <= counted[0] * (1 + 1e-9)
        assert amount(works, "rows") <= counted[1] * (1 + 1e-9)


WORDS = " ".join(map(word, range(600)))
FIVE = (0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"draws": 10_000, "k": FIVE, "operators": ("mask", "mask_unk"), "attribution": "lime"},
         "/options/draws"),
        ({"draws": 10_000, "operators": ("infill",), "infills": 32, "infill_pool": ("w90",),
          "null": "tokens", "rationale": [{"start": 0, "end": 30}]}, "/options/draws"),
        ({"attribution": [{"name": "lime", "samples": 10_000, "seed": n} for n in range(8)]},
         "/attribution"),
    ],
)  # fmt: skip
def test_what_the_worker_refuses_for_a_text_of_words_is_refused_at_the_door(
    fields: dict[str, Any], pointer: str
) -> None:
    asked = flat_request(IceRequest, {"text": WORDS, **fields})
    with planted() as judge, pytest.raises(TooCostly):
        score(asked)
    assert judge.calls == []
    with pytest.raises(TooCostly) as caught:
        NO_LIMIT.check(CONTRACT.work(asked, READS))
    assert caught.value.pointer == pointer
    assert "to at most" in caught.value.detail


@settings(deadline=None, max_examples=60)
@given(requests(), st.integers(1, 10_000), st.integers(1, 32), st.integers(0, 300))
def test_more_of_anything_is_never_less_work(
    request: IceRequest, draws: int, infills: int, words: int
) -> None:
    more = {
        "draws": max(request.most_draws, draws),
        "infills": max(request.options.infills, infills),
        "text": " ".join([request.text, *map(word, range(words))]),
    }
    for field, value in more.items():
        larger = (
            request.model_copy(update={field: value})
            if field == "text"
            else with_options(request, **{field: value})
        )
        before, after = (CONTRACT.work(one, READS) for one in (request, larger))
        for unit in (TOKENS, "rows"):
            assert amount(before, unit) <= amount(after, unit) * (1 + 1e-9)


def advised(detail: str) -> dict[str, int]:
    """field → the value that it has to come down to."""
    advice = detail.split(": lower ")[1].split(", or ")
    found = [re.fullmatch(r".*`(\w+)` to at most ([\d,]+)", one) for one in advice]
    return {one[1]: int(one[2].replace(",", "")) for one in found if one}


@pytest.mark.parametrize(("words", "seconds"), [(60, 5), (600, 60), (600, 1e12)])
@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"operators": ("infill", "mask", "delete"), "infills": 32, "infill_pool": ("w90",),
          "k": FIVE, "attribution": "attention"}, {"draws", "infills", "operators", "k"}),
        ({"operators": ("infill",), "infills": 32, "infill_pool": ("w90",), "k": (0.5, 0.4),
          "attribution": "attention"}, {"draws", "infills", "operators", "k"}),
        ({"operators": ("mask", "mask_unk", "mask_pad", "delete"), "k": FIVE,
          "attribution": "attention"}, {"draws", "operators", "k"}),
        ({"operators": ("infill", "mask"), "infills": 8, "infill_pool": ("w90",),
          "null": "tokens", "rationale": [{"start": 0, "end": 30}]},
         {"draws", "infills", "operators"}),
    ],
)  # fmt: skip
def test_every_number_that_is_named_passes_and_one_more_does_not(
    words: int, seconds: float, fields: dict[str, Any], named: set[str]
) -> None:
    asked = flat_request(IceRequest, {"text": " ".join(map(word, range(words))), "draws": 10_000,
                                       **fields})  # fmt: skip
    limit = WorkLimit(seconds=seconds, tokens_per_second=10_000)
    with pytest.raises(TooCostly) as caught:
        limit.check(CONTRACT.work(asked, READS))
    assert set(caught.value.pointers) >= {f"/options/{field}" for field in named}
    lowered = advised(caught.value.detail)
    assert "draws" in lowered
    assert set(lowered) <= named
    for field, value in lowered.items():
        given = getattr(asked.options, field)
        for count, fine in ((value, True), (value + 1, False)):
            options = [count] if isinstance(given, int) else combinations(given, count)
            others = (with_options(asked, **{field: option}) for option in options)
            assert all(limit.passes(CONTRACT.work(other, READS)) for other in others) is fine


def test_the_limits_are_the_worker_s() -> None:
    works = [work for work in CONTRACT.work(IceRequest(text=WORDS, attribution="lime"), READS)]
    assert {work.most for work in works if isinstance(work, Work)} == {MOST_ROWS, MOST_TOKENS}
