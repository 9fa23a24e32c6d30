"""RFC 9457 problems: the form of every error, in an answer and in a failed job.

A problem that is shown also has `error` for OpenAI's SDKs: openai-python takes `code`,
`param` and `type` from there (src/openai/_exceptions.py), openai-node takes `message`
(src/core/error.ts). `error` is derived from the problem when shown, so both always agree.

Messages are validated exactly as their JSON Schema says. For example, 1.0 is an integer in JSON
Schema (2020-12, validation 6.1.1), but not in pydantic's strict mode."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from shared.contracts.errors import (
    AttemptsExhausted,
    BadInput,
    ModelCannot,
    QuotaExceeded,
    ScoringError,
    TooCostly,
)
from shared.contracts.messages import Message
from shared.contracts.validation_messages import Path, plain, refusal

Problem = dict[str, Any]

TYPE_BASE = "/guide/errors#"  # of the service that answers
# draft-ietf-httpapi-ratelimit-headers-10, section 6.1
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
INSTANCE = "urn:touchstone:"  # and the id of the request
# what passes by itself within seconds; the other quotas need an end or a deletion
RATES = frozenset({"requests", "open-streams", "uploads", "bulk-calls"})
STILL_RUNNING = "still-running"  # of the 409 that a repeated try gets past
KINDS = {  # of errors, by status, as OpenAI's SDKs know them
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "service_unavailable_error",
    507: "service_unavailable_error",
}


def make(slug: str, title: str, status: int, detail: str) -> Problem:
    """Return a problem whose type URI ends with `slug`."""
    return {"type": TYPE_BASE + slug, "title": title, "status": status, "detail": detail}


def problem(error: ScoringError) -> Problem:
    body = make(error.slug, error.title, error.status, error.detail)
    if isinstance(error, QuotaExceeded):
        body |= {"type": QUOTA_EXCEEDED, "violated-policies": [error.policy]}
    if isinstance(error, ModelCannot):
        body |= {"model": error.model, "ability": error.ability, "abilities": list(error.abilities)}
    if error.pointer is not None:
        pointers = error.pointers or (error.pointer,)
        detail = error.detail if len(pointers) == 1 else ONE_OF_SEVERAL
        body["errors"] = [{"detail": detail, "pointer": "#" + target} for target in pointers]
    return body


ONE_OF_SEVERAL = "a field that `detail` is about"
MOST_FAULTS = 1_000  # of one body that are told one by one


def validation_problem(error: ValidationError, body: Any) -> Problem:
    """Convert pydantic's errors to one problem, with a JSON pointer for each error. If there are
    too many errors, the problem only states their number."""
    if error.error_count() > MOST_FAULTS:
        message = f"{error.error_count():,} fields are not valid, too many to list"
        return invalid([{"loc": (), "type": "too_many", "msg": message}], body)
    entries = error.errors(include_url=False, include_input=False)
    around = {entry["loc"][:steps] for entry in entries for steps in range(len(entry["loc"]))}
    # a list is called too short where an item of it is wrong, since none of it was taken
    outermost = [
        entry for entry in entries if entry["type"] != "too_short" or entry["loc"] not in around
    ]
    # of a union's kinds only the one that the value is has faults in its parts: what the others
    # say of the whole is left out, as that an object with a wrong field must be `true`
    places = [tuple(body_path(entry["loc"], entry["type"], body)) for entry in outermost]
    parts = {place[:steps] for place in places for steps in range(len(place))}
    innermost = [
        entry
        for entry, place in zip(outermost, places, strict=True)
        if place not in parts
        or not (entry["type"] == "literal_error" or entry["type"].endswith("_type"))
    ]
    return invalid(innermost, body)


def invalid(found: Iterable[Mapping[str, Any]], body: Any) -> Problem:
    """Convert errors in pydantic's form (`loc`, `type`, `msg`, `ctx`) to a 422. A field has one
    entry, even if several types of a union reject it."""
    at: dict[str, list[str]] = {}
    for entry in found:
        location = pointer(body_path(entry["loc"], entry["type"], body))
        at.setdefault(location, []).append(plain(entry))
    errors = [
        {"detail": ", or ".join(dict.fromkeys(messages)), "pointer": location}
        for location, messages in at.items()
    ]
    count = len(errors)
    detail = errors[0]["detail"] if count == 1 else f"{count} fields are not valid"
    return make(BadInput.slug, BadInput.title, BadInput.status, detail) | {"errors": errors}


def body_path(location: Sequence[str | int], kind: str, body: Any) -> list[str | int]:
    """Return a pydantic location as a path in the body, without union tags."""
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
    """Return a JSON pointer (RFC 6901, as a URI fragment) to this place in the body."""
    escaped = [str(step).replace("~", "~0").replace("/", "~1") for step in steps]
    return "#" + "".join(f"/{step}" for step in escaped)


def attempts_exhausted(attempts: int, last: str) -> Problem:
    detail = f"{attempts} attempts ended without a result; the last error was: {last}"
    return problem(AttemptsExhausted(detail))


def timeout_problem(seconds: float) -> Problem:
    """Return the problem of a computation stopped at its deadline."""
    detail = (
        f"the job was stopped after {seconds:g} s, the longest time that a job may take; "
        "reduce the work that the request asks for"
    )
    return problem(TooCostly(detail))


def endless_attempts(attempts: int) -> Problem:
    """Return the problem of a job whose last attempt hung its worker."""
    return problem(
        TooCostly(
            f"{attempts} attempts ended without a result; in the last attempt the computation did "
            "not end"
        )
    )


def internal(error_id: str) -> Problem:
    """Return the problem of an internal error, with the id of its log line."""
    return problem(ScoringError(f"quote the error id {error_id} when you report this error")) | {
        "error_id": error_id
    }


def to_public(found: Problem, request_id: str | None) -> Problem:
    """Return the problem as a caller sees it. `request_id` is the request that failed, or the one
    that created the job."""
    instance = {} if request_id is None else {"instance": INSTANCE + request_id}
    location = parameter(found)
    error = {
        "message": sentence(found, location),
        "type": kind_of(found),
        "code": type_name(found),
        "param": location,
    }
    return found | instance | {"error": error}


def type_name(found: Problem) -> str:
    return re.split("[/#]", str(found.get("type", "about:blank")))[-1]


def kind_of(found: Problem) -> str:
    """Return the error type that OpenAI's SDKs expect in the field `type`."""
    status = int(found.get("status", 500))
    if status == 429 and not RATES.issuperset(found.get("violated-policies", ())):
        return "insufficient_quota"
    other = "invalid_request_error" if status < 500 else "server_error"
    return KINDS.get(status, other)


