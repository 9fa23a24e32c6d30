"""Laws of `explain` in a metric's own request: the score is that of the explanation it elicits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from services.explanations.explained_requests import as_checked, explanations_request
from services.explanations.explained_scores import bind_explainer
from services.hatexscore.contract import HatexscoreRequest
from services.registry import metrics, service
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.errors import BadInput, TextTooLong
from shared.contracts.problems import validation_problem
from shared.contracts.redaction import without_text
from shared.ledger.leases import Claim
from shared.models.catalogue.catalogue import load_catalogue
from shared.worker.job import Failure, Success, ending
from tests.explanations.scripted import HATEFUL, NAME, ROOT, saying
from tests.explanations.test_service import RAIN, TEXT, TOXIC, own_route
from tests.flat_requests import flat_request

bind_explainer()
EXPLAINABLE = [
    name for name, one in metrics().items() if issubclass(one.request, ExplainableRequest)
]
ENTAILED = "Label: entailment\nExplanation: People hold an umbrella because it is raining."
TOKEN = {"id": None, "start": 0, "end": 1, "logprob": -1.0}
REFUSED = "I'm sorry, but I can't help with that."
LONG = {"user": "{text}" * 9}
ANSWERS = {"haf": TOXIC, "ftc": ENTAILED}


def body_of(metric: str, **more: Any) -> dict[str, Any]:
    inputs = RAIN if metric == "ftc" else {"text": TEXT}
    return {**inputs, "model": NAME, "explain": True, **more}


def job_of(metric: str, body: dict[str, Any]) -> Any:
    """The result of a job, through the worker's own code."""
    contract = metrics()[metric]
    stored = contract.request.model_validate(body).model_dump(mode="json")
    claim = Claim("job_1", 1, stored, waited_seconds=0, tried=1, tenant="default", batch_id=None)
    end = ending(contract, service(metric).score, claim)
    assert isinstance(end, Success), end
    return contract.report.model_validate(end.result)


def without_elicitation(report: Any) -> dict[str, Any]:
    found: dict[str, Any] = report.model_dump(mode="json", exclude={"elicitation"})
    return found


@pytest.mark.parametrize("explain", [1, 1.0, 0, False, "true"])
def test_only_the_literal_true_asks_for_an_explanation(explain: Any) -> None:
    request = metrics()["hatexscore"].request
    assert request.model_validate(body_of("hatexscore")).model_dump()["explain"] is True
    with pytest.raises(ValidationError):
        request.model_validate(body_of("hatexscore", explain=explain))


def test_four_metrics_and_more_take_it() -> None:
    assert {"hatexscore", "ftc", "haf", "sor", "consistency"} <= {*EXPLAINABLE}
    assert all(metrics()[name].elicited is not None for name in EXPLAINABLE)


@pytest.mark.parametrize("metric", ["hatexscore", "haf", "sor", "ftc"])
def test_the_score_is_that_of_the_explanation_that_was_written(metric: str) -> None:
    answer = ANSWERS.get(metric, HATEFUL)
    with saying(answer):
        found = job_of(metric, body_of(metric, seed=3))
    assert found.elicitation.answer == answer
    asked = metrics()[metric].request.model_validate(body_of(metric, seed=3))
    same = own_route(metric, metrics()[metric].as_scored(asked, found).model_dump(mode="json"))
    assert without_elicitation(found) == without_elicitation(same)
    assert found.score is not None


@pytest.mark.parametrize("metric", EXPLAINABLE)
@pytest.mark.parametrize(
    ("answer", "code"), [(REFUSED, "refused"), ("The weather is fine.", "conclusion-unread")]
)
def test_what_is_no_answer_has_no_score_and_says_why(metric: str, answer: str, code: str) -> None:
    with saying(answer):
        found = job_of(metric, body_of(metric))
    assert found.score is None
    assert found.elicitation.decision is None
    assert found.elicitation.explanation == answer
    assert {one.code for one in found.reasons} == {code}
    assert not any(dict(found.components).values())
    assert found.verdict == "not_tested"


def test_no_text_of_the_model_stays_where_none_may() -> None:
    with saying(HATEFUL):
        asked = metrics()["hatexscore"].request.model_validate(
            body_of("hatexscore", do_not_store_text=True)
        )
        report: Any = service("hatexscore").score(asked)
    kept = json.dumps(without_text(report, asked), ensure_ascii=False)
    assert "ruining" not in kept
    assert "blaming" not in kept
    assert json.loads(kept)["elicitation"]["decision"] == "hateful"


@pytest.mark.parametrize(
    ("metric", "more", "pointer"),
    [
        ("hatexscore", {"model": None}, "/model"),
        ("hatexscore", {"explain": {"prompt": "nothing"}}, "/explain/prompt"),
        ("hatexscore", {"explain": {"prompt": "ftc-label"}}, "/premise"),
        ("hatexscore", {"explain": {"prompt": LONG}, "text": "x" * 20_000}, "/explain/prompt"),
        ("hatexscore", {"decision": "hateful"}, ""),
        ("hatexscore", {"explain": {"target_label": "hateful"}}, "/explain/target_label"),
        (
            "hatexscore",
            {"model": "embedded-hate", "explain": {"model": "unknown"}},
            "/explain/model",
        ),
        ("hatexscore", {"model": "unknown"}, "/model"),
        ("haf", {"model": "embedded-hate"}, "/model"),
    ],
)
def test_refusals_point_into_the_metric_s_own_request(
    metric: str, more: dict[str, Any], pointer: str
) -> None:
    catalogue = load_catalogue(ROOT / "models.toml")
    contract = metrics()[metric]
    request = contract.request.model_validate(body_of(metric, **more))
    with (
        pytest.raises(BadInput) as refused,
        as_checked(contract, request) as (checked, asked),
    ):
        catalogue.check_request(checked, asked.model, asked)
    assert (refused.value.pointer or "") == pointer


