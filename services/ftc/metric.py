"""FTC: turn the explanation into hypotheses, ask the model about them, compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from services.ftc import kernel
from services.ftc.batch_report import batch_report
from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.hypotheses import FtcHypotheses, read, target
from services.ftc.kernel import Floats
from services.ftc.model_calls import FtcCollected, measure, own_labels
from services.ftc.report import (
    LABELS,
    Counterfactual,
    Distribution,
    FtcBaselines,
    FtcBatchReport,
    FtcBatchReportRequest,
    FtcComponents,
    FtcNull,
    FtcReport,
    Satisfaction,
)
from services.ftc.variants import VARIANTS, FtcVariant
from shared.contracts import Scored
from shared.counting import histogram_of
from shared.job_context import checking
from shared.metric import Metric
from shared.statistics.intervals import BatchStatistics


class Ftc(Metric[FtcRequest, FtcCollected, FtcReport, FtcVariant]):
    """Does the model bear out the logic of the explanation?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[FtcRequest]) -> list[FtcCollected]:
        """One call a model, and one before it for requests that do not say the label."""
        return measure(requests, read(requests, own_labels(requests)))

    def report(self, request: FtcRequest, collected: FtcCollected) -> FtcReport:
        """Every counterfactual with its satisfaction and null, their mean, and the baselines."""
        row, reading = self.variant(request), collected.reading
        targets = _targets(request, reading)
        made = tuple(
            _counterfactual(request, collected, targets, place)
            for place in checking(range(len(targets)))
        )
        components = _components(_mean([one.satisfaction for one in made]))
        return FtcReport(
            **self.envelope(request, collected, _warnings(reading, row)),
            score=getattr(components, row.score),
            components=components,
            evidence=reading.evidence,
            control=_control(request, collected, targets) if made else None,
            label=reading.label,
            label_source="model" if request.label is None else "request",
            original=distribution(collected.original),
            abstained=reading.abstained,
            extraction=reading.extraction,
            counterfactuals=made,
        )

    def in_force(self, request: FtcRequest, collected: FtcCollected) -> Mapping[str, Any]:
        """How many phrases were drawn from: they are inputs themselves."""
        return {"substitutes": len(request.substitutes) or "the room's own"}

    def summarize(
        self,
        rows: Sequence[Scored[FtcRequest, FtcReport]],
        over: BatchStatistics[FtcBatchReportRequest],
    ) -> FtcBatchReport:
        """A row a label, beside baselines, nulls and the human ceiling."""
        return batch_report(rows, over)


def distribution(row: Floats) -> Distribution:
    """(3,) probabilities as a message."""
    return Distribution(**dict(zip(LABELS, row.tolist(), strict=True)))


def _targets(request: FtcRequest, reading: FtcHypotheses) -> Floats:
    """(N, 3): the logic's own, or the distributions that were sent."""
    rows = []
    for hypothesis in reading.hypotheses:
        sent = request.targets.get(hypothesis.kind)
        if sent is not None:
            row = np.array([sent.entailment, sent.neutral, sent.contradiction])
            rows.append(row / row.sum())
        else:
            rows.append(np.eye(3)[LABELS.index(target(reading.label, hypothesis.kind))])
    return np.array(rows).reshape(-1, 3)


def satisfaction(request: FtcRequest, answers: Floats, targets: Floats) -> Satisfaction:
    """Means over the rows, each (N, 3)."""
    k = float(np.mean(kernel.k(answers, targets, request.epsilon)))
    return Satisfaction(
        delta=float(np.mean(kernel.delta(answers, targets))),
        k=k,
        w=float(np.mean(kernel.w(answers, targets, request.alpha))),
        w_normalized=float(np.mean(kernel.w_normalized(answers, targets, request.alpha))),
        geometric_mean_p=kernel.geometric_mean_p(k),
    )


