"""Decisions in the caller's words: which vocabulary is in force, and what the model is asked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from services.hatexscore.conclusion import ConclusionText, read_conclusions
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.kernel import Floats
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from services.hatexscore.verdict import IN_POST, MATTER, STATES_THIS
from shared.contracts.errors import BadInput
from shared.contracts.messages import Check
from shared.contracts.problems import validation_problem
from shared.text.normalized import normalize
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, bound

score = SERVICE.score
TEXT = "You clowns cannot park, hand in your licence and take the bus"
TOXIC = 'It calls drivers "clowns" and mocks them. I rate the post as toxic.'
OWN = {"hateful": ["HOF"], "non-hateful": ["NOT"]}


def ask(**fields: Any) -> HatexscoreRequest:
    return flat_request(
        HatexscoreRequest, **{"text": TEXT, "explanation": TOXIC, "language": "en", **fields}
    )


class ThreeClasses(FakeClassifier):
    """P of normal, offensive and hateful: 0.5, 0.3 and 0.2 of what `by_hash` says."""

    def rows(self, hateful: Floats) -> Floats:
        return np.stack([1 - hateful / 2, hateful * 0.3, hateful * 0.2], axis=1)


def three() -> ThreeClasses:
    return ThreeClasses(labels=("normal", "offensive", "hateful"))


def test_the_decision_is_reported_in_both_words() -> None:
    with bound(FakeClassifier()):
        report = score(ask(decision="toxic"))
    assert report.decision == "hateful"
    assert (report.stated_decision, report.decision_match) == ("hateful", True)
    assert report.provenance.parameters["vocabulary"] == "toxicity"
    assert report.conclusion is not None
    assert (report.conclusion.label, report.conclusion.by) == ("hateful", "reader")
    assert report.conclusion.text == "I rate the post as toxic."
    assert report.conclusion.probability is not None
    assert round(report.conclusion.probability, 2) == report.conclusion.probability


def test_a_verdict_on_hate_is_read_beside_the_words_of_any_decision() -> None:
    for sent in ["KEEP", "safe", "benign", "REMOVE", "unsafe", "toxic"]:
        known = ask(decision=sent)
        assert known.vocabulary.of_decision
        for said in ("Conclusion: not hateful.", "It is not hate speech.", "Label: no hate"):
            assert stated(said, known) == "non-hateful"
        assert stated("The post is hateful.", known) == "hateful"


def stated(said: str, request: HatexscoreRequest) -> str | None:
    [read] = read_conclusions([ConclusionText(normalize(said), request.vocabulary)])
    return read.statement.label if read.statement else None


def test_a_vocabulary_that_nobody_named_is_told_of() -> None:
    with bound(FakeClassifier()):
        kept = score(ask(decision="KEEP", explanation="Conclusion: not hateful."))
        named = score(ask(decision="KEEP", labels="policy", explanation="It is a bus."))
        plain = score(ask(decision="no hate", explanation="Conclusion: not hateful."))
    assert (kept.components.htc, plain.components.htc, named.components.htc) == (1, 1, 0)
    assert [any("vocabulary" in one for one in of.warnings) for of in (kept, named, plain)] == [
        True,
        False,
        False,
    ]


def test_own_words_replace_the_built_in_ones() -> None:
    with bound(FakeClassifier()):
        unread = score(ask(labels=OWN, decision="NOT"))
        read = score(ask(labels=OWN, explanation="The tweet is HOF."))
    assert (unread.decision, unread.stated_decision) == ("non-hateful", None)
    assert unread.components.htc == 0
    assert (read.decision, read.stated_decision) == ("hateful", "hateful")
    assert read.provenance.parameters["vocabulary"] == OWN


@pytest.mark.parametrize(
    ("labels", "variant", "share"),
    [
        ("default", "robust", 0.5),  # offensive is of the hateful side
        ("three-way", "robust", 0.2),
        ("default", "paper", 0.2),  # knows two labels alone
    ],
)
def test_the_probability_is_the_sum_over_the_hateful_side(
    labels: str, variant: str, share: float
) -> None:
    with bound(FakeClassifier()):
        whole = score(ask(labels=labels, variant=variant, decision="hateful"))
    with bound(three()):
        report = score(ask(labels=labels, variant=variant, decision="hateful"))
    assert whole.probability_original is not None
    assert report.probability_original == pytest.approx(share * whole.probability_original)


def test_a_model_without_a_label_of_the_hateful_side_is_refused() -> None:
    model = FakeClassifier(labels=("negative", "positive"))
    with bound(model), pytest.raises(BadInput) as caught:
        score(ask())
    assert caught.value.pointer == "/model"


@pytest.mark.parametrize("variant", ["robust", "paper", "reference"])
def test_the_canonical_words_are_always_accepted(variant: str) -> None:
    request = ask(labels=OWN, decision="non-hateful", variant=variant)
    assert request.decision_class == "non-hateful"


def test_mistakes_have_pointers() -> None:
    labels = {"hateful": ["x y"], "non-hateful": ["X-Y"]}
    body = {"text": "a", "explanation": "b", "options": {"labels": labels}}
    with pytest.raises(ValidationError) as caught:
        HatexscoreRequest.model_validate_json(json.dumps(body))
    [error] = validation_problem(caught.value, body)["errors"]
    assert error["pointer"] == "#/options/labels/non-hateful/0"
    with pytest.raises(ValidationError) as caught:
        ask(decision="purple", labels=OWN)
    [found] = caught.value.errors()
    assert found["loc"] == ("decision",)
    assert "HOF" in found["msg"]
    assert "NOT" in found["msg"]


def test_a_word_that_would_never_be_found_is_refused() -> None:
    for word in ["a *", "a * b", "ＢＡＤ", "İstanbul", "ΥΒΡΙΣ", "½"]:
        with pytest.raises(ValidationError, match="would not be found"):
            ask(labels={"hateful": ["fine", word], "non-hateful": ["other"]})


def test_a_word_that_is_written_as_it_is_read_is_taken() -> None:
    for word in ["bad", "HOF", "not ok", "a-b", "c++", "très", "나쁨", "不好", "1"]:
        ask(labels={"hateful": [word], "non-hateful": ["other"]})


class OffensiveJudge(FakeClassifier):
    """A judge of three classes that calls a text with "clowns" offensive."""

    def rows(self, hateful: Floats) -> Floats:
        return np.stack([1 - hateful, hateful * 0.9, hateful * 0.1], axis=1)


OFFENDED = 'It calls drivers "clowns". The post is offensive.'


def check_named(report: HatexscoreResult, name: str) -> Check:
    return next(one for one in report.checks if one.name == name)


def test_a_judge_without_the_class_leaves_the_quotes_untested() -> None:
    judge = FakeClassifier()
    with bound(judge):
        report = score(ask(decision="offensive", explanation=OFFENDED))
    assert judge.calls == []
    assert (report.decision, report.stated_decision) == ("offensive", "offensive")
    assert check_named(report, MATTER).reason == "judge-has-no-such-label"
    assert (report.verdict, report.score, report.components.qf) == ("not_tested", None, None)
    assert [one.reason for one in report.untested] == ["judge-has-no-such-label"]
    for name in (STATES_THIS, IN_POST):
        assert check_named(report, name).outcome == "passed"


def test_a_judge_of_three_classes_tests_the_third() -> None:
    judge = OffensiveJudge(
        lambda text: 0.95 if "clowns" in text else 0.1, ("normal", "offensive", "hateful")
    )
    text = f"{TEXT} and nobody has said a word about it in our street for more than two years now"
    with bound(judge):
        report = score(ask(text=text, decision="offensive", explanation=OFFENDED))
    assert report.probability_original == pytest.approx(0.9 * 0.95)
    assert report.components.qf == pytest.approx(0.9 * 0.85)
    assert (report.components.cc, report.verdict) == (1, "holds_up")
    assert "P(offensive) falls" in check_named(report, MATTER).sentence


def test_probabilities_of_the_class_are_a_way_out() -> None:
    sent = {"original": 0.9, "masked": 0.2}
    with bound(FakeClassifier()):
        report = score(ask(decision="offensive", explanation=OFFENDED, probabilities=sent))
    assert report.components.qf == pytest.approx(0.7)
    assert report.verdict == "holds_up"


@pytest.mark.parametrize(
    ("decision", "said", "reason"),
    [
        ("offensive", "It is hate speech.", "other-class"),
        ("hateful", "The post is offensive.", "other-class"),
        ("normal", "The post is offensive.", "other-class"),
        ("normal", "It is hate speech.", "opposite-decision"),
        ("normal", "It is normal.", None),
    ],
)
def test_the_stated_class_is_compared_with_that_of_the_decision(
    decision: str, said: str, reason: str | None
) -> None:
    with bound(FakeClassifier()):
        report = score(ask(labels="three-way", decision=decision, explanation=said))
    assert check_named(report, STATES_THIS).reason == reason


def test_classes_of_the_caller() -> None:
    own = {"hateful": ["HATE"], "spam": ["spam"], "non-hateful": ["fine"]}
    request = ask(labels=own, decision="spam", explanation="I call this spam.")
    assert request.decision_class == "spam"
    with bound(FakeClassifier()):
        assert score(request).decision_match is True
    for labels in ({"hateful": ["a b"], "spam": ["spam"]}, own | {"none": ["nothing"]}):
        with pytest.raises(ValidationError):
            ask(labels=labels)
