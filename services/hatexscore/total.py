"""The score of the parts: their weighted mean (Eq. 6), over those that apply.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), section 3.5. An undefined part makes the score
undefined; one that does not apply leaves its weight to the others; `partial_score` is the mean over
what is defined.
"""

from __future__ import annotations

from typing import Any

from services.hatexscore import kernel
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.report import HatexscoreComponents, Part


def score(
    request: HatexscoreRequest, parsed: ParsedExplanation, components: HatexscoreComponents
) -> float | None:
    """Eq. 6; None where a part with weight is, or no part that applies has weight."""
    weighed = weights(request, parsed)
    if not any(weighed.values()):
        return None
    values = [getattr(components, part) for part in weighed]
    return kernel.weighted_mean(values, list(weighed.values()))


def weights(request: HatexscoreRequest, parsed: ParsedExplanation) -> dict[Part, float]:
    """Of the parts that apply."""
    own = request.weights
    every: dict[Part, float] = {"htc": own.htc, "qf": own.qf, "tgi": own.tgi, "cc": own.cc}
    return {part: weight for part, weight in every.items() if part not in not_applicable(parsed)}


def not_applicable(parsed: ParsedExplanation) -> dict[Part, str]:
    """Parts of which the question does not arise, and why."""
    return {"tgi": parsed.tgi_not_applicable} if parsed.tgi_not_applicable else {}


def partial(
    request: HatexscoreRequest, parsed: ParsedExplanation, components: HatexscoreComponents
) -> dict[str, Any]:
    """The mean over the parts with weight that are defined."""
    defined = {
        part: weight
        for part, weight in weights(request, parsed).items()
        if weight > 0 and getattr(components, part) is not None
    }
    if not defined:
        return {}
    values = [getattr(components, part) for part in defined]
    mean = kernel.weighted_mean(values, list(defined.values()))
    return {"partial_score": mean, "partial_parts": tuple(defined)}
