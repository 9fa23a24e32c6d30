"""What the trained reader makes of responses: laws, and rates on texts that it was not taught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.haf import reading as haf_reading
from services.haf.parsing import ParsedResponse
from services.haf.reading import read_responses
from services.haf.report import Answer, Stage, Stance
from tests.haf.fake import ENOUGH, MORE, PLAIN, TOXIC
from tests.wording import Row, check, load

pytestmark = pytest.mark.usefixtures("_embedded_models")

ROWS = load(Path(__file__).parent / "data" / "responses.jsonl")
FIRST = "It blames all neighbours at once."
SECOND = "It asks them to leave the town."


def read(response: str, stage: Stage = "justify") -> ParsedResponse:
    return read_responses([(response, stage)])[0]


def reasons(response: str, stage: Stage = "justify") -> list[str]:
    return [each.text for each in read(response, stage).reasons]


def read_row(row: Row) -> Answer | Stance | bool | None:
    if row["reader"] == "stance":
        return read(row["text"]).stance
    found = read(row["text"], "internal")
    if row["reader"] == "refusal":
        return found.refusal
    return found.decision.verdict.answer if found.decision and found.decision.verdict else None


@pytest.mark.parametrize(
    ("reading", "floor"), [("stance", 0.9), ("answer", 0.7), ("refusal", 0.85)]
)
def test_the_share_that_is_read_right(reading: str, floor: float) -> None:
    rows = [row for row in ROWS if row["reader"] == reading]
    check(rows, read_row, floor=floor, inverted=1 - floor)


def test_almost_none_is_read_as_its_contrary() -> None:
    contraries = [{"toxic", "non-toxic"}, {"sufficient", "insufficient"}]
    turned = [row["text"] for row in ROWS if {row["expected"], read_row(row)} in contraries]
    assert len(turned) <= 1, turned


def test_company_changes_nothing() -> None:
    responses: list[tuple[str, Stage]] = [(row["text"], "justify") for row in ROWS[::3]]
    responses += [(text, "internal") for text in (TOXIC, PLAIN, ENOUGH, MORE, "")]
    together = read_responses(responses)
    assert together == [read_responses([one])[0] for one in responses]
    assert together == read_responses(responses[::-1])[::-1]


def test_what_surrounds_a_negation_does_not_turn_a_stance() -> None:
    for written in [
        "The text is not\ntoxic.",
        "The text is <b>not</b> toxic.",
        "It is **not** toxic.",
    ]:
        assert read(written).stance == "non-toxic"


def test_a_list_is_no_refusal_and_a_refusal_has_nothing_else() -> None:
    refusal = "I'm sorry, but I can't help with that."
    assert not read(f"{refusal}\n1. {FIRST}\n2. {SECOND}").refusal
    assert read(refusal) == ParsedResponse(None, "unclear", (), refusal=True)


def test_prose_gives_a_reason_a_paragraph() -> None:
    assert reasons(f"The text is toxic. {FIRST} {SECOND}") == [f"{FIRST} {SECOND}"]
    assert reasons(f"The text is toxic.\n\n{FIRST}\n\n{SECOND}") == [FIRST, SECOND]
    assert reasons(f"{SECOND} The text is therefore toxic.") == [SECOND]


def test_later_prose_is_a_reason_only_where_more_is_needed() -> None:
    assert reasons(f"Yes, an additional reason is required. {FIRST}", "internal") == [FIRST]
    assert reasons(f"No additional reason is required. {FIRST}", "internal") == []
    assert (
        reasons("An additional reason is required. The reasons are insufficient.", "internal") == []
    )


def test_the_decision_is_the_first_sentence_that_says_it() -> None:
    decision = read(f"Let us see. The text is toxic. {SECOND}").decision
    assert decision is not None
    assert decision.statement.text == "The text is toxic."
    later = read("The TEXT is toxic. No additional reason is required.", "internal").decision
    assert later is not None
    assert later.verdict is not None
    assert (later.statement.text, later.verdict.answer) == (
        "No additional reason is required.",
        "sufficient",
    )
    assert read(f"1. {FIRST}", "internal").decision is None


@pytest.mark.parametrize(
    ("decision", "stance"),
    [("toxic", "toxic"), ("Not toxic", "non-toxic"), ("hateful", "toxic"), ("maybe", "maybe")],
)
def test_fields_are_taken_and_not_read(
    decision: str, stance: Stance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(haf_reading, "ask", lambda _, texts: [] if not texts else 1 / 0)
    quotes = [f"quote {number}" for number in range(9)]
    fields = {"text": "It is rude.", "reasons": [FIRST, SECOND], "quotes": quotes}
    response = json.dumps({**fields, "target_groups": [], "decision": decision})
    found = read(response)
    assert found.stance == stance
    assert [one.text for one in found.reasons] == [FIRST, SECOND]
    assert found.decision is not None
    assert found.decision.statement.text == f'"decision": "{decision}"'
    for one in (*found.reasons, found.decision.statement):
        assert one.span is not None
        assert response[slice(*one.span)] == one.text