@pytest.mark.parametrize(
    ("long", "pointer"), [("premise", "#/premise"), ("hypothesis", "#/hypothesis")]
)
def test_a_text_that_is_too_long_is_named(long: str, pointer: str) -> None:
    """By the field that it stands in: there is no `text` in a request about two sentences."""
    body = body_of("ftc", **{long: "word " * 50})
    stored = metrics()["ftc"].request.model_validate(body).model_dump(mode="json")
    claim = Claim("job_1", 1, stored, waited_seconds=0, tried=1, tenant="default", batch_id=None)
    with saying(TextTooLong("the model reads 20 tokens", pointer="/prompts")):
        end = ending(metrics()["ftc"], service("ftc").score, claim)
    assert isinstance(end, Failure), end
    assert [one["pointer"] for one in end.problem["errors"]] == [pointer]


def test_a_causal_model_that_tells_no_labels_is_refused_as_it_is_sent(tmp_path: Path) -> None:
    """As a judge: consistency asks the model that explained about its own answer."""
    (tmp_path / "bare").mkdir()
    entry = 'schema = 2\n[[models]]\nname = "bare"\nkind = "causal"\nsource = "path:bare"\n'
    (tmp_path / "models.toml").write_text(entry, "utf-8")
    catalogue, contract = load_catalogue(tmp_path / "models.toml"), metrics()["consistency"]
    explained = body_of("consistency", model="bare")
    for body in (explained, {"text": "a", "explanation": "b", "model": "bare"}):
        request = contract.request.model_validate(body)
        with (
            pytest.raises(BadInput, match=r"verbalizers.*, or the request a `prompt`") as refused,
            as_checked(contract, request) as (checked, asked),
        ):
            catalogue.check_request(checked, asked.model, asked)
        assert refused.value.pointer == "/model"


@pytest.mark.parametrize(
    ("explain", "pointers"),
    [
        ({"generation": {"max_tokens": 8_193}}, ["#/explain/generation/max_tokens"]),
        ({"policy": {"text": ""}}, ["#/explain/policy/text"]),
        ({"nothing": 1}, ["#/explain/nothing"]),
        (False, ["#/explain"]),
    ],
)
def test_a_fault_within_an_object_is_the_only_one(explain: Any, pointers: list[str]) -> None:
    """That it might have been `true` instead is no fault of it."""
    body = body_of("hatexscore", explain=explain)
    with pytest.raises(ValidationError) as refused:
        HatexscoreRequest.model_validate(body)
    found = validation_problem(refused.value, body)["errors"]
    assert [one["pointer"] for one in found] == pointers


def test_an_own_model_is_the_judge_where_another_one_explains() -> None:
    contract = metrics()["hatexscore"]
    body = body_of("hatexscore", model="embedded-hate", explain={"model": NAME})
    found = explanations_request(contract, HatexscoreRequest.model_validate(body))
    assert (found.model, found.parameters["hatexscore"]["model"]) == (NAME, "embedded-hate")


def test_the_policy_of_the_metric_is_the_one_that_is_asked_by() -> None:
    contract = metrics()["hatexscore"]
    request = flat_request(HatexscoreRequest, body_of("hatexscore", policy="meta"))
    found = explanations_request(contract, request)
    assert found.policy == "meta"
    assert found.parameters["hatexscore"]["options"] == {"policy": "meta"}


@pytest.mark.parametrize("metric", EXPLAINABLE)
def test_explanation_and_explain_exclude_each_other(metric: str) -> None:
    brought: dict[str, Any] = {
        "haf": {"responses": {"justify": {"text": "a", "tokens": [TOKEN]}}},
        "sor": {"statement": HATEFUL},
    }
    body = body_of(metric, **brought.get(metric, {"explanation": HATEFUL}))
    with pytest.raises(ValueError, match="explain"):
        metrics()[metric].request.model_validate(body)
    if metric not in brought and metric != "consistency":  # an empty one is one, where JSON is sent
        empty = json.dumps(body_of(metric, explanation=""))
        with pytest.raises(ValueError, match="give either `explanation` or `explain`"):
            metrics()[metric].request.model_validate_json(empty)
        stored = metrics()[metric].request.model_validate_json(json.dumps(body_of(metric)))
        assert "explanation" not in stored.model_dump(mode="json")
        metrics()[metric].request.model_validate(json.loads(empty))  # as earlier versions stored it
    neither = {name: value for name, value in body_of(metric).items() if name != "explain"}
    if metric != "haf":  # its `model` is asked by its own stages
        with pytest.raises(ValueError, match=r"Field required|give exactly one"):
            metrics()[metric].request.model_validate(neither)
