"""Forward passes of a causal model without padding. A shared prefix is computed once.

Rows of equal length and equal `prefix` share a pass. The most recent prefixes are cached for later
batches. Logits are float32, for the needed tokens and positions only. Models that change their
logits after the head (Gemma caps them, Cohere and Granite scale them) use their own head.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.cache_utils import DynamicLayer

from services.inference.tokenization import Ids
from services.inference.weights.batcher import PADDED_SHARE
from shared.models.ports import Floats
from shared.queue.priority_lock import PriorityLock

LEAST_PREFIX = 8  # tokens; below, repeating the cache costs more than reading them again
LEAST_ROWS = 4
CACHED_PREFIXES = 4  # of the latest calls; one of 1,000 tokens may be 100 MB for a large model
CACHED_PER_READ = 8  # tokens of a cache that take the time of one that is read; rather too few


@dataclass(frozen=True)
class CausalRow:
    """The tokens of a row, and the outputs to compute. Either `candidates` or `followed` is empty.

    `prefix` holds the tokens shared with other rows, and `rest` the one or more tokens after
    the prefix. `candidates` are the tokens whose logits after the last token are returned.
    `followed` are the tokens whose log-probabilities are returned, beginning after
    rest[-len(followed)]. `whole` adds the logsumexp over the whole vocabulary. `continued` rows
    may extend a cached prefix, so earlier calls can change their rounding."""

    prefix: Ids
    rest: Ids
    candidates: Ids = ()
    followed: Ids = ()
    whole: bool = False
    continued: bool = False

    @property
    def kind(self) -> Hashable:
        """Return a key. Rows with equal keys can be computed in the same forward pass."""
        return self.prefix, len(self.rest), len(self.followed), self.whole, self.continued

    def cost(self, device: str) -> int:
        """Return the cost of the row in tokens. On a GPU cached tokens count in full, since memory
        is scarce. On a CPU they are only copied."""
        cached = len(self.prefix)
        return len(self.rest) + (cached if device == "cuda" else cached // CACHED_PER_READ)


def share_prefix(rows: Sequence[CausalRow]) -> list[CausalRow]:
    """Move the common beginning of the rows to their prefix, if that saves time."""
    if len(rows) < LEAST_ROWS:
        return list(rows)
    length = common_length([row.rest for row in rows])
    length = min(length, *(len(row.rest) - max(1, len(row.followed)) for row in rows))
    if length < LEAST_PREFIX:
        return list(rows)
    return [replace(row, prefix=row.rest[:length], rest=row.rest[length:]) for row in rows]


def common_length(texts: Sequence[Ids]) -> int:
    """Return the length of the common beginning, in tokens."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


class CausalPass:
    """Runs forward passes of one causal model on one device. Hold `lock` to run a pass.
    `plain_cache` is True if the model's cache has only the keys and values of every position."""

    def __init__(self, model: Any, name: str) -> None:
        self.model = model
        self.readout = Readout(model)
        self.lock = PriorityLock()
        self.name = name
        self._prefixes: OrderedDict[Ids, Any] = OrderedDict()  # keys and values of the latest
        layers = getattr(self._read_prefix((0,)), "layers", [None])
        self.plain_cache = all(type(layer) is DynamicLayer for layer in layers)

    @torch.no_grad()
    def run(self, rows: list[CausalRow]) -> list[Floats]:
        """Return C logits for a row's candidates, or K log-probabilities for its followed tokens
        (see `CausalRow`). If `whole` is set, a last value is the logsumexp over the vocabulary."""
        PADDED_SHARE.labels(self.name).observe(0)
        keep = max(1, len(rows[0].followed))
        with self.lock:
            past = self.repeat_prefix(rows[0].prefix, len(rows), continued=rows[0].continued)
            ids = self._tensor([row.rest for row in rows])
            states, _ = self.readout.states(
                keep, input_ids=ids, past_key_values=past, use_cache=past is not None
            )
            if rows[0].followed:
                tokens = self._tensor([row.followed for row in rows])
                logprobs = self.readout.token_logprobs(states, tokens)
                return list(logprobs.double().cpu().numpy())
            return self._candidates(states[:, -1], rows)

    def _candidates(self, states: torch.Tensor, rows: list[CausalRow]) -> list[Floats]:
        union = sorted({token for row in rows for token in row.candidates})
        logits = self.readout.token_logits(states, self._tensor(union)).double().cpu().numpy()
        position = {token: number for number, token in enumerate(union)}
        candidates = [
            logits[number, [position[token] for token in row.candidates]]
            for number, row in enumerate(rows)
        ]
        if not rows[0].whole:
            return candidates
        totals = self.readout.total(states).double().cpu().numpy()
        return [
            np.append(row_logits, total)
            for row_logits, total in zip(candidates, totals, strict=True)
        ]

    def longest_cached(self, tokens: Ids) -> Ids:
        """Return the longest cached prefix of these tokens, or ()."""
        matching = [prefix for prefix in list(self._prefixes) if tokens[: len(prefix)] == prefix]
        return max(matching, key=len, default=())

    def forget_prefixes(self) -> None:
        with self.lock:
            self._prefixes.clear()

    def repeat_prefix(self, prefix: Ids, rows: int, *, continued: bool = False) -> Any:
        """Return the keys and values of the prefix, repeated for the rows, or None for an empty
        prefix. The caller must hold the lock. A pass may append to the result. For `continued` see
        `CausalRow`."""
        if not prefix:
            return None
        if prefix not in self._prefixes:
            self._prefixes[prefix] = self._read_prefix(prefix, continued=continued)
        self._prefixes.move_to_end(prefix)
        while len(self._prefixes) > CACHED_PREFIXES:
            self._prefixes.popitem(last=False)
        past = copy.deepcopy(self._prefixes[prefix])
        past.batch_repeat_interleave(rows)
        return past

    @torch.no_grad()
    def _read_prefix(self, prefix: Ids, *, continued: bool = False) -> Any:
        length, past = self._beginning(prefix) if continued and self.plain_cache else (0, None)
        ids = self._tensor([prefix[length:]])
        answer = self.model.base_model(input_ids=ids, past_key_values=past, use_cache=True)
        return answer.past_key_values

    def _beginning(self, prefix: Ids) -> tuple[int, Any]:
        """Return the length of the longest common prefix with a cached one, and its keys and
        values. The last token is never included."""
        shared = {cached: common_length((cached, prefix[:-1])) for cached in self._prefixes}
        best = max(shared, key=shared.__getitem__, default=())
        if shared.get(best, 0) < LEAST_PREFIX:
            return 0, None
        past = copy.deepcopy(self._prefixes[best])
        past.crop(shared[best] - len(best))
        return shared[best], past

    def _tensor(self, numbers: Any) -> torch.Tensor:
        return torch.tensor(numbers, device=self.model.device)


