"""What must hold of any statement of reasons, and of the database's fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from services.sor import kernel
from services.sor.contract import CONTRACT, SorRequest
from services.sor.metric import SERVICE
from services.sor.report import ITEMS, SorItemName, SorResult
from shared.contracts.errors import Unavailable
from shared.contracts.problems import parse_strict, validation_problem
from shared.models.ports import bind
from tests.sor.fake import WordReader

pytestmark = pytest.mark.usefixtures("reader")

POST = "Two tickets for Saturday's final, 180 euros each instead of 60. Cash only!"
TICKETS: dict[str, Any] = CONTRACT.examples["a specific statement"]
FIELDS: dict[str, Any] = CONTRACT.examples["fields of the database"]


def scored(statement: str, text: str = POST, **more: Any) -> SorResult:
    return SERVICE.score(SorRequest(text=text, statement=statement, language="en", **more))


def of_fields(**changed: Any) -> SorResult:
    fields = {k: v for k, v in (FIELDS["fields"] | changed).items() if v is not None}
    return SERVICE.score(SorRequest.model_validate(FIELDS | {"fields": fields}))


def value(report: SorResult, name: SorItemName) -> float | None:
    return next(item.value for item in report.items if item.name == name)


unit = st.none() | st.floats(0, 1)


@given(unit, unit)
def test_the_harmonic_mean_lies_between_and_is_null_with_a_null(
    one: float | None, other: float | None
) -> None:
    found = kernel.harmonic(one, other)
    if one is None or other is None:
        assert found is None
        return
    assert found is not None
    assert min(one, other) - 1e-9 <= found <= max(one, other) + 1e-9
    assert found == kernel.harmonic(other, one)
    assert min(one, other) or found == 0


@given(st.integers(0, 3), st.integers(0, 30), st.integers(1, 9), st.floats(0, 9))
def test_specificity_is_bounded_and_rises(
    quotes: int, shared: int, enough: int, chance: float
) -> None:
    found = kernel.specificity(quotes, shared, enough, chance)
    assert 0 <= found <= 1
    assert kernel.specificity(quotes, shared + 1, enough, chance) >= found
    assert kernel.specificity(quotes + 1, shared, enough, chance) >= found
    assert kernel.specificity(quotes, shared, enough, chance + 1) <= found


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(min_size=1, max_size=200))
def test_any_text_is_read_or_said_to_be_unread(statement: str, post: str) -> None:
    """Words of a statement before it, so that it is English."""
    head = "We removed the post and you may appeal. "
    try:
        request = SorRequest(text=post, statement=head + statement, language="en")
    except ValidationError:  # half a surrogate pair
        return
    report = SERVICE.score(request)
    assert report.score is not None
    assert 0 <= report.score <= 1
    assert {item.name for item in report.items} == set(ITEMS)
    for one in report.evidence:
        assert one.start is not None
        assert request.documents()["statement"][one.start : one.end] == one.text


def test_more_words_disclose_no_less() -> None:
    """Sentences are read one by one: what is added takes nothing away."""
    sentences = TICKETS["statement"].split(". ")
    seen: set[str] = set()
    for count in range(2, len(sentences) + 1):
        report = scored(". ".join(sentences[:count]) + ".")
        there = {str(item) for item in ITEMS if item not in report.missing}
        assert seen <= there
        seen = there
    assert seen == set(ITEMS)


def test_ways_of_redress_are_told_apart() -> None:
    told = "You may go to an out-of-court dispute settlement body."
    assert scored(f"Hello from all of us. {told}").routes == ("out_of_court_settlement",)
    assert scored(f"Hello from all of us. {told} Or go to court.").routes == (
        "out_of_court_settlement",
        "court",
    )


def test_all_statements_of_a_batch_are_read_in_one_call(reader: WordReader) -> None:
    requests = [SorRequest.model_validate(CONTRACT.examples[name]) for name in CONTRACT.examples]
    together = SERVICE.score_batch(requests)
    assert len(reader.calls) == 1
    assert together == [SERVICE.score(one) for one in requests]
    assert [one.name for one in together[0].provenance.models] == ["embedded-reader"]


def test_without_the_reader_nothing_is_scored() -> None:
    bind(None)
    with pytest.raises(Unavailable):
        scored(TICKETS["statement"])


def test_the_post_of_a_rule_is_no_fact() -> None:
    """Words of a sentence that names a clause, and tells nothing of the post, are the rule's."""
    rule = "Section 4 of our Ticketing Policy forbids tickets for the final at 180 euros."
    fact = "Your listing asks 180 euros each for tickets of the final on Saturday."
    assert scored(f"We decided this today. {rule}").components.post_words == 0
    assert scored(f"We decided this today. {fact}").components.post_words >= 3


