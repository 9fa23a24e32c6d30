"""A selection of a batch's lines as CSV or JSON Lines, with all that the table says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Engine

from services.gateway.batch_csv import csv_field, encode_rows
from services.gateway.pages.result_query import ResultQuery
from shared.ledger import result_exports, result_pages
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction
from shared.ledger.result_exports import ExportedRow

LINES_AT_ONCE = 200
COLUMNS = (
    "line", "custom_id", "job_id", "status", "verdict", "sentence", "score", "chance",
)  # fmt: skip
MORE = ("label_sent", "label_stated", "language", "model", "warnings")


def file_chunks(engine: Engine, batch: Batch, view: ResultQuery, ending: str) -> Iterator[bytes]:
    """The file, some lines at a time, in the order of the input; no transaction stays open between
    them. ending: `csv` or `jsonl`."""
    with transaction(engine) as connection:
        keys = result_pages.metadata_keys(connection, view.filter)
    if ending == "csv":
        metadata = [f"metadata.{key}" for key in keys]
        yield encode_rows([[*COLUMNS, *view.filter.parts, *MORE, "reasons", *metadata, "error"]])
    last = 0
    while True:
        with transaction(engine) as connection:
            some = result_exports.exported(connection, view.filter, last, LINES_AT_ONCE)
        if not some:
            return
        last = some[-1].row.line
        yield (
            encode_rows(_csv_row(one, keys) for one in some)
            if ending == "csv"
            else _jsonl(some, batch)
        )


def _csv_row(one: ExportedRow, keys: Iterable[str]) -> list[str]:
    row = one.row
    error = str((one.error or {}).get("detail", "")) or None
    return [
        *(csv_field(getattr(row, name)) for name in COLUMNS),
        *(csv_field(part) for part in row.parts),
        *(csv_field(getattr(row, name)) for name in MORE),
        csv_field(" ".join(row.reasons)),
        *(csv_field(row.metadata.get(key)) for key in keys),
        csv_field(error),
    ]


def _jsonl(some: Iterable[ExportedRow], batch: Batch) -> bytes:
    return "".join(f"{json.dumps(_to_dict(one, batch))}\n" for one in some).encode()


def _to_dict(one: ExportedRow, batch: Batch) -> dict[str, Any]:
    row = one.row
    return {
        "batch_id": batch.id,
        **{name: getattr(row, name) for name in (*COLUMNS, *MORE)},
        "reasons": row.reasons,
        "metadata": row.metadata,
        "result": one.result,
        "error": one.error,
    }
