"""The commands `list`, `get`, `cancel`, `delete`, `judgements` and `metrics`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from cyclopts import App, Parameter
from cyclopts.validators import Number

from touchstone_client._base import Result
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client._wire import OTHERS
from touchstone_client.cli.app import Client, Ids, Out, Pairs, Target, Verdict, app
from touchstone_client.cli.output import (
    DONE,
    REFUSED,
    Output,
    WrongUse,
    exit_code,
    has_ended,
    require_agreement,
    worst_code,
)
from touchstone_client.cli.scoring import require_metric, show_result
from touchstone_client.data.addresses import created, target_form
from touchstone_client.errors import ApiError

SPAN = re.compile(r"(\d+)([smhdw])")
SPANS = re.compile(r"(\d+[smhdw])+")
JUDGEMENTS = app.command(
    App(name="judgements", help="Export or import people's judgements of scores.")
)
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(seconds: int | None) -> str:
    """Return a unix time as local time, to the minute."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def timestamp_of(text: str | None) -> int:
    """Return the unix time that `--since` describes: a span before now such as `2d` or `1h30m`, or
    a date with or without a time. Times without a zone are local. Raises WrongUse."""
    if text is None:
        return 0
    if SPANS.fullmatch(text):
        parts = SPAN.findall(text)
        return max(0, int(time.time()) - sum(int(count) * SECONDS[unit] for count, unit in parts))
    try:
        return max(0, int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()))
    except ValueError:
        raise WrongUse(
            f"--since {text!r} is not a time; write it as in 30m, 1h30m, 2d, 2026-11-26 or "
            "2026-11-26T08:00"
        ) from None


@app.command(name="list")
def listing(
    kind: Literal["jobs", "batches", "files"],
    /,
    *,
    status: str | None = None,
    metric: str | None = None,
    verdict: Verdict | None = None,
    batch: str | None = None,
    metadata: Pairs = (),
    since: str | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 20,
    full: bool = False,
    ts: Client,
    output: Out,
) -> None:
    """List jobs, batches or files, newest first.

    Args:
        kind: Kind of object to list.
        status: List only those with this status.
        metric: List only those with this metric.
        verdict: List only jobs with this verdict.
        batch: List only jobs of this batch.
        metadata: List only jobs or batches with this metadata. Repeatable.
        since: List only what was created since this time: a duration such as 30m, 1h30m or 2d, or a
            date such as 2026-11-26.
        limit: Maximum number to list.
        full: With --json: print whole jobs instead of summaries.
    """
    if kind == "files" and (metric or status or metadata):
        raise WrongUse("files have no metric, status and metadata: leave out such options")
    if kind != "jobs" and (verdict or batch or full):
        raise WrongUse("--verdict, --batch and --full are options of `touchstone list jobs`")
    created_after = timestamp_of(since)
    if metric is not None:
        require_metric(ts, metric)
    if kind == "files":
        head, rows, documents = _files(islice(ts.files.list(created_after=created_after), limit))
    elif kind == "batches":
        statuses = get_args(models.Batch.model_fields["status"].annotation)
        if status not in (None, *statuses):
            raise WrongUse(f"--status {status!r}: choose one of {', '.join(statuses)}")
        batches = ts.batches.list(created_after=created_after, metadata=dict(metadata))
        fitting = (
            each
            for each in batches
            if status in (None, each.status) and metric in (None, each.metric)
        )
        head, rows, documents = _batches(islice(fitting, limit))
    else:
        filters: dict[str, Any] = {"status": status, "metric": metric, "batch": batch}
        filters |= {"verdict": verdict, "metadata": dict(metadata)}
        expand: Any = "details" if full else None
        jobs = ts.jobs.list(**filters, created_after=created_after, expand=expand)
        head, rows, documents = _jobs(islice(jobs, limit), is_full=full)
    output.table(head, rows)
    output.document(documents)


@JUDGEMENTS.command(name="import")
def import_judgements(file: str, /, *, source: str, ts: Client, output: Out) -> None:
    """Import judgements that were made in another system. If one line is invalid, none is imported.

    Args:
        file: JSON Lines file with job_id, reviewer and verdict, in the format of the export.
        source: Name of the system that the judgements come from.
    """
    imported = ts.judgements.take_in(file, source)
    output.line(f"{imported.imported} imported, {imported.unchanged} already existed")
    output.document(imported)


@JUDGEMENTS.command(name="export")
def export_judgements(
    *,
    target: Annotated[str, Parameter(name="--output", metavar="FILE")],
    batch: str | None = None,
    queue: str | None = None,
    format: Literal["jsonl", "csv", "label-studio"] | None = None,
    ts: Client,
    output: Out,
) -> None:
    """Write judgements into a file.

    Args:
        target: File to write.
        batch: Export only judgements of this batch.
        queue: Export only judgements of this review queue.
        format: Format of the file (default: by its ending, .csv or JSON Lines).
    """
    form = format or form_of(target)
    ts.judgements.export(target, format=form, batch=batch, queue=queue)
    output.line(f"written to {target}")
    output.document({"output": target, "format": form})


