from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.report import FtcResult
from shared.contracts.errors import BadInput, DegenerateInput, Unavailable
from shared.contracts.messages import is_blank
from shared.contracts.redaction import without_text
from tests.ftc.fake import FakeJudge, always, bound

score = SERVICE.score
score_batch = SERVICE.score_batch

LABELS = ["entailment", "neutral", "contradiction"]
PREMISE = "Four friends play cards in the kitchen."
HYPOTHESIS = "Four friends are playing chess in the kitchen."
EXPLANATION = "The friends cannot be playing chess and playing cards at the same time."
NEUTRAL = {
    "premise": "A woman walks down a street with a bag.",
    "hypothesis": "A woman is going to the market.",
    "explanation": "Just because a woman is walking down a street does not mean she is going to "
    "the market.",
    "decision": "neutral",
}

FRAGMENTS = st.sampled_from(
    ["a man", "is", "not", "a dog", "cannot be", "and", "at the same time", "just because",
     "does not mean", "playing chess", "in the park", "implies", "the same as", "happy", ".",
     "n't", "``", "结论", "🙂", "\x00", "\n", "either", "or", "if", ",", "there are"]
)  # fmt: skip
WRITING = st.one_of(st.text(max_size=30), st.lists(FRAGMENTS, max_size=14).map(" ".join))


@st.composite
def requests(draw: st.DrawFn) -> FtcRequest:
    return FtcRequest(
        language="en",
        premise=draw(WRITING),
        hypothesis=draw(WRITING.filter(lambda text: not is_blank(text))),
        explanation=draw(WRITING),
        decision=draw(st.sampled_from([*LABELS, None])),
        variant=draw(st.sampled_from(["robust", "paper", "reference"])),
        alpha=draw(st.sampled_from([0.5, 0.7, 1.0])),
        seed=draw(st.integers(0, 3)),
        draws=draw(st.sampled_from([0, 1, 10])),
    )


def ask(**fields: Any) -> FtcRequest:
    given = {
        "premise": PREMISE,
        "hypothesis": HYPOTHESIS,
        "explanation": EXPLANATION,
        "decision": "contradiction",
    }
    return FtcRequest(**{"language": "en", **given, **fields})


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_any_request_is_survived_and_stays_in_its_ranges(request: FtcRequest) -> None:
    with bound(FakeJudge()):
        report = score(request)
    assert (report.score is None) == (report.abstained is not None)
    assert report.score is None or 0 <= report.score <= 1
    assert report.abstained is None or f"abstained: {report.abstained}" in report.warnings
    assert FtcResult.model_validate_json(report.model_dump_json()) == report
    for item in report.evidence:
        whole = (
            request.explanation_text if item.offsets_into == "explanation" else request.hypothesis
        )
        assert whole[item.start : item.end] == item.text


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(requests(), min_size=1, max_size=4))
def test_alone_is_as_in_a_batch_byte_for_byte(batch: list[FtcRequest]) -> None:
    batch = [*batch, ask(), ask(**NEUTRAL), ask(decision=None)]
    with bound(FakeJudge()):
        together = [report.model_dump_json() for report in score_batch(batch)]
        backwards = [report.model_dump_json() for report in score_batch(batch[::-1])]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone == backwards[::-1]


def test_everything_goes_in_one_call_and_no_pair_twice() -> None:
    some: tuple[dict[str, Any], ...] = ({}, {}, NEUTRAL, {"explanation": "Nothing."})
    with bound(FakeJudge()) as judge:
        reports = score_batch([ask(**one, variant="paper") for one in some])
    assert len(judge.calls) == 1
    asked = judge.calls[0]
    assert len(asked) == len(set(asked))
    for report in reports[:3]:
        for made in report.counterfactuals:
            assert ("", made.text) in asked
            assert made.null is not None
            assert made.null.draws == 50
    assert len(asked) > 120


def test_a_further_call_is_about_the_draws_of_the_next_look() -> None:
    def knows_cards(premise: str, hypothesis: str) -> list[float]:
        return [0.9, 0.06, 0.04] if "cards" in hypothesis and premise else [0.1, 0.1, 0.8]

    for answer, draws, calls in ((always(0), 19, 1), (knows_cards, 39, 2)):
        with bound(FakeJudge(answer)) as judge:
            report = score(ask(null="any", draws=40))
        null = report.counterfactuals[0].null
        assert null is not None
        assert (null.draws, null.win_rate_draws, len(judge.calls)) == (draws, 19, calls)
        asked = [pair for call in judge.calls for pair in call]
        assert len(asked) == len(set(asked))
        assert null.attainable_p == pytest.approx(1 / 40)


