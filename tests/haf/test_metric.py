"""The story end to end with fakes: brought and generated responses, batches, controls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from services.haf.contract import CONTRACT, HafRequest
from services.haf.metric import SERVICE
from services.haf.report import HafDecisionPart, HafReasonPart, HafResult
from shared.contracts.calls import Prompt
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.redaction import without_text
from shared.models.catalogue.catalogue import READER
from tests.haf.fake import ENOUGH, MORE, PLAIN, TOXIC, bound, response, surprise, told
from tests.haf.test_parsing import WRITING

score = SERVICE.score
score_batch = SERVICE.score_batch

TEXT = "Those lazy neighbours should leave our street."
METRICS = ("sos", "dis", "uii", "uei", "rs", "rn")
VARIANTS = st.sampled_from(["robust", "paper", "reference"])


def ask(**fields: Any) -> HafRequest:
    return HafRequest.model_validate({"text": TEXT, "language": "en", **fields})


def bring(justify: str = TOXIC, **more: Any) -> HafRequest:
    stages = {
        name: [response(text) for text in value] if isinstance(value, list) else response(value)
        for name, value in more.items()
        if name in ("internal", "external", "individual")
    }
    rest = {name: value for name, value in more.items() if name not in stages}
    return ask(responses={"justify": response(justify), **stages}, **rest)


WHOLE: dict[str, Any] = {"internal": MORE, "external": ENOUGH, "individual": [ENOUGH, MORE]}


@st.composite
def requests(draw: st.DrawFn) -> HafRequest:
    justify = draw(st.sampled_from([TOXIC, PLAIN, "", "I cannot help with that."]) | WRITING)
    stages = {name: response(draw(WRITING)) for name in ("internal", "external")}
    if justify in (TOXIC, PLAIN):
        pair = [response(draw(WRITING | st.just(MORE))) for _ in range(2)]
        stages["individual"] = pair  # type: ignore[assignment]
    return ask(
        responses={"justify": response(justify), **stages},
        variant=draw(VARIANTS),
        extras=draw(st.booleans()),
    )


def test_without_log_probabilities_what_needs_none_is_told() -> None:
    stages = {"justify": TOXIC, "internal": MORE, "external": ENOUGH}
    with bound():
        bare = score(ask(responses={name: {"text": text} for name, text in stages.items()}))
        full = score(ask(responses={name: response(text) for name, text in stages.items()}))
    assert (bare.score, bare.verdict) == (None, full.verdict)
    assert set(bare.components.model_dump().values()) == {None}
    assert bare.stance == full.stance
    assert [part.text for part in bare.stages[0].reasons] == [
        part.text for part in full.stages[0].reasons
    ]
    assert bare.control is not None
    assert full.control is not None
    assert bare.control.unweighted == full.control.unweighted
    told = {name: why for name, _, why in (one.partition(": ") for one in bare.warnings)}
    for name in ("score", "sos", "dis", "uii"):
        assert "but none were sent" in told[name]
    assert "log-probabilities" not in told["uei"]  # it names no reason
    codes = {one.component: one.code for one in bare.reasons}
    assert codes == dict.fromkeys(("score", "sos", "dis", "uii"), "no-logprobs")


def test_a_server_that_tells_no_log_probabilities_leaves_what_needs_none() -> None:
    sent = {"justify": TOXIC, "internal": MORE, "external": ENOUGH, "individual": [ENOUGH, ENOUGH]}
    bare = {
        name: [{"text": text} for text in told] if isinstance(told, list) else {"text": told}
        for name, told in sent.items()
    }
    with bound(silent=True):
        asked = score(ask(model="lm"))
        brought = score(ask(responses=bare))
    assert asked.score is None
    assert asked.reasons == brought.reasons
    assert asked.control is not None
    assert brought.control is not None
    assert asked.control.unweighted == brought.control.unweighted


def test_missing_log_probabilities_are_named_before_a_language() -> None:
    """Whoever then sends `language` need not learn of them afterwards."""
    responses = {"justify": {"text": "Der Text ist giftig, weil er alle Nachbarn beschimpft."}}
    with bound():
        found = score(ask(language="auto", responses=responses))
    assert [one.code for one in found.reasons if one.component == "score"] == [
        "no-logprobs",
        "no-rules",
    ]


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_any_response_is_survived_without_nan(request: HafRequest) -> None:
    with bound():
        report = score(request)
    assert HafResult.model_validate_json(report.model_dump_json()) == report
    values = report.components.model_dump()
    assert set(values) == set(METRICS)
    assert all(value is None or 0 <= value <= 1 for value in (*values.values(), report.score))
    for name, value in values.items():
        explained = any(warning.startswith(f"{name}: ") for warning in report.warnings)
        assert explained == (value is None)
    for part in report.stages:
        said_parts: list[HafReasonPart | HafDecisionPart] = [*part.reasons]
        said_parts += [part.decision] if part.decision else []
        for said in said_parts:
            assert said.confidence is None or 0 < said.confidence <= 1
            assert said.start is None or part.response[said.start : said.end] == said.text


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(requests(), min_size=1, max_size=4))
def test_alone_is_as_in_a_batch_byte_for_byte(batch: list[HafRequest]) -> None:
    with bound():
        together = [report.model_dump_json() for report in score_batch(batch)]
        backwards = [report.model_dump_json() for report in score_batch(batch[::-1])]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone == backwards[::-1]


@pytest.mark.parametrize("variant", ["robust", "paper", "reference"])
def test_generated_alone_is_as_in_a_batch(variant: str) -> None:
    batch = [
        ask(model="lm", variant=variant, text=f"{TEXT} {n}", samples=2, permute_reasons=1)
        for n in range(3)
    ]
    with bound():
        together = [report.model_dump_json() for report in score_batch(batch)]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone


def test_a_call_a_stage_and_one_for_all_pairs() -> None:
    batch = [ask(model="lm", text=f"{TEXT} {n}", samples=3) for n in range(4)]
    with bound() as models:
        score_batch([*batch, bring(**WHOLE)])
    assert [len(call) for call in models.generated] == [12, 24, 24]
    assert len(models.compared) == 1
    pairs = [(pair.a, pair.b) for pair in models.compared[0]]
    assert len(pairs) == len(set(pairs)) > 40
    assert all(a != b for a, b in pairs)


def test_a_toxic_stance_is_asked_for_sufficiency() -> None:
    with bound() as models:
        report = score(ask(model="lm"))
    prompts = [prompt.turns or () for call in models.generated for prompt in call]
    assert [len(call) for call in models.generated] == [1, 2, 2]
    assert all([turn.role for turn in turns] == ["system", "user"] for turns in prompts)
    last = prompts[-1][1].content
    assert last.startswith(f"\nTEXT: \n{TEXT}\n\nREASON: \n1. It wants them gone")
    assert "lazy" not in last.partition("REASON")[2]
    assert [part.stage for part in report.stages] == [
        "justify", "internal", "external", "sufficiency", "sufficiency"
    ]  # fmt: skip
    assert (report.components.rn, report.components.rs is None) == (None, False)
    assert [use.name for use in report.provenance.models] == [
        "lm",
        "embedded-similarity",
        READER.name,
    ]


def test_a_non_toxic_stance_is_asked_for_necessity() -> None:
    def say(prompt: Prompt) -> str:
        return PLAIN if told(prompt) == TOXIC else MORE

    with bound(say=say) as models:
        report = score(ask(model="lm"))
    first = (models.generated[2][0].turns or ())[1].content
    assert "It attacks nobody" in first
    assert "weather" not in first  # the reason that is left out
    assert "non-toxic TEXT" in (models.generated[2][0].turns or ())[0].content
    assert report.stance == "non-toxic"
    assert report.components.rs is None
    assert report.components.rn is not None


@pytest.mark.parametrize("opened", ["I cannot generate toxic text.", "A lovely day.", ""])
def test_where_there_is_nothing_to_ask_about_no_more_is_asked(opened: str) -> None:
    with bound(say=lambda _: opened) as models:
        report = score(ask(model="lm"))
    assert [len(call) for call in models.generated] == [1]
    assert report.score is None
    assert report.refusal == opened.startswith("I cannot")
    assert len(report.stages) == 1


def test_one_reason_has_no_necessity_prompt_but_the_released_code_asks() -> None:
    def say(_: Prompt) -> str:
        return "The text is not toxic.\n\n1. It describes the weather only."

    with bound(say=say) as models:
        report = score(ask(model="lm"))
        score(ask(model="lm", variant="reference"))
    assert [len(call) for call in models.generated] == [1, 2, 1, 2, 1]
    assert any("nothing remains" in warning for warning in report.warnings)


def test_missing_stages_are_null_with_the_reason() -> None:
    with bound():
        report = score(bring(internal=MORE))
    assert report.components.uii is not None
    assert report.components.uei is None
    assert "uei: the response of its stage was not sent" in report.warnings
    assert "rs: the response of its stage was not sent" in report.warnings


def test_a_sure_sufficient_decision_without_new_reasons_is_worth_its_confidence() -> None:
    with bound():
        report = score(bring(individual=[ENOUGH, MORE]))
    first, second = (part for part in report.stages if part.stage == "sufficiency")
    assert first.decision is not None
    assert (first.weight, first.informativeness) == (1.0, 0.0)
    assert first.value == first.decision.confidence
    assert second.weight == 0.1
    assert second.value is not None
    assert second.value < 0.1


def test_irrelevant_decisions_earn_little_and_are_counted() -> None:
    with bound():
        robust, paper = score_batch(
            [
                bring(PLAIN, individual=["The text is not toxic.", MORE], variant=variant)
                for variant in ("robust", "paper")
            ]
        )
    assert robust.counts.irrelevant == 1
    assert robust.stages[1].irrelevant
    assert robust.stages[1].weight == 0.1
    assert paper.stages[1].decision is not None
    assert paper.stages[1].decision.judge == "similarity"


def test_an_empty_informativeness_is_each_variants_own() -> None:
    values = []
    with bound():
        for more in (
            {},
            {"variant": "paper"},
            {"variant": "reference"},
            {"weights": {"necessity_without_reasons": 0.3}},
        ):
            report = score(bring(PLAIN, individual=[ENOUGH, ENOUGH], **more))
            values.append(report.stages[1].informativeness)
    assert values == [0.0, None, 0.01, 0.3]


def test_the_controls_take_one_ingredient_out() -> None:
    with bound():
        report = score(bring(**WHOLE))
    assert report.control is not None
    even = [part.confidence_uniform for part in report.stages[0].reasons]
    alike = [part.similarity for part in report.stages[0].reasons]
    assert report.control.uniform_relevance.sos == pytest.approx(
        sum(0.8 * (c or 0) + 0.2 * (g or 0) for c, g in zip(even, alike, strict=True)) / 2
    )
    assert report.control.unweighted.sos == pytest.approx(
        sum(0.8 + 0.2 * (g or 0) for g in alike) / 2
    )


def test_the_decision_target_changes_the_decision_only() -> None:
    with bound(alike=lambda a, b: surprise(a + b) / 2):
        sentence, label = score_batch(
            [bring(**WHOLE, decision_target=target) for target in ("sentence", "label")]
        )
    assert sentence.components.sos == label.components.sos
    ours, theirs = sentence.stages[0].decision, label.stages[0].decision
    assert ours is not None
    assert theirs is not None
    assert ours.confidence != theirs.confidence


def test_repetition_and_order() -> None:
    with bound() as models:
        report = score(ask(model="lm", samples=4, permute_reasons=3))
    assert report.repetition is not None
    assert report.repetition.samples == 4
    assert report.repetition.stances == {"toxic": 4}
    assert report.repetition.sos.of == 4
    assert report.repetition.sos.sd is not None
    assert report.repetition.sos.sd > 0
    assert report.repetition.rn.of == 0
    assert report.permutation is not None
    assert report.permutation.orders == ((1, 0),)  # two reasons have one other order
    assert len(models.scored) == 1
    swapped = models.scored[0][1]
    assert swapped.index("gone from here") < swapped.index("lazy")
    assert swapped.startswith("The text is toxic.\n\n1. It wants")
    assert report.permutation.dis.mean_change not in (None, 0)
    assert report.permutation.uii.original == report.components.uii
    assert report.permutation.uii.largest_change is not None


def test_all_sent_responses_are_read_in_one_call_a_reading() -> None:
    with bound() as models:
        score_batch([bring(**WHOLE), bring(PLAIN), bring(internal=ENOUGH)])
    assert [{text.partition(":")[0] for text in call} for call in models.asked] == [
        {"stance"},
        {"answer"},
        {"refusal"},
    ]


def test_only_the_reference_leaves_every_decision_to_the_similarity() -> None:
    judges = {}
    with bound() as models:
        for variant in ("robust", "paper", "reference"):
            report = score(bring(internal="I agree with the given reason.", variant=variant))
            decision = report.stages[1].decision
            judges[variant] = decision and decision.judge
    assert judges == {"robust": "reader", "paper": "similarity", "reference": None}
    with bound() as models:
        score(bring(internal=MORE, variant="reference"))
    assert models.asked == []


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"similarity": "nothing"}, "/similarity"),
        ({"similarity": "lm"}, "/similarity"),
        ({"individual": [ENOUGH]}, "/responses/individual"),
    ],
)
def test_mistakes_are_the_callers_with_their_place(fields: dict[str, Any], pointer: str) -> None:
    with bound(), pytest.raises(BadInput) as caught:
        score(bring(**fields))
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"model": "lm", "responses": {"justify": response(TOXIC)}},
        {"responses": {"justify": response(TOXIC)}, "samples": 2},
        {"responses": {"justify": response(TOXIC)}, "permute_reasons": 1},
    ],
)
def test_requests_that_make_no_sense_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ask(**fields)


def test_without_models_brought_responses_must_wait() -> None:
    with pytest.raises(Unavailable):
        score(bring())


@pytest.mark.parametrize(
    "asked",
    [
        HafRequest.model_validate(CONTRACT.examples["your own responses"]),
        bring(internal=ENOUGH, individual=[ENOUGH, MORE], extras=True),
        ask(model="lm", samples=2, permute_reasons=1),
    ],
)
def test_without_texts_the_numbers_and_our_words_stay(asked: HafRequest) -> None:
    with bound():
        report = score(asked)
    kept = HafResult.model_validate(without_text(report, asked))
    assert kept.components == report.components
    assert kept.warnings == report.warnings != ()
    assert {part.response for part in kept.stages} == {""}
    answers = [
        [part.decision and part.decision.answer for part in r.stages] for r in (kept, report)
    ]
    assert answers[0] == answers[1]
    assert not {part.text for part in kept.evidence} - {""}


def test_a_refusal_in_a_later_stage_is_named() -> None:
    with bound():
        report = score(bring(internal="I cannot help with that.", individual=[ENOUGH, MORE]))
    assert report.stages[1].refusal
    assert "uii: the model refuses the stage's task" in report.warnings


LETTERS = "Toxic text.\n1. " + "ab " * 2_700
LISTED = "The text is toxic.\n" + "1. It is so.\n" * 500


@pytest.mark.parametrize("justify", [LETTERS, LISTED])
def test_more_comparisons_than_anybody_needs_are_refused_before_any_is_made(justify: str) -> None:
    tokens = [
        {"id": None, "start": place, "end": place + 1, "logprob": -1.0}
        for place in range(len(justify))
    ]
    asked = ask(responses={"justify": {"text": justify, "tokens": tokens}})
    with bound() as models, pytest.raises(BadInput, match="comparisons") as caught:
        score(asked)
    assert caught.value.pointer == "/responses"
    assert models.compared == []


def test_about_very_many_reasons_nothing_is_asked() -> None:
    many = "The text is toxic.\n" + "".join(f"{n}. It says {n} so.\n" for n in range(1, 66))
    with bound(say=lambda _: many) as models:
        report = score(ask(model="lm"))
    assert [len(call) for call in models.generated] == [1]
    assert report.components.sos is not None
    assert any("more than 64 reasons" in warning for warning in report.warnings)


def test_a_prompt_that_is_too_long_is_a_text_that_is_too_long() -> None:
    def say(_: Prompt) -> str:
        raise BadInput(
            "a prompt has 5000 tokens, but the model reads at most 4096", pointer="/prompts"
        )

    with bound(say=say), pytest.raises(BadInput, match="reads at most 4096") as caught:
        score(ask(model="lm"))
    assert caught.value.pointer == "/text"


def test_an_explanation_as_fields_is_a_justify_response() -> None:
    fields = {"decision": "toxic", "reasons": ["It blames all neighbours.", "It wants them gone."]}
    with bound():
        found = score(ask(explanation=fields))
        same = score(
            ask(responses={"justify": {"text": json.dumps(fields, separators=(",", ":"))}})
        )
    assert found.stance == "toxic"
    assert found.counts.reasons == 2
    assert found.components == same.components
    with pytest.raises(ValidationError):
        ask(explanation=fields, responses={"justify": {"text": "a"}})
