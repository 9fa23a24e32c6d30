"""Ports: what metrics see of models. Loaded by workers only.

A worker binds one implementation at start (`bind`); a room asks for it by `models()`.
Source: design.md §3 "Model calls are ports".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shared.contracts import ModelUse
from shared.errors import Unavailable

Floats = NDArray[np.float64]


class Classifier(Protocol):
    """Label probabilities of texts."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `probabilities`."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it was trained on."""

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """(N, L) probabilities in [0, 1], rows sum to 1.

        A row's value does not depend on the other rows. Texts over the model's length are cut:
        ask `truncated` which. Raises Unavailable where the model cannot answer now.
        """

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """(N,) which texts are longer than the model reads."""


class Models(Protocol):
    """Where a room gets its models from: in this process, over a queue, or over HTTP."""

    def classifier(self, name: str) -> Classifier:
        """The classifier configured under this name. Raises BadInput for an unknown one."""


class _Binding:
    models: Models | None = None


def bind(models: Models | None) -> None:
    """Choose where this process's rooms get their models from."""
    _Binding.models = models


def models() -> Models:
    """The bound models. Raises Unavailable where nothing is bound."""
    if _Binding.models is None:
        raise Unavailable("this process has no models bound")
    return _Binding.models
