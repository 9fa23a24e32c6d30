"""What each check of a HateXScore answers, and which verdict follows."""

from __future__ import annotations

from typing import Any

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.lexicon import TextGroups
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from shared.contracts.messages import Check
from shared.models.catalogue.checkpoint import PassageStandings
from shared.reports import short_texts
from shared.statistics.other_texts import standings
from shared.statistics.seeds import generator
from tests.hatexscore.fake import FakeClassifier, FakeSimilarity, bound
from tests.hatexscore.test_metric import ask, score

POST = "Those lazy immigrants are ruining our lovely old town again and nobody stops them"
SHORT = "Those lazy immigrants are ruining everything in our lovely town"
ATTACK = 'It says "lazy immigrants", which attacks immigrants. Conclusion: hateful.'
KIND = "Our library in the old town opens again on Sunday with a small concert"
FINE = "The user announces a concert in the library, on Sunday. Conclusion: non-hateful."


def judged(text: str, explanation: str, label: str | None, **more: Any) -> HatexscoreResult:
    """Scored by a judge that finds hate in two words, and in no others."""
    judge = FakeClassifier(lambda one: 0.1 + 0.4 * ("lazy" in one) + 0.4 * ("immigrants" in one))
    with bound(judge):
        return score(ask(text=text, explanation=explanation, decision=label, **more))


def check(report: HatexscoreResult, name: str) -> Check:
    [found] = [one for one in report.checks if one.name == name]
    return found


def test_checks_of_quotes_agree_that_there_are_quotes() -> None:
    for quote, said in (
        ('says "send them all back", which ', "No quote is in the post."),
        ("", "The explanation does not quote the post."),
    ):
        report = judged(
            POST, f"The post {quote}attacks immigrants. Conclusion: hateful.", "hateful"
        )
        sentences = [check(report, name).sentence for name in ("quotes-in-post", "quotes-matter")]
        assert sentences[1] == said
        assert (sentences[0] == said) == (not quote)


@pytest.mark.usefixtures("other_posts")
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


def test_what_fits_any_harmless_post_is_called_nothing_to_test() -> None:
    report = judged(KIND, "The post attacks nobody. Conclusion: non-hateful.", "non-hateful")
    assert (report.verdict, report.reason) == (
        "not_tested",
        "The explanation shares no content word with the post and fits any harmless post, so there "
        "is nothing to test.",
    )
    report = judged(POST, "It attacks immigrants. Conclusion: hateful.", "hateful")
    assert check(report, "about-this-post").sentence.endswith("it could be about another post.")


def test_one_quoted_word_is_in_the_post_and_tells_little_of_it() -> None:
    """A template can name one word, so both sentences are true together."""
    said = 'The post says "library" and attacks nobody. Conclusion: the text is not hateful.'
    report = judged(KIND, said, "non-hateful")
    assert check(report, "quotes-in-post").sentence == "Every quote is in the post."
    assert check(report, "about-this-post").sentence == (
        "The explanation shares only 1 content word with the post, quotes included, so it could be "
        "about another post."
    )


PARAPHRASE = "A reader is glad about a building for books. Conclusion: the text is not hateful."


@pytest.mark.parametrize(("value", "verdict"), [(0.31, "holds_up"), (0.29, "not_tested")])
def test_a_paraphrase_is_compared_by_its_sense(value: float, verdict: str) -> None:
    alike = FakeSimilarity(value)
    sent = {"text": KIND, "explanation": PARAPHRASE, "decision": "non-hateful"}
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
        SERVICE.score(HatexscoreRequest(text=KIND, explanation=said, decision="non-hateful"))
    [pair] = alike.pairs
    assert "library" not in pair.a


@pytest.mark.parametrize(
    ("explanation", "outcome"),
    [
        ("No es odio. El autor ve una serie que no es para la familia.", "not_tested"),
        ("No es odio. El autor se queja del casero y de que no hay agua caliente.", "passed"),
    ],
)
def test_function_words_of_another_language_are_no_words_of_the_post(
    explanation: str, outcome: str
) -> None:
    post = "Llevo tres días sin agua caliente y el casero dice que es bueno para la salud."
    request = HatexscoreRequest(
        text=post, explanation=explanation, decision="non-hateful", language="es"
    )
    with bound(FakeClassifier(languages=("*",))):
        assert check(SERVICE.score(request), "about-this-post").outcome == outcome


def test_a_hateful_explanation_of_another_group_does_not_hold_up() -> None:
    said = 'It says "those lazy", which attacks Jews. Conclusion: hateful.'
    report = judged(POST, said, "hateful")
    assert check(report, "group-named").reason == "other-group"
    assert report.verdict == "not_tested"


