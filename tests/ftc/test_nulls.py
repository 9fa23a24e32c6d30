"""Random phrases that the premise supports as much: who is drawn, and that chance is chance."""

from __future__ import annotations

import numpy as np
import pytest

from services.ftc.contract import FtcRequest
from services.ftc.counterfactuals import EditedHypothesis, Slot, best_slot, same_words
from services.ftc.hypotheses import (
    content_stems,
    fill_all,
    matched_phrases,
    overlap_class,
    phrases_in,
    random_phrases,
)
from services.ftc.metric import SERVICE
from services.ftc.phrases import coverage, phrase, shape
from shared.statistics.seeds import generator
from tests.ftc.fake import FakeJudge, bound, by_hash

PREMISE = "A man in a blue shirt is playing chess with a young woman in the park."
HYPOTHESIS = "A man is playing cards."
NOUNS = tuple(f"a {what}" for what in (
    "dog", "chair", "tree", "lamp", "river", "hat", "spoon", "horse", "door", "cup", "bell",
    "wall", "bridge", "coin", "flag", "guitar", "candle", "ladder", "basket", "kite", "boat",
    "fence", "pillow", "bucket", "whistle", "feather",
))  # fmt: skip


def slot_of(given: str = "cards") -> Slot:
    built, own, other = shape(HYPOTHESIS), phrase(given), phrase("a dog")
    assert built is not None
    assert own is not None
    assert other is not None
    found = best_slot(built, own, other)
    assert found is not None
    return found


def made_with(words: str, slot: Slot | None = None) -> EditedHypothesis:
    slot, own = slot or slot_of(), phrase(words)
    assert own is not None
    text = slot.fill(own)
    assert text is not None
    return EditedHypothesis("substituted", text, "swap", slot, own)


def request(**more: object) -> FtcRequest:
    given = {"premise": PREMISE, "hypothesis": HYPOTHESIS, "explanation": "x", "language": "en"}
    return FtcRequest.model_validate({**given, "decision": "contradiction", **more})


def test_classes_part_none_half_more_and_all() -> None:
    assert [overlap_class(share) for share in (0, 0.1, 0.5, 0.51, 0.99, 1)] == [0, 1, 1, 2, 2, 3]


def test_what_the_premise_says_is_drawn_for_what_it_supports() -> None:
    slot, chess = slot_of(), phrase("chess")
    assert chess is not None
    found = matched_phrases(request(), made_with("chess"), slot, chess)
    assert (found.kind, found.premise_overlap) == ("phrases", 1)
    assert found.placements == len(found.texts) == len(set(found.texts))
    assert any("park" in text for text in found.texts)
    held = content_stems(PREMISE)
    for text in found.texts:
        assert not same_words(text, HYPOTHESIS)
        assert not same_words(text, made_with("chess").text)
        assert coverage(content_stems(text) - content_stems(HYPOTHESIS), held) in (0, 1)
    assert found.placements < 19
    assert random_phrases(request(), made_with("chess")).kind == "any"  # which stand in


def test_what_it_does_not_say_meets_phrases_that_it_does_not_say_either() -> None:
    found = random_phrases(request(), made_with("a dog"))
    assert found.premise_overlap == 0
    assert len(found.texts) >= 19
    held = content_stems(PREMISE)
    assert not any(stem in held for text in found.texts
                   for stem in content_stems(text) - content_stems(HYPOTHESIS))  # fmt: skip


def test_draws_are_seeded_and_the_same_for_every_explanation_of_a_kind() -> None:
    one = random_phrases(request(substitutes=NOUNS), made_with("a dog")).texts
    other = random_phrases(request(substitutes=NOUNS), made_with("a hat")).texts
    assert one == random_phrases(request(substitutes=NOUNS), made_with("a dog")).texts
    assert one != random_phrases(request(substitutes=NOUNS, seed=1), made_with("a dog")).texts
    common = [text for text in one if text in other]
    assert common == [text for text in other if text in one]


def test_no_other_phrase_is_no_null_and_why() -> None:
    alone = request(premise="Chess.", hypothesis="Cards.", substitutes=("to sing",))
    found = random_phrases(alone, made_with("chess"))
    assert (found.texts, found.placements) == ((), 0)
    assert found.doubt == "no other phrase has as many of its words in the premise"


def test_few_phrases_cannot_reach_the_level_and_say_so() -> None:
    with bound(FakeJudge()):
        report = SERVICE.score(
            request(
                explanation="The man cannot be playing cards and playing chess at the same time.",
                substitutes=("playing the piano", "playing tennis", "playing golf"),
            )
        )
    null = report.counterfactuals[0].null
    assert null is not None
    assert null.placements is not None
    assert null.placements < 19
    assert (null.exact, null.draws) == (True, null.placements)
    assert null.attainable_p == pytest.approx(1 / (null.placements + 1))
    assert report.control is not None
    assert report.control.null_attainable_p == null.attainable_p
    assert null.attainable_p is not None
    assert null.p_value >= null.attainable_p > 0.05


def test_phrases_stand_with_what_comes_before_their_head() -> None:
    found = {one.text for one in phrases_in("A young man plays chess in the park.")}
    assert {"A young man", "plays chess in the park", "in the park", "the park"} <= found
    assert "man" not in found
    assert phrases_in("") == ()
    assert phrases_in("x " * 5_000) is not None


def at_chance(runs: int) -> tuple[float, float]:
    """(mean win rate, share of p <= 0.05) of explanations whose phrase is any of its class, before
    a judge whose answers look random; p of 1/25 and less can be had."""
    slot, wins, small = slot_of(), [], []
    texts = fill_all(slot, "", [one for text in NOUNS if (one := phrase(text)) is not None])
    assert len(texts) > 20
    requests = []
    for run in range(runs):
        chosen = texts[generator(run, "chosen").integers(len(texts))]
        made = {"kind": "substituted", "text": chosen}
        premise = f"{PREMISE[:-1]} at {run}."
        requests.append(request(premise=premise, counterfactuals=[made], substitutes=NOUNS))
    with bound(FakeJudge(by_hash)):
        reports = SERVICE.score_batch(requests)
    for report in reports:
        null = report.counterfactuals[0].null
        if null is not None and null.premise_overlap == 0:  # else the place is read otherwise
            assert (null.placements or 0) >= len(texts) - 1
            wins.append(null.win_rate)
            small.append(null.p_value <= 0.05)
    assert len(wins) >= runs / 2
    return float(np.mean(wins)), float(np.mean(small))


def test_a_random_phrase_of_its_class_is_at_chance() -> None:
    wins, small = at_chance(150)
    assert wins == pytest.approx(0.5, abs=3 * 0.29 / 75**0.5)
    assert small <= 0.05 + 3 * (0.05 * 0.95 / 75) ** 0.5


@pytest.mark.nightly
def test_a_random_phrase_of_its_class_is_at_chance_at_full_size() -> None:
    wins, small = at_chance(2_000)
    assert wins == pytest.approx(0.5, abs=0.02)
    assert 0.02 <= small <= 0.06  # 1/26 or 1/27 is the level that can be had
