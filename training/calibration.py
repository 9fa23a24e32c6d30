"""Calibration of an adapter's probabilities: temperature scaling, and values for the card.

Source: Guo et al., On Calibration of Modern Neural Networks, ICML 2017, arXiv:1706.04599. The
probability of the predicted label is compared with its correctness. Errors are given with those of
perfect calibration (`training.measures`). Rows of one family are one cluster.

Also measured on parts of texts, which ICE and HateXScore use (`part_calibration`). Words are
deleted or masked at random. A calibrated model that sees only the part predicts the label of the
*whole* text. Parts of one text are one cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from shared.contracts.messages import Message, PartExcess
from shared.models.label_readout import softmax
from shared.models.ports import Floats
from shared.statistics import intervals
from shared.statistics.bootstrap import Resampling
from shared.statistics.comparison import paired
from shared.statistics.intervals import IntervalEstimate
from shared.statistics.seeds import generator
from training import measures
from training.examples import Ask, TrainingExample

TEMPERATURES = (0.05, 20.0)
HOW = Resampling(resamples=1_000)

Columns = NDArray[np.int64]


class CardEstimate(Message):
    """A number with its 95 % interval. Each is null if it is undefined or cannot be estimated."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = Field(ge=0, description="rows")
    clusters: int = Field(ge=0, description="families, texts or templates that the rows belong to")


class TemperatureGain(CardEstimate):
    """The value without the temperature minus that with it; > 0 means that it helps."""

    p_value: float | None = Field(
        description="that it brings nothing, two-sided, over clusters; null for a single cluster"
    )


class ModelCalibration(Message):
    """The calibration of the answer's probability. Values are in [0, 1] unless noted."""

    ece: CardEstimate = Field(description="15 bins of equal width; without interval: see `excess`")
    ece_equal_mass: CardEstimate = Field(description="15 bins of equal count")
    floor: float = Field(description="mean ECE of a perfectly calibrated model so sure of itself")
    floor_95: float = Field(description="its .95 quantile")
    excess: CardEstimate = Field(description="ece - floor, [-1, 1]")
    p_calibrated: float = Field(description="small: the model is not calibrated")
    l2_debiased: float = Field(description="squared error; may fall below 0 by chance")
    brier: CardEstimate = Field(description="half the squared error summed over the labels")
    log_loss: CardEstimate = Field(description="nats, >= 0")
    reliability: float = Field(description="of Brier's decomposition; smaller is better")
    resolution: float = Field(description="likewise; greater is better")
    slope: CardEstimate = Field(description="of logistic recalibration, 1 is ideal; any number")
    intercept: CardEstimate = Field(description="likewise, 0 is ideal")
    gain_log_loss: TemperatureGain = Field(description="of the temperature, nats")
    gain_excess: TemperatureGain = Field(description="of the temperature, [-2, 2]")


@dataclass(frozen=True)
class LabelPredictions:
    """A model's outputs for N labelled rows.

    `logits`, (N, L), are the outputs of the head. `labels`, (N,), holds the columns of the true
    labels. `keys` holds the cluster of each row."""

    logits: Floats
    labels: Columns
    keys: list[str]

    @property
    def right(self) -> Floats:
        """Return a (N,) array with 1 where the predicted label is true. It is the same at all
        temperatures."""
        right: Floats = (self.logits.argmax(axis=1) == self.labels).astype(np.float64)
        return right

    def probabilities(self, temperature: float) -> Floats:
        """Return the probabilities of the labels, of shape (N, L)."""
        return softmax(self.logits / temperature)


def best_temperature(logits: Floats, labels: Columns) -> float:
    """Return the temperature that minimizes the negative log-likelihood of the labels.

    logits: (N, L) outputs of the head. labels: (N,) columns of the true labels."""
    bounds = (np.log(TEMPERATURES[0]), np.log(TEMPERATURES[1]))

    def loss(log_temperature: float) -> float:
        return float(np.mean(row_log_loss(logits / np.exp(log_temperature), labels)))

    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def row_log_loss(logits: Floats, labels: Columns) -> Floats:
    """Return the negative log-likelihood of each row's true label, in nats, of shape (N,)."""
    chosen = logits[np.arange(len(labels)), labels]
    return np.asarray(logsumexp(logits, axis=1) - chosen, dtype=np.float64)


