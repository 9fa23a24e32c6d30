"""One configuration over its examples: mean win rate, z, median effect, and both corrections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from services.ice import statistics
from services.ice.batch_messages import (
    Configuration,
    ConfigurationResult,
    IceBatchReportRequest,
    OverExamples,
)
from services.ice.kernel import Floats
from services.ice.report import Test, Verdict
from services.ice.results import Table, Tested, name
from services.ice.variants import VARIANTS
from shared.contracts import Interval
from shared.statistics.intervals import BatchStatistics

VERDICTS: tuple[Verdict, ...] = ("faithful", "inconclusive", "anti-faithful")


def summaries(
    table: Table, over: BatchStatistics[IceBatchReportRequest], levels: tuple[float, float]
) -> list[ConfigurationResult]:
    """levels: false discovery rates over configurations and over examples."""
    found = [_summary(key, tested, over, levels[1]) for key, tested in table.items()]
    tested = [one.p_value for one in found if one.p_value is not None]
    adjusted = iter(statistics.benjamini_hochberg(tested))
    return [
        one if one.p_value is None else _decided(one, next(adjusted), levels[0]) for one in found
    ]


def _decided(one: ConfigurationResult, q: float, alpha: float) -> ConfigurationResult:
    verdict: Verdict = "inconclusive"
    if q <= alpha and one.z is not None:
        verdict = "faithful" if one.z > 0 else "anti-faithful"
    return one.model_copy(update={"q_value": q, "verdict": verdict})


def _summary(
    key: Configuration,
    tested: Sequence[Tested],
    over: BatchStatistics[IceBatchReportRequest],
    alpha: float,
) -> ConfigurationResult:
    tests = [one.test for one in tested if one.test.win_rate is not None]
    rates = _column(tests, "win_rate")
    z = _z(key, tested)
    counted = Counter(test.verdict for test in tests)
    return ConfigurationResult(
        configuration=key,
        undefined=len(tested) - len(tests),
        win_rate=over.mean(f"win rate {name(key)}", rates),
        strict_win_rate=_mean(_column(tests, "strict_win_rate")),
        tie_rate=_mean(_column(tests, "tie_rate")),
        z=z,
        p_value=None if z is None else statistics.two_sided_p(z),
        q_value=None,
        verdict=None,
        effect=_median(_column(tests, "effect"), over.request.confidence),
        exact=sum(test.null.exact for test in tests),
        verdicts={verdict: counted[verdict] for verdict in VERDICTS},
        over_examples=_over_examples(tests, alpha),
    )


def _z(key: Configuration, tested: Sequence[Tested]) -> float | None:
    """Only where draws are distinct and their number fixed: else the null is another."""
    known = [one for one in tested if one.test.win_rate is not None]
    fixed = [one.test for one in known if not one.test.null.sequential]
    if not VARIANTS[key.variant].distinct or len(fixed) < len(known):
        return None
    return statistics.z_of_chance(_column(fixed, "win_rate"), [test.null.draws for test in fixed])


def _column(tests: Sequence[Test], field: str) -> Floats:
    values = [getattr(test, field) for test in tests]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if values.size else None


def _median(values: Floats, confidence: float) -> Interval:
    low, high = statistics.median_interval(values, confidence)
    value = float(np.median(values)) if values.size else None
    return Interval(value=value, low=low, high=high, of=values.size)


def _over_examples(tests: Sequence[Test], alpha: float) -> OverExamples:
    p_values = [test.p_value for test in tests if test.p_value is not None]
    adjusted = statistics.benjamini_hochberg(p_values)
    planned = [test.null.draws for test in tests if not test.stopped_early]
    draws = max(planned, default=0)
    least = 1 / (draws + 1) if draws else None
    needed = None if least is None else statistics.needed_at_least_p(len(p_values), least, alpha)
    return OverExamples(
        alpha=alpha,
        rejected=sum(q <= alpha for q in adjusted),
        least_p=least,
        needed=needed,
        raw=sum(p <= alpha for p in p_values),
    )
