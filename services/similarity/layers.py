"""Two exact optimisations for cross-encoders of BERT and RoBERTa. The last layer is computed only
for the one token that the head reads. The first layer's queries, keys and values are computed once
per distinct token of a batch, since a text and its variants share nearly all tokens."""

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
    """An encoder layer that returns (N, 1, d) instead of (N, T, d)."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.attention, self.intermediate = layer.attention, layer.intermediate
        self.output = layer.output

    def forward(
        self, hidden: torch.Tensor, mask: torch.Tensor | None = None, *_rest: Any, **_more: Any
    ) -> torch.Tensor:
        """Compute the layer's output for the first token. `hidden` has shape (N, T, d). `mask`, of
        shape (N, 1, T, T), marks the tokens to attend to; None means all."""
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
        visible = mask[:, :, :1] if mask is not None else None
        values = scaled_dot_product_attention(query, key, value, visible, scale=inner.scaling)
        attended = self.attention.output(values.transpose(1, 2).flatten(2), first)
        answer: torch.Tensor = self.output(self.intermediate(attended), attended)
        return answer


def read_first_token_only(network: Any) -> None:
    """Replace the last layer with a faster layer that computes only the first token. Networks whose
    head needs other tokens are not changed."""
    if isinstance(network, READ_FIRST_TOKEN) and network.config._attn_implementation == "sdpa":  # noqa: SLF001
        layers = network.base_model.encoder.layer
        layers[-1] = FirstTokenLayer(layers[-1])


@dataclass
class Repeats:
    """The distinct tokens among the N · T tokens of the current batch."""

    examples: torch.Tensor | None = None  # (D,) an index of each distinct token
    which: torch.Tensor | None = None  # (N · T,) the number of each token's distinct token

    def record(self, embeddings: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        """Find the distinct tokens of a batch. This is a hook that runs before the embeddings."""
        words, segments = kwargs.get("input_ids"), kwargs.get("token_type_ids")
        if words is None or words.is_cuda or kwargs.get("position_ids") is not None:
            self.examples = self.which = None  # not on a GPU: not measured
            return
        length = words.shape[1]
        positions = torch.arange(length).expand_as(words)
        # RoBERTa skips padding when it counts positions, and a text can contain the padding word
        counted = (words != embeddings.word_embeddings.padding_idx).cumsum(1)
        code = (words * length + positions) * (length + 1) + counted
        if segments is not None:
            code = code * embeddings.token_type_embeddings.num_embeddings + segments
        distinct, self.which = code.flatten().unique(return_inverse=True)
        self.examples = torch.empty_like(distinct)
        self.examples[self.which] = torch.arange(len(self.which))


class OncePerToken(nn.Module):
    """A linear layer on (N, T, d) tokens that computes repeated tokens once."""

    def __init__(self, layer: nn.Linear, repeats: Repeats) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._repeats = repeats

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Map tokens from (N, T, d) to (N, T, e)."""
        examples, which = self._repeats.examples, self._repeats.which
        if examples is None or which is None:
            return linear(hidden, self.weight, self.bias)
        once = linear(hidden.flatten(0, 1)[examples], self.weight, self.bias)  # (D, e)
        return once[which].view(*hidden.shape[:2], -1)


def optimize_layers(network: Any) -> None:
    """Apply both optimisations of this module to a cross-encoder. A network with a single layer
    gets only the first one."""
    read_first_token_only(network)
    if isinstance(network, READ_FIRST_TOKEN) and network.config.num_hidden_layers > 1:
        repeats = Repeats()
        network.base_model.embeddings.register_forward_pre_hook(repeats.record, with_kwargs=True)
        attention = network.base_model.encoder.layer[0].attention.self
        for name in ("query", "key", "value"):
            setattr(attention, name, OncePerToken(getattr(attention, name), repeats))