def brier_scores(probabilities: Floats, labels: Columns) -> Floats:
    """Return the Brier score of each row, of shape (N,), in [0, 1], where 0 is best (Brier, 1950).

    It is half the squared error summed over the labels. For two labels it is the squared error of
    one label's probability.

    probabilities: (N, L), rows sum to 1. labels: (N,) columns of the true labels."""
    truth = np.eye(probabilities.shape[1])[labels]
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1) / 2)


def model_calibration(answers: LabelPredictions, temperature: float) -> ModelCalibration:
    """Return the calibration. Raises ValueError without rows."""
    probabilities, right = answers.probabilities(temperature), answers.right
    sure = probabilities.max(axis=1)
    found = measures.calibration(sure, right)
    clusters = len(set(answers.keys))

    def plain(value: float) -> CardEstimate:
        return CardEstimate(value=value, n=right.size, clusters=clusters)

    slope, intercept = _recalibrated(sure, right, answers.keys)
    losses = row_log_loss(answers.logits / temperature, answers.labels)
    brier = brier_scores(probabilities, answers.labels)
    before = row_log_loss(answers.logits, answers.labels)
    gain = paired("gain_log_loss", before - losses, answers.keys, how=HOW)
    p_value = gain.test.p_value if gain.difference.se is not None else None
    return ModelCalibration(
        ece=plain(found.ece),
        ece_equal_mass=plain(found.ece_equal_mass),
        floor=found.floor,
        floor_95=found.floor_95,
        excess=excess(found, sure, right, answers.keys),
        p_calibrated=found.p_calibrated,
        l2_debiased=found.l2_debiased,
        brier=estimate(intervals.mean("brier", brier, answers.keys, (0, 1), HOW)),
        log_loss=estimate(intervals.mean("log_loss", losses, answers.keys, (0, None), HOW)),
        reliability=found.reliability,
        resolution=found.resolution,
        slope=slope,
        intercept=intercept,
        gain_log_loss=TemperatureGain(**dict(estimate(gain.difference)), p_value=p_value),
        gain_excess=_gain_of_excess(answers, sure),
    )


def estimate(found: IntervalEstimate) -> CardEstimate:
    return CardEstimate(
        value=found.value, low=found.low, high=found.high, n=found.rows, clusters=found.clusters
    )


def excess(
    found: measures.Calibration,
    predicted: Floats,
    labels: Floats,
    keys: list[str],
    how: Resampling = HOW,
) -> CardEstimate:
    """Return the calibration error of (N,) probabilities above its chance level, with the interval
    over clusters."""
    ends = measures.excess_interval(predicted, labels, keys, how)
    low, high = ends if ends is not None else (None, None)
    return CardEstimate(
        value=found.excess, low=low, high=high, n=labels.size, clusters=len(set(keys))
    )


def _recalibrated(
    sure: Floats, right: Floats, keys: list[str]
) -> tuple[CardEstimate, CardEstimate]:
    """Return recalibration slope and intercept, with Student's t intervals over clusters."""
    clusters = len(set(keys))
    found = measures.recalibration(sure, right, keys)
    if found is None:
        missing = CardEstimate(value=None, n=right.size, clusters=clusters)
        return missing, missing

    def around(value: float, error: float) -> CardEstimate:
        half = float(stats.t.isf(HOW.tail, clusters - 1)) * error if clusters > 1 else None
        low, high = (value - half, value + half) if half is not None else (None, None)
        return CardEstimate(value=value, low=low, high=high, n=right.size, clusters=clusters)

    return around(found.slope, found.slope_se), around(found.intercept, found.intercept_se)


