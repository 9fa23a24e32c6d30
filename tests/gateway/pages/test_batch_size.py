"""A batch of 50,000 lines: every page of it stays light, whatever is filtered and sorted, and its
lines are exported at once and little by little. What each took stands in the run's summary."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from collections.abc import Callable
from itertools import islice

import httpx
from sqlalchemy import Engine

from bench.pages import BATCH, LINES, PAGES, PATH, fill
from services.gateway.pages.batch_downloads import LINES_AT_ONCE, file_chunks
from services.gateway.pages.result_query import parse_query
from services.gateway.pages.templates import STATIC
from shared.ledger import batches
from tests.gateway.results import a_report

MOST_BYTES = 300_000  # a page with all that it loads
MOST_HTML = 150_000
EXPORT_MS = 500  # until its first bytes
EXPORT_BYTES = 50_000_000  # of memory
PIECES = 20  # of an export: all are alike
LOADED = (
    "site.css",
    "batch.css",
    "live.js",
    "reveal.js",
    "keys.js",
    "icon.svg",
    "htmx.js",
    "vendor/htmx.min.js",
)
Record = Callable[[str, object], None]


def test_a_large_batch_is_light_and_soon_exported(
    client: httpx.Client, engine: Engine, record_property: Record
) -> None:
    fill(engine, LINES, a_report())
    loaded = sum((STATIC / name).stat().st_size for name in LOADED)
    for name, (path, budget) in PAGES.items():
        if not path.startswith(PATH):  # of two batches, of a queue
            continue
        begun = time.perf_counter()
        answer = client.get(path)
        took = 1_000 * (time.perf_counter() - begun)
        record_property("budget", f"{name}: {took:.0f} of {budget} ms")
        assert answer.status_code == 200, (name, answer.text)
        assert len(answer.content) < MOST_HTML, name
        assert len(answer.content) + loaded < MOST_BYTES, name
        assert " style=" not in answer.text
    first = client.get(PATH).text
    assert "We checked 33,333 of 50,000 explanations: 16,666 hold up and 16,667 have" in first
    assert "50\u202f000 of 50\u202f000 lines" in first
    file = client.get(f"/batches/{BATCH}/results.csv", params={"text": "number 4999"})
    chosen = list(csv.DictReader(io.StringIO(file.text, newline="")))
    assert [row["line"] for row in chosen] == ["4999", *map(str, range(49_990, 50_000))]
    record_property("budget", f"export: {begins(client):.0f} of {EXPORT_MS} ms")
    held = holds(engine)
    record_property("budget", f"export: {held / 1e6:.1f} of {EXPORT_BYTES / 1e6:.0f} MB")
    assert held < EXPORT_BYTES


def begins(client: httpx.Client) -> float:
    """Milliseconds until an export of all lines has sent its first ones."""
    begun = time.perf_counter()
    with client.stream("GET", f"/batches/{BATCH}/results.csv") as answer:
        next(answer.iter_bytes())
        return 1_000 * (time.perf_counter() - begun)


def holds(engine: Engine) -> int:
    """Bytes of memory, at most, while pieces of an export are made and given away."""
    with engine.connect() as connection:
        batch = batches.find(connection, BATCH)
    pieces = file_chunks(engine, batch, parse_query(batch, batch.tenant, ()), "csv")
    tracemalloc.start()
    lines = sum(piece.count(b"\n") for piece in islice(pieces, PIECES))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == 1 + (PIECES - 1) * LINES_AT_ONCE
    return held
