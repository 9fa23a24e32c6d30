"""A verdict that may mean the opposite is left unread, and the score says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import VerdictsRead, read_conclusion
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.quotes import plain_format
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.verdict import in_a_word
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language
from tests.hatexscore.golden_conclusions import GOLDEN, Snippet, golden, own, vocabulary_of

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


WORDS_OF_A_VERDICT = {
    "en": """
The post talks of a neighbour. Insults are hateful.
Hate speech is on full display in it.
Hate speech is on full display.
Had it named a religion, the post would be hateful. It names a football club.
Had it named a religion, the post would be hateful, but it names a football club.
He claims that the post is hateful. It praises a bakery.
The post does not fit our policy.
The post was flagged by mistake.
It falls under our hate policy.
I was asked to sort the post. Its removal was an error.
Is it hateful? Far from that.
Some might say this is hateful. But the joke is on the speaker.
The last word is hateful. Nobody is meant by it.
The post reports a crime. Sharing news is not hateful.
It brims with hate speech.
Hate speech is what the whole last line is.
Unless words have lost their meaning, this is hateful.
Only a malicious reader would see hate in it.
The post may look hateful, but it quotes a play.
""",
    "zh": """
该帖子被误判下架。
有用户指责这条评论是仇恨言论，我找不到任何依据。
如果硬要把它说成仇恨言论，那是在歪曲作者。
""",
    "ko": """
이 글은 실수로 신고되었다.
신고자는 혐오라고 주장했지만, 살펴본 결과 그렇지 않다.
혐오가 아니라고 하면 지나친 해석이다.
""",
}
NO_DECISION = {
    "en": """
It speaks of people.
There is no context, so I cannot decide.
The text may be hateful, depending on who is meant.
I cannot say whether the remark is hateful.
Is the post hateful?
We must all work together so that the internet is free of hate speech.
Hate speech is defined as speech that attacks people for who they are.
Our guidelines prohibit hateful conduct.
Clean water is mentioned.
Insults are hateful.
Criticism of a religion is not hateful as such.
A hateful post usually contains slurs.
Had it named a religion, the post would be hateful.
With another noun the sentence would be hateful.
Some would call it hate speech.
He claims that the post is hateful.
The last word is hateful.
The post discusses hate speech in schools.
The user asks how to report hate speech.
Our policy on hateful conduct was updated in May.
Possibly hateful.
It borders on hate speech, but the context is missing.
The task was to say why the post is hateful. I was not given the post.
As a language model, I cannot classify this as hateful or non-hateful.
""",
    "zh": """
文本谈论两个城市之间的比赛。
无法确定该文本是否属于仇恨言论。
仇恨言论是指因身份而攻击他人的言论。
如果针对的是某个民族，这句话就构成仇恨言论。
网络上的仇恨言论越来越多。
有人也许会认为这是仇恨言论。
""",
    "ko": """
