"""The commands `score`, `submit` and `watch`, which send requests and wait for the results."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._lines import batch_file, blanked, is_table
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.handles import Batch
from touchstone_client._sync.resources import Files, endpoint_of
from touchstone_client._wire import METRICS, OTHERS
from touchstone_client.cli.output import (
    DONE,
    INTERRUPTED,
    REFUSED,
    SOME_FAILED,
    Output,
    WrongUse,
    require_agreement,
)
from touchstone_client.data._columns import IDS
from touchstone_client.data.addresses import target_form
from touchstone_client.data.cells import REST, TEXT, put, types_of, value_of
from touchstone_client.data.mapping import ColumnMapping, from_words, require_fields
from touchstone_client.data.readers import Reading, table_of
from touchstone_client.errors import BatchFailed, JobCancelled, JobFailed

MOST_SHOWN = 20
MOST_UPLOADS = 10  # of a file, each without the lines that were refused so far


@contextmanager
def goes_on(output: Output, kind: str, id: str, target: str | None = None) -> Iterator[None]:
    """On Ctrl-C in the block, print how to follow the job or batch, and exit. The service continues
    its work. `target` is the requested output file."""
    try:
        yield
    except KeyboardInterrupt:
        after = "" if target is None else f", then `touchstone get {id} --output {target}`"
        output.say(
            f"the {kind} continues on the service; follow it with `touchstone watch {id}`{after}"
        )
        raise SystemExit(INTERRUPTED) from None


def score(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Score one request and print its result."""
    require_metric(ts, options.metric)
    job = ts.jobs.create(options.metric, request_of(options))
    with goes_on(output, "job", job.id):
        result = job.wait(options.timeout)
    output.document(job.refresh().data)
    if not output.is_json:
        show_result(output, result)
    return DONE


def request_of(options: Namespace) -> dict[str, Any]:
    """Return the fields of the request from a file or stdin. Command line flags take precedence.
    Raises WrongUse."""
    fields: dict[str, Any] = {}
    if options.request is not None:
        raw = (
            sys.stdin.buffer.read()
            if options.request == "-"
            else Path(options.request).read_bytes()
        )
        try:
            fields = json.loads(raw)
        except ValueError as error:
            raise WrongUse(_unread(options, raw, error)) from None
        if not isinstance(fields, dict):
            raise WrongUse(f"{options.request} is not a JSON object")
        fields = {name: item for name, item in fields.items() if name not in IDS}
    words = {name: getattr(options, name) for name in ("text", "explanation", "decision", "model")}
    fields |= {name: value for name, value in words.items() if value is not None}
    for name, value in options.field:
        put(fields, name, value_of(value, types_of(options.metric, name) or TEXT))
    if not fields:
        raise WrongUse(
            "no request is given; add --text and --explanation, a JSON file, or - for stdin"
        )
    return fields


def _unread(options: Namespace, raw: bytes, error: ValueError) -> str:
    is_many = raw.lstrip()[:1] == b"{" and str(error).startswith("Extra data")
    if is_many or is_table(options.request):
        file = "FILE" if options.request == "-" else options.request
        return (
            f"{options.request} is not a single JSON object; `touchstone submit {file} "
            f"--metric {options.metric}` scores every line of a file"
        )
    return f"{options.request} is not JSON: {error}"


def show_result(output: Output, result: Result | models.ExplanationsResult) -> None:
    """Print a result: verdict, score and sentence, then its numbers and warnings."""
    if isinstance(result, models.ExplanationsResult):
        show_elicited(output, result)
        return
    low, high = (*result.range, None, None)[:2]
    output.line(
        f"{result.metric}: {output.coloured(result.verdict)}, score "
        f"{_notebook.number(result.score)} of {low} to {high}"
    )
    output.line(result.reason)
    output.line("")
    output.table(("check", "outcome", ""), _notebook.checks_of(result))
    for reason in result.untested:
        output.line(f"{reason.reason}: {reason.action}")
    for title, message in (("part", result.components), ("chance", _control(result))):
        if rows := _notebook.parts_of(message):
            output.line("")
            output.table(
                (title, "value", _notebook.PLAIN_NAME),
                _notebook.with_plain_names(result.metric, rows),
            )
    for warning in result.warnings:
        output.say(f"warning: {warning}")


def show_elicited(output: Output, result: models.ExplanationsResult) -> None:
    """Print a model's explanation with its outcome, and one row per metric."""
    elicitation = result.elicitation
    probability = (
        ""
        if elicitation.probability is None
        else f", P {_notebook.number(elicitation.probability)}"
    )
    output.line(f"{elicitation.outcome}: {elicitation.decision or 'no decision'}{probability}")
    output.line(elicitation.explanation)
    if rows := _notebook.metrics_of(result):
        output.line("")
        output.table(("metric", "verdict", "score"), rows)
    for warning in (*(reason.detail for reason in elicitation.obstacles), *result.warnings):
        output.say(f"warning: {warning}")


