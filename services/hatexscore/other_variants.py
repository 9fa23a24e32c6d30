"""What the other two variants say of a request: read and measured along with it, never drawn for.

Each outcome is what the report of the same request with that variant says, without the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.gather import NO_CONTROL
from services.hatexscore.report import HatexscoreReport, VariantOutcome
from shared.contracts import Variant

SENT_FOR_ANOTHER = (
    "the probability sent for the masked text was taken, though this variant masks other words"
)


def with_others(request: HatexscoreRequest) -> tuple[HatexscoreRequest, ...]:
    """The request and, where it asks for them, the same of the other variants without draws."""
    if not request.other_variants:
        return (request,)
    others = [variant for variant in get_args(Variant) if variant != request.variant]
    return (
        request,
        *(request.model_copy(update={"variant": name, "control_draws": 0}) for name in others),
    )


def joined(request: HatexscoreRequest, reports: Sequence[HatexscoreReport]) -> HatexscoreReport:
    """One report out of those of `with_others(request)`, in the same order."""
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
