"""Explanations against each other, operators against each other, machines against people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from services.ice import statistics
from services.ice.batch_messages import (
    Agreement,
    Configuration,
    IceBatchReportRequest,
    MeanDifference,
    Orthogonality,
)
from services.ice.kernel import WIN_RATE_OF_CHANCE, Floats
from services.ice.report import Test
from services.ice.results import Table, Tested, defined, name, same_but
from shared.contracts import Interval
from shared.statistics.intervals import BatchStatistics

MEASURES = ("iou", "f1", "auprc")


def differences(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[MeanDifference]:
    """Of every two explanations of one model, budget and operator, on their common examples.

    A rationale of spans has no budget: it is compared with every one of them.
    """
    for first, second in combinations(table, 2):
        if not _two_explanations(first, second):
            continue
        ours, others = _common(table[first], table[second])
        gaps = _rates(ours) - _rates(others)
        yield MeanDifference(
            first=first,
            second=second,
            difference=over.mean(f"{name(first)} - {name(second)}", gaps),
            first_better=int(np.count_nonzero(gaps > 0)),
            second_better=int(np.count_nonzero(gaps < 0)),
        )


def _two_explanations(first: Configuration, second: Configuration) -> bool:
    if first.explanation == second.explanation:
        return False
    alike = second.model_copy(update={"explanation": first.explanation})
    if first.k is None or second.k is None:
        alike = alike.model_copy(update={"k": first.k})
    return alike == first


def agreements(table: Table) -> Iterator[Agreement]:
    """Of every two operators on one explanation and budget."""
    for first, second in combinations(table, 2):
        if not same_but(first, second, "operator") or "mean" in (first.operator, second.operator):
            continue
        ours, others = _common(table[first], table[second])
        _, spearman, _ = statistics.correlation(_rates(ours), _rates(others))
        pairs = list(zip(ours, others, strict=True))
        yield Agreement(
            first=first,
            second=second,
            examples=len(pairs),
            spearman=spearman,
            same_side=_share([_side(a) == _side(b) for a, b in pairs]),
            same_verdict=_share([a.verdict == b.verdict for a, b in pairs]),
        )


def orthogonality(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[Orthogonality]:
    """Of each configuration whose examples have human spans, by measure."""
    for key, tested in table.items():
        for measure in MEASURES:
            values, rates = _measured(tested, measure)
            if not values.size:
                continue
            about = f"{measure} {name(key)}"
            r, spearman, p = statistics.correlation(values, rates)
            pair = np.stack([values, rates], axis=1)
            drawn = None if r is None else over.statistic(f"r {about}", pair, statistics.pearson)
            yield Orthogonality(
                configuration=key,
                measure=measure,
                mean=over.mean(about, values),
                pearson=Interval(
                    value=r, low=drawn and drawn.low, high=drawn and drawn.high, of=values.size
                ),
                spearman=spearman,
                p_value=p,
            )


def _measured(tested: Sequence[Tested], measure: str) -> tuple[Floats, Floats]:
    """((n,) plausibility, (n,) win rates) of the examples that have both."""
    pairs = [
        (getattr(one.plausibility, measure), one.test.win_rate)
        for one in tested
        if one.plausibility is not None and one.test.win_rate is not None
    ]
    known = [pair for pair in pairs if pair[0] is not None]
    both = np.array(known, dtype=np.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _common(first: Sequence[Tested], second: Sequence[Tested]) -> tuple[list[Test], list[Test]]:
    """Tests of the jobs that both have."""
    ours, others = defined(first), defined(second)
    jobs = [job for job in ours if job in others]
    return [ours[job].test for job in jobs], [others[job].test for job in jobs]


def _rates(tests: Sequence[Test]) -> Floats:
    return np.array([test.win_rate for test in tests], dtype=np.float64)


def _side(test: Test) -> float:
    return float(np.sign((test.win_rate or 0.0) - WIN_RATE_OF_CHANCE))


def _share(agree: Sequence[bool]) -> float | None:
    return float(np.mean(agree)) if agree else None