def _gain_of_excess(answers: LabelPredictions, sure: Floats) -> TemperatureGain:
    before = answers.probabilities(1.0).max(axis=1)
    found = measures.excess_change(before, sure, answers.right, answers.keys, HOW)
    return TemperatureGain(
        value=found.value,
        low=found.low,
        high=found.high,
        n=sure.size,
        clusters=len(set(answers.keys)),
        p_value=found.p_value,
    )


Operator = Literal["delete", "mask"]

CELLS: tuple[tuple[Operator, float], ...] = (
    ("delete", 0.2),
    ("delete", 0.5),
    ("delete", 0.8),
    ("mask", 0.8),
)
DRAWS = 3  # of each cell and text
MASK, E5_MASK = "[MASK]", "<mask>"  # as the tokenizers of the two bases read it
WORD = re.compile(r"\S+")
PERTURBED_HOW = Resampling(resamples=300)


class PartCalibration(Message):
    """The calibration of one label on texts with words deleted or masked."""

    operator: Operator
    kept: float = Field(ge=0, le=1, description="share of the words that stay")
    label: str
    probability: float = Field(ge=0, le=1, description="mean, of the label")
    share: float = Field(ge=0, le=1, description="of parts whose whole text has the label")
    ece: float = Field(ge=0, le=1)
    floor: float = Field(ge=0, le=1)
    excess: CardEstimate = Field(description="ece - floor, [-1, 1]; clusters are texts")


def part_calibration(
    ask: Ask,
    examples: Sequence[TrainingExample],
    labels: tuple[str, ...],
    temperature: float,
    mask: str = MASK,
) -> tuple[PartCalibration, ...]:
    """Measure the calibration error of each label for each operator and share of words kept. With
    two labels only the second is measured, because their errors are equal."""
    made = []
    for operator, kept in CELLS:
        parts = [
            perturb_example(example, operator, kept, draw, mask)
            for example in examples
            for draw in range(DRAWS)
        ]
        probabilities = softmax(ask(parts) / temperature)
        truth, keys = np.array([part.label for part in parts]), [part.cluster for part in parts]
        for column in range(len(labels)) if len(labels) > 2 else (1,):
            predicted, own = probabilities[:, column], (truth == column).astype(np.float64)
            found = measures.calibration(predicted, own)
            made.append(
                PartCalibration(
                    operator=operator,
                    kept=kept,
                    label=labels[column],
                    probability=float(predicted.mean()),
                    share=float(own.mean()),
                    ece=found.ece,
                    floor=found.floor,
                    excess=excess(found, predicted, own, keys, PERTURBED_HOW),
                )
            )
    return tuple(made)


def perturb_example(
    example: TrainingExample, operator: Operator, kept: float, draw: int, mask: str = MASK
) -> TrainingExample:
    """Return the example with a random share `kept` of its words, at least one, in text and pair
    together."""
    texts = [example.text, example.text_pair or ""]
    words = [WORD.findall(text) for text in texts]
    count = sum(map(len, words))
    random = generator(0, "part", example.id, operator, kept, draw)
    stays = set(random.permutation(count)[: max(1, round(kept * count))].tolist())
    made, place = [], 0
    for own in words:
        left = [word if place + n in stays else mask for n, word in enumerate(own)]
        chosen = [w for n, w in enumerate(left) if operator == "mask" or place + n in stays]
        made.append(" ".join(chosen))
        place += len(own)
    pair = None if example.text_pair is None else made[1]
    return replace(example, text=made[0], text_pair=pair)


def excesses(rows: Sequence[PartCalibration]) -> tuple[PartExcess, ...]:
    """Return the excess calibration error (error minus its level by chance) for each operator and
    share of text kept. It is the error of the label with the largest magnitude."""
    found: dict[tuple[Operator, float], float] = {}
    for row in rows:
        cell, value = (row.operator, row.kept), round(row.excess.value or 0.0, 4)
        found[cell] = max(found.get(cell, value), value, key=abs)
    return tuple(
        PartExcess(operator=operator, kept=kept, excess=excess)
        for (operator, kept), excess in found.items()
    )
