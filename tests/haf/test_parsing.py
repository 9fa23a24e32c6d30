"""The robust parser on the shapes that responses have, and where the released one errs."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from services.haf import parsing, parsing_reference
from services.haf.parsing import read_verdict, stance_of
from services.haf.report import Answer, Stage, Stance
from tests.wording import Row, check, load

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


def test_two_reasons_in_many_dresses() -> None:
    for response in [
        f"The text is toxic.\n1. {FIRST}\n2. {SECOND}",
        f"Decision: toxic.\n\nReasons:\n\n1) {FIRST}\n\n2) {SECOND}\n\nIn short, it is toxic.",
        f"**Decision:** The text is toxic.\n\n**Reasons:**\n* {FIRST}\n* {SECOND}",
        f"Yes.\n- {FIRST}\n- {SECOND}",
        f"The text is toxic.\nReason 1: {FIRST}\nReason 2: {SECOND}",
        f"The text is toxic.\n(1) {FIRST}\n(2) {SECOND}",
    ]:
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


def test_a_single_reason_in_prose_is_not_lost() -> None:
    for response in [
        f"The text is toxic. {FIRST}",
        f"The text is toxic.\n\nReason: {FIRST}",
        f"Decision: The text is toxic\n\n**Reason:** {FIRST}",
    ]:
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


def test_none_is_no_reason() -> None:
    for nothing in ["None.", "N/A", "No additional reasons are required here."]:
        assert found(f"No additional reason is required.\n1. {nothing}", "internal") == []


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


def read_response(row: Row) -> Answer | Stance | bool | None:
    if row["reader"] == "stance":
        return stance_of(row["text"])
    if row["reader"] == "answer":
        verdict = read_verdict(row["text"])
        return verdict.answer if verdict else None
    return parsing.parse_response(row["text"], "internal").refusal


def test_stances_answers_and_refusals_are_read() -> None:
    rows = load(Path(__file__).parent / "data" / "responses.jsonl")
    check(rows, read_response, floor=0.98)
    for row in rows:
        if row["expected"] is True:
            assert parsing.parse_response(row["text"], "justify").refusal
