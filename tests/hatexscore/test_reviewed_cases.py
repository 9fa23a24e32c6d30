"""What reviewers of posts write: counter-speech, appeals, likelihoods, checklists, plain words."""

from __future__ import annotations

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from tests.hatexscore.fake import FakeClassifier, bound
from tests.hatexscore.whole_explanations import JUDGED, LABELS

TEXT = "Poles fill the bus again."


def score(explanation: str, decision: str = "H", text: str = TEXT) -> HatexscoreResult:
    request = HatexscoreRequest(
        text=text,
        explanation=explanation,
        predicted_label=LABELS[decision],
        probabilities=JUDGED[decision],
    )
    with bound(FakeClassifier()):
        return SERVICE.score(request)


def attacked(found: HatexscoreResult) -> set[bool]:
    return {bool(one.attacked) for one in found.evidence if one.kind == "group"}


@pytest.mark.parametrize(
    "said",
    [
        "It contains no mockery, threats or insults towards Poles. Not hateful.",
        "The comment never uses slurs, threats or insults against Poles. Not hateful.",
        "The author shields Poles from bigotry. Not hateful.",
        "The caption speaks up for Poles against harassment. Not hateful.",
        "The tweet calls out those who mock Poles. Not hateful.",
        "It pushes back against the stereotypes about Poles. Not hateful.",
        "It rejects anti-Polish prejudice. Not hateful.",
        "A reply to people who insult Poles. Not hateful.",
        "Praise for Poles, the very opposite of an insult. Not hateful.",
        "Two readers reported it as an attack on Poles, yet the joke is on the bus. Not hateful.",
        "It was wrongly removed as hate against Poles. Not hateful.",
        "该帖谴责了针对波兰人的偏见。结论：非仇恨。",
        "이 글은 폴란드인에 대한 차별에 반대한다. 결론: 비혐오.",
    ],
)
def test_what_is_answered_or_alleged_by_others_attacks_no_group(said: str) -> None:
    text = "波兰人 폴란드인" if "结论" in said or "결론" in said else TEXT
    assert attacked(score(said, "N", text)) == {False}


@pytest.mark.parametrize(
    "said",
    [
        "It expresses contempt for Poles. Not hateful.",
        "It defends the town against Poles and calls Poles a plague. Not hateful.",
        "It answers with prejudice against Poles. Not hateful.",
        "It mocks Poles who complain about insults. Not hateful.",
        "It warns against attacks by Poles. Not hateful.",
        "A reader reported it as hate against Poles, and it does insult Poles. Not hateful.",
        "It offers no argument, insults Poles and leaves. Not hateful.",
    ],
)
def test_an_attack_of_the_text_itself_remains_one(said: str) -> None:
    assert True in attacked(score(said, "N"))


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        (
            'The complainant states "I was shocked to read that". Hateful.',
            "I was shocked to read that",
        ),
        ('The member who reported it added "please act". Hateful.', "please act"),
        ('In his objection the author argues "nobody was harmed". Hateful.', "nobody was harmed"),
        ('"Give me another chance", the appellant writes. Hateful.', "Give me another chance"),
        ('Moderator: "third strike this month". Hateful.', "third strike this month"),
        ('User says: "that was just irony, not hate". Hateful.', "that was just irony, not hate"),
        ("投诉人写道“看了很难受”。结论：仇恨言论。", "看了很难受"),
        ('검토자는 "규정을 확인했다"고 적었다. 결론: 혐오 표현.', "규정을 확인했다"),
    ],
)
def test_whoever_appeals_reports_or_decides_is_another_source(said: str, quoted: str) -> None:
    found = score(said)
    assert found.hallucinated_quotes == ()
    told = {said[one.start : one.end]: one.reason for one in found.other_quotations}
    assert told == {quoted: "other_source"}


