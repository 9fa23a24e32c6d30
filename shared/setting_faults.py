"""What is wrong with settings, a line each, and never a secret's value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from shared.validation_messages import plain

PREFIX = "TOUCHSTONE_"


@dataclass(frozen=True)
class WrongFile:
    """Stands for a secret that its file does not give."""

    fault: str


def unprotected_stores(redis_url: str, database_url: str) -> list[str]:
    """Why these addresses are not fit for stores outside: no TLS, no password; without secrets."""
    redis, database = urlsplit(redis_url), parse_qs(urlsplit(database_url).query)
    faults = []
    if redis.scheme != "rediss" or not redis.password:
        faults.append("REDIS_URL must be rediss:// with a password")
    if not {"require", "verify-ca", "verify-full"} & set(database.get("sslmode", [])):
        faults.append("DATABASE_URL must end with ?sslmode=verify-full (or verify-ca, require)")
    return faults


NO_ENTRY = {  # what an entry of a list is not
    "ip_any_network": "is no network (as in 10.20.0.0/16)",
    "int_parsing": "is no whole number",
    "float_parsing": "is no number",
}


def wrong_settings(error: ValidationError) -> Iterator[str]:
    """A line for each wrong variable: its name and what is allowed; of its value no more than an
    entry of a list, which is no secret."""
    for one in error.errors(include_url=False):
        if not one["loc"]:  # of several together: it names them itself
            yield plain(one)
            continue
        name, *inside = map(str, one["loc"])
        variable = name if name.isupper() else f"{PREFIX}{name.upper()}"
        if isinstance(one["input"], WrongFile):
            yield f"{variable}_FILE: {one['input'].fault}"
        elif inside and one["type"] in NO_ENTRY:
            yield f"{variable}: {json.dumps(one['input'])} {NO_ENTRY[one['type']]}"
        else:
            place = f" (entry {'/'.join(inside)})" if inside else ""
            yield f"{variable}{place}: {plain(one)}".replace(": must ", " must ", 1)
