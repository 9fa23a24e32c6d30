"""Export of a batch as a CSV file with one row per line of the batch. The columns are scores,
verdicts, and the other numbers and words of the metric. Human labels come last, if there are any.
The format is RFC 4180. Texts that a spreadsheet would run as formulas are quoted."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sqlalchemy import Engine

from shared.contracts.column_names import is_gold
from shared.contracts.messages import Column, Message, Report, Word, field_type
from shared.contracts.service import ServiceContract
from shared.ledger import batch_lines
from shared.ledger.batch_lines import FinishedLine
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction

LINES_AT_ONCE = 500
FIRST = ("custom_id", "line", "job_id", "status", "score")
JUDGED = (("verdict",), ("reason",))  # of a metric's result
CHECKS = ("checks",)  # likewise, in one cell
LAST = ("warnings", "warned", "error")  # how many, and their words
RESULT_COLUMNS = {  # of a downloaded table: no part of a request
    *FIRST[1:], *LAST, "verdict", "reason", "reasons", "checks", "masked_text", "chance",
    "decision_sent", "decision_stated", "verdict_reason", "judge_model",
    "route", "agree", "disagree", "unsure", "tags",
}  # fmt: skip
PARTS = ("components", "control")
TOLD_ELSEWHERE = frozenset({"warnings", "provenance"})  # of a result that is no metric's
MARKS = (Word, Column)  # strings that have a column
COUNT = "count"  # the column of a list
SCALARS = (bool, int, float, str)
FORMULA = frozenset("=+-@")  # OWASP, "CSV injection"; full-width and small forms count too
BREAKS = frozenset("\t\r\n")
# letters and symbols that show nothing: Hangul fillers, the blank of Braille
BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def csv_chunks(engine: Engine, batch: Batch, contract: ServiceContract | None) -> Iterator[bytes]:
    """Yield the CSV file of a batch in pieces. `contract` describes the batch's metric. It is None
    for a metric that this version does not have; the metric's own columns are then left out."""
    return map(encode_rows, _tables(engine, batch, contract))


def _tables(
    engine: Engine, batch: Batch, contract: ServiceContract | None
) -> Iterator[list[list[str]]]:
    """Yield the header row, then the data rows in blocks."""
    is_scored = contract is not None and issubclass(contract.report, Report)
    columns = [*(JUDGED if is_scored else ()), *number_columns(contract)]
    with transaction(engine) as connection:
        keys = batch_lines.metadata_keys(connection, batch.id)
    people = [key for key in keys if is_gold(key)]
    yield [[*FIRST, *result_names(columns), *LAST, *people]]
    last = 0
    while True:
        with transaction(engine) as connection:
            lines = batch_lines.list_finished(connection, batch.id, last, LINES_AT_ONCE)
        if not lines:
            return
        last = lines[-1].number
        rows = []
        for line in lines:
            metadata = batch_lines.line_metadata(line.caller)
            rows.append(
                _row(line, columns, batch) + [csv_field(metadata.get(key)) for key in people]
            )
        yield rows


def number_columns(contract: ServiceContract | None) -> list[tuple[str, ...]]:
    """Return the columns for numbers in a batch's CSV file, as paths into a result. For a metric,
    the path of its checks comes first."""
    if contract is None:
        return []
    numbers = numbers_of(contract.report if contract.answers is None else contract.answers())
    return [CHECKS, *numbers] if issubclass(contract.report, Report) else numbers


def result_names(columns: Iterable[Sequence[str]]) -> list[str]:
    """Return the names of columns of a result, with `result.` before a name that each line has."""
    names = (".".join(path) for path in columns)
    return [f"result.{name}" if name in (*FIRST, *LAST) else name for name in names]


def numbers_of(report: type[Message]) -> list[tuple[str, ...]]:
    """Return the paths of all numbers and words in a report that become CSV columns, in order.

    Nested values are included. A list of evidence counts as its length, and a list of reports as
    one score per metric. A field may hold a caller's text only if it is marked `Column`. Warnings
    are left out because they may quote texts.
    """
    paths: list[tuple[str, ...]] = []
    for part in PARTS:
        if part in report.model_fields:
            paths += _paths(report.model_fields[part].annotation, (part,))
    # what every report has is in columns of its own, or about the whole batch
    elsewhere = Report.model_fields if issubclass(report, Report) else TOLD_ELSEWHERE
    for name, field in report.model_fields.items():
        if name not in elsewhere:
            paths += _extra_paths(field_type(field), (name,))
    return paths


