"""ICE over many results: configurations, explanations, operators, and plausibility compared.

Source: arXiv:2603.18579, section 4 and Table 14.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np

from services.ice import batch_tables
from services.ice.batch_messages import (
    IceAgreement,
    IceAntiFaithful,
    IceBatchReport,
    IceBatchReportRequest,
    IceConfiguration,
    IceConfigurationResult,
    IceMeanDifference,
    IceOrthogonality,
)
from services.ice.batch_tables import (
    JobTest,
    ScoredIce,
    Table,
    by_configuration,
    index_by_job,
    name,
    same_but,
    summary_rows,
)
from services.ice.kernel import WIN_RATE_OF_CHANCE, Floats
from services.ice.report import IceTest
from shared.contracts.batches import Plot
from shared.reports.charts.engine import BLUE, GREY, NOT_DRAWN, ORANGE
from shared.reports.charts.intervals import IntervalRow, interval_plot
from shared.reports.estimates import UNIT, BatchStatistics, as_interval
from shared.statistics.families import benjamini_hochberg, holm

Correlated = TypeVar("Correlated", IceAgreement, IceOrthogonality)

MOST_LISTED = 1_000
MEASURES = ("iou", "f1", "auprc")
MOST_LINES = 40
TITLE = "Win rate against random rationales"
LEGEND = "blue: faithful, orange: worse than chance, grey: neither"
COLOURS = {
    "faithful": BLUE,
    "anti-faithful": ORANGE,
    "inconclusive": GREY,
    "undecidable": GREY,
    None: GREY,
}


def batch_report(
    scored: Sequence[ScoredIce], over: BatchStatistics[IceBatchReportRequest]
) -> IceBatchReport:
    """Is the explanation faithful over these examples, and which is more so?"""
    request, common = over.request, over.envelope()
    table = by_configuration(scored)
    results = summary_rows(table, over, (request.alpha, request.example_alpha))
    warnings = _warnings(results, table, request)
    drawable = any(one.win_rate.of for one in results)
    picture = forest(results) if drawable else None
    if drawable and picture is None:
        warnings.append(NOT_DRAWN)
    return IceBatchReport(
        **common | {"warnings": tuple(dict.fromkeys((*common["warnings"], *warnings)))},
        plots=() if picture is None else (picture,),
        configurations=tuple(results),
        differences=tuple(differences(table, over)),
        operator_agreement=tuple(agreements(table, over)),
        readings=batch_tables.reading_counts(scored),
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
    found = []
    if not results:
        found.append("there is no result to report on")
    undefined = sum(result.undefined for result in results)
    if undefined:
        found.append(f"{undefined} tests without a win rate are left out of the means")
    if any(result.omnibus_z is None and result.win_rate.of for result in results):
        found.append(
            "no omnibus z over examples where draws ended by what they showed, or could repeat "
            "(variants paper and reference): the null's variance is another there"
        )
    found += sorted({_correction_warning(result, request) for result in results} - {""})
    if any(len({one.job for one in tested}) < len(tested) for tested in table.values()):
        found.append("a job has two tests of one configuration")
    return found


def _correction_warning(result: IceConfigurationResult, request: IceBatchReportRequest) -> str:
    """The granularity limit of the correction over examples."""
    over, count = result.over_examples, result.win_rate.of
    if over.least_p is None or over.needed is None or over.needed < 2:
        return ""
    return (
        f"the correction over examples is coarse: with {count} examples and p at least "
        f"{over.least_p:.4f}, none is rejected at {request.example_alpha} before {over.needed} "
        "reach that p; that none is rejected is no evidence that there is no effect"
    )


def differences(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[IceMeanDifference]:
    """Of every two explanations of one model, budget and operator, on their common examples.

    A rationale of spans has no budget: it is compared with every one of them. Holm over all.
    """
    pairs = [pair for pair in combinations(table, 2) if _two_explanations(*pair)]
    found = [_difference(table, pair, over) for pair in pairs]
    known = [one.p_value for one in found if one.p_value is not None]
    adjusted = iter(holm(known))
    for one in found:
        p = None if one.p_value is None else next(adjusted)
        yield one.model_copy(update={"p_adjusted": p})


def _difference(
    table: Table,
    pair: tuple[IceConfiguration, IceConfiguration],
    over: BatchStatistics[IceBatchReportRequest],
) -> IceMeanDifference:
    first, second = pair
    ours, others = _common(table[first], table[second])
    gaps = _rates(ours) - _rates(others)
    keys = batch_tables.keys_of(ours, over)
    found = over.compare(f"{name(first)} - {name(second)}", gaps, keys, (-1.0, 1.0))
    return IceMeanDifference(
        first=first,
        second=second,
        difference=as_interval(found.difference),
        first_better=found.better,
        second_better=found.worse,
        equal=found.equal,
        p_value=found.test.p_value,
        p_t=found.test.p_t,
        p_randomization=found.test.p_randomization,
        effect=found.effect,
    )


def _two_explanations(first: IceConfiguration, second: IceConfiguration) -> bool:
    if first.explanation == second.explanation:
        return False
    alike = second.model_copy(update={"explanation": first.explanation})
    if first.k is None or second.k is None:
        alike = alike.model_copy(update={"k": first.k})
    return alike == first


def agreements(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[IceAgreement]:
    """Of every two operators on one explanation and budget; Benjamini-Hochberg over all."""
    pairs = [pair for pair in combinations(table, 2) if _two_operators(*pair)]
    yield from _with_q([_agreement(table, pair, over) for pair in pairs])


def _two_operators(first: IceConfiguration, second: IceConfiguration) -> bool:
    return same_but(first, second, "operator") and "mean" not in (first.operator, second.operator)


def _agreement(
    table: Table,
    pair: tuple[IceConfiguration, IceConfiguration],
    over: BatchStatistics[IceBatchReportRequest],
) -> IceAgreement:
    ours, others = _common(*(table[one] for one in pair))
    keys = batch_tables.keys_of(ours, over)
    together = batch_tables.correlation(_rates(ours), _rates(others), keys)
    tests = [(one.test, other.test) for one, other in zip(ours, others, strict=True)]
    return IceAgreement(
        first=pair[0],
        second=pair[1],
        examples=len(tests),
        spearman=together.spearman,
        p_value=together.p_spearman,
        same_side=_share([_side(a) == _side(b) for a, b in tests]),
        same_verdict=_share([a.verdict == b.verdict for a, b in tests]),
    )


def _with_q(found: Sequence[Correlated]) -> Iterator[Correlated]:
    """Benjamini-Hochberg over the table's p-values."""
    known = [one.p_value for one in found if one.p_value is not None]
    adjusted = iter(benjamini_hochberg(known))
    for one in found:
        q = None if one.p_value is None else next(adjusted)
        yield one.model_copy(update={"q_value": q})


