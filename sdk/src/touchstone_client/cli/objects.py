"""`list`, `get`, `cancel`, `judgements`, `metrics`: what the service has."""

from __future__ import annotations

import json
import re
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from touchstone_client._base import Result
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.resources import OTHERS
from touchstone_client.cli.output import DONE, REFUSED, Output, WrongUse, has_ended
from touchstone_client.cli.scoring import show_result
from touchstone_client.data.addresses import created, target_form
from touchstone_client.errors import ApiError

SPAN = re.compile(r"(\d+)([smhdw])")
SPANS = re.compile(r"(\d+[smhdw])+")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(seconds: int | None) -> str:
    """Local time, to the minute."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def since(asked: str | None) -> float:
    """Return the earliest moment: `2d` or `1h30m` ago, or a date with or without a time, which is
    local unless it names its zone. Raises WrongUse."""
    if asked is None:
        return 0.0
    if SPANS.fullmatch(asked):
        parts = SPAN.findall(asked)
        return time.time() - sum(int(count) * SECONDS[unit] for count, unit in parts)
    try:
        return datetime.fromisoformat(asked.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise WrongUse(
            f"--since {asked!r} is no time: 30m, 1h30m, 2d, 2026-11-26, 2026-11-26T08:00"
        ) from None


def listing(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Newest first."""
    if asked.kind == "files" and (asked.metric or asked.status):
        raise WrongUse("files have no metric and no status: leave out --metric and --status")
    of = {"jobs": _jobs, "batches": _batches, "files": _files}
    head, rows, found = of[asked.kind](ts, asked)
    output.table(head, rows)
    output.document(found)
    return DONE


