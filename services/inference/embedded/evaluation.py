"""What a shipped adapter is worth on examples that it never saw: what all cards report.

Do probabilities mean what they say? Temperature scaling and its measures.

Source: Guo et al., On Calibration of Modern Neural Networks, ICML 2017, arXiv:1706.04599.
Pure functions: arrays in, numbers out.

What an adapter answers to examples, before the temperature: for its calibration and its card.

Rows travel as they do in the service (see `packing` and `row_by_row`), so the numbers of a card are
those of the shipped model to the last bit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from services.inference.classifier import RowByRow
from services.inference.embedded.adapter import padded, tokenized
from services.inference.embedded.examples import Split, TrainingExample
from services.inference.label_readout import softmax
from services.weights.batcher import classifier_row_kind
from shared.contracts import Message
from shared.models.ports import Floats


class HitShare(Message):
    """A share with its 95 % Wilson interval, all in [0, 1]."""

    count: int
    of: int
    share: float
    low: float
    high: float


class Quality(Message):
    """How good the probabilities are on one part."""

    accuracy: HitShare
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

    recall: dict[str, HitShare] = Field(description="by true label: answered with it")
    answered: dict[str, dict[str, int]] = Field(description="by true label: how often which")
    rows: dict[str, int] = Field(description="examples in each part")


def columns(examples: Sequence[TrainingExample]) -> NDArray[np.int64]:
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


def wilson(count: int, of: int) -> HitShare:
    """A share and its 95 % score interval (Wilson, JASA 1927)."""
    if of == 0:
        raise ValueError("a share of nothing")
    z, share = 1.959964, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return HitShare(
        count=count, of=of, share=share, low=max(0.0, middle - half), high=min(1.0, middle + half)
    )


def shares(keys: Sequence[str], hits: Sequence[bool]) -> dict[str, HitShare]:
    """Of each key's rows, the share that are hits; keys in alphabetical order."""
    totals = Counter(keys)
    found = Counter(key for key, hit in zip(keys, hits, strict=True) if hit)
    return {key: wilson(found[key], totals[key]) for key in sorted(totals)}


BINS = 15  # of equal width over [0, 1]
TEMPERATURES = (0.05, 20.0)


def best_temperature(logits: Floats, labels: NDArray[np.int64]) -> float:
    """The temperature that minimizes the negative log-likelihood of the labels (§4.2).

    logits: (N, L) outputs of the head.
    labels: (N,) columns of the true labels.
    """

    def negative_log_likelihood(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        chosen = scaled[np.arange(len(labels)), labels]
        return float(np.mean(logsumexp(scaled, axis=1) - chosen))

    bounds = (np.log(TEMPERATURES[0]), np.log(TEMPERATURES[1]))
    found = minimize_scalar(negative_log_likelihood, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def expected_calibration_error(probabilities: Floats, labels: NDArray[np.int64]) -> float:
    """Mean gap between confidence and accuracy over `BINS` bins (eq. 3), [0, 1], 0 is best.

    Confidence is the probability of the predicted label, so for two labels only the bins over
    [0.5, 1] are in use.
    """
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = [
        abs(float(np.sum(correct[bins == bin_]) - np.sum(confidence[bins == bin_])))
        for bin_ in range(BINS)
    ]
    return sum(gaps) / len(labels)


def brier_score(probabilities: Floats, labels: NDArray[np.int64]) -> float:
    """Half the squared error summed over the labels, [0, 1], 0 is best (Brier, 1950).

    Half, so that for two labels it is the squared error of the second one's probability.

    probabilities: (N, L), rows sum to 1.
    labels:        (N,) columns of the true labels.
    """
    truth = np.eye(probabilities.shape[1])[labels]
    return float(np.mean(((probabilities - truth) ** 2).sum(axis=1)) / 2)


LONGEST = 512  # tokens that the base reads
BATCH = 64

Ask = Callable[[Sequence[TrainingExample]], Floats]  # examples to (N, L) logits


@torch.inference_mode()
def logits(model: Any, examples: Sequence[TrainingExample]) -> Floats:
    """(N, L) raw outputs of the head.

    model: an adapter merged into its base, in evaluation mode.
    """
    rows = tokenized(examples, LONGEST)
    places: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[classifier_row_kind(len(row.ids), LONGEST)].append(place)
    answers = np.empty((len(rows), model.config.num_labels))
    for (width, _), alike in places.items():
        for start in range(0, len(alike), BATCH):
            batch = alike[start : start + BATCH]
            with RowByRow(len(batch)):
                raw = model(**padded([rows[place] for place in batch], width)).logits
            answers[batch] = raw.double().numpy()
    return answers
