"""A batch of 50,000 lines: every page of it stays light, whatever is filtered and sorted, and
whatever its lines say."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

import httpx
from sqlalchemy import Engine, text

from bench.pages import (
    BATCH,
    COMPARE,
    LEFT,
    LINES,
    MADE,
    PAGES,
    PATH,
    comparison,
    fill,
    fill_comparison,
)
from services.gateway.pages.templates import STATIC
from tests.gateway.results import a_report

MOST_BYTES = 300_000  # a page with all that it loads
MOST_HTML = 150_000
LOADED = ("site.css", "batch.css", "live.js", "swap.js", "reveal.js", "keys.js", "icon.svg")
KEYS = [f"said of it {number}" for number in range(8)]
LONG = text(  # as long as may be; texts in letters of three bytes
    "UPDATE result_facts SET custom_id = repeat('c', 250) || line, snippet = repeat('文章', 80), "
    "sentence = repeat('A reason. ', 15) || line % 60, model = repeat('m', 120) || line % 60, "
    "label_sent = repeat('l', 118) || line % 60, label_stated = repeat('l', 118) || line % 60, "
    "reasons = ARRAY['undefined', 'random'], metadata = (SELECT jsonb_object_agg(key, CASE "
    "WHEN place = 1 THEN repeat('v', 60) || line % 40 ELSE repeat('v', 500) || line END) "
    "FROM unnest(CAST(:keys AS text[])) WITH ORDINALITY AS one (key, place))"
)
LONG_TEXTS = text(
    "UPDATE jobs SET request = json_build_object('explanation', repeat('The reader is greeted. ', "
    "400) || batch_id || repeat(' It is friendly.', 400)) WHERE batch_id IS NOT NULL"
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


def test_pages_are_light_whatever_lines_and_texts_say(client: httpx.Client, engine: Engine) -> None:
    fill_comparison(engine, 300)
    with engine.begin() as connection:
        connection.execute(LONG, {"keys": KEYS})
        connection.execute(LONG_TEXTS)
    client.get(COMPARE).raise_for_status()
    with engine.begin() as connection:
        connection.execute(text(MADE), {"result": json.dumps(comparison(300))})
    columns = urlencode([("col", key) for key in KEYS[:5]])
    base = f"/batches/{LEFT}"
    pages = {
        "lines": base,
        "columns": f"{base}?{columns}",
        "filtered": f"{base}?col={KEYS[0]}&verdict=undecided&text=文章&score_from=0",
        "split": f"{base}?{urlencode({'split': f'metadata.{KEYS[0]}'})}",
        "compared": COMPARE,
        "pairs": f"{COMPARE}&change_from=-1",
        "start": "/",
    }
    weights = {
        name: len(client.get(path).raise_for_status().content) for name, path in pages.items()
    }
    assert max(weights.values()) < MOST_HTML, weights
