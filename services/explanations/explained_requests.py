"""Converts a metric's request with `explain` into a request to `/v1/explanations` for this metric.
Errors point to the fields of the metric's request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard, get_args

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
from shared.contracts.fields import field_at, path_of, value_at
from shared.contracts.messages import TRANSPORT, JobRequest
from shared.contracts.problems import pointer
from shared.contracts.service import MetricContract, ServiceContract
from shared.contracts.validation_messages import first_fault, plain

ONE_JOB = "this is one job; send one request for each of the `items` and `draws`"
OF_THE_JOB = frozenset({"explain", "model", "seed", "language", *INPUTS, *TRANSPORT})
OF_EXPLAIN = ("prompt", "shots", "style", "policy", "target_label", "generation")


def is_explained(request: JobRequest) -> TypeGuard[ExplainableRequest]:
    """True if the request asks a model for the explanation that is then scored."""
    return isinstance(request, ExplainableRequest) and request.explain is not None


@contextmanager
def as_checked(
    contract: ServiceContract, request: JobRequest
) -> Iterator[tuple[ServiceContract, JobRequest]]:
    """Yield the service and request to check before a job is accepted. For a request with `explain`
    they are those of `/v1/explanations`. Raises BadInput."""
    if contract.several is not None and contract.several(request):
        raise BadInput(ONE_JOB, pointer="")
    if not isinstance(contract, MetricContract) or not is_explained(request):
        yield contract, request
        return
    with pointing_to_own(contract, request):
        yield CONTRACT, explanations_request(contract, request)


@contextmanager
def pointing_to_own(contract: MetricContract, request: ExplainableRequest) -> Iterator[None]:
    """Make errors about the request to `/v1/explanations` point to fields of the metric's
    request."""
    try:
        yield
    except BadInput as error:
        if error.pointer is not None:
            error.pointer = _own_pointer(contract, request, error.pointer)
            pointers = (_own_pointer(contract, request, path) for path in error.pointers)
            error.pointers = tuple(pointers)
        raise


def explanations_request(
    contract: MetricContract, request: ExplainableRequest
) -> ExplanationsRequest:
    """Convert a metric's request into one to `/v1/explanations`. Raises BadInput, with a pointer
    into the new request."""
    explain = request.explain if isinstance(request.explain, Explain) else Explain()
    if (model := explain.model or request.model) is None:
        raise BadInput("`explain` needs a `model`, which decides and explains", pointer="/model")
    parameters = request.model_dump(mode="json", exclude_defaults=True, exclude=set(OF_THE_JOB))
    if request.explained_field is not None:
        parameters.pop(request.explained_field, None)
    if has_own_model(request):  # another model explains
        parameters["model"] = request.model
    options = ("shots", "style", "target_label", "generation")
    body = {
        **given_inputs(request),
        **{name: getattr(request, name) for name in ("metadata", "context", "do_not_store_text")},
        **{name: getattr(explain, name) for name in options},
        "model": model,
        "prompt": explain.prompt or type(request).explain_prompt,
        "policy": explain.policy or _policy(request, explain),
        "seed": request.seed,
        "language": request.language,
        "score": {contract.name: parameters},
    }
    try:
        return ExplanationsRequest.model_validate(body)
    except ValidationError as error:
        first = first_fault(error)
        raise BadInput(plain(first), pointer=pointer(first["loc"]).removeprefix("#")) from None


def _policy(
    request: ExplainableRequest, explain: Explain
) -> PolicyName | ExplanationsOwnPolicy | None:
    """Return the policy of the metric's request. Return None for a default or empty policy, or if
    the prompt has no placeholder for a policy."""
    path = path_of(type(request), "policy")
    policy = value_at(request, path)
    if not isinstance(policy, str) or not policy.strip():
        return None
    if policy == field_at(type(request), path).default:
        return None  # the prompt has the same default
    if not _takes_policy(explain.prompt or type(request).explain_prompt):
        return None
    names: tuple[PolicyName, ...] = get_args(PolicyName)
    named = next((name for name in names if name == policy), None)
    return named or ExplanationsOwnPolicy(text=policy)


def _takes_policy(prompt: str | ExplanationsOwnPrompt) -> bool:
    if isinstance(prompt, ExplanationsOwnPrompt):
        return "policy" in custom_prompt(prompt, OWN_TOKENS).placeholders
    try:
        return "policy" in get_prompt(prompt).placeholders
    except ValueError:  # reported when the request is built
        return False


def _own_pointer(contract: MetricContract, request: ExplainableRequest, path: str) -> str:
    score = f"/score/{contract.name}"
    if path == score or path.startswith(f"{score}/"):
        return path.removeprefix(score)
    name = path.split("/")[1] if path.startswith("/") else ""
    explain = request.explain if isinstance(request.explain, Explain) else None
    if name == "policy" and not (explain and explain.policy):  # the metric's own
        return f"/{path_of(contract.request, name).replace('.', '/')}"
    if name in OF_EXPLAIN or (name == "model" and explain and explain.model is not None):
        return f"/explain{path}"
    return path