def test_a_clause_is_looked_up_in_the_policy() -> None:
    policy = "4.1 Prices are in euros. 4.2 No resale above face value."
    statement = TICKETS["statement"]
    assert scored(statement, policy=policy).ground_in_policy is True
    other = scored(statement, policy="1 Be kind. 2 No spam.")
    assert other.ground_in_policy is False
    assert "ground" in other.missing
    assert scored(statement).ground_in_policy is None


def test_a_quotation_that_stands_nowhere_is_evidence() -> None:
    report = scored("We removed your listing, since you wrote “I hate the referee” in it.")
    assert report.components.quotes_not_found == 1
    assert [one.text for one in report.evidence if one.kind == "quote_not_found"] == [
        "I hate the referee"
    ]


@pytest.mark.parametrize(
    ("quotation", "stands"),
    [
        ("Two tickets … Cash only", True),
        ("Two tickets [...] 180 euros each ... Cash only!", True),
        ("Cash only … Two tickets", False),
        ("Two tickets … on Sunday", False),
        ("not two tickets for Saturday's final", False),
        ("three tickets for Saturday's final, 180 euros", False),
    ],
)
def test_a_quotation_with_an_ellipsis_stands_where_its_parts_do(
    quotation: str, stands: bool
) -> None:
    """Also in a sentence about rules, where a quotation may be the name of one."""
    report = scored(f"We removed your post “{quotation}” under Section 4.2 of our Rules on resale.")
    assert (report.components.quotes_not_found == 0) is stands
    if stands:
        assert report.components.quotes == 1


def test_an_ellipsis_over_a_negation_quotes_nothing() -> None:
    statement = "We removed your post “Cats are … animals” today, it is about cats."
    report = scored(statement, text="Cats are not bad animals, dogs are animals.")
    assert (report.components.quotes, report.components.quotes_not_found) == (0, 1)


def test_quotations_are_compared_in_the_normalised_texts() -> None:
    post = "<p>Fish &amp; chips, <b>fresh</b>\nevery day, ﬁve euros</p>"
    statement = "We removed “fish & **chips**,\nfresh every day” and &quot;five euros&quot; today."
    report = scored(statement, text=post)
    assert (report.components.quotes, report.components.quotes_not_found) == (2, 0)
    for one in report.evidence:
        assert one.start is not None
        assert statement[one.start : one.end] == one.text


def test_offsets_count_code_points_and_quotes_are_found_through_typography() -> None:
    post = "😀😀 It’s the BEST   offer!"
    report = scored("We removed your listing: “it's the best offer” is untrue.", text=post)
    quote = next(one for one in report.evidence if one.kind == "quote")
    assert post[quote.post_start : quote.post_end] == "It’s the BEST   offer"


def test_too_short_a_statement_and_an_unread_language_have_no_score() -> None:
    short = SERVICE.score(SorRequest(text=POST, statement="Removed. Sorry."))
    assert short.score is None
    assert {one.code for one in short.reasons} == {"no-words"}
    french = "Votre annonce a été supprimée parce qu'elle enfreint les règles de notre service."
    unread = SERVICE.score(SorRequest(text=POST, statement=french))
    assert unread.score is None
    assert {one.code for one in unread.reasons} == {"no-rules"}


