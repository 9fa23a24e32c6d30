from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings

from services.gateway.pages.templates import STATIC, render, style_sheet
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.page import (
    TEMPLATE,
    HatexscoreView,
    design,
    labels_with,
    lens,
    lens_request,
    third_classes,
    view,
)
from services.hatexscore.report import (
    HatexscoreComponents,
    HatexscoreResult,
)
from services.hatexscore.vocabulary import SIDES
from shared.contracts.messages import Variant
from shared.contracts.redaction import without_text
from shared.reports.charts.engine import Caption
from shared.reports.charts.shapes import strip
from shared.reports.pages.page_text import MarkedText
from shared.reports.pages.report_design import CountBars
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, bound, by_hash, surely
from tests.hatexscore.test_metric import ask, requests

score = SERVICE.score

HOSTILE = '<script>alert("x")</script> \u202eabc\u202c lazy tourists 🙂 & <b>again</b>'


def scored(request: HatexscoreRequest) -> HatexscoreResult:
    with bound(FakeClassifier()):
        return score(request)


def shown(request: HatexscoreRequest | None, report: HatexscoreResult) -> str:
    job = {"id": "job_1", "metric": "hatexscore", "result": report.model_dump(mode="json")}
    return render(TEMPLATE, view=view(request, report), job=job, report=report)


def page(**fields: Any) -> str:
    request = ask(**fields)
    return shown(request, scored(request))


def marked(text: list[MarkedText] | None, kind: str) -> str:
    """The characters under marks of one kind."""
    return "".join(p.text for p in text or () if any(mark.kind == kind for mark in p.marks))


def why(made: HatexscoreView, symbol: str) -> str:
    return next(part.why for part in made.parts if part.symbol == symbol)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_any_result_has_a_page_and_its_texts_are_whole(request: HatexscoreRequest) -> None:
    report = scored(request)
    made = view(request, report)
    assert "".join(piece.text for piece in made.text or ()) == request.text
    assert "".join(piece.text for piece in made.explanation or ()) == request.explanation
    assert shown(request, report)


@pytest.mark.parametrize(("name", "variant"), [*product(CONTRACT.examples, get_args(Variant))])
def test_the_examples_have_a_page_with_every_component(name: str, variant: Variant) -> None:
    fields = CONTRACT.examples[name] | {"variant": variant}
    request = flat_request(HatexscoreRequest, fields)
    html = shown(request, scored(request))
    for symbol in HatexscoreComponents.model_fields:
        assert f'<span class="symbol">{symbol.upper()}</span>' in html
    assert " style=" not in html


def test_quotes_conclusion_groups_and_inventions_are_marked() -> None:
    request = ask(
        explanation='The words "lazy tourists" and "greedy lords" blame foreigners. '
        "Not about women. Conclusion: hateful."
    )
    report = scored(request)
    made = view(request, report)
    assert marked(made.text, "quote") == "lazy tourists"
    assert marked(made.explanation, "hallucinated") == "greedy lords"
    assert marked(made.explanation, "conclusion") == "Conclusion: hateful."
    for kind, counts in (("group", True), ("idle", False)):
        said = "".join(m.text for m in made.mentions if m.counts is counts)
        assert marked(made.explanation, kind) == said
    assert {mention.counts for mention in made.mentions} == {True, False}
    for mention in made.mentions:
        assert mention.reason in shown(request, report)


def test_the_conclusion_is_shown_with_what_read_it() -> None:
    for explanation, facts in [
        (
            "Conclusion: toxic.",
            ("Read by a field", "Probability that the decision was read correctly none"),
        ),
        (
            'The word "lazy tourists" insults foreigners. I find that the text is toxic.',
            ("Read by the trained reader", "Probability that the decision was read correctly 0.98"),
        ),
    ]:
        said = " ".join(re.sub("<[^>]*>", " ", page(explanation=explanation)).split())
        assert all(fact in said for fact in facts)


def test_what_is_no_quotation_of_the_text_is_listed_with_its_kind() -> None:
    html = page(explanation='It is "hate speech" and "lazy tourists" means "thieves". Hateful.')
    assert "the name of a label" in html
    assert "a paraphrase" in html


def test_a_model_that_disagrees_is_told_above_the_parts() -> None:
    request = ask(
        explanation='"lazy tourists" insults foreigners. Hateful.',
        decision="hateful",
        probabilities={"original": 0.2, "masked": 0.1},
    )
    html = shown(request, scored(request))
    banner, parts = (
        html.index("does not agree with the explained decision"),
        html.index(">QF</span>"),
    )
    assert banner < parts


