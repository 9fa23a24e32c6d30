"""When a test has drawn enough: Besag & Clifford's rule on both tails, and what it then says."""

from __future__ import annotations

from dataclasses import dataclass

from services.ice import kernel
from services.ice.inquiry import Inquiry, Trial
from services.ice.kernel import Floats
from services.ice.report import Operator


@dataclass(frozen=True)
class Tails:
    """Both one-sided p-values, and how many draws they rest on."""

    above: float | None
    below: float | None
    draws: int
    ended: bool  # both tails, before all draws were made


def tails(observed: float, null: Floats, most: int, ending: int) -> Tails:
    """Of a null (l,) in the order of drawing; each tail ends by itself, the draws with the later.

    most: draws planned. ending: draws beyond the rationale that end a tail.
    """
    above, first = kernel.sequential_p(null >= observed - kernel.TIE, most, ending)
    below, second = kernel.sequential_p(null <= observed + kernel.TIE, most, ending)
    if first is None or second is None:
        return Tails(above, below, null.size, ended=False)
    return Tails(above, below, max(first, second), ended=max(first, second) < most)


def ended(inquiry: Inquiry, trial: Trial, operator: Operator) -> bool:
    """Whether a test needs no more draws."""
    request = inquiry.reading.request
    places = inquiry.null_places(trial)
    if request.adaptive is None or inquiry.exact(trial) or places.size >= request.draws:
        return True
    null = inquiry.null(operator, trial, places)
    found = tails(
        inquiry.observed(operator, trial), null, request.draws, request.adaptive.exceedances
    )
    return found.ended


def read_tails(inquiry: Inquiry, trial: Trial, observed: float, null: Floats) -> Tails:
    """The p-values of a test by its request's design."""
    request, tie = inquiry.reading.request, inquiry.reading.variant.tie
    if request.adaptive is None or inquiry.exact(trial):
        above = kernel.p_value(observed, null, tie)
        below = kernel.p_anti(observed, null, tie)
        return Tails(above, below, null.size, ended=False)
    return tails(observed, null, request.draws, request.adaptive.exceedances)
