"""The page `/texts/{text_key}`, which shows all results of a tenant for one text. Below the text,
each result has a lane that shows its evidence: highlighted passages, or the weight of each word.
The text key is a keyed hash, so it does not reveal the text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fastapi import Request
from sqlalchemy import Connection, select
from starlette.responses import RedirectResponse, Response

from services import registry
from services.gateway.auth import Viewer, check_scope
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.job_texts import plain_text, result_spans, texts_of
from services.gateway.pages.page_route import page_router
from services.gateway.pages.score_again import build_requests
from services.gateway.pages.templates import checked_form, page
from services.gateway.refusals import InvalidBody
from services.gateway.results.result_pages import explanation_start
from services.gateway.routes.jobs import find_job
from services.gateway.routes.scores import check_request, commit, wait_for_job
from services.gateway.state import Gateway
from services.registry import metrics
from shared.contracts.errors import UnknownJob
from shared.ledger import bulk_jobs
from shared.ledger.jobs import Job
from shared.ledger.tables import jobs as jobs_table
from shared.ledger.tables import result_facts
from shared.reports.pages.page_text import LEVELS, Mark, TokenRun, moment, pieces

MOST_LANES = 8  # under one text; lanes.css has as many
STEPS = 4  # of a lane's heat
MOST_PASSAGES = 20  # of a lane, in its table
KEY = re.compile(r"[0-9a-zA-Z_:-]{8,128}")
MOST = 60  # results of one text
BEGINNING = 80  # characters of an explanation
SHORT = 6  # characters of a batch's id
router = page_router()


@dataclass(frozen=True)
class TextLane:
    """The evidence of one result, drawn in a lane below the text. `marks` holds (start, end,
    level). The level is a weight from -9 to 9, or 0 for a plain highlight. `said` is evidence
    outside the text, such as a model's reasons."""

    name: str
    marks: Sequence[tuple[int, int, int]]
    said: Sequence[str] = ()


@dataclass(frozen=True)
class LaneStretch:
    """A piece of text within which no highlight begins or ends. `classes` is empty if nothing is
    highlighted."""

    text: str
    classes: str


@dataclass(frozen=True)
class StackedText:
    """A text with its results, each in a lane (a row of highlights), the top one first.
    `passages` holds the highlighted passages of each lane, strongest first. `left_out` is the
    number of lanes that did not fit."""

    text: str
    lanes: Sequence[TextLane]
    stretches: Sequence[LaneStretch]
    passages: Sequence[Sequence[str]]
    left_out: int = 0


def stacked(lanes: Iterable[tuple[str, TextLane]]) -> list[StackedText]:
    """Return each text with the highlights of its results, each result in a separate lane below the
    text. `lanes` holds one (text, lane) per result."""
    by_text: dict[str, list[TextLane]] = {}
    for text, lane in lanes:
        by_text.setdefault(text, []).append(lane)
    return [
        replace(_stack(text, own[:MOST_LANES]), left_out=max(0, len(own) - MOST_LANES))
        for text, own in by_text.items()
    ]


def heat_marks(runs: Iterable[TokenRun]) -> Iterator[tuple[int, int, int]]:
    """Yield a highlight (start, end, level) for each token with non-zero weight."""
    end = 0
    for run in runs:
        for stretch in run.stretches:
            start, end = end, end + len(stretch.text)
            if stretch.level:
                yield start, end, stretch.level


def _stack(text: str, lanes: Sequence[TextLane]) -> StackedText:
    marks, passages = [], []
    for number, lane in enumerate(lanes):
        for start, end, level in lane.marks:  # the kind is a class of lanes.css
            step = math.ceil(STEPS * abs(level) / LEVELS)
            kind = f"lane{number}-{'p' if level > 0 else 'n'}{step}" if level else f"lane{number}"
            marks.append(Mark(start, end, kind))
        # of a strip of heat the upper half of its range
        strong = [mark for mark in lane.marks if not mark[2] or 2 * abs(mark[2]) > LEVELS]
        strong.sort(key=lambda one: (-abs(one[2]), one[0]))
        words = (text[start:end].strip() for start, end, _ in strong)
        passages.append([*dict.fromkeys(filter(None, words)), *lane.said][:MOST_PASSAGES])
    stretches = [
        LaneStretch(piece.text, " ".join(dict.fromkeys(mark.kind for mark in piece.marks)))
        for piece in pieces(text, marks)
    ]
    return StackedText(text, lanes, stretches, passages)


@dataclass(frozen=True)
class TextResult:
    """One result for the text, as the page's table shows it."""

    job_id: str
    metric: str
    variant: str | None
    model: str | None
    verdict: str | None
    score: float | None
    sentence: str
    batch_id: str | None
    line: int
    finished_at: datetime | None
    explanation: str | None  # its beginning; none where it is not kept

    @property
    def place(self) -> str:
        """The batch line or the time, which distinguishes this result from others of the same
        metric."""
        if self.batch_id is not None:
            return f"line {self.line:,} of …{self.batch_id[-SHORT:]}"
        return "" if self.finished_at is None else moment(self.finished_at.timestamp())


