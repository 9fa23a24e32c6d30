"""From hidden states to logits, in float32, of no more tokens and positions than are asked for.

Models that do something to their logits after the head (Gemma caps them, Cohere and Granite scale
them) are found by one comparison at load; they answer through their own head, on the positions
that are asked for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

VOCABULARY_BLOCK = 16_384  # rows of the head that are turned to float32 at a time
AFTER_THE_HEAD = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")


class Readout:
    """The head of one causal model. `plain`: its logits are a linear map of the hidden states."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._head = model.get_output_embeddings()
        self.plain = self._is_plain()

    @torch.no_grad()
    def _is_plain(self) -> bool:
        """Whether the model's own logits are exactly its head on its body's last state."""
        config = self._model.config
        if any(getattr(config, name, None) not in (None, 1.0) for name in AFTER_THE_HEAD):
            return False
        if not isinstance(self._head, torch.nn.Linear):
            return False
        ids = torch.tensor([[0, 1, 2]], device=self._model.device)
        own = self._model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[:, -1:]
        hidden = self._model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        return torch.equal(own, self._head(hidden[:, -1:]))

    def states(self, keep: int, **inputs: Any) -> tuple[Tensor, Any]:
        """((N, keep, d) hidden states or (N, keep, V) logits of the last positions, cache)."""
        if self.plain:
            answer = self._model.base_model(**inputs)
            return answer.last_hidden_state[:, -keep:], answer.past_key_values
        answer = self._model(**inputs, logits_to_keep=keep)
        return answer.logits[:, -keep:], answer.past_key_values

    def chosen(self, states: Tensor, ids: Tensor) -> Tensor:
        """(N, C) float32 logits of the tokens `ids` (C,), from (N, d or V) states."""
        if not self.plain:
            return states[:, ids].float()
        logits: Tensor = states.float() @ self._head.weight[ids].float().T
        return logits if self._head.bias is None else logits + self._head.bias[ids].float()

    def logits(self, states: Tensor) -> Tensor:
        """(N, V) float32 logits of the whole vocabulary, from (N, d or V) states."""
        if not self.plain:
            return states.float()
        return torch.cat([self.chosen(states, block) for block in self._blocks(states)], dim=1)

    def log_probabilities(self, states: Tensor, tokens: Tensor) -> Tensor:
        """(N, K) natural log-probability of each token (N, K), from (N, K, d or V) states."""
        flat = states.flatten(0, 1)
        total: Tensor | None = None
        own = torch.zeros(len(flat), device=flat.device)
        wanted = tokens.flatten()
        for block in self._blocks(flat):  # never all logits of all positions at once
            logits = self.chosen(flat, block)
            some = logits.logsumexp(dim=1)
            total = some if total is None else torch.logaddexp(total, some)
            here = (wanted >= block[0]) & (wanted <= block[-1])
            place = (wanted - block[0]).clamp(0, len(block) - 1)
            own = own + torch.where(here, logits.gather(1, place[:, None])[:, 0], 0.0)
        assert total is not None  # noqa: S101 - a vocabulary has tokens
        return (own - total).clamp(max=0).reshape(tokens.shape)

    def _blocks(self, states: Tensor) -> tuple[Tensor, ...]:
        size = self._head.weight.shape[0] if self.plain else states.shape[-1]
        return torch.split(torch.arange(size, device=states.device), VOCABULARY_BLOCK)
