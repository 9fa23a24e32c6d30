"""Tests of many reports by configuration: mean win rate, z, median effect, both corrections.

Pure functions: arrays in, numbers out; None is "undefined".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from services.ice.batch_messages import (
    BatchVerdict,
    IceBatchReportRequest,
    IceConfiguration,
    IceConfigurationResult,
    IceOverExamples,
    IcePValueHistogram,
    IceReadingCounts,
)
from services.ice.contract import IceRequest
from services.ice.kernel import WIN_RATE_OF_CHANCE, Floats
from services.ice.report import IcePlausibility, IceResult, IceTest, Operator, Reading, Verdict
from services.ice.variants import VARIANTS
from shared.contracts.messages import Scored
from shared.contracts.reports import bin_edges
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.clusters import NO_SPREAD, clustered
from shared.statistics.comparison import mean_test, min_flip_p, normal_p, omnibus_z
from shared.statistics.families import benjamini_hochberg, holm, needed_at_least_p
from shared.statistics.ranks import BINS, bin_counts

ScoredIce = Scored[IceRequest, IceResult]

UNIT_RANGE = (0.0, 1.0)
FEWEST_BINS = 5
FINE = 10  # p-values that can lie in a bin, from which one more or less is not seen
VERDICTS: tuple[Verdict, ...] = ("faithful", "inconclusive", "anti-faithful", "undecidable")


@dataclass(frozen=True)
class JobTest:
    """One test of one job, and how plausible its rationale is to people."""

    job: int  # its place in the batch
    test: IceTest
    plausibility: IcePlausibility | None


Table = dict[IceConfiguration, list[JobTest]]


def by_configuration(scored: Sequence[ScoredIce]) -> Table:
    """In the order in which configurations first occur."""
    table: Table = defaultdict(list)
    for place, job in enumerate(scored):
        plausible = {(one.explanation, one.k): one for one in job.report.components.plausibility}
        for test in job.report.components.tests:
            found = plausible.get((test.explanation, test.k))
            table[_configuration(job, test)].append(JobTest(place, test, found))
    return dict(table)


def _configuration(job: ScoredIce, test: IceTest) -> IceConfiguration:
    return IceConfiguration(
        model=job.report.provenance.models[0].name,
        variant=job.report.provenance.variant,
        explanation=test.explanation,
        k=test.k,
        operator=test.operator,
        aspect=test.aspect,
        rows=job.report.rows,
    )


def index_by_job(tested: Sequence[JobTest]) -> dict[int, JobTest]:
    """Those with a win rate, by job."""
    return {one.job: one for one in tested if one.test.win_rate is not None}


def same_but(first: IceConfiguration, second: IceConfiguration, field: str) -> bool:
    """Whether two configurations differ in this field only."""
    return first != second and first == second.model_copy(update={field: getattr(first, field)})


def name(configuration: IceConfiguration) -> str:
    """As a line of a plot."""
    k = "" if configuration.k is None else f" · k {configuration.k:g}"
    variant = {"robust": ""}.get(configuration.variant, f" · {configuration.variant}")
    aspect = "" if configuration.aspect == "sufficiency" else f" · {configuration.aspect}"
    rows = " · words" if configuration.rows == "words" else ""
    return (
        f"{configuration.explanation}{k} · {configuration.operator}{aspect} · "
        f"{configuration.model}{variant}{rows}"
    )


def summary_rows(
    table: Table, over: BatchStatistics[IceBatchReportRequest], levels: tuple[float, float]
) -> list[IceConfigurationResult]:
    """levels: false discovery rates over configurations and over examples."""
    found = [_summary(key, tested, over, levels[1]) for key, tested in table.items()]
    tested = [one.p_value for one in found if one.p_value is not None]
    adjust = holm if over.request.error == "family" else benjamini_hochberg
    adjusted = iter(adjust(tested))
    return [
        one if one.p_value is None else _with_decision(one, next(adjusted), levels[0])
        for one in found
    ]


def _with_decision(one: IceConfigurationResult, q: float, alpha: float) -> IceConfigurationResult:
    mean = one.win_rate.value or 0.0
    verdict: BatchVerdict = "inconclusive"
    if q <= alpha:
        verdict = "faithful" if mean > WIN_RATE_OF_CHANCE else "anti-faithful"
    elif min_flip_p(one.win_rate.clusters or 0) > alpha:
        verdict = "undecidable"
    return one.model_copy(update={"q_value": q, "verdict": verdict})


def _summary(
    key: IceConfiguration,
    tested: Sequence[JobTest],
    over: BatchStatistics[IceBatchReportRequest],
    alpha: float,
) -> IceConfigurationResult:
    known = [one for one in tested if one.test.win_rate is not None]
    tests = [one.test for one in known]
    rates, keys = _column(tests, "win_rate"), keys_of(known, over)
    z, quantity = _z(key, tests), f"win rate {name(key)}"
    found = mean_test(clustered(rates, keys), WIN_RATE_OF_CHANCE, over.request.seed, quantity)
    counted = Counter(test.verdict for test in tests)
    return IceConfigurationResult(
        configuration=key,
        undefined=len(tested) - len(tests),
        win_rate=over.mean(quantity, rates, keys, UNIT),
        strict_win_rate=_mean(_column(tests, "strict_win_rate")),
        tie_rate=_mean(_column(tests, "tie_rate")),
        t=found.t,
        p_t=found.p_t,
        p_randomization=found.p_randomization,
        p_value=found.p_value,
        omnibus_z=z,
        omnibus_p=None if z is None else normal_p(z),
        q_value=None,
        verdict=None,
        effect=over.median(f"effect {name(key)}", *_effects(known, keys)),
        exact=sum(test.null.exact for test in tests),
        verdicts={verdict: counted[verdict] for verdict in VERDICTS},
        win_rates=over.histogram(rates, UNIT_RANGE),
        p_values=p_value_histogram(tests),
        over_examples=_over_examples(tests, alpha),
        leads=_leads(tested, over.rows),
    )


def _leads(tested: Sequence[JobTest], rows: Sequence[ScoredIce]) -> bool:
    """Whether these are the first tests of all rows that have any."""
    firsts = [row.report.components.tests[:1] for row in rows]
    first = all(one.test is firsts[one.job][0] for one in tested)
    return first and len(tested) == sum(map(len, firsts))


def p_value_histogram(tests: Sequence[IceTest]) -> IcePValueHistogram | None:
    """None without p-values."""
    p_values = _column(tests, "p_value")
    if not p_values.size:
        return None
    bins = bins_for(sorted({test.null.draws for test in tests if test.null.draws}))
    counts = bin_counts(p_values, bin_edges(0.0, 1.0, bins), closed="right")
    return IcePValueHistogram(counts=counts, expected=p_values.size / bins)


def bins_for(draws: Sequence[int]) -> int:
    """Bins that the p-values (1 + reached) / (1 + M) of these numbers of draws M lie evenly in: the
    most, up to 20, that divide every 1 + M; 20 where so many draws make the unevenness small."""
    steps = [one + 1 for one in draws] or [BINS]
    even = next(bins for bins in range(BINS, 0, -1) if all(one % bins == 0 for one in steps))
    return even if even >= FEWEST_BINS else BINS if min(steps) >= FINE * BINS else FEWEST_BINS


def keys_of(tested: Sequence[JobTest], over: BatchStatistics[IceBatchReportRequest]) -> list[str]:
    """The cluster of each test: that of its job's text."""
    return over.keys([over.rows[one.job] for one in tested])