def form_of(target: str) -> str:
    """Return the file format for the ending of a name. Raises WrongUse for an unknown ending."""
    name = target.removesuffix(".gz")
    if Path(name).suffix.lower() not in ("", ".jsonl", ".ndjson", ".csv"):
        raise WrongUse(f"{target!r} does not end in .jsonl or .csv; add --format")
    return target_form(name)


def _jobs(jobs: Iterable[Any], *, is_full: bool) -> tuple[Any, Any, Any]:
    listed = list(jobs)
    rows = [
        (job.id, job.metric, job.status, job.verdict, job.score, moment(job.created_at))
        for job in listed
    ]
    absent = None if is_full else {"error", "result"}
    documents = [job.data.model_dump(mode="json", by_alias=True, exclude=absent) for job in listed]
    return ("job", "metric", "status", "verdict", "score", "made"), rows, documents


def _batches(batches: Iterable[Any]) -> tuple[Any, Any, Any]:
    listed = list(batches)
    rows = []
    for batch in listed:
        counts = batch.request_counts
        done = f"{counts.completed + counts.failed}/{counts.total}"
        rows.append(
            (batch.id, batch.metric, batch.status, done, counts.failed, moment(batch.created_at))
        )
    return ("batch", "metric", "status", "done", "failed", "made"), rows, listed


def _files(files: Iterable[Any]) -> tuple[Any, Any, Any]:
    listed = list(files)
    rows = [
        (file.id, file.filename, file.purpose, file.bytes, moment(file.created_at))
        for file in listed
    ]
    return ("file", "name", "purpose", "bytes", "made"), rows, listed


