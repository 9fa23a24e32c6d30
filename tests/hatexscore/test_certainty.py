"""A verdict that may mean the opposite is left unread, and the score says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import VerdictsRead, read_conclusion
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language

# No English word has them, so that no rule knows what they do to a verdict.
INVENTED = st.text("bcdfghjklmnpqrstvwz", min_size=4, max_size=9).map(lambda stem: f"x{stem}")


def read(explanation: str, language: Language = "en") -> VerdictsRead:
    return read_conclusion(explanation, built_in("default"), language)


@given(
    INVENTED,
    st.sampled_from(
        [
            "It is {} to call this hateful.",
            "I {} at calling the text hateful.",
            "The text is {} of hateful.",
            "We find it {} by hateful standards, being {} than hateful.",
            "This would {} into hateful.",
        ]
    ),
)
def test_an_unknown_word_between_subject_and_label_leaves_it_unread(
    invented: str, sentence: str
) -> None:
    assert read(sentence.replace("{}", invented)).conclusion is None


@given(INVENTED)
def test_an_unknown_noun_of_the_subject_changes_nothing(invented: str) -> None:
    for said, label in (("is", "hateful"), ("is not", "non-hateful")):
        found = read(f"The {invented} {said} hateful.").conclusion
        assert found is not None
        assert found.label == label


@pytest.mark.parametrize(
    ("language", "explanation"),
    [
        ("en", "The filter marks the post as hateful. The audit came to see an error in that."),
        ("en", "The text sounds hateful, but it quotes the villain of a play."),
        ("en", "Treating the text as hateful would flatten the word."),
        ("en", "It is almost hateful."),
        ("en", "It reads as if it were hateful."),
        ("zh", "系统将其归为仇恨言论，人工复核后予以撤销。"),
        ("zh", "将其归为仇恨言论有些唐突。"),
        ("ko", "모델은 이 글을 혐오 표현으로 분류했다. 검토 뒤 취소되었다."),
    ],
)
def test_a_verdict_that_may_be_turned_round_is_left_unread(
    language: Language, explanation: str
) -> None:
    found = read(explanation, language)
    assert found.conclusion is None


@pytest.mark.parametrize(
    "explanation",
    [
        "It's worth repeating that it is hateful. The text isn't hateful, though some say so.",
        "This comment isn't hateful; it calls out a hateful song.",
    ],
)
def test_of_two_that_contradict_only_a_plain_one_is_believed(explanation: str) -> None:
    found = read(explanation).conclusion
    assert found is None or found.label == "non-hateful"


UNCERTAIN = "The filter marked the post as hateful. The team has since withdrawn the mark."


def scored(explanation: str) -> HatexscoreResult:
    request = HatexscoreRequest.model_validate(
        {
            "text": "They are a plague on our good old town.",
            "explanation": explanation,
            "predicted_label": "hateful",
            "language": "en",
            "probabilities": {"original": 0.9, "masked": 0.2},
        }
    )
    return SERVICE.score(request)


def test_its_reason_is_told_and_the_score_is_undefined() -> None:
    report = scored(UNCERTAIN)
    assert report.conclusion is None
    assert report.components.htc is None
    assert report.score is None
    assert report.undefined["htc"] == "conclusion-unread"
    assert {one.why for one in report.other_verdicts} == {"uncertain"}


def test_an_explanation_without_a_verdict_still_has_no_conclusion_to_show() -> None:
    report = scored("It speaks of people.")
    assert report.components.htc == 0


@pytest.mark.parametrize("judged", ["wrong", "incorrect", "right", "appropriate"])
@pytest.mark.parametrize("noun", ["label", "category", "word"])
@pytest.mark.parametrize("turned", ["", "not "])
def test_a_label_that_is_called_wrong_is_none(judged: str, noun: str, turned: str) -> None:
    right = (judged in ("right", "appropriate")) != bool(turned)
    for label in ("Hate speech", "Non-hateful"):
        found = read(f"{label} is {turned}the {judged} {noun} here.").conclusion
        assert found is not None
        assert (found.label == "hateful") == ((label == "Hate speech") == right)


@pytest.mark.parametrize("hard", ["hard", "difficult", "impossible"])
@pytest.mark.parametrize("verb", ["argue", "claim", "maintain"])
def test_what_is_hard_to_argue_is_not_so(hard: str, verb: str) -> None:
    labels = {
        f"It is {hard} to {verb} that this is hateful.": "non-hateful",
        f"It is {hard} to {verb} that this is not hateful.": "hateful",
        f"It is {hard} to {verb} that this is anything other than hateful.": "hateful",
    }
    for said, label in labels.items():
        found = read(said).conclusion
        assert found is None or found.label == label, said
