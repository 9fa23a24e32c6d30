"""The HLV metric. It compares a judge's answers, with and without explanations, with those of
humans. Source: Chen et al., EMNLP 2025, section 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.hlv import kernel
from services.hlv.batch_report import Rows, Statistics, batch_report
from services.hlv.ceiling import ceiling_of, normalize
from services.hlv.contract import CONTRACT, HlvJudge, HlvRequest
from services.hlv.model_calls import HlvCollected, model_languages, run_judges
from services.hlv.report import (
    HlvBaselines,
    HlvBatchReport,
    HlvCeiling,
    HlvComponents,
    HlvGold,
    HlvMeasured,
    HlvMethodResult,
    HlvResult,
    Method,
)
from services.hlv.scoring import (
    HumanGold,
    MethodRuns,
    average,
    by_key,
    epsilon,
    gain,
    human_gold,
    score_predictions,
    score_values,
)
from services.hlv.variants import VARIANTS, HlvVariant
from shared.contracts.messages import Languages
from shared.contracts.questions import in_words
from shared.reports.metric import Collected, Metric
from shared.text.language import (
    LanguageCoverage,
    find_language,
    model_coverage,
    requested_language,
)

LOW_MASS = 0.5  # summed over the letters; below it the judge mostly meant to write something else


class Hlv(Metric[HlvRequest, HlvCollected, HlvResult, HlvVariant]):
    """Measures if the judge ranks the options as humans do, and if explanations bring it closer."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[HlvRequest]) -> list[HlvCollected]:
        return run_judges(requests)

    def report(self, request: HlvRequest, collected: HlvCollected) -> HlvResult:
        gold = human_gold(request)
        control = _baselines(request, gold)
        ceiling = ceiling_of(request, gold, control.uniform)
        control = HlvBaselines(
            uniform=_normalize_side(control.uniform, ceiling),
            majority=_normalize_side(control.majority, ceiling),
        )
        methods = tuple(
            _result(request, gold, method, collected, ceiling) for method in collected.methods
        )
        components = _components(request, methods)
        gains = components.methods[0].gain is not None
        doubts = (
            *_gold_warnings(request, gold),
            *_warnings(gold, components, gains=gains),
            *((f"no ceiling: {ceiling}",) if isinstance(ceiling, str) else ()),
        )
        return HlvResult(
            **self.envelope(request, collected, doubts),
            score=components.kendall_gain if gains else components.kendall,
            range=(-2, 2) if gains else (-1, 1),
            score_of="gain" if gains else "agreement",
            components=components,
            gold=_gold(request, gold),
            ceiling=None if isinstance(ceiling, str) else ceiling,
            control=control,
        )

    def coverage(self, request: HlvRequest) -> LanguageCoverage:
        """Return the languages that the judge supports. Only the question's language is checked,
        since options are often the same English words."""
        if request.model is None:
            return LanguageCoverage()
        text = find_language(in_words(request.question), requested_language(request))
        return model_coverage(request, Languages(text=text), (model_languages(request.model),))

    def undefined(self, request: HlvRequest, collected: Collected) -> HlvResult:
        gold = human_gold(request)
        gains = bool(request.explanations or request.rationale)
        nothing = dict.fromkeys(HlvComponents.model_fields)
        return HlvResult(
            **self.envelope(request, collected, _gold_warnings(request, gold)),
            score=None,
            range=(-2, 2) if gains else (-1, 1),
            score_of="gain" if gains else "agreement",
            components=HlvComponents.model_validate({**nothing, "methods": ()}),
            gold=_gold(request, gold),
            control=_baselines(request, gold),
        )

    def in_force(self, request: HlvRequest, collected: HlvCollected) -> Mapping[str, Any]:
        """Return the judge's settings, with defaults, and the methods by which it answered."""
        judge = None if request.model is None else (request.judge or HlvJudge())
        return {
            "judge": judge and judge.model_dump(mode="json"),
            "methods": list(collected.methods),
        }

    def summarize(self, rows: Rows, over: Statistics) -> HlvBatchReport:
        return batch_report(rows, over)


def _result(
    request: HlvRequest,
    gold: HumanGold,
    method: Method,
    collected: HlvCollected,
    ceiling: HlvCeiling | str,
) -> HlvMethodResult:
    explained = _side(request, gold, method, collected.explained, ceiling)
    baseline = _side(request, gold, method, collected.baseline, ceiling)
    return HlvMethodResult(
        method=method, explained=explained, baseline=baseline, gain=gain(explained, baseline)
    )


