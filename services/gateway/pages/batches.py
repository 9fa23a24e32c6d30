"""The pages of batches. `/batches` lists them. `/batches/{id}` shows the progress of a batch, then
its results and worst lines. `/batches/{id}/statistics` shows the report. The address of a page
contains its filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, Query, Request
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, acquire_stream, check_scope, with_session_check
from services.gateway.caller import Caller
from services.gateway.pages import reviewers
from services.gateway.pages.answer_card import (
    NO_LABEL,
    AnswerCard,
    CardItem,
    card_of,
    clusters_of,
    folded_words,
    unlabelled_words,
)
from services.gateway.pages.batch_outcome import outcome_of, scale_of
from services.gateway.pages.batch_report import ReportSummary, charts_at_once, design_of, summary_of
from services.gateway.pages.batch_split import split_keys, split_of
from services.gateway.pages.gold_section import gold_section
from services.gateway.pages.job_texts import load_row_detail
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import (
    LARGEST,
    ResultQuery,
    filled_pairs,
    parse_query,
)
from services.gateway.pages.review import NO_AGREEMENT, batch_agreement
from services.gateway.pages.row_excerpts import SNIPPET, excerpt, fitted_rows
from services.gateway.pages.saved_views import saved_views
from services.gateway.pages.templates import FIELD, checked_form, page
from services.gateway.pages.waiting import in_queue, obstacle
from services.gateway.results import result_pages
from services.gateway.results.result_pages import ResultCounts, ResultRow, ResultSummary
from services.gateway.routes.batch_results import view_report_job, write_facts
from services.gateway.routes.batches import BATCH_ID, find_batch, validate_id
from services.gateway.routes.events import stream
from services.gateway.state import Gateway, State
from services.gateway.views import batch_json
from services.registry import (
    contracts,
    metrics,
    reported,
    surprising_words,
    tag_words,
)
from shared.contracts.errors import ScoringError
from shared.ledger import batch_feed, batches, files, judgements
from shared.ledger.batches import Batch
from shared.ledger.engine import Slice
from shared.ledger.jobs import Job
from shared.ledger.judgements import OPINIONS, SCORE
from shared.ledger.score_hours import edges_of

ON_A_PAGE = 50
SO_FAR = 20  # lines of a running batch
MOST_COUNTED = 200_000  # lines whose verdicts one view of the list counts
SELECTION_BYTES, SELECTION_FIELDS = 65_536, 200  # of a form with the chosen lines
FEWEST_DONE = 5  # lines that tell how long the others take

router = page_router()


@router.get("/batches")
async def batch_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    after: Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")] = None,
) -> Response:
    """Show a page of batches."""
    check_scope(caller, "batch")
    wanted = Slice(ON_A_PAGE, after=after, tenant=caller.tenant)
    listed, more = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    called = await file_names(listed, gateway, caller)
    outcomes = await _outcomes(listed, gateway, caller)
    return page(
        request,
        "batches.html",
        batches=[batch_json(batch) for batch in listed],
        called=called,
        outcomes=outcomes,
        older=f"/batches?after={listed[-1].id}" if more else None,
        first=after is None,
    )


async def file_names(listed: Sequence[Batch], gateway: State, caller: Caller) -> dict[str, str]:
    """Return the names of the uploaded files of these batches, as far as known."""
    ids = [batch.input_file_id for batch in listed]
    names = await gateway.in_ledger(lambda one: files.names_of(one, ids, caller.tenant))
    known = {
        batch.id: names.get(batch.input_file_id, batch.metadata.get("uploaded")) for batch in listed
    }
    return {batch_id: name for batch_id, name in known.items() if name}


async def _outcomes(
    listed: Sequence[Batch], gateway: State, caller: Caller
) -> dict[str, Mapping[str, int]]:
    """Return the number of results per verdict of these batches. Complete counts are cached. If
    the others have many lines, only the first of them are counted."""
    counts = {one.id: gateway.outcomes[one.id] for one in listed if one.id in gateway.outcomes}
    left, ids = MOST_COUNTED, []
    for batch in listed:
        if batch.id not in counts and batch.completed:
            left -= batch.completed
            ids += [batch.id] if left >= 0 else []
    new = await gateway.in_ledger(
        lambda connection: result_pages.verdict_counts(connection, caller.tenant, ids)
    )
    for batch in listed:
        if batch.is_final and sum(new.get(batch.id, {}).values()) >= batch.completed > 0:
            gateway.outcomes[batch.id] = new.get(batch.id, {})
    return counts | new


FACT_SECONDS = 0.3  # of a first look at a large batch; the rest is read while the page says so


@dataclass(frozen=True)
class BatchReportState:
    """The state of a batch's report: the report, its job, or why no report exists."""

    summary: ReportSummary | None = None
    report: dict[str, Any] | None = None
    job: Job | None = None
    why_not: str = ""

    @property
    def is_pending(self) -> bool:
        """True while the report is being computed."""
        return self.job is not None and not self.job.is_final

    @property
    def is_missing(self) -> bool:
        """True if nobody has created the report yet."""
        return self.job is None and not self.why_not


