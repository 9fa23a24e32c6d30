"""The mapping of table columns to request fields, for files, DataFrames and the command line.

    {"custom_id": "post_id", "text": "body",
     "decision": {"column": "flag", "values": {"1": "hateful", "0": "non-hateful"}},
     "metadata": ["model", "market"], "seed": {"value": 7}}

Columns that are not named are not sent. Without a mapping, columns with human labels, marked
passages and ratings become metadata for batch reports.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as with_default
from numbers import Real
from typing import Any

from touchstone_client.data._columns import (
    ID,
    IDS,
    METADATA,
    PARTS,
    guess_columns,
    is_gold,
    plain_name,
)
from touchstone_client.data.cells import (
    TEXT,
    Exact,
    field_types,
    put,
    request_of,
    types_of,
    value_of,
)

Columns = Mapping[str, Any]  # field -> column, {"column", "values"} or {"value"}; metadata: columns
MOST_METADATA = 16
NUMBER = frozenset({"number"})
EXPLAINED = ("explanation",)  # fields that only `explain` stands in for


@dataclass(frozen=True)
class ColumnMapping:
    """A mapping from table columns to request fields. `guessed` maps fields to the columns that
    were found by a synonym."""

    columns: Columns
    metric: str | None = None
    guessed: Mapping[str, str] = with_default(default_factory=dict)

    @classmethod
    def of(cls, columns: Columns | None, metric: str | None, names: Sequence[str]) -> ColumnMapping:
        """Return the mapping for a table with these column names. If `columns` maps no column to a
        field, the mapping is guessed as on the upload page. Otherwise only missing required fields
        are guessed. Raises ValueError."""
        request = request_of(metric)
        if request is None and columns is None:
            problem = "no metric is given" if metric is None else f"there is no metric {metric!r}"
            raise ValueError(
                f"{problem}; set it with --metric (metric='hatexscore'), or set the columns "
                "with --map FIELD=COLUMN (columns=…)"
            )
        fields = request.model_fields if request else {}
        require_fields(columns or {}, metric)
        explicit = columns or {}
        used = set(columns_in(explicit))
        known = field_types(metric) if request else {}
        guesses = guess_columns(known, [name for name in names if name not in used])
        needed = [
            name for name, field in fields.items() if field.is_required() or name in EXPLAINED
        ]
        maps = any(columns_in({field: explicit[field]}) for field in explicit if field != METADATA)
        to_guess = ({ID, *needed} if maps else set(guesses)) - set(explicit)
        guesses = {name: guess for name, guess in guesses.items() if name in to_guess}
        mapping: dict[str, Any] = {**guesses, **explicit}
        missing = [name for name in needed if name not in mapping and "explain" not in mapping]
        if missing:
            raise ValueError(
                f"there is no column for {', '.join(missing)}; the columns are "
                f"{', '.join(names)}. Set the right one, as in columns={{{missing[0]!r}: "
                f"'…'}} or --map {missing[0]}=…"
            )
        if not maps and METADATA not in explicit:
            if METADATA in names:
                mapping[METADATA] = METADATA
            elif gold := gold_columns(names):
                mapping[METADATA] = gold
        synonyms = {
            name: column
            for name, column in guesses.items()
            if name != ID and plain_name(column) != name
        }
        result = cls(mapping, metric, synonyms)
        result.require(names)
        return result

    def require(self, names: Collection[str]) -> None:
        """Raise ValueError if the table lacks a column of the mapping."""
        if missing := [name for name in self.needed if name not in names]:
            raise ValueError(
                f"there is no column {', '.join(map(repr, missing))}; the columns are "
                f"{', '.join(names)}. Set the right one, as in --map "
                f"FIELD={next(iter(names), '…')}"
            )

    @property
    def needed(self) -> list[str]:
        """Return the columns that the mapping reads, each once."""
        return columns_in(self.columns)

    def request(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request fields of a row. An empty cell is not sent."""
        fields: dict[str, Any] = {}
        for field, source in self.columns.items():
            value = _value(row, field, source)
            if field == ID or is_empty(value):
                continue
            types = NUMBER if field in PARTS else types_of(self.metric, field)
            put(fields, field, value_of(value, types))
        return fields

    def unclear(self, fields: Mapping[str, Any]) -> str:
        """Return why a request is ambiguous, or an empty string. For example, a number in a text
        field may be a class label."""
        for field, source in self.columns.items():
            value = fields.get(field)
            is_number = isinstance(value, int | float) and math.isfinite(value)
            if is_number and not types_of(self.metric, field) - {"string", "null"}:
                column = source["column"] if isinstance(source, Mapping) else source
                return (
                    f"{field} is the number {value} from the column {column}; set its meaning, "
                    f"as in --value {field}:hateful={value}"
                )
        return ""

    def custom_id(self, row: Mapping[str, Any], number: int) -> str:
        """Return the row's custom id, or the row's number if it has none."""
        id_column = next((name for name in IDS if name in row), None)
        column = self.columns.get(ID, id_column)
        value = None if column is None else _value(row, ID, column)
        return str(number if is_empty(value) else value_of(value, TEXT))


