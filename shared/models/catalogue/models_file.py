"""Reads `models.toml`. Applies presets and defaults, converts files of the older version 1, and
reports errors with their position.

An invalid entry is left out. The file is rejected only if it is invalid as a whole. Presets are
named sets of an entry's keys in `services/inference/presets/NAME.toml`, with their source and the
date of their check.
"""

from __future__ import annotations

import datetime
import tomllib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from shared.contracts.messages import Message
from shared.contracts.prompt_table import with_files
from shared.contracts.validation_messages import plain
from shared.models.catalogue.checkpoint import READER_NAME, files_of
from shared.models.catalogue.entry import ModelEntry, fixed_kind

SCHEMAS = (1, 2)
NO_FILE = (
    "there is no {}; run the command in the folder that contains models.toml, set "
    "TOUCHSTONE_MODELS_FILE to this file, or create one with `touchstone models add SOURCE`"
)


@dataclass(frozen=True)
class InvalidEntry:
    """An entry of `models.toml` that was left out, with the model's name and the reason. `missing`
    is its folder, if the folder does not exist."""

    name: str
    reason: str
    missing: Path | None = None


Entries = tuple[ModelEntry, ...]
Faults = tuple[InvalidEntry, ...]


def read_entries(path: Path) -> tuple[Entries, Faults]:
    """Return the valid entries in the order of the file, and the invalid ones with the reason for
    each. Raises ValueError if no entry can be read, such as for a syntax error."""
    tables, schema = _read_entries(path)
    root = path.parent.resolve()
    entries: list[ModelEntry] = []
    faults: list[InvalidEntry] = []
    for index, table in enumerate(tables):
        stated = table.get("name")
        name = stated if isinstance(stated, str) and stated else f"models.{index}"
        try:
            entries.append(_entry(table, schema, root))
        except ValidationError as error:
            faults.append(
                InvalidEntry(name, f"{path.name}: {reasons(error, 'models', str(index))}")
            )
        except (ValueError, TypeError, AttributeError) as error:  # values of unexpected shapes
            reason = f"{path.name}: models.{index}: {error}"
            missing = error.folder if isinstance(error, UnknownKind) else None
            faults.append(InvalidEntry(name, reason, missing))
    return _with_readers(*_each_name_once(tuple(entries), tuple(faults), path), path)


