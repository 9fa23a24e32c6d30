"""From reading and probabilities to the report: the kernel is asked here."""

from __future__ import annotations

from typing import Any

import numpy as np

from services.hatexscore import kernel
from services.hatexscore.contract import METRIC, HatexscoreRequest
from services.hatexscore.gather import Measured
from services.hatexscore.reading import Reading
from services.hatexscore.report import (
    Components,
    Conclusion,
    HallucinatedQuote,
    HatexscoreReport,
    RandomSpans,
)
from shared.contracts import Provenance
from shared.version import SERVICE_VERSION


def assemble(request: HatexscoreRequest, reading: Reading, measured: Measured) -> HatexscoreReport:
    """The report of one request."""
    components = _components(reading, measured)
    sent, stated = request.predicted_label, reading.stated_label
    return HatexscoreReport(
        metric=METRIC.name,
        score=_score(request, components),
        components=components,
        evidence=(*reading.quoting.evidence, *reading.groups),
        hallucinated_quotes=tuple(
            HallucinatedQuote(start=quotation.start, end=quotation.end, text=quotation.text)
            for quotation in reading.quoting.hallucinated
        ),
        masked_text=reading.quoting.masked,
        probability_original=measured.original,
        probability_masked=measured.masked,
        predicted_label=reading.label,
        stated_label=stated,
        label_match=sent == stated if sent and stated else None,
        conclusion=_conclusion(request, reading),
        language=reading.languages.text,
        explanation_language=reading.languages.explanation,
        groups=tuple(sorted({mention.group for mention in reading.groups if mention.counts})),
        control=_control(measured),
        warnings=(*reading.warnings, *measured.warnings),
        provenance=_provenance(request, reading, measured),
    )


def _components(reading: Reading, measured: Measured) -> Components:
    qf = _faithfulness(reading, measured)
    return Components(
        htc=reading.htc,
        qf=qf,
        tgi=reading.tgi,
        cc=kernel.consistency(reading.rule, reading.label, qf, reading.tgi, reading.tau),
    )


def _faithfulness(reading: Reading, measured: Measured) -> float | None:
    """Eq. 3; None where a probability is missing or the label unknown."""
    if not reading.quoting.counts:
        return 0.0
    if reading.label is None or measured.original is None or measured.masked is None:
        return None
    quoted_drop = kernel.drop(measured.original, measured.masked)
    return kernel.quotation_faithfulness(reading.label, quoted_drop)


def _score(request: HatexscoreRequest, components: Components) -> float | None:
    weights = request.weights
    return kernel.weighted_mean(
        (components.htc, components.qf, components.tgi, components.cc),
        (weights.htc, weights.qf, weights.tgi, weights.cc),
    )


def _conclusion(request: HatexscoreRequest, reading: Reading) -> Conclusion | None:
    statement = reading.statement
    if statement is None:
        return None
    text = request.explanation[statement.start : statement.end]
    return Conclusion(start=statement.start, end=statement.end, text=text)


def _control(measured: Measured) -> RandomSpans | None:
    if measured.control is None or measured.original is None or measured.masked is None:
        return None
    quoted_drop = kernel.drop(measured.original, measured.masked)
    null = np.abs(measured.original - measured.control)
    return RandomSpans(
        draws=null.size,
        quoted_drop=quoted_drop,
        mean_drop=float(np.mean(null)),
        sd_drop=float(np.std(null, ddof=1)) if null.size > 1 else None,
        share_beaten=kernel.share_beaten(quoted_drop, null),
        drops=tuple(null.tolist()),
    )


def _provenance(request: HatexscoreRequest, reading: Reading, measured: Measured) -> Provenance:
    return Provenance(
        metric_version=METRIC.version,
        variant=request.variant,
        seed=request.seed,
        parameters=_parameters(request, reading),
        models=measured.models,
        service_version=SERVICE_VERSION,
    )


def _parameters(request: HatexscoreRequest, reading: Reading) -> dict[str, Any]:
    """What was in force: the variant's own tau and rule, not only what was sent."""
    sent = request.model_dump(
        mode="json",
        include={
            "language",
            "policy",
            "weights",
            "short_text_max_words",
            "probabilities",
            "control_draws",
        },
    )
    return {**sent, "tau": reading.tau, "consistency_rule": reading.rule}
