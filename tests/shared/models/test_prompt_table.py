"""The prompt table: placeholders, policies, verbalizers; what needs no tokenizer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.models.prompt_table import PLACEHOLDERS, PromptTable, clashes, filled, pieces

TWO = {"hateful": ("yes",), "non-hateful": ("no",)}


@given(text=st.text())
def test_a_users_text_is_never_expanded(text: str) -> None:
    made = filled("Post: {text} {{text}}", {"text": text})
    assert "".join(piece.text for piece in made) == f"Post: {text} {{text}}"
    assert [piece.text for piece in made if piece.is_foreign] == [text]


@given(st.lists(st.sampled_from([*(f"{{{name}}}" for name in PLACEHOLDERS), "{{", "}}", "x "])))
def test_pieces_are_the_template_again(parts: list[str]) -> None:
    again = "".join(
        f"{{{piece.inserted}}}" if piece.inserted else piece.text
        for piece in pieces("".join(parts))
    )
    assert again == "".join(parts).replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"user": "{post}"}, "{post} is no placeholder: {text}, {premise}"),
        ({"user": "a { b {text}"}, "a brace is written {{"),
        ({"user": "no text"}, "must hold {text}"),
        ({"system": "{text}"}, "`system` must not hold {text}"),
        ({"policy": "{hypothesis}"}, "`policy` must not hold {hypothesis}"),
        ({"policy": "{policy}"}, "cannot hold {policy}"),
        ({"user": "{policy} {text}"}, "neither `policy` nor `policy_file`"),
        ({"policy": "a", "policy_file": "b"}, "one of the two"),
        ({"style": "raw", "system": "s"}, "style `raw` has no `system`"),
        ({"draws": 3}, "`draws` needs thinking"),
        ({"verbalizers": {"hateful": ["yes"]}}, "at least 2"),
        ({"verbalizers": {"a": ["yes"], "b": []}}, "at least 1"),
        (
            {"verbalizers": {"a": ["yes"], "b": ["yes"]}},
            "tokens-clash: 'yes' of 'a' is 'yes'",
        ),
        ({"verbalizers": {"a": ["no"], "b": ["not so"]}}, "'no' of 'a' begins 'not so' of 'b'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PromptTable.model_validate({"verbalizers": TWO, **keys})
    assert reason in str(caught.value)


def test_strings_of_one_label_may_begin_alike() -> None:
    assert list(clashes({"a": ("yes", "yes sir"), "b": ("no",)})) == []
