"""Sources of settings (environment variables and files of secrets), and their errors. A list is
written with commas, or as JSON. `<NAME>_FILE` may name a file with a secret, as compose and
Kubernetes provide. Each error is one line and never contains a secret."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args
from urllib.parse import parse_qs, urlsplit

from pydantic import BeforeValidator, SecretStr, ValidationError, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from shared.contracts.validation_messages import plain

PREFIX = "TOUCHSTONE_"


@dataclass(frozen=True)
class InvalidFile:
    """A placeholder for a secret whose file cannot be read."""

    fault: str


def unprotected_stores(redis_url: str, database_url: str, *queues: str) -> list[str]:
    """Return the reasons why these addresses are unfit for remote stores: no TLS, or no password.
    The reasons contain no secrets. `queues` holds further Redis servers, from
    `TOUCHSTONE_QUEUE_REDIS`."""
    database = parse_qs(urlsplit(database_url).query)
    faults = []
    if _is_unprotected(redis_url):
        faults.append("REDIS_URL must be rediss:// with a password")
    if any(map(_is_unprotected, queues)):
        faults.append(f"{QUEUES} must have rediss:// with a password for each service")
    if not {"require", "verify-ca", "verify-full"} & set(database.get("sslmode", [])):
        faults.append("DATABASE_URL must end with ?sslmode=verify-full (or verify-ca, require)")
    return faults


def _is_unprotected(redis_url: str) -> bool:
    parts = urlsplit(redis_url)
    return parts.scheme != "rediss" or not parts.password


QUEUES = f"{PREFIX}QUEUE_REDIS"
SCHEMES = {
    "REDIS_URL": ("redis", "rediss", "unix"),
    "DATABASE_URL": ("postgresql", "postgres"),
}


def nearest(name: str, names: Collection[str]) -> str | None:
    """Return the known setting whose name is most similar, or None."""
    bare = name.upper().removeprefix(PREFIX)
    return bare if bare in names else next(iter(get_close_matches(name, names, 1)), None)


def validate_url(url: SecretStr, info: ValidationInfo) -> SecretStr:
    """Check the URL of a database or other store. Raises ValueError with a message that does not
    quote the URL."""
    if (fault := _find_url_error(str(info.field_name).upper(), url.get_secret_value())) is not None:
        raise ValueError(fault)
    return url


def queue_urls(value: SecretStr | None) -> dict[str, str]:
    """Parse `SERVICE=URL` pairs separated by blanks; return addresses by service. Raises ValueError
    without quoting an address."""
    urls: dict[str, str] = {}
    listed = [] if value is None else value.get_secret_value().split()
    for number, pair in enumerate(listed, start=1):
        service, separator, url = pair.partition("=")
        if not separator or not service.isidentifier():
            raise ValueError(
                f"must be SERVICE=URL pairs separated by spaces; pair {number} is not of this form"
            )
        if service in urls:
            raise ValueError(f"must contain {service} only once")
        if (fault := _find_url_error("REDIS_URL", url)) is not None:
            raise ValueError(f"{service}: the address {fault}")
        urls[service] = url
    return urls


def validate_queue_urls(value: SecretStr | None) -> SecretStr | None:
    """Return the value unchanged if all its `SERVICE=URL` pairs are valid. Raises ValueError,
    without quoting an address."""
    queue_urls(value)
    return value


def _find_url_error(variable: str, url: str) -> str | None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises ValueError)
    except ValueError:
        return "must be an address with a port of at most 65535"
    if parts.scheme.partition("+")[0] in SCHEMES[variable] and "://" in url:
        return None
    prefixes = [f"{scheme}://" for scheme in SCHEMES[variable]]
    return f"must begin with {', '.join(prefixes[:-1])} or {prefixes[-1]}"


NO_ENTRY = {  # error types of list entries
    "ip_any_network": "is not a network (as in 10.20.0.0/16)",
    "float_parsing": "is not a number",
}


def format_errors(error: ValidationError) -> Iterator[str]:
    """Yield one line per invalid variable with its name and the allowed values. A list entry may be
    quoted, because it is no secret."""
    for fault in error.errors(include_url=False):
        if not fault["loc"]:  # the error names several variables
            yield plain(fault)
            continue
        name, *inside = map(str, fault["loc"])
        variable = name if name.isupper() else f"{PREFIX}{name.upper()}"
        if isinstance(fault["input"], InvalidFile):
            yield f"{variable}_FILE: {fault['input'].fault}"
        elif inside and fault["type"] in NO_ENTRY:
            yield f"{variable}: {json.dumps(fault['input'])} {NO_ENTRY[fault['type']]}"
        else:
            entry = f" (entry {'/'.join(inside)})" if inside else ""
            yield f"{variable}{entry}: {plain(fault)}".replace(": must ", " must ", 1)


T = TypeVar("T")


def entries(value: Any) -> Any:
    """Split the text of a list, separated by commas or as JSON, into its entries. Return other
    values unchanged. Raises ValueError if the text begins with `[` but is not valid JSON."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [entry.strip() for entry in value.split(",") if entry.strip()]
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("must be a list separated by commas, or a JSON list") from None


Listed = Annotated[tuple[T, ...], NoDecode, BeforeValidator(entries)]


class SecretFiles(PydanticBaseSettingsSource):
    """Reads `<NAME>_FILE` of every secret."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the file's text, stripped, or None if no file is named."""
        variable = variable_of(field_name, field)
        key = str(field.validation_alias or field_name)
        path = os.environ.get(f"{variable}_FILE")
        if not path or not is_secret(field):
            return None, key, False
        if os.environ.get(variable):
            return InvalidFile(f"{variable} is set as well; set only one of them"), key, False
        try:
            return Path(path).read_text().strip(), key, False
        except (OSError, UnicodeDecodeError) as error:
            return InvalidFile(f"{path} cannot be read: {reason_of(error)}"), key, False

    def __call__(self) -> dict[str, Any]:
        rows = (self.get_field_value(field, name) for name, field in fields_of(self.settings_cls))
        return {key: value for value, key, _ in rows if value is not None}


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or "it fails") if isinstance(error, OSError) else "it is not UTF-8"


def fields_of(settings_class: type[BaseSettings]) -> list[tuple[str, FieldInfo]]:
    return list(settings_class.model_fields.items())


def is_secret(field: FieldInfo) -> bool:
    """Return True if the value must not be shown."""
    return field.annotation is SecretStr or SecretStr in get_args(field.annotation)


def variable_of(name: str, field: FieldInfo) -> str:
    return str(field.validation_alias or f"{PREFIX}{name.upper()}")


class FromEnvironment(BaseSettings):
    """Base of settings that are read from environment variables and files of secrets."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", populate_by_name=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources with files of secrets before variables, so that setting both is
        detected as an error."""
        return init_settings, SecretFiles(settings_cls), env_settings


KEY_BYTES = 32  # of a Fernet key


def validate_keys(keys: SecretStr | None) -> SecretStr | None:
    """Check Fernet keys that are separated by commas. Return None for an empty variable, which
    compose sets. Raises ValueError if an entry is not a Fernet key."""
    if keys is None or not keys.get_secret_value().strip():
        return None
    for key in keys.get_secret_value().split(","):
        try:
            length = len(base64.urlsafe_b64decode(key.strip()))
        except ValueError:
            length = 0
        if length != KEY_BYTES:
            raise ValueError(
                f"must be keys of {KEY_BYTES} bytes each in url-safe base64, separated by commas"
            )
    return keys
