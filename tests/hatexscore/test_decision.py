"""The explained decision beside the stated conclusion and beside what the asked model decides.

Sections 4 to 6 of HateXScore 2.0: a stated opposite, a model that decides otherwise, the direction
of a drop, and what is undefined.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.hatexscore import kernel
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.kernel import NamedGroups
from services.hatexscore.metric import OPPOSING, SERVICE
from services.hatexscore.report import ConsistencyRule, HatexscoreResult, Side
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, bound, nulls
from tests.hatexscore.test_golden import CASES

score = SERVICE.score

TEXT = "The old bridge near our village was closed by lazy tourists again"
ATTACKED = 'It says "lazy tourists", blaming foreigners for it. '
UNATTACKED = 'It says "lazy tourists", a complaint about the weather. '
LABELS: tuple[Side, ...] = ("hateful", "non-hateful")
OTHER: dict[str, Side] = {"hateful": "non-hateful", "non-hateful": "hateful"}
PROBABILITY = st.floats(0, 1)


def explained(label: Side, concluded: Side, p: float, masked: float, **more: Any) -> Any:
    said = ATTACKED if label == "hateful" else UNATTACKED
    request = flat_request(
        HatexscoreRequest,
        {
            "text": TEXT,
            "explanation": f"{said}Conclusion: {concluded}.",
            "decision": label,
            "language": "en",
            "probabilities": {"original": p, "masked": masked},
            **more,
        },
    )
    with bound(FakeClassifier()):
        return score(request)


def codes(report: HatexscoreResult, part: str) -> list[str]:
    return [reason.code for reason in report.reasons if reason.component == part]


@pytest.mark.parametrize("name", CASES)
def test_concluding_the_opposite_never_raises_a_score(name: str) -> None:
    case = CASES[name]
    fields = {key: case[key] for key in ("text", "language")}
    fields["decision"] = case["predicted_label"]
    sent = {"original": case["p_orig"], "masked": case["p_mask"]}

    def concluding(label: str) -> HatexscoreResult:
        explanation = f"{case['explanation']}\nConclusion: {label}."
        return score(
            flat_request(HatexscoreRequest, **fields, explanation=explanation, probabilities=sent)
        )

    right, wrong = concluding(fields["decision"]), concluding(OTHER[fields["decision"]])
    assert right.decision_match is True
    if (
        wrong.decision_match is not False
    ):  # two conclusions contradict each other: the reader decides
        assert wrong.components.htc in (None, 1)
        assert wrong.score is None or right.score is None or wrong.score <= right.score
        return
    assert (right.components.htc, wrong.components.htc, wrong.components.cc) == (1, 0, 0)
    assert (wrong.components.qf, wrong.components.tgi) == (
        right.components.qf,
        right.components.tgi,
    )
    assert (right.score is None) == (wrong.score is None)
    if right.score is not None and wrong.score is not None:
        assert wrong.score <= min(0.5, right.score)
    assert any("the decision is" in warning for warning in wrong.warnings)


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_the_printed_indicator_drops_the_decision(variant: str) -> None:
    report = explained("hateful", "non-hateful", 0.9, 0.2, variant=variant)
    assert (report.decision_match, report.components.htc) == (False, 1)
    assert not any("the decision is" in warning for warning in report.warnings)


def test_without_a_label_sent_nothing_is_contradicted() -> None:
    report = explained("hateful", "hateful", 0.9, 0.2, decision=None)
    assert (report.decision_match, report.components.htc, report.components.cc) == (None, 1, 1)


@pytest.mark.parametrize("rule", ["causal", "eq5", "reference"])
def test_a_stated_opposite_is_incoherent_by_every_rule(rule: str) -> None:
    report = explained("hateful", "non-hateful", 0.9, 0.2, consistency_rule=rule)
    assert (report.components.htc, report.components.cc) == (0, 0)
    assert report.score == pytest.approx((0.7 + 1) / 4)
    assert report.problems[0] == "opposite-decision"


@given(st.sampled_from(LABELS), PROBABILITY, PROBABILITY)
def test_a_model_that_decides_otherwise_is_no_witness(
    label: Side, original: float, masked: float
) -> None:
    report = explained(label, label, original, masked)
    agrees = (original >= 0.5) == (label == "hateful")
    parts = report.components
    assert report.model_agrees is agrees
    assert report.signed_drop == original - masked
    if agrees:
        lost = max(0.0, original - masked)
        assert parts.qf == pytest.approx(lost if label == "hateful" else 1 - lost)
        assert nulls(report) == {}
        return
    assert (parts.qf, parts.cc, report.score) == (None, None, None)
    assert nulls(report) == {"qf": "model-disagrees", "cc": "model-disagrees"}
    for part in ("qf", "cc", "score"):
        assert codes(report, part) == ["model-disagrees"]
    assert {one.detail for one in report.reasons} <= set(report.warnings)


def test_a_model_in_process_that_decides_otherwise_is_told() -> None:
    asked = HatexscoreRequest(
        text=TEXT, explanation=f"{ATTACKED}Conclusion: hateful.", decision="hateful"
    )
    with bound(FakeClassifier(lambda text: 0.3 if "lazy" in text else 0.1)):
        report = score(asked)
    assert (report.model_agrees, report.components.qf, report.score) == (False, None, None)
    assert report.signed_drop == pytest.approx(0.2)


def test_quotes_whose_removal_makes_it_worse_do_not_carry_a_hateful_decision() -> None:
    report = explained("hateful", "hateful", 0.6, 0.95)
    assert (report.components.qf, report.components.cc, report.score) == (0, 0, 0.5)
    assert OPPOSING in report.warnings
    printed = explained("hateful", "hateful", 0.6, 0.95, variant="paper")
    assert printed.components.qf == pytest.approx(0.35)


@settings(max_examples=25)
@given(st.floats(0.5, 1), PROBABILITY, PROBABILITY)
def test_an_exculpating_quote_never_earns_more_than_another(
    original: float, masked: float, other: float
) -> None:
    """Without it P(hateful) is no lower; whatever any other span does, that earns as much."""
    report = explained("hateful", "hateful", original, max(original, masked))
    rival = explained("hateful", "hateful", original, other)
    assert report.components.qf == report.components.cc == 0
    assert report.score is not None
    assert rival.score is not None
    assert report.score <= rival.score


def test_quotes_that_made_a_text_harmless_speak_for_that_decision() -> None:
    report = explained("non-hateful", "non-hateful", 0.1, 0.9)
    assert (report.components.qf, report.components.cc) == (1, 1)
    assert OPPOSING not in report.warnings


@pytest.mark.parametrize("original", [0.1, 0.9])
def test_to_quote_nothing_is_a_fact_about_the_explanation(original: float) -> None:
    report = explained("hateful", "hateful", original, 0.1, explanation="Conclusion: hateful.")
    assert (report.components.qf, report.components.cc) == (0, 0)
    assert nulls(report) == {}


GROUPS = st.one_of(st.none(), st.builds(NamedGroups, st.booleans(), st.booleans()))
MAYBE = st.one_of(st.none(), PROBABILITY)


@given(
    st.sampled_from(get_args(ConsistencyRule)),
    st.sampled_from([*LABELS, None]),
    MAYBE,
    GROUPS,
    PROBABILITY,
)
def test_what_is_unknown_decides_only_where_its_values_differ(
    rule: ConsistencyRule,
    label: Side | None,
    qf: float | None,
    groups: NamedGroups | None,
    tau: float,
) -> None:
    """The oracle tries every completion of what is unknown."""
    found = kernel.consistency(rule, label, qf, groups, tau)
    completions = {
        kernel.consistency(rule, one, faith, named, tau)
        for one in (LABELS if label is None else (label,))
        for faith in ((0.0, 0.5, 1.0) if qf is None else (qf,))
        for named in (
            [NamedGroups(n, a) for n in (False, True) for a in (False, True)]
            if groups is None
            else [groups]
        )
    }
    if found is None:
        assert len(completions) == 2 or tau in (0.0, 1.0) or qf is None
    else:
        assert completions == {found}


def test_a_condition_that_is_false_needs_no_probability() -> None:
    unknown = {"original": None, "masked": None}
    hateful = explained("hateful", "hateful", 0, 0, probabilities=unknown)
    groupless = explained(
        "hateful",
        "hateful",
        0,
        0,
        probabilities=unknown,
        explanation=f"{UNATTACKED}Conclusion: hateful.",
    )
    assert (hateful.components.qf, hateful.components.cc) == (None, None)
    assert (groupless.components.qf, groupless.components.cc) == (None, 0)
    assert nulls(groupless) == {"qf": "probability-missing"}
    assert groupless.score is None


@pytest.mark.parametrize(
    "fields", [{"variant": "paper"}, {"variant": "reference"}, {"consistency_rule": "eq5"}]
)
def test_a_published_rule_needs_every_probability(fields: dict[str, str]) -> None:
    report = explained(
        "hateful",
        "hateful",
        0,
        0,
        probabilities={"original": None, "masked": None},
        explanation=f"{UNATTACKED}Conclusion: hateful.",
        **fields,
    )
    assert (report.components.qf, report.components.tgi, report.components.cc) == (None, 0, None)
