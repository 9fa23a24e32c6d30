"""API keys. A key is shown once, and only its SHA-256 hash is stored. A slower hash is unnecessary,
because a key has 256 random bits."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Integer,
    String,
    Table,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from shared.ledger.tables import Instant, metadata

Scope = Literal["score", "batch", "review", "admin"]

PREFIX = "tsk_"
SHOWN_CHARACTERS = 10  # of a key, to recognise it
FORM = re.compile(r"tsk_[A-Za-z0-9_-]{43}")
MOST_REVIEWER = 80  # characters of a name
TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("name", String, nullable=False),
    Column("sha256", String, nullable=False, unique=True),
    Column("beginning", String, nullable=False),
    Column("scopes", ARRAY(String), nullable=False),
    Column("requests_per_minute", Integer),
    Column("accept_untrained_languages", Boolean, nullable=False, server_default=false()),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("reviewer", String),  # who judges with it; null: the request says
)


@dataclass(frozen=True)
class Key:
    """An API key without its secret. If `requests_per_minute` is None, the setting's value applies.
    `accept_untrained_languages` is the default for requests with this key. `reviewer` is the author
    of judgements made with it; if None, the request names the author."""

    id: str
    tenant: str
    name: str
    beginning: str
    scopes: list[Scope]
    requests_per_minute: int | None
    accept_untrained_languages: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    reviewer: str | None = None


SHOWN = tuple(api_keys.c[name] for name in Key.__dataclass_fields__)


@dataclass(frozen=True)
class NewKey:
    """The values of a new API key. If `lasts` is None, the key is valid until revoked.
    `reviewer` is the name under which judgements made with this key are recorded."""

    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None = None
    accept_untrained_languages: bool = False
    lasts: timedelta | None = None
    reviewer: str | None = None


def hash_key(presented: str) -> str:
    """Return the hash of a key's secret, 64 hex digits. Nothing else of the secret is stored."""
    return hashlib.sha256(presented.encode()).hexdigest()


def make(connection: Connection, new: NewKey) -> tuple[Key, str]:
    """Create a key; return it and its secret, which cannot be shown again."""
    secret = PREFIX + secrets.token_urlsafe(32)
    values: dict[str, Any] = {
        "id": f"key_{secrets.token_hex(8)}",
        "tenant": new.tenant,
        "name": new.name,
        "sha256": hash_key(secret),
        "beginning": secret[:SHOWN_CHARACTERS],
        "scopes": list(new.scopes),
        "requests_per_minute": new.requests_per_minute,
        "accept_untrained_languages": new.accept_untrained_languages,
        "reviewer": new.reviewer,
    }
    if new.lasts is not None:
        values["expires_at"] = func.now() + new.lasts
    row = connection.execute(insert(api_keys).values(**values).returning(*SHOWN)).one()
    return Key(**row._asdict()), secret


def authenticate(connection: Connection, secret: str) -> Key | None:
    """Return the valid key with this secret, or None if it is unknown, expired or revoked."""
    return _valid(connection, api_keys.c.sha256 == hash_key(secret))


def valid(connection: Connection, key_id: str) -> Key | None:
    return _valid(connection, api_keys.c.id == key_id)


def _valid(connection: Connection, which: ColumnElement[bool]) -> Key | None:
    row = connection.execute(
        select(*SHOWN).where(
            which,
            api_keys.c.revoked_at.is_(None),
            or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > func.now()),
        )
    ).one_or_none()
    return None if row is None else Key(**row._asdict())


def all_of(connection: Connection, tenant: str | None = None) -> list[Key]:
    """Return all keys, or a tenant's keys, oldest first and including revoked ones."""
    query = select(*SHOWN).order_by(api_keys.c.created_at, api_keys.c.id)
    if tenant is not None:
        query = query.where(api_keys.c.tenant == tenant)
    return [Key(**row._asdict()) for row in connection.execute(query)]


def revoke(connection: Connection, key_id: str) -> Key | None:
    """Revoke this key. A second call changes nothing. Return None if there is no such key."""
    connection.execute(
        update(api_keys)
        .where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    row = connection.execute(select(*SHOWN).where(api_keys.c.id == key_id)).one_or_none()
    return None if row is None else Key(**row._asdict())


def has_any(connection: Connection) -> bool:
    """Return True if a key was ever created. Revoking the last key does not open the service to
    everybody."""
    return bool(connection.execute(select(exists(select(api_keys.c.id)))).scalar())
