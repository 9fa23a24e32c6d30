"""How firm the metrics are: their spread over generations, and what the reasons' order does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from services.haf import kernel
from services.haf.contract import HafRequest
from services.haf.gather import HafCollected
from services.haf.measures import Measured, by_relevance, diversity, shared_of
from services.haf.parts import reliance
from services.haf.report import Change, Components, Permutation, Repetition, Spread
from services.haf.transcript import Reordered, Transcript


def repetition(told: Sequence[Transcript], measured: Sequence[Measured]) -> Repetition | None:
    """The spread of every metric over the samples; None for a single one."""
    if len(told) < 2:
        return None
    values = {
        name: spread([getattr(each.components, name) for each in measured])
        for name in Components.model_fields
    }
    stances = Counter(each.stance for each in told)
    return Repetition(samples=len(told), stances=dict(sorted(stances.items())), **values)


def spread(values: Sequence[float | None]) -> Spread:
    """Mean, standard deviation (n - 1), smallest and largest of the defined values."""
    defined = np.array([value for value in values if value is not None], dtype=np.float64)
    if not defined.size:
        return Spread(mean=None, sd=None, low=None, high=None, of=0)
    return Spread(
        mean=float(np.mean(defined)),
        sd=float(np.std(defined, ddof=1)) if defined.size > 1 else None,
        low=float(np.min(defined)),
        high=float(np.max(defined)),
        of=int(defined.size),
    )


def permutation(
    request: HafRequest, told: Transcript, gathered: HafCollected
) -> Permutation | None:
    """DiS and UII under other orders; None where there is no other, or none was asked for."""
    if not told.orders:
        return None
    original, *others = told.orders
    dis = [_dis(request, told, gathered, each) for each in (original, *others)]
    uii = [_uii(request, told, gathered, each) for each in (original, *others)]
    return Permutation(
        orders=tuple(each.order for each in others),
        dis=change(dis[0], dis[1:]),
        uii=change(uii[0], uii[1:]),
    )


def change(original: float | None, values: Sequence[float | None]) -> Change:
    """How far the values lie from the original, over those that are defined."""
    apart = [value - original for value in values if value is not None and original is not None]
    return Change(
        original=original,
        values=tuple(values),
        mean_change=float(np.mean(apart)) if apart else None,
        largest_change=float(np.max(np.abs(apart))) if apart else None,
    )


def _dis(
    request: HafRequest, told: Transcript, gathered: HafCollected, each: Reordered
) -> float | None:
    """DiS with the confidences that the model has in the rewritten response."""
    rewritten = replace(told, justify=each.justify)
    return diversity(shared_of(request, rewritten, gathered, partial(by_relevance, gathered)))


def _uii(
    request: HafRequest, told: Transcript, gathered: HafCollected, each: Reordered
) -> float | None:
    """UII of the internal stage that was asked with this order."""
    if each.internal is None:
        return None
    shared = shared_of(request, told, gathered, partial(by_relevance, gathered))
    return kernel.mean([reason.value for reason in reliance(shared, each.internal).reasons])
