"""Real ways to an answer: a tiny Llama of this process, and recorded answers of servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import exp
from pathlib import Path
from typing import Any

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.report import ExplanationsResult
from services.explanations.service import SERVICE
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from tests.explanations.scripted import of_own_job
from tests.fakes import bound_models
from tests.haf.test_conversation import ENTRIES, TEXT
from tests.haf.tiny_llama import STAGES, save
from tests.shared.models.openai.recorded import Recorded
from tests.shared.models.openai.stub import listening

HATE = '\n[[models]]\nname = "embedded-hate"\nsource = "embedded:hate"\ndevice = "cpu"\n'
Elicits = Callable[..., ExplanationsResult]


def ask(**more: Any) -> ExplanationsRequest:
    return ExplanationsRequest.model_validate({"text": TEXT, "language": "en", **more})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explanations")
    save(folder / "tiny")
    (folder / "models.toml").write_text(ENTRIES, "utf-8")
    return folder / "models.toml"


@pytest.fixture
def _tiny_bound(tiny: Path) -> Iterator[None]:
    with bound_models(local(load_catalogue(tiny))):
        yield


@pytest.mark.usefixtures("_tiny_bound")
def test_a_causal_model_decides_explains_and_is_scored_in_one_call() -> None:
    asked = ask(
        model="tiny",
        prompt="haf-justify",
        score=["haf"],
        seed=11,
        generation={"temperature": 0.6, "top_p": 0.8},
    )
    found = SERVICE.score(asked)
    told = found.elicitation
    assert told.answer in STAGES["<justify>"]
    assert (told.outcome, told.decision, told.reasoning_tokens) == ("answered", "toxic", 0)
    assert [one.code for one in told.obstacles] == ["no-judge"]
    assert found.provenance.model is not None
    assert found.provenance.model.sha256
    tokens = [token.model_dump() for token in told.tokens]
    justify = {"text": told.answer, "tokens": tokens}
    body = {"text": TEXT, "language": "en", "seed": 11, "responses": {"justify": justify}}
    assert found.scores == (of_own_job("haf", body),)
    assert SERVICE.score(asked) == found


@pytest.fixture
def elicits(tmp_path: Path) -> Iterator[Elicits]:
    """The result of a request to the model behind a double of this recording."""
    with ExitStack() as stack:

        def make(recording: str, entry: str = "", **more: Any) -> ExplanationsResult:
            url = stack.enter_context(listening(Recorded(recording)))
            file = tmp_path / "models.toml"
            served = f'[[models]]\nname = "m"\nkind = "causal"\nsource = "openai:{url}"\n{entry}'
            file.write_text(f"schema = 2\n{served}\n{HATE}", "utf-8")
            bind(local(load_catalogue(file)))
            return SERVICE.score(ask(model="m", score=["hatexscore"], **more))

        yield make
    bind(None)


def test_a_reasoning_model_s_chain_is_kept_apart_from_its_answer(elicits: Elicits) -> None:
    found = elicits("vllm/0.33/explanation", "keep_reasoning = true")
    told = found.elicitation
    assert told.reasoning == "The post blames immigrants as a group."
    assert told.answer.strip() == 'It blames immigrants: "ruining our town". Conclusion: hateful.'
    assert told.explanation == told.answer.strip()
    assert told.decision == "hateful"
    assert told.stated_p == pytest.approx(exp(-0.223144))
    spelled = "".join(told.answer[token.start : token.end] for token in told.tokens)
    assert spelled == told.answer
    assert [one.metric for one in found.scores] == ["hatexscore"]


def test_a_chain_that_is_not_kept_is_in_no_result(elicits: Elicits) -> None:
    found = elicits("vllm/0.33/explanation")
    assert (found.elicitation.reasoning, found.elicitation.reasoning_tokens) == (None, None)
    assert "as a group" not in found.model_dump_json()


def test_a_server_that_was_cut_while_it_reasoned_is_never_scored(elicits: Elicits) -> None:
    found = elicits("vllm/0.33/explanation_cut")
    assert found.elicitation.outcome == "unparsable"
    assert found.elicitation.obstacles[0].code == "answer-cut-by-reasoning"
    assert found.scores == ()


def test_a_refusal_in_a_field_of_its_own_is_a_refusal(elicits: Elicits) -> None:
    found = elicits("openai/2026-11/refusal")
    assert found.elicitation.outcome == "refused"
    assert found.elicitation.answer == "I'm sorry, I can't help with that."
    assert [one.code for one in found.unscored] == ["refused"]
    assert found.scores == ()