@pytest.mark.parametrize(
    "said",
    [
        'The user writes "they never pay". Hateful.',
        'The reviewer flagged the word "parasites". Hateful.',
        'The moderator points out that the post says "they never pay". Hateful.',
        'The post says "it was only a joke". Hateful.',
    ],
)
def test_what_is_ascribed_to_the_text_is_still_accused(said: str) -> None:
    assert len(score(said).hallucinated_quotes) == 1


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("The comment is quite likely hateful.", "hateful"),
        ("It is probably hate speech.", "hateful"),
        ("In all likelihood this post is hateful.", "hateful"),
        ("There is a 70% chance that this is hate speech.", "hateful"),
        ("I am 80 % certain that it is hateful.", "hateful"),
        ("The tweet has a 90% probability of being hateful.", "hateful"),
        ("There is a 15% chance that this is hate speech.", "non-hateful"),
        ("This is most likely not hateful.", "non-hateful"),
        ("Confidence that the text is hateful: 3%.", "non-hateful"),
        ("Confidence that the text is not hateful: 97%.", "non-hateful"),
        ("The likelihood of this being hate speech is about 95%.", "hateful"),
        ("Likelihood that this is hate speech: low.", "non-hateful"),
        ("The likelihood that it is hateful is 50%.", None),
        ("More hateful than offensive, in my view.", "hateful"),
        ("Less hateful than clumsy. Non-hateful.", "non-hateful"),
        ("This goes beyond offensive language into hate speech.", "hateful"),
        ("All criteria for hate speech are met.", "hateful"),
        ("There is a 50% chance that this is hate speech.", None),
        ("There is a chance that this is hate speech.", None),
        ("It might be hateful. I am not sure and the legal team should decide.", None),
        ("This could be hate speech; we are not certain, someone else must judge.", None),
        ("Probably hateful, but the policy team has to decide.", None),
    ],
)
def test_what_is_called_likely_is_a_verdict_and_a_possibility_none(
    said: str, label: str | None
) -> None:
    found = score(said)
    assert found.stated_label == label
    assert found.components.htc == (1 if label == "hateful" else 0)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("Nothing wrong with this comment.", "non-hateful"),
        ("I find nothing objectionable here.", "non-hateful"),
        ("The tweet is perfectly okay.", "non-hateful"),
        ("This message looks fine to me.", "non-hateful"),
        ("There is nothing wrong with the spelling.", None),
        ("The spelling is fine.", None),
        ("The tweet is fine until its last word.", None),
        ("The tweet is not fine.", None),
        ("Classic case of hatred against Poles.", "hateful"),
        ("An obvious example of bigotry", "hateful"),
        ("Blatant xenophobia towards Poles.", "hateful"),
        ("Textbook racism is rare these days.", None),
        ("Not plain racism.", None),
    ],
)
def test_plain_words_are_verdicts_where_they_are_said_of_the_whole(
    said: str, label: str | None
) -> None:
    assert score(said).stated_label == label


@pytest.mark.parametrize(("answer", "tgi"), [("yes", 1), ("no", 0)])
def test_a_group_of_a_checklist_is_named_where_the_next_answer_affirms_an_attack(
    answer: str, tgi: int
) -> None:
    found = score(f"Identity group mentioned? Yes, Poles.\nInsult: {answer}\nHateful: yes")
    assert found.components.tgi == tgi


def test_a_function_word_that_is_quoted_alone_is_told_of() -> None:
    found = score('The word "the" sets Poles apart and insults them. Hateful.')
    (told,) = [one for one in found.warnings if "function word" in one]
    assert '"the"' in told
    quoted = score('The words "fill the bus" insult Poles. Hateful.')
    assert not any("function word" in one for one in quoted.warnings)


def test_the_reason_says_why_quotes_earn_nothing_that_make_a_text_milder() -> None:
    request = HatexscoreRequest(
        text=TEXT,
        explanation='The words "fill the bus" insult Poles. Hateful.',
        predicted_label="hateful",
        probabilities={"original": 0.7, "masked": 0.75},
    )
    with bound(FakeClassifier()):
        found = SERVICE.score(request)
    assert found.components.qf == 0
    assert "without its quotes P(hateful) is higher" in found.reason