@dataclass(frozen=True)
class Results:
    """The results of a batch as the page shows them. `complete` is True if all of them are in the
    results table."""

    view: ResultQuery
    rows: list[ResultRow]
    count: int
    whole: ResultSummary
    card: AnswerCard
    clusters: Sequence[CardItem]
    judged: Mapping[str, Mapping[str, int]]  # job → opinion or tag → people, of these rows
    next: str | None
    complete: bool
    explanations: Mapping[str, str]  # job → the beginning of its explanation

    @property
    def counts(self) -> ResultCounts:
        return self.whole.counts


@dataclass(frozen=True)
class PartialResults:
    """The results of a batch that is still running: a summary, and the worst lines."""

    card: AnswerCard
    rows: list[ResultRow]


@router.get("/batches/{batch_id}")
async def batch_page(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    line: Annotated[int | None, Query(alias="open", ge=0, lt=LARGEST)] = None,
) -> Response:
    """Show the summary of a batch and its lines, or, with `open`, the texts of one line."""
    batch = await get_batch(batch_id, gateway, caller)
    sent = request.query_params.multi_items()
    if (filled := filled_pairs(sent)) != sent:
        query = urlencode(filled, quote_via=quote)
        return RedirectResponse(f"/batches/{batch.id}{'?' if query else ''}{query}", 303)
    contract = reported().get(batch.metric)
    if line is not None:
        opened = await load_row_detail(gateway, batch, line)
        judged = await reviewers.of_job(opened.job, request, gateway, caller)
        tags = tag_words(batch.metric)
        scored = [one for one in judged.given if one.about == SCORE]
        return page(
            request,
            "line.html",
            batch_id=batch.id,
            opened=opened,
            judged=judged,
            opinions=Counter(
                word
                for one in scored
                for word in (one.verdict, one.note)
                if word in (*OPINIONS, *tags.values())
            ),
            tags=tags,
        )
    ended = batch.is_final and batch.total > 0
    return page(
        request,
        "batch.html",
        batch=batch_json(batch),
        waits=None if batch.is_final else await _why_waiting(batch, gateway),
        seconds_left=None if batch.is_final else _seconds_left(batch),
        so_far=None if batch.is_final else await _so_far(batch, gateway),
        contract=contracts().get(batch.metric),
        results=await _results(batch, gateway, request) if ended else None,
        is_metric=batch.metric in metrics(),
        scale=scale_of(contract),
        words=surprising_words(batch.metric),
        tags=tag_words(batch.metric),
        judges=_judges(gateway, batch.metric),
        readers=gateway.model_names("causal"),
        tabs=await saved_views(gateway, caller.tenant, batch.metric) if ended else {},
    )


def _judges(gateway: State, metric: str) -> list[str]:
    """Return the models that can answer this metric's requests."""
    if (contract := metrics().get(metric)) is None:
        return []
    body = contract.request.model_validate(next(iter(contract.examples.values())))
    names = []
    for name in gateway.model_names(*contract.model_kinds):
        with suppress(ScoringError):
            gateway.catalogue.check_request(contract, name, body)
            names.append(name)
    return names


