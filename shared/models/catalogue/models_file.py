"""`models.toml` from its text to entries: presets, defaults, version 1, and what is wrong where.

A mistake in one entry takes that entry out; only a file that nobody can understand is refused.
Presets are named bundles of an entry's keys, kept as data with their source and date of checking:
`services/inference/presets/NAME.toml`. Source: specs "models" §1, §3.
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
    "there is no {}: go to the folder with the service's models.toml (a clone of it), name that "
    "file in TOUCHSTONE_MODELS_FILE, or begin one with `touchstone models add SOURCE`"
)


@dataclass(frozen=True)
class InvalidEntry:
    """An entry that was taken out: the model's name, and why.

    missing: its folder, if that is not there: a disk that is away says nothing about the model.
    """

    name: str
    reason: str
    missing: Path | None = None


Entries = tuple[ModelEntry, ...]
Faults = tuple[InvalidEntry, ...]


def read_entries(path: Path) -> tuple[Entries, Faults]:
    """In the order of the file. Raises ValueError where it cannot be understood as a whole."""
    tables, schema = _read_entries(path)
    root = path.parent.resolve()
    entries: list[ModelEntry] = []
    faults: list[InvalidEntry] = []
    for place, table in enumerate(tables):
        named = table.get("name")
        name = named if isinstance(named, str) and named else f"models.{place}"
        try:
            entries.append(_entry(table, schema, root))
        except ValidationError as error:
            faults.append(
                InvalidEntry(name, f"{path.name}: {reasons(error, 'models', str(place))}")
            )
        except (ValueError, TypeError, AttributeError) as error:  # of shapes that no key has
            reason = f"{path.name}: models.{place}: {error}"
            missing = error.folder if isinstance(error, UnknownKind) else None
            faults.append(InvalidEntry(name, reason, missing))
    return _with_readers(*_each_name_once(tuple(entries), tuple(faults), path), path)


def _read_entries(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The tables of the entries as they stand, and the file's version."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(NO_FILE.format(path.absolute())) from None
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
    if table.get("name") == READER_NAME:
        raise ValueError(
            f"name: {READER_NAME} is the name of the reader that comes with the project"
        )
    if schema == 1:
        table = _as_version_2(table)
    elif isinstance(table.get("labels"), list):
        raise ValueError("labels: must be a table, label → outputs; `outputs` names the outputs")
    stated = with_preset(table)
    if isinstance(prompt := stated.get("prompt"), dict):
        stated = {**stated, "prompt": with_files(prompt, root)}
    source = stated.get("source")
    if "kind" not in stated and isinstance(source, str):  # else by the architecture of its files
        if (kind := fixed_kind(source)) is None:
            found = files_of(source, root)
            kind = None if found is None else found.kind
        if kind is None:
            raise UnknownKind(source, root)
        stated = {**stated, "kind": kind}
    return ModelEntry.model_validate(stated)


class UnknownKind(ValueError):
    """Neither an entry nor its files say what kind of model it is. folder: if it is away."""

    def __init__(self, source: str, root: Path) -> None:
        super().__init__(
            "kind: its files do not say: classifier, causal, similarity or cross-encoder"
        )
        folder = root / source.removeprefix("path:") if source.startswith("path:") else None
        self.folder = folder if folder is not None and is_away(folder) else None


def is_away(folder: Path) -> bool:
    """True if the folder is not there, is empty as a mount point is, or cannot be read."""
    try:
        return next(folder.iterdir(), None) is None
    except OSError:
        return True


def _as_version_2(table: dict[str, Any]) -> dict[str, Any]:
    """Every output is a label of its own, named by an array of `labels`; dtype was float32."""
    known = {"dtype": "float32"} | table
    labels = known.pop("labels") if isinstance(known.get("labels"), list) else None
    if known.get("kind") != "classifier":
        return known
    known = {"task": "free"} | known
    return known | {"outputs": labels} if labels else known


def _each_name_once(entries: Entries, faults: Faults, path: Path) -> tuple[Entries, Faults]:
    """Of entries that share a name none is left: nobody knows which one a request means."""
    names = Counter(entry.name for entry in entries)
    names.update(fault.name for fault in faults)
    twice = {name: count for name, count in names.items() if count > 1}
    again = tuple(
        InvalidEntry(name, f"{path.name}: the model {name!r} is configured {count} times")
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
        InvalidEntry(name, f"{path.name}: {name}.reader_model: {reader!r} is no causal model here")
        for name, reader in strange.items()
    )
    return tuple(entry for entry in entries if entry.name not in strange), (*faults, *found)


def reasons(error: ValidationError, *before: str) -> str:
    """Each mistake behind its key, in a line. before: where the entry stands."""
    told = []
    for found in error.errors():
        said = plain(found)
        if found["type"] == "extra_forbidden":
            alike = get_close_matches(str(found["loc"][-1]), ModelEntry.model_fields, n=1)
            said = "there is no such key" + (f"; did you mean {alike[0]}?" if alike else "")
        place = ".".join(map(str, (*before, *found["loc"])))
        told.append(": ".join(filter(None, [place, said])))
    return "; ".join(told)


PRESETS = Path(__file__).parents[3] / "services" / "inference" / "presets"
BY_NAME = ("prompt", "input")  # tables whose keys are overridden one by one


class Preset(Message):
    """A file of presets, as it stands. `entry` is checked once it is part of an entry."""

    version: str = Field(min_length=1, description="counted up when a byte of `entry` changes")
    source: str = Field(min_length=1, description="the document that says so")
    checked: datetime.date = Field(description="when the source was read")
    wider: str | None = Field(
        default=None, description="what its labels mean where that is wider than the canonical one"
    )
    entry: dict[str, Any] = Field(description="keys of an entry")


def preset_names() -> list[str]:
    return sorted(file.stem for file in PRESETS.glob("*.toml"))


@lru_cache(maxsize=64)
def preset(name: str) -> Preset:
    """Raises ValueError for a name that there is not, with those that there are."""
    if name not in (known := preset_names()):
        raise ValueError(f"preset: there is no {name!r}; there are {', '.join(known)}")
    return Preset.model_validate(tomllib.loads((PRESETS / f"{name}.toml").read_text("utf-8")))


def with_version(name: str | None) -> str | None:
    """name@version."""
    return name and f"{name}@{preset(name).version}"


def with_preset(stated: dict[str, Any]) -> dict[str, Any]:
    """An entry's keys over those of the preset that it names. Raises ValueError."""
    name = stated.get("preset")
    if name is None:
        return stated
    if not isinstance(name, str):
        raise ValueError("preset: must be a name")
    base = preset(name).entry
    merged = base | stated
    for table in BY_NAME:
        if isinstance(base.get(table), dict) and isinstance(stated.get(table), dict):
            merged[table] = base[table] | stated[table]
    if "labels" in stated and "ignore" not in stated:
        own = stated["labels"].values() if isinstance(stated["labels"], dict) else []
        named = {name for names in own if isinstance(names, list) for name in names}
        merged["ignore"] = [name for name in _outputs(base) if name not in named]
    return merged


def _outputs(entry: dict[str, Any]) -> list[str]:
    labels = entry.get("labels", {})
    return [*(one for names in labels.values() for one in names), *entry.get("ignore", [])]


def presets_of(outputs: Collection[str]) -> list[str]:
    """Those that name exactly these outputs of a classifier."""
    return [name for name in preset_names() if set(outputs) == set(_outputs(preset(name).entry))]
