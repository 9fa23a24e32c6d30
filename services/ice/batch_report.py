"""Report of ICE on many results: compares configurations, explanations, operators, and
plausibility. Source: arXiv:2603.18579, section 4 and Table 14."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from scipy import stats

from services.ice.contract import IceRequest
from services.ice.kernel import WIN_RATE_OF_CHANCE, Floats
from services.ice.report import (
    BatchVerdict,
    IceAgreement,
    IceAntiFaithful,
    IceBatchReport,
    IceBatchReportRequest,
    IceConfiguration,
    IceConfigurationResult,
    IceMeanDifference,
    IceOrthogonality,
    IceOverExamples,
    IcePlausibility,
    IcePValueHistogram,
    IceReadingCounts,
    IceResult,
    IceTest,
    Operator,
    Reading,
    Verdict,
)
from services.ice.variants import VARIANTS
from shared.contracts.batches import Plot
from shared.contracts.messages import Scored
from shared.contracts.reports import bin_edges
from shared.reports.charts.engine import BLUE, GREY, NOT_DRAWN, ORANGE
from shared.reports.charts.intervals import IntervalRow, interval_plot
from shared.reports.estimates import UNIT, BatchStatistics, as_interval
from shared.statistics import agreement
from shared.statistics.clusters import NO_SPREAD, clustered
from shared.statistics.comparison import mean_test, min_flip_p, normal_p, omnibus_z
from shared.statistics.families import benjamini_hochberg, holm, needed_at_least_p
from shared.statistics.ranks import BINS, bin_counts

ScoredIce = Scored[IceRequest, IceResult]
Statistics = BatchStatistics[IceBatchReportRequest]

UNIT_RANGE = (0.0, 1.0)
FEWEST_BINS = 5
FINE = 10  # p-values that can lie in a bin, from which one more or less is not seen
VERDICTS: tuple[Verdict, ...] = ("faithful", "inconclusive", "anti-faithful", "undecidable")


@dataclass(frozen=True)
class JobTest:
    """One test in one job, with the agreement between the tested tokens and people's marks."""

    job: int  # its place in the batch
    test: IceTest
    plausibility: IcePlausibility | None


Table = dict[IceConfiguration, list[JobTest]]


def by_configuration(scored: Sequence[ScoredIce]) -> Table:
    """Group the tests by configuration (model, explanation, budget and operator), in the order of
    first occurrence."""
    table: Table = defaultdict(list)
    for index, job in enumerate(scored):
        plausible = {
            (overlap.explanation, overlap.k): overlap
            for overlap in job.report.components.plausibility
        }
        for test in job.report.components.tests:
            agreement = plausible.get((test.explanation, test.k))
            configuration = IceConfiguration(
                model=job.report.provenance.models[0].name,
                variant=job.report.provenance.variant,
                explanation=test.explanation,
                k=test.k,
                operator=test.operator,
                aspect=test.aspect,
                rows=job.report.rows,
            )
            table[configuration].append(JobTest(index, test, agreement))
    return dict(table)


def index_by_job(tested: Sequence[JobTest]) -> dict[int, JobTest]:
    """Return the tests with a win rate, by the index of their job."""
    return {entry.job: entry for entry in tested if entry.test.win_rate is not None}


def name(configuration: IceConfiguration) -> str:
    """Return a configuration's name for plots."""
    k = "" if configuration.k is None else f" · k {configuration.k:g}"
    variant = {"robust": ""}.get(configuration.variant, f" · {configuration.variant}")
    aspect = "" if configuration.aspect == "sufficiency" else f" · {configuration.aspect}"
    rows = " · words" if configuration.rows == "words" else ""
    return (
        f"{configuration.explanation}{k} · {configuration.operator}{aspect} · "
        f"{configuration.model}{variant}{rows}"
    )


def summary_rows(
    table: Table, over: Statistics, levels: tuple[float, float]
) -> list[IceConfigurationResult]:
    """Return a summary of each configuration. `levels` holds the false discovery rates for
    configurations and for examples."""
    rows = [_summary(key, tested, over, levels[1]) for key, tested in table.items()]
    p_values = [row.p_value for row in rows if row.p_value is not None]
    adjust = holm if over.request.options.error == "family" else benjamini_hochberg
    adjusted = iter(adjust(p_values))
    return [
        row if row.p_value is None else _with_decision(row, next(adjusted), levels[0])
        for row in rows
    ]


