"""Inserts, finds, lists and deletes the database rows of files."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, exists, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.contracts.errors import UnknownFile
from shared.ledger.engine import Slice, fetch_page
from shared.ledger.tables import DEFAULT_TENANT, OPEN, batches, file_stores, files
from shared.ledger.tenants import kept_for

Purpose = Literal["batch", "batch_output"]


@dataclass(frozen=True)
class File:
    """A file as the API shows it; the file store holds its bytes."""

    id: str
    tenant: str
    purpose: Purpose
    filename: str
    bytes: int
    created_at: datetime
    expires_at: datetime | None
    sha256: str | None  # of an upload


SHOWN = tuple(files.c[name] for name in File.__dataclass_fields__)
ALIVE = or_(files.c.expires_at.is_(None), files.c.expires_at > func.now())


IN_USE = exists().where(batches.c.input_file_id == files.c.id, batches.c.status.in_(OPEN))


def new_id() -> str:
    """Return a new file id: `file_` and 32 hex digits. Ids sort by time."""
    return f"file_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def file_of(row: Row[Any]) -> File:
    return File(**row._asdict())


@dataclass(frozen=True)
class NewFile:
    """A file to record after its bytes are stored. `kept_hours` is how long to keep the file if the
    tenant has no retention period. `requested_seconds` is a shorter period chosen by the caller."""

    id: str
    purpose: Purpose
    filename: str
    bytes: int
    kept_hours: float
    tenant: str = DEFAULT_TENANT
    key: str | None = None  # of the upload form
    sha256: str | None = None  # of the upload
    requested_seconds: int | None = None


def insert_file(connection: Connection, new: NewFile) -> File:
    """Insert the row of this file. A second call returns the same file."""
    term = kept_for(literal(new.tenant), timedelta(hours=new.kept_hours))
    if new.requested_seconds is not None:
        term = func.least(term, timedelta(seconds=new.requested_seconds))
    values = {
        "id": new.id,
        "tenant": new.tenant,
        "purpose": new.purpose,
        "filename": new.filename,
        "bytes": new.bytes,
        "expires_at": func.now() + term,
        "key": new.key,
        "sha256": new.sha256,
    }
    row = connection.execute(
        insert(files)
        .values(values)
        .on_conflict_do_update(index_elements=["id"], set_={"bytes": new.bytes})
        .returning(*SHOWN)
    ).one()
    return file_of(row)


def find_by_key(connection: Connection, tenant: str, key: str | None) -> File | None:
    """Return the file that the tenant uploaded with this idempotency key, or None. The key is
    locked until the transaction ends. The key of an expired file can be used again."""
    if key is None:
        return None
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"{tenant} {key}", 0))
    connection.execute(select(turn))
    has_key = files.c.tenant == tenant, files.c.key == key
    row = connection.execute(select(*SHOWN).where(*has_key, ALIVE)).one_or_none()
    if row is None:
        connection.execute(update(files).where(*has_key).values(key=None))
    return None if row is None else file_of(row)


def find(connection: Connection, file_id: str, *, tenant: str | None = None) -> File:
    """Return the file with this id. Raises UnknownFile, also if it is not this tenant's."""
    query = select(*SHOWN).where(files.c.id == file_id, ALIVE)
    if tenant is not None:
        query = query.where(files.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownFile(f"there is no file {file_id!r}")
    return file_of(row)


def names_of(connection: Connection, ids: Sequence[str], tenant: str) -> dict[str, str]:
    """Map each file id to the name that the file had when it was uploaded. Deleted files are left
    out."""
    of_tenant = select(files.c.id, files.c.filename).where(files.c.tenant == tenant, ALIVE)
    rows = connection.execute(of_tenant.where(files.c.id.in_(ids)))
    return {file_id: name for file_id, name in rows}


def page_of(
    connection: Connection, page: Slice, *, purpose: Purpose | None = None
) -> tuple[list[File], bool]:
    """Return the files of a page, and True if more follow."""
    query = select(*SHOWN).where(ALIVE)
    if purpose is not None:
        query = query.where(files.c.purpose == purpose)
    rows, more = fetch_page(connection, query, files, page)
    return [file_of(row) for row in rows], more


def acquire_file(connection: Connection, file_id: str, *, tenant: str | None = None) -> File:
    """Return the file and protect it from deletion until the transaction ends. Raises
    UnknownFile."""
    query = select(*SHOWN).where(files.c.id == file_id, ALIVE)
    if tenant is not None:
        query = query.where(files.c.tenant == tenant)
    row = connection.execute(query.with_for_update(read=True)).one_or_none()
    if row is None:
        raise UnknownFile(f"there is no file {file_id!r}")
    return file_of(row)


def delete_unused(connection: Connection, file_ids: Sequence[str]) -> list[str]:
    """Delete the rows of those files that no open batch reads; return their ids. The caller removes
    the bytes after the commit."""
    locked = select(files.c.id).where(files.c.id.in_(file_ids)).with_for_update()
    held = [row.id for row in connection.execute(locked)]
    gone = connection.execute(
        delete(files).where(files.c.id.in_(held), ~IN_USE).returning(files.c.id)
    )
    return [row.id for row in gone]


def expired(connection: Connection, limit: int) -> list[str]:
    """Return the ids of expired files that no open batch reads."""
    rows = connection.execute(
        select(files.c.id).where(files.c.expires_at <= func.now(), ~IN_USE).limit(limit)
    )
    return [row.id for row in rows]


def is_new_store(connection: Connection, folder: str) -> bool:
    """Record that this folder holds files. Return True if it was not recorded before."""
    row = insert(file_stores).values(folder=folder).on_conflict_do_nothing()
    return connection.execute(row.returning(file_stores.c.folder)).one_or_none() is not None


def sizes_of(connection: Connection, file_ids: Sequence[str]) -> dict[str, int]:
    """Map each file id to the file's size in bytes. Deleted files are left out."""
    rows = connection.execute(select(files.c.id, files.c.bytes).where(files.c.id.in_(file_ids)))
    return {file_id: size for file_id, size in rows}
