"""A judge's averaged answers against what humans said: the kernel is asked here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvRequest
from services.hlv.judge_runs import AveragedAnswers, Target
from services.hlv.kernel import Floats
from services.hlv.report import Divergences, Errors, Gain, HlvMeasured, Method
from services.hlv.variants import VARIANTS

BASES = {"e": math.e, "2": 2.0}
HIGHER = ("tau_b", "tau_a", "spearman")
OF_DISTRIBUTIONS = ("kl_model_gold", "kl_gold_model", "jsd", "tvd")
OF_SCORES = ("rmse", "mae")


def epsilon(request: HlvRequest) -> float:
    """In force: as asked, else the variant's own."""
    own = VARIANTS[request.variant].epsilon
    return own if request.epsilon is None else request.epsilon


def measured(
    request: HlvRequest, target: Target, method: Method, said: AveragedAnswers | None
) -> HlvMeasured:
    """Every number of Appendix E that these answers have; `said` None: nothing could be read."""
    if said is None:
        return _unread()
    return HlvMeasured(
        ranks=by_key(request, said.ranks),
        values=None if said.values is None else by_key(request, said.values),
        tau_b=kernel.kendall_tau_b(target.ranks, said.ranks),
        tau_a=kernel.kendall_tau_a(target.ranks, said.ranks),
        spearman=kernel.spearman(target.ranks, said.ranks),
        spearman_without_ties=kernel.spearman_without_ties(target.ranks, said.ranks),
        distribution=_divergences(request, target, method, said.values),
        scalar=_errors(target, method, said.values),
        runs=said.runs,
        invalid_runs=said.invalid_runs,
        label_mass=said.mass,
    )


def of_values(request: HlvRequest, target: Target, values: Floats) -> HlvMeasured:
    """A judge that always says these (n,) probabilities, in the terms of what humans said."""
    ranks = kernel.fractional_ranks(values)
    if target.kind != "scores":
        return measured(request, target, "logits", AveragedAnswers(ranks, values, 1, 0, None))
    scale = request.human.scale
    spread = values.max() - values.min()
    place = (values - values.min()) / spread if spread else np.full(values.size, 0.5)
    scores = scale.low + place * (scale.high - scale.low)
    return measured(request, target, "score", AveragedAnswers(ranks, scores, 1, 0, None))


def gain(explained: HlvMeasured | None, baseline: HlvMeasured | None) -> Gain | None:
    """With explanations minus without, turned so that positive is closer to humans."""
    if explained is None or baseline is None:
        return None
    found = {name: _minus(explained, baseline, name) for name in HIGHER}
    found |= _drops(explained.distribution, baseline.distribution, OF_DISTRIBUTIONS)
    found |= _drops(explained.scalar, baseline.scalar, OF_SCORES)
    return Gain(**found)


def by_key(request: HlvRequest, values: Floats) -> dict[str, float]:
    """option → value."""
    keys = (option.key for option in request.options)
    return dict(zip(keys, values.tolist(), strict=True))


def _divergences(
    request: HlvRequest, target: Target, method: Method, model: Floats | None
) -> Divergences | None:
    """Null where humans gave no votes, or the judge no probabilities."""
    gold = target.values
    if target.kind != "distribution" or method != "logits" or gold is None or model is None:
        return None
    clip = epsilon(request)
    of_jsd = clip if VARIANTS[request.variant].clips_jsd else 0.0
    return Divergences(
        kl_model_gold=kernel.kullback_leibler(model, gold, clip),
        kl_gold_model=kernel.kullback_leibler(gold, model, clip),
        jsd=kernel.jensen_shannon(gold, model, base=BASES[request.log_base], epsilon=of_jsd),
        tvd=min(1.0, kernel.total_variation(gold, model)),
    )


def _errors(target: Target, method: Method, given: Floats | None) -> Errors | None:
    """Null where humans gave no ratings, or the judge none."""
    gold = target.values
    if target.kind != "scores" or method != "score" or gold is None or given is None:
        return None
    return Errors(
        rmse=kernel.root_mean_square(gold, given),
        mae=kernel.mean_absolute(gold, given),
        r2=kernel.determination(gold, given),
    )


def _unread() -> HlvMeasured:
    return HlvMeasured(
        ranks={},
        values=None,
        tau_b=None,
        tau_a=None,
        spearman=None,
        spearman_without_ties=None,
        distribution=None,
        scalar=None,
        runs=0,
    )


def _minus(one: Any, other: Any, name: str) -> float | None:
    a, b = getattr(one, name), getattr(other, name)
    return None if a is None or b is None else float(a - b)


def _drops(one: Any, other: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    if one is None or other is None:
        return dict.fromkeys(names)
    return {name: _minus(other, one, name) for name in names}
