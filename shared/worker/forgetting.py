"""`do_not_store_text`: numbers and our own words stay, the caller's text goes.

A report says by its types what a string is (`shared.whose_words`): ours, or one that may hold text
and is blanked. Warnings are searched for runs of characters of the request, so that one that
repeats them does not stay either, unless their type says that they are our words. (The request
itself is cut down by the ledger.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from shared.contracts import BatchReport, JobRequest, ModelUse, Provenance
from shared.problems import Problem
from shared.whose_words import are_ours, hint_of, is_ours, last_argument, repeats, sent

OURS = (Provenance, ModelUse)  # their own strings name versions and models

Json = Any


def without_text(report: BaseModel, request: JobRequest) -> dict[str, Json]:
    """The report as JSON, without a string that may hold text. Sums over many results hold none."""
    if isinstance(report, BatchReport):
        return report.model_dump(mode="json")
    kept = _model(report)
    own = type(report).model_fields.get("warnings")
    if own is not None and not are_ours(own.annotation):
        texts = sorted(set(sent(request)), key=len, reverse=True)
        kept["warnings"] = _warnings(report, texts)
    return kept


def screened(problem: Problem, request: JobRequest) -> Problem:
    """The problem without a detail that repeats the request."""
    texts = list(sent(request))
    kept = dict(problem)
    if repeats(kept["detail"], texts):
        kept["detail"] = kept["title"]
    if "errors" in kept:
        kept["errors"] = [
            entry | {"detail": kept["title"]} if repeats(entry["detail"], texts) else entry
            for entry in kept["errors"]
        ]
    return kept


def _warnings(report: BaseModel, texts: list[str]) -> list[str]:
    long = [text for text in texts if len(text) > 3]
    return [
        "a warning that repeats the text was not kept" if repeats(warning, long) else warning
        for warning in getattr(report, "warnings", ())
    ]


def _model(model: BaseModel) -> dict[str, Json]:
    ours = isinstance(model, OURS)
    kept = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if field.exclude_if is not None and field.exclude_if(value):
            continue  # as where the text stays
        kept[name] = value if ours and isinstance(value, str) else _value(value, hint_of(field))
    return kept


def _value(value: Any, hint: Any) -> Json:
    """One value under its type; a string that is not ours becomes null where it may, else empty."""
    if isinstance(value, BaseModel):
        return _model(value)
    if isinstance(value, str):
        return value if is_ours(value, hint) else _blank(hint)
    if isinstance(value, Mapping):
        return {key: _value(item, last_argument(hint)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(item, last_argument(hint)) for item in value]
    return value


def _blank(hint: Any) -> Literal[""] | None:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return None if type(None) in get_args(inner) else ""
