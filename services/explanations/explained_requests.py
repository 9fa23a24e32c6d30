"""`explain` in a metric's request: the same as a request of this service with that one metric.

Checked, priced and asked as such; refusals point to the fields of the metric's own request.
Messages alone. Source: specs "models" §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard, get_args

from pydantic import ValidationError

from services.explanations.contract import CONTRACT, OWN_TOKENS, ExplanationsRequest
from services.explanations.prompts import custom_prompt, get_prompt
from shared.contracts.elicitation import (
    INPUTS,
    Explain,
    ExplainableRequest,
    ExplanationsOwnPolicy,
    ExplanationsOwnPrompt,
    PolicyName,
    given_inputs,
    has_own_model,
)
from shared.contracts.errors import BadInput
from shared.contracts.messages import TRANSPORT, JobRequest
from shared.contracts.problems import pointer
from shared.contracts.service import MetricContract, ServiceContract
from shared.contracts.validation_messages import first_fault, plain

ONE_JOB = "this is one job: send a request for each of the `items` and `draws`"
OF_THE_JOB = frozenset({"explain", "model", "seed", "language", *INPUTS, *TRANSPORT})
OF_EXPLAIN = ("prompt", "shots", "style", "policy", "target_label", "generation")


def is_explained(request: JobRequest) -> TypeGuard[ExplainableRequest]:
    """Whether it asks for the explanation that is scored."""
    return isinstance(request, ExplainableRequest) and request.explain is not None


@contextmanager
def as_checked(
    contract: ServiceContract, request: JobRequest
) -> Iterator[tuple[ServiceContract, JobRequest]]:
    """The service and the request whose model, abilities and work are checked in this block, before
    a job is accepted. Raises BadInput."""
    if contract.several is not None and contract.several(request):
        raise BadInput(ONE_JOB, pointer="")
    if not isinstance(contract, MetricContract) or not is_explained(request):
        yield contract, request
        return
    with pointing_to_own(contract, request):
        yield CONTRACT, explanations_request(contract, request)


@contextmanager
def pointing_to_own(contract: MetricContract, request: ExplainableRequest) -> Iterator[None]:
    """Refusals in this block, of the request to `/v1/explanations`, point into the metric's own."""
    try:
        yield
    except BadInput as error:
        if error.pointer is not None:
            error.pointer = _own_pointer(contract, request, error.pointer)
        error.pointers = tuple(_own_pointer(contract, request, one) for one in error.pointers)
        raise


def explanations_request(
    contract: MetricContract, request: ExplainableRequest
) -> ExplanationsRequest:
    """Raises BadInput, with a pointer into a request of `/v1/explanations`."""
    asked = request.explain if isinstance(request.explain, Explain) else Explain()
    if (model := asked.model or request.model) is None:
        raise BadInput("`explain` needs a `model`, which decides and explains", pointer="/model")
    body = {
        **given_inputs(request),
        **{name: getattr(request, name) for name in ("metadata", "context", "do_not_store_text")},
        **{name: getattr(asked, name) for name in ("shots", "style", "target_label", "generation")},
        "model": model,
        "prompt": asked.prompt or type(request).explain_prompt,
        "policy": asked.policy or _policy(request, asked),
        "seed": request.seed,
        "language": request.language,
        "score": {contract.name: _parameters(request)},
    }
    try:
        return ExplanationsRequest.model_validate(body)
    except ValidationError as error:
        first = first_fault(error)
        raise BadInput(plain(first), pointer=pointer(first["loc"]).removeprefix("#")) from None


def _parameters(request: ExplainableRequest) -> dict[str, Any]:
    """What the metric is told beside the explanation. A `model` is the metric's own only where
    another one explains."""
    sent = request.model_dump(mode="json", exclude_defaults=True, exclude=set(OF_THE_JOB))
    if request.explained_field is not None:
        sent.pop(request.explained_field, None)
    return {**sent, "model": request.model} if has_own_model(request) else sent


def _policy(
    request: ExplainableRequest, asked: Explain
) -> PolicyName | ExplanationsOwnPolicy | None:
    """The one that the metric goes by, where words state it and the prompt has a place for it."""
    field, told = type(request).model_fields.get("policy"), getattr(request, "policy", None)
    if field is None or told == field.default or not isinstance(told, str) or not told.strip():
        return None  # the default is the prompt's own, too
    if not _has_place(asked.prompt or type(request).explain_prompt):
        return None
    return _as_named(told) or ExplanationsOwnPolicy(text=told)


def _has_place(named: str | ExplanationsOwnPrompt) -> bool:
    """Whether this prompt has a place for a policy."""
    if isinstance(named, ExplanationsOwnPrompt):
        return "policy" in custom_prompt(named, OWN_TOKENS).placeholders
    try:
        return "policy" in get_prompt(named).placeholders
    except ValueError:  # said where the request is made
        return False


def _as_named(policy: str) -> PolicyName | None:
    names: tuple[PolicyName, ...] = get_args(PolicyName)
    return next((name for name in names if name == policy), None)


def _own_pointer(contract: MetricContract, request: ExplainableRequest, found: str) -> str:
    """Where that field is in the metric's own request."""
    own = f"/score/{contract.name}"
    if found == own or found.startswith(f"{own}/"):
        return found.removeprefix(own)
    name = found.split("/")[1] if found.startswith("/") else ""
    explains = request.explain.model if isinstance(request.explain, Explain) else None
    if name == "policy" and not (isinstance(request.explain, Explain) and request.explain.policy):
        return f"/{name}"  # the metric's own
    if name in OF_EXPLAIN or (name == "model" and explains is not None):
        return f"/explain{found}"
    return found
