"""Tokens by character offsets, and servers' tokens put back onto the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.haf.contract import HafResponse
from services.haf.parsing import ParsedStatement
from services.haf.transcript import from_completion, from_response, merge_tokens, tokens_of
from shared.contracts.errors import BadInput
from tests.haf.fake import completion

TEXT = "Yes. 1. It blames them.\n\n2. So"
REASON = ParsedStatement("It blames them.", (8, 23))


def test_every_token_that_touches_the_statement_counts() -> None:
    written = from_completion(completion(TEXT))
    said = tokens_of(written, REASON, whole_tokens=False)
    assert said.tokens == 3
    assert said.masked == (" blames them.", "It them.", "It blames")
    assert all(mask != REASON.text for mask in said.masked)


def test_the_reference_loses_what_reaches_outside() -> None:
    written = from_completion(completion(TEXT))
    said = tokens_of(written, REASON, whole_tokens=True)
    assert said.masked == ("It them.", "It blames")  # " It" begins before the statement


def test_a_statement_without_a_place_has_no_tokens() -> None:
    written = from_completion(completion(TEXT))
    assert tokens_of(written, ParsedStatement("elsewhere", None), whole_tokens=False).tokens == 0


def test_pieces_of_one_character_are_one_and_lose_no_surprise() -> None:
    pieces = merge_tokens([(0, 1, -0.5), (1, 1, -1.0), (1, 2, -2.0), (1, 2, -4.0), (2, 2, -8.0)])
    assert [(piece.start, piece.end, piece.nll, piece.tokens) for piece in pieces] == [
        (0, 1, 0.5, 1),
        (1, 2, 15.0, 4),
    ]


@given(st.text(max_size=30), st.integers(1, 4))
def test_chat_tokens_of_any_bytes_cover_the_text(text: str, width: int) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    parts = [raw[place : place + width] for place in range(0, len(raw), width)]
    content = [
        {"token": part.decode("utf-8", "replace"), "bytes": list(part), "logprob": -1.0}
        for part in parts
    ]
    sent = HafResponse.model_validate({"text": text, "logprobs": {"content": content}})
    written = from_response(sent, "/responses/justify")
    assert written.tokens == len(parts)
    assert "".join(text[piece.start : piece.end] for piece in written.pieces) == text
    assert sum(piece.nll for piece in written.pieces) == pytest.approx(len(parts))
    ends = [piece.end for piece in written.pieces]
    starts = [piece.start for piece in written.pieces]
    assert starts == [0, *ends[:-1]][: len(starts)]


def test_a_servers_end_mark_and_leading_blank_are_left_out() -> None:
    sent = HafResponse.model_validate(
        {
            "text": "Yes.",
            "logprobs": {
                "tokens": [" Yes", ".", "</s>"],
                "token_logprobs": [-0.1, -0.2, -0.3],
                "text_offset": [7, 11, 12],
                "top_logprobs": None,
            },
        }
    )
    written = from_response(sent, "")
    assert [(piece.start, piece.end, piece.nll) for piece in written.pieces] == [
        (0, 3, 0.1),
        (3, 4, 0.2),
    ]


def test_tokens_of_another_text_are_refused_with_their_place() -> None:
    sent = HafResponse.model_validate(
        {"text": "Yes.", "logprobs": {"tokens": ["No."], "token_logprobs": [-0.1]}}
    )
    with pytest.raises(BadInput, match="do not match the text") as caught:
        from_response(sent, "/responses/internal")
    assert caught.value.pointer == "/responses/internal/logprobs"


def test_a_response_may_come_without_log_probabilities() -> None:
    for text, lacks in (("The text is toxic.", True), ("  ", False)):  # nothing was written
        found = from_response(HafResponse.model_validate({"text": text}), "/responses/justify")
        assert (found.pieces, found.lacks_tokens) == ((), lacks)


@pytest.mark.parametrize(
    "broken",
    [
        {"text": "a", "tokens": [{"id": 1, "start": 0, "end": 2, "logprob": -1}]},
        {"text": "a", "tokens": [{"id": 1, "start": 1, "end": 0, "logprob": -1}]},
        {"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [0.5]}},
        {"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": []}},
        {"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [float("-inf")]}},
    ],
)
def test_impossible_tokens_are_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        HafResponse.model_validate(broken)


@pytest.mark.parametrize(
    ("logprobs", "place"),
    [
        ({"tokens": ["a"], "token_logprobs": [None]}, ("completion", "token_logprobs", 0)),
        ({"content": [{"token": "a", "logprob": None}]}, ("chat", "content", 0, "logprob")),
        ({"content": None}, ("chat", "content")),
    ],
)
def test_a_missing_log_probability_is_one_mistake_in_one_place(
    logprobs: dict[str, object], place: tuple[object, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        HafResponse.model_validate({"text": "a", "logprobs": logprobs})
    assert [error["loc"] for error in caught.value.errors()] == [("logprobs", *place)]


def test_tokens_out_of_order_are_refused() -> None:
    tokens = [
        {"id": 1, "start": 1, "end": 2, "logprob": -1},
        {"id": 1, "start": 0, "end": 1, "logprob": -1},
    ]
    with pytest.raises(BadInput, match="not in order"):
        from_response(HafResponse.model_validate({"text": "ab", "tokens": tokens}), "")


@pytest.mark.parametrize("spans", [[], [(0, 3)], [(3, 6)], [(0, 2), (4, 6)], [(0, 3), (3, 3)]])
def test_characters_without_a_token_are_refused_with_their_place(
    spans: list[tuple[int, int]],
) -> None:
    tokens = [{"id": 1, "start": start, "end": end, "logprob": -1} for start, end in spans]
    sent = HafResponse.model_validate({"text": "no yes", "tokens": tokens})
    with pytest.raises(BadInput, match="no token covers") as caught:
        from_response(sent, "/responses/internal")
    assert caught.value.pointer == "/responses/internal/tokens"


def test_blanks_need_no_token() -> None:
    tokens = [{"id": 1, "start": 1, "end": 3, "logprob": -1}]
    written = from_response(HafResponse.model_validate({"text": " no\n", "tokens": tokens}), "")
    assert written.tokens == 1
