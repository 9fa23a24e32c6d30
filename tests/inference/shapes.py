"""Random models of three shapes with a tokenizer of our own, written as safetensors folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

SENTENCES = [
    "The garden was green after the rain.",
    "People walk slowly under the old windows.",
    "Is the weather good or bad today? It is good.",
    "We lost the match again, but the town is lovely.",
    "A small café by the river sells warm bread.",
    "Yes, the answer is clear. No, it is not clear.",
]
CHAT = (
    "{% for turn in messages %}<{{ turn.role }}> {{ turn.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
READS = 96  # tokens
DROPOUT = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}


def byte_tokenizer(*, begins: bool, chat: str | None = None, reads: int = READS) -> Any:
    """A byte-level BPE of 400 tokens; `begins`: whether it puts <s> before every text."""
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.normalizer = normalizers.NFC()
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    words.train_from_iterator(SENTENCES * 4, trainer)
    if begins:
        words.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 1)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=reads,
        chat_template=chat,
    )


def save_gpt2(folder: Path) -> Path:
    """Two layers, no token at the beginning, no chat template."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    words = byte_tokenizer(begins=False)
    config = GPT2Config(
        vocab_size=len(words), n_positions=READS, n_embd=32, n_layer=2, n_head=4, **DROPOUT
    )
    return _save_causal(GPT2LMHeadModel(config), words, config, folder)


def save_llama(folder: Path, reads: int = READS, width: int = 32, scale: float = 6) -> Path:
    """Two layers, grouped keys, an untied head, <s> at the beginning, a chat template."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(2)
    words = byte_tokenizer(begins=True, chat=CHAT, reads=reads)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=reads,
    )
    return _save_causal(LlamaForCausalLM(config), words, config, folder, scale)


def _save_causal(model: Any, words: Any, config: Any, folder: Path, scale: float = 6) -> Path:
    config.bos_token_id, config.eos_token_id, config.pad_token_id = 1, 2, 0
    model.generation_config.eos_token_id = 2
    return save_weights(folder, model, words, scale)


def save_weights(folder: Path, model: Any, words: Any, scale: float) -> Path:
    """Write a random model and its tokenizer, as a hub repository holds them.

    scale: its weights become that much larger; random models are else nearly uniform.
    """
    import torch

    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(scale)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_bert(
    folder: Path,
    words: Any,
    *,
    outputs: Sequence[str] = ("no", "perhaps", "yes"),
    reads: int = 64,
    scale: float = 6,
    seed: int = 0,
) -> Path:
    """Two layers and a head."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    config = BertConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=reads,
        id2label=dict(enumerate(outputs)),
        label2id={name: place for place, name in enumerate(outputs)},
    )
    return save_weights(folder, BertForSequenceClassification(config), words, scale)
