"""By default a model is asked for the fields of an explanation, and its answer needs no reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.explanations.service import SERVICE
from shared.contracts.explanation_fields import schema_for_models
from tests.explanations.scripted import saying
from tests.explanations.test_service import TEXT, ask

FIELDS: dict[str, Any] = {
    "text": "The post blames immigrants for what goes wrong in the town.",
    "reasons": ["It blames a whole group."],
    "quotes": ["are ruining our town"],
    "target_groups": ["immigrants"],
    "decision": "hateful",
}


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
def test_an_answer_of_the_schema_is_scored_by_its_fields(fence: str) -> None:
    says = fence.replace("{}", json.dumps(FIELDS))
    with saying(says) as model:
        found = SERVICE.score(ask(score=["hatexscore"]))
    assert model.samplings[0].answer_schema == json.dumps(schema_for_models())
    assert found.provenance.prompt.name == "explanation-fields"
    elicitation = found.elicitation
    assert (elicitation.outcome, elicitation.decision) == ("answered", "hateful")
    assert elicitation.conclusion is not None
    assert '"decision"' in says[elicitation.conclusion.start : elicitation.conclusion.end]
    assert elicitation.stated_p is not None
    [score] = found.scores
    outcomes = {check.name: check.outcome for check in score.checks}
    assert outcomes["states-this-decision"] == outcomes["quotes-in-post"] == "passed"
    assert [TEXT[one.start : one.end] for one in score.evidence if one.kind == "quote"] == [
        "are ruining our town"
    ]


def test_prose_is_read_as_before() -> None:
    with saying('It says "are ruining our town" about immigrants. Conclusion: hateful.'):
        found = SERVICE.score(ask(score=["hatexscore"]))
    assert found.elicitation.decision == "hateful"
    assert found.scores


def test_other_prompts_ask_for_no_schema() -> None:
    with saying("Conclusion: hateful.") as model:
        SERVICE.score(ask(prompt="hatexscore-table8"))
    assert model.samplings[0].answer_schema is None
