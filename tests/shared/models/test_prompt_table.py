"""The prompt table: placeholders, policies, verbalizers; what needs no tokenizer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.labels import CANONICAL, Task
from shared.contracts.prompt_table import (
    PLACEHOLDERS,
    PromptTable,
    fill_template,
    find_overlap,
    parse_template,
    prompt_turns,
)
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.labels import make_question

TWO = {"hateful": ("yes",), "non-hateful": ("no",)}


@given(text=st.text())
def test_a_users_text_is_never_expanded(text: str) -> None:
    made = fill_template("Post: {text} {{text}}", {"text": text})
    assert "".join(piece.text for piece in made) == f"Post: {text} {{text}}"
    assert [piece.text for piece in made if piece.is_of_example] == [text]


@given(st.lists(st.sampled_from([*(f"{{{name}}}" for name in PLACEHOLDERS), "{{", "}}", "x "])))
def test_pieces_are_the_template_again(parts: list[str]) -> None:
    again = "".join(
        f"{{{piece.inserted}}}" if piece.inserted else piece.text
        for piece in parse_template("".join(parts))
    )
    assert again == "".join(parts).replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"user": "{post}"}, "{post} is not a placeholder; use one of {text}, {premise}"),
        ({"user": "a { b {text}"}, "For a literal brace write {{"),
        ({"user": "no text"}, "must contain {text}"),
        ({"system": "{text}"}, "`system` must not contain {text}"),
        ({"policy": "{hypothesis}"}, "`policy` must not contain {hypothesis}"),
        ({"policy": "{policy}"}, "must not contain the placeholder {policy}"),
        ({"user": "{policy} {text}"}, "neither `policy` nor `policy_file`"),
        ({"policy": "a", "policy_file": "b"}, "keep only one of them"),
        ({"style": "raw", "system": "s"}, "leave out `system`"),
        ({"draws": 3}, "`draws` above 1 needs thinking"),
        ({"template_kwargs": {"chat_template": "a"}}, "chat_template cannot be set as a variable"),
        ({"style": "raw", "after": "a"}, "leave out `system` and `after`"),
        ({"after": "{policy}"}, "neither `policy` nor `policy_file`"),
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
    assert list(find_overlap({"a": ("yes", "yes sir"), "b": ("no",)})) == []


@pytest.mark.parametrize(
    ("labels", "question"),
    [
        (("hateful", "non-hateful"), "attack or demean"),
        (("Positive", "negative"), "What is its sentiment?"),
        (("entailment", "neutral", "contradiction"), "How does the premise relate"),
        (("spam", "ham"), "Which of these describes it?"),
    ],
)
def test_a_question_is_about_the_labels_that_are_asked_for(
    labels: tuple[str, ...], question: str
) -> None:
    table = PromptTable.model_validate({"verbalizers": {one: [f"{one}."] for one in labels}})
    [asked] = prompt_turns(table, None)
    assert question in asked.render({})
    [told] = prompt_turns(table, "free")
    assert "Which of these describes it?" in told.render({})
    [own] = prompt_turns(table, "hate")  # of a request's words, to a model of another task
    assert question in own.render({})


RAW = SimpleNamespace(chat_template=None, bos_token=None)  # of a tokenizer, what a prompt reads
TEXT = "A {labels} post with {{braces}}"
POLICY = {"user": "{policy} {text}", "policy": "Of {labels}."}


def served(keys: dict[str, Any], task: Task) -> ModelEntry:
    labels = CANONICAL[task][:2] or ("a", "b")
    words = dict(zip(labels, (["yes"], ["no"]), strict=True))
    prompt = {"style": "raw", "verbalizers": words, **keys}
    source = "openai:http://localhost:1/v1"
    return ModelEntry.model_validate(
        {"name": "m", "kind": "causal", "source": source, "task": task, "prompt": prompt}
    )


@pytest.mark.parametrize("keys", [{}, {"answer_prefix": " So:"}, POLICY])
@pytest.mark.parametrize("task", get_args(Task))
def test_a_model_is_asked_the_same_here_and_behind_a_server(
    keys: dict[str, Any], task: Task
) -> None:
    from services.inference.causal_prompt import LabelPrompt

    entry = served(keys, task)
    assert entry.prompt is not None
    pair = "Another {text}" if task == "nli" and not keys.get("user") else None
    example = Example(text=TEXT, text_pair=pair)
    here = LabelPrompt(entry.prompt, RAW, task).render(example).text
    assert here == make_question(example, entry).prompt.text
    assert TEXT in here
    assert "yes, no" in here


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"user": "{policy} {text}", "policy_file": "p.txt"}, "write the text under `policy`"),
        ({"user": "{premise} {hypothesis}"}, "needs pairs"),
    ],
)
def test_a_server_is_asked_nothing_with_a_gap_in_it(keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        make_question(Example(text=TEXT), served(keys, "hate"))