def orthogonality(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[IceOrthogonality]:
    """Of each configuration whose examples have human spans, by measure."""
    yield from _with_q(list(_orthogonality(table, over)))


def _orthogonality(
    table: Table, over: BatchStatistics[IceBatchReportRequest]
) -> Iterator[IceOrthogonality]:
    for key, tested in table.items():
        for measure in MEASURES if key.aspect == "sufficiency" else ():
            known = _plausible(tested, measure)
            values, rates = _plausibility_and_win_rate(known, measure)
            if not values.size:
                continue
            keys = batch_tables.keys_of(known, over)
            quantity = f"{measure} {name(key)}"
            together = batch_tables.correlation(values, rates, keys)
            pairs = np.stack([values, rates], axis=1)
            yield IceOrthogonality(
                configuration=key,
                measure=measure,
                mean=over.mean(quantity, values, keys, UNIT),
                pearson=over.correlation(f"r {quantity}", pairs, keys),
                spearman=together.spearman,
                p_value=together.p_pearson,
            )


def _plausible(tested: Sequence[JobTest], measure: str) -> list[JobTest]:
    """The examples that have both a plausibility and a win rate."""
    return [
        one
        for one in tested
        if one.plausibility is not None
        and getattr(one.plausibility, measure) is not None
        and one.test.win_rate is not None
    ]


def _plausibility_and_win_rate(known: Sequence[JobTest], measure: str) -> tuple[Floats, Floats]:
    """((n,) plausibility, (n,) win rates)."""
    both = [(getattr(one.plausibility, measure), one.test.win_rate) for one in known]
    columns = np.array(both, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _common(
    first: Sequence[JobTest], second: Sequence[JobTest]
) -> tuple[list[JobTest], list[JobTest]]:
    """Tests of the jobs that both have."""
    ours, others = index_by_job(first), index_by_job(second)
    jobs = [job for job in ours if job in others]
    return [ours[job] for job in jobs], [others[job] for job in jobs]


def _rates(tested: Sequence[JobTest]) -> Floats:
    return np.array([one.test.win_rate for one in tested], dtype=np.float64)


def _side(test: IceTest) -> float:
    return float(np.sign((test.win_rate or 0.0) - WIN_RATE_OF_CHANCE))


def _share(agree: Sequence[bool]) -> float | None:
    return float(np.mean(agree)) if agree else None


def forest(results: Sequence[IceConfigurationResult]) -> Plot | None:
    """One line a configuration, the first 40: mean win rate, interval, and the line of 50 %."""
    known = [result for result in results if result.win_rate.value is not None]
    shown = known[:MOST_LINES]
    left_out = f" (the first {MOST_LINES} of {len(known)})" if len(shown) < len(known) else ""
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
