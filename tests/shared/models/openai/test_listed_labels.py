"""P of labels from the tokens that a chat lists."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.judgement import Judgement
from shared.models.openai.labels import match_labels, parse_label, read_position
from shared.models.openai.protocol import ServerChoice
from tests.shared.models.openai.recorded import Recorded

WORDS = {"hateful": ("unsafe",), "non-hateful": ("safe",)}
Tops = dict[str, float]


def answer(*positions: Tops, finish: str = "stop", **message: Any) -> ServerChoice:
    """A chat whose tokens are the first of each position; values: probabilities."""
    content = [
        {
            "token": next(iter(tops)),
            "logprob": log(next(iter(tops.values()))),
            "top_logprobs": [{"token": t, "logprob": log(p)} for t, p in tops.items()],
        }
        for tops in positions
    ]
    text = "".join(next(iter(tops)) for tops in positions)
    return ServerChoice.model_validate(
        {
            "message": {"content": text, **message},
            "finish_reason": finish,
            "logprobs": {"content": content},
        }
    )


def code(found: Judgement) -> str | None:
    return found.unread.code if found.unread else None


def test_all_tokens_that_begin_a_label_count() -> None:
    tops = {"safe": 0.5, "Safe": 0.1, " un": 0.2, "UNSAFE": 0.1, "The": 0.05, "s": 0.02}
    found = read_position(answer(tops), WORDS)
    assert found.probabilities == pytest.approx((0.3 / 0.92, 0.62 / 0.92))
    assert found.mass == pytest.approx(0.92)
    assert (found.reading, found.uncertainty) == ("top-logprobs", 0)


def test_a_token_that_begins_two_labels_counts_for_none() -> None:
    words = {"hateful": ("yes",), "non-hateful": ("yet not",)}
    assert match_labels("ye", words) == ["hateful", "non-hateful"]
    assert code(read_position(answer({"ye": 0.9, "no": 0.1}), words)) == "answer-unread"


@pytest.mark.parametrize(("smallest", "expected"), [(1e-4, None), (0.05, "label-not-listed")])
def test_a_label_that_is_not_listed(smallest: float, expected: str | None) -> None:
    """Row 14 of the acceptance: five tokens listed, one label missing."""
    tops = {"safe": 0.6, "I": 0.1, "The": 0.09, "It": 0.08, "This": smallest}
    found = read_position(answer(tops), WORDS)
    assert code(found) == expected
    if expected is None:
        assert found.probabilities == (0.0, 1.0)
        assert found.uncertainty == pytest.approx(smallest / (0.6 + smallest))
        assert found.uncertainty <= 0.01


def test_no_label_listed() -> None:
    tops = {"I": 0.9, "The": 0.05, "It": 0.03, "This": 0.01, "Sorry": 0.005}
    assert code(read_position(answer(tops, {"safe": 1.0}), WORDS)) == "answer-unread"


def test_blanks_and_the_prefix_may_stand_before_the_label() -> None:
    label = {"safe": 0.7, "unsafe": 0.3}
    for before in (
        [{"\n\n": 1.0}],
        [{"\n\n": 0.99, "safe": 1e-6, "unsafe": 1e-7}],
        [{"Saf": 1.0}, {"ety": 1.0}, {":": 1.0}, {" ": 1.0}],
    ):
        found = read_position(answer(*before, label), WORDS, prefix="Safety:")
        assert found.probabilities == pytest.approx((0.3, 0.7)), before
    assert code(read_position(answer({"Well": 1.0}, {",": 1.0}, label), WORDS)) == "answer-unread"


def test_what_a_label_seems_to_be_in_the_middle_of_reasoning_does_not_count() -> None:
    for name in ("vllm/0.33/reasoning", "sglang/0.5.23/reasoning", "ollama/0.13/think"):
        _, _, body = Recorded(name).answer("/v1/chat/completions", {}, {})
        found = read_position(ServerChoice.model_validate(body["choices"][0]), WORDS)
        assert found.probabilities == pytest.approx((0.05 / 0.99, 0.94 / 0.99)), name


def test_an_answer_that_reasoning_cut() -> None:
    _, _, body = Recorded("vllm/0.33/reasoning_cut").answer("/v1/chat/completions", {}, {})
    found = read_position(ServerChoice.model_validate(body["choices"][0]), WORDS)
    assert code(found) == "answer-cut-by-reasoning"


def test_no_log_probabilities() -> None:
    bare = ServerChoice.model_validate({"message": {"content": "safe"}, "finish_reason": "stop"})
    assert code(read_position(bare, WORDS)) == "no-logprobs"


def test_low_mass_is_seen_and_next_to_none_is_null() -> None:
    low = read_position(answer({"I": 0.7, "safe": 0.2, "unsafe": 0.1}), WORDS)
    assert low.low_mass
    assert low.probabilities == pytest.approx((1 / 3, 2 / 3))
    none = read_position(answer({"I": 0.99, "safe": 0.004, "unsafe": 0.004}), WORDS)
    assert code(none) == "answer-unread"
    assert none.mass == pytest.approx(0.008)


@given(st.floats(0.02, 0.9), st.floats(0.001, 0.09), st.floats(1e-7, 0.0009))
def test_the_true_p_is_within_the_uncertainty(found: float, rest: float, hidden: float) -> None:
    """Whatever the unlisted label's probability is, up to the smallest that is listed."""
    listed = read_position(answer({"safe": found, "I": rest, "The": 0.0009}), WORDS)
    if listed.probabilities is not None:
        truth = hidden / (hidden + found)
        assert abs(truth - listed.probabilities[0]) <= listed.uncertainty + 1e-12


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("Safe.", "non-hateful"),
        (" **unsafe**\nS10", "hateful"),
        ("Safety: unsafe", "hateful"),
        ("safely said", None),
        ("", None),
        ("I think it is safe", None),
    ],
)
def test_a_vote_is_a_whole_word_at_the_beginning(said: str, label: str | None) -> None:
    assert parse_label(said, WORDS, "Safety:") == label
