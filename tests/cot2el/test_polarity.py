"""Whether a unit says the opposite of what resembles it: by a model, by negations, or unasked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.cot2el_polarity import measured
from services.cot2el.metric import SERVICE
from services.cot2el.refinement import by_cues, by_probability
from services.cot2el.report import Cot2elResult
from services.cot2el.segmentation import Language
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.text.changed_meaning import negations
from tests.cot2el.writers import Negations, bound, sent
from tests.fakes import bound_models
from tests.shipped import shipped_models


class Blind(Negations):
    """Finds no contradiction anywhere."""

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        return super().judgements([Example(text="", text_pair="") for _ in examples])


THOUGHT = (
    "The man is holding an umbrella while he waits. It is raining in the street today. "
    "Nobody mentions any wet cars."
)
SAID = ("It is raining in the street today.", "It is not raining in the street today.")


def score(*said: str, **fields: Any) -> Cot2elResult:
    pairs = [{"explanation": text, "label": "A"} for text in said]
    return SERVICE.score(sent(reasoning=THOUGHT, pairs=pairs, **fields))


def test_an_explanation_whose_unit_says_the_opposite_is_dropped() -> None:
    report = score(*SAID)
    [kept], [dropped] = report.evidence, report.dropped
    assert (kept.original, kept.polarity, kept.contradiction) == (SAID[0], "kept", 0.1)
    assert (dropped.explanation, dropped.polarity) == (SAID[1], "contradicted")
    assert dropped.contradiction == 0.9
    assert dropped.similarity is not None
    assert dropped.similarity > 0.6
    parts = report.components
    assert (parts.parsed, parts.kept, parts.contradicted) == (2, 1, 1)
    assert report.score == parts.faithfulness == 0.5
    assert report.provenance.parameters["polarity"] == "nli"
    assert [use.name for use in report.provenance.models] == ["embedded-nli"]


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_as_printed_and_as_released_nothing_is_asked(variant: str) -> None:
    with bound() as models:
        report = score(*SAID, variant=variant)
    assert models.nli.calls == []
    assert report.components.kept == 2
    assert {one.polarity for one in report.evidence} == {None}
    assert report.provenance.parameters["polarity"] == "none"
    assert report.control is None or report.control.other_items is None


def test_the_repeated_unit_of_a_dropped_explanation_is_still_free() -> None:
    report = score(SAID[1], SAID[0])
    assert [one.original for one in report.evidence] == [SAID[0]]


def test_one_call_for_all_requests_and_no_pair_twice() -> None:
    pairs = [{"explanation": text, "label": "A"} for text in SAID]
    asked = [sent(reasoning=THOUGHT, pairs=pairs, seed=seed) for seed in range(3)]
    with bound() as models:
        together = SERVICE.score_batch(asked)
        [call] = models.nli.calls
    assert len(call) == len(set(call))
    assert [one.model_dump_json() for one in together] == [
        SERVICE.score(one).model_dump_json() for one in asked
    ]


def test_a_model_that_does_not_know_the_language_leaves_it_to_cues() -> None:
    with bound(nli=Negations(languages=("de",))):
        report = score(*SAID)
    assert (report.components.kept, report.components.contradicted) == (1, 1)
    assert report.dropped[0].contradiction is None
    assert any("by counting negations" in warning for warning in report.warnings)
    assert report.provenance.models == ()
    with bound(nli=Negations(languages=("de",))):
        asked = score(*SAID, accept_untrained_languages=True)
    assert asked.provenance.parameters["polarity"] == "nli"


def test_what_the_model_did_not_read_is_kept_and_told() -> None:
    with bound(nli=Negations(unread=True)):
        report = score(*SAID)
    assert {one.polarity for one in report.evidence} == {"unread"}
    assert any(warning.startswith("polarity-unread: 2") for warning in report.warnings)


def test_a_model_that_tells_no_inference_is_the_callers_mistake_if_it_was_named() -> None:
    with bound(nli=Negations(labels=("yes", "maybe", "no"))):
        with pytest.raises(BadInput) as caught:
            score(*SAID, nli_model="embedded-nli")
        assert caught.value.pointer == "/nli_model"
        assert score(*SAID).provenance.parameters["polarity"] == "cues"
    with pytest.raises(BadInput) as unknown:
        score(*SAID, nli_model="nobody")
    assert unknown.value.pointer == "/nli_model"


def test_a_model_that_is_blind_to_a_not_is_helped_where_words_are_copied() -> None:
    for said, kept in [
        ("It is raining in the street today.", True),
        ("It is not raining in the street today.", False),
        ("It isn't raining in the street today.", False),
        ("Nobody mentions any wet cars.", True),
        ("They mention wet cars.", True),  # other words: the model alone tells
        ("The man is never holding an umbrella while he waits.", False),
    ]:
        with bound(nli=Blind()):
            report = score(said, min_similarity=0.5)
            by_name = score(said, min_similarity=0.5, polarity="none")
        assert by_name.components.kept == 1
        assert report.components.kept == int(kept)
        if not kept:
            assert (report.dropped[0].polarity, report.dropped[0].contradiction) == (
                "contradicted",
                0.1,
            )


def test_half_is_too_much() -> None:
    assert [by_probability(p).polarity for p in (0, 0.49, 0.5, 1)] == [
        "kept", "kept", "contradicted", "contradicted",
    ]  # fmt: skip


NEGATED: list[tuple[Language, str, str]] = [
    ("en", "The cat sleeps on the mat.", "The cat doesn't sleep on the mat."),
    ("en", "She can come, nothing is lost.", "She cannot come, nothing is lost."),
    ("zh", "今天非常热，不仅热还下雨。", "今天不热，也下雨。"),
    ("ko", "오늘은 비가 온다.", "오늘은 비가 오지 않는다."),
    ("ja", "今日は雨が降る。", "今日は雨が降らない。"),
]


def test_cues_count_negations_by_language() -> None:
    for language, plain, negated in NEGATED:
        assert (negations(negated, language) - negations(plain, language)) % 2 == 1
        read = by_cues(language)
        for unit, said, polarity in (
            (plain, negated, "contradicted"),
            (negated, plain, "contradicted"),
            (plain, plain, "kept"),
            (negated, negated, "kept"),
        ):
            found = read(unit, said)
            assert found is not None
            assert found.polarity == polarity


def test_chance_is_read_alike() -> None:
    report = score(*SAID, control_pool=["It is not raining in the street today!"])
    assert report.control is not None
    assert report.control.other_items is not None
    assert report.control.other_items.mean_similarity > 0.6
    assert report.control.other_items.faithfulness == 0
    assert Cot2elResult.model_validate_json(report.model_dump_json()) == report


DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.nightly
@pytest.mark.skipif(not DATA.exists(), reason="no shared data on this machine")
def test_sentences_with_a_not_more_are_dropped_and_others_kept() -> None:
    with bound_models(shipped_models()):
        found = measured(DATA, "nli")
    assert found["originals"]["share"] >= 0.95
    assert found["negated"]["share"] <= 0.30
    assert found["other_items"]["share"] <= 0.05