def parameter(found: Problem) -> str | None:
    """Return the path of the first invalid field, such as `requests.17.text`. Return None if the
    problem concerns the whole body."""
    for entry in found.get("errors") or ():
        steps = str(entry["pointer"]).removeprefix("#").split("/")[1:]
        return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps) or None
    return None


def sentence(found: Problem, place: str | None) -> str:
    """Format the problem in one line. `place` is the location of the error, if known."""
    detail = str(found.get("detail", ""))
    text = ": ".join(dict.fromkeys(filter(None, (str(found.get("title", "")), detail))))
    errors: list[dict[str, str]] = found.get("errors") or []
    if len(errors) > 1 and errors[0]["detail"] not in (detail, ONE_OF_SEVERAL):
        text += f"; the first: {errors[0]['detail']}"
    return text if place is None else f"{text} (at {place})"


def can_retry(found: Problem) -> bool | None:
    """Return True if a retry may succeed soon, False if not, and None if the HTTP status
    decides."""
    if found["status"] == 429:
        return kind_of(found) == "rate_limit_error"
    if found["status"] == 503:
        return True
    if 400 <= found["status"] < 500:
        return type_name(found) == STILL_RUNNING
    return None


M = TypeVar("M", bound=Message)


MOST_SHOWN = 60  # characters of a key
MOST_MEMBERS = 1_000  # of one object in a request


def parse_strict(message: type[M], raw: bytes | str, body: Any) -> M:
    """Return the message. `body` is the same JSON, decoded. Raises ValidationError, also for
    U+0000, which the database cannot hold, or BadInput if an object has too many keys."""
    check_object_size(body)
    if (b"\\u0000" if isinstance(raw, bytes) else "\\u0000") in raw:  # type: ignore[operator]
        for path in with_nul(body):
            raise refusal(path, "must not contain the character U+0000")
    try:
        return message.model_validate_json(raw, strict=True)
    except ValidationError as error:
        if error.error_count() > MOST_FAULTS or all(
            entry["type"] != "int_type" for entry in error.errors(include_url=False)
        ):
            raise
    return message.model_validate_json(json.dumps(normalize_numbers(body)), strict=True)


def with_nul(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each text in a JSON value that contains U+0000."""
    if isinstance(value, str) and "\0" in value:
        yield path
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from with_nul(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from [path] if "\0" in name else with_nul(item, (*path, name))


class RepeatedKey(ValueError):
    """An object of a request has a key twice, so its value is ambiguous."""


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object from its (key, value) pairs, for use as the decoder's hook. Raises
    RepeatedKey if a key occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = next(name for name, count in counts.items() if count > 1)
        raise RepeatedKey(f"an object has the key {name[:MOST_SHOWN]!r} more than once")
    return members


def repeated_key(raw: bytes) -> str | None:
    """Return the error for a repeated key in this JSON, or None."""
    try:
        json.loads(raw, object_pairs_hook=unique_members)
    except RepeatedKey as error:
        return str(error)
    except (ValueError, RecursionError):  # whatever else is wrong is told where it is read
        return None
    return None


def check_object_size(body: Any) -> None:
    """Raise BadInput if an object has very many members, because each unknown one would be
    reported."""
    left = [body]
    while left:
        here = left.pop()
        if isinstance(here, dict):
            if len(here) > MOST_MEMBERS:
                raise BadInput(
                    f"an object has {len(here):,} members; at most {MOST_MEMBERS:,} are allowed",
                    pointer="",
                )
            left += [value for value in here.values() if isinstance(value, dict | list)]
        elif isinstance(here, list):
            left += [value for value in here if isinstance(value, dict | list)]


def normalize_numbers(value: Any) -> Any:
    """Return the same JSON with every whole number written as an integer."""
    if isinstance(value, dict):
        return {name: normalize_numbers(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [normalize_numbers(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
