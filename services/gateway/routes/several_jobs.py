"""A service whose one request may ask for several jobs: all of them are committed, or none.

The answer is a list then, as that of `:batchCreate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from services.gateway import http_requests, views
from services.gateway.caller import Caller
from services.gateway.http_requests import key_of
from services.gateway.job_views import job_type
from services.gateway.routes.bulk import answer_list, commit_all
from services.gateway.routes.scores import add_service, check_request, take_one
from services.gateway.state import State
from shared.contracts.messages import JobRequest
from shared.contracts.service import ServiceContract


async def take_several(
    contract: ServiceContract, request: Request, gateway: State, caller: Caller
) -> Response:
    """One job, as of any service; or the jobs of a request that asks for several."""
    limit = gateway.settings.max_body_bytes
    asked = await http_requests.parse(request, contract.request, limit=limit)
    jobs = contract.several(asked) if contract.several else ()
    if not jobs:
        return await take_one(contract, asked, request, gateway, caller)
    owner = caller.owner(gateway.settings)
    key = key_of(request.headers.get("idempotency-key"))
    with gateway.bulk_calls.acquire(caller):
        applied = [caller.apply_defaults(one) for one in jobs]
        await run_in_threadpool(_check_each, contract, applied, gateway)
        accepted = await commit_all(contract, applied, gateway, key, owner)
    return await answer_list(accepted, request, gateway, owner.tenant)


def _check_each(contract: ServiceContract, jobs: Sequence[JobRequest], gateway: State) -> None:
    """Raises BadInput for the first that cannot be a job."""
    for one in jobs:
        check_request(contract, one, gateway)


def several_responses(contract: ServiceContract) -> dict[int | str, dict[str, Any]]:
    """A job, or of a request for several the list of them."""
    job = job_type(contract)
    return {
        200: _either(job, f"{job}s", "ended within `Prefer: wait`; several: all of them"),
        202: _either(job, f"Accepted{job}s", "committed; poll `Location`, or the jobs of the list"),
    }


def _either(job: str, jobs: str, says: str) -> dict[str, Any]:
    made = views.schema_response(job, says, headers=("Location",))
    body = made["content"]["application/json"]
    other = views.schema_response(jobs, says)["content"]["application/json"]["schema"]
    return {**made, "content": {"application/json": {"schema": {"anyOf": [body["schema"], other]}}}}


def add_several(router: APIRouter, contract: ServiceContract) -> None:
    """The operation of such a service."""
    add_service(router, contract, take_several, several_responses(contract))
