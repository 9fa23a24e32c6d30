"""Two exact shortcuts for BERT's and RoBERTa's cross-encoders: nothing is approximated.

The last layer is computed for the one token that the head reads: the others matter there as keys
and values only, so that of its 12 d² multiplications a token, 2 d² stay. The first layer's queries,
keys and values are computed once for each distinct token of a batch: before it a token is its word,
its position and its segment, whatever else is in the batch, and a reason against its variants
repeats nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention
from transformers import (
    BertForSequenceClassification,
    RobertaForSequenceClassification,
    XLMRobertaForSequenceClassification,
)

READ_FIRST_TOKEN = (
    BertForSequenceClassification,
    RobertaForSequenceClassification,
    XLMRobertaForSequenceClassification,
)


class FirstTokenLayer(nn.Module):
    """An encoder layer of these models that answers (N, 1, d) instead of (N, T, d)."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.attention, self.intermediate = layer.attention, layer.intermediate
        self.output = layer.output

    def forward(
        self, hidden: torch.Tensor, mask: torch.Tensor | None = None, *_rest: Any, **_more: Any
    ) -> torch.Tensor:
        """hidden: (N, T, d). mask: (N, 1, T, T), what each token may look at; None: everything."""
        inner = self.attention.self
        heads = (*hidden.shape[:1], -1, inner.num_attention_heads, inner.attention_head_size)
        first = hidden[:, :1]
        query, key, value = (
            project(tokens).view(heads).transpose(1, 2)  # (N, heads, 1 or T, d / heads)
            for project, tokens in (
                (inner.query, first),
                (inner.key, hidden),
                (inner.value, hidden),
            )
        )
        seen = mask[:, :, :1] if mask is not None else None
        found = scaled_dot_product_attention(query, key, value, seen, scale=inner.scaling)
        attended = self.attention.output(found.transpose(1, 2).flatten(2), first)
        answer: torch.Tensor = self.output(self.intermediate(attended), attended)
        return answer


def read_first_token_only(network: Any) -> None:
    """Shorten the last layer, where the network is one of those whose head reads one token."""
    if isinstance(network, READ_FIRST_TOKEN) and network.config._attn_implementation == "sdpa":  # noqa: SLF001
        layers = network.base_model.encoder.layer
        layers[-1] = FirstTokenLayer(layers[-1])


@dataclass
class Repeats:
    """Of the batch in the model now, its N · T tokens in a row."""

    examples: torch.Tensor | None = None  # (D,) where each distinct token stands once
    which: torch.Tensor | None = None  # (N · T,) which of the distinct ones each token is

    def record(self, embeddings: Any, _args: Any, given: dict[str, Any]) -> None:
        """Called before the embeddings with their arguments."""
        words, segments = given.get("input_ids"), given.get("token_type_ids")
        if words is None or words.is_cuda or given.get("position_ids") is not None:
            self.examples = self.which = None  # on a GPU: not measured, so not done
            return
        length = words.shape[1]
        place = torch.arange(length).expand_as(words)
        # RoBERTa counts positions without padding, which a text can also contain as a word
        counted = (words != embeddings.word_embeddings.padding_idx).cumsum(1)
        code = (words * length + place) * (length + 1) + counted
        if segments is not None:
            code = code * embeddings.token_type_embeddings.num_embeddings + segments
        distinct, self.which = code.flatten().unique(return_inverse=True)
        self.examples = torch.empty_like(distinct)
        self.examples[self.which] = torch.arange(len(self.which))


class OncePerToken(nn.Module):
    """A linear layer on (N, T, d) tokens, some of which repeat."""

    def __init__(self, layer: nn.Linear, repeats: Repeats) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._repeats = repeats

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """(N, T, d) to (N, T, e)."""
        examples, which = self._repeats.examples, self._repeats.which
        if examples is None or which is None:
            return linear(hidden, self.weight, self.bias)
        once = linear(hidden.flatten(0, 1)[examples], self.weight, self.bias)  # (D, e)
        return once[which].view(*hidden.shape[:2], -1)


def optimize_layers(network: Any) -> None:
    """Both shortcuts: for `load_encoder`. A single layer is computed for the first token alone, so
    only the first of several has the second one."""
    read_first_token_only(network)
    if isinstance(network, READ_FIRST_TOKEN) and network.config.num_hidden_layers > 1:
        repeats = Repeats()
        network.base_model.embeddings.register_forward_pre_hook(repeats.record, with_kwargs=True)
        attention = network.base_model.encoder.layer[0].attention.self
        for name in ("query", "key", "value"):
            setattr(attention, name, OncePerToken(getattr(attention, name), repeats))
