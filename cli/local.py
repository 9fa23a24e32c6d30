"""Runs the service in this process, without servers. The client's `Local()` uses it. Requests are
checked and scored by the same code as over HTTP, so results are equal. Nothing is stored."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from services.explanations.explained_requests import as_checked
from services.explanations.explained_scores import bind_explainer
from services.registry import contracts, metrics, service
from services.worker import local
from shared.contracts.errors import NotThere, ScoringError
from shared.contracts.messages import JobRequest
from shared.contracts.problems import (
    Problem,
    invalid,
    parse_strict,
    problem,
    to_public,
    validation_problem,
)
from shared.contracts.service import ServiceContract
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Job
from shared.ledger.leases import MAX_ATTEMPTS, Claim
from shared.models import ports
from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.process.settings import disable_download, settings
from shared.worker.job import Success, ending

EMBEDDED = Path(__file__).parents[1] / "models.toml"  # the checkout's
SCORES = "/v1/scores/"


class LocalService:
    """The metrics of this installation, with the models of a `models.toml`. `device` is used for
    models whose device is `auto`."""

    def __init__(
        self, models_file: str | PathLike[str] | None = None, device: str | None = None
    ) -> None:
        disable_download()
        path = settings().models_file if models_file is None else Path(models_file)
        if models_file is None and not path.exists():
            path = EMBEDDED
        self._catalogue = on_device(load_catalogue(path), device)
        ports.bind(local(self._catalogue))
        bind_explainer()

    def model_names(self) -> frozenset[str]:
        """Return the names of all models that a request may use."""
        return frozenset(entry.name for entry in self._catalogue.entries)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Process a request and its job. Return the HTTP status and JSON body."""
        try:
            contract = _at(method, path)
            job = self._job(contract, self._read(contract, body))
        except _Invalid as error:
            return _encoded(error.problem["status"], to_public(error.problem, None))
        except ScoringError as error:
            return _encoded(error.status, to_public(problem(error), None))
        return _encoded(200, job_json(job, details=True))

    def _read(self, contract: ServiceContract, body: bytes) -> JobRequest:
        try:
            decoded = json.loads(body)
        except ValueError as error:
            detail = f"the body is not valid JSON: {error}"
            raise _Invalid(invalid([{"loc": (), "type": "json", "msg": detail}], None)) from None
        try:
            body_request = parse_strict(contract.request, body, decoded)
        except ValidationError as error:
            raise _Invalid(validation_problem(error, decoded)) from None
        with as_checked(contract, body_request) as (checked, request):
            self._catalogue.check_request(checked, request.model, request)
            settings().work_limit.check(self._catalogue.work(checked, request))
        return body_request

    def _job(self, contract: ServiceContract, job_request: JobRequest) -> Job:
        request = job_request.model_dump(mode="json")
        began = datetime.now(UTC)
        claim = _claim(request)
        end = ending(contract, service(contract.name).score, claim)
        is_good = isinstance(end, Success)
        return Job(
            id=claim.job_id,
            metric=contract.name,
            tenant=claim.tenant,
            status="succeeded" if is_good else "failed",
            request=request,
            attempts=1,
            result=getattr(end, "result", None),
            error=getattr(end, "problem", None),
            created_at=began,
            started_at=began,
            finished_at=datetime.now(UTC),
            batch_id=None,
        )


class _Invalid(Exception):
    """A request that is not valid."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["detail"])
        self.problem = problem


def on_device(catalogue: Catalogue, device: str | None) -> Catalogue:
    """Return the models with `device` set for those whose device is `auto`. Raises ValueError."""
    if device is None:
        return catalogue
    moved = tuple(
        entry.model_validate(entry.model_dump(exclude_unset=True) | {"device": device})
        if entry.device == "auto" and not entry.is_served
        else entry
        for entry in catalogue.entries
    )
    return replace(catalogue, entries=moved)


def _at(method: str, path: str) -> ServiceContract:
    """Return the service at this path. Raises NotThere."""
    path = path.partition("?")[0]
    for contract in contracts().values():
        if method == "POST" and contract.path == path:
            return contract
    if method == "POST" and path.startswith(SCORES):
        names = ", ".join(sorted(metrics()))
        raise NotThere(
            f"there is no metric {path.removeprefix(SCORES)!r}; choose one of: {names}",
            pointer="/metric",
        )
    raise NotThere(
        f"{method} {path} needs a running service; Local() can only compute single requests"
    )


def _claim(request: Mapping[str, Any]) -> Claim:
    """Return a claim for a job's last attempt, after an infinite wait for models. The job then
    fails at once if a model is missing, without a retry."""
    return Claim(
        job_id=f"job_{secrets.token_hex(16)}",
        attempt=1,
        request=request,
        waited_seconds=math.inf,
        tried=MAX_ATTEMPTS,
        tenant="local",
        batch_id=None,
    )


def _encoded(status: int, value: dict[str, Any]) -> tuple[int, bytes]:
    return status, json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