def _with_decision(
    summary: IceConfigurationResult, q: float, alpha: float
) -> IceConfigurationResult:
    mean = summary.win_rate.value or 0.0
    verdict: BatchVerdict = "inconclusive"
    if q <= alpha:
        verdict = "faithful" if mean > WIN_RATE_OF_CHANCE else "anti-faithful"
    elif min_flip_p(summary.win_rate.clusters or 0) > alpha:
        verdict = "undecidable"
    return summary.model_copy(update={"q_value": q, "verdict": verdict})


def _summary(
    key: IceConfiguration,
    tested: Sequence[JobTest],
    over: Statistics,
    alpha: float,
) -> IceConfigurationResult:
    rated = [entry for entry in tested if entry.test.win_rate is not None]
    tests = [entry.test for entry in rated]
    rates, keys = _column(tests, "win_rate"), keys_of(rated, over)
    z, quantity = _z(key, tests), f"win rate {name(key)}"
    mean_result = mean_test(clustered(rates, keys), WIN_RATE_OF_CHANCE, over.request.seed, quantity)
    counted = Counter(test.verdict for test in tests)
    effects = [
        (entry.test.effect, cluster)
        for entry, cluster in zip(rated, keys, strict=True)
        if entry.test.effect is not None
    ]
    firsts = [row.report.components.tests[:1] for row in over.rows]
    return IceConfigurationResult(
        configuration=key,
        undefined=len(tested) - len(tests),
        win_rate=over.mean(quantity, rates, keys, UNIT),
        strict_win_rate=_mean(_column(tests, "strict_win_rate")),
        tie_rate=_mean(_column(tests, "tie_rate")),
        t=mean_result.t,
        p_t=mean_result.p_t,
        p_randomization=mean_result.p_randomization,
        p_value=mean_result.p_value,
        omnibus_z=z,
        omnibus_p=None if z is None else normal_p(z),
        q_value=None,
        verdict=None,
        effect=over.median(
            f"effect {name(key)}",
            np.array([effect for effect, _ in effects]),
            [cluster for _, cluster in effects],
        ),
        exact=sum(test.null.exact for test in tests),
        verdicts={verdict: counted[verdict] for verdict in VERDICTS},
        win_rates=over.histogram(rates, UNIT_RANGE),
        p_values=p_value_histogram(tests),
        over_examples=_over_examples(tests, alpha),
        # True if these are the first tests of all rows that have any.
        leads=len(tested) == sum(map(len, firsts))
        and all(entry.test is firsts[entry.job][0] for entry in tested),
    )


def p_value_histogram(tests: Sequence[IceTest]) -> IcePValueHistogram | None:
    """Return the histogram of the p-values, or None if there are none."""
    p_values = _column(tests, "p_value")
    if not p_values.size:
        return None
    bins = bins_for(sorted({test.null.draws for test in tests if test.null.draws}))
    counts = bin_counts(p_values, bin_edges(0.0, 1.0, bins), closed="right")
    return IcePValueHistogram(counts=counts, expected=p_values.size / bins)


def bins_for(draws: Sequence[int]) -> int:
    """Return a number of bins that spreads p-values of tests with M draws evenly. It is the largest
    number up to 20 that divides every 1 + M, or 20 if M is large enough."""
    steps = [count + 1 for count in draws] or [BINS]
    even = next(bins for bins in range(BINS, 0, -1) if all(count % bins == 0 for count in steps))
    return even if even >= FEWEST_BINS else BINS if min(steps) >= FINE * BINS else FEWEST_BINS


def keys_of(tested: Sequence[JobTest], over: Statistics) -> list[str]:
    """Return the group of each test, for confidence intervals. Tests of the same text are in one
    group."""
    return over.keys([over.rows[entry.job] for entry in tested])


def _z(key: IceConfiguration, tests: Sequence[IceTest]) -> float | None:
    """Return the omnibus z statistic, or None if draws can repeat or their number depends on the
    scores."""
    if not VARIANTS[key.variant].distinct:
        return None
    return omnibus_z(_column(tests, "win_rate"), [test.null.draws for test in tests])


