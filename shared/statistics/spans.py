"""Plausibility: compares spans of an explanation with spans that people marked.

Source: DeYoung et al. (2020), ERASER, ACL, section 4.1: F1 of the overlap, and F1 of spans. A span
counts as found if its intersection over union with a span of the other set is at least 0.5.
Deviation: overlaps are counted in characters, not tokens, so that the result does not depend on a
tokenizer or language. Pure functions.

Spans are (start, end) offsets of characters, end exclusive; they may overlap."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]
FOUND_FROM = 0.5  # intersection over union


def merged(spans: Sequence[Span]) -> list[Span]:
    """Merge overlapping spans and drop empty ones. Return the spans in order. Spans that only touch
    stay separate, because they may be two separate passages."""
    result: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def size(spans: Sequence[Span]) -> int:
    """Return the number of characters covered by the spans."""
    return sum(end - start for start, end in merged(spans))


def overlap(first: Sequence[Span], second: Sequence[Span]) -> int:
    """Return the number of characters covered both by spans of `first` and by spans of
    `second`."""
    shared, index = 0, 0
    gold = merged(second)
    for start, end in merged(first):
        while index < len(gold) and gold[index][1] <= start:
            index += 1
        at = index
        while at < len(gold) and gold[at][0] < end:
            shared += min(end, gold[at][1]) - max(start, gold[at][0])
            at += 1
    return shared


def character_f1(predicted: Sequence[Span], gold: Sequence[Span]) -> float | None:
    """Return the F1 of characters, [0, 1], where higher is more plausible. None if both sides are
    empty."""
    whole = size(predicted) + size(gold)
    return 2 * overlap(predicted, gold) / whole if whole else None


def chance_f1(predicted: Sequence[Span], gold: Sequence[Span], length: int) -> float | None:
    """Return the mean of `character_f1` over all circular shifts of the prediction in the text. The
    mean is exact: each predicted character coincides once with each gold character in `length`
    shifts. None if both sides are empty. Raises ValueError for a span beyond the text."""
    if any(end > length for _, end in (*predicted, *gold)):
        raise ValueError("a span ends after the end of the text")
    ours, theirs = size(predicted), size(gold)
    return 2 * ours * theirs / (length * (ours + theirs)) if ours + theirs else None


def span_f1(predicted: Sequence[Span], gold: Sequence[Span]) -> float | None:
    """Return the F1 score of the spans, in [0, 1], or None if both sides are empty. Two spans match
    if their intersection is at least half of their union."""
    ours, theirs = merged(predicted), merged(gold)
    if not ours and not theirs:
        return None
    precise = sum(any(_alike(span, other) for other in theirs) for span in ours)
    recalled = sum(any(_alike(span, other) for other in ours) for span in theirs)
    if not precise or not recalled:
        return 0.0
    precision, recall = precise / len(ours), recalled / len(theirs)
    return 2 * precision * recall / (precision + recall)


def _alike(first: Span, second: Span) -> bool:
    shared = min(first[1], second[1]) - max(first[0], second[0])
    whole = max(first[1], second[1]) - min(first[0], second[0])
    return shared > 0 and shared / whole >= FOUND_FROM
