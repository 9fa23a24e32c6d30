"""Texts that a causal model generates in one batch. New texts join while others grow.

One step generates the next token of every text. New texts are read first, padded on the left to
equal length. A prefix that several prompts share is computed once. Padding and gaps are masked, so
logits change only by rounding: 1e-5 in float32. Source: continuous batching, Yu et al., "Orca",
OSDI 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from services.inference.causal_pass import CausalPass, common_length
from services.inference.generated_text import GeneratedText
from services.inference.tokenization import Ids
from shared.contracts.calls import Sampling

LEAST_SHARED = 32  # tokens of a beginning that is read by itself: it takes a pass of its own
Owner = TypeVar("Owner")


@dataclass(frozen=True, eq=False)
class Draft(Generic[Owner]):
    """A text during generation, with its sampling parameters and its owner."""

    text: GeneratedText
    sampling: Sampling
    owner: Owner


class GenerationBatch(Generic[Owner]):
    """A batch of texts that are generated together. Finished texts leave the batch, and new texts
    may join. Between two passes, the model may process inputs of other callers."""

    def __init__(self, causal: CausalPass, longest: int, *, alone: bool = False) -> None:
        """Create an empty batch. `longest` is the number of tokens that the model reads. `alone` is
        True if no text may join."""
        self.drafts: list[Draft[Owner]] = []
        self._causal, self._longest, self._alone = causal, longest, alone
        end_tokens = causal.model.generation_config.eos_token_id
        if end_tokens is None:
            end_tokens = causal.model.config.eos_token_id
        self._ends = set(
            end_tokens
            if isinstance(end_tokens, list)
            else []
            if end_tokens is None
            else [end_tokens]
        )
        self._past: Any = None
        self._mask = torch.empty(0, 0)  # (N, T) 0 where a cached position is none of its text's
        self._ids = torch.empty(0, 1)  # (N, 1) tokens that are read next

    @property
    def takes_more(self) -> bool:
        """Return True if more texts may be added to this batch. A batch with a sliding-window cache
        accepts no further texts."""
        return not self._alone and self._causal.plain_cache

    @torch.no_grad()
    def add(self, drafts: Sequence[Draft[Owner]]) -> list[Draft[Owner]]:
        """Run the model on the prompts of these drafts and generate their first tokens. Return the
        drafts that are finished."""
        beginner = _Reading(self._causal, [draft.text.ids for draft in drafts])
        logits = beginner.read()
        tokens = self._draw(drafts, logits)
        if not self.drafts:
            self._past, self._mask, self._ids = beginner.past, beginner.mask, tokens
        else:
            self._join(beginner.past, beginner.mask, tokens)
        self.drafts += drafts
        return self._remove(lambda draft: draft.text.finish is not None)

    @torch.no_grad()
    def step(self) -> list[Draft[Owner]]:
        """Generate the next token of each text. Return the texts that are finished."""
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(self.drafts), 1)], dim=1)
        with self._causal.lock:
            logits, self._past = _read(self._causal, self._ids, self._mask, self._past)
        self._ids = self._draw(self.drafts, logits)
        return self._remove(lambda draft: draft.text.finish is not None)

    def drop(self, owners: set[Owner]) -> None:
        """Remove the texts of these owners, who no longer need them."""
        self._remove(lambda draft: draft.owner in owners)

    def _draw(self, drafts: Sequence[Draft[Owner]], logits: Tensor) -> Tensor:
        """Draw the next tokens, of shape (N, 1), and add them to their drafts."""
        uniforms = torch.tensor([draft.text.uniform() for draft in drafts], dtype=torch.float64)
        tokens = _draw_each(logits, [draft.sampling for draft in drafts], uniforms)
        logprobs = logits.log_softmax(dim=1).gather(1, tokens[:, None])[:, 0].tolist()
        for draft, token, logprob in zip(drafts, tokens.tolist(), logprobs, strict=True):
            text = draft.text
            if token in self._ends:
                text.end("stop")
            else:
                text.add(token, logprob, draft.sampling.stop)
            if text.written >= draft.sampling.max_tokens or text.length >= self._longest:
                text.end("length")
        return tokens[:, None]

    def _join(self, past: Any, mask: Tensor, ids: Tensor) -> None:
        """Append the cached keys and values of new texts to those of this batch. The shorter of the
        two is padded on the left."""
        width = max(self._mask.shape[1], mask.shape[1])
        for ours, theirs in zip(self._past.layers, past.layers, strict=True):
            ours.keys = torch.cat([_left(ours.keys, width, 2), _left(theirs.keys, width, 2)])
            ours.values = torch.cat([_left(ours.values, width, 2), _left(theirs.values, width, 2)])
        self._mask = torch.cat([_left(self._mask, width, 1), _left(mask, width, 1)])
        self._ids = torch.cat([self._ids, ids])

    def _remove(self, is_over: Callable[[Draft[Owner]], bool]) -> list[Draft[Owner]]:
        over = [draft for draft in self.drafts if is_over(draft)]
        remaining = [index for index, draft in enumerate(self.drafts) if not is_over(draft)]
        if over:
            self.drafts = [self.drafts[index] for index in remaining]
            self._select(remaining)
        return over

    def _select(self, left: list[int]) -> None:
        """Keep only the keys and values of these rows."""
        if not left:
            self._past = None
            return
        self._past.batch_select_indices(torch.tensor(left, device=self._ids.device))
        self._mask, self._ids = self._mask[left], self._ids[left]
        if self._causal.plain_cache:
            # columns at the left that are padding to every draft
            empty = int((self._mask.cumsum(dim=1) == 0).all(dim=0).sum())
            if empty:
                self._mask = self._mask[:, empty:]
                for layer in self._past.layers:
                    layer.keys, layer.values = layer.keys[:, :, empty:], layer.values[:, :, empty:]


class _Reading:
    """The new texts that join a batch. After `read`, `past` (the key-value cache) and `mask` cover
    all their tokens."""

    def __init__(self, causal: CausalPass, texts: Sequence[Ids]) -> None:
        self.past: Any = None
        self._causal, self._texts = causal, texts
        self._prefix = self._shared_prefix()
        width = max(map(len, texts)) - len(self._prefix)
        rests = [text[len(self._prefix) :] for text in texts]
        device = causal.model.device
        padded = [[0] * (width - len(rest)) + [*rest] for rest in rests]
        seen = [[0] * (width - len(rest)) + [1] * len(rest) for rest in rests]
        before = [[1] * len(self._prefix)] * len(texts)
        self._ids = torch.tensor(padded, device=device)
        self.mask = torch.tensor([[*b, *s] for b, s in zip(before, seen, strict=True)]).to(device)

    def _shared_prefix(self) -> Ids:
        """Return the prefix to compute once: a cached prefix, or else the one that these texts
        share. Return () if neither is long enough."""
        if not self._causal.plain_cache:
            return ()
        length = min(common_length(self._texts), min(map(len, self._texts)) - 1)
        cached = self._causal.longest_cached(self._texts[0][:length])
        if len(cached) >= max(LEAST_SHARED, length // 2):
            return cached
        shared = len(self._texts) > 1 and length >= LEAST_SHARED
        return self._texts[0][:length] if shared else ()

    def read(self) -> Tensor:
        """Return the logits after each text, of shape (N, V)."""
        with self._causal.lock:
            past = self._causal.repeat_prefix(self._prefix, len(self._texts), continued=True)
            logits, self.past = _read(self._causal, self._ids, self.mask, past)
        return logits


def _read(causal: CausalPass, ids: Tensor, mask: Tensor, past: Any) -> tuple[Tensor, Any]:
    """Return (N, V) logits after the last of (N, W) ids, with keys and values. `mask` has shape (N,
    T) with T >= W."""
    states, past = causal.readout.states(
        1,
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :],
        past_key_values=past,
        use_cache=True,
    )
    return causal.readout.logits(states[:, -1]), past


def _left(values: Tensor, width: int, dim: int) -> Tensor:
    """Pad dimension `dim` with zeros on the left to this width. Supports the last of two
    dimensions, and dimension 2 of four."""
    more = width - values.shape[dim]
    after = values.dim() - 1 - dim
    return pad(values, (*(0, 0) * after, more, 0)) if more else values


def _draw_each(logits: Tensor, samplings: Sequence[Sampling], uniforms: Tensor) -> Tensor:
    """Draw N tokens. Rows with equal sampling parameters are drawn together."""
    tokens = torch.empty(len(samplings), dtype=torch.long, device=logits.device)

    def alike(index: int) -> tuple[float, float]:
        return samplings[index].temperature, samplings[index].top_p

    for _, group in groupby(sorted(range(len(samplings)), key=alike), alike):
        indices = list(group)
        tokens[indices] = draw(logits[indices], samplings[indices[0]], uniforms[indices])
    return tokens


def draw(logits: Tensor, sampling: Sampling, uniforms: Tensor) -> Tensor:
    """Draw the next token of each of N texts. `logits` has shape (N, V), and `uniforms` has N
    random numbers in [0, 1).

    The temperature is applied first; 0 takes the most likely token. A token is then drawn from the
    smallest set of most likely tokens whose probability reaches `top_p`. The cumulative
    distribution is ordered by token id, so that rounding errors change few draws."""
    if sampling.temperature == 0:
        return logits.argmax(dim=1)
    ordered, tokens = (logits / sampling.temperature).sort(dim=1, descending=True, stable=True)
    shares = ordered.double().softmax(dim=1)
    before = shares.cumsum(dim=1) - shares
    shares = shares * (before < sampling.top_p)
    by_id = torch.zeros_like(shares).scatter_(1, tokens, shares)
    reached = by_id.cumsum(dim=1)
    threshold = uniforms.to(logits.device)[:, None] * reached[:, -1:]
    drawn = (reached <= threshold).sum(dim=1)
    return drawn.minimum(by_id.shape[1] - 1 - (by_id.flip(1) > 0).int().argmax(dim=1))
