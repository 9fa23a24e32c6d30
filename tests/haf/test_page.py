"""HAF's page: it says what the report says, whole, and nothing of it as markup."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from services.gateway.pages.templates import render
from services.haf import page as haf_page
from services.haf.contract import CONTRACT, HafRequest
from services.haf.metric import SERVICE
from services.haf.page import MOST_STRETCHES, STRONGEST
from services.haf.report import (
    HafComponents,
    HafDecisionPart,
    HafReasonPart,
    HafResult,
    HafTokenValue,
)
from services.haf.verdict import METRICS
from shared.contracts.redaction import without_text
from shared.reports.charts.shapes import MOST, matrix
from shared.reports.pages.page_text import MarkedText, significant
from tests.gateway.pages.parsed import Parsed
from tests.haf.fake import ENOUGH, MORE, PLAIN, TOXIC, bound
from tests.haf.test_metric import WHOLE, ask, bring

score = SERVICE.score

HOSTILE = "<script>alert('x')</script>"
RIGHT_TO_LEFT = '\u202eשלום 👩‍👩‍👧 "quoted"'


class Page(Parsed):
    """With all words of a page in order."""

    words = ""

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        self.words += data


def scored(request: HafRequest) -> HafResult:
    with bound():
        return score(request)


def shown(request: HafRequest | None, report: HafResult) -> tuple[haf_page.HafView, Page, str]:
    view = haf_page.view(request, report)
    html = render(haf_page.TEMPLATE, view=view, job={}, report=report)
    return view, Page(html), html


def looked_at(request: HafRequest) -> tuple[haf_page.HafView, Page, str]:
    return shown(request, scored(request))


ASKED = [
    *(HafRequest.model_validate(each) for each in CONTRACT.examples.values()),
    bring(**WHOLE, extras=True, token_values=True),
    bring(PLAIN, individual=["The text is not toxic.", MORE], variant="paper"),
    bring(PLAIN, internal="I cannot help with that.", variant="reference"),
    bring("I cannot help with that."),
    bring(""),
    bring("A lovely day."),
    bring("The text is toxic.\n1. It calls them lazy."),
    ask(model="lm", samples=3, permute_reasons=2, extras=True, token_values=True),
]


@pytest.mark.parametrize("request_", ASKED)
@pytest.mark.parametrize("kept", [True, False])
def test_every_report_has_a_page_that_nests(request_: HafRequest, kept: bool) -> None:
    report = scored(request_)
    if not kept:
        report = HafResult.model_validate(without_text(report, request_))
    view, page, html = shown(request_ if kept else None, report)
    assert {2, 3} <= set(page.headings)
    assert 1 not in page.headings
    for metric in METRICS:
        assert metric.short in page.words
        assert metric.better in page.words
    for row in view.rows:
        assert bool(row.why) == (row.value is None)
        assert row.why in page.words
    assert len(html) < 300_000


def numbers(components: HafComponents | None) -> list[float]:
    found = components.model_dump().values() if components else ()
    return [value for value in found if value is not None]


def as_shown(value: float, digits: int = 3) -> str:
    return significant(value, digits)


def test_every_part_of_the_report_appears() -> None:
    report = scored(ask(model="lm", samples=3, permute_reasons=2, extras=True))
    view, page, _ = shown(ask(model="lm"), report)
    control, extras = report.control, report.extras
    repetition, permutation = report.repetition, report.permutation
    assert control is not None
    assert extras is not None
    assert repetition is not None
    assert permutation is not None
    values = numbers(report.components)
    values += numbers(control.uniform_relevance) + numbers(control.unweighted)
    for name in HafComponents.model_fields:
        spread = getattr(repetition, name)
        values += [x for x in (spread.mean, spread.sd, spread.low, spread.high) if x is not None]
    for change in (permutation.dis, permutation.uii):
        every = (change.original, *change.values, change.mean_change, change.largest_change)
        values += [x for x in every if x is not None]
    for stage in report.stages:
        values += [x for x in (stage.weight, stage.informativeness, stage.value) if x is not None]
        parts: list[HafReasonPart | HafDecisionPart] = [*stage.reasons]
        parts += [stage.decision] if stage.decision else []
        for part in parts:
            every = (part.confidence, part.confidence_uniform)
            values += [x for x in every if x is not None]
            assert part.text in page.words
        of_reasons = (y for x in stage.reasons for y in (x.value, x.similarity, x.diversity))
        values += [x for x in of_reasons if x is not None]
    values += [value for row in report.similarities for value in row]
    missing = [value for value in values if as_shown(value) not in page.words]
    assert missing == []
    dis_dpp = extras.dis_dpp
    assert dis_dpp is not None
    assert as_shown(dis_dpp, 4) in page.words
    assert "2, 1" in page.words  # the other order
    assert len(view.cards) == report.counts.reasons


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    _, page, _ = looked_at(bring(internal=MORE))
    assert "the response of its stage was not sent" in page.words
    assert "– no value" in page.words
    assert "This stage is missing: the response of its stage was not sent." in page.words


def test_the_path_has_its_stages_in_order_and_says_who_read_the_decision() -> None:
    view, page, _ = looked_at(bring(**WHOLE))
    assert [step.stage for step in view.steps] == [
        "justify", "internal", "external", "sufficiency"
    ]  # fmt: skip
    assert [said.about for said in view.steps[3].said] == [1, 2]
    internal = view.steps[1].said[0].decided
    external = view.steps[2].said[0].decided
    assert internal is not None
    assert external is not None
    assert (internal.answer, internal.tone) == ("more reasons are needed", "bad")
    assert (external.answer, external.tone) == ("no more reasons are needed", "good")
    assert "the trained reader" in page.words


def test_a_reason_that_is_missed_upholds_a_non_toxic_stance() -> None:
    view, page, _ = looked_at(bring(PLAIN, individual=[ENOUGH, MORE]))
    assert view.steps[3].stage == "necessity"
    tones = [said.decided and said.decided.tone for said in view.steps[3].said]
    assert tones == ["bad", "good"]
    assert "Without reason 1" in page.words


def test_refusals_and_irrelevant_answers_are_named() -> None:
    _, page, _ = looked_at(
        bring(PLAIN, internal="I cannot help with that.", individual=["It is not toxic.", MORE])
    )
    assert "refusal: the model does not answer" in page.words
    assert "irrelevant: the decision does not answer the question" in page.words


@pytest.mark.parametrize(
    ("justify", "verdict", "code"),
    [
        ("I cannot help with that.", "not_tested", "refused"),
        ("The text is toxic.", "problem_found", "no-reasons"),
        (TOXIC, "holds_up", "no-later-stage"),
    ],
)
def test_where_little_was_said_the_verdict_says_so(justify: str, verdict: str, code: str) -> None:
    report = scored(bring(justify))
    assert report.verdict == verdict
    assert [*report.problems, *(one.reason for one in report.untested)] == [code]


def test_tokens_are_marked_where_they_stand() -> None:
    request = bring(**WHOLE, token_values=True)
    report = scored(request)
    view, page, _ = shown(request, report)
    for card, part in zip(view.cards, report.stages[0].reasons, strict=True):
        assert "".join(piece.text for piece in card.text) == part.text
        assert kinds_by_character(card.text) == expected_kinds(part)
        assert not any(piece.label for piece in card.text)
        (most,) = [piece for piece in card.text if "mark-most" in piece.classes.split()]
        assert most.text.strip() == card.heaviest[0].text.strip()
        weights = [each.weight for each in card.heaviest]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) <= 1 + 1e-9
    assert "Send token_values" not in page.words
    assert "Send token_values" in looked_at(bring(**WHOLE))[1].words


def kinds_by_character(text: list[MarkedText]) -> list[set[str]]:
    """Of every character that is no blank, the marks of relevance and of probability."""
    return [
        {mark.kind for mark in piece.marks if mark.kind != "most"}
        for piece in text
        for character in piece.text
        if not character.isspace()
    ]


def expected_kinds(part: HafReasonPart) -> list[set[str]]:
    """The same, token by token, out of the report's numbers."""
    largest = max(token.relevance for token in part.token_values)
    found: dict[int, set[str]] = {}
    for token in part.token_values:
        weight = math.ceil(5 * (token.relevance / largest))
        unsure = sum(math.exp(token.logprob) < border for border in (0.9, 0.5, 0.1))
        kinds = {f"weight-{weight}" if weight else "", f"unsure-{unsure}" if unsure else ""} - {""}
        start = part.start or 0
        found |= dict.fromkeys(range(token.start - start, token.end - start), kinds)
    return [
        found.get(place, set())
        for place, character in enumerate(part.text)
        if not character.isspace()
    ]


