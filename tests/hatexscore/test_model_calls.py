from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.model_calls import (
    NO_CONTROL,
    NO_DECISION,
    OTHER_DECISION,
    RandomPlacements,
)
from services.hatexscore.quotes import MASK, Span, count_units, mask_spans, overlap_words
from services.hatexscore.report import HatexscoreRandomSpans
from services.hatexscore.verdict import MATTER
from shared.contracts import calls as op
from shared.contracts.calls import Example
from shared.contracts.messages import MAX_TEXT
from shared.contracts.request_cost import WorkLimit
from shared.statistics.group_sequential import looks_up_to
from shared.statistics.placements import MOST_RUNS, runs_of
from tests.flat_requests import with_options
from tests.hatexscore.fake import FakeClassifier, bound, by_hash, surely

score = SERVICE.score

WORDS = "the old bridge near our village was closed again this winter"


def quoting(*quoted: str, text: str = WORDS, seed: int = 0) -> HatexscoreRequest:
    marked = " and ".join(f'"{part}"' for part in quoted)
    return HatexscoreRequest(
        text=text,
        explanation=f"It says {marked}. Conclusion: hateful.",
        decision="hateful",
        language="en",
        seed=seed,
        options={"control_draws": 200},
    )


LONG = f"{WORDS} and then {WORDS.replace('the old', 'a new')} for good"


def every(units: int, observed: set[int]) -> set[tuple[int, ...]]:
    """The oracle: all sets of so many units whose maximal runs have the observed lengths."""

    def lengths(places: tuple[int, ...]) -> list[int]:
        return sorted(last - first for first, last in runs_of(places))

    wanted = lengths(tuple(sorted(observed)))
    sets = combinations(range(units), len(observed))
    return {places for places in sets if lengths(places) == wanted} - {tuple(sorted(observed))}


def drawn_units(text: str, spans: list[Span]) -> tuple[int, ...]:
    touched = overlap_words(count_units(text), spans)
    return tuple(place for first, last in touched for place in range(first, last))


@given(st.sets(st.integers(0, 10), min_size=1, max_size=5), st.integers(0, 2**63 - 1))
def test_few_placements_are_all_taken_and_each_once(chosen: set[int], seed: int) -> None:
    counted = count_units(WORDS)
    placements = RandomPlacements.of(WORDS, [counted[place] for place in sorted(chosen)])
    oracle = every(len(counted), chosen)
    assert placements.others == len(oracle)
    drawn = [drawn_units(WORDS, spans) for spans in placements.draws(seed, 200)]
    assert len(drawn) == len(set(drawn)) == min(200, len(oracle))
    assert set(drawn) <= oracle
    if len(oracle) <= 200:
        assert set(drawn) == oracle


def test_the_seed_the_text_and_the_lengths_key_the_draws() -> None:
    counted = count_units(LONG)

    def draws(place: int, seed: int, text: str = LONG) -> list[list[Span]]:
        return RandomPlacements.of(text, [counted[place]]).draws(seed, 10)

    assert draws(2, 1) == draws(2, 1)
    assert draws(2, 1) != draws(2, 2)
    assert draws(2, 1) != draws(2, 1, f"{LONG} ")
    # Quotes of the same lengths meet the same draws, but for the quoted placement of each.
    one, other = draws(2, 1), draws(3, 1)
    assert sum(spans in other for spans in one) >= 8


def test_a_text_with_too_many_placements_to_rank_is_drawn_from_too() -> None:
    text = "word " * 2_000
    quoted = count_units(text)[::20]
    placements = RandomPlacements.of(text, quoted)
    assert len(placements.lengths) > MOST_RUNS
    drawn = placements.draws(0, 5)
    assert len({tuple(spans) for spans in drawn}) == 5
    assert {len(spans) for spans in drawn} == {len(quoted)}


def test_a_classifier_that_looks_at_the_quoted_word_is_beaten_by_nothing() -> None:
    with bound(FakeClassifier(lambda text: 0.9 if "bridge" in text else 0.1)):
        control = score(quoting("bridge")).control
    assert control is not None
    assert (control.draws, control.share_beaten) == (10, 1.0)
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
    with bound(FakeClassifier(surely)):
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
        ("go home", ["go home"], "cover every word"),
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
    placements = RandomPlacements.of(text, [(start, min(len(text), start + length))])
    if placements.why_none is None:
        for spans in placements.draws(0, 20):
            assert mask_spans(text, spans) != text
            assert len(drawn_units(text, spans)) == len(placements.observed)


def test_quotes_that_touch_are_one_passage() -> None:
    with bound(FakeClassifier()):
        report = score(quoting("old bridge", "near", text=f"{WORDS}, {WORDS}"))
        apart = score(quoting("old bridge", "village", text=f"{WORDS}, {WORDS}"))
    assert report.masked_text is not None
    assert apart.masked_text is not None
    assert "the [MASK] our village" in report.masked_text
    assert "the [MASK] near our [MASK] was" in apart.masked_text


