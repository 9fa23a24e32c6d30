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
from shared.errors import ScoringError
from shared.ledger import batches, files
from shared.ledger.batches import Batch, NewBatch
from shared.ledger.files import NewFile
from shared.ledger.jobs import Owner, check_file_limit
from shared.service_contract import MetricContract

Line = tuple[str, dict[str, Any]]  # custom id, body


@dataclass(frozen=True)
class BatchInput:
    """What a new batch is made of. lines: read once, in a thread."""

    contract: MetricContract
    lines: Iterable[Line]
    filename: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    accept_untrained_languages: bool = False


async def make_batch(made: BatchInput, gateway: State, owner: Owner) -> Batch:
    """Write the input file, then the batch; where one fails, neither is there.

    Raises whatever the lines raise, QuotaExceeded, FileStoreAway.
    """
    file_id = files.new_id()
    size = await run_in_threadpool(_write_lines, made, gateway, file_id)
    kept_for = files.max_age(None, gateway.settings.file_retention_hours)
    new_file = NewFile(file_id, "batch", made.filename, size, kept_for, owner.tenant)
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

    def write(connection: Connection) -> Batch:
        check_file_limit(connection, owner, size)
        files.insert_file(connection, new_file)
        batch, _ = batches.make(connection, new, key=None, owner=owner)
        return batch

    try:
        return await gateway.in_ledger(write)
    except ScoringError:
        await run_in_threadpool(gateway.files.remove, file_id)
        raise


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
