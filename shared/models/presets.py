"""Presets: named bundles of an entry's keys, kept as data with their source and date of checking.

`services/inference/presets/NAME.toml`. Source: specs "models" §1, §3.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from shared.contracts import Message

PRESETS = Path(__file__).parents[2] / "services" / "inference" / "presets"
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
    """The presets that there are."""
    return sorted(file.stem for file in PRESETS.glob("*.toml"))


@lru_cache(maxsize=64)
def preset(name: str) -> Preset:
    """Raises ValueError for a name that there is not, with those that there are."""
    if name not in (known := preset_names()):
        raise ValueError(f"preset: there is no {name!r}; there are {', '.join(known)}")
    return Preset.model_validate(tomllib.loads((PRESETS / f"{name}.toml").read_text("utf-8")))


def versioned(name: str | None) -> str | None:
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
        merged["ignore"] = _no_longer_asked(base, stated["labels"])
    return merged


def _no_longer_asked(base: dict[str, Any], labels: Any) -> list[str]:
    """The preset's outputs that the entry's own labels leave over."""
    before = [name for names in base.get("labels", {}).values() for name in names]
    named = labels.values() if isinstance(labels, dict) else []
    asked = {name for names in named if isinstance(names, list) for name in names}
    return [name for name in [*before, *base.get("ignore", [])] if name not in asked]


def presets_of(outputs: Collection[str]) -> list[str]:
    """Those that name exactly these outputs of a classifier."""
    return [name for name in preset_names() if set(outputs) == set(_outputs(preset(name).entry))]


def _outputs(entry: dict[str, Any]) -> list[str]:
    labels = entry.get("labels", {})
    return [*(one for names in labels.values() for one in names), *entry.get("ignore", [])]