def test_the_p_value_counts_the_observed_and_needs_nineteen_draws() -> None:
    with bound(FakeClassifier(lambda text: 0.9 if "bridge" in text else 0.6)):
        few = score(quoting("bridge"))
        many = score(quoting("bridge", text=LONG.replace("bridge", "path", 1)))
        none = score(quoting("near", text=LONG))
    assert few.control is not None
    assert many.control is not None
    assert none.control is not None
    assert (few.control.exact, few.control.placements, few.control.draws) == (True, 10, 10)
    assert few.control.p_value == few.control.attainable_p == pytest.approx(1 / 11)
    assert many.control.p_value == pytest.approx(1 / (1 + many.control.draws))
    outcomes = [one.outcome for report in (few, many, none) for one in report.checks
                if one.name == MATTER]  # fmt: skip
    assert outcomes == ["inconclusive", "passed", "inconclusive"]
    assert many.control.qf_excess == pytest.approx(0.3)


@pytest.mark.parametrize(
    "quoted", ["bridge", "old bridge near", "bridge near our village was closed"]
)
@pytest.mark.parametrize("original", [0.55, 0.75, 0.95])
def test_both_sides_overlap_and_histogram_are_of_all_placements(
    quoted: str, original: float
) -> None:
    """Where all are drawn, an enumeration is the oracle."""
    with bound(FakeClassifier(lambda text: by_hash(text) if MASK in text else original)):
        report = score(quoting(quoted))
    control, observed = report.control, report.signed_drop
    assert control is not None
    assert observed is not None
    start = WORDS.index(quoted)
    own = set(drawn_units(WORDS, [(start, start + len(quoted))]))
    others = every(len(count_units(WORDS)), own)
    assert control.exact
    assert control.kind == "spans"
    shared = [len(own & set(one)) / len(own | set(one)) for one in others]
    assert control.overlap == pytest.approx(np.mean(shared))
    null, behind = np.array(control.signed_drops), 1 + len(others)
    assert control.p_value == pytest.approx((1 + np.sum(null >= observed)) / behind)
    assert control.p_anti == pytest.approx((1 + np.sum(null <= observed)) / behind)
    both = np.minimum(np.sum(null >= observed), np.sum(null <= observed)) + 1
    assert control.p_two_sided == pytest.approx(min(1.0, 2 * both / behind))
    assert control.histogram is not None
    assert sum(control.histogram.counts) == len(others)
    assert (control.histogram.low, control.histogram.high) == (null.min(), null.max())


VERY_LONG = " ".join(f"word{place} and" for place in range(120))


def drawing(p: Callable[[str], float], *, seed: int = 0, **fields: Any) -> HatexscoreRandomSpans:
    """The control of "word7" in a text of 240 words, by default draws."""
    options = {"control_draws": fields.pop("control_draws", None)}
    asked = with_options(quoting("word7", text=VERY_LONG, seed=seed), **options)
    asked = asked.model_copy(update=fields)
    with bound(FakeClassifier(p)):
        control = score(asked).control
    assert control is not None
    return control


def test_clear_cases_end_at_an_early_look_and_others_go_on() -> None:
    poor = drawing(lambda text: 0.9 - by_hash(text) / 100 if "word7 " in text else 0.95)
    assert (poor.draws, poor.win_rate_draws, poor.exact) == (19, 19, False)
    assert poor.p_value is not None
    assert poor.p_value > 0.1
    good = drawing(lambda text: 0.9 if "word7 " in text else 0.1)
    assert (good.draws, good.win_rate_draws, good.rank) == (39, 19, 1)
    assert (good.share_beaten, good.p_value) == (1.0, 1 / 40)
    assert good.attainable_p == poor.attainable_p == 1 / 40
    assert good.p_anti == 1.0  # of the first look, where each draw does less
    assert good.placements == len(count_units(VERY_LONG)) - 1


def test_the_share_beaten_rests_on_the_first_look_and_p_on_the_one_that_stops() -> None:
    def p(text: str) -> float:
        return 0.9 - 0.5 * ("word7 " not in text) - 0.55 * ("word3" not in text)

    found = drawing(p, seed=4)
    null = np.array(found.signed_drops)
    reached = null >= (0.9 - p(VERY_LONG.replace("word7 ", "[MASK] "))) - 1e-12
    assert found.share_beaten == pytest.approx(np.mean(null[:19] < 0.5))
    assert found.rank == 1 + reached.sum()
    rule = looks_up_to(199)
    assert rule.stopped(reached) == (found.draws, reached.sum())
    assert found.p_value == rule.p_value((found.draws, int(reached.sum())))


def test_draws_that_were_sent_are_the_most_and_fewer_are_one_look() -> None:
    def p(text: str) -> float:
        return 0.9 - 0.1 * text.count("[MASK]") if "word7 " in text else 0.8

    assert [drawing(p, control_draws=n).draws for n in (1, 18, 19)] == [1, 18, 19]
    assert drawing(p, variant="paper").draws == 20
    assert drawing(p, control_draws=120).signed_drops == drawing(p).signed_drops[:19]


