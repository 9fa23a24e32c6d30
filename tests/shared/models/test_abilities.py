"""What a served model cannot do is said when the request is posted, not after a queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.registry import contracts
from shared.contracts.errors import ModelCannot, TooManyRows
from shared.contracts.problems import problem
from shared.contracts.prompt_table import PromptTable
from shared.contracts.request_cost import WorkLimit
from shared.contracts.service import ServiceContract
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from tests.flat_requests import flat_request, with_options

LABELS = PromptTable(
    user="Post: {text}", verbalizers={"hateful": (" yes",), "non-hateful": (" no",)}
)
SERVED = ModelEntry(name="there", kind="causal", source="openai:http://vllm:8000/v1", prompt=LABELS)
CLASSIFIES = ModelEntry(name="head", kind="classifier", source="classify:http://tei")
HERE = ModelEntry(name="here", kind="classifier", source="embedded:hate")
CATALOGUE = Catalogue((SERVED, CLASSIFIES, HERE), Path())
EXAMPLES = [{"text": "A text"}]
ROWS = [{"example": {"text": "A text"}, "rows": []}]


def post(contract: ServiceContract, **body: Any) -> None:
    """As the gateway does before it commits a job."""
    asked = contract.request.model_validate(body)
    CATALOGUE.check_request(contract, asked.model, asked)


@pytest.mark.parametrize(
    ("model", "ability", "ask"),
    [
        ("there", "token_rows", {"operation": "judge_rows", "asked": ROWS}),
        ("head", "token_rows", {"operation": "tokens", "examples": EXAMPLES}),
        ("head", "generate", {"operation": "generate", "prompts": [{"text": "a"}]}),
        (
            "there",
            "attributions",
            {
                "operation": "attributions",
                "examples": EXAMPLES,
                "targets": ["hateful"],
                "method": {"name": "gradient"},
            },
        ),
    ],
)
def test_an_operation_that_no_server_does(model: str, ability: str, ask: dict[str, Any]) -> None:
    with pytest.raises(ModelCannot) as caught:
        post(contracts()["inference"], model=model, ask=ask)
    assert (caught.value.model, caught.value.ability) == (model, ability)
    assert ability not in caught.value.abilities
    assert caught.value.pointer == "/model"


def test_what_servers_do_is_taken() -> None:
    inference = contracts()["inference"]
    post(inference, model="there", ask={"operation": "judge", "examples": EXAMPLES})
    post(inference, model="head", ask={"operation": "judgements", "examples": EXAMPLES})
    post(inference, model="there", ask={"operation": "score", "prompts": [{"text": "a"}],
                                        "completions": ["b"]})  # fmt: skip
    post(inference, model="here", ask={"operation": "judge_rows", "asked": ROWS})


BODY = {"text": "We lost the match", "rationale": [{"start": 3, "end": 7}]}
LIME = {"text": "We lost the match", "attribution": "lime"}


@pytest.mark.parametrize("model", ["here", "head", "there"])
@pytest.mark.parametrize(
    "body", [BODY, LIME, BODY | {"options": {"rows": "words", "operators": ["mask"]}}]
)
def test_ice_takes_words_of_any_judge(model: str, body: dict[str, Any]) -> None:
    post(contracts()["ice"], model=model, **body)


@pytest.mark.parametrize(
    ("more", "ability", "instead"),
    [
        ({"options": {"rows": "tokens"}}, "token_rows", '"rows": "words"'),
        ({"variant": "reference"}, "token_rows", "not for variant reference"),
        ({"options": {"eligible": "all"}}, "token_rows", "hf: or path:"),
        (
            {"options": {"operators": ["delete", "mask_pad"]}},
            "token_rows",
            "delete, mask or infill",
        ),
        ({"attribution": "gradient"}, "attributions", "lime"),
        ({"attribution": ["lime", "attention"]}, "attributions", "your own values"),
    ],
)
@pytest.mark.parametrize("model", ["head", "there"])
def test_what_ice_needs_of_tokens_no_server_can(
    model: str, more: dict[str, Any], ability: str, instead: str
) -> None:
    post(contracts()["ice"], model="here", **BODY, **more)
    with pytest.raises(ModelCannot) as caught:
        post(contracts()["ice"], model=model, **BODY, **more)
    assert caught.value.ability == ability
    assert instead in caught.value.detail
    assert "word_rows" in caught.value.abilities


def test_rows_of_a_server_are_counted_before_they_are_asked() -> None:
    ice, text = contracts()["ice"], " ".join("abcdefgh") * 20
    fields = {"text": text, "model": "head", "attribution": "lime"}
    asked = flat_request(ice.request, fields, draws=1_000, aspects=["sufficiency"])
    limit = WorkLimit(900, 10_000, server_rows=1_500)
    with pytest.raises(TooManyRows, match=r"1,501 rows .* lower `draws` to at most 999"):
        limit.check(CATALOGUE.work(ice, asked))
    limit.check(CATALOGUE.work(ice, with_options(asked, draws=999)))
    limit.check(CATALOGUE.work(ice, asked.model_copy(update={"model": "here"})))
    assert problem(TooManyRows("so many"))["type"].endswith("#too-many-rows")


def test_a_server_is_asked_for_each_row_of_words() -> None:
    ice = contracts()["ice"]
    asked = ice.request.model_validate({"text": "a b c d " * 90, "attribution": "lime"})
    served, here = (
        {work.unit: work.amount for work in CATALOGUE.work(ice, one)}
        for one in (asked.model_copy(update={"model": name}) for name in ("head", "here"))
    )
    assert served["requests to the model's server"] == 1 + 500 + 2 * 199
    assert served["rows"] == here["rows"] == 2 * 199
    assert "requests to the model's server" not in here


@pytest.mark.parametrize("model", ["there", "head"])
def test_spans_of_as_many_tokens_need_tokens(model: str) -> None:
    """A served model shows none: said when the request is posted, not dropped in its report."""
    ice = contracts()["ice"]
    options = {"match_tokens": True}
    body = {"text": "A short text", "rationale": ["short text"], "options": options}
    with pytest.raises(ModelCannot, match="does not show its tokens"):
        post(ice, model=model, **body)
    post(ice, model="here", **body)
    with pytest.raises(ValueError, match="`match_tokens` needs rows of tokens"):
        post(ice, model="here", **body | {"options": options | {"rows": "words"}})
