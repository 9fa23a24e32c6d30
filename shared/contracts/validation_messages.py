"""Validation errors as sentences, since pydantic's messages name Python classes. Kinds of errors
and their context: https://docs.pydantic.dev/latest/errors/validation_errors/"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

Path = tuple[int | str, ...]
ID = re.compile(r"\^([a-z]+_)\[0-9a-f\]\{32\}\$")  # the pattern of our own ids
NUL_FREE = r"^[^\x00]*$"
METADATA_KEY = r"[^\[\]\x00-\x1f\x7f]{1,64}"  # what the filter `metadata[KEY]` can name
LANGUAGE_TAG = r"^(\*|[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*)$"  # BCP 47; `*`: all

SAID = {
    "extra_forbidden": "there is no such field",
    "string_type": "must be a string",
    "string_unicode": "has half of a surrogate pair, which is not a character",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "mapping_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "none_required": "must be null",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_too_long": "must have at most {max_length} characters",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing; it states which kind of object this is",
}

OF_PATTERN = {
    LANGUAGE_TAG: "must be a language tag (BCP 47), as in de or hi-Latn, or *",
    NUL_FREE: "must not contain the character NUL",
    f"^{METADATA_KEY}$": "a key of metadata must not contain [, ] or a control character",
}

IN_JSON = {"True": "true", "False": "false", "None": "null"}
PYTHON = re.compile(r"(?<!['\w])(?:True|False|None)(?!['\w])")


def fault_at(path: Path, detail: str) -> InitErrorDetails:
    """Return an error with this sentence at this path, for `ValidationError`."""
    error = PydanticCustomError("refused", "{detail}", {"detail": detail})
    return InitErrorDetails(type=error, loc=path, input=None)


def refusal(path: Path, detail: str) -> ValidationError:
    """Return an error with this sentence at this path, for a validator to raise."""
    return ValidationError.from_exception_data("Message", [fault_at(path, detail)])


def first_fault(error: ValidationError) -> ErrorDetails:
    """Return the first validation error, without the value that the user sent."""
    return error.errors(include_url=False, include_input=False)[0]


def dotted(found: Mapping[str, Any]) -> str:
    """Return the path of an error's field, as in `requests.0.text`, or "" for the whole request."""
    return ".".join(map(str, found["loc"]))


def plain(found: Mapping[str, Any]) -> str:
    """Format an entry of `ValidationError.errors()` as a clause about its field.

    Messages of our own validators, and error types that our requests do not cause, are unchanged.
    """
    kind, context = str(found["type"]), found.get("ctx") or {}
    if kind in ("value_error", "assertion_error"):
        return re.sub("^(Value error|Assertion failed), ", "", str(found["msg"]))
    if kind in ("too_short", "too_long", "string_too_short"):
        what = "character" if kind == "string_too_short" else "entry"
        if kind == "too_long":
            return f"must have at most {format_count(context['max_length'], what)}"
        if context["min_length"] == 1:
            return "must not be empty"
        return f"must have at least {format_count(context['min_length'], what)}"
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        if of_id := ID.fullmatch(pattern):
            return f"must be {of_id[1]} and 32 of the digits 0 to 9 and a to f"
        return OF_PATTERN.get(pattern, f"must match the pattern {pattern}")
    if kind == "literal_error":
        return f"must be {PYTHON.sub(lambda one: IN_JSON[one.group()], str(context['expected']))}"
    return SAID[kind].format(**context) if kind in SAID else str(found["msg"])


def format_count(count: int, what: str) -> str:
    """Return the count and its noun, such as "1 entry" or "2 entries"."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else many}"