@pytest.mark.parametrize(
    ("post", "explanation", "same"),
    [
        ("gay", "gay people", True),
        ("transgender", "trans people", True),
        ("roma", "romanian", False),
        ("african american", "native american", False),
    ],
)
def test_a_group_has_longer_names_and_no_others(post: str, explanation: str, same: bool) -> None:
    assert TextGroups(frozenset({post}), same_language=True).names(explanation) is same


def test_a_post_without_content_words_makes_no_stock_sentence_hold_up() -> None:
    stock = "The post attacks nobody. Conclusion: the text is not hateful."
    for post in ("It was all of this.", "🙂 🙂 🙂"):
        assert judged(post, stock, "non-hateful").verdict != "holds_up"


@pytest.fixture
def other_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other posts, in which a passage seldom stands out."""
    random = generator(6, "other posts")
    rows = [
        PassageStandings(words=words, standings=tuple(standings(random.normal(size=places))))
        for places in range(5, 20)
        for words in (1, 2)
        for _ in range(40)
    ]
    monkeypatch.setattr(short_texts, "placement_standings", lambda *_: tuple(rows))


def matter(text: str, quote: str) -> tuple[HatexscoreResult, Check]:
    report = judged(text, ATTACK.replace("lazy immigrants", quote), "hateful")
    return report, check(report, "quotes-matter")


@pytest.mark.usefixtures("other_posts")
def test_a_short_post_is_tested_by_a_p_that_other_posts_calibrate() -> None:
    report, found = matter(POST, "lazy immigrants")
    control = report.control
    assert control is not None
    assert (control.exact, control.draws) == (True, 12)
    assert control.p_value == control.attainable_p == pytest.approx(1 / 13)
    assert control.p_calibrated is not None
    assert control.calibration is not None
    assert control.p_calibrated <= 0.05
    assert (control.calibration.basis, control.calibration.posts) == ("other posts", 120)
    assert found.outcome == "passed"
    assert "the most of all 13 places in the post" in found.sentence
    assert "calibrated on other posts" in found.sentence
    _, found = matter(POST, "nobody stops")
    assert found.outcome == "inconclusive"
    assert "rank " in found.sentence


@pytest.mark.usefixtures("other_posts")
def test_quotes_that_do_less_than_anything_else_in_a_short_post_fail() -> None:
    judge = FakeClassifier(lambda one: 0.9 - 0.2 * ("[MASK]" in one) * ("calm" in one))
    text = "Those calm immigrants walk along our lovely old street"
    with bound(judge):
        report = score(
            ask(
                text=text,
                explanation='It says "calm", which attacks immigrants. Conclusion: hateful.',
                decision="hateful",
            )
        )
    assert report.control is not None
    assert report.control.calibration is not None
    assert report.control.calibration.p_anti <= 0.05
    assert check(report, "quotes-matter").outcome == "failed"
    assert "quotes-do-not-matter" in report.problems


def test_without_other_posts_there_is_no_calibrated_p() -> None:
    report, _ = matter(POST, "lazy immigrants")
    assert report.control is not None
    assert (report.control.p_calibrated, report.control.calibration) == (None, None)


def test_only_what_beats_half_of_the_places_or_fewer_is_similar_to_random_words() -> None:
    long = f"{POST}, while the council meets on Monday to speak about the new bus to the harbour"
    judge = FakeClassifier(
        lambda one: (
            0.6 + 0.2 * ("council" in one) + 0.1 * ("harbour" in one) + 0.05 * ("bus" in one)
        )
    )
    said = {}
    for quote in ("bus", "nobody"):
        with bound(judge):
            report = score(
                ask(
                    text=long,
                    explanation=f'It says "{quote}", an attack on immigrants. Conclusion: hateful.',
                    decision="hateful",
                )
            )
        said[quote] = check(report, "quotes-matter").sentence
    assert "does not show that the quotes do more than random words (they beat" in said["bus"]
    assert "The quotes do no more than random words (they beat" in said["nobody"]


def turned(original: float, masked: float) -> Check:
    """Where every place of the post lowers P alike."""
    with bound(FakeClassifier(lambda one: masked if "[MASK]" in one else original)):
        report = score(ask(text=POST, explanation=ATTACK, decision="hateful"))
    assert report.control is not None
    assert report.control.p_value == 1
    return check(report, "quotes-matter")


@pytest.mark.parametrize(
    ("original", "masked", "outcome"),
    [
        (0.92, 0.45, "passed"),
        (0.92, 0.49, "passed"),
        (0.92, 0.51, "inconclusive"),  # the judge decides as before
        (0.8, 0.45, "inconclusive"),  # it hardly decides otherwise
    ],
)
def test_quotes_without_which_the_judge_decides_otherwise_matter(
    original: float, masked: float, outcome: str
) -> None:
    found = turned(original, masked)
    assert found.outcome == outcome
    assert ("changes the model's decision" in found.sentence) == (outcome == "passed")
