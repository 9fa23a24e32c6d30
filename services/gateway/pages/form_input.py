"""One input of a form, which converts between the entered text and the JSON value. Input that
cannot be parsed is sent unchanged, so that the API reports the error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "choice", "number", "switch", "word", "text",
    "choices", "numbers", "lines", "spans", "texts", "rows", "map", "maps", "json",
]  # fmt: skip
LISTED = frozenset({"choices", "lines", "spans"})  # one a line
TABLES = frozenset({"rows", "map", "maps"})  # maps: one a source, whose name is the last cell
BETWEEN = re.compile(r"\n-{3,}[ \t]*(?:\n|$)")  # of texts: a line of dashes
OFFSETS = re.compile(r"([0-9]{1,7})-([0-9]{1,7})")
OPTIONS = "options"  # a field whose parts have controls as fields have
BLANK_ROWS = 3
MOST_ROWS = 30


@dataclass(frozen=True)
class FormInput:
    """An input of a form. `name` is the path of its field. If the name ends in a dot, the input
    holds a group of fields as one text. `low` and `high` are the bounds of a number, inclusive.
    `whole` allows only integers. `columns` are the columns of a table."""

    name: str
    kind: Kind
    says: str
    default: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False
    columns: tuple[FormInput, ...] = ()
    is_list: bool = False  # of maps: a single one is in a list, too
    is_basic: bool = False

    @property
    def field(self) -> str:
        """The top-level field of the request."""
        return self.name.partition(".")[0]

    @property
    def group(self) -> str:
        """The group of inputs to which this one belongs: a field of the request, or the path of one
        of its `options`."""
        return ".".join(self.name.split(".")[: 2 if self.field == OPTIONS else 1])

    @property
    def label(self) -> str:
        """The display name of the input, which is unique in its form."""
        path = [step or "as one text" for step in self.name.removeprefix("options.").split(".")]
        return " ".join(path).replace("_", " ").capitalize()

    @property
    def has_slider(self) -> bool:
        """Return True if the number has two bounds that are close enough for a slider."""
        return self.kind == "number" and self.low is not None and (self.high or 1e9) <= 1

    def rows_of(self, typed: str) -> list[list[str]]:
        """Return the rows entered in a table, followed by blank rows."""
        filled: list[list[str]] = json.loads(typed) if typed else []
        return filled + [[""] * len(self.columns)] * BLANK_ROWS

    def read(self, sent: Mapping[str, str]) -> str:
        """Return the text that was entered. `sent` maps input names to submitted values."""
        if self.kind == "choices":
            choices = [choice for choice in self.choices if sent.get(f"{self.name}:{choice}")]
            return "\n".join(choices)
        if self.kind not in TABLES:
            return sent.get(self.name, "")
        rows = [
            [sent.get(f"{self.name}:{place}:{column.name}", "") for column in self.columns]
            for place in range(MOST_ROWS)
        ]
        filled = [row for row in rows if any(row)]
        return json.dumps(filled, ensure_ascii=False) if filled else ""

    def value_of(self, typed: str) -> Any:
        """Return the JSON value of the entered text. Text that cannot be parsed is returned
        unchanged, so that the API reports the error."""
        if self.kind == "switch":
            return {"yes": True, "no": False}.get(typed, typed)
        if self.kind in ("number", "json"):
            return _parsed(typed)
        if self.kind == "numbers":
            numbers = [_parsed(number) for number in typed.replace(",", " ").split()]
            return numbers[0] if len(numbers) == 1 else numbers
        if self.kind == "texts":
            return _texts(typed)
        if self.kind in LISTED:
            lines = [line for line in typed.splitlines() if line.strip()]
            return [_span(line) for line in lines] if self.kind == "spans" else lines
        return self._table(json.loads(typed)) if self.kind in TABLES else typed

    def _table(self, rows: list[list[str]]) -> Any:
        if self.kind == "map":
            return {key: self.columns[1].value_of(value) for key, value in rows}
        if self.kind == "maps":  # one where no row names a source, else a list in their order
            maps: dict[str, dict[str, Any]] = {}
            for key, value, source in rows:
                maps.setdefault(source.strip(), {})[key] = self.columns[1].value_of(value)
            return maps[""] if set(maps) == {""} and not self.is_list else list(maps.values())
        return [
            {
                column.name: column.value_of(cell)
                for column, cell in zip(self.columns, row, strict=True)
                if cell
            }
            for row in rows
        ]

    def text_of(self, value: Any) -> str | None:
        """Return the text to show for a value, or None if the input cannot show it."""
        if self.kind == "switch":
            return {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
        if self.kind == "number":
            return json.dumps(value) if _is_number(value) else None
        if self.kind in ("json", "texts"):
            texts = _only_texts(value) if self.kind == "texts" else None
            return json.dumps(value, ensure_ascii=False, indent=1) if texts is None else texts
        if self.kind == "numbers":
            numbers = value if isinstance(value, list) else [value]
            return " ".join(map(json.dumps, numbers)) if all(map(_is_number, numbers)) else None
        if self.kind in LISTED:
            return self._lines(value)
        if self.kind in TABLES:
            return self._cells(value)
        if self.kind == "choice":
            return value if value in self.choices else None
        return value if isinstance(value, str) else None

    def _listed(self, value: Any) -> list[dict[str, Any]] | None:
        """Return the table rows for a mapping or a list of mappings, or None for any other
        value."""
        if isinstance(value, Mapping):
            return [{"key": key, "value": held} for key, held in value.items()]
        if self.kind == "map" or not isinstance(value, list) or not all(value):
            return None
        if not all(isinstance(item, Mapping) for item in value):
            return None
        return [
            {"key": key, "value": held, "source": str(place)}
            for place, item in enumerate(value, 1)
            for key, held in item.items()
        ]

    def _lines(self, value: Any) -> str | None:
        if not isinstance(value, list):
            return None
        spans = [
            f"{item['start']}-{item['end']}"
            if isinstance(item, Mapping) and set(item) == {"start", "end"}
            else item
            for item in value
        ]
        fits = all(isinstance(span, str) and span.strip() and "\n" not in span for span in spans)
        return "\n".join(spans) if fits else None

    def _cells(self, value: Any) -> str | None:
        if self.kind in ("map", "maps"):
            value = self._listed(value)
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            return None
        names = [column.name for column in self.columns]
        if len(value) + BLANK_ROWS > MOST_ROWS or any(set(item) - set(names) for item in value):
            return None
        rows = [
            [
                "" if (held := item.get(column.name)) is None else column.text_of(held) or ""
                for column in self.columns
            ]
            for item in value
        ]
        return json.dumps(rows, ensure_ascii=False)


def _texts(typed: str) -> Any:
    """Split the input into texts, and return a message with a `text` field for each. Input that
    starts like a JSON list is parsed as JSON."""
    if typed.lstrip().startswith("["):
        return _parsed(typed)
    return [{"text": text} for text in BETWEEN.split(typed)]


def _only_texts(value: Any) -> str | None:
    """Join the texts of a list of messages with separator lines. Return None if a message has other
    fields or splitting would not restore the list."""
    if not isinstance(value, list) or not value:
        return None
    texts = [item.get("text") for item in value if isinstance(item, Mapping)]
    typed = "\n---\n".join(str(text) for text in texts)
    return typed if _texts(typed) == value else None


def _parsed(typed: str) -> Any:
    try:
        return json.loads(typed)
    except (ValueError, RecursionError):
        return typed


def _span(line: str) -> Any:
    """Return a span if the line consists of offsets, or else the line as a passage of the text."""
    offsets = OFFSETS.fullmatch(line.strip())
    return {"start": int(offsets[1]), "end": int(offsets[2])} if offsets else line


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