@router.get("/texts/{text_key}")
async def text_page(request: Request, text_key: str, gateway: Gateway, caller: Viewer) -> Response:
    """Show a text with all its results, and the metrics that could score it too."""
    check_scope(caller, "score")
    if not KEY.fullmatch(text_key):
        raise UnknownJob("there is no such text")

    def read(connection: Connection) -> tuple[list[TextResult], list[Job]]:
        rows = _results(connection, caller, text_key)
        return rows, bulk_jobs.find_all(connection, _first(rows), caller.tenant)

    rows, jobs = await gateway.in_ledger(read)
    if not rows:
        raise UnknownJob("the results of this text have been deleted")
    places = {row.job_id: row.place for row in rows}
    stacks = stacked(lane for job in jobs for lane in _lanes(job, places[job.id]))
    kept = next((job for job in jobs if texts_of(job)), None)
    return page(
        request,
        "text.html",
        text_key=text_key,
        rows=rows,
        stacks=stacks,
        most_lanes=MOST_LANES,
        left_out=len(places) > len(jobs) or any(stack.left_out for stack in stacks),
        others=[]
        if kept is None
        else build_requests(gateway, kept.metric, kept.request, kept.result),
        source=kept,
        done={row.metric for row in rows},
    )


def _results(connection: Connection, caller: Caller, text_key: str) -> list[TextResult]:
    """Return results by metric, variant and model, newest first."""
    facts = result_facts.c
    where = facts.batch_id, facts.line, facts.finished_at
    kind = facts.metric, facts.variant, facts.model
    query = (
        select(facts.job_id, *kind, facts.verdict, facts.score, facts.sentence)
        .add_columns(*where, explanation_start(BEGINNING))
        .select_from(result_facts.join(jobs_table, jobs_table.c.id == facts.job_id))
        .where(facts.tenant == caller.tenant, facts.text_key == text_key)
        .where(facts.job_id.is_not(None))
        .order_by(*kind, facts.finished_at.desc())
        .limit(MOST)
    )
    return [TextResult(*row) for row in connection.execute(query)]


def _first(rows: Sequence[TextResult]) -> list[str]:
    """Return the jobs to show below the text, at most MOST_LANES, in the order of the rows. If
    there are more, the first job of each metric, variant and model is preferred."""
    first: dict[tuple[str | None, ...], str] = {}
    for row in rows:
        first.setdefault((row.metric, row.variant, row.model), row.job_id)
    shown = [*dict.fromkeys([*first.values(), *(row.job_id for row in rows)])][:MOST_LANES]
    return [*dict.fromkeys(row.job_id for row in rows if row.job_id in shown)]


def _lanes(job: Job, where: str) -> Iterator[tuple[str, TextLane]]:
    """Yield the evidence of a result and, if known, the token weights, each as a lane below the
    text. Yield nothing if the text was not kept."""
    texts = texts_of(job)
    if not texts:
        return
    models = ((job.result or {}).get("provenance") or {}).get("models") or [{}]
    named = f"{job.metric} {models[0].get('name') or ''}".strip()
    text, name = plain_text(texts[0]), f"{named}, {where}" if where else named
    marks = [(mark.start, mark.end, 0) for mark in result_spans(job)]
    weights = list(heat_marks(_token_weights(job)))
    reasons: list[str] = []  # evidence outside of the request's texts
    if not marks:
        evidence = (job.result or {}).get("evidence") or ()
        reasons = [
            item["text"] for item in evidence if isinstance(item, Mapping) and item.get("text")
        ]
    if marks or reasons or not weights:
        yield text, TextLane(name, marks, reasons)
    if weights:
        yield text, TextLane(f"{name}: weights of the words", weights)


def _token_weights(job: Job) -> tuple[TokenRun, ...]:
    """Return the text as a heat map of its token weights. The tuple is empty if the metric's page
    shows no tokens or the job has no values."""
    heatmap_of = getattr(registry.page(job.metric), "heatmap_of", None)
    if heatmap_of is None or job.result is None or not job.result.get("token_values"):
        return ()
    contract = metrics()[job.metric]
    report = contract.report.model_validate(job.result)
    request = contract.as_scored(contract.request.model_validate(job.request), report)
    runs: tuple[TokenRun, ...] = heatmap_of(request, report)
    return runs


@router.post("/texts/{text_key}")
async def score_metrics(
    request: Request, text_key: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Create a job that scores the text with each metric that is ready."""
    check_scope(caller, "score")
    form = await checked_form(request)
    source = await find_job(form.get("job", ""), gateway, caller.tenant)
    names = {value for name, value in form.pairs if name == "metric"}
    ready = [
        candidate
        for candidate in build_requests(gateway, source.metric, source.request, source.result)
        if candidate.body is not None and candidate.metric in names
    ]
    if not ready:
        raise InvalidBody.at_root("choose a metric that can score this text")
    for candidate in ready:
        contract = metrics()[candidate.metric]
        body = caller.apply_defaults(contract.request.model_validate(candidate.body))
        check_request(contract, body, gateway)
        key = templates.once_key(form, f"text {candidate.metric}", source.id)
        accepted = await commit(contract, body, gateway, key, caller.owner(gateway.settings))
        await wait_for_job(accepted, gateway, 0)
    return RedirectResponse(f"/texts/{text_key}", 303)