@app.command
def get(id: str, /, *, target: Target = None, ts: Client, output: Out) -> int:
    """Show a job or a batch, or the content of a file.

    Args:
        id: Id that begins with job_, batch_ or file_.
        target: Write the file's content or the batch's answers to this file.
    """
    kind = id.partition("_")[0]
    if kind == "file":
        _file(ts, id, target, output)
        return DONE
    if kind not in ("job", "batch"):
        raise WrongUse(f"{id!r} is not an id: ids begin with job_, batch_ or file_")
    if kind == "batch" and target is not None:
        target_form(target)
    handle: Any = ts.jobs.get(id) if kind == "job" else ts.batches.get(id)
    if target is not None:
        if kind == "batch":
            if not has_ended(handle, output):
                return REFUSED
            output.say(f"{handle.save(target)} answers in {target}")
            return DONE
        with created(target) as stream:
            stream.write(handle.data.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
        return DONE
    output.document(handle.data if kind == "job" else handle)
    if not output.is_json:
        (_show_job if kind == "job" else _show_batch)(handle, output)
    return DONE


def _file(ts: Touchstone, id: str, target: str | None, output: Output) -> None:
    if output.is_json:
        output.document(ts.files.get(id))
    elif target is not None:
        ts.files.download(id, target)
    else:
        for piece in ts.files.content(id):
            output.raw(piece)
        output.write("")


def _show_job(job: Any, output: Output) -> None:
    data = job.data
    facts = [("status", data.status), ("made", moment(data.created_at)), ("batch", data.batch_id)]
    facts += [("ended", moment(data.finished_at)), *data.metadata.items()]
    output.line(f"{data.id}  {data.metric}")
    output.table(("", ""), [fact for fact in facts if fact[1] not in (None, "-")])
    if data.error is not None:
        output.line(f"{data.error.title}: {data.error.detail}")
    result = job.result
    if isinstance(result, Result | models.ExplanationsResult):
        output.line("")
        show_result(output, result)
    if isinstance(result, Result):
        _show_evidence(result, output)
    provenance = getattr(result, "provenance", None)
    for model in getattr(provenance, "models", None) or ():
        output.line(f"model {model.name} {(model.sha256 or '')[:12]}")


def _show_evidence(result: Result, output: Output) -> None:
    marked = [span for span in result.evidence or () if getattr(span, "start", None) is not None]
    if marked:
        output.line("")
        rows = [(span.kind, span.start, span.end, getattr(span, "value", None)) for span in marked]
        output.table(("evidence", "from", "to", "value"), rows)


def _show_batch(batch: Any, output: Output) -> None:
    counts = batch.request_counts
    output.line(f"{batch.id}  {batch.metric}")
    rows = [
        ("status", batch.status), ("answered", f"{counts.completed} of {counts.total}"),
        ("failed", counts.failed), ("made", moment(batch.created_at)),
        ("input", batch.input_file_id), ("output", batch.output_file_id),
        ("errors", batch.error_file_id), *batch.metadata.items(),
    ]  # fmt: skip
    output.table(("", ""), [row for row in rows if row[1] is not None])
    for fault in (batch.errors.data if batch.errors else [])[:20]:
        output.line(f"line {fault.line or '-'}: {fault.message}")


@app.command
def cancel(*ids: Ids, ts: Client, output: Out) -> int:
    """Cancel jobs or batches.

    The exit code is 1 if one of them has ended.
    """
    codes, documents = [], []
    for id in ids:
        try:
            is_batch = id.startswith("batch_")
            handle: Any = ts.batches.cancel(id) if is_batch else ts.jobs.cancel(id)
        except ApiError as error:
            output.say(f"{id}: {error}")
            codes.append(exit_code(error))
            continue
        documents.append(handle if is_batch else handle.data)
        output.line(f"{id} {handle.status}")
    output.document(documents)
    return worst_code(codes)


@app.command
def delete(*ids: str, metadata: Pairs = (), yes: bool = False, ts: Client, output: Out) -> int:
    """Delete ended jobs: their requests, results and lines in batch files.

    The exit code is 1 if one of them has not ended.

    Args:
        ids: Ids of jobs.
        metadata: Delete all jobs and batch lines with this metadata. Repeatable: all must match.
        yes: Delete without a question.
    """
    if bool(ids) == bool(metadata):
        raise WrongUse("say which jobs: give their ids, or --metadata KEY=VALUE")
    if wrong := [id for id in ids if not id.startswith("job_")]:
        raise WrongUse(f"{wrong[0]!r} is not the id of a job, which begins with job_")
    where = dict(metadata)
    words = " and ".join(f"{key}={value}" for key, value in where.items())
    which = f"of all ended jobs with {words}" if where else f"of {', '.join(ids)}"
    output.say(f"This deletes the request, the result and the lines in batch files {which}.")
    require_agreement("delete them?", "nothing was deleted: --yes deletes", yes)
    if where:
        deleted = ts.jobs.delete_where(where)
        output.document(deleted)
        output.line(f"{deleted.jobs} jobs and {deleted.lines} lines of batches deleted")
        if deleted.open:
            output.say(f"{deleted.open} jobs have not ended and were not deleted")
        return REFUSED if deleted.open else DONE
    codes, documents = [], []
    for id in ids:
        try:
            documents.append(ts.jobs.delete(id))
        except ApiError as error:
            output.say(f"{id}: {error}")
            codes.append(exit_code(error))
            continue
        output.line(f"{id} deleted")
    output.document(documents)
    return worst_code(codes)


@app.command
def metrics(name: str | None = None, /, *, ts: Client, output: Out) -> None:
    """List the metrics, or show the required fields of a metric with an example.

    Args:
        name: Metric to show.
    """
    described = ts.description()
    listed = described_metrics(described)
    if name is None:
        rows = [(each, metric.question) for each, metric in listed.items()]
        output.table(("metric", "the question"), rows)
        output.document([{"name": each, "summary": question} for each, question in rows])
        return
    metric = {**listed, **_others(described)}.get(name)
    if metric is None:
        raise no_metric(name, listed)
    _metric(name, metric, output)


def no_metric(name: str, listed: Iterable[str]) -> WrongUse:
    """Return the error for an unknown metric."""
    return WrongUse(f"there is no metric {name!r}; choose one of: {', '.join(listed)}")


@dataclass(frozen=True)
class Described:
    """A metric or other service: its question, request schema and example, from the API's
    description."""

    question: str
    schema: Any  # of its request
    example: Any


def described_metrics(described: Any) -> dict[str, Described]:
    """Return each metric's summary, request schema and example from the OpenAPI description."""
    body = described["paths"]["/v1/scores/{metric}"]["post"]["requestBody"]
    schemas = described["components"]["schemas"]
    examples = body["content"]["application/json"]["examples"]
    return {
        name: Described(
            example["summary"], schemas[f"{name.capitalize()}Request"], example["value"]
        )
        for name, example in examples.items()
    }


def _others(described: Any) -> dict[str, Described]:
    operations = {}
    for name in OTHERS:
        operation = described["paths"][f"/v1/{name}"]["post"]
        body = operation["requestBody"]["content"]["application/json"]
        schema = described["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
        example: Any = next((entry["value"] for entry in body.get("examples", {}).values()), {})
        operations[name] = Described(operation["description"].partition("\n")[0], schema, example)
    return operations


def needed(schema: Any) -> list[str]:
    """Return the required fields of a request. A field that can be replaced by another one is
    returned as `field (or other)`."""
    alternatives = (
        f"{name} (or {other})" for name, other in schema.get("x-required-unless", {}).items()
    )
    return [*schema.get("required", []), *alternatives]


def _metric(name: str, metric: Described, output: Output) -> None:
    schema, example, needs = metric.schema, metric.example, needed(metric.schema)
    output.document(
        {"name": name, "summary": metric.question, "required": needs, "example": example}
    )
    output.line(f"{name}: {metric.question}")
    output.line(f"needs: {', '.join(needs) or 'nothing'}")
    optional = schema["properties"].keys() - schema.get("required", ())
    optional -= schema.get("x-required-unless", {}).keys()
    output.line(f"takes: {', '.join(field for field in schema['properties'] if field in optional)}")
    output.line("")
    output.line(f"touchstone score {name} - <<'JSON'")
    output.line(json.dumps(example, ensure_ascii=False, indent=2))
    output.line("JSON")
