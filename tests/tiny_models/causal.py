"""Causal models: the guards' architectures, control tokens and the structure of their templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from tests.inference.shapes import save_weights
from tests.tiny_models.vocabulary import SENTENCES

ANSWERS = "Safety: Safe Unsafe Controversial Yes No safe unsafe Harmful request: yes no"
STEEP = 6
READS = 1_024
LLAMA = (
    "{{ bos_token }}{% for turn in messages %}<|start_header_id|>{{ turn.role }}<|end_header_id|>"
    "\n\n{{ turn.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}"
)
QWEN = (
    "{% for turn in messages %}<|im_start|>{{ turn.role }}\n{{ turn.content }}<|im_end|>\n"
    "{% endfor %}{{ '<|im_start|>assistant\n<think>\n\n</think>\n\n' }}"
)
GRANITE = (
    "<|start_of_role|>system<|end_of_role|>Is there {{ guardian_config.risk_name }}?"
    "<|end_of_text|>{% for turn in messages %}<|start_of_role|>{{ turn.role }}<|end_of_role|>"
    "{{ turn.content }}<|end_of_text|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
)
GRANITE_4 = (
    "{% for turn in messages %}<|start_of_role|>{{ turn.role }}<|end_of_role|>"
    "{{ turn.content }}<|end_of_text|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
)
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": READS,
}


@dataclass(frozen=True)
class Causal:
    """What a known model is, as far as its weights are left out. control: its special tokens."""

    architecture: str  # `Llama` for transformers.LlamaForCausalLM and LlamaConfig
    control: tuple[str, ...]  # the first begins a text, the second ends it
    chat: str | None
    keys: Mapping[str, Any] = field(default_factory=dict)


_LLAMA_CONTROL = (
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
)
CAUSAL: dict[str, Causal] = {
    "llama-guard-3": Causal("Llama", _LLAMA_CONTROL, LLAMA),
    "shieldgemma-hate": Causal(
        "Gemma2",
        ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"),
        None,
        {"head_dim": 8, "final_logit_softcapping": 30.0, "attn_logit_softcapping": 50.0},
    ),
    "qwen3guard": Causal(
        "Qwen3",
        ("<|im_start|>", "<|im_end|>", "<think>", "</think>"),
        QWEN,
        {"tie_word_embeddings": True, "head_dim": 8},
    ),
    "granite-guardian-3": Causal(
        "Granite",
        ("<|start_of_role|>", "<|end_of_text|>", "<|end_of_role|>"),
        GRANITE,
    ),
    "granite-guardian-4": Causal(
        "Granite",
        ("<|start_of_role|>", "<|end_of_text|>", "<|end_of_role|>"),
        GRANITE_4,
    ),
    "wildguard": Causal("Mistral", ("<s>", "</s>"), None),
}


def vocabulary(known: Causal) -> Any:
    """A byte-level BPE with the model's control tokens; it begins a text as the model's does."""
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<pad>", *known.control],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    words.train_from_iterator([*SENTENCES, *[ANSWERS] * 3] * 4, trainer)
    first = known.control[0]
    words.post_processor = processors.TemplateProcessing(
        single=f"{first} $A", special_tokens=[(first, 1)]
    )
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token=first,
        eos_token=known.control[1],
        pad_token="<pad>",
        additional_special_tokens=list(known.control[2:]),
        model_max_length=READS,
        chat_template=known.chat,
    )


def save_causal(folder: Path, known: Causal, seed: int = 0) -> Path:
    """Write it as a hub repository would hold it."""
    import torch
    import transformers

    torch.manual_seed(seed)
    words = vocabulary(known)
    ids = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = getattr(transformers, f"{known.architecture}Config")
    kind = getattr(transformers, f"{known.architecture}ForCausalLM")
    model = kind(config(vocab_size=len(words), **SIZES, **ids, **known.keys))
    return save_weights(folder, model, words, STEEP)
