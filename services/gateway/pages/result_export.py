"""A selection of a batch's lines as CSV or JSON Lines, with all that the table says of them.

The columns of `items.csv` have the same names and places here; what only the table knows follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from services.gateway.batch_csv import (
    FIRST,
    LAST,
    cells_of,
    csv_field,
    encode_rows,
    number_columns,
    warning_cells,
    why_none,
)
from services.gateway.pages.result_query import ResultQuery
from services.gateway.results import result_exports, result_pages
from services.gateway.results.result_exports import ExportedRow
from services.registry import contracts
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction

LINES_AT_ONCE = 200
OF_TABLE = ("chance", "label_sent", "label_stated", "language", "model")
REASONS = "reasons"
NAMES = {"sentence": "reason"}  # of a row → as results call it
IN_FRONT = (*FIRST, "verdict", "sentence")  # of a row
TOLD = (*IN_FRONT, *OF_TABLE, "warnings")


@dataclass(frozen=True)
class ExportColumns:
    """numbers: paths into a result. keys: of metadata."""

    numbers: Sequence[tuple[str, ...]]
    keys: Sequence[str]

    @property
    def header(self) -> list[str]:
        return [
            *(NAMES.get(name, name) for name in IN_FRONT),
            *(".".join(path) for path in self.numbers),
            *LAST,
            *OF_TABLE,
            REASONS,
            *(f"metadata.{key}" for key in self.keys),
        ]

    def row(self, one: ExportedRow, batch: Batch) -> list[str]:
        row = one.row
        return [
            *(csv_field(getattr(row, name)) for name in IN_FRONT),
            *cells_of(one.result or {}, self.numbers),
            *warning_cells(one.result),
            csv_field(why_none(row.status, one.error, batch)),
            *(csv_field(getattr(row, name)) for name in OF_TABLE),
            csv_field(" ".join(row.reasons)),
            *(csv_field(row.metadata.get(key)) for key in self.keys),
        ]


def file_chunks(engine: Engine, batch: Batch, view: ResultQuery, ending: str) -> Iterator[bytes]:
    """The file, some lines at a time, in the order of the input; no transaction stays open between
    them. ending: `csv` or `jsonl`."""
    with transaction(engine) as connection:
        keys = result_pages.metadata_keys(connection, view.filter)
    columns = ExportColumns(number_columns(contracts().get(batch.metric)), list(keys))
    if ending == "csv":
        yield encode_rows([columns.header])
    last = 0
    while True:
        with transaction(engine) as connection:
            some = result_exports.exported(connection, view.filter, last, LINES_AT_ONCE)
        if not some:
            return
        last = some[-1].row.line
        yield (
            encode_rows(columns.row(one, batch) for one in some)
            if ending == "csv"
            else "".join(f"{json.dumps(_to_dict(one, batch))}\n" for one in some).encode()
        )


def _to_dict(one: ExportedRow, batch: Batch) -> dict[str, Any]:
    row = one.row
    return {
        "batch_id": batch.id,
        **{NAMES.get(name, name): getattr(row, name) for name in TOLD},
        "reasons": row.reasons,
        "metadata": row.metadata,
        "result": one.result,
        "error": one.error,
    }