def _control(result: Result) -> Any:
    return getattr(result, "control", None)


def submit(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Score a file as a batch and return the exit status. Print the batch's id first, then its
    progress."""
    for name in ("output", "errors"):
        if getattr(options, name) is not None and not options.wait:
            raise WrongUse(f"--{name} is written when the batch has ended; add --wait")
    if options.output is not None:
        target_form(options.output)
    refused: dict[int, str] | None = {} if options.skip_invalid else None
    reading = Reading(delimiter=options.delimiter, split=options.split, refused=refused)
    metric = options.metric or metric_in(options.file, reading)
    require_metric(ts, metric)
    columns = mapping_of(options, metric, reading, output)
    upload = Submission(ts, metric, dict(options.metadata), output)
    try:
        with batch_file(options.file, endpoint_of(metric), columns, reading) as (name, content):
            if refused is None:
                batch = upload.send(content, name)
            else:
                batch = upload.send_valid(content, name, refused)
    except KeyboardInterrupt:
        advice = (
            ("check with `touchstone list batches` whether a batch was created")
            if upload.is_there
            else "no batch was created"
        )
        output.say(f"interrupted while uploading: {advice}")
        return INTERRUPTED
    if batch.status == "failed":
        say_faults(output, batch)
        return REFUSED
    if not options.wait:
        output.line(batch.id)
        output.document(batch)
        output.say(f"`touchstone watch {batch.id}` shows its progress")
        return DONE
    is_data = options.output is not None and not output.is_json
    (output.line if is_data else output.say)(batch.id)
    return _waited(batch, options, output)


class Submission:
    """A file that is submitted as a batch. `is_there` is True if the file has been uploaded."""

    def __init__(
        self, ts: Touchstone, metric: str, metadata: dict[str, str], output: Output
    ) -> None:
        self._ts = ts
        self._output = output
        self._metric = metric
        self._metadata = metadata
        self.is_there = False

    def send(self, content: BinaryIO, name: str) -> Batch:
        stored = self._ts.files.upload(content, name)
        self.is_there = True
        return self._ts.batches.create(stored, self._metric, metadata=self._metadata)

    def send_valid(self, content: BinaryIO, name: str, unread: Mapping[int, str]) -> Batch:
        """Submit the file. While the service rejects lines, submit it again without them. Print
        the lines left out, with those of `unread`, which cannot be parsed. The batch fails if no
        line is left, or if 10 further uploads still have invalid lines."""
        refused = dict(unread)
        batch = self.send(content, name)
        for _ in range(MOST_UPLOADS):
            faults = dict(faults_when_read(batch))
            if not faults or 0 in faults:
                break
            refused |= faults
            with blanked(content, refused) as rest:
                batch = self.send(rest, name)
        if refused:
            self._output.say(f"invalid lines that are left out ({len(refused)} in all):")
            _say_lines(self._output, sorted(refused.items()))
        return batch


def faults_when_read(batch: Batch) -> list[tuple[int, str]]:
    """Wait until the service has validated the batch's file, and return its errors."""
    for now in batch.events():
        if now.status != "validating":
            break
    return batch.refresh().faults


def _waited(batch: Batch, options: Namespace, output: Output) -> int:
    with goes_on(output, "batch", batch.id, options.output or "FILE"):
        try:
            with output.progress(None) as reach:
                batch.wait(progress=reach)
        except BatchFailed:
            output.document(batch)
            say_faults(output, batch)
            return REFUSED
        if options.output is not None:
            batch.save(options.output)
        elif not output.is_json:
            stream_file(batch, output)
    output.document(batch)
    output.say(counted(batch))
    if batch.error_file_id and options.errors:
        _save_errors(batch, options.errors)
    elif batch.error_file_id:
        output.say(f"`touchstone get {batch.error_file_id}` prints the lines without a score")
    return end_code(batch)


def _save_errors(batch: Batch, target: str) -> None:
    Files(batch._api).download(str(batch.error_file_id), target)  # noqa: SLF001 - its own


def stream_file(batch: Batch, output: Output) -> None:
    """Write the batch's output file to stdout."""
    if batch.output_file_id is not None:
        for piece in Files(batch._api).content(batch.output_file_id):  # noqa: SLF001 - its own
            output.raw(piece)
        sys.stdout.flush()


def say_faults(output: Output, batch: Batch) -> None:
    """Print the errors in the batch's file, one per line."""
    output.say(f"{batch.id}: the file is not valid:")
    _say_lines(output, batch.faults)
    if not batch.faults:
        output.say("  no reason was given")
    if batch.faults and all(line for line, _ in batch.faults):
        output.say("nothing was scored; `touchstone submit … --skip-invalid` scores the others")


def _say_lines(output: Output, faults: Sequence[tuple[int, str]]) -> None:
    for line, message in faults[:MOST_SHOWN]:
        output.say(f"  line {line}: {message}" if line else f"  {message}")
    if (more := len(faults) - MOST_SHOWN) > 0:
        output.say(f"  … and {more} more")


def counted(batch: Any) -> str:
    """Return the progress of a batch as text."""
    counts = batch.request_counts
    done = f"{counts.completed} of {counts.total} answered, {counts.failed} failed"
    return f"{batch.id} {batch.status}: {done}"


def end_code(batch: Any) -> int:
    """Return the exit code for an ended batch."""
    if batch.status != "completed":
        return REFUSED
    return SOME_FAILED if batch.request_counts.failed else DONE


def require_metric(ts: Touchstone, name: str) -> None:
    """Raise WrongUse if neither this client nor the service knows the metric."""
    if name in (*METRICS, *OTHERS):
        return
    from touchstone_client.cli.objects import described_metrics, no_metric

    listed = described_metrics(ts.description())
    if name not in listed:
        raise no_metric(name, listed)


def metric_in(file: str, reading: Reading) -> str:
    """Return the metric that the `url` in the file's first line names. Raises WrongUse for a table,
    an empty file, or a line without `url`."""
    if not is_table(file):
        with table_of(file, reading) as table:
            _, first = next(table.rows, (0, {}))
        if "url" in first:
            return str(first["url"]).rpartition("/")[2]
        if not first:
            raise WrongUse(f"{file} holds no request")
    raise WrongUse(f"{file} names no metric; add one, as in --metric hatexscore")


def mapping_of(options: Namespace, metric: str, reading: Reading, output: Output) -> Any:
    """Return the mapping from columns to fields, given or guessed. Return None if the lines are
    already requests."""
    columns = from_words(options.map, options.value, options.field, options.keep)
    if columns is None and not is_table(options.file, reading):
        return None
    with table_of(options.file, reading) as table:
        if table.names is None:
            require_fields(columns or {}, metric)
            return columns
        mapping = ColumnMapping.of(columns, metric, list(table.names))
        names = [name for name in table.names if name not in ("", REST)]
    if left_out := [name for name in names if name not in mapping.needed]:
        output.say(f"not sent: {', '.join(left_out)} (--keep COLUMN sends a column as metadata)")
    if mapping.guessed:
        guesses = ", ".join(
            f"{field} is read from the column {name}" for field, name in mapping.guessed.items()
        )
        output.say(f"guessed: {guesses} (--map FIELD=COLUMN sets another column)")
        advice = "accept the guessed columns with --yes, or set them with --map FIELD=COLUMN"
        require_agreement("are these columns right?", f"nothing was sent: {advice}", options.yes)
    return mapping.columns


def watch(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Watch jobs or batches until they have ended. With `--until`, stop when they reach that state.
    Return an exit code."""
    ends: list[Any] = []
    codes = [DONE]
    for id in options.ids:
        with goes_on(output, "batch" if id.startswith("batch_") else "job", id):
            last, code = (_watch_batch if id.startswith("batch_") else _watch_job)(
                ts, id, options.until, output
            )
        ends.append(last)
        codes.append(code)
    output.document(ends if len(ends) > 1 else ends[0])
    return REFUSED if REFUSED in codes else max(codes)


def _watch_job(ts: Touchstone, id: str, until: str | None, output: Output) -> tuple[Any, int]:
    job = ts.jobs.get(id)
    if not (job.is_final or (until and job.status == until)):
        for event in job.events():
            output.say(f"{id} {event['status']}")
            if event["status"] == until:
                break
    job.refresh()
    output.line(f"{id} {job.status}")
    if not job.is_final:
        return job.data, DONE
    try:
        job.wait(0)
    except (JobFailed, JobCancelled) as error:
        output.say(str(error))
        return job.data, REFUSED
    return job.data, DONE


def _watch_batch(ts: Touchstone, id: str, until: str | None, output: Output) -> tuple[Any, int]:
    batch = ts.batches.get(id)
    target_status = "in_progress" if until == "running" else until
    if not (batch.is_final or (target_status and batch.status == target_status)):
        with output.progress(batch.request_counts.total or None) as reach:
            for now in batch.events():
                counts = now.request_counts
                reach(counts.completed + counts.failed, counts.total or None)
                if now.status == target_status:
                    break
    batch.refresh()
    output.line(counted(batch))
    if batch.status == "failed":
        say_faults(output, batch)
    return batch, end_code(batch) if batch.is_final else DONE