def test_the_model_s_own_label_costs_one_call_more() -> None:
    with bound(FakeJudge(always(2))) as judge:
        report = score(ask(decision=None))
    assert (report.decision, report.decision_source) == ("contradiction", "model")
    assert judge.calls[0] == [(PREMISE, HYPOTHESIS)]
    assert len(judge.calls) == 2


def test_a_tie_for_the_model_s_own_label_is_told() -> None:
    half = FakeJudge(lambda premise, hypothesis: [0.5, 0.5, 0])
    with bound(half), pytest.raises(DegenerateInput) as caught:
        score(ask(decision=None))
    assert caught.value.pointer == "/decision"


def test_the_whole_report_of_a_good_explanation() -> None:
    def knows_cards(premise: str, hypothesis: str) -> list[float]:
        return [0.9, 0.06, 0.04] if "cards" in hypothesis and premise else [0.1, 0.1, 0.8]

    with bound(FakeJudge(knows_cards)):
        report = score(ask(null="any"))
    (made,) = report.counterfactuals
    assert made.text == "Four friends are playing cards in the kitchen."
    assert made.target.entailment == 1
    assert made.predicted == "entailment"
    assert report.components.model_dump() == {
        "delta": 1.0,
        "k": pytest.approx(1 + math.log(0.9)),
        "w": pytest.approx(1 - 0.04 - 0.7 * 0.06),
        "w_normalized": pytest.approx(1 - 0.04 - 0.7 * 0.06),
        "geometric_mean_p": pytest.approx(0.9),
        "gain": pytest.approx(1 - 0.04 - 0.7 * 0.06 - (0.1 + 0.3 * 0.1), abs=0.1),
    }
    assert report.score == report.components.w_normalized
    assert made.null is not None
    assert made.null.mean < 0.3
    assert report.components.gain == made.null.observed - made.null.mean
    assert made.null.win_rate > 0.9
    assert report.control is not None
    assert report.control.always_entailment.delta == 1
    assert report.control.uniform.k == pytest.approx(-0.0986123, abs=1e-7)
    assert report.control.unedited is not None
    assert report.control.unedited.delta == 0
    assert report.control.blank_premise is not None
    assert report.control.blank_premise.delta == 0
    assert report.extraction.rule == "contradiction P2"
    assert {(e.kind, e.text) for e in report.evidence} == {
        ("a", "playing chess"),
        ("b", "playing cards"),
        ("replaced", "playing chess"),
    }
    assert report.warnings == ()


def test_a_neutral_label_has_two_counterfactuals_and_their_mean() -> None:
    with bound(FakeJudge()):
        report = score(ask(**NEUTRAL))
        printed = score(ask(**NEUTRAL, variant="paper"))
    a, b = report.counterfactuals
    assert (a.kind, a.text) == ("a", "A woman is walking down a street.")
    assert (b.kind, b.text) == ("b", "A woman is going to the market.")
    assert (a.target.entailment, b.target.neutral) == (1, 1)
    mean = (a.satisfaction.w_normalized + b.satisfaction.w_normalized) / 2
    assert report.score == pytest.approx(mean)
    assert printed.score == pytest.approx((a.satisfaction.w + b.satisfaction.w) / 2)


def test_a_model_that_always_says_entailment_is_unmasked() -> None:
    with bound(FakeJudge(always(0))):
        report = score(ask())
    assert report.score == 1
    assert report.control is not None
    assert (report.control.null_win_rate, report.control.null_p_value) == (0.5, 1.0)
    assert report.control.unedited is not None
    assert report.control.unedited.delta == 1


def test_a_random_model_is_at_chance_against_the_null() -> None:
    with bound(FakeJudge()):
        reports = score_batch([ask(premise=f"{PREMISE} {i}", null="any") for i in range(300)])
    rates = [r.control.null_win_rate for r in reports if r.control]
    values = [r.control.null_p_value for r in reports if r.control]
    assert np.mean([rate for rate in rates if rate is not None]) == pytest.approx(0.5, abs=0.06)
    assert np.mean([p <= 0.1 for p in values if p is not None]) == pytest.approx(0.1, abs=0.06)


