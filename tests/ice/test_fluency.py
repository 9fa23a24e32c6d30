"""Perplexities of what operators leave of a text, against a language model made of arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from services.ice.contract import IceRequest
from services.ice.cost import FLUENCY_TEXTS, cost
from services.ice.input_distance import CONTEXT, ROWS, token_loss
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.contracts.calls import Completion, Prompt, WrittenToken
from shared.contracts.errors import BadInput
from shared.contracts.messages import ModelUse
from shared.models.catalogue.catalogue import load_catalogue
from tests.fakes import bound_models
from tests.flat_requests import flat_request
from tests.ice.planted import USE, PlantedJudge, PlantedModels
from tests.ice.test_randomization_test import span, text_of

KNOWN, UNKNOWN = 0.1, 3.0  # nats: of the word that follows in the text, of any other
LENGTH, FIRST, SIZE = 40, 12, 6
TEXT = text_of(LENGTH)
NEIGHBOURS = USE.model_copy(update={"name": "neighbours"})


def next_word(before: str | None, word: str) -> bool:
    return before is not None and before[1:].isdigit() and word == f"w{int(before[1:]) + 1}"


@dataclass
class NeighbourModel:
    """The port `Writer`: every number is surely followed by the next one."""

    longest: int = 100
    languages: tuple[str, ...] = ("*",)
    use: ModelUse = NEIGHBOURS
    asked: list[str] = field(default_factory=list)

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        assert set(prompts) == {CONTEXT}
        self.asked += completions
        return [self._scored(text) for text in completions]

    def _scored(self, text: str) -> Completion:
        words = list(re.finditer(r"\S+", text))
        if len(words) > self.longest:
            raise BadInput(f"it has {len(words)} tokens", pointer="/completions")
        before = [None, *(word[0] for word in words)]
        tokens = tuple(
            WrittenToken(
                id=None,
                start=word.start(),
                end=word.end(),
                logprob=-(KNOWN if next_word(previous, word[0]) else UNKNOWN),
            )
            for previous, word in zip(before, words, strict=False)
        )
        return Completion(text=text, tokens=tokens, finish="given")


@dataclass(frozen=True)
class BothModels(PlantedModels):
    """The judge under every name, and one language model."""

    language: NeighbourModel = field(default_factory=NeighbourModel)

    def writer(self, name: str) -> NeighbourModel:
        if name != "neighbours":
            raise BadInput(f"there is no model {name!r}", pointer="/model")
        return self.language


def fields(**more: Any) -> dict[str, Any]:
    passage = span(TEXT, [FIRST])[0]["start"], span(TEXT, [FIRST + SIZE - 1])[0]["end"]
    given = {"text": TEXT, "rationale": [{"start": passage[0], "end": passage[1]}]}
    return given | {"fluency_model": "neighbours", "decision": "yes", "draws": 99} | more


def scored(*requests: dict[str, Any], language: NeighbourModel | None = None) -> list[IceResult]:
    with bound_models(BothModels(PlantedJudge(), language or NeighbourModel())):
        return SERVICE.score_batch([flat_request(IceRequest, one) for one in requests])


def ratios(report: IceResult) -> tuple[float | None, float | None]:
    assert report.distance is not None
    return report.distance.perplexity_ratio, report.distance.rationale_perplexity_ratio


def told(report: IceResult) -> list[str]:
    return [one for one in report.warnings if one.startswith("perplexity_ratio")]


def passage_ratio(size: int) -> float:
    """By hand: every passage begins with one word that nothing led to."""
    own = (UNKNOWN + (LENGTH - 1) * KNOWN) / LENGTH
    return math.exp((UNKNOWN + (size - 1) * KNOWN) / size - own)


def test_passages_are_as_fluent_as_the_quoted_one() -> None:
    [report] = scored(fields())
    assert ratios(report) == pytest.approx((passage_ratio(SIZE), passage_ratio(SIZE)))
    assert not told(report)
    assert [model.name for model in report.provenance.models] == ["planted", "neighbours"]


def test_a_passage_among_random_tokens_may_win_for_its_fluency() -> None:
    [report] = scored(fields(null="tokens"))
    random, rationale = ratios(report)
    assert rationale == pytest.approx(passage_ratio(SIZE))
    assert random is not None
    assert rationale is not None
    assert random > 10 > 2 * rationale
    strange, unlike = told(report)
    assert "inputs may mean little" in strange
    assert "may reflect fluency" in unlike


def test_no_more_than_fifty_random_rationales_are_read() -> None:
    model = NeighbourModel()
    scored(fields(null="tokens"), language=model)
    assert len(model.asked) == ROWS + 2 == FLUENCY_TEXTS
    assert model.asked[0] == TEXT
    assert model.asked[1] == " ".join(TEXT.split()[FIRST : FIRST + SIZE])
    assert all(len(text.split()) == SIZE for text in model.asked[1:])


@pytest.mark.parametrize("operator", ["delete", "mask"])
def test_rows_of_words_are_read_like_rows_of_tokens(operator: str) -> None:
    in_tokens, in_words = scored(
        fields(operators=[operator]), fields(operators=[operator], rows="words")
    )
    assert ratios(in_tokens) == ratios(in_words)


def test_fills_are_written_as_they_stand_in_the_pool() -> None:
    model = NeighbourModel()
    scored(fields(operators=["infill"], infill_pool=["w900 w902", "w904"]), language=model)
    read = {word for text in model.asked[1:] for word in text.split()}
    assert read - set(TEXT.split()) == {"w900", "w902", "w904"}
    assert all(len(text.split()) == LENGTH for text in model.asked)


def test_a_report_is_the_same_alone_and_in_a_batch() -> None:
    asked = fields(null="tokens"), fields(seed=5), fields(fluency_model=None)
    together = scored(*asked)
    assert together == [scored(one)[0] for one in asked]
    assert ratios(together[2]) == (None, None)
    assert not told(together[2])
    assert [model.name for model in together[2].provenance.models] == ["planted"]


def test_the_tests_are_the_same_with_and_without() -> None:
    [told_of, bare] = scored(fields(), fields(fluency_model=None))
    assert told_of.components == bare.components


@pytest.mark.parametrize(
    ("language", "why"),
    [
        (NeighbourModel(longest=LENGTH - 1), f"it has {LENGTH} tokens"),
        (NeighbourModel(languages=("sw",)), "language"),
    ],
)
def test_a_model_that_cannot_tell_leaves_a_null_and_its_reason(
    language: NeighbourModel, why: str
) -> None:
    [report] = scored(fields(language="en"), language=language)
    assert ratios(report) == (None, None)
    [warning] = told(report)
    assert warning.startswith("perplexity_ratio is null")
    assert why in warning
    assert report.score is not None


def test_an_unknown_model_is_refused_by_its_field() -> None:
    with pytest.raises(BadInput) as refused:
        scored(fields(fluency_model="nobody"))
    assert refused.value.pointer == "/options/fluency_model"


def test_the_published_variants_know_no_fluency() -> None:
    with pytest.raises(ValidationError, match="fluency_model"):
        IceRequest.model_validate(
            {
                "text": TEXT,
                "attribution": "lime",
                "variant": "paper",
                "options": {"fluency_model": "m"},
            }
        )


def test_what_the_language_model_reads_is_counted() -> None:
    without = flat_request(IceRequest, fields(fluency_model=None))
    [more] = set(cost(flat_request(IceRequest, fields()), 512)) - set(cost(without, 512))
    assert more.amount == FLUENCY_TEXTS * LENGTH


def test_losses_are_those_of_the_model_itself(tmp_path: Path) -> None:
    """Oracle: cross entropy of transformers' own logits, the text read behind a line break."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from services.inference.local_models import LocalModels
    from tests.inference.shapes import save_gpt2

    save_gpt2(tmp_path / "weights")
    (tmp_path / "models.toml").write_text(
        '[[models]]\nname = "m"\nkind = "causal"\nsource = "path:weights"\ndevice = "cpu"\n',
        "utf-8",
    )
    writer = LocalModels(load_catalogue(tmp_path / "models.toml")).writer("m")
    words = AutoTokenizer.from_pretrained(tmp_path / "weights")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "weights").eval()
    texts = ["The garden was green", "green the was", "", "The garden was green"]
    found = token_loss(writer, texts)
    assert found[0] == found[3]
    assert found[2] == []
    for text, losses in zip(texts[:2], found[:2], strict=True):
        before = len(words("\n")["input_ids"])
        ids = torch.tensor([words("\n" + text)["input_ids"]])
        with torch.no_grad():
            loss = torch.nn.functional.cross_entropy(
                model(ids).logits[0, before - 1 : -1], ids[0, before:], reduction="none"
            )
        assert losses == pytest.approx(loss.tolist(), abs=1e-4)
