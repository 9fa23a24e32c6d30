"""Pages stay light whatever lines, metadata and explanations say."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import httpx
from sqlalchemy import Engine, text

from bench.pages import COMPARE, LEFT, MADE, comparison, fill_comparison
from services.gateway.pages.row_excerpts import excerpt, offered
from tests.gateway.pages.test_pages import created

MOST_HTML = 150_000
MOST_SENT = 40_000  # compressed
KEYS = [f"said of it {number}" for number in range(8)]
LONG = text(  # as long as may be; texts in letters of three bytes
    "UPDATE result_facts SET custom_id = repeat('c', 250) || line, snippet = repeat('文章', 80), "
    "sentence = repeat('A reason. ', 15) || line % 60, model = repeat('m', 120) || line % 60, "
    "decision_sent = repeat('l', 118) || line % 60, "
    "decision_stated = repeat('l', 118) || line % 60, "
    "reasons = ARRAY['undefined', 'random'], metadata = (SELECT jsonb_object_agg(key, CASE "
    "WHEN place = 1 THEN repeat('v', 60) || line % 40 ELSE repeat('v', 500) || line END) "
    "FROM unnest(CAST(:keys AS text[])) WITH ORDINALITY AS one (key, place))"
)
LONG_TEXTS = text(
    "UPDATE jobs SET request = json_build_object('explanation', repeat('The reader is greeted. ', "
    "400) || batch_id || repeat(' It is friendly.', 400)) WHERE batch_id IS NOT NULL"
)


def test_pages_are_light_whatever_lines_and_texts_say(client: httpx.Client, engine: Engine) -> None:
    fill_comparison(engine, 300)
    with engine.begin() as connection:
        connection.execute(LONG, {"keys": KEYS})
        connection.execute(LONG_TEXTS)
    created(client, COMPARE).raise_for_status()
    with engine.begin() as connection:
        connection.execute(text(MADE), {"result": json.dumps(comparison(300))})
    columns = urlencode([("col", key) for key in KEYS[:5]])
    base = f"/batches/{LEFT}"
    pages = {
        "lines": base,
        "columns": f"{base}?{columns}",
        "filtered": f"{base}?col={KEYS[0]}&verdict=not_tested&text=文章&score_from=0",
        "statistics": f"{base}/statistics",
        "split": f"{base}/statistics?{urlencode({'split': f'metadata.{KEYS[0]}'})}",
        "compared": COMPARE,
        "pairs": f"{COMPARE}&change_from=-1",
        "start": "/",
    }
    weights, sent = {}, {}
    for name, path in pages.items():
        answer = client.get(path, headers={"Accept-Encoding": "gzip"}).raise_for_status()
        assert answer.headers["content-encoding"] == "gzip"
        weights[name], sent[name] = len(answer.content), answer.num_bytes_downloaded
    assert max(weights.values()) < MOST_HTML, weights
    assert max(sent.values()) < MOST_SENT, sent


def test_an_excerpt_shows_what_was_sought() -> None:
    said = "word " * 40 + "Sought, and more of it" + " word" * 40
    assert excerpt("short", 100) == "short"
    assert excerpt(said, 100) == f"{said[:100]}…"
    found = excerpt(said, 100, "sought")
    assert "Sought, and more" in found
    assert found[0] == found[-1] == "…"
    assert len(excerpt("文章" * 80, 100)) == 51  # letters of two columns
    assert excerpt(said, 100, "nowhere") == f"{said[:100]}…"


def test_a_filter_offers_what_there_is_room_for_and_what_was_chosen() -> None:
    values = {f"{number} {'x' * 300}": 9 for number in range(9)}
    assert list(offered(values)) == list(values)[:4]
    chosen = list(values)[8]
    assert list(offered(values, chosen)) == [*list(values)[:4], chosen]
