from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.messages import PartExcess, is_blank
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, binding, bound, nulls, surely

score = SERVICE.score
score_batch = SERVICE.score_batch

TEXT = "The old bridge near our village was closed by lazy tourists again"
EXPLANATION = (
    'It says "lazy tourists" and "closed bye lazy tourists again", blaming foreigners for it. '
    "Conclusion: hateful."
)

FRAGMENTS = st.sampled_from(
    ["town", "go home", "the", "“", "”", '"', "'", "移民", "结论：仇恨", "혐오 표현입니다",
     "이민자", "Conclusion: hateful.", "not hateful", "immigrants", "[MASK]", "\x00", "🙂",
     "\n\n", " ", "…"]
)  # fmt: skip
WRITING = st.one_of(st.text(max_size=40), st.lists(FRAGMENTS, max_size=12).map(" ".join))


@st.composite
def requests(draw: st.DrawFn) -> HatexscoreRequest:
    return HatexscoreRequest(
        text=draw(WRITING.filter(lambda text: not is_blank(text))),
        explanation=draw(WRITING),
        variant=draw(st.sampled_from(["robust", "paper", "reference"])),
        decision=draw(st.sampled_from(["hateful", "non-hateful", None])),
        language=draw(st.sampled_from(["auto", "en", "zh", "ko"])),
        seed=draw(st.integers(0, 3)),
    )


def ask(**fields: Any) -> HatexscoreRequest:
    return flat_request(HatexscoreRequest, **{"text": TEXT, "explanation": EXPLANATION, **fields})


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
@example(HatexscoreRequest(text="ABSA㼃", explanation="“ABSA“혐오ᄀᄀᄀ다", decision="hateful"))
def test_any_request_is_survived_and_stays_in_its_ranges(request: HatexscoreRequest) -> None:
    with bound(FakeClassifier()):
        report = score(request)
    parts = report.components
    for value in (report.score, parts.htc, parts.qf, parts.tgi, parts.cc):
        assert value is None or 0 <= value <= 1
    unknown = {part for part, value in dict(parts).items() if value is None}
    assert set(nulls(report)) == unknown - set(report.not_applicable)
    assert (report.score is None) == bool(nulls(report))
    assert report.score is not None or report.warnings
    assert HatexscoreResult.model_validate_json(report.model_dump_json()) == report
    for item in report.evidence:
        if item.kind == "category":
            continue  # a guard's word, found in no text
        whole = request.text if item.offsets_into == "text" else request.explanation_text
        if item.start is not None and item.end is not None:
            assert whole[item.start : item.end] == item.text
    for quotation in report.hallucinated_quotes:
        assert request.explanation_text[quotation.start : quotation.end] == quotation.text


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(requests(), min_size=1, max_size=5))
def test_alone_is_as_in_a_batch_byte_for_byte(batch: list[HatexscoreRequest]) -> None:
    with bound(FakeClassifier()):
        together = [report.model_dump_json() for report in score_batch(batch)]
        backwards = [report.model_dump_json() for report in score_batch(batch[::-1])]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone == backwards[::-1]


def test_a_call_for_p_one_for_random_spans_and_no_text_twice() -> None:
    asked = [ask(), ask(), ask(seed=1), ask(explanation="nothing quoted")]
    with bound(FakeClassifier(surely)) as model:
        score_batch([one.model_copy(update={"decision": "hateful"}) for one in asked])
    assert len(model.calls) == 2
    texts = [text for call in model.calls for text in call]
    assert len(texts) == len(set(texts)) > 2


def test_the_whole_report_of_a_good_explanation() -> None:
    with bound(FakeClassifier(lambda text: 0.9 if "lazy" in text else 0.2)):
        report = score(ask(decision="hateful"))
    assert report.components.model_dump() == {
        "htc": 1.0,
        "qf": pytest.approx(0.7),
        "tgi": 1.0,
        "cc": 1.0,
    }
    assert report.score == pytest.approx(3.7 / 4)
    assert report.masked_text == "The old bridge near our village was [MASK]"
    kinds = [(item.kind, getattr(item, "match", None)) for item in report.evidence]
    assert ("quote", "exact") in kinds
    assert ("quote", "fuzzy") in kinds
    assert report.groups
    assert report.decision_match is True
    assert report.conclusion is not None
    assert report.conclusion.text == "Conclusion: hateful."
    assert report.control is not None
    assert report.provenance.models[0].name == "fake"
    assert report.provenance.parameters["consistency_rule"] == "causal"
    assert report.warnings == ()


def test_few_draws_are_reported_as_few() -> None:
    with bound(FakeClassifier(surely)) as model:
        none, one = score_batch([ask(control_draws=0), ask(control_draws=1)])
    assert none.control is None
    assert "no control: the request asks for no random draws" in none.warnings
    assert one.control is not None
    assert (one.control.draws, one.control.sd_drop) == (1, None)
    assert [len(call) for call in model.calls] == [2, 1]


def test_brought_probabilities_need_no_model() -> None:
    report = score(ask(probabilities={"original": 0.9, "masked": 0.2}))
    assert report.components.qf == pytest.approx(0.7)
    assert report.control is None
    assert report.provenance.models == ()
    assert any("no model was called" in warning for warning in report.warnings)


def test_nothing_quoted_needs_no_model_and_earns_no_faithfulness() -> None:
    with bound(FakeClassifier()) as model:
        report = score(ask(explanation="Conclusion: hateful."))
    assert model.calls == []  # its languages are asked, no probability is
    assert report.provenance.models == ()
    assert report.components.qf == 0
    assert report.probability_original is None


