"""A batch of 50,000 lines: every page of it stays light, whatever is filtered and sorted."""

from __future__ import annotations

import csv
import io

import httpx
from sqlalchemy import Engine

from bench.pages import BATCH, LINES, PAGES, PATH, fill
from services.gateway.pages.templates import STATIC
from tests.gateway.results import a_report

MOST_BYTES = 300_000  # a page with all that it loads
MOST_HTML = 150_000
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


def test_every_page_of_a_large_batch_is_light(client: httpx.Client, engine: Engine) -> None:
    fill(engine, LINES, a_report())
    loaded = sum((STATIC / name).stat().st_size for name in LOADED)
    for name, (path, _) in PAGES.items():
        if not path.startswith(PATH):  # of two batches, of a queue
            continue
        answer = client.get(path)
        assert answer.status_code == 200, (name, answer.text)
        assert len(answer.content) < MOST_HTML, name
        assert len(answer.content) + loaded < MOST_BYTES, name
        assert " style=" not in answer.text
    first = client.get(PATH).text
    assert "Of 50,000 explanations 40,000 could be scored." in first
    assert "50\u202f000 of 50\u202f000 lines" in first
    file = client.get(f"/batches/{BATCH}/results.csv", params={"text": "number 4999"})
    chosen = list(csv.DictReader(io.StringIO(file.text, newline="")))
    assert [row["line"] for row in chosen] == ["4999", *map(str, range(49_990, 50_000))]
