"""The commands `list`, `get`, `cancel`, `delete`, `judgements` and `metrics`."""

from __future__ import annotations

import json
import re
import time
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from touchstone_client._base import Result
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client._wire import OTHERS
from touchstone_client.cli.output import (
    DONE,
    REFUSED,
    Output,
    WrongUse,
    has_ended,
    require_agreement,
)
from touchstone_client.cli.scoring import show_result
from touchstone_client.data.addresses import created, target_form
from touchstone_client.errors import ApiError

SPAN = re.compile(r"(\d+)([smhdw])")
SPANS = re.compile(r"(\d+[smhdw])+")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(seconds: int | None) -> str:
    """Return a unix time as local time, to the minute."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def since(text: str | None) -> int:
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


def listing(ts: Touchstone, options: Namespace, output: Output) -> int:
    """List jobs, batches or other objects, newest first."""
    if options.kind == "files" and (options.metric or options.status or options.metadata):
        raise WrongUse("files have no metric, status and metadata: leave out such options")
    if options.kind != "jobs" and (options.verdict or options.batch or options.full):
        raise WrongUse("--verdict, --batch and --full are options of `touchstone list jobs`")
    of = {"jobs": _jobs, "batches": _batches, "files": _files}
    head, rows, documents = of[options.kind](ts, options)
    output.table(head, rows)
    output.document(documents)
    return DONE


def judgements(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Export judgements to a file, or import them from a file."""
    if options.action == "import":
        imported = ts.judgements.take_in(options.file, options.source)
        output.line(f"{imported.imported} imported, {imported.unchanged} already existed")
        output.document(imported)
        return DONE
    filters = {"batch": options.batch, "queue": options.queue}
    form = options.format or form_of(options.output)
    ts.judgements.export(options.output, format=form, **filters)
    output.line(f"written to {options.output}")
    output.document({"output": options.output, "format": form})
    return DONE


def form_of(target: str) -> str:
    """Return the file format for the ending of a name. Raises WrongUse for an unknown ending."""
    name = target.removesuffix(".gz")
    if Path(name).suffix.lower() not in ("", ".jsonl", ".ndjson", ".csv"):
        raise WrongUse(f"{target!r} does not end in .jsonl or .csv; add --format")
    return target_form(name)


def _jobs(ts: Touchstone, options: Namespace) -> tuple[Any, Any, Any]:
    listed = ts.jobs.list(
        status=options.status,
        metric=options.metric,
        batch=options.batch,
        verdict=options.verdict,
        created_after=since(options.since),
        metadata=dict(options.metadata),
        expand="details" if options.full else None,
    )
    jobs = list(islice(listed, options.limit))
    rows = [
        (job.id, job.metric, job.status, job.verdict, job.score, moment(job.created_at))
        for job in jobs
    ]
    absent = None if options.full else {"error", "result"}
    documents = [job.data.model_dump(mode="json", by_alias=True, exclude=absent) for job in jobs]
    return ("job", "metric", "status", "verdict", "score", "made"), rows, documents


def _batches(ts: Touchstone, options: Namespace) -> tuple[Any, Any, Any]:
    def fits(batch: Any) -> bool:
        return options.status in (None, batch.status) and options.metric in (None, batch.metric)

    listed = ts.batches.list(created_after=since(options.since), metadata=dict(options.metadata))
    batches = list(islice(filter(fits, listed), options.limit))
    rows = []
    for batch in batches:
        counts = batch.request_counts
        done = f"{counts.completed + counts.failed}/{counts.total}"
        rows.append(
            (batch.id, batch.metric, batch.status, done, counts.failed, moment(batch.created_at))
        )
    return ("batch", "metric", "status", "done", "failed", "made"), rows, batches