def _column(tests: Sequence[IceTest], field: str) -> Floats:
    values = [getattr(test, field) for test in tests]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if values.size else None


def _over_examples(tests: Sequence[IceTest], alpha: float) -> IceOverExamples:
    p_values = [test.p_value for test in tests if test.p_value is not None]
    adjusted = benjamini_hochberg(p_values)
    draws = max((test.null.draws for test in tests), default=0)
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
    """Count how the tests of sufficiency and necessity are interpreted together, by model,
    explanation, budget and operator."""
    counts: dict[tuple[str, str, float | None, Operator], Counter[Reading]] = defaultdict(Counter)
    for job in scored:
        for reading in job.report.components.readings:  # none where no model was asked
            model = job.report.provenance.models[0].name
            counts[model, reading.explanation, reading.k, reading.operator][reading.reading] += 1
    return tuple(
        IceReadingCounts(
            model=model,
            explanation=explanation,
            k=k,
            operator=operator,
            examples=counted.total(),
            readings=dict(counted.most_common()),
        )
        for (model, explanation, k, operator), counted in counts.items()
    )


@dataclass(frozen=True)
class CorrelationTest:
    """The correlation of two columns, or None if a side is constant or n < 3. The two-sided
    p-values of r and rho use the means of each text, since values of one text are not independent.
    """

    spearman: float | None
    p_pearson: float | None
    p_spearman: float | None


def correlation(first: Floats, second: Floats, keys: Sequence[str]) -> CorrelationTest:
    """Correlate two (n,) arrays. `keys` names the text that each value belongs to."""
    p_pearson, p_spearman = None, None
    texts = sorted(set(keys))
    if len(texts) >= 3:
        codes = np.searchsorted(texts, list(keys))
        counts = np.bincount(codes)
        ours, others = (np.bincount(codes, weights=values) / counts for values in (first, second))
        if _has_variance(ours) and _has_variance(others):
            p_pearson = float(stats.pearsonr(ours, others).pvalue)
            p_spearman = float(stats.spearmanr(ours, others).pvalue)
    defined = first.size >= 3 and _has_variance(first) and _has_variance(second)
    ranks = map(stats.rankdata, (first, second))
    spearman = float(agreement.spearman(*ranks)) if defined else None
    return CorrelationTest(spearman, p_pearson, p_spearman)


def _has_variance(column: Floats) -> bool:
    return bool(np.ptp(column) > NO_SPREAD * np.max(np.abs(column)))


Correlated = TypeVar("Correlated", IceAgreement, IceOrthogonality)

MOST_LISTED = 1_000
MEASURES = ("iou", "f1", "auprc")
MOST_LINES = 40
TITLE = "Win rate against random rationales"
LEGEND = "blue: faithful; orange: worse than chance; grey: neither"
COLOURS = {
    "faithful": BLUE,
    "anti-faithful": ORANGE,
    "inconclusive": GREY,
    "undecidable": GREY,
    None: GREY,
}


def batch_report(scored: Sequence[ScoredIce], over: Statistics) -> IceBatchReport:
    """Return a report on how faithful the batch's explanations are, and which are more faithful."""
    request, common = over.request, over.envelope()
    table = by_configuration(scored)
    results = summary_rows(table, over, (request.options.alpha, request.options.example_alpha))
    warnings = _warnings(results, table, request)
    drawable = any(result.win_rate.of for result in results)
    picture = forest(results) if drawable else None
    if drawable and picture is None:
        warnings.append(NOT_DRAWN)
    return IceBatchReport(
        **common | {"warnings": tuple(dict.fromkeys((*common["warnings"], *warnings)))},
        plots=() if picture is None else (picture,),
        configurations=tuple(results),
        differences=tuple(differences(table, over)),
        operator_agreement=tuple(agreements(table, over)),
        readings=reading_counts(scored),
        orthogonality=tuple(orthogonality(table, over)),
        anti_faithful=_anti_faithful(scored, results),
    )


