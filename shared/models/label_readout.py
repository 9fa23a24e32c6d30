"""Converts a head's raw logits to probabilities of canonical labels.

There are N rows, K outputs and L labels. z stands for logits and T for the temperature. Source:
activations as in the Transformers pipeline (`TextClassificationPipeline`).

softmax: p = softmax(z / T) over all K outputs; P(label) is the sum over its outputs. Ignored
outputs keep their share: P is not renormalised, and `mass` is its sum.

sigmoid: p = 1 / (1 + exp(-z / T)). Several outputs of a label are combined by the largest (`max`),
or by 1 - prod(1 - p) (`any`). With a complement, P(other) = 1 - P(label), and there is no mass.
Otherwise the labels' values are divided by their sum, which is the mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.contracts.judgement import NO_MASS, NO_NUMBER, Judgement, unread
from shared.contracts.labels import LabelMapping

Floats = NDArray[np.float64]
STEEPEST = 700.0  # beyond it exp overflows; a sigmoid there is within 1e-304 of 0 or 1


@dataclass(frozen=True)
class LabelReadout:
    """Label probabilities computed from a model's outputs."""

    probabilities: Floats  # (N, L), in [0, 1]
    mass: Floats | None  # (N,) sum over all labels; None: not defined


def softmax(logits: Floats) -> Floats:
    """Convert logits of shape (N, K) to probabilities; rows sum to 1."""
    raised: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def read_labels(logits: Floats, mapping: LabelMapping, temperature: float = 1.0) -> LabelReadout:
    """Convert raw logits, (rows, outputs), to probabilities, (rows, labels)."""
    scaled = logits / temperature
    if mapping.activation == "softmax":
        shares = softmax(scaled)
        if all(len(columns) == 1 for columns in mapping.columns.values()):
            summed = shares[:, [column for (column,) in mapping.columns.values()]]
        else:
            sums = [shares[:, list(columns)].sum(axis=1) for columns in mapping.columns.values()]
            summed = np.minimum(np.stack(sums, axis=1), 1.0)  # rounding
        return LabelReadout(summed, summed.sum(axis=1))
    values = _independent(np.clip(scaled, -STEEPEST, STEEPEST), mapping)
    if _complement(mapping) is not None:
        return LabelReadout(values, None)
    mass = values.sum(axis=1)
    return LabelReadout(values / mass[:, None], mass)


def _complement(mapping: LabelMapping) -> int | None:
    empty = [index for index, columns in enumerate(mapping.columns.values()) if not columns]
    return empty[0] if empty else None


def _independent(scaled: Floats, mapping: LabelMapping) -> Floats:
    answers = np.empty((len(scaled), len(mapping.columns)))
    empty = _complement(mapping)
    for index, columns in enumerate(mapping.columns.values()):
        logits = scaled[:, list(columns)]
        if columns and mapping.combine == "max":
            answers[:, index] = 1 / (1 + np.exp(-logits.max(axis=1)))
        elif columns:
            answers[:, index] = 1 - np.prod(1 / (1 + np.exp(logits)), axis=1)
    if empty is not None:
        answers[:, empty] = 1.0 - answers[:, 1 - empty]
    return answers


def of_head(probabilities: Floats, mass: Floats | None, labels: Sequence[str]) -> list[Judgement]:
    """Convert a head's probabilities, (rows, labels), to judgements. `mass` is the labels' total
    probability in each row, if defined."""
    shares = [None] * len(probabilities) if mass is None else np.minimum(mass, 1.0).tolist()
    judgements = []
    for row, share in zip(probabilities.tolist(), shares, strict=True):
        if not all(map(math.isfinite, row)):
            judgements.append(unread(labels, "answer-unread", NO_NUMBER, reading="head"))
        elif share is not None and share < NO_MASS:
            detail = f"all labels together have a probability of only {share:.3g}"
            judgements.append(unread(labels, "answer-unread", detail, reading="head", mass=share))
        else:
            row = tuple(row)
            judgements.append(
                Judgement(labels=tuple(labels), probabilities=row, mass=share, reading="head")
            )
    return judgements