def _files(ts: Touchstone, options: Namespace) -> tuple[Any, Any, Any]:
    files = list(islice(ts.files.list(created_after=since(options.since)), options.limit))
    rows = [
        (file.id, file.filename, file.purpose, file.bytes, moment(file.created_at))
        for file in files
    ]
    return ("file", "name", "purpose", "bytes", "made"), rows, files


def get(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Show a job, the counts of a batch, or the content of a file."""
    kind = options.id.partition("_")[0]
    if kind == "file":
        return _file(ts, options, output)
    if kind not in ("job", "batch"):
        raise WrongUse(f"{options.id!r} is not an id: ids begin with job_, batch_ or file_")
    if kind == "batch" and options.output is not None:
        target_form(options.output)
    handle: Any = ts.jobs.get(options.id) if kind == "job" else ts.batches.get(options.id)
    if options.output is not None:
        if kind == "batch":
            if not has_ended(handle, output):
                return REFUSED
            output.say(f"{handle.save(options.output)} answers in {options.output}")
            return DONE
        with created(options.output) as stream:
            stream.write(handle.data.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
        return DONE
    output.document(handle.data if kind == "job" else handle)
    if not output.is_json:
        (_show_job if kind == "job" else _show_batch)(handle, output)
    return DONE


def _file(ts: Touchstone, options: Namespace, output: Output) -> int:
    if output.is_json:
        output.document(ts.files.get(options.id))
    elif options.output is not None:
        ts.files.download(options.id, options.output)
    else:
        for piece in ts.files.content(options.id):
            output.raw(piece)
        output.write("")
    return DONE


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


def cancel(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Cancel jobs and batches. Return 1 if one of them has ended or does not exist."""
    code, documents = DONE, []
    for id in options.ids:
        try:
            is_batch = id.startswith("batch_")
            handle: Any = ts.batches.cancel(id) if is_batch else ts.jobs.cancel(id)
        except ApiError as error:
            output.say(f"{id}: {error}")
            code = REFUSED
            continue
        documents.append(handle if is_batch else handle.data)
        output.line(f"{id} {handle.status}")
    output.document(documents)
    return code


def delete(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Delete jobs by id or by metadata. Return 1 if one of them was not deleted."""
    if bool(options.ids) == bool(options.metadata):
        raise WrongUse("say which jobs: give their ids, or --metadata KEY=VALUE")
    if wrong := [id for id in options.ids if not id.startswith("job_")]:
        raise WrongUse(f"{wrong[0]!r} is not the id of a job, which begins with job_")
    where = dict(options.metadata)
    words = " and ".join(f"{key}={value}" for key, value in where.items())
    which = f"of all ended jobs with {words}" if where else f"of {', '.join(options.ids)}"
    output.say(f"This deletes the request, the result and the lines in batch files {which}.")
    require_agreement("delete them?", "nothing was deleted: --yes deletes", options.yes)
    if where:
        deleted = ts.jobs.delete_where(where)
        output.document(deleted)
        output.line(f"{deleted.jobs} jobs and {deleted.lines} lines of batches deleted")
        if deleted.open:
            output.say(f"{deleted.open} jobs have not ended and were not deleted")
        return REFUSED if deleted.open else DONE
    code, documents = DONE, []
    for id in options.ids:
        try:
            documents.append(ts.jobs.delete(id))
        except ApiError as error:
            output.say(f"{id}: {error}")
            code = REFUSED
            continue
        output.line(f"{id} deleted")
    output.document(documents)
    return code


def metrics(ts: Touchstone, options: Namespace, output: Output) -> int:
    """List the metrics of the service."""
    described = ts.description()
    listed = described_metrics(described)
    if options.name is None:
        rows = [(name, metric.question) for name, metric in listed.items()]
        output.table(("metric", "the question"), rows)
        output.document([{"name": name, "summary": question} for name, question in rows])
        return DONE
    metric = {**listed, **_others(described)}.get(options.name)
    if metric is None:
        raise no_metric(options.name, listed)
    _metric(options.name, metric, output)
    return DONE


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