def _anti_faithful(
    scored: Sequence[ScoredIce], results: Sequence[IceConfigurationResult]
) -> IceAntiFaithful:
    tested = [job for job in scored if job.report.components.tests]
    firsts = [(job, job.report.components.tests[0]) for job in tested]
    bad = [job.custom_id or job.job_id for job, test in firsts if test.verdict == "anti-faithful"]
    return IceAntiFaithful(
        configurations=tuple(r.configuration for r in results if r.verdict == "anti-faithful"),
        examples=tuple(bad[:MOST_LISTED]),
        examples_in_all=len(bad),
    )


def _warnings(
    results: Sequence[IceConfigurationResult], table: Table, request: IceBatchReportRequest
) -> list[str]:
    warnings = []
    if not results:
        warnings.append("there are no results to report on")
    undefined = sum(result.undefined for result in results)
    if undefined:
        warnings.append(f"{undefined} tests have no win rate, and the means leave them out")
    if any(result.omnibus_z is None and result.win_rate.of for result in results):
        warnings.append(
            "omnibus z is not computed where the scores decided the number of draws, or where "
            "draws can repeat (variants paper and reference), because its chance distribution "
            "has another variance there"
        )
    warnings += sorted({_correction_warning(result, request) for result in results} - {""})
    if any(len({entry.job for entry in tested}) < len(tested) for tested in table.values()):
        warnings.append("a job has two tests of the same configuration")
    return warnings


def _correction_warning(result: IceConfigurationResult, request: IceBatchReportRequest) -> str:
    """Return the warning that the correction over examples is too coarse, or ""."""
    over, count = result.over_examples, result.win_rate.of
    if over.least_p is None or over.needed is None or over.needed < 2:
        return ""
    return (
        f"the correction over examples is coarse: with {count} examples and p at least "
        f"{over.least_p:.4f}, none is rejected at {request.options.example_alpha} before "
        f"{over.needed} reach that p, so no rejection does not mean no effect"
    )


def differences(table: Table, over: Statistics) -> Iterator[IceMeanDifference]:
    """Compare every two explanations of one model, budget and operator on the examples that they
    share. An explanation by spans has no budget and is compared at every budget. The p-values are
    adjusted by Holm over all comparisons."""
    pairs = [pair for pair in combinations(table, 2) if _two_explanations(*pair)]
    compared = [_difference(table, pair, over) for pair in pairs]
    p_values = [difference.p_value for difference in compared if difference.p_value is not None]
    adjusted = iter(holm(p_values))
    for difference in compared:
        p = None if difference.p_value is None else next(adjusted)
        yield difference.model_copy(update={"p_adjusted": p})


def _difference(
    table: Table,
    pair: tuple[IceConfiguration, IceConfiguration],
    over: Statistics,
) -> IceMeanDifference:
    first, second = pair
    ours, others = _common(table[first], table[second])
    gaps = _rates(ours) - _rates(others)
    keys = keys_of(ours, over)
    comparison = over.compare(f"{name(first)} - {name(second)}", gaps, keys, (-1.0, 1.0))
    return IceMeanDifference(
        first=first,
        second=second,
        difference=as_interval(comparison.difference),
        first_better=comparison.higher,
        second_better=comparison.lower,
        equal=comparison.equal,
        p_value=comparison.test.p_value,
        p_t=comparison.test.p_t,
        p_randomization=comparison.test.p_randomization,
        effect=comparison.effect,
    )


def _two_explanations(first: IceConfiguration, second: IceConfiguration) -> bool:
    if first.explanation == second.explanation:
        return False
    alike = second.model_copy(update={"explanation": first.explanation})
    if first.k is None or second.k is None:
        alike = alike.model_copy(update={"k": first.k})
    return alike == first


def agreements(table: Table, over: Statistics) -> Iterator[IceAgreement]:
    """Compare every two operators (ways to remove words) for one explanation and budget. The
    p-values are adjusted by Benjamini-Hochberg over all comparisons."""
    pairs = [pair for pair in combinations(table, 2) if _two_operators(*pair)]
    yield from _with_q([_agreement(table, pair, over) for pair in pairs])


def _two_operators(first: IceConfiguration, second: IceConfiguration) -> bool:
    if first == second or "mean" in (first.operator, second.operator):
        return False
    return first == second.model_copy(update={"operator": first.operator})


