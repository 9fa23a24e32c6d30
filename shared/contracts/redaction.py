"""Removes the caller's text from stored results (`do_not_store_text`).

Numbers and the service's own words are kept. A report's types classify its strings: a literal or a
`Word` is ours, any other string is blanked. A warning that repeats characters of the request is
blanked, unless its type says that it is ours.
"""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from shared.contracts.batches import BatchReport
from shared.contracts.messages import (
    CallersWords,
    JobRequest,
    ModelUse,
    Provenance,
    Word,
    field_type,
)
from shared.contracts.problems import Problem

RUN = 12  # characters of the request in a row that count as a repetition
SENTENCE = 500  # characters: a warning, or the detail of a problem
# the field, as what cannot be read may still name it, or any letter as JSON may spell it
PRIVATE = re.compile(rb"do_not_store_text|\\u00[567]")
PRIVATE_BYTES = len("do_not_store_text")
STAYING = ("metadata", "context", "trace", "model", "variant")  # of the request


def untold(error: Exception) -> Exception:
    """Return an error for the log with its type and location only. Its message and causes may quote
    the caller's text."""
    kind = type(error).__qualname__
    return RuntimeError(f"{kind} (do_not_store_text)").with_traceback(error.__traceback__)


def repeats(said: str, sent: Sequence[str]) -> bool:
    """Return True if `said` repeats a long part of a text in `sent`, or all of a short one."""
    ours = [said[start : start + RUN] for start in range(len(said) - RUN + 1)]
    for text in filter(None, sent):
        if len(text) <= RUN:
            repeated = text in said
        elif len(said) <= SENTENCE:
            repeated = any(run in text for run in ours)
        else:  # comparing sets is faster for what is longer than a sentence of ours
            theirs = (text[start : start + RUN] for start in range(len(text) - RUN + 1))
            repeated = not set(ours).isdisjoint(theirs)
        if repeated:
            return True
    return False


def is_internal(value: str, hint: Any, *, names: bool = True) -> bool:
    """Return True if the type shows that the service wrote this string, not the caller. This holds
    for values of a `Literal` and, if `names` is True, for strings marked `Word`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in arguments
    if origin is Annotated:
        ours = names and any(mark is Word or isinstance(mark, Word) for mark in arguments[1:])
        return ours or is_internal(value, arguments[0], names=names)
    if origin in (Union, types.UnionType):
        return any(is_internal(value, argument, names=names) for argument in arguments)
    return False


def all_internal(hint: Any) -> bool:
    """Return True if the items of this container type never hold text from the caller."""
    return is_internal("", last_argument(hint))


def sent(request: JobRequest, *, names: bool = True) -> Iterator[str]:
    """Yield each string of a request that the caller may have written. If `names` is True, strings
    with the type mark `Word`, which are the service's own, are left out."""
    for name in type(request).model_fields:
        if name not in STAYING:
            yield from _strings_of_field(request, name, names)


def _strings_of_field(model: BaseModel, name: str, names: bool) -> Iterator[str]:
    field = type(model).model_fields[name]
    value = getattr(model, name)
    if not isinstance(value, str) or value != field.default:
        yield from _strings(value, field_type(field), names)


def _strings(value: Any, hint: Any, names: bool) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _strings_of_field(value, name, names)
    elif isinstance(value, str):
        yield from () if is_internal(value, hint, names=names) else (value,)
    elif isinstance(value, Mapping | list | tuple | set | frozenset):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(item, last_argument(hint), names)


def last_argument(hint: Any) -> Any:
    """Return the item type of a container's type hint, or the value type of a mapping's."""
    inner = _bare(hint)
    if get_origin(inner) in (Union, types.UnionType):
        origins = ((part, get_origin(part)) for part in map(_bare, get_args(inner)))
        containers = (
            part
            for part, origin in origins
            if isinstance(origin, type) and issubclass(origin, Collection)
        )
        inner = next(containers, inner)
    arguments = [argument for argument in get_args(inner) if argument is not Ellipsis]
    return arguments[-1] if arguments else Any


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


OURS = (Provenance, ModelUse)  # their own strings name versions and models
NAME = 3  # characters: a shorter word of the caller's stands in many a sentence of ours

Json = Any
Words = frozenset[str]  # of the caller's own lists, case folded


def _words_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
        yield from _words_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _words_in(element)


def without_text(report: BaseModel, request: JobRequest) -> dict[str, Json]:
    """Return the report as JSON, without strings that the caller may have written. Batch reports
    contain no such strings and are returned complete."""
    if isinstance(report, BatchReport):
        return report.model_dump(mode="json")
    lists = (
        getattr(message, name)
        for message in (request, getattr(request, "options", None))
        if isinstance(message, BaseModel)
        for name, field in type(message).model_fields.items()
        if CallersWords in field.metadata
    )
    words = frozenset(
        word.casefold()
        for value in lists
        if not isinstance(value, str)
        for word in _words_in(value)
    )
    stripped = _model(report, words)
    warnings_field = type(report).model_fields.get("warnings")
    if warnings_field is not None:
        ours = all_internal(warnings_field.annotation)
        elicitation = getattr(report, "elicitation", None)  # as little ours as what was sent
        written = (
            getattr(elicitation, name, None) for name in ("answer", "explanation", "reasoning")
        )
        texts = words if ours else {*sent(request), *filter(None, written), *words}
        long = sorted((text for text in texts if len(text) > NAME), key=len, reverse=True)
        stripped["warnings"] = [
            "a warning that quotes the text was not stored" if repeats(warning, long) else warning
            for warning in getattr(report, "warnings", ())
        ]
    return stripped


def strip_request(problem: Problem, request: JobRequest) -> Problem:
    """Return a copy of the problem. Details that repeat a text of the request are replaced by the
    problem's title."""
    texts = list(sent(request))
    stripped = dict(problem)
    if repeats(stripped["detail"], texts):
        stripped["detail"] = stripped["title"]
    if "errors" in stripped:
        stripped["errors"] = [
            entry | {"detail": stripped["title"]} if repeats(entry["detail"], texts) else entry
            for entry in stripped["errors"]
        ]
    return stripped


def _model(model: BaseModel, words: Words) -> dict[str, Json]:
    ours = isinstance(model, OURS)
    values = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if field.exclude_if is not None and field.exclude_if(value):
            continue  # as where the text stays
        as_it_is = ours and isinstance(value, str)
        values[name] = value if as_it_is else _value(value, field_type(field), words)
    return values


def _value(value: Any, hint: Any, words: Words) -> Json:
    """Return a value with the caller's strings removed. A removed string becomes null if the type
    `hint` allows null, else an empty string."""
    if isinstance(value, BaseModel):
        return _model(value, words)
    if isinstance(value, str):
        if is_internal(value, hint, names=value.casefold() not in words):
            return value
        return None if type(None) in get_args(_bare(hint)) else ""
    if isinstance(value, Mapping):
        names = (
            str(index) if isinstance(key, str) and key.casefold() in words else key
            for index, key in enumerate(value, 1)
        )
        items = (_value(item, last_argument(hint), words) for item in value.values())
        return dict(zip(names, items, strict=True))
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(item, last_argument(hint), words) for item in value]
    return value
