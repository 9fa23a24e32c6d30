"""What the shipped adapter is worth on texts that it never saw: the numbers of its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from services.inference.classifier import LocalClassifier, softmax
from services.inference.embedded.calibration import brier_score, expected_calibration_error
from services.inference.embedded.examples import Example
from services.inference.embedded.split import Split
from shared.contracts import Message
from shared.models import Floats

NO_GROUP = "no group"


class Share(Message):
    """A share with its 95 % Wilson interval, all in [0, 1]."""

    count: int
    of: int
    share: float
    low: float
    high: float


class Quality(Message):
    """How good the probabilities are on one part."""

    rows: int
    hateful: int
    accuracy: Share
    majority_accuracy: float = Field(description="of always answering the more frequent label")
    macro_f1: float
    calibration_error: float = Field(description="15 equal-width bins, after the temperature")
    calibration_error_before: float = Field(description="the same with temperature 1")
    brier: float


class Metrics(Message):
    """Everything measured on the held-back parts."""

    held_back: Quality
    called_hateful: dict[str, Share] = Field(description="by HateXplain's label")
    hatecheck: Quality
    false_positives: dict[str, Share] = Field(
        description="by protected group: non-hateful HateCheck cases that are called hateful"
    )
    functionalities: dict[str, Share] = Field(description="HateCheck cases answered rightly")
    rows: dict[str, int] = Field(description="examples in each part")


def evaluate(classifier: LocalClassifier, parts: Split, temperature: float) -> Metrics:
    """Measure the held-back posts and the held-back HateCheck families.

    classifier: with temperature 1, so that both sides of the temperature can be measured.
    """
    posts, cases = parts.held_back, parts.held_back_cases
    post_logits = classifier.logits([post.text for post in posts])
    case_logits = classifier.logits([case.text for case in cases])
    called = [bool(column) for column in case_logits.argmax(axis=1)]
    harmless = [number for number, case in enumerate(cases) if not case.hateful]
    return Metrics(
        held_back=quality(post_logits, columns(posts), temperature),
        called_hateful=_shares(
            [post.original_label for post in posts],
            [bool(column) for column in post_logits.argmax(axis=1)],
        ),
        hatecheck=quality(case_logits, columns(cases), temperature),
        false_positives=_shares(
            [cases[number].group or NO_GROUP for number in harmless],
            [called[number] for number in harmless],
        ),
        functionalities=_shares(
            [str(case.functionality) for case in cases],
            [case.hateful == hit for case, hit in zip(cases, called, strict=True)],
        ),
        rows=parts.sizes,
    )


def columns(examples: Sequence[Example]) -> NDArray[np.int64]:
    """(N,) the column of each example's true label."""
    return np.array([example.hateful for example in examples], dtype=np.int64)


def quality(logits: Floats, labels: NDArray[np.int64], temperature: float) -> Quality:
    """Accuracy, macro-F1, calibration and Brier score.

    logits: (N, 2) raw outputs of the head.
    labels: (N,) columns of the true labels.
    """
    probabilities = softmax(logits / temperature)
    predicted = probabilities.argmax(axis=1).astype(np.int64)
    hateful = int(labels.sum())
    return Quality(
        rows=len(labels),
        hateful=hateful,
        accuracy=wilson(int(np.sum(predicted == labels)), len(labels)),
        majority_accuracy=max(hateful, len(labels) - hateful) / len(labels),
        macro_f1=macro_f1(predicted, labels),
        calibration_error=expected_calibration_error(probabilities, labels),
        calibration_error_before=expected_calibration_error(softmax(logits), labels),
        brier=brier_score(probabilities[:, 1], labels),
    )


def macro_f1(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Mean F1 of the labels 0 and 1; ValueError where a label is neither there nor predicted."""
    scores = []
    for label in (0, 1):
        hits = np.sum((predicted == label) & (labels == label))
        seen = np.sum(predicted == label) + np.sum(labels == label)
        if seen == 0:
            raise ValueError(f"F1 of label {label} is undefined: it does not occur")
        scores.append(float(2 * hits / seen))
    return sum(scores) / 2


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


def _shares(keys: Sequence[str], hits: Sequence[bool]) -> dict[str, Share]:
    """Of each key's rows, the share that are hits; keys in alphabetical order."""
    totals = Counter(keys)
    found = Counter(key for key, hit in zip(keys, hits, strict=True) if hit)
    return {key: wilson(found[key], totals[key]) for key in sorted(totals)}
