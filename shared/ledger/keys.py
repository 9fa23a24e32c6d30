"""API keys: shown once, kept as SHA-256 only: 256 random bits need no slower hash."""

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
SHOWN_CHARACTERS = 10  # of a key, to tell it from others; the rest is never seen again
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
    Column("reviewer", String),  # who judges with it; null: whoever says so
)


@dataclass(frozen=True)
class Key:
    """A key without its secret. requests_per_minute: None: as many as the settings say.
    accept_untrained_languages: of its requests that do not state it. reviewer: whose judgements it
    gives; None: those of whoever its user says."""

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
    """What a new key is to be. lasts: None: until it is revoked. reviewer: who judges with it."""

    tenant: str
    name: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None = None
    accept_untrained_languages: bool = False
    lasts: timedelta | None = None
    reviewer: str | None = None


def hash_key(presented: str) -> str:
    """64 hex digits: the ledger keeps nothing else of a key."""
    return hashlib.sha256(presented.encode()).hexdigest()


def make(connection: Connection, wanted: NewKey) -> tuple[Key, str]:
    """A new key, and its secret: the only time that anybody sees it."""
    secret = PREFIX + secrets.token_urlsafe(32)
    values: dict[str, Any] = {
        "id": f"key_{secrets.token_hex(8)}",
        "tenant": wanted.tenant,
        "name": wanted.name,
        "sha256": hash_key(secret),
        "beginning": secret[:SHOWN_CHARACTERS],
        "scopes": list(wanted.scopes),
        "requests_per_minute": wanted.requests_per_minute,
        "accept_untrained_languages": wanted.accept_untrained_languages,
        "reviewer": wanted.reviewer,
    }
    if wanted.lasts is not None:
        values["expires_at"] = func.now() + wanted.lasts
    row = connection.execute(insert(api_keys).values(**values).returning(*SHOWN)).one()
    return Key(**row._asdict()), secret


def authenticate(connection: Connection, secret: str) -> Key | None:
    """The valid key that this secret belongs to; None where it is unknown, expired or revoked."""
    return _valid(connection, api_keys.c.sha256 == hash_key(secret))


def valid(connection: Connection, key_id: str) -> Key | None:
    """The key with this id, if it still opens something."""
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
    """Every key, or those of a tenant, oldest first; revoked ones too."""
    query = select(*SHOWN).order_by(api_keys.c.created_at, api_keys.c.id)
    if tenant is not None:
        query = query.where(api_keys.c.tenant == tenant)
    return [Key(**row._asdict()) for row in connection.execute(query)]


def revoke(connection: Connection, key_id: str) -> Key | None:
    """Let this key open nothing more; a second time changes nothing. None: there is no such key."""
    connection.execute(
        update(api_keys)
        .where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    row = connection.execute(select(*SHOWN).where(api_keys.c.id == key_id)).one_or_none()
    return None if row is None else Key(**row._asdict())


def has_any(connection: Connection) -> bool:
    """Whether a key was ever made: revoking the last one opens nothing."""
    return bool(connection.execute(select(exists(select(api_keys.c.id)))).scalar())
