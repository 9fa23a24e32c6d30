"""The formulas of `sor`, as pure functions of numbers.

Completeness is the plain mean over the items of Article 17(3) DSA except the facts. The score is
the harmonic mean of completeness and specificity. A statement scores 0 if it has no facts of the
post, and also if it only quotes the post.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.sor.report import POINTS, SorItemName, SorPoint

MOST_BY_WORDS = 0.95  # specificity of a statement that quotes nothing


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the defined values; None if there are none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def points(items: Mapping[SorItemName, float | None]) -> dict[SorPoint, float | None]:
    """Return one value in [0, 1] for each point of Article 17(3). A point's value is the mean of
    its items."""
    return {point: mean(items[item] for item in names) for point, names in POINTS.items()}


def harmonic(completeness: float | None, specificity: float | None) -> float | None:
    """Return the harmonic mean of completeness and specificity, in [0, 1]. It is 0 if either is 0,
    and None if either is unknown."""
    if completeness is None or specificity is None:
        return None
    total = completeness + specificity
    return 0.0 if total == 0 else 2 * completeness * specificity / total


def specificity(quotes: int, shared: int, enough: int, chance: float) -> float:
    """Return how specific a statement is to its post, in [0, 1]. It is 1 if the statement quotes
    the post, else 0.95 * (shared - chance) / enough within [0, 0.95]. `shared` is the number of the
    post's content words in the statement, and `chance` its mean over other posts."""
    if quotes:
        return 1.0
    return MOST_BY_WORDS * min(1.0, max(0.0, (shared - chance) / enough))
