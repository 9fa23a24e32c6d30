"""The first layer's queries, keys and values, computed once for each distinct token of a batch.

Before the first layer a token is its word, its position and its segment, whatever stands beside it.
A reason against its variants repeats nearly all of them. Nothing is approximated; in later layers
every token has seen its own text, and no two are equal any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear

from services.similarity.first_token import READ_FIRST_TOKEN


@dataclass
class Repeats:
    """Of the batch in the model now, its N · T tokens in a row."""

    examples: torch.Tensor | None = None  # (D,) where each distinct token stands once
    which: torch.Tensor | None = None  # (N · T,) which of the distinct ones each token is

    def note(self, embeddings: Any, _args: Any, given: dict[str, Any]) -> None:
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


def compute_repeats_once(network: Any) -> None:
    """Shorten the first layer of a model that is used by one thread at a time.

    Not where it is the last one too: that one is computed for the first token (`first_token`).
    """
    if isinstance(network, READ_FIRST_TOKEN) and network.config.num_hidden_layers > 1:
        repeats = Repeats()
        network.base_model.embeddings.register_forward_pre_hook(repeats.note, with_kwargs=True)
        attention = network.base_model.encoder.layer[0].attention.self
        for name in ("query", "key", "value"):
            setattr(attention, name, OncePerToken(getattr(attention, name), repeats))
