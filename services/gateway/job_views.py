"""The types of jobs and reports in the API's description: one type per metric, with `metric` as
discriminator.

`views` makes the responses. The types are built from the registered metrics when the description is
requested. A type's name begins with the name of its service, as in `IceJob`, `IceReportJob`,
`InferenceJob`. `Job` is their union.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Field, RootModel, create_model

from services.gateway.views import ALWAYS_SENT, JobBrief, JobSchema, JobSummary, ListPage
from services.registry import all_contracts, reported
from shared.contracts.service import (
    BatchReportContract,
    MetricContract,
    ServiceContract,
    tag_report,
)


def job_type(contract: ServiceContract) -> str:
    """Return the name of a job's type: Cot2elReportJob for `cot2el-report`."""
    return "".join(part.capitalize() for part in contract.name.split("-")) + "Job"


def job_types() -> Iterator[type[BaseModel]]:
    """Yield every type of a response about jobs."""
    jobs = {name: _job_of(contract) for name, contract in all_contracts().items()}
    union = _union("Job", "A job of any kind.", jobs.values())
    yield union
    listed: Any = JobSummary | union
    yield create_model("JobList", __base__=ListPage[listed], __doc__="Jobs.")
    yield _list_of("Jobs", union)
    yield _list_of("AcceptedJobs", union | JobBrief)
    reports = [_report_of(contract.batch) for contract in reported().values()]
    yield _union("BatchReport", "A batch report of any metric.", reports)


def _job_of(contract: ServiceContract) -> type[BaseModel]:
    fields: Any = {
        "metric": (Literal[contract.name], ...),
        "result": (_result_of(contract) | None, Field(description="where the job succeeded")),
    }
    says = f"A job of {contract.name}, whatever its state."
    return create_model(job_type(contract), __base__=JobSchema, __doc__=says, **fields)


def _result_of(contract: ServiceContract) -> Any:
    if isinstance(contract, BatchReportContract):
        return _report_of(contract)
    if isinstance(contract, MetricContract):
        return contract.tagged_report
    return contract.report if contract.answers is None else contract.answers()


def _report_of(contract: BatchReportContract) -> Any:
    return tag_report(
        contract.report, f"{contract.metric.capitalize()}BatchReport", contract.metric
    )


def _list_of(name: str, job: Any) -> type[BaseModel]:
    says = "Jobs, in the order in which they were asked for."
    fields: Any = {
        "object": (Literal["list"], "list"),
        "data": (list[job], ...),
        "has_more": (Literal[False], False),
    }
    return create_model(name, __config__=ALWAYS_SENT, __doc__=says, **fields)


def _union(name: str, says: str, kinds: Iterable[type[BaseModel]]) -> Any:
    union: Any = Union[tuple(kinds)]  # noqa: UP007
    root: Any = Annotated[union, Field(discriminator="metric")]
    return create_model(name, __base__=RootModel[root], __doc__=says)
