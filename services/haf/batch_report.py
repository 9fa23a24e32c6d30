"""Summarises many HAF results in the paper's tables, by model and data set. Confidence intervals
resample results, so values of single reasons are first averaged within their result. Source:
Mothilal et al., arXiv:2506.19113, Tables 1 to 5 and Figure 3."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypedDict, get_args

from services.haf import kernel
from services.haf.contract import HafRequest
from services.haf.report import (
    UNNAMED,
    HafBatchReport,
    HafBatchReportRequest,
    HafGroup,
    HafIndividual,
    HafMeans,
    HafResult,
    HafShares,
    HafStageCounts,
    HafStagePart,
    HafStanceScores,
    Stage,
    Stance,
)
from shared.contracts.batches import Plot
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.charts.engine import NOT_DRAWN
from shared.reports.charts.intervals import IntervalRow, interval_panels
from shared.reports.estimates import UNIT, BatchStatistics

Row = Scored[HafRequest, HafResult]
Statistics = BatchStatistics[HafBatchReportRequest]
Origin = tuple[str, str]  # model, data set

MIXED = "the results were scored with different variants and are not comparable"
FEW = "groups with fewer than two results have no interval"


def batch_report(scored: Sequence[Row], over: Statistics) -> HafBatchReport:
    """Return the report over these results. Their order only changes rounding."""
    common = over.envelope()
    by_origin: dict[Origin, list[Row]] = defaultdict(list)
    for row in scored:
        by_origin[origin(row, over.request)].append(row)
    compared = scored if len(by_origin) <= MOST_GROUPS else ()  # of more, each would read all rows
    groups = tuple(
        _Group(group_origin, rows, over).tables(
            _selection_of(group_origin, rows, compared, over.request)
        )
        for group_origin, rows in sorted(by_origin.items())
    )
    variants = tuple(sorted({row.report.provenance.variant for row in scored}))
    picture = means_chart(groups) if groups else None
    missing = (NOT_DRAWN,) if groups and picture is None else ()
    common["warnings"] = (*common["warnings"], *_warnings(groups, variants), *missing)
    return HafBatchReport(
        **common,
        plots=() if picture is None else (picture,),
        groups=groups,
        variants=variants,
    )


def origin(row: Row, request: HafBatchReportRequest) -> Origin:
    metadata = row.request.metadata
    model = row.request.model or metadata.get(request.options.model_key, UNNAMED)
    return model, metadata.get(request.options.dataset_key, UNNAMED)


class ResultPart(TypedDict, total=False):
    """Filters of a report request that select some of the results."""

    of_model: str | None
    of_metadata: dict[str, str]


def _selection_of(
    group_origin: Origin,
    members: Sequence[Row],
    scored: Sequence[Row],
    request: HafBatchReportRequest,
) -> ResultPart:
    """Return the filters by model and metadata that select exactly the results of one group (model
    and data set). Return {} if no filters do."""
    models = {row.request.model for row in members}
    keys = (request.options.model_key if models == {None} else None, request.options.dataset_key)
    metadata = {
        key: name for key, name in zip(keys, group_origin, strict=True) if key and name != UNNAMED
    }
    model = group_origin[0] if models == {group_origin[0]} else None

    def fits(row: Row) -> bool:
        held = row.request.metadata
        return (model is None or row.request.model == model) and metadata.items() <= held.items()

    if not (model or metadata) or sum(map(fits, scored)) != len(members):
        return {}
    return {"of_model": model, "of_metadata": metadata}


def _warnings(groups: Sequence[HafGroup], variants: Sequence[str]) -> Iterable[str]:
    if len(variants) > 1:
        yield MIXED
    if any(group.results < 2 for group in groups):
        yield FEW


@dataclass(frozen=True)
class _Group:
    """The results of one origin, a model and a data set."""

    origin: Origin
    rows: list[Row]
    over: Statistics

    def tables(self, selection: ResultPart) -> HafGroup:
        return HafGroup(
            model=self.origin[0],
            dataset=self.origin[1],
            **selection,
            results=len(self.rows),
            score=self._mean("score", lambda report: report.score),
            means=self._means(self.rows),
            individual=HafIndividual(
                rs_decision=self._within("decision", "sufficiency", weighted_confidence),
                rs_informativeness=self._within("new", "sufficiency", lambda p: p.informativeness),
                rn_decision=self._within("decision", "necessity", weighted_confidence),
                rn_informativeness=self._within("new", "necessity", lambda p: p.informativeness),
            ),
            sufficient=self._shares(
                "sufficient",
                lambda part: part.decision is not None and part.decision.answer == "sufficient",
            ),
            irrelevant=self._shares("irrelevant", lambda part: part.irrelevant),
            refused=self.over.share(
                [
                    None if row.report.stance is None else float(row.report.refusal)
                    for row in self.rows
                ],
                self.over.keys(self.rows),
            ),
            by_stance=tuple(self._by_stance()),
            stages={stage: stage_counts(self.rows, stage) for stage in get_args(Stage)},
        )

    def _interval(
        self, name: str, rows: Sequence[Row], value: Callable[[HafResult], float | None]
    ) -> Interval:
        values = [value(row.report) for row in rows]
        return self.over.mean("/".join((*self.origin, name)), values, self.over.keys(rows), UNIT)

    def _mean(self, name: str, value: Callable[[HafResult], float | None]) -> Interval:
        return self._interval(name, self.rows, value)

    def _means(self, rows: Sequence[Row]) -> HafMeans:
        return HafMeans(
            **{
                name: self._interval(name, rows, attrgetter(f"components.{name}"))
                for name in HafMeans.model_fields
            }
        )

    def _within(
        self, name: str, stage: Stage, value: Callable[[HafStagePart], float | None]
    ) -> Interval:
        """Average over the responses of a stage within each result, then over results."""
        return self._mean(f"{name} {stage}", lambda report: within_result(report, stage, value))

    def _shares(self, name: str, holds: Callable[[HafStagePart], bool]) -> HafShares:
        stages: tuple[Stage, ...] = ("internal", "external", "sufficiency", "necessity")
        return HafShares(
            **{
                stage: self._within(name, stage, lambda part: float(holds(part)))
                for stage in stages
            }
        )

    def _by_stance(self) -> Iterable[HafStanceScores]:
        for stance in get_args(Stance):
            rows = [row for row in self.rows if row.report.stance == stance]
            if rows:
                yield HafStanceScores(
                    stance=stance,
                    results=len(rows),
                    score=self._interval("score", rows, lambda report: report.score),
                    means=self._means(rows),
                )


def stage_counts(rows: Sequence[Row], stage: Stage) -> HafStageCounts:
    """Count the results that reach a stage of the conversation, that refuse it, and that have its
    metric."""
    reached = [
        (row, parts)
        for row in rows
        if (parts := [part for part in row.report.stages if part.stage == stage])
    ]
    return HafStageCounts(
        reached=len(reached),
        refused=sum(all(part.refusal for part in parts) for _, parts in reached),
        scored=sum(
            getattr(row.report.components, PART_OF[stage]) is not None for row, _ in reached
        ),
    )


def within_result(
    report: HafResult, stage: Stage, value: Callable[[HafStagePart], float | None]
) -> float | None:
    """Return the mean over the responses of a stage, or None if no response has a value."""
    return kernel.mean([value(part) for part in report.stages if part.stage == stage])


def weighted_confidence(part: HafStagePart) -> float | None:
    """Return the decision's confidence times its weight (w C(Y) in the HAF paper)."""
    if part.weight is None or part.decision is None or part.decision.confidence is None:
        return None
    return part.weight * part.decision.confidence