def token_of(start: int, end: int, relevance: float, logprob: float = -0.01) -> HafTokenValue:
    return HafTokenValue(start=start, end=end, tokens=1, logprob=logprob, relevance=relevance)


def with_tokens(tokens: list[HafTokenValue], text: str, reasons: int = 1) -> HafResult:
    """A report whose reasons have this text and these tokens."""
    report = scored(bring())
    justify = report.stages[0]
    part = justify.reasons[0].model_copy(
        update={"text": text, "start": 0, "end": len(text), "token_values": tuple(tokens)}
    )
    stage = justify.model_copy(update={"response": text, "reasons": (part,) * reasons})
    return report.model_copy(update={"stages": (stage, *report.stages[1:])})


def test_neighbours_of_one_step_are_one_mark_and_only_the_maximum_is_outlined() -> None:
    tokens = [token_of(0, 3, 0.9), token_of(3, 7, 1.0), token_of(7, 11, 0.95), token_of(11, 15, 0)]
    view, page, html = shown(bring(), with_tokens(tokens, "one two thr fou"))
    said = [(piece.text, piece.classes) for piece in view.cards[0].text]
    assert said == [
        ("one", "mark-weight-5"),
        (" two", "mark-weight-5 mark-most"),
        (" thr", "mark-weight-5"),
        (" fou", ""),
    ]
    assert "relevance 1" not in html
    assert "The 3 most relevant of 4 tokens" in page.words


