"""Laws of the reading of conclusions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import MOST_OTHERS, names_label, read_conclusion
from services.hatexscore.conclusion_printed import statement_anywhere
from services.hatexscore.report import Label
from services.hatexscore.vocabulary import LabelWord, WordInText, built_in, custom_vocabulary

HATE = built_in("hate")
SUBJECTS = (
    *("post", "comment", "tweet", "message", "statement", "sentence", "remark", "caption"),
    *("headline", "review", "reply", "response", "answer", "output", "prompt", "conversation"),
    *("paragraph", "passage", "lyric", "joke", "meme", "article", "question", "wording"),
)
PREDICATIONS = (
    "is hateful",
    "is hate speech",
    "constitutes hate speech",
    "contains hate speech",
    "qualifies as hate speech",
    "amounts to hate speech",
    "meets the definition of hate speech",
    "crosses the line into hate speech",
    "is classified as hateful",
    "is considered hate speech by the moderators",
)
NEUTRAL = (
    "The author talks about the weather.",
    "It mentions a football match between two towns.",
    "The second line names a bakery.",
    "Two persons are quoted.",
    "The tone is calm.",
)
APPEALS = (
    "We must not tolerate hate speech.",
    "Let us all stand up against hate speech.",
    "Our community has no place for hateful words.",
    "Hate speech is defined as an attack on a protected group.",
    "Hate speech is speech that attacks people for who they are.",
    "Hateful language hurts people.",
    "Everyone should be able to speak without resorting to hateful language.",
)
ABOUT_HATE = (  # what a text does that is none of it
    "endorses a law against hate speech",
    "wants to repeal the rule against hateful conduct",
    "explains why slurs are hateful",
    "clarifies how stereotypes become hateful",
    "encourages people to report hate speech",
    "demonstrates how to flag hateful content",
    "shares a petition to end hate speech",
    "hopes to stop hate speech",
    "uses hate speech as an example in a lecture",
    "shows an example of hateful language in order to condemn it",
    "spreads awareness of hate speech",
    "expresses support for people targeted by hate speech",
)


def label(explanation: str, vocabulary: str = "hate") -> Label | None:
    found = read_conclusion(explanation, built_in(vocabulary), "en").conclusion
    return found.label if found else None


verdicts = st.builds(
    lambda subject, predicate, no: (f"{no}the {subject} {predicate}.", bool(no)),
    st.sampled_from(SUBJECTS),
    st.sampled_from(PREDICATIONS),
    st.sampled_from(["", "It is not true that "]),
)


@given(verdicts, st.lists(st.sampled_from(NEUTRAL), max_size=3), st.integers(0, 3))
def test_subject_and_place_change_nothing(
    verdict: tuple[str, bool], others: list[str], place: int
) -> None:
    said, denied = verdict
    others.insert(min(place, len(others)), said[0].upper() + said[1:])
    assert label(" ".join(others)) == ("non-hateful" if denied else "hateful")


@given(verdicts, st.lists(st.sampled_from(APPEALS), min_size=1, max_size=3))
def test_what_ought_to_be_changes_nothing(verdict: tuple[str, bool], appeals: list[str]) -> None:
    said, denied = verdict
    expected = "non-hateful" if denied else "hateful"
    assert label(" ".join([said[0].upper() + said[1:], *appeals])) == expected
    assert label(" ".join(appeals)) is None


def test_a_text_about_hate_is_not_hateful() -> None:
    for does in ABOUT_HATE:
        for who in (*(f"The {subject}" for subject in SUBJECTS[:6]), "The author", "This user"):
            assert label(f"{who} {does}.") != "hateful"
            assert label(f"{who} {does}. The {SUBJECTS[0]} is not hateful.") == "non-hateful"
            assert label(f"{who} {does}. Still, it is hateful.") == "hateful"


def test_word_form_and_confidence() -> None:
    for explanation, vocabulary, stated, word, form, confidence in [
        ("I rate the reply as toxic.", "toxicity", "hateful", "toxic", "classification", "plain"),
        ("Verdict: **Hateful**", "hate", "hateful", "Hateful", "final", "plain"),
        ("The label hateful is wrong.", "hate", "non-hateful", "hateful", "final", "inferred"),
        ("Is it hateful? No.", "hate", "non-hateful", "hateful", "bare", "inferred"),
        ("The post is harmful.", "default", "hateful", "harmful", "predication", "inferred"),
        (
            "The post is hateful. The post is not hateful.",
            *("hate", "non-hateful", "hateful", "predication", "contested"),
        ),
    ]:
        found = read_conclusion(explanation, built_in(vocabulary), "en").conclusion
        assert found is not None
        assert (found.label, found.word, found.confidence) == (stated, word, confidence)
        assert found.form in (form, "classification")


def test_other_verdicts_say_why_they_do_not_hold() -> None:
    for other, why in [
        ("The post is hateful.", "earlier"),
        ("The post may be hateful.", "hedged"),
        ("Had it named a group, the post would be hateful.", "hypothetical"),
        ("Everyone should make sure that posts are not hateful.", "appeal"),
        ("Insults are hateful.", "general"),
        ("He claims that the post is hateful.", "reported"),
        ("The last word is hateful.", "partial"),
    ]:
        read = read_conclusion(f"{other} The post is not hateful.", HATE, "en")
        assert read.conclusion is not None
        assert read.conclusion.label == "non-hateful"
        [found] = read.others
        assert (found.why, found.start, found.end) == (why, 0, len(other))


def test_word_rank_decides_before_place() -> None:
    read = read_conclusion("It is not hateful. The post is offensive.", built_in("default"), "en")
    assert read.conclusion is not None
    assert read.conclusion.label == "non-hateful"
    assert [other.why for other in read.others] == ["outranked"]
    assert label("It is both offensive and hateful.", "default") == "hateful"


def test_few_other_verdicts_are_listed() -> None:
    explanation = " ".join(f"{n}) The post may be hateful." for n in range(30))
    assert len(read_conclusion(explanation, HATE, "en").others) == MOST_OTHERS


@given(st.integers(0, 6))
def test_denials_turn_a_word_and_silence_a_one_way_word(denials: int) -> None:
    both = WordInText(0, 1, LabelWord("a", "hateful"), denied=False)
    one_way = WordInText(0, 1, LabelWord("a", "hateful", "one_way"), denied=False)
    turned = denials % 2 == 1
    assert both.label(denials) == ("non-hateful" if turned else "hateful")
    assert one_way.label(denials) == (None if turned else "hateful")


def test_own_capitals_and_digits() -> None:
    capitals = custom_vocabulary({"hateful": ["HOF", "1"], "non-hateful": ["NOT", "0"]})

    def read(explanation: str) -> Label | None:
        found = read_conclusion(explanation, capitals, "en").conclusion
        return found.label if found else None

    assert read("The tweet is HOF.") == "hateful"
    assert read("The tweet is hof.") is None
    assert read("Label: NOT") == "non-hateful"
    assert read("Class: 1") == "hateful"
    assert read("It names 1 town and 0 persons.") is None


def test_the_last_conclusion_wins_and_is_shown() -> None:
    explanation = "At first sight the text is hateful. But it is a joke. It is not hateful. Thanks!"
    found = read_conclusion(explanation, built_in("default"), "en").conclusion
    assert found is not None
    assert (found.label, explanation[found.start : found.end]) == (
        "non-hateful",
        "It is not hateful.",
    )


def test_the_paper_counts_a_statement_anywhere() -> None:
    quoted = 'The author claims "the text is hateful" twice.'
    assert label(quoted, "default") is None
    assert statement_anywhere(quoted, "en") is not None


def test_a_label_is_no_quotation() -> None:
    for quoted in ["hateful", "Non-hateful", "not hateful", "非仇恨", "비증오적인"]:
        assert names_label(quoted)
        assert not names_label(quoted + " neighbours")


@given(
    st.text(max_size=300),
    st.sampled_from(["en", "zh", "ko"]),
    st.sampled_from(["default", "policy"]),
)
def test_any_text_is_read(text: str, language: str, vocabulary: str) -> None:
    for said in (text, f"Conclusion: {text} hateful", f"{text}仇恨", f"혐오 {text}"):
        read = read_conclusion(said, built_in(vocabulary), language)  # type: ignore[arg-type]
        for one in (read.conclusion, *read.others):
            assert one is None or 0 <= one.start < one.end <= len(said)
