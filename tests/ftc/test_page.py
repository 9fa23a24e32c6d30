"""FTC's page, of reports that the metric made."""

from __future__ import annotations

from typing import Any

import pytest

from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.page import TEMPLATE, FtcView, view
from services.ftc.report import FtcResult
from shared.contracts.messages import Report
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import significant
from tests.ftc.fake import Answer, FakeJudge, FakeWriter, always, bound, by_hash
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed

score = SERVICE.score

CONTRADICTION = {
    "premise": "Four friends play cards in the kitchen.",
    "hypothesis": "Four friends are playing chess in the kitchen.",
    "explanation": "The friends cannot be playing chess and playing cards at the same time.",
    "decision": "contradiction",
}
NEUTRAL = CONTRACT.examples["neutral"]


def knows_cards(premise: str, hypothesis: str) -> list[float]:
    return [0.9, 0.06, 0.04] if "cards" in hypothesis and premise else [0.1, 0.1, 0.8]


def scored(
    answer: Answer = by_hash, *, base: dict[str, Any] = CONTRADICTION, **fields: Any
) -> tuple[FtcRequest, FtcResult]:
    request = FtcRequest.model_validate({"language": "en", "null": "any", **base, **fields})
    with bound(FakeJudge(answer)):
        return request, score(request)


def shown(request: FtcRequest | None, report: FtcResult) -> tuple[FtcView, Parsed]:
    found = view(request, report)
    return found, parsed(TEMPLATE, found, report)


def said(report: Report) -> str:
    """What its checks say."""
    return " ".join(one.sentence for one in report.checks)


@pytest.mark.parametrize(
    ("answer", "tone", "words"),
    [
        (always(0), "not_tested", "The explanation's phrases beat 50 % of random phrases"),
        (
            always(2),
            "problem_found",
            "does not answer the counterfactuals as the explanation implies",
        ),
    ],
)
def test_a_model_that_ignores_the_words_is_not_praised(
    answer: Answer, tone: str, words: str
) -> None:
    _, report = scored(answer)
    assert report.verdict == tone
    assert words in said(report)


def test_the_counterfactual_is_a_word_diff_with_a_and_b() -> None:
    found, page = shown(*scored(knows_cards))
    (made,) = found.made
    assert [(one.how, one.text) for one in made.changes if one.how != "same"] == [
        ("deleted", "chess"),
        ("added", "cards"),
    ]
    assert "<del>" in page.html
    assert "<ins>" in page.html
    assert 'class="sensitive block difference" lang="en"' in page.html
    assert "[deleted] " in page.sensitive
    assert "[added] " in page.sensitive
    assert {"mark-a", "mark-b", "mark-replaced"} <= page.classes
    marked = {mark.kind for one in made.changes for piece in one.pieces for mark in piece.marks}
    assert {"b", "replaced"} <= marked


NOT_NUMBERS = {"statistic", "histogram", "kind", "exact", "satisfaction"}
NOT_ON_THE_PAGE = {"deciles", "overlap", "p_anti", "p_two_sided"}  # its test is one-sided


def test_every_number_of_the_report_is_on_the_page() -> None:
    _, report = made = scored(base=NEUTRAL)
    _, page = shown(*made)
    assert report.control is not None
    numbers = [*report.components.model_dump().values()]
    numbers += [report.control.null_win_rate, report.control.null_p_value]
    for name in ("always_entailment", "uniform", "unedited", "blank_premise"):
        numbers += getattr(report.control, name).model_dump().values()
    for one in report.counterfactuals:
        assert one.null is not None
        assert one.blank_premise is not None
        assert one.null.satisfaction is not None
        said = (one.target, one.answer, one.satisfaction, one.blank_premise, one.null.satisfaction)
        for block in said:
            numbers += block.model_dump().values()
        numbers += one.null.model_dump(exclude=NOT_NUMBERS | NOT_ON_THE_PAGE).values()
    missing = [number for number in numbers if significant(number) not in page.bare]
    assert missing == []
    assert str(report.extraction.rule) in page.bare
    assert str(report.extraction.transformation) in page.bare
    assert page.html.count("<svg") >= 4


def test_an_abstention_has_its_reason_and_no_picture() -> None:
    request, report = scored(explanation="Nothing.")
    _found, page = shown(request, report)
    assert report.verdict == "not_tested"
    assert report.abstained is not None
    assert report.abstained in page.bare
    assert "<figure" not in page.html
    assert report.original is not None
    assert significant(report.original.entailment) in page.bare


def test_without_draws_the_reason_stands_where_the_null_would() -> None:
    found, page = shown(*scored(draws=0))
    assert found.made[0].null is None
    assert found.made[0].no_null == "the request asks for no random draws"
    assert "the request asks for no random draws" in page.bare
    assert "no value" in page.bare  # null_win_rate and its p-value


@pytest.mark.parametrize("base", [CONTRADICTION, NEUTRAL, {**CONTRADICTION, "explanation": "No."}])
def test_what_was_not_kept_is_said(base: dict[str, Any]) -> None:
    request, report = scored(base=base, do_not_store_text=True)
    kept = FtcResult.model_validate(without_text(report, request))
    found, page = shown(None, kept)
    assert "The text was not kept" in page.bare
    assert page.sensitive.strip() == ""
    assert found.made == () or found.made[0].answers.svg != ""


def test_hostile_texts_are_texts() -> None:
    own = [{"kind": "substituted", "text": f"{HOSTILE} more"}]
    request, report = scored(
        premise=HOSTILE, hypothesis=HOSTILE, explanation=HOSTILE, counterfactuals=own
    )
    _, page = shown(request, report)
    assert is_only_blurred(page, HOSTILE)


def test_what_a_hostile_writer_wrote_is_text() -> None:
    request = FtcRequest.model_validate(CONTRADICTION | {"extractor": "llm", "writer": "lm"})
    with bound(FakeJudge(), FakeWriter(lambda _: HOSTILE)):
        report = score(request)
    _, page = shown(request, report)
    assert is_only_blurred(page, HOSTILE)


def test_a_distribution_that_was_sent_is_demanded_as_such() -> None:
    votes = {"substituted": {"entailment": 0.5, "neutral": 0.25, "contradiction": 0.25}}
    found, _ = shown(*scored(targets=votes))
    assert found.made[0].demanded == "entailment 0.50, neutral 0.25, contradiction 0.25"


def test_too_few_phrases_to_rule_out_chance_is_said_so() -> None:
    few = ["a dog", "a chair", "a tree", "a lamp", "a river", "a hat"]
    _, report = scored(knows_cards, null="phrases", substitutes=few)
    assert report.verdict == "not_tested"
    assert report.untested[0].reason == "too-few-rivals"


def test_any_phrases_stand_in_where_too_few_are_supported_as_much() -> None:
    _, report = scored(knows_cards, null="phrases")
    assert report.control is not None
    assert (report.control.null_p_value or 1) <= 0.05
    assert {made.null.kind for made in report.counterfactuals if made.null} == {"any"}
    assert report.verdict == "holds_up"
    assert "random phrases from other texts" in said(report)


def test_no_problem_is_found_without_a_comparison() -> None:
    _, report = scored(always(2), draws=0)
    assert (report.verdict, report.problems) == ("not_tested", ())
    assert report.untested[0].reason == "too-few-rivals"
