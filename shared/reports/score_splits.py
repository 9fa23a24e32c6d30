"""Splits scores by a property of their lines, and tests whether the groups differ.

The test permutes the values among texts, and within a text that has several values (Good, 2005,
Permutation, Parametric and Bootstrap Tests of Hypotheses, 3.7). P-values count the observed split
as one of the draws (Phipson & Smyth, 2010). The functions are pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.contracts.batches import model_of
from shared.contracts.fields import value_at
from shared.contracts.messages import Scored
from shared.contracts.reports import ScoreSplit, SplitPair, SplitValue
from shared.reports.estimates import BatchStatistics
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats, Integers
from shared.statistics.families import holm
from shared.statistics.seeds import generator

Row = Scored[Any, Any]
FEWEST, MOST = 2, 50  # values of a key
MOST_DRAWS = 1_999
TIE = 1e-12  # relative; equal up to rounding


def split_scores(over: BatchStatistics[Any]) -> tuple[ScoreSplit, ...]:
    """Return one split for each property in the request's `by`, in its order."""
    return tuple(_split(over, by) for by in over.request.by)


def _split(over: BatchStatistics[Any], by: str) -> ScoreSplit:
    groups: dict[str, list[Row]] = {}
    for row in over.rows:
        if (value := value_of(over, row, by)) is not None:
            groups.setdefault(value, []).append(row)
    without = len(over.rows) - sum(map(len, groups.values()))
    if not FEWEST <= len(groups) <= MOST:
        warning = f"the key has {len(groups)} values, but a split needs {FEWEST} to {MOST}"
        return ScoreSplit(by=by, without=without, warnings=(warning,))
    values = []
    for value, rows in groups.items():
        scores = [row.report.score for row in rows]
        mean = over.mean(f"split {by} {value}", scores, over.keys(rows), over.score_bounds)
        undefined = scores.count(None)
        values.append(SplitValue(value=value, results=len(rows), undefined=undefined, score=mean))
    values.sort(
        key=lambda split: (split.score.value is None, split.score.value or 0.0, split.value)
    )
    scored = {
        value: [row for row in rows if row.report.score is not None]
        for value, rows in groups.items()
    }
    texts = [set(over.keys(rows)) for rows in scored.values()]
    test = _test(over, by, scored)
    pairs = tuple(_pairs(over, by, scored)) if over.request.pairwise else ()
    return ScoreSplit(
        by=by,
        values=tuple(values),
        without=without,
        p_value=None if test is None else test.p_value,
        within_texts=None if test is None else test.within,
        pairs=pairs,
        texts=len(set().union(*texts)),
        common_texts=len(set.intersection(*texts)),
    )


def value_of(over: BatchStatistics[Any], row: Row, by: str) -> str | None:
    """Return a result's value of a property, or None.

    `by` is `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `decision_sent` or
    `decision_stated`.
    """
    key = by.removeprefix("metadata.")
    if key != by:
        entry: str | None = row.request.metadata.get(key)
        return entry
    facts, report = over.metric.facts, row.report
    provenance, languages = report.provenance, report.languages
    properties: Mapping[str, Callable[[], Any]] = {
        "model": lambda: model_of(
            provenance.models[0].name if provenance.models else None,
            row.request.model,
            over.metric.default_model,
        ),
        "variant": lambda: provenance.variant,
        "language": lambda: None if languages is None else languages.text.code,
        "verdict": lambda: report.verdict,
        "decision_sent": lambda: getattr(row.request, facts.decision_sent or "-", None),
        "decision_stated": lambda: value_at(report, facts.decision_stated),
    }
    value = properties[by]()
    return value if isinstance(value, str) else None


@dataclass(frozen=True)
class SplitTest:
    p_value: float
    within: bool  # texts with several values were permuted within themselves


def _test(
    over: BatchStatistics[Any], about: str, scored: Mapping[str, Sequence[Row]]
) -> SplitTest | None:
    rows = [(index, row) for index, group in enumerate(scored.values()) for row in group]
    scores = np.array([row.report.score for _, row in rows], dtype=np.float64)
    values = np.array([index for index, _ in rows], dtype=np.int64)
    return split_test(about, scores, values, over.keys([row for _, row in rows]), over.how)


def split_test(
    about: str, scores: Floats, values: Integers, keys: Sequence[str], how: Resampling
) -> SplitTest | None:
    """Test by permutation that all values of a property have the same mean score. `scores`,
    `values` (numbered from 0) and `keys` (texts) have one entry per result. The result is None if
    no permutation changes the split, as with a single value or text."""
    _, texts = np.unique(np.array(keys, dtype=object), return_inverse=True)
    if np.unique(values).size < FEWEST:
        return None
    first = np.zeros(texts.max() + 1, dtype=np.int64)
    first[texts[::-1]] = values[::-1]
    mixed = np.unique(texts[first[texts] != values])  # texts of several values
    if not mixed.size and first.size <= np.unique(values).size:  # a permutation is the same split
        return None
    centred = scores - scores.mean()
    draw = _permute(values, texts, first, mixed, generator(how.seed, "split", about, scores.size))
    observed = _between_squares(centred, values)
    bar = observed - TIE * max(1.0, abs(observed))
    draws, reached = min(how.resamples, MOST_DRAWS), 0
    for _ in range(draws):
        how.check()
        reached += _between_squares(centred, next(draw)) >= bar
    return SplitTest((1 + reached) / (1 + draws), bool(mixed.size))


def _between_squares(centred: Floats, values: Integers) -> float:
    """Return the sum of n * mean² over the values of a property. n is the number of results with a
    value, and mean is their mean centred score."""
    counts = np.bincount(values)
    sums = np.bincount(values, weights=centred)
    squares: NDArray[np.float64] = sums[counts > 0] ** 2 / counts[counts > 0]
    return float(squares.sum())


def _permute(
    values: Integers,
    texts: Integers,
    of_text: Integers,
    mixed: Integers,
    random: np.random.Generator,
) -> Iterator[Integers]:
    """Yield random permutations of the property's values. In texts with different values (`mixed`),
    values are permuted among the text's results. Each other text exchanges its single value with
    that of another such text."""
    within_texts = np.flatnonzero(np.isin(texts, mixed))
    within_texts = within_texts[np.argsort(texts[within_texts], kind="stable")]
    single = np.setdiff1d(np.arange(of_text.size), mixed)
    while True:
        exchanged = of_text.copy()
        exchanged[single] = random.permutation(of_text[single])
        permuted = exchanged[texts]
        shuffled = np.lexsort((random.random(within_texts.size), texts[within_texts]))
        permuted[within_texts] = values[within_texts[shuffled]]
        yield permuted


def _pairs(
    over: BatchStatistics[Any], by: str, scored: Mapping[str, Sequence[Row]]
) -> Iterator[SplitPair]:
    means = {
        value: float(np.mean([row.report.score for row in rows]))
        for value, rows in sorted(scored.items())
        if rows
    }
    tested = [
        (a, b, means[b] - means[a], _test(over, f"{by} {a} {b}", {a: scored[a], b: scored[b]}))
        for a, b in combinations(means, 2)
    ]
    adjusted = iter(holm([test.p_value for *_, test in tested if test is not None]))
    for a, b, difference, test in tested:
        yield SplitPair(
            first=a,
            second=b,
            difference=difference,
            p_value=None if test is None else test.p_value,
            p_adjusted=None if test is None else float(next(adjusted)),
        )