def _counterfactual(
    request: FtcRequest, collected: FtcCollected, targets: Floats, place: int
) -> Counterfactual:
    hypothesis = collected.reading.hypotheses[place]
    targets = targets[[place]]
    answers, blank = collected.answers[[place]], collected.blank[[place]]
    likeliest = np.flatnonzero(answers[0] >= answers[0].max() - kernel.TIE)
    return Counterfactual(
        kind=hypothesis.kind,
        text=hypothesis.text,
        target=distribution(targets[0]),
        answer=distribution(answers[0]),
        predicted=LABELS[int(likeliest[0])] if len(likeliest) == 1 else None,
        satisfaction=satisfaction(request, answers, targets),
        floored=bool(kernel.floored(answers, targets, request.epsilon)[0]),
        blank_premise=satisfaction(request, blank, targets),
        null=_null(request, answers, targets, collected.nulls[place]),
    )


def _null(request: FtcRequest, answers: Floats, targets: Floats, null: Floats) -> FtcNull | None:
    if not len(null):
        return None
    observed = float(kernel.w_normalized(answers, targets, request.alpha)[0])
    scores = _null_scores(request, null, targets[0])
    return FtcNull(
        draws=scores.size,
        observed=observed,
        mean=float(np.mean(scores)),
        sd=float(np.std(scores, ddof=1)) if scores.size > 1 else None,
        win_rate=kernel.win_rate(observed, scores),
        p_value=kernel.p_value(observed, scores),
        histogram=histogram_of(scores),
    )


def _null_scores(request: FtcRequest, null: Floats, target_row: Floats) -> Floats:
    return kernel.w_normalized(null, np.tile(target_row, (len(null), 1)), request.alpha)


def _mean(found: Sequence[Satisfaction]) -> Satisfaction | None:
    """Of [A] and [B] for neutral; the only one else."""
    if not found:
        return None
    k = float(np.mean([one.k for one in found]))
    return Satisfaction(
        delta=float(np.mean([one.delta for one in found])),
        k=k,
        w=float(np.mean([one.w for one in found])),
        w_normalized=float(np.mean([one.w_normalized for one in found])),
        geometric_mean_p=kernel.geometric_mean_p(k),
    )


def _components(mean: Satisfaction | None) -> FtcComponents:
    if mean is None:
        return FtcComponents(delta=None, k=None, w=None, w_normalized=None, geometric_mean_p=None)
    return FtcComponents(**mean.model_dump())


def _control(request: FtcRequest, collected: FtcCollected, targets: Floats) -> FtcBaselines:
    count = len(targets)
    observed = kernel.w_normalized(collected.answers, targets, request.alpha)
    nulls = [
        (float(seen), _null_scores(request, null, row))
        for seen, null, row in zip(observed, collected.nulls, targets, strict=True)
        if len(null)
    ]
    together = min((null.size for _, null in nulls), default=0)
    rates = [kernel.win_rate(*one) for one in nulls]
    return FtcBaselines(
        always_entailment=satisfaction(request, np.tile(np.eye(3)[0], (count, 1)), targets),
        uniform=satisfaction(request, np.full((count, 3), 1 / 3), targets),
        unedited=satisfaction(request, np.tile(collected.original, (count, 1)), targets),
        blank_premise=satisfaction(request, collected.blank, targets),
        null_win_rate=float(np.mean(rates)) if rates else None,
        null_p_value=kernel.p_value(
            float(np.mean([seen for seen, _ in nulls])),
            np.mean([null[:together] for _, null in nulls], axis=0),
        )
        if nulls
        else None,
    )


def _warnings(reading: FtcHypotheses, row: FtcVariant) -> Iterator[str]:
    yield from row.warnings
    if reading.abstained is not None:
        yield f"abstained: {reading.abstained}"
    yield from (f"no null for {one.kind}: {one.doubt}" for one in reading.hypotheses if one.doubt)
    if reading.label == "neutral" and len(reading.hypotheses) == 1:
        yield "the score rests on one of the two counterfactuals of a neutral label"


SERVICE = Ftc()
