from __future__ import annotations

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.lexicon import load_lexicon
from services.hatexscore.variant_reference import (
    TAU,
    common_tokens,
    last_keyword,
    mask_tokens,
    prefix_matches,
    read_as_released,
)
from services.hatexscore.variants import VARIANTS
from shared.contracts.errors import TooCostly


def test_the_last_keyword_counts_and_negation_does_not() -> None:
    for explanation, keyword in [
        ("The text is not hateful.", "hateful"),
        ("This is not hate speech.", "hate speech"),
        ("Conclusion: hateful. There is no ambiguity.", "no"),
        ("Conclusion: non-hateful", "non-hateful"),
        ("Conclusion: nonhateful", None),
        ("결론: 증오적입니다", None),
        ("결론: 비증오적인 글", "비증오적인"),
        ("结论：仇恨", None),
        ("", None),
    ]:
        assert last_keyword(explanation) == keyword


def test_letters_are_masked_inside_words_and_inside_masks() -> None:
    tokens = common_tokens("a cat is a friend", "A cat is a friend", "en")
    assert tokens == ["friend", "cat", "is", "a"]
    word, letter = "[M[MASK]SK]", "[MASK]"
    assert mask_tokens("a cat is a friend", tokens) == f"{letter} {word} {word} {letter} {word}"
    assert mask_tokens("this is his thesis", ["this", "his", "is"]).endswith("thes[MASK]")


def test_a_prefix_of_a_term_is_a_group() -> None:
    lexicon = load_lexicon("un", "en")
    for innocent in ("It looks down on it", "A non-hateful remark", "whatever the age of it"):
        assert prefix_matches(innocent, "en", lexicon)
    assert not prefix_matches("lost the match is sports talk", "en", lexicon)


def test_its_threshold_is_fixed_and_says_so() -> None:
    asked = HatexscoreRequest(
        text="a b", explanation="a. hateful", variant="reference", options={"tau": 0.9}
    )
    [reading] = read_as_released([asked])
    assert VARIANTS["reference"].tau == TAU
    assert any("0.45" in warning for warning in reading.warnings)


def test_masks_inside_masks_end_before_they_cost_seconds() -> None:
    words = " ".join(f"{a}{b}" for a in "maskſ" for b in ("", *"mask"))
    singles = " ".join(chr(0x4E00 + n) for n in range(2_000))  # sought after the masks have grown
    text = "mask" * 3_000 + f" {words} {singles}"
    tokens = common_tokens(text, f"{words} {singles}", "en")
    with pytest.raises(TooCostly, match="Shorten the text"):
        mask_tokens(text, tokens)
