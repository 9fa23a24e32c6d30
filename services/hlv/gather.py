"""Which prompts go to which judge: every request of a batch, with and without its explanations.

Prompts of all requests are one call a model and sampling, first tokens another, classified pairs a
third.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.hlv.condition import Answered, Condition
from services.hlv.contract import HlvRequest, Judge
from services.hlv.first_token import classified, weighed
from services.hlv.report import Method
from services.hlv.saying import Run
from services.hlv.sent import normalisation, runs_of
from services.hlv.speaking import spoken
from shared.contracts import ModelUse
from shared.errors import BadInput
from shared.models import models
from shared.performing import judge as judge_of

Side = dict[Method, list[Run]]


@dataclass(frozen=True)
class Gathered:
    """A judge's runs, by method; None where the condition was not asked."""

    methods: tuple[Method, ...]
    explained: Side | None
    baseline: Side | None
    models: tuple[ModelUse, ...] = ()


def gather(requests: Sequence[HlvRequest]) -> list[Gathered]:
    """The answers to every request, asked or sent."""
    conditions = [one for place, request in enumerate(requests) for one in _sides(place, request)]
    answered = spoken(conditions) | weighed(conditions) | classified(conditions)
    uses = {name: _use(name) for name in dict.fromkeys(one.model for one in conditions)}
    return [
        _sent(request)
        if request.model is None
        else _asked(place, [one for one in conditions if one.place == place], answered, uses)
        for place, request in enumerate(requests)
    ]


def _sides(place: int, request: HlvRequest) -> Iterator[Condition]:
    if request.model is None:
        return
    kind = models().kind(request.model)
    how = request.judge or Judge()
    if kind == "classifier":
        if request.judge is not None and how.methods != ("logits",):
            raise BadInput("a classifier can only be asked for logits", pointer="/judge/methods")
        how = how.model_copy(update={"methods": ("logits",)})
    if "logits" in how.methods and normalisation(request) != "softmax":
        raise BadInput(
            "a judge answers with log-probabilities, of which |logit| / sum is not defined: send "
            "`predictions` with `logits`, or ask for softmax",
            pointer="/normalisation",
        )
    yield Condition(place, False, request.model, kind, request, how)
    if request.explanations or request.rationale:
        yield Condition(place, True, request.model, kind, request, how)


def _asked(
    place: int,
    conditions: Sequence[Condition],
    answered: Answered,
    uses: dict[str, ModelUse],
) -> Gathered:
    methods = conditions[0].judge.methods
    sides: dict[bool, Side] = {
        one.explained: {method: answered[place, one.explained, method] for method in methods}
        for one in conditions
    }
    return Gathered(methods, sides.get(True), sides[False], (uses[conditions[0].model],))


def _sent(request: HlvRequest) -> Gathered:
    sent = request.predictions
    explained = runs_of(sent.explained, request) if sent and sent.explained else None
    baseline = runs_of(sent.baseline, request) if sent and sent.baseline else None
    named = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return Gathered(tuple(named), explained, baseline)


def _use(name: str) -> ModelUse:
    if models().kind(name) == "causal":
        return models().writer(name).use
    return judge_of(models(), name).use
