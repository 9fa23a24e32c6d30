"""A service's Celery tasks: `score.<name>` and, for a metric, `score.<name>-report`.

A task carries a job's id. Its body is `job.run_job`, which tests call directly. A report over many
results is also a job. Results are read here, and the metric's pure `summarize` combines them in the
order of the batch's file or of the listed ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from shared.contracts.batches import (
    Against,
    BatchReport,
    BatchReportRequest,
    Judged,
    model_of,
)
from shared.contracts.errors import BadInput
from shared.contracts.gold_metadata import has_gold
from shared.contracts.messages import Provenance, Scored
from shared.contracts.service import (
    BatchReportContract,
    MetricContract,
    ReportedContract,
    Service,
    ServiceContract,
)
from shared.ledger import batch_lines, judgements
from shared.ledger.batch_lines import JobOutcome
from shared.ledger.engine import ledger, transaction
from shared.process import telemetry
from shared.process.settings import settings
from shared.process.telemetry import start_span
from shared.queue.broker import AGAIN, app, is_batch, task_name
from shared.queue.job_context import check_each
from shared.reports.comparison_decision import decision_of
from shared.reports.estimates import BatchStatistics, has_null, plan_of
from shared.reports.gold_agreement import GoldResults
from shared.reports.human_agreement import GivenJudgement, JudgedResults
from shared.reports.metric import Metric, ReportedService
from shared.reports.pages.page_text import counted
from shared.reports.pages.report_summary import ResultTally, sentences
from shared.reports.score_splits import split_scores
from shared.reports.system_comparison import SystemResults, over_systems
from shared.statistics.clusters import without_repeats
from shared.worker.job import MessageDelivery, Score, run_job

logger = telemetry.logger(__name__)


@dataclass(frozen=True)
class RegisteredTask:
    contract: ServiceContract
    score: Score


registered: dict[str, RegisteredTask] = {}


def register(service: Service) -> None:
    """Register the service's task and that of its batch reports. A second call replaces the
    first."""
    _register(service.contract, service.score)
    if isinstance(service, ReportedService):
        _register(service.contract.batch, _batch_reports_of(service))


def _register(contract: ServiceContract, score: Score) -> None:
    registered[contract.name] = RegisteredTask(contract, score)
    app.tasks.pop(task_name(contract.name), None)

    @app.task(name=task_name(contract.name), ignore_result=True, bind=True)  # type: ignore[untyped-decorator]
    def task(self: Any, job_id: str) -> None:
        headers = self.request.headers or {}
        name = (self.request.delivery_info or {}).get("routing_key") or ""
        delivery = MessageDelivery(batch=is_batch(name), again=AGAIN in headers)
        with (
            telemetry.log_context(job=job_id),
            start_span(f"score {contract.name}", headers, job=job_id),
        ):
            run_job(job_id, contract, score, delivery)


def _batch_reports_of(service: ReportedService) -> Score:
    """Return a function that summarises the succeeded jobs and counts the others in `left_out`.

    The counts are by status: `failed`, `cancelled`, `expired`, or still `queued`, `running`,
    `waiting`. Further counts are `unreadable` if this version of the metric cannot read the result,
    and `text_not_kept` if the metric needs a deleted text. `other_model` and `other_metadata` are
    used if the report selects by them.
    """
    contract, batch = service.contract, service.contract.batch

    def report(request: BatchReportRequest) -> BatchReport:
        own = collect_results(batch, contract, request)
        rows = own.rows
        others, further = _others(batch, contract, request)
        judged = [] if request.judged is None else _given(rows, request.judged)
        results = len(rows) + sum(len(one.rows) for one in (others, *further))
        beside = sum(has_gold(row.request.metadata, request.gold) for row in rows)
        settings().work_limit.check(batch.work_over(request, results, len(judged), beside))
        check_one_version(rows, request)
        found = {}
        if isinstance(contract, MetricContract):
            systems = [replace(own, left_out=Counter()), *further]
            found = _compared(contract, request, others, systems)
        if request.judged is not None:
            people = JudgedResults(BatchStatistics(contract, rows, request), judged)
            found["agreement"] = people.agreement(request.judged)
        made = _summary(service, rows, own.left_out, request)
        return _planned(made.model_copy(update=found), request, contract)

    return report


def _summary(
    service: ReportedService,
    rows: Sequence[Scored[Any, Any]],
    left_out: Counter[str],
    request: BatchReportRequest,
) -> BatchReport:
    """Return the service's summary of its results without duplicates, with the fields that all
    batch reports have. `left_out` counts the results that were not used, by reason."""
    own, duplicates = drop_duplicates(rows)
    over = BatchStatistics(service.contract, own, request)
    made = service.summarize(own, over)
    found: dict[str, Any] = {
        "gold": GoldResults(over, service.gold_source(), request.gold).agreement(),
        "left_out": dict(sorted(left_out.items())),
        "duplicates": duplicates,
        "corrected": service.contract.batch.corrections,
    }
    if isinstance(service, Metric):
        told = made.model_dump(mode="json", exclude={"plots"}) | {"duplicates": duplicates}
        tally = ResultTally.of(row.report for row in rows)
        found["splits"] = split_scores(over)
        found["finding"] = " ".join(sentences(service.contract, tally, told))
    if duplicates:
        found["warnings"] = (*made.warnings, repeat_warning(duplicates))
    return made.model_copy(update=found)


def _planned(
    made: BatchReport, request: BatchReportRequest, contract: ReportedContract
) -> BatchReport:
    """Add the planned size of a study, if the request has a plan."""
    if request.plan is None:
        return made
    metric = isinstance(contract, MetricContract)
    planned = plan_of(request.plan, made, against_random=metric and has_null(contract.report))
    return made.model_copy(update={"plan": planned})


@dataclass(frozen=True)
class CollectedResults:
    """The results of a system, and the number of its unusable jobs by status. `failed` maps the
    custom id of each failed line to its text, or to None if the text is unknown."""

    rows: Sequence[Scored[Any, Any]] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    failed: Mapping[str, str | None] = field(default_factory=dict)


def _others(
    batch: BatchReportContract, metric: ReportedContract, request: BatchReportRequest
) -> tuple[CollectedResults, list[CollectedResults]]:
    """Return (the system in `against`, the systems in `further`), each with its results. The first
    is empty if `against` is missing."""
    found = []
    named = [] if request.against is None else [("/against", request.against)]
    named += [(f"/further/{place}", one) for place, one in enumerate(request.further)]
    for pointer, one in named:
        try:
            found.append(collect_results(batch, metric, one))
        except BadInput as error:
            raise BadInput(error.detail, pointer=f"{pointer}{error.pointer or ''}") from error
    first, *further = found or [CollectedResults()]
    return first, further


def _compared(
    metric: MetricContract,
    request: BatchReportRequest,
    against: CollectedResults,
    systems: Sequence[CollectedResults],
) -> dict[str, Any]:
    """Return the differences system - `against` for each of `systems`, or {} without `against`.
    `systems` holds the report's own results, then the results of `further`."""
    if request.against is None:
        return {}
    found = []
    for asked, system in zip((request.against, *request.further), systems, strict=True):
        both = BatchStatistics(metric, (*system.rows, *against.rows), request)
        failed = system.failed, against.failed
        made = SystemResults(both, system.rows, against.rows, failed).comparison(asked)
        left_out = against.left_out + system.left_out
        found.append(made.model_copy(update={"left_out": dict(sorted(left_out.items()))}))
    first, *more = [
        row.model_copy(update={"decision": decision_of(row.model_dump(mode="json"), metric)})
        for row in over_systems(found)
    ]
    return {"comparison": first, "further": tuple(more)}