@pytest.mark.parametrize(
    ("field", "item"),
    [
        ("territorial_scope", "territorial_scope"),
        ("application_date", "duration"),
        ("automated_detection", "automated_detection"),
        ("automated_decision", "automated_decision"),
        ("illegal_content_legal_ground", "ground"),
        ("illegal_content_explanation", "explanation"),
        ("decision_visibility", "restriction"),
    ],
)
def test_each_field_of_the_database_discloses_its_item(field: str, item: SorItemName) -> None:
    whole, without = of_fields(), of_fields(**{field: None})
    assert value(whole, item) == 1
    assert without.missing == (item,)
    assert (without.score or 0) < (whole.score or 0)


def test_a_row_of_the_daily_dumps_is_read() -> None:
    """Lists are JSON strings there, an absent value is an empty cell, a date may have a zone."""
    lists = {"decision_visibility", "content_type", "territorial_scope"}
    row = {
        name: json.dumps(cell) if name in lists else cell for name, cell in FIELDS["fields"].items()
    }
    row |= {"decision_monetary": "", "end_date_visibility_restriction": ""}
    row |= {"application_date": "2026-03-02T08:00:00.5+01:00"}
    body = FIELDS | {"fields": row}
    assert (
        SERVICE.score(parse_strict(SorRequest, json.dumps(body), body)).score == of_fields().score
    )


@pytest.mark.parametrize(
    ("field", "cell", "says"),
    [
        ("application_date", "2026-13-45", "must be a date that exists"),
        ("application_date", "20260302", "must be a date that exists"),
        ("application_date", "2026-W10", "must be a date that exists"),
        ("automated_detection", True, "such as Yes or No"),
        ("territorial_scope", "[" * 100_000, "must be a list"),
    ],
)
def test_a_cell_that_is_wrong_is_refused_with_a_hint(field: str, cell: Any, says: str) -> None:
    body = FIELDS | {"fields": FIELDS["fields"] | {field: cell}}
    with pytest.raises(ValidationError) as raised:
        parse_strict(SorRequest, json.dumps(body), body)
    [fault] = validation_problem(raised.value, body)["errors"]
    assert says in fault["detail"]
    assert fault["pointer"] == f"#/fields/{field}"


def test_the_database_has_no_field_for_redress() -> None:
    report = of_fields()
    assert value(report, "redress") is None
    assert "redress" not in report.missing
    assert report.components.redress is None


def test_evidence_of_fields_has_the_fields_offsets() -> None:
    request = SorRequest.model_validate(FIELDS)
    assert request.fields is not None
    found = SERVICE.score(request).evidence
    assert found
    for one in found:
        assert one.start is not None
        assert getattr(request.fields, one.field)[one.start : one.end] == one.text


@pytest.mark.parametrize(
    "body",
    [
        {"text": POST},
        {"text": POST, "statement": "x", "fields": {"puid": "1"}},
        {"text": POST, "fields": {}},
        {"text": POST, "statement": "x", "variant": "paper"},
        {"text": POST, "statement": "x", "decision": "hateful"},
        {"text": POST, "fields": {"application_date": "tomorrow"}},
        {"text": "", "statement": "x"},
    ],
)
def test_what_cannot_be_read_is_refused(body: Any) -> None:
    with pytest.raises(ValidationError):
        SorRequest.model_validate(body)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_examples_have_a_verdict(name: str) -> None:
    report = SERVICE.score(SorRequest.model_validate(CONTRACT.examples[name]))
    assert report.verdict == ("problem_found" if name == "boilerplate" else "holds_up")


def test_fields_of_an_explanation_are_written_out() -> None:
    fields = {
        "text": "We removed your listing because the price is three times the face value.",
        "quotes": ["180 euros each instead of 60"],
        "decision": "removed",
    }
    request = SorRequest.model_validate({"text": POST, "statement": fields, "language": "en"})
    found = SERVICE.score(request)
    assert found.components.quotes == 1
    assert found == scored(request.documents()["statement"])
