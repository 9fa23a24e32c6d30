"""Judgements as files: export as JSON Lines, CSV or Label Studio tasks, and import of JSON Lines.

A Label Studio task (https://labelstud.io/guide/tasks) holds the text and the explanation. The
evidence that the metric found is a prediction, and people's judgements are annotations. Texts that
were not stored are null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Literal

from pydantic import Field, ValidationError
from sqlalchemy import Connection, Engine, select

from services.gateway.batch_csv import csv_field, encode_rows
from services.gateway.judgement_views import (
    ORIGIN,
    JudgementRequest,
    ReviewerJudgementSchema,
    ReviewerName,
    check_part,
    check_spans,
    field_of,
    judgement_json,
    with_elicited,
)
from services.gateway.refusals import InvalidBody
from services.registry import metrics, tag_words
from shared.contracts.errors import BadInput
from shared.contracts.problems import invalid
from shared.ledger import judgements
from shared.ledger.batch_lines import JobLine, first_lines, line_metadata
from shared.ledger.engine import transaction
from shared.ledger.judgements import JudgementFilter, Origin, ReviewerJudgement
from shared.ledger.tables import jobs

FileFormat = Literal["jsonl", "csv", "label-studio"]
KINDS: dict[FileFormat, tuple[str, str]] = {
    "jsonl": ("jsonl", "application/jsonl"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "label-studio": ("json", "application/vnd.label-studio+json"),
}
AT_ONCE = 200
MOST_LINES = 5_000  # of an import
MOST_FAULTS = 20
POSITION = ("batch_id", "line", "custom_id", "metadata")
COLUMNS = (
    *(name for name in ReviewerJudgementSchema.model_fields if name not in ORIGIN),
    *("metric", "score", "metric_verdict", "decision", "tags"),
    *POSITION,
    "created_iso",
)
TEXTS = ("text", "explanation")
OF_AN_EXPORT = frozenset((*COLUMNS, *TEXTS))


class JudgementLine(JudgementRequest):
    """A line of a file of judgements to import."""

    reviewer: ReviewerName = Field(description="the person who judged")


def file_chunks(
    engine: Engine, selection: JudgementFilter, form: FileFormat, *, texts: bool = False
) -> Iterator[bytes]:
    """Yield the file of judgements in pieces, newest judgement first. `texts` adds the post and the
    explanation if they were kept."""
    columns = (*COLUMNS, *(TEXTS if texts else ()))
    if form == "csv":
        yield encode_rows([list(columns)])
    last: str | None = None
    while True:
        with transaction(engine) as connection:
            page, more = judgements.page_of(connection, selection, AT_ONCE, last)
            of = _load_jobs(connection, [judgement.job_id for judgement in page])
        rows = [_row(judgement, of.get(judgement.job_id)) for judgement in page]
        if form == "csv":
            yield encode_rows([_cell(row[name]) for name in columns] for row in rows)
        else:
            kept = ({name: row[name] for name in columns} for row in rows)
            yield "".join(f"{json.dumps(row)}\n" for row in kept).encode()
        if not more:
            return
        last = page[-1].id


def _cell(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else csv_field(value)


def _row(judgement: ReviewerJudgement, job: JobRecord | None) -> dict[str, Any]:
    result = {} if job is None else job.result
    shown = {name: value for name, value in judgement_json(judgement).items() if name not in ORIGIN}
    shown |= {"metric": None if job is None else job.metric}
    shown |= {"score": result.get("score"), "metric_verdict": result.get("verdict")}
    shown |= dict.fromkeys((*POSITION, "decision", *TEXTS)) if job is None else job.position
    tags = () if job is None else tag_words(job.metric).values()
    shown["tags"] = judgement.note if judgement.note in tags else None
    if job is not None:
        shown |= {"decision": job.request.get("decision"), **job.texts}
    created = judgement.created_at.astimezone(UTC).isoformat(timespec="seconds")
    return shown | {"created_iso": created.replace("+00:00", "Z")}


@dataclass(frozen=True)
class JobRecord:
    """A judged job in the form in which files of judgements contain it. `line` is the first line of
    the batch that requested the job."""

    id: str
    metric: str
    request: dict[str, Any]
    result: dict[str, Any]
    batch_id: str | None
    line: JobLine | None

    @property
    def position(self) -> dict[str, Any]:
        """Return the job's place in its batch, and its metadata. The metadata is null if texts must
        not be stored."""
        of_line = None if self.line is None else line_metadata(self.line.caller)
        hidden = self.request.get("do_not_store_text")
        return {
            "batch_id": self.batch_id,
            "line": None if self.line is None else self.line.number,
            "custom_id": None if self.line is None else self.line.custom_id,
            "metadata": None if hidden else of_line or self.request.get("metadata") or {},
        }

    @property
    def texts(self) -> dict[str, Any]:
        """Return the post and the explanation, or None for what was not kept."""
        contract = metrics().get(self.metric)
        field = "text" if contract is None else contract.facts.text
        sent = with_elicited(self.request, self.result)
        return {"text": self.request.get(field), "explanation": sent.get("explanation")}


def _load_jobs(connection: Connection, ids: Sequence[str]) -> dict[str, JobRecord]:
    columns = jobs.c.id, jobs.c.metric, jobs.c.request, jobs.c.result, jobs.c.batch_id
    lines = first_lines(connection, ids)
    return {
        row.id: JobRecord(*row[:3], row.result or {}, row.batch_id, lines.get(row.id))
        for row in connection.execute(select(*columns).where(jobs.c.id.in_(set(ids))))
    }


def tasks(engine: Engine, selection: JudgementFilter, ids: Sequence[str]) -> Iterator[bytes]:
    """Yield a JSON array of Label Studio tasks for these jobs, in the order of `ids`."""
    yield b"["
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        with transaction(engine) as connection:
            records = _load_jobs(connection, some)
            by_job = judgements.list_by_job(connection, selection, some)
        documents = [
            _task(records[job_id], by_job.get(job_id, [])) for job_id in some if job_id in records
        ]
        comma = "," if start else ""
        yield (comma + ",".join(map(json.dumps, documents))).encode()
    yield b"]"


def _task(job: JobRecord, opinions: Iterable[ReviewerJudgement]) -> dict[str, Any]:
    contract = metrics().get(job.metric)
    field = "text" if contract is None else contract.facts.text
    texts = with_elicited(job.request, job.result)
    provenance = job.result.get("provenance") or {}
    prediction: dict[str, Any] = {
        "model_version": f"{job.metric} {provenance.get('metric_version', '')}".strip(),
        "result": list(_spans(job.result.get("evidence") or (), field)),
    }
    if job.result.get("score") is not None:
        prediction["score"] = job.result["score"]
    annotations = []
    for judgement in opinions:
        verdict = {"from_name": "verdict", "to_name": "text", "type": "choices"}
        result: list[dict[str, Any]] = [verdict | {"value": {"choices": [judgement.verdict]}}]
        for span in judgement.spans:  # by the field that holds it where that is not the text
            words = str(texts.get(span["of"]) or "")[span["start"] : span["end"]]
            value = {"start": span["start"], "end": span["end"], "text": words}
            marked = {"from_name": "marked", "to_name": span["of"], "type": "labels"}
            result.append(marked | {"value": value | {"labels": ["marked"]}})
        meta = {"reviewer": judgement.reviewer, "about": judgement.about, "judgement": judgement.id}
        annotations.append({"result": result, "meta": meta})
    return {
        "data": {
            **job.texts,
            "job_id": job.id,
            "verdict": job.result.get("verdict"),
            **job.position,
        },
        "predictions": [prediction],
        "annotations": annotations,
    }


def _spans(evidence: Iterable[dict[str, Any]], judged: str) -> Iterator[dict[str, Any]]:
    """Yield each span of the evidence in Label Studio's format. `to_name` is the field with the
    span, or `text` for the judged field."""
    for span in evidence:
        if isinstance(span.get("start"), int) and isinstance(span.get("end"), int):
            value = {name: span.get(name) for name in ("start", "end", "text")}
            kind = {"labels": [str(span.get("kind", "span"))]}
            lies = field_of(span, judged)
            to = "text" if lies == judged else lies
            names = {"from_name": "spans", "to_name": to, "type": "labels"}
            yield {**names, "value": value | kind}


def read(raw: bytes) -> list[JudgementLine]:
    """Parse a file of judgements to import. Unknown fields from an export are ignored. Raises
    InvalidBody with the errors per line, and BadInput for too many lines."""
    lines = [line for line in raw.split(b"\n") if line.strip()]
    if not 1 <= len(lines) <= MOST_LINES:
        raise BadInput(f"the number of lines must be from 1 to {MOST_LINES}")
    parsed: list[JudgementLine] = []
    faults: list[dict[str, Any]] = []
    bodies: list[Any] = []
    for index, line in enumerate(lines):
        bodies.append(None)
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("no object")
            fields = JudgementLine.model_fields
            bodies[-1] = {
                name: item
                for name, item in value.items()
                if name in fields or name not in OF_AN_EXPORT
            }
            parsed.append(JudgementLine.model_validate(bodies[-1]))
        except ValidationError as error:
            faults += [{**item, "loc": (index, *item["loc"])} for item in error.errors()]
        except (ValueError, RecursionError):
            faults.append(
                {"loc": (index,), "type": "json", "msg": "this line is not a JSON object"}
            )
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InvalidBody(invalid(faults[:MOST_FAULTS], bodies))
    return parsed


def store(
    connection: Connection, lines: Sequence[JudgementLine], source: str, by: Origin
) -> tuple[int, int]:
    """Store all judgements or none. Return the number of new and of existing judgements. Raises
    BadInput for the first line that cannot be stored."""
    unchanged = 0
    for index, line in sorted(enumerate(lines), key=lambda pair: pair[1].job_id):  # no two deadlock
        try:
            values = line.model_dump(mode="json", exclude={"job_id", "reviewer", "queue"})
            values["source"] = source
            query = select(jobs.c.metric, jobs.c.request, jobs.c.result)
            is_job = jobs.c.id == line.job_id, jobs.c.tenant == by.tenant
            job = connection.execute(query.where(*is_job)).one_or_none()
            if job is None:
                raise BadInput(f"the job {line.job_id!r} does not exist", pointer="/job_id")
            check_part(job.metric, line.about)
            check_spans(with_elicited(job.request, job.result), values["spans"])
            origin = Origin(**(vars(by) | {"reviewer": line.reviewer, "verified": False}))
            _, is_known = judgements.write(connection, line.job_id, values, origin)
            unchanged += is_known
        except BadInput as error:
            raise BadInput(error.detail, pointer=f"/{index}{error.pointer or ''}") from error
    return len(lines) - unchanged, unchanged