def test_very_many_tokens_stay_a_light_page_that_says_what_it_leaves_out() -> None:
    text = "word " * 10_000
    tokens = [token_of(5 * n, 5 * n + 5, (n % 7) / 7, -0.5 * (n % 3)) for n in range(10_000)]
    view, page, html = shown(bring(), with_tokens(tokens, text, reasons=2))
    assert [card.pale for card in view.cards] == [True, True]
    assert view.pale == 2
    assert "Statements without colours: 2." in page.words
    assert len(html) < 300_000
    assert all(len(card.heaviest) == STRONGEST for card in view.cards)


def test_a_page_has_colours_for_so_many_stretches_only() -> None:
    count = MOST_STRETCHES * 2 // 5
    text = "word " * count
    tokens = [token_of(5 * n, 5 * n + 5, 0.3 + (n % 2) / 2) for n in range(count)]
    view, _, html = shown(bring(), with_tokens(tokens, text, reasons=3))
    assert [card.pale for card in view.cards] == [False, False, True]
    assert html.count("<mark") <= MOST_STRETCHES + 20


def test_without_any_relevance_nothing_is_shaded() -> None:
    with bound(alike=lambda a, b: 1.0):
        report = score(bring(token_values=True))
    view, page, _ = shown(bring(), report)
    kinds = {mark.kind for piece in view.cards[0].text for mark in piece.marks}
    assert kinds <= {"unsure-1", "unsure-2", "unsure-3"}
    assert view.cards[0].heaviest == ()
    assert "the statement has no relevant token" in page.words


