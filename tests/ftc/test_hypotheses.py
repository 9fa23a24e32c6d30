from __future__ import annotations

from collections import Counter

from services.ftc.contract import FtcRequest
from services.ftc.counterfactuals import Slot, best_slot, same_words
from services.ftc.extraction import extract
from services.ftc.hypotheses import derive_hypotheses, load_substitutes, random_hypotheses
from services.ftc.phrases import phrase, shape


def slot() -> Slot:
    built, given, other = (
        shape("A man is playing chess."),
        phrase("playing chess"),
        phrase("asleep"),
    )
    assert built
    assert given
    assert other
    found = best_slot(built, given, other)
    assert found
    return found


def test_draws_are_seeded_distinct_and_none_is_the_observed_one() -> None:
    observed = "A man is sleeping."
    one = random_hypotheses(slot(), observed, (), 1, 40)
    assert one == random_hypotheses(slot(), observed, (), 1, 40)
    assert one != random_hypotheses(slot(), observed, (), 2, 40)
    assert len(one) == len(set(one)) == 40
    assert not any(
        same_words(text, observed) or same_words(text, "A man is playing chess.") for text in one
    )
    assert all(text.startswith("A man is ") for text in one)


def test_every_phrase_is_drawn_as_often_as_any_other() -> None:
    pool = ("sleeping", "singing", "cooking", "dancing", "reading", "swimming")
    counts = Counter(random_hypotheses(slot(), "x", pool, seed, 1)[0] for seed in range(600))
    assert len(counts) == 6
    assert all(60 <= count <= 140 for count in counts.values())


def test_a_small_pool_gives_no_null() -> None:
    assert (
        random_hypotheses(slot(), "x", ("sleeping", "singing", "a dog", "in the park"), 0, 10) == []
    )


def test_our_own_phrases_have_a_type_and_are_enough_for_every_slot() -> None:
    read = [phrase(text) for text in load_substitutes()]
    assert len(set(load_substitutes())) == len(load_substitutes()) == 303
    types = Counter(one.type for one in read if one is not None)
    assert sum(types.values()) >= 295
    assert all(types[kind] >= 35 for kind in ("noun", "verb", "preposition", "adjective"))


def test_every_move_can_be_drawn_for() -> None:
    cases = [
        ("entailment", "A dog sleeps on the sofa.", "A poodle is a dog."),
        ("entailment", "A man is making music.", "A man is playing the piano."),
        ("neutral", "The worker is tired.", "We cannot know if the worker is tired."),
    ]
    for label, hypothesis, explanation in cases:
        found = extract(label, hypothesis, explanation, printed=False)  # type: ignore[arg-type]
        for made in found.made:
            assert made.slot is not None
            assert len(random_hypotheses(made.slot, made.text, (), 0, 30)) == 30


def test_of_fields_text_and_reasons_are_read_and_the_decision_is_the_label() -> None:
    pair = {
        "premise": "Two skateboarders navigate a curve in the park.",
        "hypothesis": "Two skateboarders are navigating a bend.",
    }
    said = "A curve is a bend."
    text = FtcRequest.model_validate({**pair, "explanation": said, "decision": "entailment"})
    fields = {"decision": "entailment", "reasons": [said], "quotes": ["a curve"]}
    given = FtcRequest.model_validate({**pair, "explanation": fields})
    assert given.sent_decision == "entailment"
    [one], [other] = (derive_hypotheses([each], ["entailment"]) for each in (text, given))
    assert one.hypotheses
    assert one == other
