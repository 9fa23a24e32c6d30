from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import ConclusionStatement, names_label, read_conclusion
from services.hatexscore.conclusion_printed import statement_anywhere
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language, detect_language


def find_conclusion(explanation: str, language: Language) -> ConclusionStatement | None:
    return read_conclusion(explanation, built_in("default"), language).conclusion


def test_the_last_conclusion_wins_and_is_shown() -> None:
    explanation = "At first sight the text is hateful. But it is a joke. It is not hateful. Thanks!"
    found = find_conclusion(explanation, "en")
    assert found is not None
    assert (found.label, explanation[found.start : found.end]) == (
        "non-hateful",
        "It is not hateful.",
    )


def test_the_paper_counts_a_statement_anywhere() -> None:
    quoted = 'The author claims "the text is hateful" twice.'
    assert find_conclusion(quoted, "en") is None
    assert statement_anywhere(quoted, "en") is not None


def test_a_label_is_no_quotation() -> None:
    for quoted in ["hateful", "Non-hateful", "not hateful", "非仇恨", "비증오적인"]:
        assert names_label(quoted)
        assert not names_label(quoted + " neighbours")


@given(st.text(max_size=200), st.sampled_from(["en", "zh", "ko"]))
def test_any_unicode_is_survived(text: str, language: str) -> None:
    for explanation in (text, f"Conclusion: {text} hateful", f"{text}仇恨", f"혐오 {text}"):
        found = find_conclusion(explanation, detect_language(explanation))
        if found is not None:
            assert 0 <= found.start < found.end <= len(explanation)