def _normalize_side(measured: HlvMeasured, ceiling: HlvCeiling | str) -> HlvMeasured:
    if isinstance(ceiling, str):
        return measured
    return measured.model_copy(update={"normalised": normalize(measured, ceiling)})


def _side(
    request: HlvRequest,
    gold: HumanGold,
    method: Method,
    runs: MethodRuns | None,
    ceiling: HlvCeiling | str,
) -> HlvMeasured | None:
    if runs is None or method not in runs:
        return None
    answers = average(runs[method], len(request.options))
    return _normalize_side(score_predictions(request, gold, method, answers), ceiling)


def _components(request: HlvRequest, methods: Sequence[HlvMethodResult]) -> HlvComponents:
    first = methods[0]
    headline, variant = first.explained or first.baseline, VARIANTS[request.variant]
    kendall, spearman = variant.kendall, variant.spearman
    values = {
        "kendall": getattr(headline, kendall, None),
        "spearman": getattr(headline, spearman, None),
        "kendall_baseline": getattr(first.baseline, kendall, None),
        "spearman_baseline": getattr(first.baseline, spearman, None),
    }
    return HlvComponents(
        **values,
        kendall_gain=_score_change(first, values["kendall"], values["kendall_baseline"]),
        spearman_gain=_score_change(first, values["spearman"], values["spearman_baseline"]),
        kendall_normalised=headline.normalised.get(kendall) if headline else None,
        methods=tuple(methods),
    )


def _score_change(
    first: HlvMethodResult, explained: float | None, baseline: float | None
) -> float | None:
    if first.gain is None or explained is None or baseline is None:
        return None
    return explained - baseline


def _gold(request: HlvRequest, gold: HumanGold) -> HlvGold:
    return HlvGold(
        kind=gold.kind,
        values=None if gold.values is None else by_key(request, gold.values),
        ranks=by_key(request, gold.ranks),
        sources=len(request.human.sources),
    )


def _baselines(request: HlvRequest, gold: HumanGold) -> HlvBaselines:
    best = -gold.ranks if gold.values is None else gold.values
    return HlvBaselines(
        uniform=score_values(request, gold, kernel.uniform(gold.ranks.size)),
        majority=score_values(request, gold, kernel.majority(best)),
    )


def _gold_warnings(request: HlvRequest, gold: HumanGold) -> Iterator[str]:
    if gold.ranks.min() == gold.ranks.max():
        yield "rank correlations are undefined, because humans rank all options equally"
    if gold.kind == "distribution" and gold.values is not None and epsilon(request) > 0:
        unchosen = [key for key, value in by_key(request, gold.values).items() if value == 0]
        if unchosen:
            yield f"nobody chose {', '.join(unchosen)}, so D(model ‖ gold) depends on epsilon"


def _warnings(gold: HumanGold, components: HlvComponents, *, gains: bool) -> Iterator[str]:
    if not gains:
        yield "there is no gain, because it needs answers both with and without explanations"
    for result in components.methods:
        for condition in ("explained", "baseline"):
            measured: HlvMeasured | None = getattr(result, condition)
            if measured is not None:
                for warning in _validity_warnings(gold, measured):
                    yield f"{result.method}, {condition}: {warning}"


def _validity_warnings(gold: HumanGold, measured: HlvMeasured) -> Iterator[str]:
    if measured.runs == 0:
        yield "undefined, because for one option no answer could be read in any run"
        return
    if measured.invalid_runs:
        yield f"{measured.invalid_runs} of {measured.runs} answers could not be read"
    if measured.tau_b is None and gold.ranks.min() < gold.ranks.max():
        yield "rank correlations are undefined, because the judge ranks all options equally"
    if measured.label_mass is not None and measured.label_mass < LOW_MASS:
        yield f"the letters have only {measured.label_mass:.3f} of the first token's probability"
    divergences = measured.distribution
    if divergences is not None and divergences.kl_model_gold is None:
        yield (
            "D(model ‖ gold) is infinite, because the judge gives probability to an option "
            "that no human chose"
        )
    if divergences is not None and divergences.kl_gold_model is None:
        yield (
            "D(gold ‖ model) is infinite, because the judge gives no probability to an option "
            "that humans chose"
        )


SERVICE = Hlv()
