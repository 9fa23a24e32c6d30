"""Results of a batch as a table, with one row per line and numbers as columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from touchstone_client.data.addresses import Form
from touchstone_client.data.writers import Kind, table_writer

OWN = ("score", "verdict", "reason", "checks", "warnings", "job_id", "error")
PARTS = "components."
ELICITED = ("outcome", "decision", "probability", "stated_p", "explanation")  # of an answer
OF_PARTS = (PARTS, "elicitation.", "scores.", "unscored.")
METADATA = "metadata."
FIRST = ("custom_id", "status", "score", "verdict", "reason", "checks")
LAST = ("warnings", "job_id", "error")
RESULT = "result"  # the whole of it as JSON, where a column may hold that much
ARROW = ("parquet", "arrow")

Answers = Callable[
    [], Iterable[bytes]
]  # lines of an output or error file, from the first each time


def columns_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table columns of a JSON result: score, verdict, sentence and other single values.
    For `explanations`, return outcome, decision, and the score of each metric."""
    return {
        "score": result.get("score"),
        "verdict": result.get("verdict"),
        "reason": result.get("reason"),
        "checks": _outcomes(result.get("checks") or ()),
        "warnings": "; ".join(result.get("warnings") or ()),
        **dict(_scalars(result.get("components") or {}, PARTS)),
        **dict(_elicited(result)),
    }


def _outcomes(checks: Iterable[Mapping[str, Any]]) -> str:
    """Return the checks of a result as the text of one cell, in the form of `items.csv`."""
    cells = []
    for check in checks:
        why = f" ({check['reason']})" if check.get("reason") else ""
        cells.append(f"{check['name']}: {check['outcome']}{why}")
    return "; ".join(cells)


def _elicited(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (column name, value) pairs for an explanation that a model generated. The names are
    those of `items.csv`."""
    elicitation = result.get("elicitation")
    if not isinstance(elicitation, Mapping):
        return
    for name in ELICITED:
        yield f"elicitation.{name}", elicitation.get(name)
    for score in result.get("scores") or ():
        yield f"scores.{score['metric']}.score", score.get("score")
        yield f"scores.{score['metric']}.verdict", score.get("verdict")
    for score in result.get("unscored") or ():
        yield f"unscored.{score['metric']}", score.get("code")


def _scalars(parts: Mapping[str, Any], beginning: str) -> Iterator[tuple[str, Any]]:
    for name, value in parts.items():
        if isinstance(value, dict):
            yield from _scalars(value, f"{beginning}{name}.")
        elif not isinstance(value, list):
            yield f"{beginning}{name}", value


def row_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table row for a line of an output or error file."""
    body = (line.get("response") or {}).get("body") or {}
    result = body.get("result")
    row = {"custom_id": line["custom_id"], "status": body.get("status") or "failed"}
    if isinstance(result, dict):
        row |= {**columns_of(result), RESULT: json.dumps(result, ensure_ascii=False)}
    error = body.get("error") or line.get("error") or {}
    return row | {
        "job_id": body.get("id"),
        "error": error.get("detail") or error.get("message"),
        **{METADATA + name: value for name, value in (body.get("metadata") or {}).items()},
    }


class Summary:
    """The columns of a table of results. They must be known before its first row is written."""

    def __init__(self) -> None:
        self._kinds: dict[str, set[Kind]] = {}
        self._notes: dict[str, list[Any]] = {}
        self.rows = 0

    def see(self, line: Mapping[str, Any]) -> None:
        """Record the columns of a line, and the metric, variant and models of its result."""
        self.rows += 1
        for name, value in row_of(line).items():
            kinds = self._kinds.setdefault(name, set())
            if value is not None:
                kinds.add(_kind_of(value))
        body = (line.get("response") or {}).get("body") or {}
        rests_on = (body.get("result") or {}).get("provenance") or {}
        for name, value in (
            ("metric", body.get("metric")),
            ("variant", rests_on.get("variant")),
            *(("model", {n: m.get(n) for n in ("name", "sha256")}) for m in _models(rests_on)),
        ):
            values = self._notes.setdefault(name, [])
            if value is not None and value not in values:
                values.append(value)

    def columns(self, form: Form) -> dict[str, Kind]:
        """Return the columns in order, each with its type."""
        metadata = sorted(name for name in self._kinds if name.startswith(METADATA))
        parts = [name for name in self._kinds if name.startswith(OF_PARTS)]
        listed = [*FIRST, *parts, *LAST, *metadata, *([RESULT] if form in ARROW else [])]
        return {name: _widest(self._kinds.get(name, set())) for name in listed} | {
            "score": "number"
        }

    def notes(self) -> dict[str, str]:
        """Return the metric, variant and models (with SHA-256) of the results. If there are several
        values, they are written as JSON."""
        return {
            f"touchstone.{name}": values[0]
            if len(values) == 1 and isinstance(values[0], str)
            else json.dumps(values[0] if len(values) == 1 else values)
            for name, values in self._notes.items()
            if values
        }


def _models(rests_on: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(rests_on.get("models") or ())


def _kind_of(value: Any) -> Kind:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "text"


def _widest(kinds: set[Kind]) -> Kind:
    return next(iter(kinds)) if len(kinds) == 1 else "text"


def write_answers(answers: Answers, stream: BinaryIO, form: Form) -> int:
    """Write the results as a table and return the number of rows. The results are read twice."""
    summary = Summary()
    for raw in answers():
        summary.see(json.loads(raw))
    columns = summary.columns(form)
    with table_writer(stream, form, columns, notes=summary.notes()) as put:
        for raw in answers():
            put(_fitting(row_of(json.loads(raw)), columns))
    return summary.rows


def as_table(held: BinaryIO, target: BinaryIO, form: Form) -> int:
    """Write the results in a local file as a table and return the number of rows."""

    def lines() -> Iterator[bytes]:
        held.seek(0)
        yield from held

    return write_answers(lines, target, form)


def copied(held: BinaryIO, target: BinaryIO) -> int:
    """Copy the lines of a file and return their number."""
    held.seek(0)
    count = 0
    for raw in held:
        target.write(raw)
        count += 1
    return count


def _fitting(row: dict[str, Any], columns: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the row with strings in all text columns, because parts of scores may be numbers or
    words."""
    return {
        name: str(value)
        if columns.get(name) == "text" and value is not None and not isinstance(value, str)
        else value
        for name, value in row.items()
    }
