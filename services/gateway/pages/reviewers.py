"""Judgements on a job's page, and the name of the reviewer who makes them. The name belongs to the
API key, or the visitor enters it for this session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from pydantic import ValidationError
from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.caller import Caller
from services.gateway.judgement_views import JudgementFields, is_name, origin_of
from services.gateway.pages import templates
from services.gateway.pages.job_texts import JobText
from services.gateway.pages.login import local
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import as_number
from services.gateway.pages.span_input import marked_words, parse_spans, texts_to_mark
from services.gateway.pages.templates import checked_form
from services.gateway.refusals import InvalidBody
from services.gateway.routes import judgements as judgement_routes
from services.gateway.routes.jobs import find_job
from services.gateway.routes.judgements import JUDGEMENT_ID
from services.gateway.state import Gateway, State
from shared.contracts.errors import BadInput
from shared.contracts.problems import validation_problem
from shared.ledger import judgements
from shared.ledger.jobs import Job
from shared.ledger.judgements import (
    SCORE,
    JudgementFilter,
    Origin,
    ReviewerJudgement,
    UnknownJudgement,
)
from shared.ledger.keys import MOST_REVIEWER
from shared.reports.pages.page_text import pieces

REVIEWER_COOKIE = "touchstone_reviewer"
MOST_SHOWN = 50  # judgements of a job
NOTE_BYTES = 32_768  # of a form: a note of 2,000 characters, percent-encoded

router = page_router()


@dataclass(frozen=True)
class JobJudgements:
    """The judgements on a job's page. `name` is the reviewer, or empty if the page must ask for a
    name."""

    given: tuple[ReviewerJudgement, ...]
    name: str
    is_fixed: bool
    may_judge: bool
    takes_notes: bool
    texts: tuple[JobText, ...]  # in which words can be marked
    marked: Mapping[str, Sequence[str]]  # judgement → the words that it marks


def name_of(request: Request, caller: Caller) -> str:
    """Return the reviewer name of this visitor, or an empty string."""
    reviewer = None if caller.key is None else caller.key.reviewer
    typed = unquote(templates.get_cookie(request, REVIEWER_COOKIE) or "")
    return reviewer or (typed if is_name(typed) else "")


def get_origin(request: Request, caller: Caller, named: str | None = None) -> Origin:
    """Return who makes a judgement: reviewer and key. Raises BadInput without a name."""
    reviewer = None if caller.key is None else caller.key.reviewer
    return origin_of(request, caller, reviewer or (named or "").strip() or name_of(request, caller))


def set_name_cookie(request: Request, response: Response, name: str) -> None:
    """Store the name in a cookie for the rest of the session."""
    templates.set_cookie(request, response, REVIEWER_COOKIE, quote(name.strip()[:MOST_REVIEWER]))


async def of_job(job: Job, request: Request, gateway: State, caller: Caller) -> JobJudgements:
    """Return the newest judgements of this job by all reviewers, and the data of the page's form
    for judging, such as the user's reviewer name."""
    wanted = JudgementFilter(job.tenant, job_id=job.id)
    given, _ = await gateway.in_ledger(
        lambda connection: judgements.page_of(connection, wanted, MOST_SHOWN)
    )
    return JobJudgements(
        given=tuple(given),
        name=name_of(request, caller),
        is_fixed=caller.key is not None and caller.key.reviewer is not None,
        may_judge=caller.has_scope("review"),
        takes_notes=not job.request.get("do_not_store_text"),
        texts=tuple(JobText(name, pieces(text, ())) for name, text in texts_to_mark(job).items()),
        marked={item.id: list(marked_words(item.spans, job)) for item in given},
    )


def parse_form(form: Mapping[str, str], verdict: str, **more: Any) -> JudgementFields:
    """Return the judgement that a form contains. Raises InvalidBody."""
    body: dict[str, Any] = {"verdict": verdict, **more}
    if form.get("human_score", "").strip():
        number = as_number(form["human_score"].strip())
        if number is None:
            raise BadInput("the score must be a number from 0 to 1", pointer="/human_score")
        body["human_score"] = number
    for name in ("human_label", "note", "about"):
        if form.get(name, "").strip():
            body[name] = form[name].replace("\r\n", "\n").strip()  # a browser counts one, sends two
    try:
        return JudgementFields.model_validate(body)
    except ValidationError as error:
        raise InvalidBody(validation_problem(error, body)) from None


async def read_spans(
    form: Mapping[str, str], job_id: str, gateway: State, caller: Caller
) -> dict[str, Any]:
    """Return the words marked in a form as the field `spans` of a judgement. Raises UnknownJob,
    BadInput."""
    typed = form.get("spans", "")
    if not typed.strip():
        return {}
    job = await find_job(job_id, gateway, caller.tenant)
    return {"spans": parse_spans(typed, texts_to_mark(job))}


@router.post("/jobs/{job_id}/judgements")
async def judge_job(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Store the judgement from one of the three buttons, then return to the previous page."""
    check_scope(caller, "review")
    form = await checked_form(request, limit=NOTE_BYTES)
    origin = get_origin(request, caller, form.get("reviewer"))
    marked = await read_spans(form, job_id, gateway, caller)
    verdict, _, tag = (form.get("tag") or form.get("verdict", "")).partition(" ")
    if tag:  # names the failure, and keeps the verdict that the reviewer has given
        wanted = JudgementFilter(
            origin.tenant, job_id=job_id, reviewer=origin.reviewer, verified=origin.verified
        )
        given, _ = await gateway.in_ledger(
            lambda connection: judgements.page_of(connection, wanted, MOST_SHOWN)
        )
        verdict = next((one.verdict for one in given if one.about == SCORE), verdict)
    judgement = parse_form(form | {"note": tag or form.get("note", "")}, verdict, **marked)
    await judgement_routes.judge(gateway, job_id, judgement, origin)
    response = RedirectResponse(local(form.get("next", f"/jobs/{job_id}#judgements")), 303)
    if not origin.verified:
        set_name_cookie(request, response, origin.reviewer)
    return response


@router.post("/judgements/{judgement_id}/withdraw")
async def withdraw(
    request: Request, judgement_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Withdraw the reviewer's judgement and return to the job's page."""
    check_scope(caller, "review")
    await checked_form(request)
    if not JUDGEMENT_ID.fullmatch(judgement_id):
        raise UnknownJudgement("there is no such judgement")
    origin = get_origin(request, caller)

    def take_back(connection: Connection) -> ReviewerJudgement:
        old = judgements.find(connection, judgement_id, caller.tenant)
        if (old.reviewer, old.verified) != (origin.reviewer, origin.verified):
            raise UnknownJudgement("this judgement is not yours")
        return judgement_routes.withdraw(connection, old, origin)

    gone = await gateway.in_ledger(take_back)
    return RedirectResponse(f"/jobs/{gone.job_id}#judgements", 303)
