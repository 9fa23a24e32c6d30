"""Edited texts, and the answers that the explanation predicts for them.

The metric's own edits remove the cited words, or random passages of the same lengths. For
comparison, each random passage is treated as the cited one. If the request has its own edits, their
predictions are permuted instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from services.consistency.contract import ConsistencyEdit
from services.consistency.kernel import (
    CHANGES,
    STAYS,
    UNKNOWN,
    Bools,
    Floats,
    Precision,
    Predictions,
    precision,
    predictions,
)
from services.consistency.words import TextWords, fold
from shared.statistics.draws import others
from shared.statistics.placements import Places, Runs, Subsets, runs_of
from shared.statistics.seeds import generator

OF_EXPECTED: dict[str, int] = {"changes": CHANGES, "stays": STAYS}


@dataclass(frozen=True)
class Passages:
    """The words that an explanation cites, and random words in runs of the same lengths."""

    taken: Bools  # (1 + M, n) words of each passage, the cited one first
    others: int  # number of other passages, of which M were drawn


def passages(text: TextWords, cited: Places, draws: int, seed: int) -> Passages:
    """Draw distinct random passages with the same lengths as the cited runs of words. The cited
    passage itself is not drawn."""

    lengths = tuple(end - start for start, end in runs_of(cited))
    space = Runs(len(text), lengths)
    random = generator(seed, "consistency", "spans", text.text, list(lengths))
    drawn = list(islice(others(space, cited, random, draws), draws))
    taken = np.zeros((1 + len(drawn), len(text)), dtype=bool)
    for row, words in enumerate([cited, *drawn]):
        taken[row, list(words)] = True
    return Passages(taken, space.count - 1)


@dataclass(frozen=True)
class Simulated:
    """The precision with which an explanation predicts the model's answers, compared with the
    precision of random predictions."""

    precision: Precision
    predicted: Predictions  # (K,) prediction for each edit
    null: Floats  # (M,) precision of each random rival
    placements: int
    most: int


def simulated_by_rules(passages: Passages, changed: Bools, *, balanced: bool) -> Simulated:
    """Return how well the cited passage, and random passages, predict which edits change the
    model's answer. `changed` is True where an edit changes the answer. Its shape is (O, 1 + M), for
    O ways to remove words and M random passages."""
    rows = predictions(passages.taken)
    rated = [precision(row, changed, balanced=balanced) for row in rows]
    null = [rating.value for rating in rated[1:] if rating.value is not None]
    return Simulated(rated[0], rows[0], np.array(null, np.float64), passages.others, len(rows) - 1)


def simulated_by_reader(
    predicted: Predictions, changed: Bools, draws: int, seed: int, *, balanced: bool
) -> Simulated:
    """Compare the accuracy of K predictions, made by a model that read the explanation, with the
    accuracy of random permutations of them. Predictions that are unknown are not permuted."""
    decided = np.flatnonzero(predicted != UNKNOWN)
    changes = tuple(np.flatnonzero(predicted[decided] == CHANGES).tolist())
    rating = precision(predicted, changed, balanced=balanced)
    space = Subsets(len(decided), len(changes))
    random = generator(seed, "consistency", "predictions", len(decided), len(changes))
    permuted = np.full(predicted.shape, UNKNOWN, dtype=np.int8)
    null = []
    for subset in islice(others(space, changes, random, draws), draws):
        permuted[decided] = STAYS
        permuted[decided[list(subset)]] = CHANGES
        null.append(precision(permuted, changed, balanced=balanced).value)
    rivals = [value for value in null if value is not None]
    return Simulated(rating, predicted, np.array(rivals, np.float64), space.count - 1, draws)


def predictions_of_edits(
    text: TextWords, cited: Sequence[int], edits: Sequence[ConsistencyEdit]
) -> Predictions:
    """Return the predicted answers to edited texts. A prediction in the request has priority.
    Otherwise the answer is predicted to change if all cited words were removed, and to stay if none
    was. A word was removed if it occurs less often than before."""
    folded = [fold(word) for word in text.written]
    before, cited_words = Counter(folded), [folded[word] for word in cited]
    predicted = []
    for edit in edits:
        if edit.expected is not None:
            predicted.append(OF_EXPECTED[edit.expected])
            continue
        after = Counter(map(fold, text.split(edit.text)))
        missing = [after[word] < before[word] for word in cited_words]
        if not missing or any(missing) != all(missing):
            predicted.append(UNKNOWN)
        else:
            predicted.append(CHANGES if all(missing) else STAYS)
    return np.array(predicted, dtype=np.int8)


def shares_of(taken: Bools) -> Iterator[float]:
    """Yield the overlap (intersection over union) of the cited words with each random passage. Each
    row of `taken` marks a set of words: first the cited words, then the random passages."""
    for row in taken[1:]:
        yield float((row & taken[0]).sum() / (row | taken[0]).sum())
