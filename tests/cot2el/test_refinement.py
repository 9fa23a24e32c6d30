"""Alignment: every kept explanation stands in the reasoning, and refining twice changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cot2el import kernel
from services.cot2el.kernel import MOST_STEPS
from services.cot2el.refinement import (
    AlignedReasoning,
    RefinedExplanation,
    RefinementRule,
    align_draft,
    align_texts,
    load_pool,
    other_items,
    permute_words,
    without_polarity,
    word_permutations,
)
from services.cot2el.segmentation import Unit, merge_units, segment, sentences
from services.cot2el.stages import ReasoningDraft
from shared.contracts.errors import BadInput, JobCancelled
from shared.contracts.questions import Explanation
from shared.queue.job_context import JobContext, use_context
from tests.cot2el.writers import THOUGHT, request

DEFAULT = RefinementRule(0.6)
words = st.sampled_from(
    ["the", "man", "rain", "because,", "so", "but.", "It", "says\n", "no", "umbrella", "비", "雨。"]
)
texts = st.lists(words, max_size=30).map(" ".join)


def pair(text: str, label: str = "A") -> Explanation:
    return Explanation(explanation=text, label=label)


def refine(
    pairs: Sequence[Explanation], reasoning: str, units: Sequence[Unit], rule: RefinementRule
) -> list[RefinedExplanation]:
    """Eq. 4 for every pair, in order."""
    found = align_texts([one.explanation for one in pairs], reasoning, units, rule)
    aligned = AlignedReasoning(
        reasoning, "en", "both", rule, tuple(units), tuple(pairs), tuple(found), None, None
    )
    return list(aligned.refine(without_polarity).refined)


def test_the_alignment_of_a_cancelled_job_ends() -> None:
    job = JobContext("j", "t", batch=False, deadline=inf)
    job.cancelled.set()
    with use_context(job), pytest.raises(JobCancelled):
        align_texts(["rain"], "It rains.", segment("It rains.", "en"), DEFAULT)


@given(texts, st.lists(texts.filter(bool), max_size=4), st.sampled_from([0.0, 0.3, 0.6]))
def test_refining_twice_changes_nothing(text: str, explanations: list[str], least: float) -> None:
    units, rule = segment(text, "en"), RefinementRule(least)

    def filtered(pairs: list[Explanation]) -> list[Explanation]:
        return [
            pair(text[(u := units[one.alignment.unit]).start : u.end])
            for one in refine(pairs, text, units, rule)
            if one.kept and not one.repeats and one.alignment
        ]

    once = filtered([pair(one) for one in explanations])
    assert all(one.explanation in text for one in once)
    assert filtered(once) == once


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=6), st.booleans())
def test_the_upper_bounds_change_no_result(
    explanations: list[str], units: list[str], autojunk: bool
) -> None:
    for text, found in zip(
        explanations, kernel.align(explanations, units, autojunk=autojunk), strict=True
    ):
        ratios = [SequenceMatcher(None, text, unit, autojunk).ratio() for unit in units]
        best = max(range(len(units)), key=ratios.__getitem__, default=None)
        expected = None if best is None else kernel.Alignment(best, ratios[best])
        assert found == expected


def test_a_verbatim_sentence_maps_to_itself() -> None:
    units = segment(THOUGHT, "en")
    for start, end in sentences(THOUGHT):
        (one,) = refine([pair(THOUGHT[start:end])], THOUGHT, units, DEFAULT)
        assert one.kept
        assert one.alignment is not None
        assert one.alignment.similarity == 1
        unit = units[one.alignment.unit]
        assert THOUGHT[unit.start : unit.end] == THOUGHT[start:end]


def test_an_unrelated_sentence_is_dropped_at_the_default_and_kept_at_zero() -> None:
    units = segment(THOUGHT, "en")
    odd = pair("Quarterly profits exceeded all forecasts.")
    assert [one.kept for one in refine([odd], THOUGHT, units, DEFAULT)] == [False]
    assert [one.kept for one in refine([odd], THOUGHT, units, RefinementRule(0.0))] == [True]
    assert [one.kept for one in refine([odd], THOUGHT, [], RefinementRule(0.0))] == [False]


def test_the_threshold_is_strict() -> None:
    unit = "abcdefgh"  # against "abcdef": 12 / 14
    units = segment(unit, "en")
    assert refine([pair("abcdef")], unit, units, RefinementRule(12 / 14))[0].kept is False
    assert refine([pair("abcdef")], unit, units, RefinementRule(11.9 / 14))[0].kept is True


def test_a_unit_counts_once_for_a_label_and_stance() -> None:
    units = segment(THOUGHT, "en")
    sentence = "So the statement cannot be confirmed."
    pairs = [pair(sentence), pair(sentence[:-1]), pair(sentence, "B")]
    assert [one.repeats for one in refine(pairs, THOUGHT, units, DEFAULT)] == [False, True, False]
    released = RefinementRule(0.6, autojunk=True, repeated=True)
    assert not any(one.repeats for one in refine(pairs, THOUGHT, units, released))


def test_frequent_letters_are_no_junk() -> None:
    unit = "so " + "the statement is neither true nor false, " * 5 + "it remains open."
    text = "the statement is neither true nor false"
    assert kernel.ratio(text, unit) > kernel.ratio(text, unit, autojunk=True)


def test_shuffled_words_are_the_same_words() -> None:
    draw = np.random.default_rng(1)
    assert sorted(permute_words("a b c d", draw).split()) == list("abcd")
    assert sorted(permute_words("因为下雨", draw)) == sorted("因为下雨")


def test_true_sentences_beat_their_shuffled_words() -> None:
    pairs = [pair(THOUGHT[start:end]) for start, end in sentences(THOUGHT)]
    asked = request(pairs=[one.model_dump() for one in pairs], control_draws=5)
    found = align_draft(ReasoningDraft(0, asked, THOUGHT, None, None, tuple(pairs))).refine(
        without_polarity
    )
    assert found.chance is not None
    assert found.others is not None
    for chance in (found.chance, found.others):
        assert chance.draws == 5
        assert chance.mean_similarity < 0.8
        assert chance.faithfulness < 1
    assert found.others.faithfulness == 0


def test_random_words_are_drawn_for_each_text_and_as_released_by_the_seed_alone() -> None:
    said = ["one two three four five six", "seven eight nine ten eleven"]
    pairs = [pair(text).model_dump() for text in said]
    for variant, alike in (("robust", False), ("paper", True)):
        asked = request(pairs=pairs, variant=variant)
        one, other = (
            word_permutations(asked, text, said) for text in (THOUGHT, f"{THOUGHT} Well.")
        )
        assert one == word_permutations(asked, THOUGHT, said)
        assert (one == other) == alike
        assert bool(other_items(asked, THOUGHT, said)) != alike


def test_the_pool_of_other_items_is_ours_and_yours_if_you_send_one() -> None:
    assert len(set(load_pool())) == 200
    mine = request(pairs=[pair("a").model_dump()], control_pool=["Somebody sings.", "a"])
    assert set(other_items(mine, THOUGHT, ["a"])) == {"Somebody sings."}


def test_too_much_work_is_refused() -> None:
    text = "x" * 20_000
    with pytest.raises(BadInput):
        refine([pair(text)] * 200, text, segment("x. Y " * 4_000, "en", "both"), DEFAULT)


@pytest.mark.parametrize("repeated", [("ab", "aabb"), ("aab", "abb"), ("🙂e\u0301", "e\u0301🙂🙂")])
def test_two_texts_that_take_hours_to_compare_are_refused_in_seconds(
    repeated: tuple[str, str],
) -> None:
    text, said = (piece * (1_500 // len(piece)) for piece in repeated)
    units = merge_units([((0, len(text)), "given")])
    with pytest.raises(BadInput, match="would take too long") as caught:
        refine([pair(said)], text, units, RefinementRule(0.6, most_steps=1_000_000))
    assert caught.value.pointer == "/pairs"


def test_prose_stays_far_below_the_bound() -> None:
    text = " ".join(f"{number}. {THOUGHT}" for number in range(12))
    pairs = [pair(THOUGHT[start:end]) for start, end in sentences(THOUGHT)] * 3
    units = segment(text, "en")
    bounded = RefinementRule(0.6, most_steps=MOST_STEPS // 51)  # the most draws of the control
    assert refine(pairs, text, units, bounded) == refine(pairs, text, units, DEFAULT)