@router.get("/batches/{batch_id}/statistics")
async def batch_statistics(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    charts: Annotated[int, Query(ge=0, lt=LARGEST)] = 0,
) -> Response:
    """Show the report on the selected lines of a batch: means with intervals, charts, and a split
    by any value. `charts` is the first chart to draw if there are many. A button creates what is
    missing."""
    batch = await get_batch(batch_id, gateway, caller)
    if not batch.is_final or not batch.total:
        return RedirectResponse(f"/batches/{batch.id}", 303)
    complete = await write_facts(gateway, batch, FACT_SECONDS)
    view = parse_query(batch, batch.tenant, request.query_params.multi_items())
    whole = shown = await known_of(batch, gateway, complete=complete)
    if not view.is_whole:
        edges = edges_of(reported().get(batch.metric))
        shown = await gateway.in_ledger(
            lambda connection: result_pages.summary_of(connection, view.filter, edges)
        )
    report = await _report(batch, gateway, caller, view)
    split = await split_of(batch, gateway, caller, view)
    people = NO_AGREEMENT
    if view.is_whole:
        people = await batch_agreement(batch, gateway, caller)
    parts = (report, split, people)
    contract = reported().get(batch.metric)
    is_metric = batch.metric in metrics()
    return page(
        request,
        "statistics.html",
        batch=batch_json(batch),
        contract=contracts().get(batch.metric),
        complete=complete,
        view=view,
        lines=whole.counts.rows,
        provenance=shown.provenance,
        report=report,
        is_metric=is_metric,
        finding=outcome_of(contract, shown.counts, report.report),
        charts_shown=charts_at_once(
            design_of(batch.metric, report.report), charts, view.charts_from
        ),
        seconds=_elapsed_time(batch),
        split=split,
        split_keys=split_keys(view, shown.keys, shown.counts.values) if is_metric else {},
        people=people.job,
        may_make=caller.has_scope("batch"),
        may_create=caller.has_scope("batch") and any(part and part.is_missing for part in parts),
        gold=gold_section(report.report),
    )


