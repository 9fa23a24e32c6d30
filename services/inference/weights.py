"""A model in memory, with what must be known to ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shared.contracts import ModelUse


@dataclass(frozen=True)
class LoadedModel:
    """A model as loaded, ready to answer. `temperature` divides a classifier's logits."""

    model: Any
    tokenizer: Any
    longest: int  # tokens, special ones included
    labels: tuple[str, ...]  # empty for causal models: a template names them
    languages: tuple[str, ...]
    temperature: float
    use: ModelUse
