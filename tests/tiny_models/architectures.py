"""Classifiers of other architectures than the presets': what a hub holds besides BERT and RoBERTa.

Heads that read the first token, the last one, or the last one that ends a text; positions that
begin behind the padding row; networks without an attention mask; tokenizers without padding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.inference.shapes import byte_tokenizer, save_weights
from tests.tiny_models.vocabulary import byte_level, unigram, wordpiece

BERT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
BART = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
RELATIVE = {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0}
STEEP = 4


@dataclass(frozen=True)
class Architecture:
    """A class of the library with a head. reads: tokens; padded: by a token that it knows of."""

    name: str
    words: Callable[[], Any]
    reads: int
    config: Mapping[str, Any] = field(default_factory=dict)
    padded: bool = True


def _gpt2_words() -> Any:
    return byte_tokenizer(begins=False, reads=128)


def _of(name: str, words: Callable[[], Any], reads: int, **config: Any) -> Architecture:
    return Architecture(name, words, reads, BERT | config)


ARCHITECTURES = {
    "albert": _of("Albert", unigram, 512, embedding_size=16, pad_token_id=1),
    "bart": Architecture(
        "Bart",
        lambda: byte_level(stated_limit=64),
        64,
        {**BART, "max_position_embeddings": 64, "pad_token_id": 1, "eos_token_id": 2},
    ),
    "bigbird": _of(
        "BigBird", unigram, 256, max_position_embeddings=256, block_size=8, pad_token_id=1
    ),
    "camembert": _of("Camembert", unigram, 512, max_position_embeddings=514, pad_token_id=1),
    "deberta": _of("DebertaV2", unigram, 512, pad_token_id=1, pos_att_type="p2c|c2p", **RELATIVE),
    "distilbert": Architecture(
        "DistilBert", wordpiece, 512, {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    ),
    "electra": _of("Electra", wordpiece, 512, embedding_size=16),
    "fnet": Architecture(
        "FNet",
        unigram,
        512,
        {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64, "pad_token_id": 1},
    ),
    "gpt2": Architecture(
        "GPT2", _gpt2_words, 128, {"n_positions": 128, "n_embd": 32, "n_layer": 2, "n_head": 4}
    ),
    "llama": Architecture(
        "Llama",
        lambda: byte_level(stated_limit=128),
        128,
        {**BERT, "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": None},
        padded=False,
    ),
    "longformer": _of(
        "Longformer",
        lambda: byte_level(stated_limit=4096),
        128,
        attention_window=[8, 8],
        max_position_embeddings=130,
        pad_token_id=1,
    ),
    "modernbert": _of(
        "ModernBert",
        wordpiece,
        512,
        max_position_embeddings=512,
        pad_token_id=0,
        bos_token_id=2,
        cls_token_id=2,
        eos_token_id=3,
        sep_token_id=3,
    ),
    "mpnet": _of("MPNet", byte_level, 512, max_position_embeddings=514, pad_token_id=1),
    "qwen2": _of(
        "Qwen2", byte_level, 512, num_key_value_heads=2, pad_token_id=1, max_position_embeddings=512
    ),
    "roberta, padding id 3": _of(
        "Roberta", unigram, 510, max_position_embeddings=514, pad_token_id=3, type_vocab_size=1
    ),
    "t5": Architecture(
        "T5",
        unigram,
        512,
        {**T5, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1},
    ),
    "xlnet": Architecture(
        "XLNet",
        unigram,
        512,
        {"d_model": 32, "n_layer": 2, "n_head": 2, "d_inner": 64, "pad_token_id": 1},
    ),
}


def save_architecture(folder: Path, known: Architecture, outputs: tuple[str, ...]) -> Path:
    """Write it as a hub repository would hold it."""
    import torch
    import transformers

    torch.manual_seed(4)
    words = known.words()
    config = getattr(transformers, f"{known.name}Config")(
        **{"vocab_size": len(words), "pad_token_id": words.pad_token_id} | dict(known.config),
        id2label=dict(enumerate(outputs)),
        label2id={name: place for place, name in enumerate(outputs)},
    )
    model = getattr(transformers, f"{known.name}ForSequenceClassification")(config)
    if not known.padded:
        words.pad_token = None
    return save_weights(folder, model, words, STEEP)
