"""The pages on which people judge results. `/queues` lists review queues, with the agreement of
reviewers. `/queues/{id}/judge` shows a line to judge. By default, reviewers see the score and the
verdict only after they answered. Every step is a form with keyboard shortcuts."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Query, Request
from pydantic import ValidationError
from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.caller import Caller
from services.gateway.judgement_views import ReviewQueueRequest
from services.gateway.pages import templates
from services.gateway.pages.job_texts import JobText, result_spans
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import filter_label, parse_query
from services.gateway.pages.reviewers import (
    NOTE_BYTES,
    get_origin,
    name_of,
    parse_form,
    read_spans,
    set_name_cookie,
)
from services.gateway.pages.span_input import texts_to_mark
from services.gateway.pages.templates import checked_form, page
from services.gateway.refusals import InvalidBody, NoReport
from services.gateway.results import review_progress, review_queues
from services.gateway.results.review_progress import ReviewProgress
from services.gateway.results.review_queues import QUESTIONS, ReviewItem, ReviewQueue
from services.gateway.routes import judgements as judgement_routes
from services.gateway.routes import review_queues as queue_routes
from services.gateway.routes.batches import find_batch as found_batch
from services.gateway.routes.jobs import BATCH_ID, find_job, validate_id
from services.gateway.routes.judgements import JUDGEMENT_ID
from services.gateway.state import Gateway, State
from services.registry import reported
from shared.contracts.problems import validation_problem
from shared.contracts.service import FactPaths
from shared.ledger import judgements
from shared.ledger.batches import Batch
from shared.ledger.jobs import Job
from shared.ledger.judgements import OPINIONS, JudgementFilter, Origin, ReviewerJudgement
from shared.reports.pages.page_text import Mark, pieces

ON_A_PAGE = 50
ENOUGH = 20  # judgements of a batch, for figures
POSITION = re.compile(r"[0-9]{1,6}")
LONGEST_SECONDS = 3_600.0  # of an answer; a longer one was a pause

HELD = {"keys": "off", "texts": "on"}  # name in an address → value, where it is not as usual

router = page_router()


@dataclass(frozen=True)
class ReviewLine:
    """A line to judge. `texts` is empty if the texts were not kept. `decision` is the decision that
    the explanation explains, or empty if the metric has none."""

    job: Job
    texts: list[JobText]
    decision: str = ""

    @property
    def is_marked(self) -> bool:
        """Return True if the explanation marks words of the texts."""
        marks = (mark for text in self.texts for piece in text.pieces for mark in piece.marks)
        return any(mark.kind == "evidence" for mark in marks)

    @property
    def takes_notes(self) -> bool:
        """Return True if judgements may have notes, which may quote the texts."""
        return not self.job.request.get("do_not_store_text")


def line_of(job: Job, given: ReviewerJudgement | None = None) -> ReviewLine:
    """Return the job's texts with the words highlighted that the explanation marks. `given` adds
    the words that the reviewer marked."""
    texts = texts_to_mark(job)
    marks = {name: result_spans(job, name) for name in texts}
    for span in () if given is None else given.spans:
        if span["of"] in marks:
            marks[span["of"]].append(Mark(span["start"], span["end"], "human", "marked by you"))
    shown = [JobText(name, pieces(texts[name], own)) for name, own in marks.items()]
    return ReviewLine(job, shown, decision_of(job))


def decision_of(job: Job) -> str:
    """Return the decision that the explanation is for, or an empty string. Sources, in this order:
    the elicited decision, the request, the model's result, and the explanation's own statement."""
    contract = reported().get(job.metric)
    facts = FactPaths() if contract is None or contract.facts is None else contract.facts
    result = job.result or {}
    decisions = (
        (result.get("elicitation") or {}).get("decision"),
        job.request.get(facts.decision_sent),
        result.get(facts.decision),
        result.get(facts.decision_stated),
    )
    return next((decision for decision in decisions if isinstance(decision, str) and decision), "")


@router.get("/queues")
async def queue_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    batch: Annotated[str, Query(pattern=f"^({BATCH_ID.pattern})?$")] = "",
) -> Response:
    """List the review queues. A form creates a new queue of a batch, by default from a random
    sample."""
    check_scope(caller, "batch", "review")
    selected = await found_batch(batch, gateway, caller.tenant) if batch else None

    def read(connection: Connection) -> tuple[list[tuple[ReviewQueue, ReviewProgress]], int]:
        some, _ = review_queues.page_of(
            connection, caller.tenant, ON_A_PAGE, batch_id=batch or None
        )
        wanted = JudgementFilter(caller.tenant, batch_id=batch or None)
        count = judgements.count_of(connection, wanted)
        progress = review_progress.progress_by_queue(connection, [queue.id for queue in some])
        return [(queue, progress[queue.id]) for queue in some], count

    queues, count = await gateway.in_ledger(read)
    people = NO_AGREEMENT
    if selected is not None:
        people = await batch_agreement(selected, gateway, caller)
    return page(
        request,
        "queues.html",
        job=people.job,
        may_create=people.is_missing and caller.has_scope("batch"),
        batch=selected,
        query=_selected_query(request, selected),
        queues=queues,
        count=count,
        may_make=caller.has_scope("batch"),
        may_judge=caller.has_scope("review"),
    )


@dataclass(frozen=True)
class BatchAgreement:
    """The job that computes how well reviewers agree, if there is one. `is_missing` is True if
    there are enough judgements but nobody has created the job."""

    job: Job | None = None
    is_missing: bool = False


NO_AGREEMENT = BatchAgreement()


async def batch_agreement(
    batch: Batch, gateway: State, caller: Caller, *, create: bool = False
) -> BatchAgreement:
    """Return the agreement of the reviewers of a batch with at least `ENOUGH` judgements. If
    `create`, create the job that computes it."""
    wanted = JudgementFilter(caller.tenant, batch_id=batch.id)
    known = await queue_routes.judgement_state(wanted, gateway)
    if known.number < ENOUGH:
        return NO_AGREEMENT
    try:
        job = await queue_routes.batch_agreement_job(batch, known, gateway, caller, create=create)
    except NoReport:
        return NO_AGREEMENT
    return BatchAgreement(job, is_missing=job is None)


def _selected_query(request: Request, batch: Batch | None) -> str:
    """Return the filters and line numbers in the address, as the form for a new queue needs
    them."""
    if batch is None:
        return ""
    view = parse_query(batch, batch.tenant, request.query_params.multi_items())
    named = [pair for pair in view.pairs if pair in view.filters or pair[0] == "line"]
    return urlencode(named)


@router.post("/queues")
async def make_queue(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Create a review queue from the form, or from a button on another page."""
    check_scope(caller, "batch")
    form = await checked_form(request, limit=NOTE_BYTES)
    rubric = ["agree", *(name for name in QUESTIONS[1:] if form.get(f"ask_{name}"))]
    body: dict[str, Any] = {
        "batch": form.get("batch", ""),
        "name": form.get("name", "").strip() or "Random lines",
        "query": form.get("query", "").lstrip("?").partition("#")[0],
        "order": form.get("order", "random"),
        "blind": form.get("shown") is None,
        "rubric": tuple(rubric),
    }
    body |= {name: form[name] for name in ("lines", "per_line", "seed") if form.get(name)}
    try:
        body_request = ReviewQueueRequest.model_validate(body)
    except ValidationError as error:
        raise InvalidBody(validation_problem(error, body)) from None
    queue = await queue_routes.make(
        body_request, gateway, caller, templates.once_key(form, "queue")
    )
    return RedirectResponse(f"/queues/{queue.id}", 303)