def test_each_look_is_one_more_call_for_all_and_changes_no_byte() -> None:
    def p(text: str) -> float:
        return 0.9 if "word7 " in text else by_hash(text) / 2

    asked = [
        with_options(quoting(word, text=VERY_LONG, seed=seed), control_draws=None)
        for seed, word in enumerate(["word7", "word9", "word30", "word7 and word8"])
    ]
    judge = FakeClassifier(p)
    with bound(judge):
        together = SERVICE.score_batch(asked)
        calls = list(judge.calls)
        alone = [score(one) for one in asked]
    assert [one.model_dump_json() for one in together] == [one.model_dump_json() for one in alone]
    draws = {one.control.draws for one in together if one.control}
    assert {19, 39} <= draws
    looks = looks_up_to(199).looks
    assert len(calls) == 2 + looks.index(max(draws))  # P first, then each look
    assert calls[0] == [VERY_LONG, *(one.masked_text for one in together)]
    texts = [text for call in calls for text in call]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("decided", ["non-hateful", None])
def test_where_there_is_no_qf_no_random_span_is_asked_about(decided: str | None) -> None:
    """The model decides hateful, or nobody says what was decided; the drops are told."""
    unclear = {"decision": decided, "explanation": 'It says "bridge".'}
    asked = quoting("bridge", text=LONG).model_copy(update=unclear)
    witness = quoting("winter", text=LONG)
    judge = FakeClassifier(lambda text: 0.8 if "bridge" in text else 0.6)
    with bound(judge):
        alone = score(asked)
        calls = list(judge.calls)
        together = SERVICE.score_batch([witness, asked])
    assert calls == [[LONG, alone.masked_text]]
    assert together[1].model_dump_json() == alone.model_dump_json()
    assert together[0].control is not None
    assert (alone.components.qf, alone.control) == (None, None)
    assert alone.signed_drop == pytest.approx(0.2)
    assert [one for one in alone.warnings if one.startswith(NO_CONTROL)] == [
        f"{NO_CONTROL}{OTHER_DECISION if decided else NO_DECISION}"
    ]


@given(st.sampled_from(("bridge", "village", "closed", "winter", "near")), st.integers(0, 99))
def test_ranks_need_no_threshold(word: str, salt: int) -> None:
    """A judge whose P is halved decides otherwise: p stays, the quotes can pass but never fail."""
    with bound(FakeClassifier(lambda text: surely(f"{salt}{text}"))):
        agreeing = score(quoting(word, text=LONG))
    with bound(FakeClassifier(lambda text: surely(f"{salt}{text}") / 2.0001)):
        disagreeing = score(quoting(word, text=LONG))
    assert (agreeing.model_agrees, disagreeing.model_agrees) == (True, False)
    if agreeing.control is None:
        assert disagreeing.control is None
        return
    assert disagreeing.control is not None
    assert disagreeing.control.p_value == agreeing.control.p_value
    assert disagreeing.components.qf is None
    checks = {one.name: one for one in CONTRACT.judged(disagreeing).checks}
    is_clear = (agreeing.control.p_value or 1.0) <= 0.05
    assert checks[MATTER].outcome == ("passed" if is_clear else "not_tested")


def test_an_equation_that_asks_no_witness_keeps_its_control() -> None:
    asked = quoting("bridge", text=LONG).model_copy(update={"variant": "paper"})
    with bound(FakeClassifier(lambda text: 0.3 if "bridge" in text else 0.1)):
        report = score(asked)
    assert report.model_agrees is False
    assert report.components.qf == pytest.approx(0.2)
    assert report.control is not None


def test_the_longest_text_has_the_draws_that_its_budget_holds() -> None:
    request = HatexscoreRequest(text="x " * (MAX_TEXT // 2), explanation="")
    assert request.most_draws == 100
    WorkLimit(seconds=900, tokens_per_second=10_000).check(CONTRACT.work(request, 512))
    assert HatexscoreRequest(text="x", explanation="").most_draws == 199
    assert HatexscoreRequest(text="x", explanation="", variant="paper").most_draws == 20


def test_a_drop_of_the_other_sign_beats_nothing() -> None:
    """Masking raises P: as far as any random span moves it, but not towards the decision."""
    with bound(FakeClassifier(lambda text: 0.6 if "bridge" in text else 0.9)):
        report = score(quoting("bridge"))
        paper = score(quoting("bridge").model_copy(update={"variant": "paper"}))
    assert report.control is not None
    assert paper.control is not None
    assert (report.control.share_beaten, report.control.p_value) == (0.0, 1.0)
    assert paper.control.share_beaten == 1.0
    assert report.control.signed_drops == (0.0,) * 10


def test_the_longest_text_can_be_asked_about_with_every_word_masked() -> None:
    """The mask is longer than the words of this one; the queue binding checks sizes."""
    text = ("a " * MAX_TEXT)[:MAX_TEXT]
    masked = mask_spans(text, [(start, start + 1) for start in range(0, MAX_TEXT, 2)])
    assert len(masked) > 3 * MAX_TEXT
    assert op.Probabilities(texts=(text, masked)).texts[1] == masked
    assert op.JudgeExamples(examples=(Example(text=masked),)).examples[0].text == masked
