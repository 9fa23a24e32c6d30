"""What explanations earn beyond the best answer that has not seen them: the skill score.

Always-entailment earns .82 of W normalized where embedded-nli with human explanations earns .74, so
a mean of W alone says little. Skill = (S - B) / (1 - B): Murphy (1988), Monthly Weather Review 116.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.kernel import Floats
from services.ftc.report import (
    LABELS,
    FtcBatchReportRequest,
    FtcResult,
    FtcSkill,
    NliLabel,
    UnexplainedAnswer,
)
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import BatchStatistics
from shared.statistics.clusters import clustered
from shared.statistics.comparison import mean_test

Row = Scored[FtcRequest, FtcResult]
Over = BatchStatistics[FtcBatchReportRequest]
LEAST_ROOM = 0.05  # between the best such answer and 1; below it a ratio to it says nothing
DIFFERENCES = (-1.0, 1.0)
NO_ROOM = "{name} earns {score:.3f} without the explanation: there is no room above it"


def skills_of(rows: Sequence[Row], over: Over) -> Iterator[FtcSkill]:
    """Over the covered results: of the labels together, each label alike, then of each label."""
    covered = [row for row in rows if row.report.counterfactuals]
    by_label = {
        label: own
        for label in LABELS
        if (own := [row for row in covered if row.report.label == label])
    }
    if by_label:
        yield _skill("macro", list(by_label.values()), over)
    for label, own in by_label.items():
        yield _skill(label, [own], over)


def _skill(label: NliLabel | str, strata: Sequence[Sequence[Row]], over: Over) -> FtcSkill:
    """strata: the results of each label; their means are averaged."""
    earned = [np.array([row.report.components.w_normalized for row in own]) for own in strata]
    score = _macro(earned)
    found = [_baseline_scores(own) for own in strata]
    common = [name for name in found[0] if all(name in own for own in found)]
    best = max(common, key=lambda name: _macro([own[name] for own in found]))
    baseline = _macro([own[best] for own in found])
    gaps = [mine - own[best] for mine, own in zip(earned, found, strict=True)]
    keys = [over.keys(own) for own in strata]
    room = 1 - baseline
    return FtcSkill(
        label=label,
        skill=(score - baseline) / room if room >= LEAST_ROOM else None,
        score=score,
        baseline=best,
        baseline_score=baseline,
        difference=_difference(label, gaps, keys, over),
        p_value=_p_value(label, gaps, keys, over.request.seed),
        reason=None
        if room >= LEAST_ROOM
        else NO_ROOM.format(name=best.replace("_", " "), score=baseline),
    )


def _difference(
    label: str, gaps: Sequence[Floats], keys: Sequence[Sequence[str]], over: Over
) -> Interval:
    return over.macro(f"skill {label}", gaps, keys, bounds=DIFFERENCES)


def _p_value(
    label: str, gaps: Sequence[Floats], keys: Sequence[Sequence[str]], seed: int
) -> float | None:
    """Of sign flips of whole texts; rows weigh as their label's mean does."""
    count = sum(gap.size for gap in gaps)
    weighted = np.concatenate([gap * count / (len(gaps) * gap.size) for gap in gaps])
    together = [key for own in keys for key in own]
    return mean_test(clustered(weighted, together), 0.0, seed, f"skill {label}").p_randomization


def _macro(groups: Sequence[Floats]) -> float:
    return float(np.mean([group.mean() for group in groups]))


def _baseline_scores(rows: Sequence[Row]) -> dict[UnexplainedAnswer, Floats]:
    """(N,) W normalized of every answer that has not seen the explanation, on the same targets;
    those alone that all results have."""
    answers: dict[UnexplainedAnswer, Floats] = {
        "always_entailment": np.eye(3)[0],
        "always_neutral": np.eye(3)[1],
        "always_contradiction": np.eye(3)[2],
        "uniform": np.full(3, 1 / 3),
    }
    found = {name: np.array([_constant(row, a) for row in rows]) for name, a in answers.items()}
    for name in ("unedited", "blank_premise"):
        sides = [getattr(row.report.control, name, None) for row in rows]
        if all(side is not None for side in sides):
            found[name] = np.array([side.w_normalized for side in sides if side is not None])
    return found


def _constant(row: Row, answer: Floats) -> float:
    """Of one answer to all counterfactuals of a result."""
    targets = np.array(
        [[getattr(made.target, label) for label in LABELS] for made in row.report.counterfactuals]
    )
    answers = np.tile(answer, (len(targets), 1))
    return float(np.mean(kernel.w_normalized(answers, targets, row.request.alpha)))