def test_hostile_text_stays_text() -> None:
    html = page(
        text=HOSTILE,
        explanation=f'It says "lazy tourists" and "<img src=x onerror=y>". {HOSTILE}',
        policy={"<i>visitors</i>": ["<u>tourists</u>", "tourists"]},
    )
    for tag in ("<script", "<img", "<b>", "<i>visitors", "<u>"):
        assert tag not in html
    assert "&lt;script&gt;" in html
    assert "&lt;i&gt;visitors" in html


def test_every_text_of_the_caller_is_blurred() -> None:
    html = page(
        explanation='The words "lazy tourists" and "greedy lords", foreigners. Conclusion: hateful.'
    )
    bare = re.sub(r'<div class="sensitive block".*?</div>', "", html, flags=re.DOTALL)
    bare = re.sub(r'<bdi class="sensitive".*?</bdi>', "", bare)
    for words in ("lazy", "greedy", "foreigners", "bridge"):
        assert words not in bare


def test_the_masked_text_is_shown_with_its_masks() -> None:
    request = ask()
    made = view(request, scored(request))
    assert "".join(piece.text for piece in made.masked or ()).count("[MASK]") >= 1
    assert set(re.findall(r"\[MASK\]", marked(made.masked, "mask"))) == {"[MASK]"}


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    request = ask(explanation='It says "lazy tourists" of foreigners.')
    report = scored(request)
    html = shown(request, report)
    for symbol in ("QF", "CC"):
        assert why(view(request, report), symbol).startswith("the decision is unknown")
    assert html.count('title="no value"') >= 2


def test_a_missing_probability_is_named_as_the_reason() -> None:
    request = ask(probabilities={"original": 0.9, "masked": None})
    assert why(view(request, scored(request)), "QF").endswith("but one of them is missing")


@pytest.mark.parametrize("variant", get_args(Variant))
def test_a_result_without_its_text_still_shows_the_numbers(variant: Variant) -> None:
    request = ask(variant=variant, do_not_store_text=True)
    with bound(FakeClassifier()):
        report = score(request)
    kept = HatexscoreResult.model_validate(without_text(report, request))
    html = shown(None, kept)
    assert "The text was not kept." in html
    assert "The explanation was not kept." in html
    assert "The masked text was not kept." in html
    assert view(None, kept).parts[1].value == report.components.qf
    assert "lazy" not in html


def test_the_draws_are_a_strip() -> None:
    request = ask()
    with bound(FakeClassifier(surely)):
        report = score(request)
    made = view(request, report)
    assert made.strip is not None
    assert made.strip.svg.startswith("<svg")
    assert "style=" not in made.strip.svg
    assert "the quotes" in made.strip.svg
    assert report.control is not None
    assert f"{report.control.draws} random draws" in made.strip.summary


def test_without_a_control_the_page_says_so() -> None:
    html = page(explanation="Conclusion: hateful.")
    assert "Nothing was masked." in html


def points(svg: str) -> int:
    """How many dots are drawn."""
    root = ElementTree.fromstring(svg)  # noqa: S314 (our own picture)
    return sum(len(list(node)) for node in root.iter() if "mark-symbol" in node.get("class", ""))


@pytest.mark.parametrize("draws", [[0.0], [0.0] * 200, [0.1, 0.9, 0.9]])
@pytest.mark.parametrize("observed", [0.0, 0.5, 1.0])
def test_a_strip_shows_every_draw(draws: list[float], observed: float) -> None:
    svg = strip(draws, observed, Caption("t", "s", "u"), says="the quotes").svg
    assert points(svg) == len(draws)


def test_a_page_without_labels_of_the_caller_shows_them() -> None:
    request = ask(decision="hateful", probabilities={"original": 0.9, "masked": 0.2})
    assert not view(request, scored(request)).own_labels


def test_a_conclusion_that_could_not_be_read_is_no_missing_one() -> None:
    labels = {"compared": 5, "conflicting": 1, "no_conclusion": 4}
    report = {"scored": 10, "labels": labels, "parts": {"htc": {"undefined": 3}}}
    bar, *_ = design(report)
    assert isinstance(bar, CountBars)
    counted = dict(bar.bars)
    assert counted["state no decision"] == 1
    assert counted["could not be read"] == 3
    assert bar.whole == 10
    assert bar.filters["could not be read"] == ("facet", "conclusion=unread")


