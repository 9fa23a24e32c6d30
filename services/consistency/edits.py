"""Edited texts, and the answers that the explanation predicts for them.

The metric's own edits remove the cited words, and passages of the same lengths elsewhere. The null
takes each of these passages as if it were cited, over the same edits. For edits of the request the
null permutes the predictions.
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
    """The cited passage and random passages like it."""

    taken: Bools  # (1 + M, n) words of each passage, the cited one first
    others: int  # number of other passages, of which M were drawn


def passages(text: TextWords, cited: Places, draws: int, seed: int) -> Passages:
    """Draw distinct passages of the same run lengths, uniformly, without the cited one."""

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
    """The precision of the explanation's predictions, and of random rivals."""

    precision: Precision
    predicted: Predictions  # (K,) prediction for each edit
    null: Floats  # (M,) precision of each random rival
    placements: int
    most: int


def simulated_by_rules(passages: Passages, changed: Bools, *, balanced: bool) -> Simulated:
    """Rate the predictions of the rules, given (O, 1 + M) whether each edit changes the answer.

    Rivals without a defined precision are left out.
    """
    rows = predictions(passages.taken)
    rated = [precision(row, changed, balanced=balanced) for row in rows]
    null = [rating.value for rating in rated[1:] if rating.value is not None]
    return Simulated(rated[0], rows[0], np.array(null, np.float64), passages.others, len(rows) - 1)


def simulated_by_reader(
    predicted: Predictions, changed: Bools, draws: int, seed: int, *, balanced: bool
) -> Simulated:
    """Rate (K,) predictions; the null permutes those that are not unknown."""
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
    """Return (K,) the request's expectations, or else those by the missing cited words.

    A word is missing if its form occurs less often than in the text.
    """
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
    """Yield the intersection over union of the cited words with each rival's."""
    for row in taken[1:]:
        yield float((row & taken[0]).sum() / (row | taken[0]).sum())
