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
from shared.metric import Collected
from shared.models.ports import judge as judge_of
from shared.models.ports import models

Side = dict[Method, list[Run]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HlvCollected(Collected):
    """A judge's runs, by method; None where the condition was not asked."""

    methods: tuple[Method, ...]
    explained: Side | None
    baseline: Side | None


def gather(requests: Sequence[HlvRequest]) -> list[HlvCollected]:
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
) -> HlvCollected:
    methods = conditions[0].judge.methods
    sides: dict[bool, Side] = {
        one.explained: {method: answered[place, one.explained, method] for method in methods}
        for one in conditions
    }
    return HlvCollected(
        methods=methods,
        explained=sides.get(True),
        baseline=sides[False],
        models=(uses[conditions[0].model],),
    )


def _sent(request: HlvRequest) -> HlvCollected:
    sent = request.predictions
    explained = runs_of(sent.explained, request) if sent and sent.explained else None
    baseline = runs_of(sent.baseline, request) if sent and sent.baseline else None
    named = dict.fromkeys([*(explained or {}), *(baseline or {})])
    return HlvCollected(methods=tuple(named), explained=explained, baseline=baseline)


def _use(name: str) -> ModelUse:
    if models().kind(name) == "causal":
        return models().writer(name).use
    return judge_of(models(), name).use
