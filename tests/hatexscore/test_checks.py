"""What each check of a HateXScore answers, and which verdict follows."""

from __future__ import annotations

from typing import Any

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from shared.contracts.messages import Check
from tests.hatexscore.fake import FakeClassifier, FakeSimilarity, bound
from tests.hatexscore.test_metric import ask, score

POST = "Those lazy immigrants are ruining our lovely old town again and nobody stops them"
SHORT = "Those lazy immigrants are ruining everything"
ATTACK = 'It says "lazy immigrants", which attacks immigrants. Conclusion: hateful.'
KIND = "Our library in the old town opens again on Sunday with a small concert"
FINE = "The user announces a concert in the library, on Sunday. Conclusion: non-hateful."


def judged(text: str, explanation: str, label: str | None, **more: Any) -> HatexscoreResult:
    """Scored by a judge that finds hate in two words, and in no others."""
    judge = FakeClassifier(lambda one: 0.1 + 0.4 * ("lazy" in one) + 0.4 * ("immigrants" in one))
    with bound(judge):
        return score(ask(text=text, explanation=explanation, predicted_label=label, **more))


def check(report: HatexscoreResult, name: str) -> Check:
    [found] = [one for one in report.checks if one.name == name]
    return found


@pytest.mark.parametrize("text", [POST, SHORT])
def test_the_right_words_hold_up_also_in_a_short_post(text: str) -> None:
    report = judged(text, ATTACK, "hateful")
    assert (report.verdict, report.problems) == ("holds_up", ())
    assert check(report, "quotes-matter").outcome == "passed"


def test_other_words_of_a_post_are_no_evidence() -> None:
    for quote in ("are ruining", "ruining everything"):
        report = judged(SHORT, ATTACK.replace("lazy immigrants", quote), "hateful")
        assert report.verdict == "not_tested"


@pytest.mark.parametrize(
    ("explanation", "label", "problem"),
    [
        ("", "hateful", "no-explanation"),
        (ATTACK, "non-hateful", "opposite-decision"),
        ('It says "lazy immigrants", which attacks immigrants.', "hateful", "no-decision"),
        (
            'The post says "send them all back", which attacks immigrants. Conclusion: hateful.',
            "hateful",
            "quote-not-in-post",
        ),
        (
            'The slogan "nobody wants them here" is hateful.',
            "hateful",
            "quote-not-in-post",
        ),
        (
            'It says "ruining our lovely old town", an insult. Conclusion: hateful.',
            "hateful",
            "group-not-named",
        ),
    ],
)
def test_a_problem_is_found_without_a_test(explanation: str, label: str, problem: str) -> None:
    report = judged(POST, explanation, label)
    assert report.verdict == "problem_found"
    assert report.problems[0] == problem


def test_a_hateful_decision_without_quotes_needs_a_description_and_the_group() -> None:
    described = "It says that lazy immigrants are ruining everything and attacks immigrants."
    report = judged(POST, f"{described} Conclusion: hateful.", "hateful")
    assert (report.verdict, report.problems) == ("holds_up", ())
    report = judged(POST, "It attacks immigrants. Conclusion: hateful.", "hateful")
    assert report.verdict == "not_tested"
    assert check(report, "about-this-post").reason == "not-about-post"


def test_a_group_that_is_quoted_is_named() -> None:
    report = judged(POST, 'It says "lazy immigrants", an insult. Conclusion: hateful.', "hateful")
    assert check(report, "group-named").outcome == "passed"


def test_where_the_judge_disagrees_the_other_checks_are_answered() -> None:
    report = judged(KIND, ATTACK.replace("lazy immigrants", "small concert"), "hateful")
    assert report.verdict == "not_tested"
    assert check(report, "quotes-matter").reason == "model-disagrees"
    assert check(report, "quotes-in-post").outcome == "passed"
    assert "probabilities" in report.untested[0].action
    own = {"original": 0.9, "masked": 0.2}
    report = judged(KIND, ATTACK.replace("lazy immigrants", "small concert"), "hateful",
                    probabilities=own)  # fmt: skip
    assert check(report, "quotes-matter").outcome == "passed"


def test_a_harmless_post_needs_no_quote_but_a_description() -> None:
    report = judged(KIND, FINE, "non-hateful")
    assert (report.verdict, report.problems) == ("holds_up", ())
    assert check(report, "quotes-in-post").outcome == "not_applicable"


@pytest.mark.parametrize(
    "explanation",
    [
        "The post attacks nobody. Conclusion: the text is not hateful.",
        'The post says "library" and attacks nobody. Conclusion: the text is not hateful.',
    ],
)
def test_a_template_does_not_hold_up(explanation: str) -> None:
    report = judged(KIND, explanation, "non-hateful")
    assert report.verdict == "not_tested"
    assert check(report, "about-this-post").reason == "not-about-post"


PARAPHRASE = "A reader is glad about a building for books. Conclusion: the text is not hateful."


@pytest.mark.parametrize(("value", "verdict"), [(0.31, "holds_up"), (0.29, "not_tested")])
def test_a_paraphrase_is_compared_by_its_sense(value: float, verdict: str) -> None:
    alike = FakeSimilarity(value)
    sent = {"text": KIND, "explanation": PARAPHRASE, "predicted_label": "non-hateful"}
    requests = [
        HatexscoreRequest.model_validate(sent | more)
        for more in ({}, {"explanation": FINE}, {"language": "de"})
    ]
    with bound(FakeClassifier(languages=("*",)), alike):
        reports = SERVICE.score_batch(requests)
    assert [pair.b for pair in alike.pairs] == [KIND]  # words suffice, or it is not in English
    assert reports[0].post_words is not None
    assert (reports[0].post_words.similarity, reports[0].verdict) == (value, verdict)
    assert reports[1].verdict == "holds_up"


def test_words_of_the_post_are_left_out_of_the_comparison() -> None:
    """A template with a word of the post would be similar to it by this word."""
    alike = FakeSimilarity(0.1)
    said = 'The post says "library" and attacks nobody. Conclusion: the text is not hateful.'
    with bound(FakeClassifier(), alike):
        SERVICE.score(HatexscoreRequest(text=KIND, explanation=said, predicted_label="non-hateful"))
    [pair] = alike.pairs
    assert "library" not in pair.a


def test_a_post_without_content_words_makes_no_stock_sentence_hold_up() -> None:
    stock = "The post attacks nobody. Conclusion: the text is not hateful."
    for post in ("It was all of this.", "🙂 🙂 🙂"):
        assert judged(post, stock, "non-hateful").verdict != "holds_up"