VOCABULARY_BLOCK = 16_384  # rows of the head that are turned to float32 at a time
AFTER_THE_HEAD = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")


class Readout:
    """Computes logits from the hidden states of one causal model. `plain` is True if logits are
    exactly the output layer applied to the last hidden state."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._head = model.get_output_embeddings()
        self.plain = self._is_plain()

    @torch.no_grad()
    def _is_plain(self) -> bool:
        """Return True if the model's logits are exactly its head applied to the last hidden
        state.
        """
        config = self._model.config
        if any(getattr(config, name, None) not in (None, 1.0) for name in AFTER_THE_HEAD):
            return False
        if not isinstance(self._head, torch.nn.Linear):
            return False
        ids = torch.tensor([[0, 1, 2]], device=self._model.device)
        logits = self._model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[:, -1:]
        hidden = self._model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        return torch.equal(logits, self._head(hidden[:, -1:]))

    def states(self, keep: int, **inputs: Any) -> tuple[Tensor, Any]:
        """Return the hidden states (N, keep, d) or logits (N, keep, V) of the last positions, and
        the cache."""
        if self.plain:
            answer = self._model.base_model(**inputs)
            return answer.last_hidden_state[:, -keep:], answer.past_key_values
        answer = self._model(**inputs, logits_to_keep=keep)
        return answer.logits[:, -keep:], answer.past_key_values

    def token_logits(self, states: Tensor, ids: Tensor) -> Tensor:
        """Return float32 logits of the C tokens `ids`, of shape (N, C). `states` has hidden states
        or logits."""
        if not self.plain:
            return states[:, ids].float()
        logits: Tensor = states.float() @ self._head.weight[ids].float().T
        return logits if self._head.bias is None else logits + self._head.bias[ids].float()

    def logits(self, states: Tensor) -> Tensor:
        """Return float32 logits of the whole vocabulary, of shape (N, V). `states` has hidden
        states or logits."""
        if not self.plain:
            return states.float()
        return torch.cat(
            [self.token_logits(states, block) for block in self._blocks(states)], dim=1
        )

    def token_logprobs(self, states: Tensor, tokens: Tensor) -> Tensor:
        """Return the natural log-probability of each token, of shape (N, K). `states` has hidden
        states or logits."""
        flat = states.flatten(0, 1)
        total: Tensor | None = None
        target_logits = torch.zeros(len(flat), device=flat.device)
        targets = tokens.flatten()
        for block in self._blocks(flat):  # never all logits of all positions at once
            logits = self.token_logits(flat, block)
            total = _with(total, logits)
            in_block = (targets >= block[0]) & (targets <= block[-1])
            offset = (targets - block[0]).clamp(0, len(block) - 1)
            target_logits = target_logits + torch.where(
                in_block, logits.gather(1, offset[:, None])[:, 0], 0.0
            )
        assert total is not None  # noqa: S101 - a vocabulary has tokens
        return (target_logits - total).clamp(max=0).reshape(tokens.shape)

    def total(self, states: Tensor) -> Tensor:
        """Return the logsumexp of the whole vocabulary's logits, of shape (N,), in float32.
        `states` has hidden states or logits."""
        total: Tensor | None = None
        for block in self._blocks(states):
            total = _with(total, self.token_logits(states, block))
        assert total is not None  # noqa: S101 - a vocabulary has tokens
        return total

    def _blocks(self, states: Tensor) -> tuple[Tensor, ...]:
        size = self._head.weight.shape[0] if self.plain else states.shape[-1]
        return torch.split(torch.arange(size, device=states.device), VOCABULARY_BLOCK)


def _with(total: Tensor | None, logits: Tensor) -> Tensor:
    """Return the logsumexp of `total`, of shape (N,), and further logits of shape (N, B)."""
    some = logits.logsumexp(dim=1)
    return some if total is None else torch.logaddexp(total, some)
