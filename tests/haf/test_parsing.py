"""Laws of lists and labels, whatever stands in them; no model is asked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.haf import parsing_reference
from services.haf.parsing import ParsedStatement, outline
from services.haf.report import Stage

STAGES = st.sampled_from(["justify", "internal", "external", "sufficiency", "necessity"])
FRAGMENTS = st.sampled_from(
    ["1.", "2)", "- ", "* ", "**Decision:**", "**Reason:**", "The text is toxic.", "not toxic",
     "Yes,", "No.", "additional reasons are required", "I cannot", "\n", "\n\n", ":", "It says so",
     "However, ", "\ufeff", "non-toxic", "Reason 1:", "🙂", "   - ", "because", "{", '"reasons": [',
     '"It says so"', "]", "}", "### ", "<li>", "</li>", "&amp;", "①", "→ ", "i.", "a)", "</think>"]
)  # fmt: skip
WRITING = st.one_of(st.text(max_size=60), st.lists(FRAGMENTS, max_size=15).map(" ".join))

TERMS = ("it", "calls", "all", "bakers", "lazy", "wants", "them", "gone", "from", "here", "mocks")
WORDS = st.lists(
    st.sampled_from(TERMS),
    min_size=4,
    max_size=9,
)
SENTENCES = WORDS.map(lambda words: " ".join(words).capitalize() + ".")
LISTS = st.lists(SENTENCES, min_size=2, max_size=5)

ROMAN = ("i", "ii", "iii", "iv", "v")
MARKS = {
    "1.": [f"{n}. " for n in range(1, 6)],
    "1)": [f"{n}) " for n in range(1, 6)],
    "(1)": [f"({n}) " for n in range(1, 6)],
    "[1]": [f"[{n}] " for n in range(1, 6)],
    "a)": [f"{letter}) " for letter in "abcde"],
    "(a)": [f"({letter}) " for letter in "abcde"],
    "A.": [f"{letter}. " for letter in "ABCDE"],
    "i.": [f"{number}. " for number in ROMAN],
    "i)": [f"{number}) " for number in ROMAN],
    "bold": [f"**{n}.** " for n in range(1, 6)],
    "Reason 1:": [f"Reason {n}: " for n in range(1, 6)],
    "bold reason": [f"**Reason {n}:** " for n in range(1, 6)],
    "heading": [f"### Reason {n}\n" for n in range(1, 6)],
    "item of HTML": ["<li>"] * 5,
    **{mark: [f"{mark} "] * 5 for mark in "-*+•–→●➤✓"},
    "circled": [f"{digit} " for digit in "①②③④⑤"],
}
INTROS = st.sampled_from(
    ["The text is toxic.\n", "The text is toxic:\n", "Decision: toxic\n\nReasons:\n",
     "**Decision:** The text is toxic.\n\n**Reasons:**\n\n", "## Decision\nToxic.\n\n## Reasons\n",
     "<think>\n1. It is Monday today, I think.\n</think>\n\nThe text is toxic.\n"]
)  # fmt: skip


def texts(statements: tuple[ParsedStatement, ...]) -> list[str]:
    return [each.text for each in statements]


@given(WRITING, STAGES)
def test_every_finding_is_cut_from_the_response_in_order(text: str, stage: Stage) -> None:
    found = outline(text)
    for each in found.reasons:
        assert each.span is not None
        assert text[slice(*each.span)] == each.text
    for sentences in (found.opening, found.prose):
        assert [each.span for each in sentences] == sorted(each.span for each in sentences)
    spans = [each.span for each in found.reasons]
    assert spans == sorted(spans)  # type: ignore[type-var]
    released = parsing_reference.parse_as_released(text, stage)
    for each in (*released.reasons, *([released.decision.statement] if released.decision else [])):
        assert each.span is None or text[slice(*each.span)] == each.text


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
@given(intro=INTROS, reasons=LISTS, gap=st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_the_marks_of_a_list_do_not_change_its_reasons(
    marks: list[str], intro: str, reasons: list[str], gap: str
) -> None:
    listed = [mark + reason for mark, reason in zip(marks, reasons, strict=False)]
    found = outline(intro + gap.join(listed))
    assert texts(found.reasons) == reasons
    assert "oxic" in found.whole


@given(reasons=LISTS)
def test_a_list_in_json_or_in_tags_has_the_same_reasons(reasons: list[str]) -> None:
    stated = {"label": "toxic", "reasons": reasons}
    objects = {"toxic": True, "reasons": [{"id": 1, "text": reason} for reason in reasons]}
    for written in [
        json.dumps(stated),
        json.dumps(stated, indent=2),
        f"Here is my answer:\n```json\n{json.dumps(stated)}\n```",
        json.dumps(stated)[:-2],  # cut off at the most tokens
        json.dumps(objects),
        "The text is toxic.\n" + "\n".join(f"<reason>{reason}</reason>" for reason in reasons),
        "<label>toxic</label>\n<ul>" + "".join(f"<li>{one}</li>" for one in reasons) + "</ul>",
    ]:
        found = outline(written)
        assert texts(found.reasons) == reasons
        assert "toxic" in found.whole


@given(reasons=LISTS, intro=INTROS)
def test_other_orders_give_the_same_reasons_in_that_order(reasons: list[str], intro: str) -> None:
    for order in (reasons, reasons[::-1]):
        assert texts(outline(intro + "\n".join(f"- {one}" for one in order)).reasons) == order


@given(reasons=LISTS, parts=st.lists(SENTENCES, min_size=1, max_size=3))
def test_a_list_inside_an_item_belongs_to_the_item(reasons: list[str], parts: list[str]) -> None:
    for indent in ("", "   "):
        inner = "".join(f"\n{indent}- {part}" for part in parts)
        listed = "\n".join(f"{n}. {one}{'' if n > 1 else inner}" for n, one in enumerate(reasons))
        assert len(outline(f"Toxic.\n{listed}").reasons) == len(reasons)


@given(reasons=LISTS)
def test_a_text_without_a_list_has_no_listed_reasons(reasons: list[str]) -> None:
    found = outline("The text is toxic. " + " ".join(reasons))
    assert found.reasons == ()
    assert len(found.prose) == len(reasons) + 1


@given(reasons=LISTS)
def test_a_decision_is_found_behind_its_label_wherever_it_stands(reasons: list[str]) -> None:
    listed = "\n".join(f"{n}. {one}" for n, one in enumerate(reasons, 1))
    for label in ("Decision: toxic", "**Final verdict:** toxic", "Answer:\ntoxic", "Label: toxic"):
        for written in (f"{label}\n{listed}", f"It has words.\n{listed}\n\n{label}"):
            found = outline(written)
            assert found.whole.endswith("toxic")
            assert texts(found.reasons) == reasons


def test_labels_headings_and_empty_items_are_no_reasons() -> None:
    written = (
        "The text is toxic.\n1. **Reasons:**\n2. None\n3. N/A\n4. Decision: the text is toxic\n"
        "5. Reason: it calls all bakers lazy"
    )
    assert texts(outline(written).reasons) == ["it calls all bakers lazy"]


def test_a_heading_takes_the_paragraph_below_it() -> None:
    written = "Toxic.\n1. **Blame:**\n\nIt blames bakers.\n\n2. **Threat:**\n\nIt wants them gone."
    assert [text[-9:] for text in texts(outline(written).reasons)] == ["s bakers.", "hem gone."]


def test_bold_beginnings_are_items_where_there_is_no_list() -> None:
    written = "The text is toxic.\n\n**Blame**: it blames all.\n\n**Threat**: it wants them gone."
    assert texts(outline(written).reasons) == [
        "**Blame**: it blames all.",
        "**Threat**: it wants them gone.",
    ]


def test_an_unfinished_thought_is_no_answer() -> None:
    assert outline("<think>\nIs it toxic? 1. It calls all bakers lazy.").opening == ()


def test_the_released_parser_loses_prose_and_hedges_inside_words() -> None:
    released = parsing_reference.parse_as_released("The text is toxic. It blames all.", "justify")
    assert not released.reasons
    bullets = "1. It calls bakers lazy.\n   - This is a sub-bullet.\n2. It wants all of them gone."
    released = parsing_reference.parse_as_released(bullets, "justify")
    assert [reason.text for reason in released.reasons] == [
        "It calls bakers lazy.\n   - This is a sub-bullet.",
        "It wants all of them gone.",
    ]
    contributes = "It contributes to hate, and so the text is toxic."
    assert parsing_reference.stance_as_released(contributes) == "maybe"
