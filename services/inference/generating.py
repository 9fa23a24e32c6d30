"""The sampling loop: `transformers.generate` cannot seed each row by itself.

The device's lock is taken for each step, so that rows of other callers pass in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from services.inference.causal_pass import CausalPass
from services.inference.drafts import Draft
from shared.calls import Sampling
from shared.job_context import check

TOGETHER = 32  # prompts; their caches are held all at once


def generate(causal: CausalPass, drafts: Sequence[Draft], sampling: Sampling, longest: int) -> None:
    """Finish every draft. Prompts of similar length go together."""
    order = sorted(drafts, key=lambda draft: draft.length)
    for first in range(0, len(order), TOGETHER):
        _Batch(causal, order[first : first + TOGETHER], sampling, longest).finish()


class _Batch:
    """Drafts that grow together; finished ones leave."""

    def __init__(
        self, causal: CausalPass, drafts: list[Draft], sampling: Sampling, longest: int
    ) -> None:
        self._causal, self._sampling, self._longest = causal, sampling, longest
        self._drafts = drafts
        self._ends = ends_of(causal.model)
        self._past: Any = None
        self._ids, self._mask = self._padded()

    def _padded(self) -> tuple[Tensor, Tensor]:
        """(N, T) prompts with padding on the left, (N, T) 0 where they are padded."""
        width = max(draft.length for draft in self._drafts)
        gaps = [width - draft.length for draft in self._drafts]
        ids = [[0] * gap + [*draft.prompt] for gap, draft in zip(gaps, self._drafts, strict=True)]
        mask = [[0] * gap + [1] * (width - gap) for gap in gaps]
        device = self._causal.model.device
        return torch.tensor(ids, device=device), torch.tensor(mask, device=device)

    @torch.no_grad()
    def finish(self) -> None:
        """Step until no draft is open."""
        for step in range(1, self._sampling.max_tokens + 1):
            check()
            chosen = self._step()
            for draft in self._drafts:
                if step == self._sampling.max_tokens or draft.length >= self._longest:
                    draft.end("length")
            self._leave(chosen)
            if not self._drafts:
                return

    def _step(self) -> Tensor:
        """(N,) the next token of each draft."""
        positions = (self._mask.cumsum(dim=1) - 1).clamp(min=0)[:, -self._ids.shape[1] :]
        with self._causal.lock:
            states, self._past = self._causal.readout.states(
                1,
                input_ids=self._ids,
                attention_mask=self._mask,
                position_ids=positions,
                past_key_values=self._past,
                use_cache=True,
            )
            logits = self._causal.readout.logits(states[:, -1])
        uniforms = torch.tensor([draft.uniform() for draft in self._drafts], dtype=torch.float64)
        chosen = draw(logits, self._sampling, uniforms)
        own = logits.log_softmax(dim=1).gather(1, chosen[:, None])[:, 0].tolist()
        for draft, token, logprob in zip(self._drafts, chosen.tolist(), own, strict=True):
            if token in self._ends:
                draft.end("stop")
            else:
                draft.add(token, logprob, self._sampling.stop)
        return chosen

    def _leave(self, chosen: Tensor) -> None:
        open_ = [place for place, draft in enumerate(self._drafts) if not draft.finish]
        if len(open_) < len(self._drafts) and open_:
            self._past.batch_select_indices(torch.tensor(open_, device=chosen.device))
        self._drafts = [self._drafts[place] for place in open_]
        mask = self._mask[open_]
        self._mask = torch.cat([mask, mask.new_ones(len(open_), 1)], dim=1)
        self._ids = chosen[open_, None]


def draw(logits: Tensor, sampling: Sampling, uniforms: Tensor) -> Tensor:
    """(N,) tokens by inversion of the nucleus's distribution function.

    logits: (N, V). uniforms: (N,) in [0, 1). Temperature first, then the smallest set of most
    likely tokens whose probability reaches `top_p`; temperature 0 takes the most likely token.
    """
    if sampling.temperature == 0:
        return logits.argmax(dim=1)
    ordered, tokens = (logits / sampling.temperature).sort(dim=1, descending=True, stable=True)
    shares = ordered.double().softmax(dim=1)
    before = shares.cumsum(dim=1) - shares
    shares = shares * (before < sampling.top_p)
    reached = shares.cumsum(dim=1)
    threshold = uniforms.to(logits.device)[:, None] * reached[:, -1:]
    place = (reached <= threshold).sum(dim=1).clamp(max=logits.shape[1] - 1)
    return tokens.gather(1, place[:, None])[:, 0]


def ends_of(model: Any) -> set[int]:
    """The tokens with which the model ends a text."""
    named = model.generation_config.eos_token_id
    if named is None:
        named = model.config.eos_token_id
    return set(named if isinstance(named, list) else [] if named is None else [named])
