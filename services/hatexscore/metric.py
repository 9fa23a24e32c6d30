"""HateXScore: read the explanation, ask the model about what it quotes, weigh the four parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from services.hatexscore import kernel
from services.hatexscore.batch_report import batch_report
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.model_calls import NO_CONTROL, HatexscoreCollected, ask_classifiers
from services.hatexscore.report import (
    Conclusion,
    HallucinatedQuote,
    HatexscoreBatchReport,
    HatexscoreComponents,
    HatexscoreReport,
    RandomSpans,
    VariantOutcome,
)
from services.hatexscore.variants import VARIANTS, HatexscoreVariant
from shared.contracts import BatchReportRequest, Scored, Variant
from shared.metric import Metric
from shared.statistics.intervals import BatchStatistics

SENT_FOR_ANOTHER = (
    "the probability sent for the masked text was taken, though this variant masks other words"
)


class HateXScore(
    Metric[HatexscoreRequest, HatexscoreCollected, HatexscoreReport, HatexscoreVariant]
):
    """Does an explanation conclude, quote faithfully, name the target, and cohere?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[HatexscoreRequest]) -> list[HatexscoreCollected]:
        """What every explanation says, and the probabilities of what it quotes: a call a model."""
        return ask_classifiers(
            requests, [self.variant(request).read(request) for request in requests]
        )

    def report(
        self, request: HatexscoreRequest, collected: HatexscoreCollected
    ) -> HatexscoreReport:
        """The four parts, what they rest on, and the control."""
        reading, components = collected.reading, _components(collected)
        sent, stated = request.predicted_label, reading.stated_label
        return HatexscoreReport(
            **self.envelope(request, collected),
            score=_score(request, components),
            components=components,
            evidence=(*reading.quoting.evidence, *reading.groups),
            hallucinated_quotes=tuple(
                HallucinatedQuote(start=quotation.start, end=quotation.end, text=quotation.text)
                for quotation in reading.quoting.hallucinated
            ),
            masked_text=reading.quoting.masked,
            probability_original=collected.original,
            probability_masked=collected.masked,
            predicted_label=reading.label,
            stated_label=stated,
            label_match=sent == stated if sent and stated else None,
            conclusion=_conclusion(request, reading),
            language=reading.languages.text,
            explanation_language=reading.languages.explanation,
            groups=tuple(sorted({mention.group for mention in reading.groups if mention.counts})),
            control=_control(collected),
        )

    def in_force(
        self, request: HatexscoreRequest, collected: HatexscoreCollected
    ) -> Mapping[str, Any]:
        """The variant's own tau and rule, not only what was sent."""
        return {"tau": collected.reading.tau, "consistency_rule": collected.reading.rule}

    def summarize(
        self,
        rows: Sequence[Scored[HatexscoreRequest, HatexscoreReport]],
        over: BatchStatistics[BatchReportRequest],
    ) -> HatexscoreBatchReport:
        """Means of the four parts, and label conflicts."""
        return batch_report(rows, over)

    def expand(self, request: HatexscoreRequest) -> tuple[HatexscoreRequest, ...]:
        """The request and, where it asks for them, the same of the other variants, without draws:
        read and asked about along with it."""
        if not request.other_variants:
            return (request,)
        others = [variant for variant in get_args(Variant) if variant != request.variant]
        return (
            request,
            *(request.model_copy(update={"variant": name, "control_draws": 0}) for name in others),
        )

    def join(
        self, request: HatexscoreRequest, reports: Sequence[HatexscoreReport]
    ) -> HatexscoreReport:
        """The report of the request's own variant, with what the others say."""
        own, *others = reports
        if not others:
            return own
        # Where this variant quotes nothing, another may have asked the model all the same.
        used = dict.fromkeys(use for report in reports for use in report.provenance.models)
        return own.model_copy(
            update={
                "other_variants": tuple(_outcome(request, own, other) for other in others),
                "provenance": own.provenance.model_copy(update={"models": tuple(used)}),
            }
        )


def _components(collected: HatexscoreCollected) -> HatexscoreComponents:
    reading = collected.reading
    qf = _faithfulness(collected)
    return HatexscoreComponents(
        htc=reading.htc,
        qf=qf,
        tgi=reading.tgi,
        cc=kernel.consistency(reading.rule, reading.label, qf, reading.tgi, reading.tau),
    )


def _faithfulness(collected: HatexscoreCollected) -> float | None:
    """Eq. 3; None where a probability is missing or the label unknown."""
    reading = collected.reading
    if not reading.quoting.counts:
        return 0.0
    if reading.label is None or collected.original is None or collected.masked is None:
        return None
    quoted_drop = kernel.drop(collected.original, collected.masked)
    return kernel.quotation_faithfulness(reading.label, quoted_drop)


def _score(request: HatexscoreRequest, components: HatexscoreComponents) -> float | None:
    weights = request.weights
    return kernel.weighted_mean(
        (components.htc, components.qf, components.tgi, components.cc),
        (weights.htc, weights.qf, weights.tgi, weights.cc),
    )


def _conclusion(request: HatexscoreRequest, reading: ParsedExplanation) -> Conclusion | None:
    statement = reading.statement
    if statement is None:
        return None
    text = request.explanation[statement.start : statement.end]
    return Conclusion(start=statement.start, end=statement.end, text=text)


def _control(collected: HatexscoreCollected) -> RandomSpans | None:
    if collected.control is None or collected.original is None or collected.masked is None:
        return None
    quoted_drop = kernel.drop(collected.original, collected.masked)
    null = np.abs(collected.original - collected.control)
    return RandomSpans(
        draws=null.size,
        quoted_drop=quoted_drop,
        mean_drop=float(np.mean(null)),
        sd_drop=float(np.std(null, ddof=1)) if null.size > 1 else None,
        share_beaten=kernel.share_beaten(quoted_drop, null),
        drops=tuple(null.tolist()),
    )


def _outcome(
    request: HatexscoreRequest, own: HatexscoreReport, other: HatexscoreReport
) -> VariantOutcome:
    said = [warning for warning in other.warnings if not warning.startswith(NO_CONTROL)]
    borrowed = request.probabilities is not None and other.masked_text is not None
    if borrowed and other.masked_text != own.masked_text:
        said.append(SENT_FOR_ANOTHER)
    in_force = other.provenance.parameters
    return VariantOutcome(
        variant=other.provenance.variant,
        score=other.score,
        components=other.components,
        tau=in_force["tau"],
        consistency_rule=in_force["consistency_rule"],
        warnings=tuple(said),
    )


SERVICE = HateXScore()
