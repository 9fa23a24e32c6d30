"""`models.toml` from its text to entries: presets, defaults, version 1, and what is wrong where.

A mistake in one entry takes that entry out; only a file that nobody can understand is refused.
Source: specs "models" §1.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from shared.contracts import ModelKind
from shared.models.checkpoint import files_of
from shared.models.entry import ModelEntry, fixed_kind
from shared.models.presets import with_preset
from shared.models.prompt_table import with_files
from shared.validation_messages import plain

SCHEMAS = (1, 2)


@dataclass(frozen=True)
class FaultyEntry:
    """An entry that was taken out: the model's name, and why."""

    name: str
    reason: str


Entries = tuple[ModelEntry, ...]
Faults = tuple[FaultyEntry, ...]


def read_entries(path: Path) -> tuple[Entries, Faults]:
    """In the order of the file. Raises ValueError where it cannot be understood as a whole."""
    tables, schema = _tables(path)
    root = path.parent.resolve()
    entries: list[ModelEntry] = []
    faults: list[FaultyEntry] = []
    for place, table in enumerate(tables):
        named = table.get("name")
        name = named if isinstance(named, str) and named else f"models.{place}"
        try:
            entries.append(_entry(table, schema, root))
        except ValidationError as error:
            faults.append(FaultyEntry(name, f"{path.name}: models.{place}.{_reasons(error)}"))
        except (ValueError, TypeError, AttributeError) as error:  # of shapes that no key has
            faults.append(FaultyEntry(name, f"{path.name}: models.{place}: {error}"))
    return _with_readers(*_each_name_once(tuple(entries), tuple(faults), path), path)


def _tables(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The tables of the entries as they stand, and the file's version."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError; numbers, nesting without end
        raise ValueError(f"{path}: not TOML: {error}") from error
    none: list[Any] | None = [] if "schema" in written else None  # a new file has no model yet
    schema, tables = written.pop("schema", 1), written.pop("models", none)
    if type(schema) is not int or schema not in SCHEMAS:
        raise ValueError(f"{path}: schema: must be one of {', '.join(map(str, SCHEMAS))}")
    if written:
        raise ValueError(
            f"{path}: {', '.join(sorted(written))}: only schema and [[models]] stand here"
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path}: models: must be tables, each begun with [[models]]")
    return tables, schema


def _entry(table: dict[str, Any], schema: int, root: Path) -> ModelEntry:
    """One entry. Raises ValidationError and ValueError."""
    if schema == 1:
        table = _as_version_2(table)
    elif isinstance(table.get("labels"), list):
        raise ValueError("labels: must be a table, label → outputs; `outputs` names the outputs")
    stated = with_preset(table)
    if isinstance(prompt := stated.get("prompt"), dict):
        stated = {**stated, "prompt": with_files(prompt, root)}
    if "kind" not in stated and (kind := _kind(stated.get("source"), root)) is not None:
        stated = {**stated, "kind": kind}
    return ModelEntry.model_validate(stated)


def _as_version_2(table: dict[str, Any]) -> dict[str, Any]:
    """Every output is a label of its own, named by an array of `labels`; dtype was float32."""
    known = {"dtype": "float32"} | table
    labels = known.pop("labels") if isinstance(known.get("labels"), list) else None
    if known.get("kind") != "classifier":
        return known
    known = {"task": "free"} | known
    return known | {"outputs": labels} if labels else known


def _kind(source: Any, root: Path) -> ModelKind | None:
    """By the source, else by the architecture that its files name."""
    if not isinstance(source, str):
        return None
    if (kind := fixed_kind(source)) is not None:
        return kind
    found = files_of(source, root)
    if found is None or found.kind is None:
        raise ValueError(
            "kind: its files do not say: classifier, causal, similarity or cross-encoder"
        )
    return found.kind


def _each_name_once(entries: Entries, faults: Faults, path: Path) -> tuple[Entries, Faults]:
    """Of entries that share a name none is left: nobody knows which one a request means."""
    names = Counter(entry.name for entry in entries)
    names.update(fault.name for fault in faults)
    twice = {name: count for name, count in names.items() if count > 1}
    again = tuple(
        FaultyEntry(name, f"{path.name}: the model {name!r} is configured {count} times")
        for name, count in twice.items()
    )
    kept = tuple(entry for entry in entries if entry.name not in twice)
    return kept, (*(fault for fault in faults if fault.name not in twice), *again)


def _with_readers(entries: Entries, faults: Faults, path: Path) -> tuple[Entries, Faults]:
    """Without entries whose `reader_model` writes no text, or is none of this file."""
    kinds = {entry.name: entry.kind for entry in entries}
    kinds |= dict.fromkeys((fault.name for fault in faults), "causal")  # to be mended
    strange = {
        entry.name: entry.reader_model
        for entry in entries
        if entry.reader_model is not None and kinds.get(entry.reader_model) != "causal"
    }
    found = tuple(
        FaultyEntry(name, f"{path.name}: {name}.reader_model: {reader!r} is no causal model here")
        for name, reader in strange.items()
    )
    return tuple(entry for entry in entries if entry.name not in strange), (*faults, *found)


def _reasons(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in found['loc'])}: {_said(found)}"
        for found in error.errors()
    )


def _said(found: ErrorDetails) -> str:
    if found["type"] != "extra_forbidden":
        return plain(found)
    alike = get_close_matches(str(found["loc"][-1]), ModelEntry.model_fields, n=1)
    return "there is no such key" + (f"; did you mean {alike[0]}?" if alike else "")