def judgements(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Out into a file, or in from one."""
    if asked.action == "import":
        found = ts.judgements.take_in(asked.file, asked.source)
        output.line(f"{found.imported} taken in, {found.unchanged} were there already")
        output.document(found)
        return DONE
    chosen = {"batch": asked.batch, "queue": asked.queue}
    form = asked.format or form_of(asked.output)
    ts.judgements.export(asked.output, format=form, **chosen)
    output.line(f"written to {asked.output}")
    output.document({"output": asked.output, "format": form})
    return DONE


def form_of(target: str) -> str:
    """By the ending. Raises WrongUse for one that says something else."""
    name = target.removesuffix(".gz")
    if Path(name).suffix.lower() not in ("", ".jsonl", ".ndjson", ".csv"):
        raise WrongUse(f"{target!r} ends in no .jsonl or .csv: say --format")
    return target_form(name)


def _until(
    listed: Iterable[Any], asked: Namespace, fits: Callable[[Any], bool], made: Callable[[Any], int]
) -> list[Any]:
    """Those that fit, back to the moment that is asked for."""
    earliest = since(asked.since)

    def fresh() -> Iterator[Any]:
        for one in listed:
            if made(one) < earliest:
                return
            if fits(one):
                yield one

    return list(islice(fresh(), asked.limit))


def _jobs(ts: Touchstone, asked: Namespace) -> tuple[Any, Any, Any]:
    listed = ts.jobs.list(status=asked.status, metric=asked.metric)
    found = _until(listed, asked, lambda _: True, lambda one: one.data.created_at)
    rows = [
        (one.id, one.metric, one.status, _score_of(one.result),
         moment(one.data.created_at))
        for one in found
    ]  # fmt: skip
    return ("job", "metric", "status", "score", "made"), rows, [one.data for one in found]


def _score_of(result: Any) -> float | None:
    """Of a result; of a report its estimate's value."""
    score = getattr(result, "score", None)
    value = getattr(score, "value", score)
    return float(value) if isinstance(value, int | float) else None


def _batches(ts: Touchstone, asked: Namespace) -> tuple[Any, Any, Any]:
    def fits(one: Any) -> bool:
        return asked.status in (None, one.status) and asked.metric in (None, one.metric)

    found = _until(ts.batches.list(), asked, fits, lambda one: one.created_at)
    rows = []
    for one in found:
        counts = one.request_counts
        done = f"{counts.completed + counts.failed}/{counts.total}"
        rows.append((one.id, one.metric, one.status, done, counts.failed, moment(one.created_at)))
    return ("batch", "metric", "status", "done", "failed", "made"), rows, found


def _files(ts: Touchstone, asked: Namespace) -> tuple[Any, Any, Any]:
    found = _until(ts.files.list(), asked, lambda _: True, lambda one: one.created_at)
    rows = [(f.id, f.filename, f.purpose, f.bytes, moment(f.created_at)) for f in found]
    return ("file", "name", "purpose", "bytes", "made"), rows, found


def get(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """A job as its page shows it, a batch's counts, a file's content."""
    kind = asked.id.partition("_")[0]
    if kind == "file":
        return _file(ts, asked, output)
    if kind not in ("job", "batch"):
        raise WrongUse(f"{asked.id!r} is no id: ids begin with job_, batch_ or file_")
    if kind == "batch" and asked.output is not None:
        target_form(asked.output)
    found: Any = ts.jobs.get(asked.id) if kind == "job" else ts.batches.get(asked.id)
    if asked.output is not None:
        if kind == "batch":
            if not has_ended(found, output):
                return REFUSED
            output.say(f"{found.save(asked.output)} answers in {asked.output}")
            return DONE
        with created(asked.output) as stream:
            stream.write(found.data.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
        return DONE
    output.document(found.data if kind == "job" else found)
    if not output.is_json:
        (_show_job if kind == "job" else _show_batch)(found, output)
    return DONE


def _file(ts: Touchstone, asked: Namespace, output: Output) -> int:
    if output.is_json:
        output.document(ts.files.get(asked.id))
    elif asked.output is not None:
        ts.files.download(asked.id, asked.output)
    else:
        for piece in ts.files.content(asked.id):
            output.raw(piece)
        output.write("")
    return DONE


def _show_job(job: Any, output: Output) -> None:
    data = job.data
    facts = [("status", data.status), ("made", moment(data.created_at)), ("batch", data.batch_id)]
    facts += [("ended", moment(data.finished_at)), *data.metadata.items()]
    output.line(f"{data.id}  {data.metric}")
    output.table(("", ""), [one for one in facts if one[1] not in (None, "-")])
    if data.error is not None:
        output.line(f"{data.error.title}: {data.error.detail}")
    result = job.result
    if isinstance(result, Result | models.ExplanationsResult):
        output.line("")
        show_result(output, result)
    if isinstance(result, Result):
        _show_evidence(result, output)
    provenance = getattr(result, "provenance", None)
    for one in getattr(provenance, "models", None) or ():
        output.line(f"model {one.name} {(one.sha256 or '')[:12]}")


def _show_evidence(result: Result, output: Output) -> None:
    marked = [one for one in result.evidence or () if getattr(one, "start", None) is not None]
    if marked:
        output.line("")
        rows = [(one.kind, one.start, one.end, getattr(one, "value", None)) for one in marked]
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
    output.table(("", ""), [one for one in rows if one[1] is not None])
    for fault in (batch.errors.data if batch.errors else [])[:20]:
        output.line(f"line {fault.line or '-'}: {fault.message}")


def cancel(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Each; 1 where one had ended or is not there."""
    code, found = DONE, []
    for id in asked.ids:
        try:
            is_batch = id.startswith("batch_")
            one: Any = ts.batches.cancel(id) if is_batch else ts.jobs.cancel(id)
        except ApiError as error:
            output.say(f"{id}: {error}")
            code = REFUSED
            continue
        found.append(one if is_batch else one.data)
        output.line(f"{id} {one.status}")
    output.document(found)
    return code


def metrics(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """What can be asked for: of the service's own description."""
    described = ts.description()
    listed = described_metrics(described)
    if asked.name is None:
        rows = [(name, one.question) for name, one in listed.items()]
        output.table(("metric", "the question"), rows)
        output.document([{"name": name, "summary": question} for name, question in rows])
        return DONE
    found = {**listed, **_others(described)}.get(asked.name)
    if found is None:
        raise WrongUse(f"there is no metric {asked.name!r}; there are: {', '.join(listed)}")
    _metric(asked.name, found, output)
    return DONE


@dataclass(frozen=True)
class Described:
    """What the service's description says of a metric, or of another service."""

    question: str
    schema: Any  # of its request
    example: Any


def described_metrics(described: Any) -> dict[str, Described]:
    """Of each metric, by the examples of the operation that they share."""
    body = described["paths"]["/v1/scores/{metric}"]["post"]["requestBody"]
    schemas = described["components"]["schemas"]
    examples = body["content"]["application/json"]["examples"]
    return {
        name: Described(one["summary"], schemas[f"{name.capitalize()}Request"], one["value"])
        for name, one in examples.items()
    }


def _others(described: Any) -> dict[str, Described]:
    found = {}
    for name in OTHERS:
        operation = described["paths"][f"/v1/{name}"]["post"]
        body = operation["requestBody"]["content"]["application/json"]
        schema = described["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
        example: Any = next((one["value"] for one in body.get("examples", {}).values()), {})
        found[name] = Described(operation["description"].partition("\n")[0], schema, example)
    return found


def needed(schema: Any) -> list[str]:
    """The fields that a request must have; with the one that may stand for another."""
    others = (f"{name} (or {other})" for name, other in schema.get("x-required-unless", {}).items())
    return [*schema.get("required", []), *others]


def _metric(name: str, found: Described, output: Output) -> None:
    schema, example, needs = found.schema, found.example, needed(found.schema)
    output.document(
        {"name": name, "summary": found.question, "required": needs, "example": example}
    )
    output.line(f"{name}: {found.question}")
    output.line(f"needs: {', '.join(needs) or 'nothing'}")
    others = schema["properties"].keys() - schema.get("required", ())
    others -= schema.get("x-required-unless", {}).keys()
    output.line(f"takes: {', '.join(one for one in schema['properties'] if one in others)}")
    output.line("")
    output.line(f"touchstone score {name} - <<'JSON'")
    output.line(json.dumps(example, ensure_ascii=False, indent=2))
    output.line("JSON")