def _extra_paths(hint: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of fields that hold numbers or words from a fixed list. A dictionary is
    included only if its keys are known."""
    kinds = _union_types(hint, marked=MARKS)
    if kinds and all(kind in MARKS or (kind is not str and _is_scalar(kind)) for kind in kinds):
        yield path
    for kind in kinds:
        if isinstance(kind, type) and kind not in MARKS and issubclass(kind, Message):
            for name, field in kind.model_fields.items():
                yield from _extra_paths(field_type(field), (*path, name))
        elif get_origin(kind) is tuple:
            yield from ((*path, *end) for end in _list_columns(_union_types(get_args(kind)[0])))
        elif get_origin(kind) is dict and get_origin(get_args(kind)[0]) is Literal:
            for key in get_args(get_args(kind)[0]):
                yield from _extra_paths(get_args(kind)[1], (*path, key))


def _list_columns(kinds: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the CSV columns of a list of messages. For a list of metric results, there is a score
    column per possible metric. For other messages, the column is the list's length. Lists of other
    values have no columns."""
    if not kinds or not all(isinstance(kind, type) and issubclass(kind, Message) for kind in kinds):
        return []
    if not all(issubclass(kind, Report) for kind in kinds):
        return [(COUNT,)]
    annotations = (kind.model_fields["metric"].annotation for kind in kinds)
    return [(metric, "score") for literal in annotations for metric in get_args(literal)]


def _paths(kind: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for part in _union_types(kind):
        if isinstance(part, type) and issubclass(part, Message):
            for name, field in part.model_fields.items():
                yield from _paths(field.annotation, (*path, name))
            return
        if _is_scalar(part):
            yield path
            return


def _union_types(kind: Any, marked: Collection[type] = ()) -> list[Any]:
    """Return the member types of a union without None. A type annotated with a mark from `marked`
    is replaced by that mark."""
    while hasattr(kind, "__metadata__"):  # Annotated
        if marks := [mark for mark in kind.__metadata__ if mark in marked]:
            return marks[:1]
        kind = kind.__origin__
    if get_origin(kind) in (Union, UnionType):
        return [member for part in get_args(kind) for member in _union_types(part, marked)]
    return [] if kind is type(None) else [kind]


def _is_scalar(kind: Any) -> bool:
    values = get_args(kind) if get_origin(kind) is not None else ()
    if values and all(isinstance(value, SCALARS) for value in values):  # Literal
        return True
    return isinstance(kind, type) and issubclass(kind, SCALARS)


def _row(line: FinishedLine, columns: list[tuple[str, ...]], batch: Batch) -> list[str]:
    result = line.result or {}
    return [
        csv_field(line.custom_id),
        csv_field(line.number),
        csv_field(line.job_id),
        csv_field(line.status),
        csv_field(result.get("score")),
        *cells_of(result, columns),
        *warning_cells(line.result),
        csv_field(why_none(line.status, line.error, batch)),
    ]


def warning_cells(result: Mapping[str, Any] | None) -> list[str]:
    """Return two cells: the number of a result's warnings, and their text."""
    if result is None:
        return ["", ""]
    warnings = [str(warning) for warning in result.get("warnings") or ()]
    return [csv_field(len(warnings)), csv_field("; ".join(warnings))]


def cells_of(result: Any, columns: Iterable[tuple[str, ...]]) -> list[str]:
    return [csv_field(_at(result, path)) for path in columns]


def _at(result: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if name == COUNT and isinstance(result, list):
            return len(result)
        if isinstance(result, list):
            result = next((report for report in result if report.get("metric") == name), None)
            continue
        if not isinstance(result, dict):
            return None
        result = result.get(name)
    if path == CHECKS:
        return outcomes(result or ())
    return result if isinstance(result, SCALARS) else None


def outcomes(checks: Iterable[Mapping[str, Any]]) -> str:
    """Return a result's checks as the text of one CSV cell, each as `name: outcome (reason)`."""
    cells = []
    for check in checks:
        why = f" ({check['reason']})" if check.get("reason") else ""
        cells.append(f"{check['name']}: {check['outcome']}{why}")
    return "; ".join(cells)


def why_none(status: str, error: Mapping[str, Any] | None, batch: Batch) -> str | None:
    """Return why a line with this status has no result."""
    if error is not None:
        return str(error.get("detail", ""))
    if status == "succeeded":
        return None
    if batch.status == "completed":
        return "the job was cancelled"
    how = "failed" if batch.status == "failed" else f"was {batch.status}"
    return f"the batch {how} before this line had a result"


def csv_field(value: str | float | None) -> str:
    """Return a value as the text of a CSV cell. A number stays a number, and a text is quoted if it
    could be read as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return f"'{value}" if is_formula(value.lstrip("'")) else value


def unquoted(cell: str) -> str:
    """Return the text that `csv_field` wrote as this cell."""
    return cell[1:] if cell[:1] == "'" and is_formula(cell.lstrip("'")) else cell


def is_exported(columns: Collection[str]) -> bool:
    """Return True if a table with these columns was downloaded from a batch."""
    return set(FIRST) <= set(columns)


def is_formula(text: str) -> bool:
    """Return True if a spreadsheet might run the text as a formula, ignoring invisible characters
    at its start."""
    for character in text:
        if character in BREAKS:
            return True
        category = unicodedata.category(character)
        # what is seen first: no space, control, format, blank, or mark without a letter
        if not (category[0] in "CZ" or category in ("Mn", "Me") or character in BLANKS):
            return unicodedata.normalize("NFKC", character)[0] in FORMULA
    return False


def encode_rows(rows: Iterable[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
