"""Reads the data sets of a run. A row has the inputs of models and people's labels.

Columns: the paper's inputs (`text`; `premise`, `hypothesis`; …); `gold` or `label`; `language`;
`group` (rows of one cluster); `rationale`; `annotators` (a label each, a list or `a; b`);
`adjudications` (model → such a list, of people who had read this model's answer); `answers` (model
→ an existing answer). Other columns are ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from touchstone_client.data.readers import table_of

JUDGED = ("text", "premise", "hypothesis", "scenario", "question")  # what tells a text from others
JSON_CELLS = ("{", "[")
LISTED = ("annotators", "adjudications")  # cells may be lists without JSON: `hateful; non-hateful`
BETWEEN = ";"
PAIR = "."  # between a column of objects and a key: `answers.llama`


@dataclass(frozen=True)
class DataRow:
    """A row of a data set. `key` does not depend on the order of the file."""

    dataset: str
    fields: Mapping[str, Any]
    key: str

    @property
    def gold(self) -> str | None:
        found = self.fields.get("gold", self.fields.get("label"))
        return None if found is None else spelled(found)

    @property
    def cluster(self) -> str:
        """Return the common key of rows of one text, or of one `group`."""
        if (group := self.fields.get("group")) is not None:
            return f"{self.dataset} group {spelled(group)}"
        judged = {name: self.fields[name] for name in JUDGED if name in self.fields}
        return f"{self.dataset} {canonical(judged)}"

    def text(self, name: str) -> str | None:
        found = self.fields.get(name)
        return found if isinstance(found, str) and found.strip() else None

    def answer_of(self, model: str) -> str | None:
        """Return the answer of this model that the row contains."""
        answers = self.fields.get("answers")
        found = answers.get(model) if isinstance(answers, Mapping) else None
        return found if isinstance(found, str) else None

    def list_of(self, name: str, key: str | None = None) -> list[Any]:
        """Return a column that holds a list, or a list for each key. The result is empty if the row
        has no such column."""
        found = self.fields.get(name)
        if key is not None:
            found = found.get(key) if isinstance(found, Mapping) else None
        return list(found) if isinstance(found, Sequence) and not isinstance(found, str) else []


@dataclass(frozen=True)
class DataSet:
    """A file of rows, with its SHA-256 and its column names."""

    name: str
    sha256: str
    columns: frozenset[str]
    rows: tuple[DataRow, ...] = field(repr=False)


def read_dataset(told: str, columns: Mapping[str, str]) -> DataSet:
    """Read a data set. `told` is FILE or NAME=FILE. `columns` maps fields to columns.

    Raises ValueError for a file without rows, or with a line that cannot be read; OSError.
    """
    name, _, place = told.rpartition("=")
    path = Path(place)
    name = name or path.stem
    try:
        with table_of(path) as table:
            read = [row for _, row in table.rows]
        for row in read:
            json.dumps(row, ensure_ascii=False, default=str).encode()
        fields = [_fields(row, columns) for row in read]
    except UnicodeEncodeError:
        raise ValueError(f"{place}: half of a surrogate pair is no text") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if not read:
        raise ValueError(f"{place} has no rows")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    known = frozenset(column for row in read for column in row)
    return DataSet(name, digest, known, tuple(_with_keys(name, fields)))


def sample(data: DataSet, count: int | None, seed: int) -> DataSet:
    """Return `count` random rows, independent of their order in the file, or all rows if `count` is
    None."""
    if count is None:
        return data

    def drawn(row: DataRow) -> str:
        return hashlib.sha256(f"{seed} {row.key}".encode()).hexdigest()

    chosen = {row.key for row in sorted(data.rows, key=drawn)[:count]}
    return replace(data, rows=tuple(row for row in data.rows if row.key in chosen))


def _with_keys(name: str, rows: Sequence[dict[str, Any]]) -> Iterator[DataRow]:
    """Yield rows with keys; equal rows are numbered."""
    seen: Counter[str] = Counter()
    for fields in rows:
        digest = hashlib.sha256(canonical(fields).encode()).hexdigest()
        seen[digest] += 1
        yield DataRow(name, fields, f"{name} {digest} {seen[digest]}")


def _fields(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields under the names of this module, with JSON cells parsed."""
    made: dict[str, Any] = {}
    renamed = {column: name for name, column in columns.items()}
    taken = {name for name, column in columns.items() if column in row}
    for column, cell in row.items():
        name = renamed.get(column, None if column in taken else column)
        if name is None or cell is None or cell == "":
            continue
        whole, dot, key = name.partition(PAIR)
        if dot:
            by_key = made.setdefault(whole, {})
            if not isinstance(by_key, dict):
                raise ValueError(f"there are columns {whole!r} and {name!r}: one of the two")
            by_key[key] = _cell(whole, cell) if whole in LISTED else cell
        else:
            made[name] = _cell(name, cell)
    return made


def _cell(name: str, cell: Any) -> Any:
    if name in JUDGED or not isinstance(cell, str):
        return cell
    if cell.startswith(JSON_CELLS):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    if name in LISTED:
        return [one.strip() for one in cell.split(BETWEEN) if one.strip()]
    return cell


def spelled(cell: Any) -> str:
    """Format a cell as people write it: `true`, `1`, `hateful`."""
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def canonical(value: Any) -> str:
    """Return the value as canonical JSON: equal values have equal bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
