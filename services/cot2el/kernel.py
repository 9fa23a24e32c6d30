"""The formulas of CoT2EL: alignment to discourse units, string similarities, set matching. Pure
functions that return None for an undefined value. All similarities are in [0, 1]; higher means more
alike. Source: Chen et al., EMNLP 2025, Eqs. 4-12."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq, Levenshtein
from rapidfuzz.process import cdist

from shared.contracts.errors import TooCostly

MOST_STEPS = 1_000_000_000  # steps of difflib; about a minute or two
FEW_STEPS = 100_000  # up to this, difflib's own search takes a few milliseconds
ROWS_A_CHECK = 50

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Alignment:
    """The discourse unit of a text that is most similar to an explanation."""

    unit: int  # index in document order
    similarity: float  # [0, 1]


def ratio(explanation: str, unit: str, *, autojunk: bool = False) -> float:
    """Return the similarity of an explanation and a passage, in [0, 1]. It is
    `SequenceMatcher(None, explanation, unit).ratio()` (Eq. 4 of the CoT2EL paper), which is not
    symmetric. The released code leaves `autojunk` on. Units of 200 or more characters are then
    compared without their frequent letters."""
    return SequenceMatcher(None, explanation, unit, autojunk=autojunk).ratio()


class _Counting(SequenceMatcher[str]):
    """A SequenceMatcher that raises TooCostly after `most_steps` steps, since its time may be
    cubic. `check` may raise earlier."""

    a: str
    b: str
    b2j: dict[str, list[int]]  # letter of b → its positions

    def __init__(
        self, most_steps: int, *, autojunk: bool, check: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(None, autojunk=autojunk)
        self._steps_left = most_steps
        self.check = check

    def set_seq2(self, b: Sequence[str]) -> None:
        super().set_seq2(b)
        self._positions: dict[str, NDArray[np.int64]] = {}

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Find the longest common substring of the two ranges. Raises TooCostly if the permitted
        number of steps is exceeded. A step compares two positions that may hold equal letters."""
        ahi, bhi = len(self.a) if ahi is None else ahi, len(self.b) if bhi is None else bhi
        # difflib also visits the positions before blo
        steps = (ahi - alo) * bhi // max(1, len(self.b2j)) + 1
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooCostly(
                "comparing the explanations with the units would take too long; lower "
                "`control_draws`, or send fewer or shorter `pairs`",
                pointers=("/pairs", "/control_draws"),
            )
        self.check()
        if steps < FEW_STEPS:
            return super().find_longest_match(alo, ahi, blo, bhi)
        return self._by_rows(alo, ahi, blo, bhi)

    def _by_rows(self, alo: int, ahi: int, blo: int, bhi: int) -> Match:
        """Return the longest match, computed row by row, with the same result as difflib. Among
        equally long matches, return the first in `a`, then the first in `b`."""
        best = Match(alo, blo, 0)
        before, after = np.zeros((2, len(self.b) + 1), dtype=np.int32)  # [j + 1]: match ends at j
        previous = np.array([], dtype=np.int64)
        for row in range(alo, ahi):
            if (row - alo) % ROWS_A_CHECK == 0:
                self.check()
            letter = self.a[row]
            if letter not in self._positions:
                self._positions[letter] = np.array(self.b2j.get(letter, ()), dtype=np.int64)
            positions = self._positions[letter]
            positions = positions[positions.searchsorted(blo) : positions.searchsorted(bhi)]
            lengths = before[positions] + 1
            before[previous + 1] = 0
            after[positions + 1] = lengths
            before, after, previous = after, before, positions
            if lengths.size and lengths.max() > best.size:
                index, size = int(lengths.argmax()), int(lengths.max())
                best = Match(row - size + 1, int(positions[index]) - size + 1, size)
        a, b, size = best
        # extend by equal letters that autojunk has taken out
        while a > alo and b > blo and self.a[a - 1] == self.b[b - 1]:
            a, b, size = a - 1, b - 1, size + 1
        while a + size < ahi and b + size < bhi and self.a[a + size] == self.b[b + size]:
            size += 1
        return Match(a, b, size)


def align(
    explanations: Sequence[str],
    units: Sequence[str],
    *,
    autojunk: bool = False,
    most_steps: int = MOST_STEPS,
    check: Callable[[], None] = lambda: None,
) -> list[Alignment | None]:
    """Return the most similar unit for each explanation (Eq. 4 of the CoT2EL paper), or None if
    there are no units. On a tie the first unit wins.

    Units are compared in descending order of a fast upper bound, until it is below the best ratio.
    Raises TooCostly after `most_steps`. `check` is called between steps and may raise to stop the
    search.
    """
    matcher = _Counting(most_steps, autojunk=autojunk, check=check)
    return [_nearest(explanation, units, matcher) for explanation in explanations]


def _nearest(explanation: str, units: Sequence[str], matcher: _Counting) -> Alignment | None:
    matcher.check()
    if not units:
        return None
    lengths = np.array([len(explanation) + len(unit) for unit in units])
    common = cdist([explanation], units, scorer=LCSseq.similarity, dtype=np.int32)[0]
    bounds = np.where(lengths == 0, 1.0, 2.0 * common / np.maximum(lengths, 1))
    best = Alignment(0, -1.0)
    for index in np.argsort(-bounds, kind="stable").tolist():
        if bounds[index] < best.similarity:
            break
        if bounds[index] == best.similarity and index > best.unit:
            continue
        matcher.set_seqs(explanation, units[index])
        similarity = matcher.ratio()
        if (similarity, -index) > (best.similarity, -best.unit):
            best = Alignment(index, similarity)
    return best


def levenshtein(a: str, b: str) -> float:
    """Return the similarity of two texts by edit distance, in [0, 1]: 1 - distance / length of the
    longer text, in characters."""
    return float(Levenshtein.normalized_similarity(a, b))


def jaccard(a: Sequence[str], b: Sequence[str], n: int) -> float | None:
    """Return the share of n-grams (of words or tags) that both texts have, in [0, 1]. Return None
    if neither text has an n-gram."""
    grams_a, grams_b = _ngrams(a, n), _ngrams(b, n)
    union = grams_a | grams_b
    return len(grams_a & grams_b) / len(union) if union else None


def _ngrams(tokens: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)}


def euclidean(cosine: float) -> float:
    """Return 1 / (1 + d), in [0, 1], where d is the distance of two unit-length embeddings with
    this cosine. It is our reading of the paper's undefined "Euc."."""
    return float(1 / (1 + np.sqrt(max(0.0, 2 - 2 * cosine))))


def set_score(similarities: Floats) -> float:
    """Return how well explanations (rows) match human ones (columns), for one label and stance (Eq.
    11 of the CoT2EL paper).

    The score is the mean over rows of the highest similarity. It is 1 if both sets are empty, and 0
    if only one set is empty. Extra columns are not penalised. The transposed matrix gives the other
    direction."""
    rows, columns = similarities.shape
    if rows == 0 or columns == 0:
        return float(rows == columns)
    return float(similarities.max(axis=1).mean())


def instance_score(set_scores: Sequence[float]) -> float:
    """Return the score of an item: the mean of `set_scores`, which has one score per label and
    stance."""
    return float(np.mean(set_scores))


def harmonic(precision: float, recall: float) -> float:
    """Return the harmonic mean (F1), or 0 if both values are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
