"""The budget of a pass, the kinds of models, and what a head does after its product."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM

from services.inference import classifier
from services.inference.causal_pass import Readout
from services.inference.local_models import LocalModels
from services.inference.weights.batcher import (
    CPU_TOKENS,
    LEAST_TOKENS,
    MOST_TOKENS,
    padded_tokens,
    tokens_for_memory,
)
from shared.contracts.calls import AttributionMethod, Example
from shared.contracts.errors import BadInput, Unavailable
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import settings
from tests.inference.loops import next_logits
from tests.inference.shapes import save_gpt2


def test_a_cpu_has_a_fixed_budget() -> None:
    assert padded_tokens(torch.device("cpu"), lambda _: 1 / 0) == CPU_TOKENS


def test_more_memory_fits_no_fewer_tokens() -> None:
    sizes = [tokens_for_memory(free, 50_000) for free in (0, 1e8, 1e9, 1e12)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (LEAST_TOKENS, MOST_TOKENS)
    assert tokens_for_memory(2e9, 50_000) == 20_000


def test_each_kind_has_its_door(tmp_path: Path, configured: Callable[..., LocalModels]) -> None:
    save_gpt2(tmp_path / "weights")
    models = configured("path:weights", kind="causal")
    assert models.kind("m") == "causal"
    assert models.writer("m") is models.language_model("m")
    asked: list[Callable[[str], Any]] = [models.classifier, models.similarity]
    for door in asked:
        with pytest.raises(BadInput) as caught:
            door("m")
        assert caught.value.pointer == "/model"


def test_a_head_that_caps_its_logits_answers_by_itself() -> None:
    torch.manual_seed(0)
    config = Gemma2Config(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        final_logit_softcapping=0.5,
    )
    model = Gemma2ForCausalLM(config).eval()
    readout = Readout(model)
    assert not readout.plain
    with torch.no_grad():
        ids = torch.tensor([[4, 5, 6]])
        states, _ = readout.states(2, input_ids=ids, use_cache=False)
        chosen = readout.token_logits(states[:, -1], torch.tensor([7, 9]))[0]
        followed = readout.token_logprobs(states, torch.tensor([[6, 3]]))[0]
    oracle = next_logits(model, [4, 5, 6])
    assert chosen.numpy() == pytest.approx(oracle[[7, 9]], abs=1e-5)
    logs = torch.tensor(oracle).log_softmax(dim=0)
    assert float(followed[1]) == pytest.approx(float(logs[3]), abs=1e-5)


def test_the_budget_bounds_every_pass_and_changes_no_answer() -> None:
    texts = [f"{'rain ' * (number % 7)}falls on town {number}" for number in range(40)]
    catalogue = load_catalogue(settings().models_file)
    usual = LocalModels(catalogue).classifier("embedded-hate")
    small = LocalModels(catalogue, budget=64).local_classifier("embedded-hate")
    sizes: list[int] = []
    small._weights.model.register_forward_pre_hook(
        lambda _model, _args, given: sizes.append(given["input_ids"].numel()), with_kwargs=True
    )
    assert small.probabilities(texts) == pytest.approx(usual.probabilities(texts), abs=1e-5)
    assert len(sizes) > 5
    assert max(sizes) <= 64


def test_a_device_that_is_full_beside_the_batcher_is_away_for_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError

    model = LocalModels(load_catalogue(settings().models_file)).classifier("embedded-hate")
    monkeypatch.setattr(classifier, "attribute", full)
    method = AttributionMethod(name="gradient")
    with pytest.raises(Unavailable, match="'embedded-hate' has no memory left"):
        model.attributions([Example(text="rain")], ["hateful"], method)
