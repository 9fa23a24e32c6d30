"""A judge's averaged answers against the humans' answers: every number of Appendix E.

Source: Chen et al., EMNLP 2025.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvRequest
from services.hlv.judge_runs import AveragePrediction, HumanGold
from services.hlv.kernel import Floats
from services.hlv.report import HlvDivergences, HlvErrors, HlvGain, HlvMeasured, Method
from services.hlv.variants import VARIANTS

BASES = {"e": math.e, "2": 2.0}
CORRELATIONS = ("tau_b", "tau_a", "spearman")
DIVERGENCES = ("kl_model_gold", "kl_gold_model", "jsd", "tvd")
ERRORS = ("rmse", "mae")


def score_predictions(
    request: HlvRequest, gold: HumanGold, method: Method, answers: AveragePrediction | None
) -> HlvMeasured:
    """answers: None where nothing could be read."""
    if answers is None:
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
    return HlvMeasured(
        ranks=by_key(request, answers.ranks),
        values=None if answers.values is None else by_key(request, answers.values),
        tau_b=kernel.kendall_tau_b(gold.ranks, answers.ranks),
        tau_a=kernel.kendall_tau_a(gold.ranks, answers.ranks),
        spearman=kernel.spearman(gold.ranks, answers.ranks),
        spearman_without_ties=kernel.spearman_without_ties(gold.ranks, answers.ranks),
        distribution=_divergences(request, gold, method, answers.values),
        scalar=_errors(gold, method, answers.values),
        runs=answers.runs,
        invalid_runs=answers.invalid_runs,
        label_mass=answers.mass,
    )


def score_values(request: HlvRequest, gold: HumanGold, values: Floats) -> HlvMeasured:
    """A judge that always says these (n,) probabilities, on the scale of humans."""
    ranks = kernel.fractional_ranks(values)
    if gold.kind != "scores":
        return score_predictions(
            request, gold, "logits", AveragePrediction(ranks, values, 1, 0, None)
        )
    scale = request.human.scale
    spread = values.max() - values.min()
    place = (values - values.min()) / spread if spread else np.full(values.size, 0.5)
    scores = scale.low + place * (scale.high - scale.low)
    return score_predictions(request, gold, "score", AveragePrediction(ranks, scores, 1, 0, None))


def gain(explained: HlvMeasured | None, baseline: HlvMeasured | None) -> HlvGain | None:
    """With explanations minus without, turned so that positive is closer to humans."""
    if explained is None or baseline is None:
        return None
    found = {name: _diff(explained, baseline, name) for name in CORRELATIONS}
    found |= _diff_fields(explained.distribution, baseline.distribution, DIVERGENCES)
    found |= _diff_fields(explained.scalar, baseline.scalar, ERRORS)
    return HlvGain(**found)


def epsilon(request: HlvRequest) -> float:
    """In force: the request's, else the variant's own."""
    own = VARIANTS[request.variant].epsilon
    return own if request.epsilon is None else request.epsilon


def by_key(request: HlvRequest, values: Floats) -> dict[str, float]:
    """option → value."""
    keys = (option.key for option in request.options)
    return dict(zip(keys, values.tolist(), strict=True))


def _divergences(
    request: HlvRequest, gold: HumanGold, method: Method, model: Floats | None
) -> HlvDivergences | None:
    """Null where humans gave no votes, or the judge no probabilities."""
    human = gold.values
    if gold.kind != "distribution" or method != "logits" or human is None or model is None:
        return None
    clip = epsilon(request)
    of_jsd = clip if VARIANTS[request.variant].clips_jsd else 0.0
    return HlvDivergences(
        kl_model_gold=kernel.kullback_leibler(model, human, clip),
        kl_gold_model=kernel.kullback_leibler(human, model, clip),
        jsd=kernel.jensen_shannon(human, model, base=BASES[request.log_base], epsilon=of_jsd),
        tvd=min(1.0, kernel.total_variation(human, model)),
    )


def _errors(gold: HumanGold, method: Method, given: Floats | None) -> HlvErrors | None:
    """Null where humans gave no ratings, or the judge none."""
    human = gold.values
    if gold.kind != "scores" or method != "score" or human is None or given is None:
        return None
    return HlvErrors(
        rmse=kernel.root_mean_square(human, given),
        mae=kernel.mean_absolute(human, given),
        r2=kernel.determination(human, given),
    )


def _diff(one: Any, other: Any, name: str) -> float | None:
    a, b = getattr(one, name), getattr(other, name)
    return None if a is None or b is None else float(a - b)


def _diff_fields(one: Any, other: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    if one is None or other is None:
        return dict.fromkeys(names)
    return {name: _diff(other, one, name) for name in names}
