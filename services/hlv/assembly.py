"""From a judge's runs to the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from services.hlv import kernel
from services.hlv.contract import METRIC, HlvRequest, Judge
from services.hlv.gather import Gathered, Side
from services.hlv.measuring import by_key, epsilon, gain, measured, of_values
from services.hlv.report import (
    Baselines,
    Components,
    Gold,
    HlvReport,
    Measured,
    Method,
    MethodResult,
)
from services.hlv.saying import averaged
from services.hlv.sent import Target, normalisation, target
from shared.contracts import Provenance
from shared.version import SERVICE_VERSION

LOW_MASS = 0.5  # of the letters together: below it the judge mostly wanted to say something else


def assemble(request: HlvRequest, gathered: Gathered) -> HlvReport:
    """The report of one request."""
    gold = target(request)
    methods = tuple(_result(request, gold, method, gathered) for method in gathered.methods)
    components = _components(request, methods)
    gains = components.methods[0].gain is not None
    return HlvReport(
        metric=METRIC.name,
        score=components.kendall_gain if gains else components.kendall,
        range=(-2, 2) if gains else (-1, 1),
        score_of="gain" if gains else "agreement",
        components=components,
        gold=_gold(request, gold),
        control=_baselines(request, gold),
        warnings=(*_human_doubts(request, gold), *_warnings(gold, components, gains=gains)),
        provenance=_provenance(request, gathered),
    )


def _result(request: HlvRequest, gold: Target, method: Method, gathered: Gathered) -> MethodResult:
    explained = _side(request, gold, method, gathered.explained)
    baseline = _side(request, gold, method, gathered.baseline)
    return MethodResult(
        method=method, explained=explained, baseline=baseline, gain=gain(explained, baseline)
    )


def _side(request: HlvRequest, gold: Target, method: Method, side: Side | None) -> Measured | None:
    if side is None or method not in side:
        return None
    return measured(request, gold, method, averaged(side[method], len(request.options)))


def _components(request: HlvRequest, methods: Sequence[MethodResult]) -> Components:
    first = methods[0]
    asked = first.explained or first.baseline
    kendall, spearman = _coefficients(request)
    values = {
        "kendall": getattr(asked, kendall, None),
        "spearman": getattr(asked, spearman, None),
        "kendall_baseline": getattr(first.baseline, kendall, None),
        "spearman_baseline": getattr(first.baseline, spearman, None),
    }
    return Components(
        **values,
        kendall_gain=_gained(first, values["kendall"], values["kendall_baseline"]),
        spearman_gain=_gained(first, values["spearman"], values["spearman_baseline"]),
        methods=tuple(methods),
    )


def _coefficients(request: HlvRequest) -> tuple[str, str]:
    """The variant's own Kendall and Spearman: as printed (Eqs. 13, 14), or corrected for ties."""
    if request.variant == "paper":
        return "tau_a", "spearman_without_ties"
    return "tau_b", "spearman"


def _gained(first: MethodResult, asked: float | None, baseline: float | None) -> float | None:
    if first.gain is None or asked is None or baseline is None:
        return None
    return asked - baseline


def _gold(request: HlvRequest, gold: Target) -> Gold:
    return Gold(
        kind=gold.kind,
        values=None if gold.values is None else by_key(request, gold.values),
        ranks=by_key(request, gold.ranks),
        sources=len(request.human.sources),
    )


def _baselines(request: HlvRequest, gold: Target) -> Baselines:
    best = -gold.ranks if gold.values is None else gold.values
    return Baselines(
        uniform=of_values(request, gold, kernel.uniform(gold.ranks.size)),
        majority=of_values(request, gold, kernel.majority(best)),
    )


def _human_doubts(request: HlvRequest, gold: Target) -> Iterator[str]:
    if gold.ranks.min() == gold.ranks.max():
        yield "humans rank no option above another: rank correlations are undefined"
    if gold.kind == "distribution" and gold.values is not None and epsilon(request) > 0:
        unchosen = [key for key, value in by_key(request, gold.values).items() if value == 0]
        if unchosen:
            yield f"nobody chose {', '.join(unchosen)}: D(model ‖ gold) hangs on epsilon"


def _warnings(gold: Target, components: Components, *, gains: bool) -> Iterator[str]:
    if not gains:
        yield "no gain: it needs answers both with explanations and without"
    for result in components.methods:
        for side, found in (("explained", result.explained), ("baseline", result.baseline)):
            if found is not None:
                yield from (f"{result.method}, {side}: {why}" for why in _doubts(gold, found))


def _doubts(gold: Target, found: Measured) -> Iterator[str]:
    """Why numbers of one side are null, or may mean less than they seem to."""
    if found.runs == 0:
        yield "an option has no readable answer in any run: undefined"
        return
    if found.invalid_runs:
        yield f"{found.invalid_runs} of {found.runs} answers could not be read"
    if found.tau_b is None and gold.ranks.min() < gold.ranks.max():
        yield "all options are tied: rank correlations are undefined"
    if found.label_mass is not None and found.label_mass < LOW_MASS:
        yield f"the letters have only {found.label_mass:.3f} of the first token's probability"
    yield from _infinite(found)


def _infinite(found: Measured) -> Iterator[str]:
    """A divergence is null where it is infinite, and doubtful where only the clip bounds it."""
    parts = found.distribution
    if parts is None:
        return
    if parts.kl_model_gold is None:
        yield "D(model ‖ gold) is infinite: humans never chose an option that the judge gives mass"
    if parts.kl_gold_model is None:
        yield "D(gold ‖ model) is infinite: the judge gives no mass to an option humans chose"


def _provenance(request: HlvRequest, gathered: Gathered) -> Provenance:
    return Provenance(
        metric_version=METRIC.version,
        variant=request.variant,
        seed=request.seed,
        parameters=_parameters(request, gathered),
        models=gathered.models,
        service_version=SERVICE_VERSION,
    )


def _parameters(request: HlvRequest, gathered: Gathered) -> dict[str, Any]:
    """What was in force: the variant's own normalisation and epsilon, not only what was sent."""
    judge = None if request.model is None else (request.judge or Judge())
    return {
        "judge": judge and judge.model_dump(mode="json"),
        "log_base": request.log_base,
        "methods": list(gathered.methods),
        "normalisation": normalisation(request),
        "epsilon": epsilon(request),
    }
