"""Batches made from an uploaded table or from another batch. The service writes their input file
itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from services.gateway.refusals import BodyTooLarge
from services.gateway.state import State
from shared.contracts.errors import ScoringError
from shared.contracts.service import MetricContract
from shared.ledger import batches, files
from shared.ledger.batches import Batch, NewBatch
from shared.ledger.files import NewFile
from shared.ledger.jobs import Owner, check_file_limit
from shared.ledger.request_keys import KeyReused

Line = tuple[str, dict[str, Any]]  # custom id, body


@dataclass(frozen=True)
class BatchInput:
    """The content of a new batch. `lines` is read once, in a thread. `key` prevents a second batch
    if the form is submitted twice. If it is None, each request creates a batch."""

    contract: MetricContract
    lines: Iterable[Line]
    filename: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    accept_untrained_languages: bool = False
    key: str | None = None


async def make_batch(new: BatchInput, gateway: State, owner: Owner) -> Batch:
    """Write the input file and create the batch, or do neither. If this form was submitted before,
    return its existing batch. Raises the exceptions of `lines`, QuotaExceeded, FileStoreAway,
    Unavailable."""
    gateway.check_served(new.contract)
    existing = await _find_made(new, gateway, owner)
    if existing is not None:
        return existing
    file_id = files.new_id()
    size = await gateway.file_store.call(_write_lines, new, gateway, file_id)
    try:
        return await gateway.in_ledger(
            lambda connection: _insert(connection, new, gateway, owner, (file_id, size))
        )
    except ScoringError as error:
        await gateway.file_store.remove(file_id)
        existing = await _find_made(new, gateway, owner) if isinstance(error, KeyReused) else None
        if existing is None:
            raise
        return existing  # the other press was quicker


def _insert(
    connection: Connection, source: BatchInput, gateway: State, owner: Owner, file: tuple[str, int]
) -> Batch:
    file_id, size = file
    check_file_limit(connection, owner, size)
    hours = gateway.settings.retention_hours
    files.insert_file(
        connection, NewFile(file_id, "batch", source.filename, size, hours, owner.tenant)
    )
    new = NewBatch(
        metric=source.contract.name,
        endpoint=source.contract.path,
        input_file_id=file_id,
        metadata=dict(source.metadata),
        output_seconds=None,
        expires_after=timedelta(hours=gateway.settings.batch_hours),
        tenant=owner.tenant,
        accept_untrained_languages=source.accept_untrained_languages,
    )
    batch, _ = batches.make(connection, new, key=source.key, owner=owner)
    return batch


async def _find_made(new: BatchInput, gateway: State, owner: Owner) -> Batch | None:
    return await gateway.in_ledger(
        lambda connection: batches.find_by_key(connection, owner.tenant, new.key)
    )


def _write_lines(new: BatchInput, gateway: State, file_id: str) -> int:
    size = 0
    with gateway.files.open_write(file_id) as stream:
        for custom_id, body in new.lines:
            line = {"custom_id": custom_id, "method": "POST", "url": new.contract.path}
            size += stream.write(json.dumps(line | {"body": body}).encode() + b"\n")
            if size > gateway.settings.max_file_bytes:
                raise BodyTooLarge(
                    "the requests made from these lines have more than "
                    f"{gateway.settings.max_file_bytes:,} bytes; split the lines into several "
                    "batches"
                )
    return size
