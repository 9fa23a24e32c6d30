"""RFC 9457 problems: the one shape of every error, in an answer and in a failed job.

Messages are read from JSON as strictly as their schema is written, and no more strictly: to JSON
Schema 1.0 is an integer (2020-12, validation 6.1.1), to pydantic's strict mode it is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from shared.contracts import Message
from shared.errors import BadInput, ModelCannot, QuotaExceeded, ScoringError, TooCostly

Problem = dict[str, Any]

TYPE_BASE = "https://touchstone.dev/problems/"
# draft-ietf-httpapi-ratelimit-headers-10, section 6.1
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"


def make(slug: str, title: str, status: int, detail: str) -> Problem:
    """A problem with our type URI."""
    return {"type": TYPE_BASE + slug, "title": title, "status": status, "detail": detail}


def problem(error: ScoringError) -> Problem:
    made = make(error.slug, error.title, error.status, error.detail)
    if isinstance(error, QuotaExceeded):
        made |= {"type": QUOTA_EXCEEDED, "violated-policies": [error.policy]}
    if isinstance(error, ModelCannot):
        made |= {"model": error.model, "ability": error.ability, "abilities": list(error.abilities)}
    if error.pointer is not None:
        pointers = getattr(error, "pointers", ()) or (error.pointer,)
        made["errors"] = [{"detail": error.detail, "pointer": "#" + one} for one in pointers]
    return made


def validation_problem(error: ValidationError, body: Any) -> Problem:
    """What pydantic found wrong with this body, a JSON pointer each."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return invalid(found, body)


def invalid(found: Iterable[Mapping[str, Any]], body: Any) -> Problem:
    """A 422 from entries of pydantic's shape: `loc`, `type` and `msg`."""
    errors = [
        {"detail": entry["msg"], "pointer": pointer(places(entry["loc"], entry["type"], body))}
        for entry in found
    ]
    count = len(errors)
    detail = errors[0]["detail"] if count == 1 else f"{count} fields are not valid"
    return make(BadInput.slug, BadInput.title, BadInput.status, detail) | {"errors": errors}


def places(location: Sequence[str | int], kind: str, body: Any) -> list[str | int]:
    """The steps of a pydantic location that are places in the body: union tags are left out."""
    steps: list[str | int] = []
    here = body
    for step in location:
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            if kind != "missing" or step != location[-1]:
                continue
        steps.append(step)
    return steps


def pointer(steps: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901, as a URI fragment) to this place in the body."""
    escaped = [str(step).replace("~", "~0").replace("/", "~1") for step in steps]
    return "#" + "".join(f"/{step}" for step in escaped)


def attempts_exhausted(attempts: int, last: str) -> Problem:
    """The job was tried as often as allowed."""
    return make(
        "attempts-exhausted",
        "The job was tried as often as allowed",
        503,
        f"{attempts} attempts ended without a result; the last one: {last}",
    )


def ran_too_long(seconds: float) -> Problem:
    """The computation was ended at its deadline."""
    detail = f"it was not done after {seconds:g} s, and no job may take longer: ask for less"
    return problem(TooCostly(detail))


def endless_attempts(attempts: int) -> Problem:
    """The last attempt silenced its worker."""
    return problem(
        TooCostly(
            f"{attempts} attempts ended without a result; in the last one the worker computed "
            "without an end and could do nothing else"
        )
    )


def internal(error_id: str) -> Problem:
    """Our fault: the log has all of it under this id."""
    return make(
        "internal", "Something went wrong on our side", 500, f"quote {error_id} when you ask"
    ) | {"error_id": error_id}


M = TypeVar("M", bound=Message)


def read_strictly(message: type[M], raw: bytes | str, body: Any) -> M:
    """The message. body: the same JSON, decoded. Raises ValidationError."""
    try:
        return message.model_validate_json(raw, strict=True)
    except ValidationError as error:
        if all(found["type"] != "int_type" for found in error.errors(include_url=False)):
            raise
    return message.model_validate_json(json.dumps(whole(body)), strict=True)


def whole(value: Any) -> Any:
    """The same JSON with every whole number written as an integer."""
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
