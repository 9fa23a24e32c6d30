"""The types of jobs and reports in the API's description (OpenAPI), one for each metric."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from services.gateway.views import ALWAYS_SENT, JobBrief, JobSchema, JobSummary, ListPage
from services.registry import all_contracts, contracts, reported
from shared.contracts.answers import report_type, result_type
from shared.contracts.service import MetricContract, ServiceContract


def job_types() -> Iterator[type[BaseModel]]:
    """Yield the types of all responses about jobs."""
    report = report_type(tuple(sorted(reported())))
    results = [*map(_result_of, contracts().values()), report]
    fields: Any = {
        "metric": (Literal[tuple(sorted(all_contracts()))], ...),
        "result": (
            reduce(or_, results) | None,
            Field(description="the result of `metric`, if the job succeeded"),
        ),
    }
    job: Any = create_model("Job", __base__=JobSchema, __doc__="A job in any state.", **fields)
    yield job
    listed: Any = JobSummary | job
    yield create_model("JobList", __base__=ListPage[listed], __doc__="Jobs.")
    yield _list_of("Jobs", job)
    yield _list_of("AcceptedJobs", job | JobBrief)
    yield report


def _result_of(contract: ServiceContract) -> Any:
    if isinstance(contract, MetricContract):
        return result_type(contract.report, contract.name)
    return contract.report if contract.answers is None else contract.answers()


def _list_of(name: str, job: Any) -> type[BaseModel]:
    says = "Jobs, in the order of their requests."
    fields: Any = {
        "object": (Literal["list"], "list"),
        "data": (list[job], ...),
        "has_more": (Literal[False], False),
    }
    return create_model(name, __config__=ALWAYS_SENT, __doc__=says, **fields)
