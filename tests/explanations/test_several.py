"""`items` and `draws`: every one is a job as if it had come alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from sqlalchemy import Engine

from services.explanations.contract import CONTRACT, MOST_SEED, ExplanationsRequest
from services.explanations.explained_requests import as_checked
from shared.contracts.errors import BadInput
from shared.ledger import keys
from shared.ledger.keys import NewKey
from shared.process.settings import Settings
from tests.explanations.conftest import placed
from tests.explanations.scripted import HATEFUL, NAME, Answered
from tests.explanations.test_batch import TEXT, URL
from tests.explanations.test_explain import REFUSED
from tests.gateway.serving import serving
from tests.patience import SECONDS
from touchstone_client import Touchstone

DRAWN = {"generation": {"temperature": 0.7}}
ITEMS = [{"text": "First"}, {"text": "Second", "gold": "hateful", "metadata": {"market": "de"}}]


def ask(**more: Any) -> ExplanationsRequest:
    return ExplanationsRequest.model_validate({"model": NAME, **more})


def test_each_item_and_draw_is_the_request_that_would_ask_for_it_alone() -> None:
    asked = ask(items=ITEMS, draws=2, seed=5, metadata={"run": "1"}, score=["sor"], **DRAWN)
    alone = [
        ask(**item, seed=seed, score=["sor"], **DRAWN, metadata={"run": "1", **metadata})
        for item, metadata in (
            ({"text": "First"}, {}),
            ({"text": "Second", "gold": "hateful"}, {"market": "de"}),
        )
        for seed in (5, 6)
    ]
    found = list(asked.jobs())
    assert [one.model_dump() for one in found] == [one.model_dump() for one in alone]
    assert not any(one.is_several for one in found)


def test_draws_of_one_text_need_no_items_and_seeds_stay_in_their_range() -> None:
    found = list(ask(text=TEXT, draws=3, seed=MOST_SEED, **DRAWN).jobs())
    assert [(one.text, one.seed) for one in found] == [(TEXT, MOST_SEED), (TEXT, 0), (TEXT, 1)]


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"items": ITEMS, "text": "a"}, ("text",)),
        ({"items": [{"premise": "a"}]}, ("items", 0, "text")),
        ({"items": [{"text": "a"}, {"text": ""}]}, ("items", 1, "text")),
        ({"items": []}, ("items",)),
        ({"items": [{"text": "a"}] * 33}, ("items",)),
        ({"items": ITEMS, "draws": 17, **DRAWN}, ("draws",)),
        ({"text": "a", "draws": 2}, ("draws",)),
        ({"items": ITEMS, "score": ["nothing"]}, ("score", "nothing")),
        ({"items": [{"text": "a", "answer": {"text": "b"}}], "draws": 2, **DRAWN}, ("draws",)),
        ({"items": [ITEMS[0], {"text": "a", "answer": {"text": "b"}}]}, ("items", 1)),
        ({"items": [{"text": "a", "gold": "x", "metadata": {"gold": "y"}}]}, ("items", 0, "gold")),
    ],
)
def test_faults_are_placed_in_the_request_for_all(
    more: dict[str, Any], place: tuple[int | str, ...]
) -> None:
    with pytest.raises(ValidationError) as refused:
        ask(**more)
    assert place in [one["loc"] for one in refused.value.errors()]


def test_what_is_one_job_takes_neither() -> None:
    with pytest.raises(BadInput, match="one job"), as_checked(CONTRACT, ask(items=ITEMS)):
        pass


def test_a_post_is_a_list_of_jobs_and_a_line_of_a_batch_is_one(scene: Answered) -> None:
    body = {"model": NAME, "items": [{"text": TEXT}, {"text": "Something else"}], "draws": 2}
    body |= {**DRAWN, "score": ["hatexscore"], "seed": 3}
    answer = scene.client.post(URL, json=body, headers={"Idempotency-Key": "several"})
    assert answer.status_code == 202, answer.text
    again = scene.client.post(URL, json=body, headers={"Idempotency-Key": "several"})
    ids = [one["id"] for one in answer.json()["data"]]
    assert [one["id"] for one in again.json()["data"]] == ids
    assert len({*ids}) == 4
    scene.work()
    jobs = [scene.client.get(f"/v1/jobs/{one}").json() for one in ids]
    assert [one["status"] for one in jobs] == ["succeeded"] * 4
    assert [one["result"]["provenance"]["seed"] for one in jobs] == [3, 4, 3, 4]
    assert jobs[0]["result"]["elicitation"]["answer"] == HATEFUL
    line = {"custom_id": "1", "method": "POST", "url": URL, "body": body}
    batch = scene.read(scene.make([line], endpoint=URL))
    assert batch["status"] == "failed"
    assert "one job" in batch["errors"]["data"][0]["message"]


def test_each_counts_as_a_job_in_quotas(chosen: Settings, engine: Engine, tmp_path: Path) -> None:
    limited = placed(chosen, tmp_path, authentication="keys", open_jobs=3)
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("acme", "test", ("score",)))
    headers = {"Authorization": f"Bearer {secret}"}
    with (
        serving(limited) as url,
        httpx.Client(base_url=url, timeout=SECONDS, headers=headers) as client,
    ):
        answers = [
            client.post(URL, json={"model": NAME, "items": [{"text": "a"}] * count})
            for count in (4, 3, 1)
        ]
    assert [answer.status_code for answer in answers] == [429, 202, 429]


def test_the_client_has_them_item_by_item(scene: Answered) -> None:
    items: Any = [{"text": TEXT, "answer": {"text": answer}} for answer in (HATEFUL, REFUSED)]
    with ThreadPoolExecutor(1) as pool, Touchstone(str(scene.client.base_url)) as ts:
        asked = pool.submit(ts.explain_many, items=items, wait=SECONDS)
        while not asked.done():
            scene.work()
        found = asked.result()
    assert [one.elicitation.outcome for one in found] == ["answered", "refused"]


def test_what_is_wrong_with_a_shared_field_names_the_item() -> None:
    """The others may be well."""
    labelled = [{"text": "a"}, {"text": "b", "target_label": "hateful"}]
    with pytest.raises(ValidationError) as refused:
        ask(items=labelled)
    [fault] = refused.value.errors()
    assert fault["loc"] == ("items", 1, "target_label")
    with pytest.raises(ValidationError) as refused:
        ask(items=ITEMS, policy="meta", prompt={"user": "Is it hateful? {text}"})
    [fault] = refused.value.errors()
    assert fault["loc"] == ("policy",)
    assert fault["msg"].startswith("items[0]: the prompt")
