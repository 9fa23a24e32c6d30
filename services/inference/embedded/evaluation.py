"""What a shipped adapter is worth on examples that it never saw: what all cards report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from services.inference.classifier import softmax
from services.inference.embedded.calibration import brier_score, expected_calibration_error
from services.inference.embedded.examples import Example
from services.inference.embedded.split import Split
from shared.contracts import Message
from shared.models import Floats


class Share(Message):
    """A share with its 95 % Wilson interval, all in [0, 1]."""

    count: int
    of: int
    share: float
    low: float
    high: float


class Quality(Message):
    """How good the probabilities are on one part."""

    accuracy: Share
    majority_accuracy: float = Field(description="of always answering the more frequent label")
    macro_f1: float
    calibration_error: float = Field(description="15 equal-width bins, after the temperature")
    calibration_error_before: float = Field(description="the same with temperature 1")
    brier: float


class Metrics(Message):
    """What is measured of every task; tasks add to it."""

    held_back: Quality


class LabelMetrics(Metrics):
    """The same, by label."""

    recall: dict[str, Share] = Field(description="by true label: answered with it")
    answered: dict[str, dict[str, int]] = Field(description="by true label: how often which")
    rows: dict[str, int] = Field(description="examples in each part")


def columns(examples: Sequence[Example]) -> NDArray[np.int64]:
    """(N,) the column of each example's true label."""
    return np.array([example.label for example in examples], dtype=np.int64)


def quality(logits: Floats, labels: NDArray[np.int64], temperature: float) -> Quality:
    """Accuracy, macro-F1, calibration and Brier score.

    logits: (N, L) raw outputs of the head.
    labels: (N,) columns of the true labels.
    """
    probabilities = softmax(logits / temperature)
    predicted = probabilities.argmax(axis=1).astype(np.int64)
    return Quality(
        accuracy=wilson(int(np.sum(predicted == labels)), len(labels)),
        majority_accuracy=int(np.bincount(labels).max()) / len(labels),
        macro_f1=macro_f1(predicted, labels, logits.shape[1]),
        calibration_error=expected_calibration_error(probabilities, labels),
        calibration_error_before=expected_calibration_error(softmax(logits), labels),
        brier=brier_score(probabilities, labels),
    )


def by_label(
    logits: Floats, parts: Split, labels: tuple[str, ...], temperature: float
) -> LabelMetrics:
    """The quality of the held-back part, and its recall by label.

    logits: (N, L) raw outputs of the head on the held-back part.
    """
    truth = columns(parts.held_back)
    pairs = Counter(zip(truth.tolist(), logits.argmax(axis=1).tolist(), strict=True))
    answered = {
        true: {called: pairs[row, column] for column, called in enumerate(labels)}
        for row, true in enumerate(labels)
    }
    return LabelMetrics(
        held_back=quality(logits, truth, temperature),
        recall={true: wilson(row[true], sum(row.values())) for true, row in answered.items()},
        answered=answered,
        rows=parts.sizes,
    )


def macro_f1(predicted: NDArray[np.int64], labels: NDArray[np.int64], count: int) -> float:
    """Mean F1 of `count` labels; ValueError where one is neither there nor predicted."""
    scores = []
    for label in range(count):
        hits = np.sum((predicted == label) & (labels == label))
        seen = np.sum(predicted == label) + np.sum(labels == label)
        if seen == 0:
            raise ValueError(f"F1 of label {label} is undefined: it does not occur")
        scores.append(float(2 * hits / seen))
    return sum(scores) / count


def wilson(count: int, of: int) -> Share:
    """A share and its 95 % score interval (Wilson, JASA 1927)."""
    if of == 0:
        raise ValueError("a share of nothing")
    z, share = 1.959964, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return Share(
        count=count, of=of, share=share, low=max(0.0, middle - half), high=min(1.0, middle + half)
    )


def shares(keys: Sequence[str], hits: Sequence[bool]) -> dict[str, Share]:
    """Of each key's rows, the share that are hits; keys in alphabetical order."""
    totals = Counter(keys)
    found = Counter(key for key, hit in zip(keys, hits, strict=True) if hit)
    return {key: wilson(found[key], totals[key]) for key in sorted(totals)}
