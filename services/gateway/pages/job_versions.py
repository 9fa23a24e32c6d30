"""Compares a job with other jobs: its original if it is an edit, other edits, and other results for
the same text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, or_, select

from services.gateway.pages.comparison_view import PartChange, part_changes
from services.gateway.pages.job_texts import plain_text, texts_of
from services.registry import metrics
from shared.contracts.errors import UnknownJob
from shared.contracts.messages import EDITED
from shared.ledger import jobs
from shared.ledger.jobs import Job
from shared.ledger.tables import jobs as jobs_table
from shared.ledger.tables import result_facts
from shared.reports.pages.word_changes import WordChange, changes

MOST_VERSIONS = 30
MOST_OTHERS = 20  # results of a text that a job can be compared with
MOST_LABELS = 12  # whose probability is shown
SHOWN = {  # field → its name
    "probability_original": "P(hateful) of the text as sent",
    "probability_masked": "P(hateful) with the quotes masked",
}


@dataclass(frozen=True)
class Version:
    """A job made by editing another job's request. `verdict` and `score` are None if absent."""

    job_id: str
    status: str
    verdict: str | None
    score: float | None


@dataclass(frozen=True)
class JobComparison:
    """A comparison of a job with another job of the same metric. `texts` holds (field, changed
    words). `parts` holds the changes of the numbers that make up each score."""

    other: Job
    texts: Sequence[tuple[str, Sequence[WordChange]]]
    parts: Sequence[PartChange]


@dataclass(frozen=True)
class VersionHistory:
    """The original of an edited job, and all edits of the same original. `changes` are the changes
    since the original, or None for the original itself."""

    parent: Job
    versions: Sequence[Version]
    changes: JobComparison | None

    @property
    def best(self) -> float | None:
        """The highest score of the edits that hold up, or None."""
        scores = [one.score for one in self.versions if one.verdict == "holds_up"]
        return max((score for score in scores if score is not None), default=None)


@dataclass(frozen=True)
class OtherResult:
    """Another result of the same metric for the same text."""

    job_id: str
    variant: str | None
    model: str | None
    score: float | None


def version_history(connection: Connection, job: Job, tenant: str) -> VersionHistory | None:
    """Return the edits of a job and its original. Return None if the job has no edits or its
    original no longer exists."""
    parent_of = select(jobs_table.c.parent_job_id).where(jobs_table.c.id == job.id)
    parent_id = connection.execute(parent_of).scalar_one_or_none()
    try:
        parent = job if parent_id is None else jobs.find(connection, parent_id, tenant=tenant)
    except UnknownJob:
        return None
    table = jobs_table.c
    score = table.result["score"]
    is_number = func.json_typeof(score) == "number"  # a report's is an interval
    rows = connection.execute(
        select(
            table.id,
            table.status,
            table.result["verdict"].as_string(),
            case((is_number, score.as_float())),
        )
        .where(table.tenant == tenant)
        .where(or_(table.parent_job_id == parent.id, table.id == parent.id))
        .order_by(table.id)
        .limit(MOST_VERSIONS)
    )
    versions = [Version(*row) for row in rows]
    if len(versions) < 2:
        return None
    return VersionHistory(parent, versions, None if parent is job else comparison(parent, job))


def other_results(connection: Connection, job: Job, tenant: str) -> list[OtherResult]:
    """Return the other results of this job's metric for the same text, newest first."""
    key = ((job.result or {}).get("provenance") or {}).get("text_key")
    if not key:
        return []
    facts = result_facts.c
    rows = connection.execute(
        select(facts.job_id, facts.variant, facts.model, facts.score, facts.finished_at)
        .where(facts.tenant == tenant, facts.text_key == key, facts.metric == job.metric)
        .where(facts.job_id.is_not(None), facts.job_id != job.id)
        .where(func.coalesce(facts.metadata[EDITED].astext, "") != job.id)  # versions, and the lens
        .distinct()  # lines of a batch may share a job
        .order_by(facts.finished_at.desc(), facts.job_id)
        .limit(MOST_OTHERS)
    )
    return [OtherResult(*row[:-1]) for row in rows]


def compared(connection: Connection, job: Job, other_id: str, tenant: str) -> JobComparison:
    """Compare this job with another one. Raises UnknownJob, also if the other job belongs to
    another metric."""
    other = jobs.find(connection, other_id, tenant=tenant)
    if other.metric != job.metric:
        raise UnknownJob(f"this job was scored by {other.metric}. Compare jobs of the same metric")
    return comparison(other, job)


def comparison(other: Job, job: Job) -> JobComparison:
    """Return the differences between two jobs. `other` is before, `job` is after."""
    old = {text.name: plain_text(text) for text in texts_of(other)}
    new = {text.name: plain_text(text) for text in texts_of(job)}
    texts = [
        (name, changes(old[name], new[name]))
        for name in new
        if name in old and old[name] != new[name]
    ]
    parts: list[PartChange] = []
    contract = metrics().get(job.metric)
    if contract is not None and other.result is not None and job.result is not None:
        parts = part_changes({"score": "score", **contract.parts}, other.result, job.result)
        before, after = (dict(_probabilities(result)) for result in (other.result, job.result))
        names = list(dict.fromkeys((*before, *after)))[:MOST_LABELS]
        parts += [(name, before.get(name), after.get(name)) for name in names]
    return JobComparison(other, texts, parts)


def _probabilities(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in result.items():
        if not name.startswith("probabilit"):
            continue
        if isinstance(value, float | int):
            yield SHOWN.get(name, name.replace("_", " ")), float(value)
        elif isinstance(value, Mapping):
            for label, held in value.items():
                if isinstance(held, float | int):
                    yield f"probability of {label}", float(held)


def set_parent(connection: Connection, job_id: str, parent_id: str, tenant: str) -> None:
    """Store that this job is an edit of another one. Nothing is stored unless the other job exists
    and belongs to the tenant."""
    known = select(func.count()).where(jobs_table.c.id == parent_id, jobs_table.c.tenant == tenant)
    if not connection.execute(known).scalar_one():
        return
    is_job = jobs_table.c.id == job_id
    connection.execute(jobs_table.update().where(is_job).values(parent_job_id=parent_id))
