"""Judgements as files: JSON Lines, CSV and Label Studio tasks out, JSON Lines in.

A Label Studio task has the text, the explanation, the spans of our evidence as a prediction with
the score, and what people said as annotations (https://labelstud.io/guide/tasks). Texts that were
not kept are null.
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
from services.registry import metrics
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
PLACE = ("batch_id", "line", "custom_id", "metadata")
COLUMNS = (
    *(name for name in ReviewerJudgementSchema.model_fields if name not in ORIGIN),
    *("metric", "score", "metric_verdict"),
    *PLACE,
    "created_iso",
)
OF_AN_EXPORT = frozenset(COLUMNS)


class JudgementLine(JudgementRequest):
    """A line of an import."""

    reviewer: ReviewerName = Field(description="who judged")


def file_chunks(engine: Engine, wanted: JudgementFilter, form: FileFormat) -> Iterator[bytes]:
    """The file, some judgements at a time, newest first; no transaction stays open between them."""
    if form == "csv":
        yield encode_rows([list(COLUMNS)])
    last: str | None = None
    while True:
        with transaction(engine) as connection:
            found, more = judgements.page_of(connection, wanted, AT_ONCE, last)
            of = _load_jobs(connection, [one.job_id for one in found])
        rows = [_row(one, of.get(one.job_id)) for one in found]
        if form == "csv":
            yield encode_rows([_cell(row[name]) for name in COLUMNS] for row in rows)
        else:
            yield "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        if not more:
            return
        last = found[-1].id


def _cell(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | dict) else csv_field(value)


def _row(one: ReviewerJudgement, job: JobRecord | None) -> dict[str, Any]:
    result = {} if job is None else job.result
    shown = {name: value for name, value in judgement_json(one).items() if name not in ORIGIN}
    shown |= {"metric": None if job is None else job.metric}
    shown |= {"score": result.get("score"), "metric_verdict": result.get("verdict")}
    shown |= dict.fromkeys(PLACE) if job is None else job.place
    made = one.created_at.astimezone(UTC).isoformat(timespec="seconds")
    return shown | {"created_iso": made.replace("+00:00", "Z")}


@dataclass(frozen=True)
class JobRecord:
    """A job as a file of judgements has it. line: the first of its batch that asked for it."""

    id: str
    metric: str
    request: dict[str, Any]
    result: dict[str, Any]
    batch_id: str | None
    line: JobLine | None

    @property
    def place(self) -> dict[str, Any]:
        """Where it stands, and its metadata; null where no text may be kept."""
        own = None if self.line is None else line_metadata(self.line.caller)
        hidden = self.request.get("do_not_store_text")
        return {
            "batch_id": self.batch_id,
            "line": None if self.line is None else self.line.number,
            "custom_id": None if self.line is None else self.line.custom_id,
            "metadata": None if hidden else own or self.request.get("metadata") or {},
        }


def _load_jobs(connection: Connection, ids: Sequence[str]) -> dict[str, JobRecord]:
    named = jobs.c.id, jobs.c.metric, jobs.c.request, jobs.c.result, jobs.c.batch_id
    lines = first_lines(connection, ids)
    return {
        row.id: JobRecord(*row[:3], row.result or {}, row.batch_id, lines.get(row.id))
        for row in connection.execute(select(*named).where(jobs.c.id.in_(set(ids))))
    }


def tasks(engine: Engine, wanted: JudgementFilter, ids: Sequence[str]) -> Iterator[bytes]:
    """Label Studio's tasks of these jobs, a JSON array; ids: in its order."""
    yield b"["
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        with transaction(engine) as connection:
            found = _load_jobs(connection, some)
            said = judgements.list_by_job(connection, wanted, some)
        told = [_task(found[one], said.get(one, [])) for one in some if one in found]
        comma = "," if start else ""
        yield (comma + ",".join(map(json.dumps, told))).encode()
    yield b"]"


