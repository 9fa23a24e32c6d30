"""Random rationales that share more with the tested one: how rare its words are, its length."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.ice.nulls import _class_of, strata_of
from shared.statistics.placements import runs_of
from tests.flat_requests import flat_request
from tests.ice.planted import planted
from tests.ice.test_randomization_test import span, text_of

if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier


TEXT = "the old gardener quietly misremembered a rainy afternoon and the sandcastles near her house"


def experiment(**fields: Any) -> Experiment:
    [(found, _)] = run_experiments([flat_request(IceRequest, fields)])
    assert isinstance(found, Experiment)
    return found


def test_words_are_ranked_by_how_frequent_they_are() -> None:
    words = [
        "the",
        "of",
        "house",
        "garden",
        "sandcastle",
        "misremember",
        "zzyzxq",
        "a",
        "old",
        "warm",
    ]
    found = dict(zip(words, strata_of(words, "frequency"), strict=True))
    assert found["the"] == "most frequent"
    assert found["zzyzxq"] == "rarest"
    assert found["sandcastle"] in ("rarest", "rare")


def test_words_have_their_parts_of_speech() -> None:
    words = ["the", "old", "gardener", "walked", "quietly", "home"]
    assert strata_of(words, "pos") == ["DET", "ADJ", "NOUN", "VERB", "ADV", "ADV"]


@pytest.mark.parametrize("kind", ["frequency", "pos"])
def test_random_tokens_keep_to_the_strata_of_the_rationale(
    encoder: LocalClassifier, kind: str
) -> None:
    values = [{"start": 4, "end": 7, "value": 1.0}, {"start": 25, "end": 38, "value": 2.0}]
    found = experiment(
        text=TEXT, model="m", attributions=values, k=(0.1, 0.2), strata=kind, draws=60,
        aspects=["sufficiency"],
    )  # fmt: skip
    labels = found._units.labels
    for trial in found.trials:
        assert (trial.null.kind, trial.null.strata) == ("tokens", kind)
        own = Counter(labels[place] for place in trial.rationale)
        drawn = found.null_subsets(trial)
        assert drawn
        assert trial.rationale not in drawn
        assert all(Counter(labels[place] for place in one) == own for one in drawn)


def test_scattered_words_keep_to_their_strata_too(encoder: LocalClassifier) -> None:
    spans = [{"start": 4, "end": 7}, {"start": 40, "end": 45}]
    found = experiment(text=TEXT, model="m", rationale=spans, strata="frequency", null="words")
    [trial] = found.trials
    labels = found._units.labels
    own = Counter(labels[place] for place in trial.rationale)
    drawn = found.null_subsets(trial)
    assert drawn
    assert all(Counter(labels[place] for place in one) == own for one in drawn)


def test_matched_spans_have_about_as_many_tokens(encoder: LocalClassifier) -> None:
    short = "the old dog and the cat sat near her red house"
    text = f"{short} misremembered {short} misremembered {short}"  # all of it is read
    found = experiment(
        text=text, model="m", rationale=[{"start": 4, "end": 15}], match_tokens=True,
        aspects=["sufficiency"],
    )  # fmt: skip
    [trial] = found.trials
    assert trial.null.matched
    drawn = found.null_subsets(trial)
    assert len(drawn) == trial.null.others >= 19
    own = _class_of(len(trial.rationale))
    assert {_class_of(len(one)) for one in drawn} == {own}
    assert trial.rationale not in drawn


def test_too_few_matched_spans_are_dropped_with_a_warning(encoder: LocalClassifier) -> None:
    report = SERVICE.score(
        IceRequest.model_validate(
            {"text": TEXT, "model": "m", "rationale": [{"start": 8, "end": 38}],
             "options": {"match_tokens": True}}
        )
    )  # fmt: skip
    assert not report.components.tests[0].null.match_tokens
    assert any("fewer than 19" in one for one in report.warnings)


def test_strata_have_no_effect_on_passages_and_the_report_says_so() -> None:
    text = text_of(20)
    with planted():
        report = SERVICE.score(
            IceRequest(text=text, rationale=span(text, [3, 4]), options={"strata": "frequency"})
        )
    assert any("no effect on passages" in one for one in report.warnings)
    with pytest.raises(ValueError, match="variant `robust`"):
        IceRequest(text=text, rationale=span(text, [3]), variant="paper", options={"strata": "pos"})


def test_more_than_64_runs_have_random_rivals() -> None:
    text = text_of(400)
    places = list(range(0, 280, 4))
    request = IceRequest(
        text=text,
        rationale=span(text, places),
        options={"null": "spans", "draws": 99, "aspects": ("sufficiency",)},
    )
    with planted():
        [(found, _)] = run_experiments([request])
    assert isinstance(found, Experiment)
    [trial] = found.trials
    drawn = found.null_subsets(trial)
    assert len(set(drawn)) == 99
    assert {tuple(end - start for start, end in runs_of(one)) for one in drawn} == {(1,) * 70}
