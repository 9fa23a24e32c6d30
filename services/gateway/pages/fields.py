"""What `/try` asks for, metric by metric; everything else of a request is written as JSON.

A metric without fields of its own here has its whole request as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from services.gateway import body
from services.gateway.refusals import InvalidBody
from shared.contracts import Metric

REST = "rest"  # the form's field with all other options
DETAILS = ("token_values", "other_variants")  # what only a page needs: asked for where there is one


@dataclass(frozen=True)
class Field:
    """One input. choices: of a selection; an empty one leaves the field out."""

    name: str
    label: str
    kind: Literal["text", "choice"] = "text"
    choices: tuple[str, ...] = ()
    hint: str = ""
    required: bool = True


TEXT = Field("text", "Text", hint="what was moderated")
EXPLANATION = Field("explanation", "Explanation", hint="what a model said about its decision")

FIELDS: dict[str, tuple[Field, ...]] = {
    "hatexscore": (
        TEXT,
        EXPLANATION,
        Field(
            "predicted_label",
            "Decision",
            "choice",
            ("hateful", "non-hateful"),
            "empty: read from the explanation",
            required=False,
        ),
    ),
    "ice": (
        TEXT,
        Field(
            "attribution",
            "Explanation to test",
            "choice",
            ("attention", "gradient", "integrated_gradients", "lime"),
            "computed by the service; or your own `rationale` or `attributions` below",
            required=False,
        ),
    ),
    "haf": (TEXT,),
    "ftc": (
        Field("premise", "Premise"),
        Field("hypothesis", "Hypothesis"),
        EXPLANATION,
        Field(
            "label",
            "Label",
            "choice",
            ("entailment", "neutral", "contradiction"),
            "empty: the model's own",
            required=False,
        ),
    ),
    "cot2el": (Field("reasoning", "Reasoning", hint="a chain of thought", required=False),),
}


@dataclass(frozen=True)
class Form:
    """A filled form. values: by field, as typed. rest: JSON text."""

    values: dict[str, str]
    rest: str


def filled(metric: Metric, example: Mapping[str, Any]) -> Form:
    """The form as this example fills it."""
    own = FIELDS.get(metric.name, ())
    values = {
        field.name: example[field.name] if isinstance(example.get(field.name), str) else ""
        for field in own
    }
    details = {name: True for name in DETAILS if name in metric.request.model_fields}
    named = {name for name, value in values.items() if value}
    rest = {name: value for name, value in (details | dict(example)).items() if name not in named}
    return Form(values, json.dumps(rest, ensure_ascii=False, indent=1) if rest else "{}")


def sent(metric: Metric, form: Mapping[str, str]) -> Form:
    """The form as a browser sent it; it writes every line's end as CRLF."""
    typed = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    own = FIELDS.get(metric.name, ())
    return Form({field.name: typed.get(field.name, "") for field in own}, typed.get(REST, ""))


def body_of(form: Form) -> dict[str, Any]:
    """The request's JSON. Raises InvalidBody where the rest is no JSON object."""
    rest = body.decode((form.rest or "{}").encode("utf-8", "surrogatepass"))
    if not isinstance(rest, dict):
        raise InvalidBody.at_root("the other options are not a JSON object")
    return {name: value for name, value in form.values.items() if value} | rest
