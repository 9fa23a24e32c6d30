"""Similarity between the statements of a batch.

Quotations and words of a statement's own post are removed, which leaves the template. Templates are
compared by runs of three words (w-shingles, Broder 1997). The most similar other statement is found
by a min-wise sketch (64 hashes in 32 bands), in time linear in the batch. Two statements are
compared with probability 0.9999 at a Jaccard similarity of 0.5, and 0.95 at 0.3."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from services.sor.post_facts import PostWords, StatementWords, match_quotes
from services.sor.words import mask_spans, words
from shared.queue.job_context import check_each
from shared.text.normalized import normalize

WIDTH = 3  # words of a shingle
HASHES = 64
BAND = 2  # hashes of a band
NEIGHBOURS = 8  # compared per band, in the order of the batch
PRIME = (1 << 31) - 1
Shingles = frozenset[int]


@dataclass(frozen=True, slots=True)
class BatchSimilarity:
    """A statement's similarity to the other statements of its batch. It is None if there are no
    shingles or no other statements."""

    shared: float | None  # share of its shingles that another statement has
    similarity: float | None = None  # to `nearest`
    nearest: int | None = None  # index of a statement


def compute_similarity(statements: Sequence[tuple[str, str]]) -> list[BatchSimilarity]:
    """Return the similarities of (statement, post) pairs, in the order of the batch."""
    sets = [shingles(*pair) for pair in check_each(statements)]
    counts = Counter(shingle for statement_shingles in sets for shingle in statement_shingles)
    nearest = _nearest(sets)
    results = []
    for index, statement_shingles in enumerate(sets):
        if not statement_shingles or len(sets) == 1:
            results.append(BatchSimilarity(None))
            continue
        shared = sum(counts[shingle] > 1 for shingle in statement_shingles) / len(
            statement_shingles
        )
        similarity, other = nearest.get(index, (0.0, None))
        results.append(BatchSimilarity(shared, similarity, other))
    return results


def shingles(statement: str, post: str) -> Shingles:
    """Return hashes of all three-word sequences of a statement, after removing words and quotations
    of the post. The hashes are the same on every machine."""
    post_words = PostWords.of(post)
    statement = normalize(statement).text
    located, _ = match_quotes(StatementWords.of(statement), post_words)
    template = [
        word.folded
        for word in words(mask_spans(statement, [quote.statement for quote in located]))
        if not (word.is_content and word.stem in post_words.stems)
    ]
    rows = zip(*(template[start:] for start in range(WIDTH)), strict=False)
    return frozenset(zlib.crc32(" ".join(row).encode("utf-8", "replace")) for row in rows)


def jaccard(a: Shingles, b: Shingles) -> float:
    """Return intersection over union, in [0, 1], or 0 for two empty sets."""
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def _nearest(sets: Sequence[Shingles]) -> dict[int, tuple[float, int | None]]:
    """Return a mapping from each index to its highest similarity and the index of that nearest
    statement."""
    best: dict[int, tuple[float, int | None]] = {}
    for pair in _candidates(sets):
        similarity = jaccard(sets[pair[0]], sets[pair[1]])
        for index, other in (pair, reversed(pair)):
            if similarity > best.get(index, (0.0, None))[0]:
                best[index] = (similarity, other)
    return best


def _candidates(sets: Sequence[Shingles]) -> Iterator[tuple[int, int]]:
    """Yield each pair of statements whose MinHash sketches have a band in common, once."""
    bands: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for index, statement_shingles in enumerate(check_each(sets)):
        if not statement_shingles:
            continue
        values = np.array(sorted(statement_shingles), dtype=np.int64) % PRIME
        sketch = ((_FACTORS[:, None] * values + _SHIFTS[:, None]) % PRIME).min(axis=1)
        for start in range(0, HASHES, BAND):
            neighbours = bands[start, int(sketch[start]), int(sketch[start + 1])]
            for other in neighbours[-NEIGHBOURS:]:
                if (other, index) not in seen:
                    seen.add((other, index))
                    yield other, index
            neighbours.append(index)


_RANDOM = np.random.Generator(np.random.Philox(key=20220265))
_FACTORS = _RANDOM.integers(1, PRIME, size=HASHES, dtype=np.int64)
_SHIFTS = _RANDOM.integers(0, PRIME, size=HASHES, dtype=np.int64)
