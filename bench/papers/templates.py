"""Reads prompts of causal models from a TOML or JSON file that maps names to templates.

A template has `prefix`, `suffix` and `verbalizers` as in a request, and optionally `data`, the
names of its data sets.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench.papers.protocol import RunTemplate
from shared.contracts.calls import Template
from shared.contracts.validation_messages import dotted, first_fault, plain

DATA = "data"


def read_templates(file: Path) -> dict[str, RunTemplate]:
    """Return templates in the order of the file. Raises ValueError, OSError."""
    text = file.read_text("utf-8")
    try:
        read = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    if not isinstance(read, dict) or not read:
        raise ValueError(f"{file} names no template")
    return {name: _template(file, name, fields) for name, fields in read.items()}


def _template(file: Path, name: str, fields: Any) -> RunTemplate:
    if not isinstance(fields, dict):
        raise ValueError(f"{file}: {name} is no template")
    datasets = fields.pop(DATA, [])
    if not isinstance(datasets, list) or not all(isinstance(one, str) for one in datasets):
        raise ValueError(f"{file}: {name}.{DATA} is no list of names")
    try:
        Template.model_validate(fields)
    except ValidationError as error:
        first = first_fault(error)
        place = ".".join(filter(None, (name, dotted(first))))
        raise ValueError(f"{file}: {place}: {plain(first)}") from None
    return RunTemplate(fields, tuple(datasets))


def check_datasets(templates: Mapping[str, RunTemplate], datasets: Sequence[str]) -> None:
    """Raise ValueError if a data set has no template, or if a template names an unknown data
    set."""
    if not templates:
        return
    for name, template in templates.items():
        if missing := [one for one in template.datasets if one not in datasets]:
            raise ValueError(f"the template {name} is for {missing[0]}, which is no data set here")
    for one in datasets:
        if not any(not own.datasets or one in own.datasets for own in templates.values()):
            raise ValueError(f"no template is for the data set {one}")


def described(templates: Mapping[str, RunTemplate]) -> dict[str, Any]:
    """Return a text that describes the format of the file."""
    return {name: {DATA: list(one.datasets), **one.fields} for name, one in templates.items()}