def _given(rows: Sequence[Scored[Any, Any]], judged: Judged) -> list[GivenJudgement]:
    with transaction(ledger()) as connection:
        found = judgements.list_current(connection, [row.job_id for row in rows], judged.queue)
    return [GivenJudgement(*one) for one in found]


def check_one_version(rows: Sequence[Scored[Any, Any]], request: BatchReportRequest) -> None:
    """Raise BadInput for results of several versions of the metric, unless `mixed` allows it."""
    origins = [row.report.provenance for row in rows]
    versions = sorted({one.metric_version for one in origins if isinstance(one, Provenance)})
    if len(versions) > 1 and not request.mixed:
        raise BadInput(
            f"the results come from several versions of the metric, {', '.join(versions)}. Score "
            "the older results again, or send `mixed: true` to combine them",
            pointer="/mixed",
        )


def drop_duplicates(rows: Sequence[Scored[Any, Any]]) -> tuple[list[Scored[Any, Any]], int]:
    """Return the results without repeats, and the number of repeats. A repeat has the same request
    and report as an earlier result."""
    places, repeats = without_repeats(
        [
            (row.request.model_dump_json(warnings=False), row.report.model_dump_json())
            for row in check_each(rows)
        ]
    )
    return [rows[place] for place in places], repeats


