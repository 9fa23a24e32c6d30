"""ICE over many results: the story. Bring tests together by configuration, summarize, compare."""

from __future__ import annotations

from collections.abc import Sequence

from services.ice.agreeing import agreements, differences, orthogonality
from services.ice.batch_messages import (
    AntiFaithful,
    ConfigurationResult,
    IceBatchReport,
    IceBatchReportRequest,
)
from services.ice.forest import forest
from services.ice.results import ScoredIce, Table, by_configuration
from services.ice.summarizing import summaries
from shared.statistics.intervals import BatchStatistics

MOST_LISTED = 1_000


def batch_report(
    scored: Sequence[ScoredIce], over: BatchStatistics[IceBatchReportRequest]
) -> IceBatchReport:
    """Is the explanation faithful over these examples, and which is more so?"""
    request = over.request
    table = by_configuration(scored)
    results = summaries(table, over, (request.alpha, request.example_alpha))
    return IceBatchReport(
        **over.envelope() | {"warnings": tuple(_warnings(results, table, request))},
        plots=(forest(results),) if any(one.win_rate.of for one in results) else (),
        configurations=tuple(results),
        differences=tuple(differences(table, over)),
        operator_agreement=tuple(agreements(table)),
        orthogonality=tuple(orthogonality(table, over)),
        anti_faithful=_anti_faithful(scored, results),
    )


def _anti_faithful(
    scored: Sequence[ScoredIce], results: Sequence[ConfigurationResult]
) -> AntiFaithful:
    firsts = [(job, job.report.components.tests[0]) for job in scored]
    bad = [job.custom_id or job.job_id for job, test in firsts if test.verdict == "anti-faithful"]
    return AntiFaithful(
        configurations=tuple(r.configuration for r in results if r.verdict == "anti-faithful"),
        examples=tuple(bad[:MOST_LISTED]),
        examples_in_all=len(bad),
    )


def _warnings(
    results: Sequence[ConfigurationResult], table: Table, request: IceBatchReportRequest
) -> list[str]:
    found = []
    if not results:
        found.append("there is no result to report on")
    undefined = sum(result.undefined for result in results)
    if undefined:
        found.append(f"{undefined} tests without a win rate are left out of the means")
    if any(result.z is None and result.win_rate.of for result in results):
        found.append(
            "no z-test over examples where draws were adaptive, or could repeat (variants paper "
            "and reference): the null's variance is another there"
        )
    found += sorted({_coarse(result, request) for result in results} - {""})
    if any(len({one.job for one in tested}) < len(tested) for tested in table.values()):
        found.append("a job has two tests of one configuration")
    return found


def _coarse(result: ConfigurationResult, request: IceBatchReportRequest) -> str:
    """The granularity limit of the correction over examples."""
    over, count = result.over_examples, result.win_rate.of
    if over.least_p is None or over.needed is None or over.needed < 2:
        return ""
    return (
        f"correction over examples is coarse: with {count} examples and p at least "
        f"{over.least_p:.4f}, none is rejected at {request.example_alpha} before {over.needed} "
        "reach that p; 0 rejected is no evidence of no effect"
    )