def _read_entries(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the unchecked tables of the entries, and the file's version."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(NO_FILE.format(path.absolute())) from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError; endless numbers or nesting
        raise ValueError(f"{path}: not TOML: {error}") from error
    none: list[Any] | None = [] if "schema" in content else None  # a new file has no model yet
    schema, tables = content.pop("schema", 1), content.pop("models", none)
    if type(schema) is not int or schema not in SCHEMAS:
        raise ValueError(f"{path}: schema: must be one of {', '.join(map(str, SCHEMAS))}")
    if content:
        raise ValueError(
            f"{path}: unknown keys {', '.join(sorted(content))}; only schema and "
            "[[models]] are allowed"
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{path}: models: must be a list of tables; begin each with [[models]]")
    return tables, schema


def _entry(table: dict[str, Any], schema: int, root: Path) -> ModelEntry:
    if table.get("name") == READER_NAME:
        raise ValueError(
            f"name: {READER_NAME} is reserved for the built-in reader; choose another name"
        )
    if schema == 1:
        table = _as_version_2(table)
    elif isinstance(table.get("labels"), list):
        raise ValueError(
            "labels: must be a table from each label to its outputs, as in "
            '{ hateful = ["hate"] }; list the names of outputs under `outputs`'
        )
    keys = with_preset(table)
    if isinstance(prompt := keys.get("prompt"), dict):
        keys = {**keys, "prompt": with_files(prompt, root)}
    source = keys.get("source")
    if "kind" not in keys and isinstance(source, str):  # otherwise by the architecture of its files
        if (kind := fixed_kind(source)) is None:
            checkpoint = files_of(source, root)
            kind = None if checkpoint is None else checkpoint.kind
        if kind is None:
            raise UnknownKind(source, root)
        keys = {**keys, "kind": kind}
    return ModelEntry.model_validate(keys)


class UnknownKind(ValueError):
    """Raised if neither an entry nor its model's files state the kind of model. `folder` is the
    model's folder if that folder is missing, unreadable or empty. Otherwise `folder` is None."""

    def __init__(self, source: str, root: Path) -> None:
        super().__init__(
            "kind: the model's files do not state it; set kind to classifier, causal, "
            "similarity or cross-encoder"
        )
        folder = root / source.removeprefix("path:") if source.startswith("path:") else None
        self.folder = folder if folder is not None and is_away(folder) else None


def is_away(folder: Path) -> bool:
    """Return True if the folder is missing or unreadable, or empty, like a mount point before its
    volume is mounted."""
    try:
        return next(folder.iterdir(), None) is None
    except OSError:
        return True


def _as_version_2(table: dict[str, Any]) -> dict[str, Any]:
    """Convert an entry of version 1. In version 1 every output is a label from an array `labels`,
    and the dtype is float32."""
    keys = {"dtype": "float32"} | table
    labels = keys.pop("labels") if isinstance(keys.get("labels"), list) else None
    if keys.get("kind") != "classifier":
        return keys
    keys = {"task": "free"} | keys
    return keys | {"outputs": labels} if labels else keys


def _each_name_once(entries: Entries, faults: Faults, path: Path) -> tuple[Entries, Faults]:
    names = Counter(entry.name for entry in entries)
    names.update(fault.name for fault in faults)
    repeated = {name: count for name, count in names.items() if count > 1}
    duplicates = tuple(
        InvalidEntry(
            name, f"{path.name}: the model {name!r} is configured {count} times; keep one entry"
        )
        for name, count in repeated.items()
    )
    unique = tuple(entry for entry in entries if entry.name not in repeated)
    return unique, (*(fault for fault in faults if fault.name not in repeated), *duplicates)


def _with_readers(entries: Entries, faults: Faults, path: Path) -> tuple[Entries, Faults]:
    """Leave out entries whose `reader_model` is not a causal model of this file."""
    kinds = {entry.name: entry.kind for entry in entries}
    kinds |= dict.fromkeys((fault.name for fault in faults), "causal")  # may become valid
    invalid = {
        entry.name: entry.reader_model
        for entry in entries
        if entry.reader_model is not None and kinds.get(entry.reader_model) != "causal"
    }
    new_faults = tuple(
        InvalidEntry(
            name,
            f"{path.name}: {name}.reader_model: {reader!r} is not a configured causal "
            "model; choose one that is",
        )
        for name, reader in invalid.items()
    )
    return tuple(entry for entry in entries if entry.name not in invalid), (*faults, *new_faults)


def reasons(error: ValidationError, *before: str) -> str:
    """Return each error with its key, in one line. `before` is the position of the entry."""
    lines = []
    for fault in error.errors():
        text = plain(fault)
        if fault["type"] == "extra_forbidden":
            similar = get_close_matches(str(fault["loc"][-1]), ModelEntry.model_fields, n=1)
            text = "there is no such key" + (f"; did you mean {similar[0]}?" if similar else "")
        key = ".".join(map(str, (*before, *fault["loc"])))
        lines.append(": ".join(filter(None, [key, text])))
    return "; ".join(lines)


PRESETS = Path(__file__).parents[3] / "services" / "inference" / "presets"
BY_NAME = ("prompt", "input")  # tables that are overridden key by key


class Preset(Message):
    """A file with a preset, a named set of keys for an entry of `models.toml`. `entry` holds the
    keys."""

    version: str = Field(
        min_length=1, description="version, increased with every change of `entry`"
    )
    source: str = Field(min_length=1, description="document that the values are taken from")
    checked: datetime.date = Field(description="date on which this document was read")
    wider: str | None = Field(
        default=None, description="meaning of the model's labels, if wider than the canonical one"
    )
    entry: dict[str, Any] = Field(description="the keys that the preset sets in an entry")


def preset_names() -> list[str]:
    return sorted(file.stem for file in PRESETS.glob("*.toml"))


@lru_cache(maxsize=64)
def preset(name: str) -> Preset:
    """Return a preset. Raises ValueError for an unknown name; the message lists the known names."""
    if name not in (names := preset_names()):
        raise ValueError(f"preset: there is no preset {name!r}; choose one of {', '.join(names)}")
    return Preset.model_validate(tomllib.loads((PRESETS / f"{name}.toml").read_text("utf-8")))


def with_version(name: str | None) -> str | None:
    """Return the preset's name with its version, as in `name@version`."""
    return name and f"{name}@{preset(name).version}"


def with_preset(stated: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of the entry's preset, overridden by the entry's own keys. An entry without a
    preset is unchanged. Raises ValueError for an invalid preset."""
    name = stated.get("preset")
    if name is None:
        return stated
    if not isinstance(name, str):
        raise ValueError("preset: must be a string, the name of a preset")
    base = preset(name).entry
    merged = base | stated
    for table in BY_NAME:
        if isinstance(base.get(table), dict) and isinstance(stated.get(table), dict):
            merged[table] = base[table] | stated[table]
    if "labels" in stated and "ignore" not in stated:
        label_names = stated["labels"].values() if isinstance(stated["labels"], dict) else []
        named = {name for names in label_names if isinstance(names, list) for name in names}
        merged["ignore"] = [name for name in _outputs(base) if name not in named]
    return merged


def _outputs(entry: dict[str, Any]) -> list[str]:
    labels = entry.get("labels", {})
    return [*(name for names in labels.values() for name in names), *entry.get("ignore", [])]


def presets_of(outputs: Collection[str]) -> list[str]:
    """Return the presets for a classifier with exactly these outputs."""
    return [name for name in preset_names() if set(outputs) == set(_outputs(preset(name).entry))]
