"""Tests of many reports, brought together by configuration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from services.ice.batch_messages import Configuration
from services.ice.contract import IceRequest
from services.ice.report import IceReport, Plausibility, Test
from shared.contracts import Scored

ScoredIce = Scored[IceRequest, IceReport]


@dataclass(frozen=True)
class Tested:
    """One test of one job, and how plausible its rationale is to people."""

    job: int  # its place in the batch
    test: Test
    plausibility: Plausibility | None


Table = dict[Configuration, list[Tested]]


def by_configuration(scored: Sequence[ScoredIce]) -> Table:
    """In the order in which configurations first occur."""
    table: Table = defaultdict(list)
    for place, job in enumerate(scored):
        plausible = {(one.explanation, one.k): one for one in job.report.components.plausibility}
        for test in job.report.components.tests:
            found = plausible.get((test.explanation, test.k))
            table[_configuration(job, test)].append(Tested(place, test, found))
    return dict(table)


def _configuration(job: ScoredIce, test: Test) -> Configuration:
    return Configuration(
        model=job.report.provenance.models[0].name,
        variant=job.report.provenance.variant,
        explanation=test.explanation,
        k=test.k,
        operator=test.operator,
    )


def defined(tested: Sequence[Tested]) -> dict[int, Tested]:
    """Those with a win rate, by job."""
    return {one.job: one for one in tested if one.test.win_rate is not None}


def same_but(first: Configuration, second: Configuration, field: str) -> bool:
    """Whether two configurations differ in this field only."""
    return first != second and first == second.model_copy(update={field: getattr(first, field)})


def name(configuration: Configuration) -> str:
    """For a line of a plot."""
    k = "" if configuration.k is None else f" · k {configuration.k:g}"
    variant = "" if configuration.variant == "robust" else f" · {configuration.variant}"
    return (
        f"{configuration.explanation}{k} · {configuration.operator} · "
        f"{configuration.model}{variant}"
    )
