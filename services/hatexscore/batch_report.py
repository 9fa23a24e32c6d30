"""HateXScore over many posts: the mean of each part with its interval, and the label conflicts.

A pure function of results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.report import (
    MOST_NAMED,
    HatexscoreBatchReport,
    HatexscoreComponents,
    HatexscoreReport,
    LabelConflicts,
)
from shared.contracts import BatchReportRequest, Scored
from shared.estimates import UNIT, BatchStatistics

Row = Scored[HatexscoreRequest, HatexscoreReport]


def batch_report(
    rows: Sequence[Row], over: BatchStatistics[BatchReportRequest]
) -> HatexscoreBatchReport:
    """How good are these explanations, and where do they contradict the decision they explain?"""
    controls = [row.report.control for row in rows]
    return HatexscoreBatchReport(
        **over.envelope(),
        components={
            part: over.mean(
                part, [getattr(row.report.components, part) for row in rows], bounds=UNIT
            )
            for part in HatexscoreComponents.model_fields
        },
        share_beaten=over.mean(
            "share_beaten",
            (control.share_beaten if control else None for control in controls),
            bounds=UNIT,
        ),
        labels=label_conflicts(rows),
        groups=dict(sorted(Counter(g for row in rows for g in row.report.groups).items())),
        languages=dict(sorted(Counter(row.report.language for row in rows).items())),
    )


def label_conflicts(rows: Sequence[Row]) -> LabelConflicts:
    """Sent labels against stated ones."""
    matches = Counter(row.report.label_match for row in rows)
    return LabelConflicts(
        compared=matches[True] + matches[False],
        conflicting=matches[False],
        no_conclusion=sum(row.report.stated_label is None for row in rows),
        conflicts=tuple(
            row.custom_id or row.job_id for row in rows if row.report.label_match is False
        )[:MOST_NAMED],
    )
