"""The commands `score`, `submit` and `watch`, which send requests and wait for the results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from cyclopts import Parameter

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._lines import batch_file, blanked, is_table
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.handles import Batch
from touchstone_client._sync.resources import Files, endpoint_of
from touchstone_client._wire import METRICS, OTHERS
from touchstone_client.cli.app import (
    GUESSED,
    Client,
    Columns,
    Ids,
    Out,
    Pairs,
    Source,
    Target,
    Text,
    app,
)
from touchstone_client.cli.output import (
    DONE,
    INTERRUPTED,
    REFUSED,
    SOME_FAILED,
    WRONG,
    Output,
    WrongUse,
    exit_code,
    require_agreement,
    worst_code,
)
from touchstone_client.data._columns import IDS
from touchstone_client.data.addresses import target_form
from touchstone_client.data.cells import REST, TEXT, put, types_of, value_of
from touchstone_client.data.mapping import ColumnMapping, require_fields
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


@app.command
def score(
    metric: str,
    file: str | None = None,
    /,
    *,
    stdin: Annotated[bool, Parameter(name="-")] = False,
    text: Text = None,
    explanation: Text = None,
    decision: str | None = None,
    model: str | None = None,
    field: Pairs = (),
    timeout: float | None = None,
    ts: Client,
    output: Out,
) -> None:
    """Score one request, and print its result.

    Args:
        metric: Name of the metric. `touchstone metrics` lists them.
        file: File with the request as JSON.
        stdin: Read the request as JSON from stdin.
        text: Text that the decision is about.
        explanation: Explanation of the decision.
        decision: Decision that is explained, such as hateful.
        model: Configured model. `touchstone models` lists them.
        field: Set any other field of the request, such as seed=7 or options.k=0.1. Write lists as
            JSON. Repeatable.
        timeout: Stop waiting after this time in seconds (default: never).
    """
    require_metric(ts, metric)
    words = {"text": text, "explanation": explanation, "decision": decision, "model": model}
    job = ts.jobs.create(metric, request_of(metric, "-" if stdin else file, words, field))
    with goes_on(output, "job", job.id):
        result = job.wait(timeout)
    output.document(job.refresh().data)
    if not output.is_json:
        show_result(output, result)


def request_of(
    metric: str, file: str | None, words: Mapping[str, str | None], fields: Pairs
) -> dict[str, Any]:
    """Return the fields of the request from a file, or from stdin if `file` is -. `words` and
    `fields` take precedence. Raises WrongUse."""
    request: dict[str, Any] = {}
    if file is not None:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        try:
            request = json.loads(raw)
        except ValueError as error:
            raise WrongUse(_unread(metric, file, raw, error)) from None
        if not isinstance(request, dict):
            raise WrongUse(f"{file} is not a JSON object")
        request = {name: item for name, item in request.items() if name not in IDS}
    request |= {name: value for name, value in words.items() if value is not None}
    for name, value in fields:
        put(request, name, value_of(value, types_of(metric, name) or TEXT))
    if not request:
        raise WrongUse(
            "no request is given; add --text and --explanation, a JSON file, or - for stdin"
        )
    return request


def _unread(metric: str, file: str, raw: bytes, error: ValueError) -> str:
    is_many = raw.lstrip()[:1] == b"{" and str(error).startswith("Extra data")
    if is_many or is_table(file):
        return (
            f"{file} is not a single JSON object; `touchstone submit "
            f"{'FILE' if file == '-' else file} --metric {metric}` scores every line of a file"
        )
    return f"{file} is not JSON: {error}"


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


@app.command
def submit(
    file: Source,
    /,
    *,
    columns: Columns = GUESSED,
    metadata: Pairs = (),
    yes: bool = False,
    skip_invalid: bool = False,
    wait: bool = False,
    target: Target = None,
    errors: Annotated[str | None, Parameter(metavar="FILE")] = None,
    ts: Client,
    output: Out,
) -> int | None:
    """Score every line of a file as a batch. The id of the batch is printed first.

    Args:
        metadata: Metadata to store with the batch. Repeatable.
        yes: Accept guessed columns without asking.
        skip_invalid: Skip and print invalid lines, and score the others.
        wait: Wait until the batch has ended.
        target: With --wait: write the answers here instead of to stdout, as .jsonl, .csv, .tsv,
            .parquet or .arrow.
        errors: With --wait: write the lines without a score here.
    """
    for name, path in (("output", target), ("errors", errors)):
        if path is not None and not wait:
            raise WrongUse(f"--{name} is written when the batch has ended; add --wait")
    if target is not None:
        target_form(target)
    refused: dict[int, str] | None = {} if skip_invalid else None
    reading = columns.reading(refused)
    metric = columns.metric or metric_in(file, reading)
    require_metric(ts, metric)
    mapping = mapping_of(file, columns, metric, reading, output, is_agreed=yes)
    upload = Submission(ts, metric, dict(metadata), output)
    try:
        with batch_file(file, endpoint_of(metric), mapping, reading) as (name, content):
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
        return WRONG
    if not wait:
        output.line(batch.id)
        output.document(batch)
        output.say(f"`touchstone watch {batch.id}` shows its progress")
        return DONE
    is_data = target is not None and not output.is_json
    (output.line if is_data else output.say)(batch.id)
    return _waited(batch, target, errors, output)


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


def _waited(batch: Batch, target: str | None, errors: str | None, output: Output) -> int:
    with goes_on(output, "batch", batch.id, target or "FILE"):
        try:
            with output.progress(None) as reach:
                batch.wait(progress=reach)
        except BatchFailed as error:
            output.document(batch)
            say_faults(output, batch)
            return exit_code(error)
        if target is not None:
            batch.save(target)
        elif not output.is_json:
            stream_file(batch, output)
    output.document(batch)
    output.say(counted(batch))
    if batch.error_file_id and errors:
        Files(batch._api).download(batch.error_file_id, errors)  # noqa: SLF001 - its own
    elif batch.error_file_id:
        output.say(f"`touchstone get {batch.error_file_id}` prints the lines without a score")
    return end_code(batch)


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
        return WRONG if batch.status == "failed" else REFUSED  # failed: its file is not valid
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


def mapping_of(
    file: str, given: Columns, metric: str, reading: Reading, output: Output, *, is_agreed: bool
) -> Any:
    """Return the mapping from columns to fields, given or guessed. Return None if the lines are
    already requests."""
    columns = given.mapping()
    if columns is None and not is_table(file, reading):
        return None
    with table_of(file, reading) as table:
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
        require_agreement("are these columns right?", f"nothing was sent: {advice}", is_agreed)
    return mapping.columns


@app.command
def watch(*ids: Ids, until: Literal["running"] | None = None, ts: Client, output: Out) -> int:
    """Follow jobs or batches until they end.

    Args:
        until: Stop following when the job or batch starts to run, instead of at its end.
    """
    ends: list[Any] = []
    codes = []
    for id in ids:
        with goes_on(output, "batch" if id.startswith("batch_") else "job", id):
            last, code = (_watch_batch if id.startswith("batch_") else _watch_job)(
                ts, id, until, output
            )
        ends.append(last)
        codes.append(code)
    output.document(ends if len(ends) > 1 else ends[0])
    return worst_code(codes)


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
        return job.data, exit_code(error)
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
