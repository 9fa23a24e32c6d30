"""A number only where rules read the explanation and the model learned the text's language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from bench.language import DATA, FILES, foreign, labelled
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.page import view
from services.hatexscore.report import HatexscoreResult
from services.worker import local
from shared.contracts.messages import Variant
from shared.models.catalogue.catalogue import load_catalogue
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, binding, bound, surely

score = SERVICE.score
VARIANTS: tuple[Variant, ...] = get_args(Variant)
ROOT = Path(__file__).parents[2]

SWEDISH = {
    "text": "De här utlänningarna förstör hela vår fina gamla stad, säger jag er.",
    "explanation": 'Inlägget säger "förstör hela vår fina gamla stad" och angriper därmed '
    "utlänningar som grupp. Slutsats: texten är hatisk.",
    "decision": "hateful",
}
ENGLISH = {
    "text": "The old bridge near our village was closed by lazy tourists again",
    "explanation": 'It says "lazy tourists", blaming foreigners for it. Conclusion: hateful.',
    "decision": "hateful",
}

EXPLAINED = {
    "text": SWEDISH["text"],
    "explanation": 'It says "fina gamla stad", blaming foreigners for it. Conclusion: hateful.',
    "decision": "hateful",
}


def ask(kind: dict[str, Any], **more: Any) -> HatexscoreRequest:
    return flat_request(HatexscoreRequest, {**kind, **more})


def codes(report: HatexscoreResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reason in report.reasons:
        found.setdefault(reason.component, []).append(reason.code)
    return found


def english(**more: Any) -> FakeClassifier:
    return FakeClassifier(**{"languages": ("en",), "hateful": surely, **more})


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_swedish_post_with_a_swedish_explanation_has_no_number(variant: Variant) -> None:
    with bound(english()) as model:
        report = score(ask(SWEDISH, variant=variant))
    assert model.calls == []
    parts = report.components
    assert (report.score, parts.htc, parts.qf, parts.tgi, parts.cc) == (None,) * 5
    both = ["no-rules", "untrained-language"]
    assert codes(report) == {
        "htc": ["no-rules"],
        "qf": ["untrained-language"],
        "tgi": ["no-rules"],
        "cc": both,
        "score": both,
    }
    assert (report.language, report.explanation_language) == ("sv", "sv")
    assert report.languages is not None
    assert report.languages.explanation is not None
    assert report.languages.text.by == report.languages.explanation.by == "model"
    assert {reason.detail for reason in report.reasons} <= set(report.warnings)
    assert (report.conclusion, report.stated_decision, report.groups) == (None, None, ())


def test_a_model_that_learned_it_is_asked() -> None:
    with bound(english(languages=("sv", "en"))) as model:
        report = score(ask(SWEDISH))
    assert model.calls
    assert report.components.qf is not None
    assert codes(report)["score"] == ["no-rules"]


@pytest.mark.parametrize("sent", ["auto", "sv"])
def test_the_language_that_is_sent_is_that_of_the_post(sent: str) -> None:
    with bound(english()):
        why = EXPLAINED["explanation"] + " The author wants them to leave the town."
        report = score(ask(EXPLAINED, explanation=why, language=sent))
        believed = score(ask(ENGLISH, explanation="Hateful, yes.", language=sent))
    assert (report.language, report.explanation_language, report.components.htc) == ("sv", "en", 1)
    assert believed.explanation_language == ("sv" if sent == "sv" else "en")


def test_an_english_explanation_of_a_swedish_post_is_read() -> None:
    with bound(english()):
        report = score(ask(EXPLAINED))
    assert report.components.htc == 1
    assert codes(report) == {name: ["untrained-language"] for name in ("qf", "cc", "score")}


def test_accepting_computes_with_a_warning_and_a_mark() -> None:
    with bound(english()):
        report = score(ask(EXPLAINED, accept_untrained_languages=True))
    assert report.score is not None
    assert report.reasons == ()
    assert any("language is Swedish (sv)" in warning for warning in report.warnings)
    assert report.provenance.parameters["accept_untrained_languages"] is True


def test_a_model_that_states_nothing_is_asked_with_a_warning() -> None:
    with bound(english(languages=())):
        report = score(ask(EXPLAINED))
    assert report.components.qf is not None
    assert any(warning.startswith("languages-not-stated") for warning in report.warnings)


@pytest.mark.parametrize(
    ("languages", "asked"), [(("en",), True), (("de",), False), (("*",), True)]
)
def test_an_unrecognised_text_is_assumed_to_be_in_the_language_of_its_explanation(
    languages: tuple[str, ...], asked: bool
) -> None:
    with bound(english(languages=languages)):
        report = score(ask(ENGLISH, text="lazy tourists"))
    assert report.languages is not None
    assert (report.language, report.languages.text.by) == ("en", "assumed")
    assert any(warning.startswith("language-assumed") for warning in report.warnings)
    assert report.components.htc == 1
    assert (report.components.qf is not None) is asked
    assert codes(report).get("qf") == (None if asked else ["untrained-language"])


@pytest.mark.parametrize(
    ("text", "languages", "language"),
    [("Go home", ("en",), "en"), ("Go home", ("en", "de"), "und"), ("иди", ("en",), "und")],
)
def test_else_it_is_assumed_to_be_the_only_one_that_the_judge_learned(
    text: str, languages: tuple[str, ...], language: str
) -> None:
    with bound(english(languages=languages)):
        report = score(ask(ENGLISH, text=text, explanation="Label: hateful"))
    assert (report.language, report.score is None) == (language, text == "иди")
    assert any(said.startswith("language-assumed") for said in report.warnings) is (
        language == "en"
    )


def test_a_short_explanation_follows_its_text_and_no_text_nothing() -> None:
    with bound(english()):
        followed = score(ask(ENGLISH, explanation="Conclusion: hateful."))
        alone = score(ask(ENGLISH, text="Go home", explanation="Conclusion: odd."))
        labelled = score(ask(ENGLISH, text="Go home", explanation="Conclusion: hateful."))
        told = score(ask(ENGLISH, text="Go home", explanation="It is hateful.", language="en-GB"))
    assert (followed.components.htc, followed.explanation_language) == (1, "en")
    assert (alone.components.htc, alone.explanation_language) == (0, "en")
    assert (labelled.components.htc, labelled.language, labelled.score) == (1, "en", told.score)
    assert (told.components.htc, told.language, told.score is None) == (1, "en", False)


def test_probabilities_that_are_sent_are_believed_in_any_language() -> None:
    sent = {"original": 0.9, "masked": 0.1}
    with bound(english()):
        report = score(ask(SWEDISH, probabilities=sent))
    assert report.components.qf == pytest.approx(0.8)
    assert codes(report)["score"] == ["no-rules"]


def test_a_part_without_weight_has_no_say_in_the_score() -> None:
    weights = {"htc": 0, "tgi": 0, "cc": 0}
    with bound(english(languages=("sv",))):
        report = score(ask(SWEDISH, weights=weights))
    assert report.score == report.components.qf
    assert "score" not in codes(report)


def test_every_null_has_a_reason_and_nothing_else_has_one() -> None:
    with bound(english()):
        changes: tuple[dict[str, Any], ...] = (
            {}, SWEDISH, {"decision": None}, {"explanation": "Nobody knows."}
        )  # fmt: skip
        for change in changes:
            report = score(ask({**ENGLISH, **change}))
            values = {**dict(report.components), "score": report.score}
            assert set(codes(report)) == {name for name, value in values.items() if value is None}


def test_the_page_says_which_language_stands_in_the_way() -> None:
    request = ask(SWEDISH)
    with bound(english()):
        shown = view(request, score(request))
    assert all("language is Swedish (sv)" in part.why for part in shown.parts)


WHOLE = [pytest.mark.nightly, pytest.mark.timeout(1_800)]


@pytest.fixture
def embedded() -> Iterator[None]:
    with binding(local(load_catalogue(ROOT / "models.toml"))):
        yield


@pytest.mark.usefixtures("embedded")
def test_of_a_dutch_explanation_the_decision_is_read_and_the_groups_are_not() -> None:
    explanation = (
        "De post klaagt over toeristen, maar valt geen groep aan: dit is niet haatdragend."
    )
    report = score(ask(ENGLISH, explanation=explanation, decision="non-hateful"))
    assert (report.explanation_language, report.stated_decision) == ("nl", "non-hateful")
    assert (report.components.htc, codes(report)["tgi"]) == (1, ["no-rules"])


@pytest.mark.usefixtures("embedded")
@pytest.mark.skipif(
    not all((DATA / file).exists() for file in FILES), reason="../shared/data is absent"
)
@pytest.mark.parametrize(("step", "count"), [(39, 16), pytest.param(1, 621, marks=WHOLE)])
def test_the_embedded_model_gives_no_number_to_foreign_posts(step: int, count: int) -> None:
    texts = [text for code, text in labelled() if code in ("ar", "ko")]  # none is ever printed
    reports = foreign(texts[::step])
    assert len(reports) == count
    unrecognised = [one for one in reports if one.language in ("en", "und")]
    assert len(unrecognised) <= 0.02 * count  # with a warning
    for report in (one for one in reports if one not in unrecognised):
        parts = report.components
        assert (report.score, parts.qf, parts.cc) == (None, None, None)
        assert codes(report)["qf"][0] in ("untrained-language", "language-undecided")


@pytest.mark.usefixtures("embedded")
def test_the_example_in_a_language_that_the_judge_lacks_says_why_it_has_no_score() -> None:
    report = score(HatexscoreRequest.model_validate(CONTRACT.examples["in Korean"]))
    assert report.components.htc == 1
    assert codes(report)["score"] == ["untrained-language"]
