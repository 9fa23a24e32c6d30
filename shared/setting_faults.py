"""What is wrong with settings, a line each, and never a secret's value."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr, ValidationError, ValidationInfo

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


SCHEMES = {
    "REDIS_URL": ("redis", "rediss", "unix"),
    "DATABASE_URL": ("postgresql", "postgres"),
}


def nearest(name: str, known: Collection[str]) -> str | None:
    """The setting that this name is like; `TOUCHSTONE_REDIS_URL` means `REDIS_URL`."""
    bare = name.upper().removeprefix(PREFIX)
    return bare if bare in known else next(iter(get_close_matches(name, known, 1)), None)


def require_address(url: SecretStr, info: ValidationInfo) -> SecretStr:
    """The address of a store. Raises ValueError, which repeats nothing of it."""
    if (fault := _wrong_address(str(info.field_name).upper(), url.get_secret_value())) is not None:
        raise ValueError(fault)
    return url


def _wrong_address(variable: str, url: str) -> str | None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises ValueError)
    except ValueError:
        return "must be an address with a port up to 65535"
    if parts.scheme.partition("+")[0] in SCHEMES[variable] and "://" in url:
        return None
    known = [f"{scheme}://" for scheme in SCHEMES[variable]]
    return f"must begin with {', '.join(known[:-1])} or {known[-1]}"


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
