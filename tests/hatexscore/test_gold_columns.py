"""A batch with gold columns: what the metric decided, quoted and scored beside what people say."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import httpx
import numpy as np
import pytest
from sqlalchemy import Engine

from services import worker
from shared.process.settings import Settings
from tests.batches import Json, WorkedScene
from tests.gateway.serving import serving
from tests.patience import SECONDS

URL = "/v1/scores/hatexscore"
QUOTED = "are ruining our town"
HOW = {
    "options": {"control_draws": 2},
    "probabilities": {"original": 0.9, "masked": 0.4},
}


@pytest.fixture
def scene(chosen: Settings, engine: Engine) -> Iterator[WorkedScene]:
    worker.register_all(["hatexscore"])
    placed = chosen.model_copy(update={"authentication": "none"})
    with serving(placed) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        yield WorkedScene(client, engine, placed)


def line(number: int, gold: str, decided: str, rating: int) -> Json:
    """An explanation that quotes, or names nothing of the text; people mark the quoted words."""
    text = f"Those immigrants {QUOTED}, says number {number}"
    start = text.index(QUOTED)
    quotes = f'It says "{QUOTED}", blaming immigrants. It is {decided}.'
    body = {
        "text": text,
        "explanation": quotes if rating else f"Who knows? It is {decided}.",
        "decision": decided,
        "metadata": {
            "gold": gold,
            "gold_rationale": f"[[{start}, {start + len(QUOTED)}]]",
            "rating": str(rating),
        },
        **HOW,
    }
    return {"custom_id": str(number), "method": "POST", "url": URL, "body": body}


def test_a_batch_with_gold_columns_says_how_far_people_agree(scene: WorkedScene) -> None:
    random = np.random.default_rng(1)
    golds = random.choice(["hateful", "non-hateful"], 60).tolist()
    right = random.random(60) < 0.8
    others = {"hateful": "non-hateful", "non-hateful": "hateful"}
    decided = [gold if own else others[gold] for gold, own in zip(golds, right, strict=True)]
    lines = [
        line(number, gold, own, number % 2)
        for number, (gold, own) in enumerate(zip(golds, decided, strict=True))
    ]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    address = f"/v1/batches/{batch['id']}/report"
    assert scene.client.post(address).status_code == 202
    worker.register_all(["hatexscore"])
    scene.work()
    gold = scene.client.get(address).json()["gold"]
    assert gold["labels"]["accuracy"]["value"] == pytest.approx(right.mean())
    assert gold["labels"]["accuracy"]["of"] == 60
    assert gold["labels"]["macro_f1"]["low"] < gold["labels"]["macro_f1"]["value"]
    page = scene.client.get(f"/batches/{batch['id']}/statistics").text
    assert "Decisions compared with gold labels" in page
    rationales = gold["rationales"]
    assert (rationales["results"], rationales["without_spans"]) == (60, 30)
    assert rationales["character_f1"]["value"] == pytest.approx(0.5)
    assert rationales["above_chance"]["low"] > 0
    threshold = gold["ratings"]["threshold"]
    assert threshold["reason"] is None
    assert threshold["agreed"]["value"] == 1  # who quotes scores higher, and is accepted
    page = scene.client.get(f"/batches/{batch['id']}/statistics").text
    for told in ("gold › labels", "gold › rationales", "gold › ratings", "macro f1"):
        assert told in page
    items = scene.client.get(
        f"/v1/batches/{batch['id']}/report", headers={"Accept": "text/csv"}
    ).text
    rows = list(csv.DictReader(io.StringIO(items)))
    assert [row["gold"] for row in rows] == golds
    assert [row["rating"] for row in rows] == [str(number % 2) for number in range(60)]
    assert rows[0]["gold_rationale"].startswith("[[")
    again = scene.client.post(
        "/v1/reports",
        json={"metric": "hatexscore", "batch": batch["id"], "gold": {"label": "none"}},
    )
    scene.work()
    other = scene.client.get(f"/v1/jobs/{again.json()['id']}").json()["result"]["gold"]
    assert (other["labels"], other["ratings"]) == (None, gold["ratings"])
