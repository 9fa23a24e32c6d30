"""Edited texts, and what the explanation predicts of the model's answers to them.

The metric's own edits take away what is cited, and passages of the same lengths elsewhere: the
cited one is one of a set of like ones, so that each of them can be taken as if cited over the same
edits. That is the null. Of edits that were sent the predictions are dealt at random.
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
    """What is cited, and passages like it. taken: (1 + M, n) words of each, the cited one first.
    others: how many there are besides, of which M were drawn."""

    taken: Bools
    others: int


def passages(text: TextWords, cited: Places, draws: int, seed: int) -> Passages:
    """Of the same run lengths, distinct, uniform, never the cited one."""
    lengths = tuple(end - start for start, end in runs_of(cited))
    space = Runs(len(text), lengths)
    random = generator(seed, "consistency", "spans", text.text, list(lengths))
    drawn = list(islice(others(space, cited, random, draws), draws))
    taken = np.zeros((1 + len(drawn), len(text)), dtype=bool)
    for row, places in enumerate([cited, *drawn]):
        taken[row, list(places)] = True
    return Passages(taken, space.count - 1)


@dataclass(frozen=True)
class Simulated:
    """predicted: (K,) what is expected of each edit. null: (M,) precision of each random rival.
    exact: whether these are all there are."""

    precision: Precision
    predicted: Predictions
    null: Floats
    placements: int
    most: int


def simulated_by_rules(found: Passages, changed: Bools, *, balanced: bool) -> Simulated:
    """changed: (O, 1 + M) whether each edit changes the answer, by operator.

    Rivals over whose edits no precision is defined are left out.
    """
    every = predictions(found.taken)
    rated = [precision(row, changed, balanced=balanced) for row in every]
    null = [one.value for one in rated[1:] if one.value is not None]
    return Simulated(rated[0], every[0], np.array(null, np.float64), found.others, len(every) - 1)


def simulated_by_reader(
    predicted: Predictions, changed: Bools, draws: int, seed: int, *, balanced: bool
) -> Simulated:
    """predicted, changed: (K,). The null deals the predictions to the edits that have one."""
    known = np.flatnonzero(predicted != UNKNOWN)
    will = tuple(np.flatnonzero(predicted[known] == CHANGES).tolist())
    own = precision(predicted, changed, balanced=balanced)
    space = Subsets(len(known), len(will))
    random = generator(seed, "consistency", "predictions", len(known), len(will))
    dealt = np.full(predicted.shape, UNKNOWN, dtype=np.int8)
    null = []
    for places in islice(others(space, will, random, draws), draws):
        dealt[known] = STAYS
        dealt[known[list(places)]] = CHANGES
        null.append(precision(dealt, changed, balanced=balanced).value)
    rivals = [value for value in null if value is not None]
    return Simulated(own, predicted, np.array(rivals, np.float64), space.count - 1, draws)


def predictions_of_edits(
    text: TextWords, cited: Sequence[int], edits: Sequence[ConsistencyEdit]
) -> Predictions:
    """(K,) what was sent, else by which cited words are gone. A word is gone where its form occurs
    less often than in the text."""
    folded = [fold(word) for word in text.written]
    before, wanted = Counter(folded), [folded[word] for word in cited]
    found = [
        _by_words(before, wanted, Counter(map(fold, text.split(one.text))))
        if one.expected is None
        else OF_EXPECTED[one.expected]
        for one in edits
    ]
    return np.array(found, dtype=np.int8)


def _by_words(before: Counter[str], cited: Sequence[str], after: Counter[str]) -> int:
    gone = [after[word] < before[word] for word in cited]
    if not gone or any(gone) != all(gone):
        return UNKNOWN
    return CHANGES if all(gone) else STAYS


def shares_of(taken: Bools) -> Iterator[float]:
    """Intersection over union of the cited words with each rival's."""
    for row in taken[1:]:
        yield float((row & taken[0]).sum() / (row | taken[0]).sum())