def repeat_warning(count: int) -> str:
    """Return the warning about repeated results, which are counted only once."""
    verbs = ("repeats", "counts") if count == 1 else ("repeat", "count")
    return f"{counted(count, 'result')} {verbs[0]} other results and {verbs[1]} only once"


def collect_results(
    batch: BatchReportContract, metric: ReportedContract, request: BatchReportRequest | Against
) -> CollectedResults:
    """Return the results that were requested."""
    with transaction(ledger()) as connection:
        if request.batch is not None:
            rows = batch_lines.outcomes_of_batch(connection, metric.name, request.batch)
        else:
            rows = batch_lines.outcomes_of_jobs(connection, metric.name, request.jobs or ())
        results = sorted_out(batch, metric, rows, request)
    return replace(results, rows=_of_part(metric, results, request))


def _of_part(
    metric: ReportedContract, results: CollectedResults, request: BatchReportRequest | Against
) -> list[Scored[Any, Any]]:
    """Return the results with the requested model and metadata. The others are counted in
    `left_out`."""
    wanted = request.of_metadata.items()
    chosen = []
    for row in results.rows:
        if request.of_model not in (None, _model_of(metric, row)):
            results.left_out["other_model"] += 1
        elif not wanted <= row.request.metadata.items():
            results.left_out["other_metadata"] += 1
        else:
            chosen.append(row)
    return chosen


def _model_of(metric: ReportedContract, row: Scored[Any, Any]) -> str | None:
    origin = row.report.provenance
    models = origin.models if isinstance(origin, Provenance) else (origin.model,)
    first = models[0].name if models and models[0] is not None else None
    return model_of(first, row.request.model, metric.default_model)


def sorted_out(
    batch: BatchReportContract,
    metric: ReportedContract,
    rows: Iterable[JobOutcome],
    request: BatchReportRequest | Against,
) -> CollectedResults:
    """Return the usable rows as messages, the number of unusable rows by status, and the failed
    lines with the requested model and metadata. Lines that share a job share its request and
    result, but not their metadata."""
    scored: list[Scored[Any, Any]] = []
    left_out: Counter[str] = Counter()
    failed: dict[str, str | None] = {}
    read: dict[str, tuple[Any, Any]] = {}
    for row in check_each(rows):
        if row.status != "succeeded" or row.job_id is None or row.request is None:
            left_out[row.status] += 1
            if row.status == "failed" and row.custom_id and _is_of_part(metric, row, request):
                failed[row.custom_id] = _text_of(metric, row)
        elif batch.needs_text and row.request.get("do_not_store_text"):
            left_out["text_not_kept"] += 1
        elif (messages := read.get(row.job_id) or _messages(metric, row)) is None:
            left_out["unreadable"] += 1
        else:
            read[row.job_id] = scored_request, report = messages
            if row.metadata is not None:
                scored_request = scored_request.model_copy(update={"metadata": row.metadata})
            scored.append(Scored(row.job_id, row.custom_id, scored_request, report))
    return CollectedResults(scored, left_out, failed)


def _is_of_part(
    metric: ReportedContract, row: JobOutcome, request: BatchReportRequest | Against
) -> bool:
    """Return True if a line without a result has the requested model and metadata."""
    stored = row.request or {}
    metadata = stored.get("metadata") if row.metadata is None else row.metadata
    model = model_of(None, stored.get("model"), metric.default_model)
    return (
        request.of_model in (None, model)
        and request.of_metadata.items() <= (metadata or {}).items()
    )


def _text_of(metric: ReportedContract, row: JobOutcome) -> str | None:
    """Return the judged text of a line without a result, or None if it was not kept."""
    try:
        return metric.judged_text(metric.request.model_validate(row.request))
    except ValidationError:
        return None


def _messages(metric: ReportedContract, row: JobOutcome) -> tuple[Any, Any] | None:
    """Return request and report, or None if another version of the contract wrote them."""
    stored = row.request or {}
    try:
        report = metric.report.model_validate(row.result)
        if stored.get("do_not_store_text"):  # what is left of it; its texts are not there
            return metric.request.model_construct(**stored), report
        return metric.as_scored(metric.request.model_validate(stored), report), report
    except ValidationError:
        return None
