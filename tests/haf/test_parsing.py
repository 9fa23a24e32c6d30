"""The robust parser on the shapes that responses have, and where the released one errs."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.haf import parsing, parsing_reference
from services.haf.parsing import read_verdict, stance_of
from services.haf.report import Answer, Stage, Stance

STAGES = st.sampled_from(["justify", "internal", "external", "sufficiency", "necessity"])
FRAGMENTS = st.sampled_from(
    ["1.", "2)", "- ", "* ", "**Decision:**", "**Reason:**", "The text is toxic.", "not toxic",
     "Yes,", "No.", "additional reasons are required", "I cannot", "\n", "\n\n", ":", "It says so",
     "However, ", "\ufeff", "non-toxic", "Reason 1:", "🙂", "   - ", "because"]
)  # fmt: skip
WRITING = st.one_of(st.text(max_size=60), st.lists(FRAGMENTS, max_size=15).map(" ".join))

FIRST = "It blames all neighbours at once."
SECOND = "It asks them to leave the town."


def found(response: str, stage: Stage = "justify") -> list[str]:
    return [reason.text for reason in parsing.parse_response(response, stage).reasons]


def answer(response: str) -> Answer | None:
    decision = parsing.parse_response(response, "internal").decision
    return decision.verdict.answer if decision and decision.verdict else None


@given(WRITING, STAGES)
def test_any_response_is_read_and_every_finding_stands_in_it(text: str, stage: Stage) -> None:
    for parse in (parsing.parse_response, parsing_reference.parse_as_released):
        parsed = parse(text, stage)
        said = [*parsed.reasons, *([parsed.decision.statement] if parsed.decision else [])]
        for each in said:
            assert each.span is None or text[each.span[0] : each.span[1]] == each.text
        if parsed.refusal:
            assert (parsed.decision, parsed.reasons) == (None, ())
    spans = [each.span for each in parsing.parse_response(text, stage).reasons]
    assert None not in spans
    assert spans == sorted(spans)  # type: ignore[type-var]


@pytest.mark.parametrize(
    "response",
    [
        f"The text is toxic.\n1. {FIRST}\n2. {SECOND}",
        f"Decision: toxic.\n\nReasons:\n\n1) {FIRST}\n\n2) {SECOND}\n\nIn short, it is toxic.",
        f"**Decision:** The text is toxic.\n\n**Reasons:**\n* {FIRST}\n* {SECOND}",
        f"Yes.\n- {FIRST}\n- {SECOND}",
        f"The text is toxic.\nReason 1: {FIRST}\nReason 2: {SECOND}",
        f"The text is toxic.\n(1) {FIRST}\n(2) {SECOND}",
    ],
)
def test_two_reasons_in_many_dresses(response: str) -> None:
    assert found(response) == [FIRST, SECOND]
    assert parsing.parse_response(response, "justify").stance == "toxic"


def test_bold_headings_are_reasons_where_there_is_no_list() -> None:
    response = f"The text is toxic.\n\n**Blame**: {FIRST}\n\n**Threat**: {SECOND}"
    assert found(response) == [f"**Blame**: {FIRST}", f"**Threat**: {SECOND}"]


def test_sub_items_belong_to_the_item_above() -> None:
    response = f"Toxic.\n1. **Blame**: it blames:\n   - the old\n   - the young\n2. {SECOND}"
    assert len(found(response)) == 2


def test_a_heading_alone_in_its_line_takes_the_next_paragraph() -> None:
    response = f"The text is toxic.\n1. **Blame:**\n\n{FIRST}\n\n2. **Threat:**\n\n{SECOND}"
    assert [text.endswith((FIRST, SECOND)) for text in found(response)] == [True, True]


@pytest.mark.parametrize(
    "response",
    [
        f"The text is toxic. {FIRST}",
        f"The text is toxic.\n\nReason: {FIRST}",
        f"Decision: The text is toxic\n\n**Reason:** {FIRST}",
    ],
)
def test_a_single_reason_in_prose_is_not_lost(response: str) -> None:
    assert found(response) == [FIRST]


def test_the_released_parser_loses_prose() -> None:
    assert not parsing_reference.parse_as_released(f"The text is toxic. {FIRST}", "justify").reasons


def test_later_prose_is_a_reason_only_if_it_gives_one() -> None:
    assert found(f"Yes, an additional reason is required. {FIRST}", "internal") == [FIRST]
    assert found("No additional reason is required. The reasons suffice.", "internal") == []
    assert found("No additional reason is required. It is toxic as it is.", "internal") == []
    turned = f"The reasons are sufficient. However, {FIRST.lower()}"
    assert found(turned, "internal") == [f"However, {FIRST.lower()}"]


def test_a_real_reason_may_mention_additional_reasons() -> None:
    text = "It gives readers additional reasons to fear their neighbours."
    response = f"Yes, more reasons are needed.\n1. {text}"
    assert found(response, "internal") == [text]
    assert not parsing_reference.parse_as_released(response, "internal").reasons


@pytest.mark.parametrize("nothing", ["None.", "N/A", "No additional reasons are required here."])
def test_none_is_no_reason(nothing: str) -> None:
    assert found(f"No additional reason is required.\n1. {nothing}", "internal") == []


@pytest.mark.parametrize(
    "response",
    [
        "I cannot generate text that is toxic. Is there anything else I can help you with?",
        "I'm sorry, but I can’t assist with that.",
        "I am unable to provide an answer to this request.",
        "I can't respond because the text is toxic.",
        "I can’t respond because the text is toxic.",
    ],
)
def test_refusals_are_told_apart(response: str) -> None:
    assert parsing.parse_response(response, "justify").refusal
    assert parsing.parse_response(response, "internal").refusal


@pytest.mark.parametrize(
    "response",
    [
        "I cannot find any additional reason in the text.",
        "I cannot identify anything toxic. The text is not toxic.",
        f"I cannot help but notice that the text is toxic.\n1. {FIRST}",
        "",
    ],
)
def test_not_every_cannot_refuses(response: str) -> None:
    assert not parsing.parse_response(response, "internal").refusal


@pytest.mark.parametrize(
    ("sentence", "stance"),
    [
        ("The TEXT is toxic.", "toxic"),
        ("Yes.", "toxic"),
        ("No, it is a plain report.", "non-toxic"),
        ("No, the text is not toxic.", "non-toxic"),
        ("The text isn't toxic.", "non-toxic"),
        ("I do not consider the given TEXT to be toxic.", "non-toxic"),
        ("This is a non-toxic text.", "non-toxic"),
        ("The text lacks toxicity.", "non-toxic"),
        ("The text may be toxic.", "maybe"),
        ("The text is mildly toxic.", "maybe"),
        ("The text is potentially toxic.", "maybe"),
        ("The text is toxic because some may not agree.", "toxic"),
        ("It contributes to hate, and so the text is toxic.", "toxic"),  # contri-BUT-es
        ("Somehow the mayor calls it toxic.", "toxic"),  # SOME-how, MAY-or
        ("I classify the TEXT as NEUTRAL.", "maybe"),
        ("A lovely day.", "unclear"),
        ("The text is non\u2011toxic.", "non-toxic"),  # a hyphen that does not break
        ("Without a doubt, the text is toxic.", "toxic"),
        ("There is no doubt that the text is toxic.", "toxic"),
        ("The text is not only toxic but hateful.", "toxic"),
        ("I cannot tell whether the text is toxic.", "unclear"),
    ],
)
def test_stances(sentence: str, stance: Stance) -> None:
    assert stance_of(sentence) == stance


LONG = 20_000


@pytest.mark.parametrize(
    "unit",
    [": ", "_", "* ", "need ", "more reason ", "not ", "identified ", "\n", "- a\n - b\n - c\n",
     "I cannot ", "Reason: \n", "1. abc def ghi\n", "**a b** c d e\n", "there is more "],
)  # fmt: skip
def test_no_response_takes_long_to_read(unit: str) -> None:
    response = "- " + (unit * LONG)[: LONG - 3] + "a"
    for parse in (parsing.parse_response, parsing_reference.parse_as_released):
        for text in (response, response[2:]):
            started = time.process_time()
            parse(text, "internal")
            assert time.process_time() - started < 10  # quadratic would be minutes


def test_windows_line_ends_part_paragraphs() -> None:
    response = f"Toxic.\r\n\r\n1. {FIRST}\r\n2. {SECOND}\r\n\r\nIn short, it is bad.\r\n"
    assert found(response) == [FIRST, SECOND]


def test_a_code_fence_is_no_part_of_a_reason() -> None:
    assert found(f"```\nThe text is toxic.\n1. {FIRST}\n2. {SECOND}\n```\n") == [FIRST, SECOND]


def test_what_a_reasoning_model_thinks_is_no_answer() -> None:
    thought = (
        f"<think>\nIs more needed? Yes, an additional reason is required.\n1. {FIRST}\n</think>"
    )
    assert answer(f"{thought}\n\nNo additional reason is required.") == "sufficient"
    assert found(f"{thought}\nNo additional reason is required.\n1. {SECOND}", "internal") == [
        SECOND
    ]


def test_a_repeated_question_decides_nothing() -> None:
    said = parsing.parse_response(f"Is the TEXT toxic? No.\n1. {FIRST}", "justify")
    assert said.stance == "non-toxic"
    assert answer("Is any additional reason required? No.") == "sufficient"


def test_the_released_parser_hedges_inside_words() -> None:
    assert (
        parsing_reference.stance_as_released("It contributes to hate, and so the text is toxic.")
        == "maybe"
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("No additional reason is required to justify why the TEXT is toxic.", "sufficient"),
        ("I do not believe any additional reason is required.", "sufficient"),
        ("Additional reasons aren't needed.", "sufficient"),
        ("The given reasons are already sufficient.", "sufficient"),
        ("There are no further reasons to add.", "sufficient"),
        ("Further explanation is unnecessary.", "sufficient"),
        ("**Additional Reason(s):** None.", "sufficient"),
        ("No.", "sufficient"),
        ("Yes.", "insufficient"),
        ("Yes, additional reason(s) are required to justify why the TEXT is toxic.",
         "insufficient"),
        ("The provided reason is not sufficient.", "insufficient"),
        ("The reasons are insufficient.", "insufficient"),
        ("There is an additional reason.", "insufficient"),
        ("The text needs more context.", "insufficient"),
        ("An additional reason might be required.", "doubtful"),
        ("Additional reasons are not strictly required.", "doubtful"),
        ("The reason is sufficient, but an additional reason is required.", "doubtful"),
        ("Yes, the text is toxic.", "irrelevant"),
        ("**Decision:** The TEXT is not toxic.", "irrelevant"),
        ("I agree with the given reason.", None),
    ],
)  # fmt: skip
def test_answers(sentence: str, expected: Answer | None) -> None:
    read = read_verdict(sentence)
    assert (read.answer if read else None) == expected


def test_certainty_is_the_share_of_the_cues_that_agree() -> None:
    sure = read_verdict("No additional reason is required.")
    torn = read_verdict(
        "No additional reason is required.", ["However, an additional reason is needed."]
    )
    against = read_verdict("Yes, the reasons are sufficient.")
    assert sure is not None
    assert torn is not None
    assert against is not None
    assert (sure.certainty, torn.certainty, against.certainty) == (1.0, 0.5, 0.5)
    assert torn.answer == "sufficient"


def test_the_decision_is_the_sentence_that_answers() -> None:
    said = "The TEXT is toxic. No additional reason is required to justify it."
    assert answer(said) == "sufficient"
    assert answer("Based on the given text, the decision is:\n\nYes, more reasons are needed.") == (
        "insufficient"
    )
    assert answer(f"The TEXT is toxic.\n\n1. {FIRST}") == "irrelevant"
    assert parsing.parse_response(f"1. {FIRST}", "internal").decision is None
