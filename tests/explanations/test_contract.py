"""Requests: what a prompt asks about, and what metrics need, is checked before a job is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from services.explanations.contract import CONTRACT, ExplanationsRequest
from services.explanations.prompts import (
    as_prompt,
    fill_template,
    get_prompt,
    load_policies,
    load_prompts,
)
from services.haf.conversation import justify_prompt
from services.registry import metrics
from shared.contracts.errors import BadInput
from shared.models.catalogue.catalogue import load_catalogue

TEXT = "Those immigrants are ruining our town"
RAIN = {"premise": "A man holds an umbrella.", "hypothesis": "It is raining."}
BASE = {"text": TEXT, "model": "lm"}
ROOT = Path(__file__).parents[2]


def refusals(body: dict[str, Any]) -> dict[str, str]:
    """Where → why."""
    with pytest.raises(ValidationError) as found:
        ExplanationsRequest.model_validate(body)
    return {"/".join(map(str, one["loc"])): one["msg"] for one in found.value.errors()}


@pytest.mark.parametrize(
    ("more", "where", "says"),
    [
        ({"prompt": "unknown"}, "prompt", "there is no prompt 'unknown'; choose one of: "),
        ({"prompt": "ftc-label@9"}, "prompt", "there is no prompt 'ftc-label@9'"),
        ({"prompt": "ftc-label"}, "premise", "the prompt ftc-label needs `premise`"),
        ({"prompt": "haf-justify", "shots": 2}, "shots", "has only 0 shots"),
        ({"prompt": "haf-justify", "policy": "un"}, "policy", "no place for a policy"),
        ({"target_label": "hateful"}, "target_label", "no place for a `target_label`"),
        ({"prompt": "genex-nli", **RAIN}, "target_label", "needs a `target_label`"),
        ({"score": ["ice"]}, "score/ice", "cannot score an elicited explanation"),
        ({"score": ["nothing"]}, "score/nothing", "cannot score an elicited explanation"),
        (
            {"score": {"hatexscore": {"options": {"tau": 3}}}},
            "score/hatexscore/options/tau",
            "must be at most",
        ),
        (
            {"score": {"hatexscore": {"text": "a"}}},
            "score/hatexscore",
            "already sets `text`",
        ),
        (
            {"score": {"hatexscore": {"webhook": "a"}}},
            "score/hatexscore",
            "already sets `webhook`",
        ),
        ({"score": ["ftc"]}, "score/ftc", "ftc needs `hypothesis`, `premise`"),
        ({"score": {"sor": {"colour": 1}}}, "score/sor/colour", "no such field"),
        ({"answer": {"text": "a"}}, "", "either `model` or `answer`"),
        ({"model": None}, "", "either `model` or `answer`"),
        ({"gold": ""}, "gold", "at least 1 character"),
        ({"gold": "a" * 513}, "gold", "at most 512 characters"),
        ({"gold": "a", "metadata": {"gold": "b"}}, "gold", "`metadata` already has another `gold`"),
        ({"gold": "a", "metadata": {str(i): "" for i in range(16)}}, "gold", "16 pairs already"),
    ],
)
def test_a_request_that_cannot_be_carried_out_says_where(
    more: dict[str, Any], where: str, says: str
) -> None:
    found = refusals(BASE | more)
    assert says in found[where]


@pytest.mark.parametrize("metadata", [{}, {"market": "de"}, {"gold": "hateful"}])
def test_a_gold_label_is_that_of_metadata_and_changes_nothing_else(
    metadata: dict[str, str],
) -> None:
    sent = BASE | {"gold": "hateful", "metadata": metadata}
    same = BASE | {"metadata": metadata | {"gold": "hateful"}}
    stored = ExplanationsRequest.model_validate(sent).model_dump(mode="json")
    assert stored == ExplanationsRequest.model_validate(same).model_dump(mode="json")
    assert ExplanationsRequest.model_validate(stored).metadata["gold"] == "hateful"
    assert "gold" not in metadata or sent["metadata"] == metadata


@pytest.mark.parametrize(
    "prompt",
    [
        {"user": "Is {colour} bad?"},
        {"user": "{text}", "reader": "labels", "labels": ["one"]},
        {"user": "{text}", "reader": "labels", "labels": ["Yes", "yes"]},
        {"user": "a { b"},
        {"user": "Is this post hateful?"},
        {"user": "Is it?", "system": "You know {policy}."},
    ],
)
def test_a_prompt_of_your_own_is_checked(prompt: dict[str, Any]) -> None:
    assert refusals(BASE | {"prompt": prompt})


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({"prompt": {"user": "{text}" * 8}}, True),
        ({"prompt": {"user": "{text}" * 8 + "."}}, False),
        ({"prompt": {"user": "{text}" * 8_000}}, False),
        ({"prompt": {"user": "{text}" * 4, "system": "{policy}" * 3}, "style": "raw"}, True),
        ({"prompt": {"user": "{text}" * 4, "system": "{policy}" * 4}, "style": "raw"}, False),
        (
            {"prompt": {"user": "{text}" * 5 + "{policy}" * 2}, "policy": {"text": "{" * 20_000}},
            False,
        ),
    ],
)
def test_a_prompt_that_is_too_long_when_filled_is_refused(more: dict[str, Any], fits: bool) -> None:
    """As it is sent: else no turn could hold it."""
    body = {"policy": {"text": "x " * 10_000}} if "system" in more["prompt"] else {}
    whole = BASE | {"text": "x " * 10_000} | body | more
    if not fits:
        assert "at most 160,000 are allowed" in refusals(whole)["prompt"]
        return
    found = ExplanationsRequest.model_validate(whole)
    values = found.full_prompt.values(found.inputs, found.policy_text, None, "en")
    assert as_prompt(found.full_prompt.turns(values, 0), found.style)


def test_a_metric_s_model_is_looked_up_before_the_job_is_taken() -> None:
    catalogue = load_catalogue(ROOT / "models.toml")
    body = {"text": TEXT, "answer": {"text": "It is hateful."}}
    for model, why in (("nothing", "no model"), ("embedded-similarity", "needs a")):
        sent = body | {"score": {"hatexscore": {"model": model}}}
        asked = ExplanationsRequest.model_validate(sent)
        with pytest.raises(BadInput, match=why) as found:
            catalogue.check_request(CONTRACT, asked.model, asked)
        assert found.value.pointer == "/score/hatexscore"
    catalogue.check_request(CONTRACT, None, ExplanationsRequest.model_validate(body))


def test_a_model_that_writes_is_needed() -> None:
    catalogue = load_catalogue(ROOT / "models.toml")
    asked = ExplanationsRequest.model_validate(BASE | {"model": "embedded-hate"})
    with pytest.raises(BadInput, match="needs a model of kind causal"):
        catalogue.check_request(CONTRACT, asked.model, asked)


def test_work_grows_with_the_prompt_the_answer_and_the_metrics() -> None:
    def seconds(certain: bool, **more: Any) -> float:
        works = CONTRACT.work(ExplanationsRequest.model_validate(BASE | more))
        return sum(work.seconds(100) for work in works if work.certain == certain)

    assert seconds(True, text="word " * 400) > seconds(True)
    assert seconds(False, generation={"max_tokens": 2_000}) > seconds(False)
    assert seconds(False, score=["hatexscore"]) > seconds(False)


def test_prompts_are_as_the_papers_print_them() -> None:
    haf, ours = justify_prompt("a text", 0), get_prompt("haf-justify")
    assert ours.turns({"text": "a text"}, 0) == haf.turns
    genex = get_prompt("genex-nli").turns({**RAIN, "label": "neutral"}, 0)
    assert genex[0].content == (
        "You are an expert in Natural Language Inference (NLI). Please list all possible "
        "explanations why the following statement is neutral given the context below without "
        "introductory phrases.\nContext: A man holds an umbrella.\nStatement: It is raining.\n"
        "Answer:"
    )
    table8 = get_prompt("hatexscore-table8@1")
    values = {"text": TEXT, "policy": table8.policy or "", "language": "English"}
    assert "Provide the explanation for your classification in English, followed by the " in (
        table8.turns(values, 0)[0].content
    )


def test_demonstrations_are_one_of_each_label_and_come_first() -> None:
    table8 = get_prompt("hatexscore-table8")
    turns = table8.turns({"text": TEXT, "policy": "", "language": "English"}, 2)
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    endings = [turn.content.rpartition(": ")[2] for turn in turns if turn.role == "assistant"]
    assert endings == ["Hateful", "Non-hateful"]
    assert turns[-1].content.endswith(TEXT)


@pytest.mark.parametrize("prompt", load_prompts().values(), ids=lambda one: one.name)
def test_a_stored_prompt_says_where_it_is_from(prompt: Any) -> None:
    assert prompt.source
    assert prompt.licence
    assert (ROOT / f"services/explanations/prompts/{prompt.name}.v{prompt.version}.toml").exists()


def test_values_are_inserted_once() -> None:
    assert fill_template("{text} {{policy}}", {"text": "{label} {{", "label": "x"}) == (
        "{label} {{ {policy}"
    )


def test_every_named_policy_of_the_metric_has_its_words() -> None:
    schema = metrics()["hatexscore"].request.model_json_schema()
    options = schema["$defs"]["HatexscoreOptions"]["properties"]
    named = options["policy"]["anyOf"][0]["enum"]
    assert sorted(named) == sorted(load_policies())
