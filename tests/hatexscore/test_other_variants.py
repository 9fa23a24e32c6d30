from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SENT_FOR_ANOTHER, SERVICE
from services.hatexscore.model_calls import NO_CONTROL
from services.hatexscore.report import HatexscoreResult, HatexscoreVariantOutcome
from shared.contracts.messages import Variant
from shared.contracts.redaction import without_text
from tests.hatexscore.fake import FakeClassifier, bound, surely
from tests.hatexscore.test_metric import ask, requests

score = SERVICE.score
score_batch = SERVICE.score_batch

SLOW = [HealthCheck.too_slow]
SENT = st.sampled_from([None, {"original": 0.9, "masked": 0.2}, {"original": 0.4, "masked": None}])


def asking(request: HatexscoreRequest, **fields: Any) -> HatexscoreRequest:
    """The same request that asks for the other variants too."""
    return HatexscoreRequest.model_validate(
        request.model_dump() | {"other_variants": True} | fields
    )


def told(outcome: HatexscoreVariantOutcome) -> tuple[Any, ...]:
    """An outcome without what only an outcome can say."""
    own = [warning for warning in outcome.warnings if warning != SENT_FOR_ANOTHER]
    return (
        outcome.variant,
        outcome.score,
        outcome.components,
        outcome.tau,
        outcome.consistency_rule,
        own,
    )


def own_words(report: HatexscoreResult) -> tuple[Any, ...]:
    """What a report of a variant says, the control apart."""
    in_force = report.provenance.parameters
    return (
        report.provenance.variant,
        report.score,
        report.components,
        in_force["tau"],
        in_force["consistency_rule"],
        [warning for warning in report.warnings if not warning.startswith(NO_CONTROL)],
    )


@settings(max_examples=60, suppress_health_check=SLOW)
@given(requests(), SENT)
def test_each_outcome_is_what_a_request_with_that_variant_reports(
    request: HatexscoreRequest, sent: dict[str, float | None] | None
) -> None:
    asked = asking(request, probabilities=sent)
    with bound(FakeClassifier()):
        outcomes = score(asked).other_variants
        alone = {
            variant: score(asked.model_copy(update={"variant": variant, "other_variants": False}))
            for variant in get_args(Variant)
        }
    others = [variant for variant in get_args(Variant) if variant != request.variant]
    assert [outcome.variant for outcome in outcomes] == others
    assert [told(outcome) for outcome in outcomes] == [own_words(alone[name]) for name in others]


@settings(max_examples=30, suppress_health_check=SLOW)
@given(st.lists(st.tuples(requests(), st.booleans()), min_size=1, max_size=4))
def test_alone_is_as_in_a_batch_byte_for_byte(
    drawn: list[tuple[HatexscoreRequest, bool]],
) -> None:
    batch = [asking(request, other_variants=both) for request, both in drawn]
    with bound(FakeClassifier()):
        together = [report.model_dump_json() for report in score_batch(batch)]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone


@settings(max_examples=30, suppress_health_check=SLOW)
@given(requests())
def test_asking_changes_nothing_else_of_the_report(request: HatexscoreRequest) -> None:
    with bound(FakeClassifier()):
        plain, asked = score(request), score(asking(request))
    assert "other_variants" not in plain.model_dump(mode="json")
    assert HatexscoreResult.model_validate_json(asked.model_dump_json()) == asked
    differing = {
        name
        for name in HatexscoreResult.model_fields
        if getattr(plain, name) != getattr(asked, name)
    }
    assert differing <= {"other_variants", "provenance"}
    parameters = asked.provenance.parameters | {"other_variants": False}
    assert asked.provenance.model_copy(
        update={"models": (), "parameters": parameters}
    ) == plain.provenance.model_copy(update={"models": ()})


def test_one_call_a_model_and_draws_for_the_asked_variant_only() -> None:
    with bound(FakeClassifier(surely)) as model:
        report = score(ask(text=LONGER, other_variants=True, control_draws=7))
    assert len(model.calls) == 2  # P and the drops; then, as QF stands, the draws
    masked = 2  # `paper` masks the same words here
    texts = [text for call in model.calls for text in call]
    assert len(texts) == len(set(texts)) <= 1 + masked + 7
    assert report.control is not None
    assert report.control.draws == 7


def test_a_variant_that_quotes_where_the_asked_one_does_not_still_names_its_model() -> None:
    with bound(FakeClassifier()):
        report = score(
            ask(
                explanation="The old bridge near our village was closed, so it is hateful.",
                other_variants=True,
            )
        )
    assert report.masked_text is None
    assert [use.name for use in report.provenance.models] == ["fake"]


def test_a_sent_probability_is_doubted_where_other_words_are_masked() -> None:
    asked = ask(probabilities={"original": 0.9, "masked": 0.2}, other_variants=True)
    report = score(asked)
    assert report.provenance.models == ()
    doubted = {one.variant: SENT_FOR_ANOTHER in one.warnings for one in report.other_variants}
    assert doubted == {"paper": False, "reference": True}
    for variant in doubted:
        masked = score(asked.model_copy(update={"variant": variant})).masked_text
        assert doubted[variant] == (masked != report.masked_text)


LONGER = "The old bridge near our village was closed by lazy tourists again, and the mill as well"


@pytest.mark.parametrize("variant", get_args(Variant))
def test_every_draw_is_reported_and_the_mean_is_theirs(variant: Variant) -> None:
    with bound(FakeClassifier(surely)):
        control = score(
            ask(text=LONGER, variant=variant, predicted_label="hateful", control_draws=5)
        ).control
    if variant == "reference":
        assert control is None
        return
    assert control is not None
    assert len(control.drops) == len(control.signed_drops) == control.draws == 5
    assert control.drops == tuple(map(abs, control.signed_drops))
    assert sum(control.drops) / 5 == pytest.approx(control.mean_drop)
    if variant == "paper":
        below = sum(drop < control.quoted_drop for drop in control.drops)
        assert control.share_beaten == pytest.approx(below / 5)


def test_the_draws_come_in_the_order_of_drawing() -> None:
    with bound(FakeClassifier(surely)):
        few, many = (
            score(
                ask(
                    text=LONGER,
                    explanation='It says "lazy tourists".',
                    predicted_label="hateful",
                    control_draws=draws,
                )
            ).control
            for draws in (5, 10)
        )
    assert few is not None
    assert many is not None
    assert few.drops == many.drops[:5]


def test_a_result_of_before_still_validates() -> None:
    with bound(FakeClassifier(surely)):
        wire = score(ask()).model_dump(mode="json")
    del wire["control"]["drops"]
    control = HatexscoreResult.model_validate(wire).control
    assert control is not None
    assert control.drops == ()


def test_what_is_forgotten_keeps_the_outcomes_and_their_warnings() -> None:
    request = ask(other_variants=True, tau=0.2, do_not_store_text=True)
    with bound(FakeClassifier()):
        report = score(request)
    kept = HatexscoreResult.model_validate(without_text(report, request))
    assert kept.other_variants == report.other_variants
    assert any(outcome.warnings for outcome in kept.other_variants)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_the_examples_of_the_contract_have_other_variants(name: str) -> None:
    with bound(FakeClassifier()):
        report = score(
            HatexscoreRequest.model_validate({**CONTRACT.examples[name], "other_variants": True})
        )
    assert [outcome.variant for outcome in report.other_variants] == ["paper", "reference"]