def _agreement(
    table: Table,
    pair: tuple[IceConfiguration, IceConfiguration],
    over: Statistics,
) -> IceAgreement:
    ours, others = _common(*(table[configuration] for configuration in pair))
    keys = keys_of(ours, over)
    together = correlation(_rates(ours), _rates(others), keys)
    tests = [(entry.test, other.test) for entry, other in zip(ours, others, strict=True)]
    return IceAgreement(
        first=pair[0],
        second=pair[1],
        examples=len(tests),
        spearman=together.spearman,
        p_value=together.p_spearman,
        same_side=_share([_side(a) == _side(b) for a, b in tests]),
        same_verdict=_share([a.verdict == b.verdict for a, b in tests]),
    )


def _with_q(correlated: Sequence[Correlated]) -> Iterator[Correlated]:
    """Return the rows with q-values, computed by Benjamini-Hochberg from their p-values."""
    p_values = [row.p_value for row in correlated if row.p_value is not None]
    adjusted = iter(benjamini_hochberg(p_values))
    for row in correlated:
        q = None if row.p_value is None else next(adjusted)
        yield row.model_copy(update={"q_value": q})


def orthogonality(table: Table, over: Statistics) -> Iterator[IceOrthogonality]:
    """Correlate the win rate with plausibility (agreement with people's marks), for each
    configuration and measure of plausibility."""
    yield from _with_q(list(_orthogonality(table, over)))


def _orthogonality(table: Table, over: Statistics) -> Iterator[IceOrthogonality]:
    for key, tested in table.items():
        for measure in MEASURES if key.aspect == "sufficiency" else ():
            measured = [
                entry
                for entry in tested
                if entry.plausibility is not None
                and getattr(entry.plausibility, measure) is not None
                and entry.test.win_rate is not None
            ]
            both = [
                (getattr(entry.plausibility, measure), entry.test.win_rate) for entry in measured
            ]
            columns = np.array(both, dtype=np.float64).reshape(-1, 2)
            values, rates = columns[:, 0], columns[:, 1]
            if not values.size:
                continue
            keys = keys_of(measured, over)
            quantity = f"{measure} {name(key)}"
            together = correlation(values, rates, keys)
            pairs = np.stack([values, rates], axis=1)
            yield IceOrthogonality(
                configuration=key,
                measure=measure,
                mean=over.mean(quantity, values, keys, UNIT),
                pearson=over.correlation(f"r {quantity}", pairs, keys),
                spearman=together.spearman,
                p_value=together.p_pearson,
            )


def _common(
    first: Sequence[JobTest], second: Sequence[JobTest]
) -> tuple[list[JobTest], list[JobTest]]:
    ours, others = index_by_job(first), index_by_job(second)
    jobs = [job for job in ours if job in others]
    return [ours[job] for job in jobs], [others[job] for job in jobs]


def _rates(tested: Sequence[JobTest]) -> Floats:
    return np.array([entry.test.win_rate for entry in tested], dtype=np.float64)


def _side(test: IceTest) -> float:
    return float(np.sign((test.win_rate or 0.0) - WIN_RATE_OF_CHANCE))


def _share(agree: Sequence[bool]) -> float | None:
    return float(np.mean(agree)) if agree else None


def forest(results: Sequence[IceConfigurationResult]) -> Plot | None:
    """Plot the mean win rate and interval of the first 40 configurations, with a line at 50 %."""
    drawable = [result for result in results if result.win_rate.value is not None]
    shown = drawable[:MOST_LINES]
    left_out = f" (the first {MOST_LINES} of {len(drawable)})" if len(shown) < len(drawable) else ""
    return interval_plot(
        [
            IntervalRow(
                f"{name(result.configuration)} (n = {result.win_rate.of})",
                result.win_rate,
                COLOURS[result.verdict],
            )
            for result in shown
        ],
        name="win-rates",
        titles=(TITLE, f"{TITLE}{left_out}\n{LEGEND}"),
        unit="mean win rate, %; 50 is chance",
        chance=WIN_RATE_OF_CHANCE,
        inches=(7.5, 1.3 + 0.32 * len(shown)),
    )