PART_OF: dict[Stage, str] = {
    "justify": "sos",
    "internal": "uii",
    "external": "uei",
    "sufficiency": "rs",
    "necessity": "rn",
}
PANELS = {
    "sos": "SoS (higher is better)",
    "dis": "DiS (higher is better)",
    "uii": "UII (lower is better)",
    "uei": "UEI (lower is better)",
    "rs": "RS (higher is better)",
    "rn": "RN (higher is better)",
}
COLUMNS = 3
LONGEST_NAME = 40
MOST_GROUPS = 40  # more would not be readable


def means_chart(groups: Sequence[HafGroup]) -> Plot | None:
    """Plot the first 40 groups: the mean as a dot, its interval, and its sample size."""
    shown = groups[:MOST_GROUPS]
    panels = [
        (PANELS[name], [_row(group, getattr(group.means, name)) for group in shown])
        for name in HafMeans.model_fields
    ]
    return interval_panels(
        panels,
        columns=COLUMNS,
        name="means",
        title="HAF by model and data set: means with intervals",
        inches=(12, 2.6 + 0.5 * len(shown)),
    )


def _row(group: HafGroup, mean: Interval) -> IntervalRow:
    names = [name for name in (group.model, group.dataset) if name != UNNAMED]
    name = " · ".join(names) or "all results"
    short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return IntervalRow(short, mean, note=f"n={mean.of}")
