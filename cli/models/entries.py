"""Edits the text of `models.toml`: adds models, and sets keys of existing ones. Comments are
preserved."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

HEAD = re.compile(r"^\s*\[\[models\]\]\s*(#.*)?$")
TABLE = re.compile(r"^\s*\[(?!\[models\]\])")
OTHER_TABLE = re.compile(r"^\s*\[{1,2}(?!models[.\]])[\w.-]+\]{1,2}\s*(#.*)?$")  # of no model
Value = str | tuple[str, ...] | Mapping[str, tuple[str, ...]]


def block(keys: Mapping[str, Value | None]) -> str:
    """Return the text of a new entry for `models.toml`. Keys with the value None are left out."""
    lines = [f"{key} = {toml(value)}" for key, value in keys.items() if value is not None]
    return "\n".join(["[[models]]", *lines]) + "\n"


def prompt_block(keys: Mapping[str, Value]) -> str:
    """Return the text of the table `[models.prompt]`, or an empty string without keys."""
    lines = [f"{key} = {toml(value)}" for key, value in keys.items()]
    return "\n".join(["", "[models.prompt]", *lines]) + "\n" if lines else ""


def toml(value: Value) -> str:
    """Return the value as TOML: a string, array or inline table."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return "{ " + ", ".join(f"{toml(name)} = {toml(entry)}" for name, entry in value.items()) + " }"


def append(file: Path, text: str) -> None:
    """Append an entry to `models.toml`. Raises OSError."""
    before = file.read_text("utf-8") if file.exists() else "schema = 2\n"
    gap = "\n" if before.endswith("\n") else "\n\n"
    _write(file, before + gap + text)


def replace(file: Path, text: str, name: str) -> bool:
    """Replace the entry of this model, or append it. Return True if the model already had one.
    Comments around the entry are preserved. Raises OSError."""
    lines = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
    try:
        start, _ = _lines_of_block(lines, name)
    except ValueError:
        append(file, text)
        return False
    later = range(start + 1, len(lines))
    end = next((at for at in later if HEAD.match(lines[at]) or OTHER_TABLE.match(lines[at])), None)
    end = len(lines) if end is None else end
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    _write(file, "".join([*lines[:start], text, *lines[end:]]))
    return True


def set_key(file: Path, name: str, key: str, value: str) -> None:
    """Set a key in the entry of this model. Raises OSError, and ValueError if there is no such
    entry."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    start, end = _lines_of_block(lines, name)
    line = f"{key} = {toml(value)}\n"
    for number in range(start, end):
        if _key(lines[number]) == key:
            lines[number] = line
            break
    else:
        source = next(number for number in range(start, end) if _key(lines[number]) == "source")
        if not lines[source].endswith("\n"):
            lines[source] += "\n"
        lines.insert(source + 1, line)
    _write(file, "".join(lines))


def _lines_of_block(lines: list[str], name: str) -> tuple[int, int]:
    """Return (start, end), 0-based, of the lines of the `[[models]]` block with this name, without
    its sub-tables. Raises ValueError if there is no such block."""
    heads = [number for number, line in enumerate(lines) if HEAD.match(line)]
    for start, after in zip(heads, [*heads[1:], len(lines)], strict=True):
        tables = (number for number in range(start + 1, after) if TABLE.match(lines[number]))
        end = next(tables, after)
        names = [lines[number] for number in range(start, end) if _key(lines[number]) == "name"]
        sources = [number for number in range(start, end) if _key(lines[number]) == "source"]
        if (
            sources
            and names
            and names[0].partition("=")[2].partition("#")[0].strip()
            in (
                toml(name),
                f"'{name}'",
            )
        ):
            return start, end
    raise ValueError(f"models.toml has no [[models]] block with the name {name!r}")


def _key(line: str) -> str:
    return "" if line.lstrip().startswith("#") else line.partition("=")[0].strip()


def _write(file: Path, text: str) -> None:
    """Write the file in place, because a file that is mounted alone in a container cannot be
    replaced."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write(text)
