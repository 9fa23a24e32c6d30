"""Random causal models by their shape, behind the port, with a tokenizer of whole words."""

from __future__ import annotations

from typing import Any, cast

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from services.inference.causal import LocalLanguageModel
from services.weights.loader import LoadedModel
from shared.contracts import ModelKind, ModelUse
from shared.models.calls import Template
from shared.models.ports import Models

WORDS = 1_000
READS = 1_024  # tokens
TEMPLATE = Template(verbalizers={"up": " w1", "down": " w2"})
LABEL_TOKENS = (1, 2)
QUIET: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0}
TINY = GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=8_000, **QUIET)
GPT2 = GPT2Config(**QUIET)  # 124M
LLAMA_8B = LlamaConfig(
    vocab_size=128_256,
    hidden_size=4_096,
    intermediate_size=14_336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    max_position_embeddings=8_192,
    rope_theta=500_000.0,
    **QUIET,
)


class OneModel:
    """The port `shared.models.ports.Models` over one causal model, whatever it is called."""

    def __init__(self, model: LocalLanguageModel) -> None:
        self._model = model

    def kind(self, name: str) -> ModelKind:
        """Causal."""
        return "causal"

    def language_model(self, name: str) -> LocalLanguageModel:
        """The model."""
        return self._model

    classifier = writer = similarity = language_model


def tokenizer() -> Any:
    """w0, w1, ... w999 are words; w0 ends a text."""
    words = Tokenizer(models.WordLevel({f"w{n}": n for n in range(WORDS)}, unk_token="w0"))  # noqa: S106 - no password
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w0")  # noqa: S106


def random_model(config: Any, device: str = "cpu", dtype: str = "float32") -> Any:
    """Made on its device: a large one never passes through this machine's memory."""
    torch.manual_seed(0)
    kind: Any = LlamaForCausalLM if isinstance(config, LlamaConfig) else GPT2LMHeadModel
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            model = kind(config)
    finally:
        torch.set_default_dtype(before)
    return model.eval()


def behind_the_port(model: Any, words: Any, device: str = "cpu", dtype: str = "float32") -> Models:
    """The model as the rooms ask it."""
    use = ModelUse(name="random", revision="1", sha256="0" * 64, device=device, dtype=dtype)
    weights = LoadedModel(
        model=model.requires_grad_(requires_grad=False),
        tokenizer=words,
        longest=READS,
        labels=(),
        languages=(),
        temperature=1.0,
        use=use,
    )
    return cast(Models, OneModel(LocalLanguageModel(weights)))
