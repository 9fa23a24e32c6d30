"""What an attribution needs of a model: its embeddings, its attention, and one number to explain.

Two kinds of model answer to it: `EncoderInside` and `CausalInside`. One example at a time, so
nothing is padded and no other example can change a bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from torch import Tensor

from shared.priority_lock import PriorityLock


class Inside(Protocol):
    """One example and one target label, inside one model."""

    @property
    def lock(self) -> PriorityLock:
        """Held while the device works: one pass at a time."""

    @property
    def attending(self) -> int:
        """The token whose row of attention is read: 0 for [CLS], -1 for the last one."""

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(T, d) input embeddings of these tokens, in the model's dtype, on its device."""

    def target(self, embeddings: Tensor) -> Tensor:
        """(N,) the target's score, from (N, T, d) embeddings; differentiable."""

    def attentions(self) -> Sequence[Tensor] | None:
        """For each layer (1, H, T, T); None where the model does not give them."""


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """Within it, the model computes attention so that its weights can be read.

    Only under the lock of the device: the switch is the model's own.
    """
    usual = getattr(model.config, "_attn_implementation")  # noqa: B009 - there is no public name
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(usual)
