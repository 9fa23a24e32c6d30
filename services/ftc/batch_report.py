"""FTC over many explanations: a row a label, beside baselines, nulls and the human ceiling.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 3. A pure function of results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from services.ftc import kernel
from services.ftc.batch_scores import (
    BOUNDS,
    STATISTICS,
    against_random,
    components,
    las_of,
    lra_of,
    scores_of,
    sensitivity_of,
    simulatability_of,
)
from services.ftc.contract import FtcRequest
from services.ftc.report import (
    HUMAN_CEILING,
    LABELS,
    Case,
    FtcBaselineScores,
    FtcBatchReport,
    FtcBatchReportRequest,
    FtcCaseScores,
    FtcCounterfactual,
    FtcResult,
    FtcSatisfaction,
    FtcScores,
)
from services.ftc.scoring import satisfaction
from services.ftc.skill import skills_of
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics

Row = Scored[FtcRequest, FtcResult]

ORIGINAL: tuple[Case, ...] = ("contradiction", "entailment", "neutral")
BEFORE = ("always_entailment", "uniform", "unedited", "blank_premise")
SIGNIFICANT = 0.05


def batch_report(
    rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]
) -> FtcBatchReport:
    """Do models bear out these explanations, and do others do so without them?"""
    reports = [row.report for row in rows]
    covered = [report for report in reports if report.counterfactuals]
    explained = [row for row in rows if row.report.counterfactuals]
    controlled = [row for row in explained if row.report.control]
    controls = [row.report.control for row in controlled if row.report.control]
    keys = over.keys(controlled)
    significant = [_significant(row.report) for row in controlled]
    common = over.envelope()
    return FtcBatchReport(
        **common | {"warnings": tuple(dict.fromkeys((*common["warnings"], *_warnings(rows))))},
        skill=tuple(skills_of(rows, over)),
        gain=_gain(explained, over),
        coverage=over.share([float(bool(r.counterfactuals)) for r in reports], over.keys()),
        cases=tuple(_cases(rows, over)),
        macro=_macro(explained, over),
        micro=scores_of("micro", components(covered), over.keys(explained), over),
        baselines=tuple(_baselines(rows)),
        null_win_rate=over.mean("null", [c.null_win_rate for c in controls], keys, UNIT),
        against_random=against_random(explained, over),
        null_significant=over.share(significant, keys),
        rules=_count(report.extraction.rule for report in covered),
        transformations=_count(report.extraction.transformation for report in covered),
        abstentions=_count(report.abstained for report in reports),
        las=las_of(rows, over),
        lra=lra_of(rows, over),
        simulatability=simulatability_of(rows),
        sensitivity=sensitivity_of(rows, over),
    )


def _significant(report: FtcResult) -> float | None:
    """None where p could not have reached the level: so few phrases can stand there."""
    control = report.control
    if control is None or control.null_p_value is None:
        return None
    fewest = min((made.null.draws for made in report.counterfactuals if made.null), default=0)
    least = control.null_attainable_p or 1 / (fewest + 1)
    return float(control.null_p_value <= SIGNIFICANT) if least <= SIGNIFICANT else None


def _gain(explained: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> Interval:
    """Each label alike."""
    known = [row for row in explained if row.report.components.gain is not None]
    strata = [[row for row in known if row.report.label == label] for label in ORIGINAL]
    groups = [np.array([row.report.components.gain for row in own], np.float64) for own in strata]
    return over.macro("gain", groups, [over.keys(own) for own in strata], bounds=(-1.0, 1.0))


def _warnings(rows: Sequence[Row]) -> tuple[str, ...]:
    found = [
        f"results of different {what} are averaged"
        for what in ("alpha", "epsilon")
        if len({getattr(row.request, what) for row in rows}) > 1
    ]
    if not any(row.report.counterfactuals for row in rows):
        found.append("no result has a score")
    return tuple(found)


def _count(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(name for name in names if name is not None).most_common())


def _cases(
    rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]
) -> Iterable[FtcCaseScores]:
    for case in (*ORIGINAL, "neutral a", "neutral b"):
        of_label = [row for row in rows if row.report.label == case.split()[0]]
        keys = over.keys(of_label)
        found = [
            (satisfied, key)
            for row, key in zip(of_label, keys, strict=True)
            for satisfied in case_scores(row.report, case)
        ]
        own = [key for _, key in found]
        yield FtcCaseScores(
            case=case,
            coverage=over.share([float(bool(case_scores(r.report, case))) for r in of_label], keys),
            scores=scores_of(case, [satisfied for satisfied, _ in found], own, over),
            human_ceiling=HUMAN_CEILING.get(case),
            null_win_rate=over.mean(
                f"null {case}", [_win_rate(r.report, case) for r in of_label], keys, UNIT
            ),
        )


def case_scores(report: FtcResult, case: Case) -> list[FtcSatisfaction]:
    """A result's scores in this row of the table: none or one."""
    if " " in case:
        return [made.satisfaction for made in _of_kind(report, case)]
    return components([report]) if report.counterfactuals else []


def _of_kind(report: FtcResult, case: Case) -> list[FtcCounterfactual]:
    return [made for made in report.counterfactuals if made.kind == case[-1]]


def _win_rate(report: FtcResult, case: Case) -> float | None:
    if " " in case:
        nulls = [made.null for made in _of_kind(report, case)]
        return nulls[0].win_rate if nulls and nulls[0] else None
    return report.control.null_win_rate if report.control else None


def _macro(covered: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> FtcScores:
    by_label = [[row for row in covered if row.report.label == label] for label in ORIGINAL]
    keys = [over.keys(own) for own in by_label]
    groups = [components(row.report for row in own) for own in by_label]
    found = {
        name: over.macro(
            f"macro {name}",
            [np.array([getattr(s, name) for s in group]) for group in groups],
            keys,
            bounds=BOUNDS[name],
        )
        for name in STATISTICS
    }
    mean_k = found["k"].value
    p = None if mean_k is None else kernel.geometric_mean_p(mean_k)
    return FtcScores(**found, geometric_mean_p=p)


def _baselines(rows: Sequence[Row]) -> Iterable[FtcBaselineScores]:
    """Means over the covered results; `majority` is the batch's most frequent target."""
    covered = [row for row in rows if row.report.control is not None]
    if not covered:
        return
    for name in BEFORE:
        found = [getattr(row.report.control, name) for row in covered]
        yield _baseline(name, [one for one in found if one is not None])
    yield _baseline("majority", _majority(covered))


def _baseline(name: Any, found: Sequence[FtcSatisfaction]) -> FtcBaselineScores:
    means = {part: float(np.mean([getattr(one, part) for one in found])) for part in STATISTICS}
    return FtcBaselineScores(name=name, **means)


def _majority(covered: Sequence[Row]) -> list[FtcSatisfaction]:
    targets = [
        np.array([[getattr(made.target, label) for label in LABELS] for made in r.counterfactuals])
        for r in (row.report for row in covered)
    ]
    most = int(np.concatenate(targets).sum(axis=0).argmax())
    return [
        satisfaction(row.request, np.tile(np.eye(3)[most], (len(own), 1)), own)
        for row, own in zip(covered, targets, strict=True)
    ]