def test_an_empty_explanation_scores_zero() -> None:
    with bound(FakeClassifier()):
        for label in ("hateful", "non-hateful", None):
            for empty in ("", " \n"):
                report = score(ask(explanation=empty, decision=label))
                assert (report.score, report.verdict) == (0, "problem_found")
                assert report.reason.startswith("The explanation is empty")


def test_a_text_may_be_explained_in_another_language() -> None:
    with bound(FakeClassifier()):
        report = score(
            ask(
                text="이민자들은 돌아가라",
                explanation='It says "이민자들은" and attacks immigrants. The text is hateful.',
            )
        )
    assert (report.language, report.explanation_language) == ("ko", "en")
    assert report.stated_decision == "hateful"


def test_an_unknown_label_leaves_faithfulness_undefined() -> None:
    with bound(FakeClassifier()):
        report = score(ask(explanation='It says "lazy tourists" of foreigners.'))
    assert (report.decision, report.components.qf, report.score) == (None, None, None)
    assert any("decision is unknown" in warning for warning in report.warnings)


def test_quotations_that_the_text_does_not_hold_are_listed() -> None:
    with bound(FakeClassifier()):
        report = score(
            ask(explanation='It says "lazy tourists" and "greedy lords", so it is "hateful".')
        )
    assert [quotation.text for quotation in report.hallucinated_quotes] == ["greedy lords"]


def test_doubts_about_the_probabilities_are_said() -> None:
    with bound(FakeClassifier(languages=("de",), max_length=10)):
        request = ask(accept_untrained_languages=True)
        warnings = score(request).warnings
    assert any("language is English (en)" in warning for warning in warnings)
    share = 10 / len(request.text)
    assert f"text-cut: embedded-hate reads the first {share:.1%} of the text" in warnings


def test_a_model_that_errs_on_masked_texts_is_doubted_where_it_is_asked_about_them() -> None:
    off = PartExcess(operator="mask", kept=0.8, excess=0.12)
    with bound(FakeClassifier(on_parts=(off, off.model_copy(update={"operator": "delete"})))):
        found = score(ask())
        others = [
            score(ask(variant="paper")),
            score(ask(explanation="Conclusion: hateful.")),
            score(ask(probabilities={"original": 0.9, "masked": 0.2})),
        ]
    [warning] = [each for each in found.warnings if each.startswith("ece_perturbed: ")]
    assert "80% of the words left (mask)" in warning
    assert not any("ece_perturbed" in each for one in others for each in one.warnings)


def test_a_policy_without_a_list_in_the_detected_language_is_the_callers_mistake() -> None:
    with pytest.raises(BadInput) as caught:
        score(ask(explanation="结论：仇恨，文本攻击移民。", policy="meta"))
    assert caught.value.pointer == "/options/policy"


def test_without_models_a_quotation_must_wait() -> None:
    with binding(None), pytest.raises(Unavailable):
        score(ask())


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_the_examples_of_the_contract_score(name: str) -> None:
    request = HatexscoreRequest.model_validate(CONTRACT.examples[name])
    agreeing = surely if request.decision_class == "hateful" else lambda text: 1 - surely(text)
    with bound(FakeClassifier(agreeing)):
        report = score(request)
    assert report.score is not None
    assert report.components.htc == 1
    json.dumps(report.model_dump(mode="json"), allow_nan=False)


@pytest.mark.parametrize("variant", ["robust", "paper", "reference"])
def test_every_variant_takes_groups_of_your_own(variant: str) -> None:
    report = score(
        ask(
            explanation='"lazy tourists" attacks the tourists. Conclusion: hateful.',
            policy={"visitors": ["tourist"]},
            probabilities={"original": 0.9, "masked": 0.2},
            variant=variant,
        )
    )
    assert report.groups == ("tourist",)
    assert report.components.tgi == 1


def test_the_paper_takes_shared_runs_for_quotes_and_shows_no_character_twice() -> None:
    report = score(
        ask(
            text="the old bridge was closed by lazy tourists",
            explanation="old bridge was closed, was closed by tourists, so the text is hateful.",
            probabilities={"original": 0.9, "masked": 0.2},
            variant="paper",
        )
    )
    quotes = [item.text for item in report.evidence if item.kind == "quote"]
    assert quotes == ["old bridge was closed", "by"]
    assert report.masked_text == "the [MASK] lazy tourists"


def test_more_than_two_hundred_different_quotations_are_refused() -> None:
    def quoting(different: int, **fields: Any) -> HatexscoreRequest:
        explanation = " ".join(f'"word {n % different}"' for n in range(600))
        return flat_request(HatexscoreRequest, text="words", explanation=explanation, **fields)

    with bound(FakeClassifier()):
        score(quoting(200))
        score(quoting(201, variant="reference"))  # it reads no quotation marks
        with pytest.raises(BadInput, match="201 different") as refused:
            score(quoting(201))
    assert refused.value.pointer == "/explanation"


def test_a_quotation_behind_what_the_model_reads_is_no_evidence() -> None:
    with bound(FakeClassifier(surely, max_length=40)):
        unread = score(ask(explanation='It says "lazy tourists". Conclusion: hateful.'))
        read = score(ask(explanation='It says "old bridge". Conclusion: hateful.'))
    assert (unread.components.qf, unread.components.cc, unread.score) == (None, None, None)
    assert {reason.code for reason in unread.reasons} == {"quote-unread"}
    assert read.components.qf is not None


def test_a_misquotation_is_reported_with_the_passage() -> None:
    with bound(FakeClassifier(surely)):
        report = score(
            ask(explanation='It says "was not closed by lazy tourists". Conclusion: hateful.')
        )
    (quote,) = report.hallucinated_quotes
    assert quote.misquotes == "was closed by lazy tourists"
    assert report.components.qf == 0
