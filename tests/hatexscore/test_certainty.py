"""A verdict that may mean the opposite is left unread, and the score says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import VerdictsRead, read_conclusion
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.verdict import in_a_word
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language
from tests.hatexscore.test_wording import DATA
from tests.wording import Row, load

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


def test_of_two_that_contradict_only_a_plain_one_is_believed() -> None:
    for explanation in [
        "It's worth repeating that it is hateful. The text isn't hateful, though some say so.",
        "This comment isn't hateful; it calls out a hateful song.",
    ]:
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


DOUBTS = load(DATA / "unread.jsonl")
UNREAD = [row for row in DOUBTS if row["expected"] == "unread"]
NO_DECISION = [row for row in DOUBTS if row["expected"] == "none" and row["language"] == "en"]


@given(st.sampled_from(NO_DECISION), st.sampled_from(UNREAD))
def test_what_is_unknown_stays_unknown_beside_what_is_no_decision(none: Row, unread: Row) -> None:
    found = read(f"{none['text']} {unread['text']}", unread["language"])
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


def test_what_may_be_a_verdict_is_named() -> None:
    for said, label in [
        ("It brims over with hate speech.", "hateful"),
        ("Hate speech is on full display in it.", "hateful"),
    ]:
        found = read(f"A post on bread. {said}")
        assert (
            [(one.start, one.end) for one in found.others]
            == list(found.unread)
            == [(17, 17 + len(said))]
        )
        assert [(one.label, one.why) for one in found.others] == [(label, "uncertain")]


def test_where_a_conclusion_holds_nothing_is_unread() -> None:
    found = read("Insults are hateful. The post is not hateful.")
    assert found.conclusion is not None
    assert not found.unread


def test_a_label_that_is_called_wrong_is_none() -> None:
    for judged in ["wrong", "incorrect", "right", "appropriate"]:
        for noun in ["label", "category", "word"]:
            for turned in ["", "not "]:
                right = (judged in ("right", "appropriate")) != bool(turned)
                for label in ("Hate speech", "Non-hateful"):
                    found = read(f"{label} is {turned}the {judged} {noun} here.").conclusion
                    assert found is not None
                    assert (found.label == "hateful") == ((label == "Hate speech") == right)


def test_what_is_hard_to_argue_is_not_so() -> None:
    for hard in ["hard", "difficult", "impossible"]:
        for verb in ["argue", "claim", "maintain"]:
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


def test_what_is_said_of_a_statement_settles_it() -> None:
    for of in ["The claim that", "That", "The suspicion that", "Our finding that"]:
        for subject in SUBJECTS_OF_LAW:
            for no in ["", "not "]:
                for said in [*SAID_TRUE, *SAID_FALSE]:
                    found = read(f"{of} {subject} {no}hateful {said}.").conclusion
                    assert found is not None
                    assert found.label == (
                        HATEFUL if (said in SAID_TRUE) == (not no) else NON_HATEFUL
                    )


def test_a_statement_that_stays_open_is_no_verdict() -> None:
    for said in ["is not clear", "is in doubt", "remains to be seen", "may matter"]:
        for no in ("", "not "):
            assert read(f"That the post is {no}hateful {said}.").conclusion is None


def test_whether_a_condition_holds_settles_what_it_governs() -> None:
    """ "It would be hateful if it did not …; it does." With two denials it is unknown of which."""
    for no in ["", "not "]:
        for lacks in ["", "not "]:
            for holds in [True, False]:
                fact = "it does." if holds else "it does not."
                found = read(
                    f"It would {no}be hateful if it did {lacks}name a group; {fact}"
                ).conclusion
                if lacks and not holds:
                    assert found is None
                    continue
                assert found is not None
                turned = bool(no) != (bool(lacks) == holds)
                assert found.label == (NON_HATEFUL if turned else HATEFUL)


def test_an_earlier_label_is_no_verdict() -> None:
    assert read("Previous label: hateful: yes").conclusion is None
