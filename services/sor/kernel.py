"""The formulas of `sor`; numbers in, numbers out.

Completeness is the plain mean over the items that Article 17(3) DSA asks for beside the facts: the
article gives them no weights. The score is the harmonic mean of completeness and specificity, as
F1 is of precision and recall: a statement that says everything except what the post did is worth
nothing, and neither is one that quotes the post and says nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.sor.report import POINTS, SorItemName, SorPoint

MOST_BY_WORDS = 0.95  # specificity of a statement that quotes nothing


def mean(values: Iterable[float | None]) -> float | None:
    """Of what is defined; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def points(items: Mapping[SorItemName, float | None]) -> dict[SorPoint, float | None]:
    """Each point of Article 17(3), [0, 1]: the mean of its items."""
    return {point: mean(items[item] for item in names) for point, names in POINTS.items()}


def harmonic(completeness: float | None, specificity: float | None) -> float | None:
    """[0, 1]; 0 where either is, None where either is unknown."""
    if completeness is None or specificity is None:
        return None
    total = completeness + specificity
    return 0.0 if total == 0 else 2 * completeness * specificity / total


def specificity(quotes: int, shared: int, enough: int, chance: float) -> float:
    """1 with a quotation of the post, else 0.95 of the share of `enough` content words, above what
    other posts have by chance.

    quotes: quotations that stand in the post. shared: its content words in the statement. chance:
    mean number of content words of other posts there.
    """
    if quotes:
        return 1.0
    return MOST_BY_WORDS * min(1.0, max(0.0, (shared - chance) / enough))
