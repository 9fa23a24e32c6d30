"""Reasoning before an answer and text that follows it are no part of it."""

from __future__ import annotations

from services.explanations.answer import MARKS, answer_of, own_length
from shared.contracts.calls import Completion

SAID = "The post is about a dog.\n\nConclusion: Non-hateful"
USER = "Decide.\n\n### Text:\n\n{text}\n\n### Answer:"


def test_a_chain_is_taken_off_however_it_is_marked() -> None:
    """A template may open it itself."""
    for opening, closing in MARKS:
        for opened in [True, False]:
            written = f"{opening if opened else ''}It may be hateful.{closing}\n{SAID}"
            answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
            assert (answer.text, answer.reasoning, answer.cut) == (
                SAID,
                "It may be hateful.",
                False,
            )


def test_a_chain_without_an_end_is_no_answer() -> None:
    for opening in [opening for opening, _ in MARKS]:
        answer = answer_of(Completion(text=f"{opening}It is", tokens=(), finish="length"))
        assert (answer.text, answer.cut) == ("", True)


def test_what_an_answer_goes_on_with_is_no_part_of_it() -> None:
    for more in [
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
    ]:
        assert (SAID + more)[: own_length(SAID + more, USER, ["A dog."])].strip() == SAID


def test_what_repeats_the_text_before_it_answers_is_whole() -> None:
    for answer in [
        SAID,
        f"### Text:\nA dog.\n\n{SAID}",
        f"My analysis.\n\n### Text:\n\nA dog.\n\n{SAID}",
        "The text: a dog. Users like it.",
        "Message: a dog.\nConclusion: Non-hateful",
        "Label: Non-hateful\n\nComment: it is about a dog.",
        "",
    ]:
        assert own_length(answer, USER, ["A dog."]) == len(answer)


def test_what_a_model_thinks_once_it_has_answered_changes_nothing() -> None:
    for opening, closing in MARKS[:-1]:
        for shape in [
            "{said} {opening}Or hateful?",
            "{said} {opening}Or hateful?{closing}\n",
            "{said}\n{closing}",
        ]:
            written = shape.format(said=SAID, opening=opening, closing=closing)
            answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
            assert (answer.cut, answer.reasoning) == (False, None)
            assert answer.text[: own_length(answer.text, USER, ["A dog."])].strip() == SAID


def test_chains_are_met_in_any_spelling_and_number() -> None:
    for mark in ["<THINK>{}</THINK>", "< think >{}</think >", "[think]{}[/think]"]:
        for chains in [1, 9]:
            for fence in ["", "```\n"]:
                written = fence + mark.format("Or hateful?") * chains + SAID
                answer = answer_of(Completion(text=written, tokens=(), finish="stop"))
                assert answer.text == SAID
                assert answer.reasoning is not None
                assert answer.reasoning.split("\n") == ["Or hateful?"] * chains
