"""Rows through a causal model: nothing padded, and a shared beginning is read once.

Rows of equal length and equal `prefix` travel together. The prefix goes through the model alone,
its keys and values are repeated for the rows; the last prefix is remembered for the next batch.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import torch

from services.inference.measures import PADDED_SHARE
from services.inference.readout import Readout
from services.inference.variations import Ids
from shared.models import Floats
from shared.priority_lock import PriorityLock

LEAST_PREFIX = 8  # tokens; below, repeating the cache costs more than reading them again
LEAST_ROWS = 4
CACHED_PER_READ = 8  # tokens of a cache that take the time of one that is read; rather too few


@dataclass(frozen=True)
class CausalRow:
    """What is read, and what is read off it: one of `candidates` and `followed` is empty.

    prefix:     tokens that other rows begin with too.
    rest:       the tokens after it, at least one.
    candidates: tokens whose logits after the last one are asked for.
    followed:   log-probabilities of these tokens, the first of them after rest[-len(followed)].
    """

    prefix: Ids
    rest: Ids
    candidates: Ids = ()
    followed: Ids = ()

    @property
    def kind(self) -> Hashable:
        """Rows of equal kind may share a pass."""
        return self.prefix, len(self.rest), len(self.followed)

    def cost(self, device: str) -> int:
        """Tokens that it takes in a pass. On a GPU those in its cache count in full: their memory
        is scarce; on a CPU, where time is, they are only copied."""
        cached = len(self.prefix)
        return len(self.rest) + (cached if device == "cuda" else cached // CACHED_PER_READ)


def sharing(rows: Sequence[CausalRow]) -> list[CausalRow]:
    """The same rows with their common beginning as prefix, where that pays."""
    if len(rows) < LEAST_ROWS:
        return list(rows)
    columns = zip(*(row.rest for row in rows), strict=False)
    length = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    length = min(length, *(len(row.rest) - max(1, len(row.followed)) for row in rows))
    if length < LEAST_PREFIX:
        return list(rows)
    return [replace(row, prefix=row.rest[:length], rest=row.rest[length:]) for row in rows]


class CausalPass:
    """The body and the head of one model on one device. `lock`: one pass at a time."""

    def __init__(self, model: Any, name: str) -> None:
        self.model = model
        self.readout = Readout(model)
        self.lock = PriorityLock()
        self.name = name
        self._last: tuple[Ids, Any] | None = None  # a prefix and its keys and values

    @torch.no_grad()
    def run(self, rows: list[CausalRow]) -> list[Floats]:
        """For each row (C,) logits of its candidates or (K,) log-probabilities of the followed."""
        PADDED_SHARE.labels(self.name).observe(0)
        keep = max(1, len(rows[0].followed))
        with self.lock:
            past = self._past(rows[0].prefix, len(rows))
            ids = self._tensor([row.rest for row in rows])
            states, _ = self.readout.states(
                keep, input_ids=ids, past_key_values=past, use_cache=past is not None
            )
            if rows[0].followed:
                tokens = self._tensor([row.followed for row in rows])
                found = self.readout.log_probabilities(states, tokens)
                return list(found.double().cpu().numpy())
            return self._candidates(states[:, -1], rows)

    def _candidates(self, states: torch.Tensor, rows: list[CausalRow]) -> list[Floats]:
        union = sorted({token for row in rows for token in row.candidates})
        logits = self.readout.chosen(states, self._tensor(union)).double().cpu().numpy()
        place = {token: number for number, token in enumerate(union)}
        return [
            logits[number, [place[token] for token in row.candidates]]
            for number, row in enumerate(rows)
        ]

    def _past(self, prefix: Ids, rows: int) -> Any:
        if not prefix:
            return None
        if self._last is None or self._last[0] != prefix:
            answer = self.model.base_model(input_ids=self._tensor([prefix]), use_cache=True)
            self._last = prefix, answer.past_key_values
        past = copy.deepcopy(self._last[1])  # passes append to it
        past.batch_repeat_interleave(rows)
        return past

    def _tensor(self, numbers: Any) -> torch.Tensor:
        return torch.tensor(numbers, device=self.model.device)