def _effects(tested: Sequence[JobTest], keys: Sequence[str]) -> tuple[Floats, list[str]]:
    """(n,) effects of the tests that have one, and their clusters."""
    pairs = [(one.test.effect, key) for one, key in zip(tested, keys, strict=True)]
    found = [(effect, key) for effect, key in pairs if effect is not None]
    return np.array([effect for effect, _ in found]), [key for _, key in found]


def _z(key: IceConfiguration, tests: Sequence[IceTest]) -> float | None:
    """Only where draws are distinct and their number fixed: else the null is another."""
    if not VARIANTS[key.variant].distinct or any(test.null.sequential for test in tests):
        return None
    draws = [test.null.win_rate_draws or test.null.draws for test in tests]
    return omnibus_z(_column(tests, "win_rate"), draws)


def _column(tests: Sequence[IceTest], field: str) -> Floats:
    values = [getattr(test, field) for test in tests]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if values.size else None


def _over_examples(tests: Sequence[IceTest], alpha: float) -> IceOverExamples:
    p_values = [test.p_value for test in tests if test.p_value is not None]
    adjusted = benjamini_hochberg(p_values)
    planned = [test.null.draws for test in tests if not test.stopped_early]
    draws = max(planned, default=0)
    least = 1 / (draws + 1) if draws else None
    needed = None if least is None else needed_at_least_p(len(p_values), least, alpha)
    return IceOverExamples(
        alpha=alpha,
        rejected=sum(q <= alpha for q in adjusted),
        least_p=least,
        needed=needed,
        raw=sum(p <= alpha for p in p_values),
    )


def reading_counts(scored: Sequence[ScoredIce]) -> tuple[IceReadingCounts, ...]:
    """Of each explanation, budget and operator of a model, in the order of first occurrence."""
    found: dict[tuple[str, str, float | None, Operator], Counter[Reading]] = defaultdict(Counter)
    for job in scored:
        for one in job.report.components.readings:  # none where no model was asked
            model = job.report.provenance.models[0].name
            found[model, one.explanation, one.k, one.operator][one.reading] += 1
    return tuple(
        IceReadingCounts(
            model=model,
            explanation=explanation,
            k=k,
            operator=operator,
            examples=counted.total(),
            readings=dict(counted.most_common()),
        )
        for (model, explanation, k, operator), counted in found.items()
    )


@dataclass(frozen=True)
class CorrelationTest:
    """Do two columns rise together? None where a side is constant or n < 3.

    p of r and of rho: two-sided, of the means of each text, since rows of one text are not
    independent of each other.
    """

    spearman: float | None
    p_pearson: float | None
    p_spearman: float | None


def correlation(first: Floats, second: Floats, keys: Sequence[str]) -> CorrelationTest:
    """first, second: (n,) values; keys: the cluster of each."""
    p_pearson, p_spearman = None, None
    texts = sorted(set(keys))
    if len(texts) >= 3:
        codes = np.searchsorted(texts, list(keys))
        counts = np.bincount(codes)
        ours, others = (np.bincount(codes, weights=one) / counts for one in (first, second))
        if _has_variance(ours) and _has_variance(others):
            p_pearson = float(stats.pearsonr(ours, others).pvalue)
            p_spearman = float(stats.spearmanr(ours, others).pvalue)
    told = first.size >= 3 and _has_variance(first) and _has_variance(second)
    spearman = float(stats.spearmanr(first, second).statistic) if told else None
    return CorrelationTest(spearman, p_pearson, p_spearman)


def _has_variance(column: Floats) -> bool:
    return bool(np.ptp(column) > NO_SPREAD * np.max(np.abs(column)))
