"""The texts of a job. The passages that its result cites as evidence are highlighted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from services.gateway.judgement_views import field_of, with_elicited
from services.gateway.state import State
from services.registry import metrics, reported
from shared.contracts.errors import UnknownJob
from shared.ledger import jobs
from shared.ledger.batches import Batch
from shared.ledger.jobs import Job
from shared.ledger.tables import result_facts
from shared.reports.pages.page_text import Mark, MarkedText, pieces, quote_links, quote_marks


@dataclass(frozen=True)
class JobText:
    """A text of a request, split into highlighted and plain pieces."""

    name: str
    pieces: list[MarkedText]


def plain_text(text: JobText) -> str:
    """Return the text without highlights."""
    return "".join(piece.text for piece in text.pieces)


@dataclass(frozen=True)
class RowDetail:
    """A line of a batch with its decision and its texts. The texts are empty if they were not
    kept."""

    line: int
    job: Job
    decision: str | None
    texts: list[JobText]


async def load_row_detail(gateway: State, batch: Batch, line: int) -> RowDetail:
    """Return the texts of a line. Raises UnknownJob if the batch has no such line or the job was
    deleted."""

    def read(connection: Connection) -> RowDetail | None:
        facts = result_facts.c
        row = connection.execute(
            select(facts.job_id, func.coalesce(facts.decision_sent, facts.decision_stated)).where(
                facts.tenant == batch.tenant, facts.batch_id == batch.id, facts.line == line
            )
        ).one_or_none()
        if row is None or row.job_id is None:
            return None
        job = jobs.find(connection, row.job_id, tenant=batch.tenant)
        contract = metrics().get(batch.metric)
        choices = {field.name for field in contract.form if field.choices} if contract else set()
        texts = [] if job is None else [text for text in texts_of(job) if text.name not in choices]
        return None if job is None else RowDetail(line, job, row[1], texts)

    detail = await gateway.in_ledger(read)
    if detail is None:
        raise UnknownJob(f"line {line} of this batch has no job")
    return detail


def texts_of(job: Job) -> list[JobText]:
    """Return the job's texts with the evidence highlighted. The text that the metric judges comes
    first."""
    contract = metrics().get(job.metric)
    if contract is None:
        return _elicited_texts(job)
    judged = contract.facts.text
    named = [judged, *(field.name for field in contract.form if field.name != judged)]
    request = with_elicited(job.request, job.result)
    texts = [(name, request.get(name)) for name in named]
    invented = [
        Mark(quote["start"], quote["end"], "hallucinated", "quoted, but not in the text")
        for quote in (job.result or {}).get("hallucinated_quotes") or ()
    ]
    return [
        JobText(
            name,
            pieces(text, result_spans(job, name) + (invented if name == "explanation" else [])),
        )
        for name, text in texts
        if isinstance(text, str) and text
    ]


def _elicited_texts(job: Job) -> list[JobText]:
    """Return the texts of a request that asks a model for an explanation, and the model's answer
    with its conclusion marked."""
    contract = reported().get(job.metric)
    fields = () if contract is None or contract.facts is None else contract.facts.more_texts
    elicited = (job.result or {}).get("elicitation") or {}
    concluded = elicited.get("conclusion")
    marks = [] if concluded is None else [Mark(concluded["start"], concluded["end"], "evidence")]
    named = [(name, job.request.get(name), ()) for name in fields]
    return [
        JobText(name, pieces(text, spans))
        for name, text, spans in (*named, ("answer", elicited.get("answer"), marks))
        if isinstance(text, str) and text
    ]


def result_spans(job: Job, name: str = "") -> list[Mark]:
    """Return the passages of this text that the result cites as evidence. The empty name means the
    text that the metric judges."""
    contract = metrics().get(job.metric)
    judged = "text" if contract is None else contract.facts.text
    evidence = (job.result or {}).get("evidence") or ()
    links = quote_links(item.get("quoted_as") for item in evidence if isinstance(item, Mapping))
    marks = list(_spans(evidence, name or judged, judged, links))
    if name and name != judged:
        text = with_elicited(job.request, job.result).get(name)
        marks += quote_marks(text, links, "evidence") if isinstance(text, str) else ()
    return marks


def _spans(evidence: Any, name: str, judged: str, links: Mapping[str, str]) -> Iterator[Mark]:
    for item in evidence:
        if isinstance(item, Mapping) and field_of(item, judged) == name:
            start, end, kind = item.get("start"), item.get("end"), str(item.get("kind", ""))
            if isinstance(start, int) and isinstance(end, int) and start < end:
                link = links.get(item.get("quoted_as", ""), "")
                yield Mark(start, end, "evidence", kind.replace("_", " "), link)
