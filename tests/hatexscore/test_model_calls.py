from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.model_calls import random_placements, why_no_control
from services.hatexscore.quotes import MASK, count_units, mask_spans, merge_spans, touched_words
from shared.contracts import MAX_TEXT
from shared.models import calls as op
from shared.models.calls import Example
from tests.hatexscore.fake import FakeClassifier, bound

score = SERVICE.score

WORDS = "the old bridge near our village was closed again this winter"


def quoting(*quoted: str, text: str = WORDS, seed: int = 0) -> HatexscoreRequest:
    marked = " and ".join(f'"{part}"' for part in quoted)
    return HatexscoreRequest(
        text=text,
        explanation=f"It says {marked}. Conclusion: hateful.",
        predicted_label="hateful",
        language="en",
        control_draws=200,
        seed=seed,
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), st.integers(0, 2**63 - 1))
def test_draws_have_the_quoted_lengths_and_do_not_overlap(chosen: list[int], seed: int) -> None:
    counted = count_units(WORDS)
    quoted = [counted[i] for i in sorted(chosen)]
    for drawn in random_placements(WORDS, quoted, seed, 20):
        assert drawn == merge_spans(drawn) != quoted
        blocks = [(WORDS[start:end].split()) for start, end in drawn]
        assert [len(block) for block in blocks] == [1] * len(quoted)


def test_placements_are_uniform_over_the_other_positions() -> None:
    counted = count_units(WORDS)
    drawn = random_placements(WORDS, [counted[2]], 7, 9_000)
    frequency = Counter(start for ((start, _),) in drawn)
    assert set(frequency) == {start for start, _ in counted} - {counted[2][0]}
    expected = 9_000 / (len(counted) - 1)
    chi_squared = sum((n - expected) ** 2 / expected for n in frequency.values())
    assert chi_squared < 29.6  # 0.1 % point of chi-squared with 10 - 1 degrees of freedom, + 10 %


def test_the_seed_and_the_text_key_the_draws() -> None:
    quoted = [count_units(WORDS)[2]]
    assert random_placements(WORDS, quoted, 1, 20) == random_placements(WORDS, quoted, 1, 20)
    assert random_placements(WORDS, quoted, 1, 20) != random_placements(WORDS, quoted, 2, 20)
    assert random_placements(WORDS, quoted, 1, 20) != random_placements(WORDS + " ", quoted, 1, 20)


def test_a_classifier_that_looks_at_the_quoted_word_is_beaten_by_nothing() -> None:
    with bound(FakeClassifier(lambda text: 0.9 if "bridge" in text else 0.1)):
        control = score(quoting("bridge")).control
    assert control is not None
    assert (control.draws, control.share_beaten) == (200, 1.0)
    assert (control.mean_drop, control.sd_drop) == (0.0, 0.0)
    assert control.quoted_drop == pytest.approx(0.8)


def test_a_classifier_that_counts_masks_cannot_tell_quotes_from_chance() -> None:
    with bound(FakeClassifier(lambda text: 1 / (1 + text.count(MASK)))):
        control = score(quoting("bridge", "winter")).control
    assert control is not None
    assert control.share_beaten == 0.5
    assert control.mean_drop == pytest.approx(control.quoted_drop)


def test_the_share_is_one_half_on_average_when_the_quotation_is_random() -> None:
    shares = []
    with bound(FakeClassifier()):
        for seed, word in enumerate(WORDS.split() * 16):
            text = f"{WORDS} {seed}"
            report = score(quoting(word, text=text, seed=seed))
            if report.control is not None:
                shares.append(report.control.share_beaten)
    assert len(shares) == 96  # of 176: a function word alone is no quotation
    assert np.mean(shares) == pytest.approx(0.5, abs=0.1)  # sd of a uniform mean: 0.29 / sqrt(96)


@pytest.mark.parametrize(
    ("text", "quoted", "reason"),
    [
        ("go home", ["go home"], "leave no word"),
        ("... !!! go", ["..."], None),
    ],
)
def test_where_there_is_no_other_placement_there_is_no_control(
    text: str, quoted: list[str], reason: str | None
) -> None:
    with bound(FakeClassifier()):
        report = score(quoting(*quoted, text=text))
    assert report.control is None
    assert any("no control" in warning for warning in report.warnings)
    assert reason is None or any(reason in warning for warning in report.warnings)


@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 20))
def test_any_unicode_has_a_placement_or_a_reason(text: str, start: int, length: int) -> None:
    assume(start < len(text))
    quoted = [(start, min(len(text), start + length))]
    if why_no_control(text, quoted) is None:
        for spans in random_placements(text, quoted, 0, 20):
            assert mask_spans(text, spans) != text
            blocks = touched_words(count_units(text), spans)
            assert sum(b - a for a, b in blocks) == sum(
                b - a for a, b in touched_words(count_units(text), quoted)
            )


def test_the_longest_text_can_be_asked_about_with_every_word_masked() -> None:
    """The mask is longer than the words of this one; the queue binding checks sizes."""
    text = ("a " * MAX_TEXT)[:MAX_TEXT]
    masked = mask_spans(text, [(start, start + 1) for start in range(0, MAX_TEXT, 2)])
    assert len(masked) > 3 * MAX_TEXT
    assert op.Probabilities(texts=(text, masked)).texts[1] == masked
    assert op.JudgeExamples(examples=(Example(text=masked),)).examples[0].text == masked
