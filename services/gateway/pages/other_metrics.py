"""A request of one metric as another metric's: what it can take over, and what it would lack.

Texts are taken over by the name of their field; spans that HateXScore found quoted are ICE's
rationale. Nothing is invented: what is missing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError

from services.gateway.state import State
from services.registry import metrics, page_details
from shared.contracts.elicitation import is_needed
from shared.contracts.errors import ScoringError
from shared.contracts.service import MetricContract
from shared.contracts.validation_messages import first_fault, plain

COMMON = (
    "text", "explanation", "premise", "hypothesis", "question", "options", "language",
    "accept_untrained_languages", "metadata", "context", "do_not_store_text", "trace",
)  # fmt: skip
NEVER = frozenset({"webhook"})  # told once, by whoever asked
QUOTES = frozenset({"quote", "quotation"})
KINDS = {"causal": "language model"}
ANY_MODEL = "any-model"  # stands for one that is still to be found
NOUNS = {
    "text": "a text",
    "explanation": "an explanation",
    "options": "answer options",
    "human": "what people chose of them",
}


@dataclass(frozen=True)
class OtherRequest:
    """A request of a metric. body: None where something is missing, then `lacks` says what."""

    metric: str
    body: dict[str, Any] | None
    lacks: str = ""


def request_for(
    target: MetricContract,
    source: str,
    request: Mapping[str, Any],
    result: Mapping[str, Any] | None = None,
    model: str | None = None,
) -> OtherRequest:
    """This request as one of `target`. source: its own metric. model: in place of its own; None: it
    keeps its own for the same metric, and else takes the default."""
    fields = target.request.model_fields
    if source == target.name:
        body = {name: value for name, value in request.items() if name in fields}
    else:
        body = {name: request[name] for name in COMMON if name in fields and request.get(name)}
        body |= _rationale(target, result) | page_details(target.name)
    body = {name: value for name, value in body.items() if name not in NEVER and value is not None}
    if model:
        body["model"] = model
    missing = [name for name in fields if is_needed(target.request, name) and not body.get(name)]
    if missing:
        *named, last = (NOUNS.get(name, f"a {name.replace('_', ' ')}") for name in missing)
        listed = f"{', '.join(named)} and {last}" if named else last
        return OtherRequest(target.name, None, f"needs {listed}")
    try:
        target.request.model_validate(body)
    except ValidationError as error:
        return OtherRequest(target.name, None, plain(first_fault(error)).replace("`", ""))
    return OtherRequest(target.name, body)


def build_requests(
    gateway: State, source: str, request: Mapping[str, Any], result: Mapping[str, Any] | None
) -> list[OtherRequest]:
    """Of every metric: its request, or what is missing, a model too."""

    def request_of(target: MetricContract, model: str | None = None) -> OtherRequest:
        return request_for(target, source, request, result, model)

    return [
        _check_model(gateway, target, found)
        if (found := request_of(target)).body is not None or target.name == source
        else _with_any_model(gateway, target, found, partial(request_of, target))
        for target in metrics().values()
    ]


def _with_any_model(
    gateway: State,
    target: MetricContract,
    found: OtherRequest,
    request_of: Callable[[str], OtherRequest],
) -> OtherRequest:
    """What lacks nothing but a model gets the first configured one that it can ask."""
    if target.default_model is not None or request_of(ANY_MODEL).body is None:
        return found
    kinds = target.model_kinds
    named = [one.name for one in gateway.catalogue.entries if one.kind in kinds]
    told = [_check_model(gateway, target, request_of(name)) for name in named]
    words = " or ".join(KINDS.get(kind, kind) for kind in kinds)
    lacks = f"needs a {words}: none is configured"
    ready = (one for one in told if one.body is not None)
    return next(ready, told[0] if told else OtherRequest(target.name, None, lacks))


def _check_model(gateway: State, target: MetricContract, found: OtherRequest) -> OtherRequest:
    if found.body is None:
        return found
    try:
        asked = target.request.model_validate(found.body)
        gateway.catalogue.check_request(target, asked.model, asked)
        gateway.models.check_models(target, asked)
    except ScoringError as error:
        if target.default_model is None and "model" not in found.body:
            kinds = " or ".join(target.model_kinds)
            return OtherRequest(target.name, None, f"needs a model to be named ({kinds})")
        return OtherRequest(target.name, None, error.detail)
    return found


def _rationale(target: MetricContract, result: Mapping[str, Any] | None) -> dict[str, Any]:
    """The spans that an explanation quotes, where the target can test them."""
    if "rationale" not in target.request.model_fields or "attribution" not in (
        target.request.model_fields
    ):
        return {}
    spans = [
        {"start": one["start"], "end": one["end"]}
        for one in (result or {}).get("evidence") or ()
        if isinstance(one, Mapping)
        and one.get("kind") in QUOTES
        and isinstance(one.get("start"), int)
        and isinstance(one.get("end"), int)
    ]
    return {"rationale": spans} if spans else {"attribution": "attention"}