이 글은 축구 경기를 다룬다.
혐오 표현인지 판단하기 어렵다.
혐오 표현이 없는 공동체를 함께 만듭시다.
특정 종교를 언급했다면 혐오 표현이었을 것이다.
정치인을 비판하는 것은 혐오 표현이 아니다.
이 글은 혐오 표현의 역사를 설명한다.
""",
}


def lines(by_language: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (language, said)
        for language, block in by_language.items()
        for said in block.strip().splitlines()
    ]


@pytest.mark.parametrize(("language", "said"), lines(WORDS_OF_A_VERDICT))
def test_words_of_a_verdict_that_no_rule_reads_leave_it_unknown(
    language: Language, said: str
) -> None:
    found = read(said, language)
    assert found.conclusion is None
    assert found.unread


@pytest.mark.parametrize(("language", "said"), lines(NO_DECISION))
def test_a_missing_or_ambiguous_judgement_is_known_to_be_none(
    language: Language, said: str
) -> None:
    found = read(said, language)
    assert (found.conclusion, found.unread) == (None, ())


@given(st.sampled_from(lines(NO_DECISION)), st.sampled_from(lines(WORDS_OF_A_VERDICT)))
def test_what_is_unknown_stays_unknown_beside_what_is_no_decision(
    none: tuple[str, str], unread: tuple[str, str]
) -> None:
    found = read(f"{none[1]} {unread[1]}", unread[0])  # type: ignore[arg-type]
    assert bool(found.unread) == (found.conclusion is None)


def test_an_unread_verdict_has_no_htc_and_says_so_in_the_report() -> None:
    report = scored("The post does not fit our policy.")
    assert report.components.htc is None
    assert report.undefined["htc"] == "conclusion-unread"
    assert report.score is None
    assert any("no rule reads" in warning for warning in report.warnings)
    assert "characters 0 to 33" in next(
        one.detail for one in report.reasons if one.component == "htc"
    )
    said = in_a_word(report).reason  # which is counted over many explanations
    assert "no rule reads" in said
    assert "character" not in said
    assert scored("The text may be hateful, depending on who is meant.").components.htc == 0


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("It brims over with hate speech.", "hateful"),
        ("Hate speech is on full display in it.", "hateful"),
    ],
)
def test_what_may_be_a_verdict_is_named(said: str, label: str) -> None:
    found = read(f"A post on bread. {said}")
    assert (
        [(one.start, one.end) for one in found.others]
        == list(found.unread)
        == [(17, 17 + len(said))]
    )
    assert [(one.label, one.why) for one in found.others] == [(label, "uncertain")]


def unread(snippet: Snippet) -> bool:
    explanation = plain_format(snippet.explanation)
    return bool(
        read_conclusion(explanation, vocabulary_of(snippet.vocabulary), snippet.language).unread
    )


def test_of_verdicts_that_no_rule_reads_hardly_one_is_taken_for_no_decision() -> None:
    # answers of a mere yes have no word of a verdict: their own reader takes them
    verdicts = [one for one in own() if one.unread and not one.name.startswith("elicited")]
    assert sum(map(unread, verdicts)) >= 0.98 * len(verdicts)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are on development machines")
def test_of_golden_texts_without_a_verdict_most_are_known_to_have_none() -> None:
    without = [one for one in golden() if one.expected is None]
    assert sum(map(unread, without)) <= 5  # of 53


def test_of_our_texts_without_a_verdict_most_are_known_to_have_none() -> None:
    without = [one for one in own() if one.expected is None]
    assert sum(map(unread, without)) <= 0.12 * len(without)


def test_where_a_conclusion_holds_nothing_is_unread() -> None:
    found = read("Insults are hateful. The post is not hateful.")
    assert found.conclusion is not None
    assert not found.unread


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


HATEFUL, NON_HATEFUL = "hateful", "non-hateful"
SUBJECTS_OF_LAW = ("it is", "the post is", "this text is")
SAID_TRUE = ("has been confirmed", "is beyond doubt", "is correct", "turned out to be right")
SAID_FALSE = ("has been refuted", "is absurd", "fails", "rests on a misreading", "is unfounded")


@pytest.mark.parametrize("of", ["The claim that", "That", "The suspicion that", "Our finding that"])
@pytest.mark.parametrize("subject", SUBJECTS_OF_LAW)
@pytest.mark.parametrize("no", ["", "not "])
@pytest.mark.parametrize("said", [*SAID_TRUE, *SAID_FALSE])
def test_what_is_said_of_a_statement_settles_it(of: str, subject: str, no: str, said: str) -> None:
    found = read(f"{of} {subject} {no}hateful {said}.").conclusion
    assert found is not None
    assert found.label == (HATEFUL if (said in SAID_TRUE) == (not no) else NON_HATEFUL)


@pytest.mark.parametrize(
    "said", ["is not clear", "is in doubt", "remains to be seen", "may matter"]
)
def test_a_statement_that_stays_open_is_no_verdict(said: str) -> None:
    for no in ("", "not "):
        assert read(f"That the post is {no}hateful {said}.").conclusion is None


@pytest.mark.parametrize("no", ["", "not "])
@pytest.mark.parametrize("lacks", ["", "not "])
@pytest.mark.parametrize("holds", [True, False])
def test_whether_a_condition_holds_settles_what_it_governs(
    no: str, lacks: str, holds: bool
) -> None:
    """ "It would be hateful if it did not …; it does." With two denials it is unknown of which."""
    fact = "it does." if holds else "it does not."
    found = read(f"It would {no}be hateful if it did {lacks}name a group; {fact}").conclusion
    if lacks and not holds:
        assert found is None
        return
    assert found is not None
    turned = bool(no) != (bool(lacks) == holds)
    assert found.label == (NON_HATEFUL if turned else HATEFUL)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        *(
            (value, NON_HATEFUL)
            for value in (": F", ": no", " (no)", ": negative", ": nope", ": []")
        ),
        *((value, HATEFUL) for value in (": T", ": yes", " (yes)")),
        *((value, None) for value in (": N/A", ": nil", ": not applicable", ": unknown", ": -")),
    ],
)
def test_a_field_is_what_its_value_says(value: str, label: str | None) -> None:
    found = read(f"Hate speech{value}").conclusion
    assert (found.label if found else None) == label


def test_an_earlier_label_is_no_verdict() -> None:
    assert read("Previous label: hateful: yes").conclusion is None
