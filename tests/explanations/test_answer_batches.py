"""Batches of answers whose labels were written first: the card has how each was read at first."""

from __future__ import annotations

import pytest

from services.explanations.answer_parts import MARKS, answer_of, own_length
from shared.contracts.calls import Completion
from tests.explanations.answer_batches import read_batch

SAID = "The post is about a dog.\n\nConclusion: Non-hateful"
USER = "Decide.\n\n### Text:\n\n{text}\n\n### Answer:"


@pytest.mark.parametrize("batch", [f"answers_{number}" for number in range(12, 21)])
def test_answers_are_read_and_none_is_inverted(batch: str) -> None:
    found = read_batch(batch)
    assert not any(one.is_inverted for one in found)
    assert sum(one.is_right for one in found) >= 0.97 * len(found)
    assert sum(one.read.outcome == one.outcome for one in found) >= 0.97 * len(found)


@pytest.mark.parametrize(("opening", "closing"), MARKS)
@pytest.mark.parametrize("opened", [True, False])
def test_a_chain_is_taken_off_however_it_is_marked(
    opening: str, closing: str, opened: bool
) -> None:
    """A template may open it itself."""
    written = f"{opening if opened else ''}It may be hateful.{closing}\n{SAID}"
    answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
    assert (answer.text, answer.reasoning, answer.cut) == (SAID, "It may be hateful.", False)


@pytest.mark.parametrize("opening", [opening for opening, _ in MARKS])
def test_a_chain_without_an_end_is_no_answer(opening: str) -> None:
    answer = answer_of(Completion(text=f"{opening}It is", tokens=(), finish="length"))
    assert (answer.text, answer.cut) == ("", True)


@pytest.mark.parametrize(
    "more",
    [
        "\n\n### Text:\n\nAnother.\n\n### Answer:\nHateful",
        "\n### text: Another one. Hateful",
        "<|im_end|>\n<|im_start|>user\nAnd this?",
        "</s>Hateful",
        "\nUser: And this? Hateful",
        "\n\n### Instruction:\nGo on.",
        "\n\nMessage: Another one.\nConclusion: Hateful",
        "\n\n### Post 2\nAnother one.\nConclusion: Hateful",
        "\n2. Sentence: Another one.\nFinal conclusion: hateful",
        '\nHere is another one: "And this"\n**Conclusion:** Hateful',
    ],
)
def test_what_an_answer_goes_on_with_is_no_part_of_it(more: str) -> None:
    assert (SAID + more)[: own_length(SAID + more, USER, ["A dog."])].strip() == SAID


@pytest.mark.parametrize(
    "answer",
    [
        SAID,
        f"### Text:\nA dog.\n\n{SAID}",
        f"My analysis.\n\n### Text:\n\nA dog.\n\n{SAID}",
        "The text: a dog. Users like it.",
        "Message: a dog.\nConclusion: Non-hateful",
        "Label: Non-hateful\n\nComment: it is about a dog.",
        "",
    ],
)
def test_what_repeats_the_text_before_it_answers_is_whole(answer: str) -> None:
    assert own_length(answer, USER, ["A dog."]) == len(answer)


@pytest.mark.parametrize(("opening", "closing"), MARKS[:-1])
@pytest.mark.parametrize(
    "shape",
    ["{said} {opening}Or hateful?", "{said} {opening}Or hateful?{closing}\n", "{said}\n{closing}"],
)
def test_what_a_model_thinks_once_it_has_answered_changes_nothing(
    shape: str, opening: str, closing: str
) -> None:
    written = shape.format(said=SAID, opening=opening, closing=closing)
    answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
    assert (answer.cut, answer.reasoning) == (False, None)
    assert answer.text[: own_length(answer.text, USER, ["A dog."])].strip() == SAID


@pytest.mark.parametrize("mark", ["<THINK>{}</THINK>", "< think >{}</think >", "[think]{}[/think]"])
@pytest.mark.parametrize("chains", [1, 9])
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_chains_are_met_in_any_spelling_and_number(mark: str, chains: int, fence: str) -> None:
    written = fence + mark.format("Or hateful?") * chains + SAID
    answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
    assert answer.text == SAID
    assert answer.reasoning is not None
    assert answer.reasoning.split("\n") == ["Or hateful?"] * chains
