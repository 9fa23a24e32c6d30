"""Derives hypotheses from the explanation, lets a model classify them, and compares the answers
with the labels that the explanation implies (FTC)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from services.ftc.batch_report import Row, Statistics, batch_report
from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.hypotheses import FtcHypotheses, derive_hypotheses, targets_of
from services.ftc.model_calls import FtcCollected, explained_labels, model_languages, run_models
from services.ftc.report import (
    FtcBatchReport,
    FtcExtraction,
    FtcResult,
)
from services.ftc.scoring import (
    baselines,
    components_of,
    counterfactual,
    distribution,
)
from services.ftc.variants import VARIANTS, FtcVariant
from shared.queue.job_context import check_each
from shared.reports.metric import Collected, Metric
from shared.text.language import (
    LanguageCoverage,
    model_coverage,
    requested_language,
    rules_coverage,
)

RULED = ("en",)  # what the patterns and the grammar read


class Ftc(Metric[FtcRequest, FtcCollected, FtcResult, FtcVariant]):
    """Measures whether the model follows the logic of the explanation."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[FtcRequest]) -> list[FtcCollected]:
        return run_models(requests, derive_hypotheses(requests, explained_labels(requests)))

    def report(self, request: FtcRequest, collected: FtcCollected) -> FtcResult:
        """Return the report: the counterfactuals with scores and null distributions, their mean,
        and the baselines."""
        row, derived = self.variant(request), collected.derived
        targets = targets_of(request, derived)
        counterfactuals = tuple(
            counterfactual(request, collected, targets, index)
            for index in check_each(range(len(targets)))
        )
        components = components_of(counterfactuals)
        return FtcResult(
            **self.envelope(request, collected, _warnings(derived, row)),
            score=getattr(components, row.score),
            components=components,
            evidence=derived.evidence,
            control=baselines(request, collected, targets) if counterfactuals else None,
            decision=derived.label,
            decision_source="model" if request.sent_decision is None else "request",
            original=None if collected.original is None else distribution(collected.original),
            abstained=derived.abstained,
            extraction=derived.extraction,
            counterfactuals=counterfactuals,
        )

    def coverage(self, request: FtcRequest) -> LanguageCoverage:
        """Return the languages of the models, and those of the rules if rules build the
        counterfactuals."""
        pair, sent = f"{request.premise}\n{request.hypothesis}", requested_language(request)
        languages, unread = rules_coverage(pair, request.explanation_text, sent, RULED)
        ruled = request.counterfactuals is None and request.extractor == "rules"
        languages_of_models = tuple(model_languages(request))
        return model_coverage(request, languages, languages_of_models, unread if ruled else ())

    def undefined(self, request: FtcRequest, collected: Collected) -> FtcResult:
        sent = request.counterfactuals is not None
        extractor: Literal["rules", "llm", "supplied"] = "supplied" if sent else request.extractor
        return FtcResult(
            **self.envelope(request, collected),
            score=None,
            components=components_of(()),
            evidence=(),
            control=None,
            decision=request.sent_decision,
            decision_source="model" if request.sent_decision is None else "request",
            original=None,
            abstained=collected.obstacles[0].code,
            extraction=FtcExtraction(extractor=extractor, rule=None, transformation=None),
            counterfactuals=(),
        )

    def in_force(self, request: FtcRequest, collected: FtcCollected) -> Mapping[str, Any]:
        # the phrases themselves are inputs; how many there were is a parameter
        return {"substitutes": len(request.substitutes) or "the service's own"}

    def summarize(self, rows: Sequence[Row], over: Statistics) -> FtcBatchReport:
        return batch_report(rows, over)


def _warnings(derived: FtcHypotheses, row: FtcVariant) -> Iterator[str]:
    yield from row.warnings
    if derived.abstained is not None:
        yield f"abstained: {derived.abstained}"
    for hypothesis in derived.hypotheses:
        if hypothesis.random.doubt:
            yield f"no null for {hypothesis.kind}: {hypothesis.random.doubt}"
    if derived.label == "neutral" and len(derived.hypotheses) == 1:
        yield "the label is neutral, and the score is based on only one of its two counterfactuals"


SERVICE = Ftc()