def require_fields(columns: Columns, metric: str | None) -> None:
    """Raise ValueError if a known metric does not have one of the mapped fields."""
    allowed = {ID, *PARTS, *field_types(metric)} if request_of(metric) else set(columns)
    if unknown := [name for name in columns if name not in allowed]:
        swapped = [
            f": the field comes first, as in columns={{{source!r}: {name!r}}} or "
            f"--map {source}={name}"
            for name in unknown
            if isinstance(source := columns[name], str) and source in allowed
        ]
        raise ValueError(
            f"{metric} has no field {', '.join(unknown)}; it has {', '.join(sorted(allowed))}"
            + "".join(swapped[:1])
        )


def columns_in(columns: Columns) -> list[str]:
    """Return the columns in a mapping, each once."""
    names: list[str] = []
    for field, source in columns.items():
        if isinstance(source, Mapping):
            names += [source["column"]] if "column" in source else []
        elif field == METADATA and not isinstance(source, str):
            names += source
        else:
            names.append(source)
    return list(dict.fromkeys(names))


def _value(row: Mapping[str, Any], field: str, source: Any) -> Any:
    if isinstance(source, Mapping):
        return (
            Exact(source["value"])
            if "value" in source
            else _translated(row.get(source["column"]), source)
        )
    if field == METADATA and not isinstance(source, str):
        cells = {name: row.get(name) for name in source}
        return {
            name: _metadata(value)
            for name, cell in cells.items()
            if not is_empty(value := cell.value if isinstance(cell, Exact) else cell)
        }
    return row.get(source)


def gold_columns(names: Sequence[str]) -> list[str]:
    """Return the columns with human labels, marked passages and ratings."""
    return [name for name in names if is_gold(name)][:MOST_METADATA]


def _metadata(cell: Any) -> str:
    """Return a metadata cell as text. Lists and records from Parquet and JSON Lines are written as
    JSON."""
    plain = cell.tolist() if hasattr(cell, "tolist") else cell
    if isinstance(plain, list | tuple | Mapping):
        return json.dumps(plain, ensure_ascii=False, default=_metadata_part)
    return str(cell)


def _metadata_part(cell: Any) -> Any:
    """Convert a metadata value to JSON: arrays and numbers of NumPy and similar libraries to lists
    and numbers, anything else to a string."""
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)


def _translated(cell: Any, source: Mapping[str, Any]) -> Any:
    values = source.get("values")
    if values is None or is_empty(cell):
        return cell
    if isinstance(cell, str | int | float) and cell in values:
        return values[cell]
    whole = isinstance(cell, float) and cell.is_integer()  # pandas' integers beside empty cells
    return values.get(str(int(cell) if whole else cell), cell)


def is_empty(cell: Any) -> bool:
    """Return True for None, NaN, pandas' NA and an empty text. A list is never empty."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, str):
        return not cell
    return isinstance(cell, Real) and bool(cell != cell)


def from_words(
    maps: Iterable[str],
    values: Iterable[str],
    constants: Iterable[tuple[str, str]],
    metadata: Iterable[str],
) -> dict[str, Any] | None:
    """Return the mapping that command line options describe, or None if there are no such options.
    `maps` are options such as `text=body`, and `values` such as `decision:hateful=1`. `constants`
    are pairs such as ("seed", "7") for all rows. `metadata` are columns such as `model,market`.
    Raises ValueError."""
    mapping: dict[str, Any] = {}
    for word in maps:
        field, equals, column = word.partition("=")
        if not (equals and field and column):
            raise ValueError(f"--map {word!r} does not have the form FIELD=COLUMN, as in text=body")
        _say(mapping, field, column)
    for word in values:
        left, equals, cell = word.rpartition("=")
        field, colon, meaning = left.partition(":")
        if not (equals and colon and field and cell):
            raise ValueError(
                f"--value {word!r} does not have the form FIELD:VALUE=CELL, as in label:hateful=1"
            )
        column_of_field = mapping.get(field, field)
        mapping[field] = (
            column_of_field
            if isinstance(column_of_field, dict)
            else {"column": column_of_field, "values": {}}
        )
        mapping[field]["values"][cell] = meaning
    for field, value in constants:
        _say(mapping, field, {"value": value_of(value, types_of(None, field))})
    if listed := [name for word in metadata for name in word.split(",") if name]:
        mapping["metadata"] = listed
    return mapping or None


def _say(mapping: dict[str, Any], field: str, source: Any) -> None:
    if field in mapping:
        raise ValueError(f"{field} is given twice: {mapping[field]} and {source}")
    mapping[field] = source