@router.post("/batches/{batch_id}/statistics")
async def create_statistics(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Create the reports that the statistics page shows for the lines in the form."""
    check_scope(caller, "batch")
    form = await checked_form(request, limit=SELECTION_BYTES, fields=SELECTION_FIELDS)
    batch = await get_batch(batch_id, gateway, caller)
    pairs = filled_pairs([pair for pair in form.pairs if pair[0] != FIELD])
    if batch.is_final and batch.total:
        await write_facts(gateway, batch, FACT_SECONDS)
        view = parse_query(batch, batch.tenant, pairs)
        await _report(batch, gateway, caller, view, create=True)
        await split_of(batch, gateway, caller, view, create=True)
        if view.is_whole:
            await batch_agreement(batch, gateway, caller, create=True)
    query = urlencode(pairs, quote_via=quote)
    anchor = "#split" if "split" in dict(pairs) else ""
    return RedirectResponse(
        f"/batches/{batch.id}/statistics{'?' if query else ''}{query}{anchor}", 303
    )


def _seconds_left(batch: Batch) -> float | None:
    """Return the estimated seconds until the last line is done at the current pace. Return None
    until enough lines are done."""
    done, began = batch.completed + batch.failed, batch.in_progress_at
    if began is None or done < FEWEST_DONE:
        return None
    return (datetime.now(UTC) - began).total_seconds() / done * (batch.total - done)


def _elapsed_time(batch: Batch) -> float | None:
    """Return the seconds from the start of a batch's processing to its completion. Return None if
    either time is unknown."""
    times = batch_json(batch)
    began, ended = times["in_progress_at"], times["completed_at"]
    return None if began is None or ended is None else float(ended - began)


@router.get("/batches/{batch_id}/live", dependencies=[Depends(acquire_stream)])
async def stream_batch(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Stream the events of the batch until the page can show every line."""

    async def read() -> Batch:
        batch = await get_batch(batch_id, gateway, caller)
        if batch.is_final:
            await write_facts(gateway, batch)
        return batch

    watched = with_session_check(request, gateway, read)
    return await stream(watched, batch_id, gateway, request.headers.get("last-event-id"))


@router.post("/batches/{batch_id}/cancel")
async def batch_cancel(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Cancel the batch. A batch that has ended is not changed."""
    check_scope(caller, "batch")
    await checked_form(request)
    await gateway.in_ledger(
        lambda connection: batches.cancel(connection, validate_id(batch_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/batches/{batch_id}", 303)


async def _report(
    batch: Batch, gateway: State, caller: Caller, view: ResultQuery, *, create: bool = False
) -> BatchReportState:
    """Return the state of the report on these lines. If there is none, create it if `create`."""
    owner, selection = caller.owner(gateway.settings), None if view.is_whole else view.filter
    try:
        job = await view_report_job(batch, gateway, owner, selection, create=create)
    except ScoringError as error:
        return BatchReportState(why_not=error.detail)
    if job is None:
        may_create = caller.has_scope("batch")
        return BatchReportState(why_not="" if may_create else "your API key may not make reports")
    if job.error is not None:
        return BatchReportState(job=job, why_not=str(job.error.get("detail", "")))
    if job.result is None:
        return BatchReportState(
            job=job, why_not="" if not job.is_final else "its job was cancelled"
        )
    summary = await run_in_threadpool(summary_of, batch, job.result, inside=not view.is_whole)
    return BatchReportState(summary, job.result, job)


async def _why_waiting(batch: Batch, gateway: State) -> str:
    """Return a phrase that follows "waiting", or "" if lines are being scored."""
    if batch.waits:
        return f"because {batch.waits}"
    if batch.status != "in_progress":
        return ""
    model = await gateway.in_ledger(lambda one: batch_feed.model_waited_for(one, batch.id))
    why = obstacle(gateway, batch.metric, model)
    return why if why or batch.completed + batch.failed else await in_queue(batch.metric)


async def _so_far(batch: Batch, gateway: State) -> PartialResults | None:
    """Return the results of a running batch, or None without any."""
    await write_facts(gateway, batch, 0)
    view = parse_query(batch, batch.tenant, ())

    def read(connection: Connection) -> PartialResults:
        rows = result_pages.rows_of(connection, view.filter, view.order, SO_FAR).rows
        counts = result_pages.card_counts(connection, view.filter)
        return PartialResults(
            card_of(view, reported().get(batch.metric), counts, batch.total), rows
        )

    partial = await gateway.in_ledger(read)
    return partial if partial.rows else None


async def _results(batch: Batch, gateway: State, request: Request) -> Results:
    complete = await write_facts(gateway, batch, FACT_SECONDS)
    view = parse_query(batch, batch.tenant, request.query_params.multi_items())
    whole = await known_of(batch, gateway, complete=complete)

    contract = reported().get(batch.metric)
    tags = tag_words(batch.metric).values()

    def read(connection: Connection) -> Results:
        rows, key, count = result_pages.rows_of(connection, view.filter, view.order, ON_A_PAGE)
        ids = [row.job_id for row in rows if row.job_id is not None]
        explanations = result_pages.explanations_of(connection, batch.tenant, ids)
        counts = every = result_pages.card_counts(connection, view.filter)
        if view.any_failure.pairs != view.pairs:
            every = result_pages.card_counts(connection, view.any_failure.filter)
        folded = folded_words(connection, view, list(whole.counts.values["decision_sent"]))
        unlabelled = unlabelled_words(connection, view) if NO_LABEL in counts.untested else {}
        return Results(
            view=view,
            rows=fitted_rows(rows, view),
            count=count,
            whole=whole,
            card=card_of(view, contract, counts, whole.counts.rows, folded, unlabelled),
            clusters=clusters_of(view.any_failure, every),
            judged=judgements.count_by_job(connection, batch.tenant, ids, tags),
            next=None if key is None else view.next(key),
            complete=complete,
            explanations={job: excerpt(text, SNIPPET) for job, text in explanations.items()},
        )

    return await gateway.in_ledger(read)


async def known_of(batch: Batch, gateway: State, *, complete: bool) -> ResultSummary:
    """Return the summary of all results of a batch, ignoring filters. If `complete`, the summary is
    final and is cached."""
    wanted = parse_query(batch, batch.tenant, ()).filter
    edges = edges_of(reported().get(batch.metric))
    known = gateway.summaries.get(batch.id) if complete else None
    summary = await gateway.in_ledger(
        lambda connection: result_pages.summary_of(connection, wanted, edges, known)
    )
    if complete and summary is not known:
        gateway.summaries[batch.id] = summary
    return summary


async def get_batch(batch_id: str, gateway: State, caller: Caller) -> Batch:
    """Return this batch of the caller. Raises UnknownBatch, Forbidden."""
    check_scope(caller, "batch", "review")
    return await find_batch(batch_id, gateway, caller.tenant)