def test_the_sheet_styles_marks_of_texts_and_no_mark_of_a_chart() -> None:
    path = style_sheet("hatexscore.css")
    assert path is not None
    sheet = path.read_text("utf-8")
    rules = re.findall(r"^(\S*\.mark-\S+)", sheet, flags=re.MULTILINE)
    assert {rule.removeprefix("mark.mark-") for rule in rules} == {
        "quote", "conclusion", "group", "idle", "mask"
    }  # fmt: skip
    shared = (STATIC / "site.css").read_text("utf-8")
    assert "\nmark.mark-hallucinated {" in shared  # in opened lines of a batch, too


def test_a_model_that_disagrees_is_a_banner() -> None:
    html = page(decision="hateful", probabilities={"original": 0.3, "masked": 0.1})
    assert "does not agree with the explained decision" in html
    assert "does not agree with the explained decision" not in page(
        decision="hateful", probabilities={"original": 0.9, "masked": 0.1}
    )


def test_a_part_that_does_not_apply_is_not_called_undefined() -> None:
    request = ask(
        text="We lost the match again", decision="non-hateful",
        explanation='It says "lost the match". Conclusion: non-hateful.',
        probabilities={"original": 0.2, "masked": 0.1},
    )  # fmt: skip
    report = scored(request)
    assert "tgi" in report.not_applicable
    assert '<span class="none">does not apply</span>' in shown(request, report)
    told = report.model_copy(update={"not_applicable": {}})
    assert "does not apply" not in shown(request, told)


@pytest.mark.parametrize("word", ["offensive", "toxic", "TOXIC", "harassment", "abusive"])
def test_a_third_class_is_told_and_gets_labels_of_its_own(word: str) -> None:
    assert third_classes(["hate speech", word, "normal"]) == [word]
    alone = [word] if word in ("offensive", "abusive") else []  # the others also mean hateful
    assert third_classes([word, "normal"]) == third_classes(["hate speech", word]) == alone
    for decision, side in (("hateful", "hateful"), ("normal", "non-hateful"), (word, None)):
        sent: dict[str, Any] = {"text": "a b", "explanation": "", "decision": decision}
        sent["options"] = {"labels": labels_with(word)}
        classed = HatexscoreRequest.model_validate(sent).decision_class
        assert classed == side or (side is None and classed not in (None, *SIDES))


POST = "These lazy tourists are ruining our lovely old town again and again"


@pytest.mark.parametrize("probability", [surely, lambda text: by_hash(text) / 2])
@pytest.mark.parametrize("decision", ["hateful", "non-hateful"])
def test_the_lens_masks_its_words_alone_and_random_phrases_like_them(
    probability: Callable[[str], float], decision: str
) -> None:
    request = HatexscoreRequest(text=POST, explanation=f"It is {decision}.", decision=decision)
    with bound(FakeClassifier(probability)):
        report = score(request)
        for _ in range(2):  # the second time by the decision of the model
            body = lens_request(request, report, "ruining our")
            asked = HatexscoreRequest.model_validate(body)
            report = score(asked)
    answer = lens(asked, report)
    assert (answer.words, answer.label, answer.model) == ("ruining our", "hateful", "fake")
    assert re.match(r"\d+ of \d+ random phrases change the probability at least as", answer.why)
    assert re.split(r"(?:\[MASK\] ?)+", report.masked_text or "") == POST.split("ruining our ")
    assert answer.whole == pytest.approx(probability(POST))
    assert answer.without == pytest.approx(probability(report.masked_text or ""))
    assert 5 <= len(answer.others) <= 19
    assert all(0 <= other <= 1 for other in answer.others)


@pytest.mark.parametrize("words", ["not in it", POST, "are"])
def test_the_lens_says_why_it_has_no_answer(words: str) -> None:
    request = HatexscoreRequest(text=POST, explanation="It is hateful.", decision="hateful")
    with bound(FakeClassifier(surely)):
        body = lens_request(request, score(request), words)
        asked = HatexscoreRequest.model_validate(body)
        answer = lens(asked, score(asked))
    assert answer.without is None
    assert answer.why


def test_an_invented_quote_is_no_quote_of_the_post() -> None:
    said = 'It is hateful because of "visitors from far away".'
    request = HatexscoreRequest(text=POST, explanation=said, decision="hateful")
    with bound(FakeClassifier(surely)):
        report = score(request)
    assert "no control: the explanation quotes nothing that is in the post" in report.warnings


@pytest.mark.parametrize("words", ["not in it", ".*", ",,,"])
def test_the_lens_says_that_words_are_not_in_the_post(words: str) -> None:
    request = HatexscoreRequest(text=POST, explanation="It is hateful.", decision="hateful")
    with bound(FakeClassifier(surely)):
        body = lens_request(request, score(request), words)
        asked = HatexscoreRequest.model_validate(body)
        assert lens(asked, score(asked)).why == "These words are not in the post."
