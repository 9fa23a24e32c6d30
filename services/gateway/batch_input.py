"""A batch of lines that this service writes itself: of an uploaded table, or of another batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

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
    """What a new batch is made of. lines: read once, in a thread. key: of the form that asks for
    it, so that a second press makes no second batch; None: each makes one."""

    contract: MetricContract
    lines: Iterable[Line]
    filename: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    accept_untrained_languages: bool = False
    key: str | None = None


async def make_batch(made: BatchInput, gateway: State, owner: Owner) -> Batch:
    """Write the input file, then the batch; where one fails, neither is there. Under a known key
    it is the batch that is there already.

    Raises whatever the lines raise, QuotaExceeded, FileStoreAway.
    """
    known = await _find_made(made, gateway, owner)
    if known is not None:
        return known
    file_id = files.new_id()
    size = await run_in_threadpool(_write_lines, made, gateway, file_id)
    try:
        return await gateway.in_ledger(
            lambda connection: _insert(connection, made, gateway, owner, (file_id, size))
        )
    except ScoringError as error:
        await run_in_threadpool(gateway.files.remove, file_id)
        known = await _find_made(made, gateway, owner) if isinstance(error, KeyReused) else None
        if known is None:
            raise
        return known  # the other press was quicker


def _insert(
    connection: Connection, made: BatchInput, gateway: State, owner: Owner, file: tuple[str, int]
) -> Batch:
    """file: its id, and bytes."""
    file_id, size = file
    check_file_limit(connection, owner, size)
    kept_for = files.max_age(None, gateway.settings.retention_hours)
    files.insert_file(
        connection, NewFile(file_id, "batch", made.filename, size, kept_for, owner.tenant)
    )
    new = NewBatch(
        metric=made.contract.name,
        endpoint=made.contract.path,
        input_file_id=file_id,
        metadata=dict(made.metadata),
        output_seconds=None,
        expires_after=timedelta(hours=gateway.settings.batch_hours),
        tenant=owner.tenant,
        accept_untrained_languages=made.accept_untrained_languages,
    )
    batch, _ = batches.make(connection, new, key=made.key, owner=owner)
    return batch


async def _find_made(made: BatchInput, gateway: State, owner: Owner) -> Batch | None:
    return await gateway.in_ledger(lambda one: batches.find_by_key(one, owner.tenant, made.key))


def _write_lines(made: BatchInput, gateway: State, file_id: str) -> int:
    size = 0
    with gateway.files.open_write(file_id) as stream:
        for custom_id, body in made.lines:
            line = {"custom_id": custom_id, "method": "POST", "url": made.contract.path}
            size += stream.write(json.dumps(line | {"body": body}).encode() + b"\n")
            if size > gateway.settings.max_file_bytes:
                raise BodyTooLarge(
                    f"as requests these lines are more than {gateway.settings.max_file_bytes:,} "
                    "bytes; score them in several batches"
                )
    return size
