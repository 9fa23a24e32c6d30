"""How much of a statement other statements of its batch have too, and which is its nearest.

Runs of three words (w-shingles, Broder 1997), after quotations and words of its own post are taken
out: what is left is what a template leaves. Shared runs are counted over all statements at once;
the nearest other is sought among those that agree in a band of a min-wise sketch (64 hashes in 32
bands: two statements of Jaccard similarity 0.5 meet with probability 0.9999, of 0.3 with 0.95), and
of one band with no more than eight neighbours. So all is linear in the batch.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.sor.post_facts import PostWords, StatementWords, match_quotes
from services.sor.words import mask_spans, words
from shared.queue.job_context import check_each
from shared.text.normalized import normalize

WIDTH = 3  # words of a shingle
HASHES = 64
BAND = 2  # hashes of a band
NEIGHBOURS = 8  # looked at in a band, in the order of the batch
PRIME = (1 << 31) - 1
Shingles = frozenset[int]


@dataclass(frozen=True, slots=True)
class BatchSimilarity:
    """shared: share of its shingles that another statement has; similarity: to `nearest`, the
    number of a statement; None: it has no shingle, or there is no other."""

    shared: float | None
    similarity: float | None = None
    nearest: int | None = None


def compute_similarity(statements: Sequence[tuple[str, str]]) -> list[BatchSimilarity]:
    """statements: (statement, post), in the order of the batch."""
    found = [shingles(*one) for one in check_each(statements)]
    holders = Counter(shingle for own in found for shingle in own)
    nearest = _nearest(found)
    return [
        _similarity(own, holders, nearest.get(number)) if len(found) > 1 else BatchSimilarity(None)
        for number, own in enumerate(found)
    ]


def _similarity(
    own: Shingles, holders: Counter[int], nearest: tuple[float, int] | None
) -> BatchSimilarity:
    if not own:
        return BatchSimilarity(None)
    shared = sum(holders[shingle] > 1 for shingle in own) / len(own)
    if nearest is None:
        return BatchSimilarity(shared, 0.0)
    return BatchSimilarity(shared, nearest[0], nearest[1])


def shingles(statement: str, post: str) -> Shingles:
    """Runs of three words, as hashes that are the same on every machine."""
    there = PostWords.of(post)
    statement = normalize(statement).text
    located, _ = match_quotes(StatementWords.of(statement), there)
    left = [
        word.folded
        for word in words(mask_spans(statement, [quote.statement for quote in located]))
        if not (word.is_content and word.stem in there.stems)
    ]
    rows = zip(*(left[start:] for start in range(WIDTH)), strict=False)
    return frozenset(zlib.crc32(" ".join(row).encode("utf-8", "replace")) for row in rows)


def jaccard(one: Shingles, other: Shingles) -> float:
    """Intersection over union, [0, 1]; of two empty sets 0."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _nearest(found: Sequence[Shingles]) -> dict[int, tuple[float, int]]:
    """Number of a statement → (similarity, number of the nearest other)."""
    best: dict[int, tuple[float, int]] = {}
    for one, other in _candidates(found):
        alike = jaccard(found[one], found[other])
        for number, beside in ((one, other), (other, one)):
            if alike > best.get(number, (0.0, -1))[0]:
                best[number] = (alike, beside)
    return best


def _candidates(found: Sequence[Shingles]) -> Iterator[tuple[int, int]]:
    """Pairs that agree in a band, each once."""
    bands: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for number, own in enumerate(check_each(found)):
        if not own:
            continue
        sketch = _min_hash(own)
        for place in range(0, HASHES, BAND):
            others = bands[place, int(sketch[place]), int(sketch[place + 1])]
            for other in others[-NEIGHBOURS:]:
                if (other, number) not in seen:
                    seen.add((other, number))
                    yield other, number
            others.append(number)


def _min_hash(own: Shingles) -> NDArray[np.int64]:
    """(HASHES,) least value of each linear hash."""
    values = np.array(sorted(own), dtype=np.int64) % PRIME
    return np.asarray(((_FACTORS[:, None] * values + _SHIFTS[:, None]) % PRIME).min(axis=1))


_RANDOM = np.random.Generator(np.random.Philox(key=20220265))
_FACTORS = _RANDOM.integers(1, PRIME, size=HASHES, dtype=np.int64)
_SHIFTS = _RANDOM.integers(0, PRIME, size=HASHES, dtype=np.int64)
