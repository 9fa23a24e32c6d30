"""What `/try` asks for, as a metric's contract says; everything else of a request is JSON.

A metric without a `form` has its whole request as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.gateway import body
from services.gateway.refusals import InvalidBody
from shared.contracts import MetricContract

REST = "rest"  # the form's field with all other options
DETAILS = ("token_values", "other_variants")  # what only a page needs: asked for where there is one


@dataclass(frozen=True)
class Form:
    """A filled form. values: by field, as typed. rest: JSON text."""

    values: dict[str, str]
    rest: str


def filled(metric: MetricContract, example: Mapping[str, Any]) -> Form:
    """The form as this example fills it."""
    values = {
        field.name: example[field.name] if isinstance(example.get(field.name), str) else ""
        for field in metric.form
    }
    details = {name: True for name in DETAILS if name in metric.request.model_fields}
    named = {name for name, value in values.items() if value}
    rest = {name: value for name, value in (details | dict(example)).items() if name not in named}
    return Form(values, json.dumps(rest, ensure_ascii=False, indent=1) if rest else "{}")


def sent(metric: MetricContract, form: Mapping[str, str]) -> Form:
    """The form as a browser sent it; it writes every line's end as CRLF."""
    typed = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    return Form(
        {field.name: typed.get(field.name, "") for field in metric.form}, typed.get(REST, "")
    )


def body_of(form: Form) -> dict[str, Any]:
    """The request's JSON. Raises InvalidBody where the rest is no JSON object."""
    rest = body.decode((form.rest or "{}").encode("utf-8", "surrogatepass"))
    if not isinstance(rest, dict):
        raise InvalidBody.at_root("the other options are not a JSON object")
    return {name: value for name, value in form.values.items() if value} | rest