@router.get("/queues/{queue_id}")
async def queue_page(request: Request, queue_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Show the queue's progress and agreement."""
    check_scope(caller, "batch", "review")
    queue = await queue_routes.find_queue(queue_id, gateway, caller)
    progress = await gateway.in_ledger(
        lambda connection: review_progress.progress(connection, queue)
    )
    job: Job | None = None
    may_create = False
    try:
        job = await queue_routes.agreement_job(queue, gateway, caller, create=False)
    except NoReport as error:
        why = error.detail
    else:
        may_create = job is None
        why = "" if job is None or job.error is None else str(job.error.get("detail", ""))
    agreement = None if job is None or job.result is None else job.result.get("agreement")
    return page(
        request,
        "queue.html",
        queue=queue,
        filters=", ".join(filter_label(name, value, queue.metric) for name, value in queue.query),
        address=urlencode([(name, value) for name, value in queue.query]),
        progress=progress,
        job=job,
        why=why,
        may_create=may_create,
        agreement=agreement,
        may_judge=caller.has_scope("review"),
        may_close=caller.has_scope("batch"),
    )


@router.post("/queues/{queue_id}")
async def create_agreement(
    request: Request, queue_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Create the report on the queue's judgements so far, and return to the queue's page."""
    check_scope(caller, "batch", "review")
    await checked_form(request)
    queue = await queue_routes.find_queue(queue_id, gateway, caller)
    await queue_routes.agreement_job(queue, gateway, caller, create=True)
    return RedirectResponse(f"/queues/{queue.id}", 303)


@router.post("/queues/{queue_id}/close")
async def close(request: Request, queue_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Close the queue, so that reviewers get no more lines from it."""
    check_scope(caller, "batch")
    await checked_form(request)
    await gateway.in_ledger(
        lambda connection: review_queues.close(
            connection, queue_routes.validate_id(queue_id), caller.tenant
        )
    )
    return RedirectResponse(f"/queues/{queue_id}", 303)


@router.get("/queues/{queue_id}/judgements.{form}")
async def queue_file(
    queue_id: str,
    form: Literal["jsonl", "csv", "label-studio"],
    gateway: Gateway,
    caller: Viewer,
) -> Response:
    """Return the judgements of the queue as a file."""
    check_scope(caller, "batch", "review")
    queue = await queue_routes.find_queue(queue_id, gateway, caller)
    wanted = JudgementFilter(caller.tenant, queue_id=queue.id)
    return await judgement_routes.as_file(gateway, wanted, form)


@router.get("/queues/{queue_id}/judge")
async def judge_page(
    request: Request,
    queue_id: str,
    gateway: Gateway,
    caller: Viewer,
    after: Annotated[str, Query(pattern=f"^({JUDGEMENT_ID.pattern})?$")] = "",
) -> Response:
    """Show the line that is reserved for the reviewer, or a button to reserve one. If the reviewer
    just answered without seeing the result, show that result first."""
    check_scope(caller, "review")
    queue = await queue_routes.find_queue(queue_id, gateway, caller)
    name = name_of(request, caller)
    if not name:
        return page(request, "reviewer.html", queue=queue, has_key=caller.key is not None)
    given = await _find_current(after, gateway, caller) if after else None
    if given is not None and queue.blind:
        job = await find_job(given.job_id, gateway, caller.tenant)
        progress = await gateway.in_ledger(
            lambda connection: review_progress.progress(connection, queue, name)
        )
        return _line_page(request, queue, line_of(job, given), progress, given=given)

    def read(connection: Connection) -> tuple[ReviewItem | None, ReviewProgress]:
        item = review_queues.reserved(connection, queue, name)
        return item, review_progress.progress(connection, queue, name)

    item, progress = await gateway.in_ledger(read)
    if item is None:
        return page(request, "queue_done.html", queue=queue, progress=progress, name=name)
    job = await find_job(item.job_id, gateway, caller.tenant)
    return _line_page(request, queue, line_of(job), progress, item=item)


def _line_page(
    request: Request,
    queue: ReviewQueue,
    line: ReviewLine,
    progress: ReviewProgress,
    *,
    item: ReviewItem | None = None,
    given: ReviewerJudgement | None = None,
) -> Response:
    """Show a line to a reviewer. `given` is the reviewer's answer, if there is one."""
    seconds = (progress.seconds or 0.0) * progress.left
    held = _held(request.query_params)
    turned = {}
    for name, value in HELD.items():  # the address with this one set otherwise
        others = {other: kept for other, kept in held.items() if other != name}
        turned[name] = f"?{urlencode(others if name in held else others | {name: value})}"
    return page(
        request,
        "judge.html",
        queue=queue,
        line=line,
        item=item,
        given=given,
        progress=progress,
        minutes=max(1, round(seconds / 60)) if progress.seconds else None,
        now=int(time.time()),
        held=held,
        turned=turned,
        revealed="texts" in held,
    )


def _held(sent: Mapping[str, str]) -> dict[str, str]:
    """Return the reviewer's display settings for this session. They are kept in the address, so the
    browser stores nothing."""
    return {name: value for name, value in HELD.items() if sent.get(name) == value}


@router.post("/queues/{queue_id}/judge")
async def handle_form(
    request: Request, queue_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Process the button that was pressed: agree, disagree, unsure, skip, undo or start. Then
    reserve the next line for the reviewer."""
    check_scope(caller, "review")
    form = await checked_form(request, limit=NOTE_BYTES)
    queue = await queue_routes.find_queue(queue_id, gateway, caller)
    origin, action = get_origin(request, caller, form.get("reviewer")), form.get("action", "")
    query = _held(form)
    if action in OPINIONS:
        job_id = validate_id(form.get("job", ""))
        more = {"queue": queue.id, "blind": queue.blind, "seconds": _elapsed(form.get("given", ""))}
        more |= await read_spans(form, job_id, gateway, caller)
        judgement, _ = await judgement_routes.judge(
            gateway, job_id, parse_form(form, action, **more), origin
        )
        query["after"] = judgement.id
    elif action == "skip" and POSITION.fullmatch(form.get("position", "")):
        position = int(form["position"])
        await gateway.in_ledger(
            lambda connection: review_queues.skip(connection, queue, position, origin.reviewer)
        )
    elif action == "undo":
        done = form.get("done", "")
        await gateway.in_ledger(lambda connection: _undo(connection, queue, origin, done))
    await gateway.in_ledger(
        lambda connection: review_queues.take(connection, queue, origin.reviewer)
    )
    tail = f"?{urlencode(query)}" if query else ""
    response = RedirectResponse(f"/queues/{queue.id}/judge{tail}", 303)
    if "reviewer" in form:
        set_name_cookie(request, response, origin.reviewer)
    return response


def _elapsed(given: str) -> float | None:
    """Return the seconds since the line was shown, or None if the form has no time."""
    if not (given.isascii() and given.isdigit() and len(given) < 12):
        return None
    passed = time.time() - int(given)
    return round(passed, 1) if 0 <= passed <= LONGEST_SECONDS else None


def _undo(connection: Connection, queue: ReviewQueue, origin: Origin, done: str) -> None:
    """Withdraw this reviewer's last answer in the queue, so that the line is shown again. `done` is
    the number of answers at the time of the click. It prevents a second click from withdrawing
    another answer."""
    review_queues.take_turn(connection, queue, origin.reviewer)
    now = review_progress.progress(connection, queue, origin.reviewer)
    if done not in ("", str(now.done)):
        return
    wanted = JudgementFilter(
        origin.tenant, queue_id=queue.id, reviewer=origin.reviewer, verified=origin.verified
    )
    last, _ = judgements.page_of(connection, wanted, 1)
    for judgement in last:
        judgement_routes.withdraw(connection, judgement, origin)


async def _find_current(
    judgement_id: str, gateway: State, caller: Caller
) -> ReviewerJudgement | None:
    judgement = await gateway.in_ledger(
        lambda connection: judgements.find(connection, judgement_id, caller.tenant)
    )
    return judgement if judgement.current and judgement.verdict in OPINIONS else None