def _task(job: JobRecord, said: Iterable[ReviewerJudgement]) -> dict[str, Any]:
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
    for one in said:
        verdict = {"from_name": "verdict", "to_name": "text", "type": "choices"}
        result: list[dict[str, Any]] = [verdict | {"value": {"choices": [one.verdict]}}]
        for span in one.spans:  # by the field that holds it where that is not the text
            words = str(texts.get(span["of"]) or "")[span["start"] : span["end"]]
            value = {"start": span["start"], "end": span["end"], "text": words}
            marked = {"from_name": "marked", "to_name": span["of"], "type": "labels"}
            result.append(marked | {"value": value | {"labels": ["marked"]}})
        meta = {"reviewer": one.reviewer, "about": one.about, "judgement": one.id}
        annotations.append({"result": result, "meta": meta})
    return {
        "data": {
            "text": job.request.get(field),
            "explanation": texts.get("explanation"),
            "job_id": job.id,
            "verdict": job.result.get("verdict"),
            **job.place,
        },
        "predictions": [prediction],
        "annotations": annotations,
    }


def _spans(evidence: Iterable[dict[str, Any]], judged: str) -> Iterator[dict[str, Any]]:
    """By the field that holds it; what is judged is the task's `text`."""
    for one in evidence:
        if isinstance(one.get("start"), int) and isinstance(one.get("end"), int):
            value = {name: one.get(name) for name in ("start", "end", "text")}
            kind = {"labels": [str(one.get("kind", "span"))]}
            lies = field_of(one, judged)
            to = "text" if lies == judged else lies
            names = {"from_name": "spans", "to_name": to, "type": "labels"}
            yield {**names, "value": value | kind}


def read(raw: bytes) -> list[JudgementLine]:
    """Every line of an import; what an export adds of its own is left out. Raises InvalidBody with
    the faults by line, BadInput for too many lines."""
    lines = [line for line in raw.split(b"\n") if line.strip()]
    if not 1 <= len(lines) <= MOST_LINES:
        raise BadInput(f"send 1 to {MOST_LINES} lines")
    found: list[JudgementLine] = []
    faults: list[dict[str, Any]] = []
    bodies: list[Any] = []
    for place, line in enumerate(lines):
        bodies.append(None)
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("no object")
            known = JudgementLine.model_fields
            bodies[-1] = {
                name: one
                for name, one in value.items()
                if name in known or name not in OF_AN_EXPORT
            }
            found.append(JudgementLine.model_validate(bodies[-1]))
        except ValidationError as error:
            faults += [{**one, "loc": (place, *one["loc"])} for one in error.errors()]
        except (ValueError, RecursionError):
            faults.append({"loc": (place,), "type": "json", "msg": "this line is no JSON object"})
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InvalidBody(invalid(faults[:MOST_FAULTS], bodies))
    return found


def store(
    connection: Connection, lines: Sequence[JudgementLine], source: str, by: Origin
) -> tuple[int, int]:
    """(how many are new, how many were there already). All or none: the first that cannot be stored
    is refused with its line."""
    unchanged = 0
    for place, line in sorted(enumerate(lines), key=lambda one: one[1].job_id):  # no two deadlock
        try:
            values = line.model_dump(mode="json", exclude={"job_id", "reviewer", "queue"})
            values["source"] = source
            query = select(jobs.c.metric, jobs.c.request, jobs.c.result)
            own = jobs.c.id == line.job_id, jobs.c.tenant == by.tenant
            found = connection.execute(query.where(*own)).one_or_none()
            if found is None:
                raise BadInput(f"the job {line.job_id!r} does not exist", pointer="/job_id")
            check_part(found.metric, line.about)
            check_spans(with_elicited(found.request, found.result), values["spans"])
            origin = Origin(**(vars(by) | {"reviewer": line.reviewer, "verified": False}))
            _, is_known = judgements.write(connection, line.job_id, values, origin)
            unchanged += is_known
        except BadInput as error:
            raise BadInput(error.detail, pointer=f"/{place}{error.pointer or ''}") from error
    return len(lines) - unchanged, unchanged