def test_people_s_votes_may_be_the_target() -> None:
    votes = {"substituted": {"entailment": 0.534, "neutral": 0.233, "contradiction": 0.233}}
    answer = FakeJudge(lambda premise, hypothesis: [0.534, 0.233, 0.233])
    with bound(answer):
        report = score(ask(targets=votes))
    assert report.score == pytest.approx(1)
    assert report.components.k == pytest.approx(1)


def test_counterfactuals_of_your_own() -> None:
    text = "Four friends are playing cards in the kitchen."
    with bound(FakeJudge()):
        report = score(ask(counterfactuals=[{"kind": "substituted", "text": text}]))
        by_rules = score(ask())
    assert report.counterfactuals[0].answer == by_rules.counterfactuals[0].answer
    assert report.extraction.extractor == "supplied"
    assert report.counterfactuals[0].null is not None


def test_one_of_two_is_told() -> None:
    with bound(FakeJudge()):
        report = score(ask(**NEUTRAL, counterfactuals=[{"kind": "b", "text": "A woman shops."}]))
    assert any("only one of its two" in warning for warning in report.warnings)


def test_phrases_of_your_own_fill_the_null() -> None:
    mine = ["sleeping", "singing", "cooking", "dancing", "reading", "swimming"]
    with bound(FakeJudge()) as judge:
        report = score(ask(substitutes=mine, null="any"))
        few = score(ask(substitutes=mine[:3], null="any"))
    null = report.counterfactuals[0].null
    assert null is not None
    assert null.draws == 6
    said = {hypothesis for _, hypothesis in judge.calls[0]}
    assert "Four friends are dancing in the kitchen." in said
    assert few.counterfactuals[0].null is None
    assert any("too few random phrases" in warning for warning in few.warnings)


def test_a_saturated_model_has_a_histogram_of_one_bin() -> None:
    with bound(FakeJudge(always(0))):
        null = score(ask(variant="paper")).counterfactuals[0].null
    assert null is not None
    assert null.histogram is not None
    assert (null.histogram.low, null.histogram.high, null.histogram.counts) == (1, 1, (50,))


def test_the_floor_of_k_is_told() -> None:
    with bound(FakeJudge(always(2))):
        report = score(ask(epsilon=1e-3))
    assert report.counterfactuals[0].floored
    assert report.components.k == pytest.approx(1 + math.log(1e-3))


def test_variant_reference_says_that_there_is_none() -> None:
    with bound(FakeJudge()):
        paper, reference = score_batch([ask(variant="paper"), ask(variant="reference")])
    assert paper.score == reference.score
    assert any("released no code" in warning for warning in reference.warnings)


def test_a_model_that_reads_only_the_beginning_is_told() -> None:
    long = "Four friends play cards in the kitchen. "
    with bound(FakeJudge(reads=400)):
        reports = score_batch([ask(premise=long * 20), ask(), ask(premise=long * 6)])
    told = [
        any(warning.startswith("text-cut: ") for warning in report.warnings) for report in reports
    ]
    assert told == [True, False, False]


@pytest.mark.parametrize("labels", [("no", "yes"), ("entailment", "neutral")])
def test_a_model_without_the_labels_is_the_callers_mistake(labels: tuple[str, ...]) -> None:
    with bound(FakeJudge(labels=labels)), pytest.raises(BadInput) as caught:
        score(ask())
    assert caught.value.pointer == "/model"


def test_without_models_a_job_must_wait() -> None:
    with pytest.raises(Unavailable):
        score(ask())


@pytest.mark.parametrize("explanation", ["A curve is a bend.", "It is what it is."])
def test_a_report_kept_without_the_text_still_says_which_rule_and_why(explanation: str) -> None:
    asked = ask(
        premise="Two skateboarders navigate a curve in the park.",
        hypothesis="Two skateboarders are navigating a bend.",
        explanation=explanation,
        decision="entailment",
        do_not_store_text=True,
    )
    with bound(FakeJudge()):
        report = score(asked)
    kept = without_text(report, asked)
    assert "skateboarders" not in json.dumps(kept)
    read = CONTRACT.report.model_validate_json(json.dumps(kept))
    assert isinstance(read, FtcResult)
    assert read.components == report.components
    assert read.abstained == report.abstained
    assert read.extraction == report.extraction
    assert (read.abstained is None) == (explanation == "A curve is a bend.")
