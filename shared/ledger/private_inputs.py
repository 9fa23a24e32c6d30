"""Ended batches whose input file may have to go, since a line of it must not keep its text."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, and_, exists, or_, select, update

from shared.ledger.batch_tables import OPEN, batches, files


class EndedInput(NamedTuple):
    """A file that no open batch reads, as its ended batch knows it."""

    batch_id: str
    file_id: str
    keeps_text: bool  # of what was read
    read_bytes: int
    bytes: int


def ended(connection: Connection, limit: int) -> list[EndedInput]:
    """Files with a line that keeps no text, and those that nobody read to their end."""
    unread = and_(batches.c.in_progress_at.is_(None), batches.c.read_bytes < files.c.bytes)
    other = batches.alias()
    in_use = exists().where(other.c.input_file_id == files.c.id, other.c.status.in_(OPEN))
    rows = connection.execute(
        select(batches.c.id, files.c.id, batches.c.keeps_text, batches.c.read_bytes, files.c.bytes)
        .select_from(batches.join(files, files.c.id == batches.c.input_file_id))
        .where(batches.c.status.not_in(OPEN), or_(~batches.c.keeps_text, unread), ~in_use)
        .order_by(batches.c.id)
        .limit(limit)
    )
    return [EndedInput(*row) for row in rows]


def was_read(connection: Connection, one: EndedInput, *, keeps_text: bool) -> None:
    """The rest of the file was searched: nobody need do it again."""
    connection.execute(
        update(batches)
        .where(batches.c.id == one.batch_id)
        .values(keeps_text=keeps_text, read_bytes=one.bytes)
    )