def test_the_page_says_how_often_the_model_was_asked() -> None:
    brought, asked = bring(**WHOLE), ask(model="lm")
    assert (
        "The request contains 5 responses, so no model was prompted." in looked_at(brought)[1].words
    )
    assert "The model was prompted for 5 responses" in looked_at(asked)[1].words


def test_the_legend_knows_what_a_decision_is_held_against() -> None:
    for target, said in (("label", True), ("sentence", False)):
        request = bring(**WHOLE, token_values=True, decision_target=target)
        assert (
            "how much the rest of the sentence differs from the label"
            in looked_at(request)[1].words
        ) == said


def test_hostile_text_is_text() -> None:
    justify = f"The text is toxic {HOSTILE}.\n1. It says {HOSTILE} to all.\n2. {RIGHT_TO_LEFT} it."
    request = bring(
        justify,
        internal=f"Yes, an additional reason is required.\n1. {HOSTILE} is said again.",
        text=f"{HOSTILE} {RIGHT_TO_LEFT}",
        token_values=True,
    )
    view, page, html = looked_at(request)
    assert "<script" not in html
    assert f"{HOSTILE} {RIGHT_TO_LEFT}" in page.words
    said = RIGHT_TO_LEFT.lstrip("\u202e")  # an invisible mark before a reason is no part of it
    assert "".join(piece.text for piece in view.cards[1].text).startswith(said)


def test_texts_stand_in_what_is_blurred_only() -> None:
    request = bring(**WHOLE)
    view, _, html = looked_at(request)
    sensitive = r'<(div|bdi) class="sensitive.*?</\1>'
    rest = re.sub(sensitive, "", html, flags=re.DOTALL)
    for card in view.cards:
        assert card.part.text not in rest
    assert request.text not in rest


def test_without_the_text_the_numbers_stay() -> None:
    request = bring(**WHOLE, token_values=True)
    report = scored(request)
    kept = HafResult.model_validate(without_text(report, request))
    view, page, _ = shown(None, kept)
    assert not view.kept
    assert "The text was not kept." in page.words
    assert "Neighbouring tokens" not in page.words
    for value in numbers(report.components):
        assert as_shown(value) in page.words
    assert all(card.heaviest == () for card in view.cards)


def test_a_result_without_similarities_has_a_page() -> None:
    request = bring(**WHOLE)
    wire: dict[str, Any] = scored(request).model_dump(mode="json")
    del wire["similarities"]
    view, page, _ = shown(request, HafResult.model_validate(wire))
    assert view.matrix is None
    assert "does not contain the similarities" in page.words


def test_the_matrix_has_a_number_in_every_cell_and_says_which_pair_is_most_alike() -> None:
    values = ((1.0, 0.125, 0.5), (0.125, 1.0, 0.75), (0.5, 0.75, 1.0))
    report = scored(bring(**WHOLE)).model_copy(update={"similarities": values})
    view = haf_page.view(None, report)
    assert view.matrix is not None
    assert view.alike == (
        "The most similar reasons are 2 and 3 (0.75). The least similar are 1 and 2 (0.12). "
        "The mean of all pairs is 0.46."
    )
    texts = re.findall(r">([0-9.]+)</text>", view.matrix.svg)
    assert sorted(texts) == sorted(
        [f"{value:.2f}" for row in values for value in row] + 2 * ["1", "2", "3"]
    )
    assert "style=" not in view.matrix.svg


def test_of_very_many_rows_the_first_are_drawn() -> None:
    size = MOST + 1
    values = [[1.0 if i == j else 0.25 for j in range(size)] for i in range(size)]
    chart = matrix(values, name="reason", title="", summary="")
    assert chart.svg.count(">0.25</text>") == MOST * (MOST - 1)
    report = scored(bring(**WHOLE)).model_copy(update={"similarities": values})
    assert f"the first {MOST} of {size} reasons" in shown(None, report)[1].words
