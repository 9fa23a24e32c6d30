"""The lens on a job's page: words of the post, asked about in a job of their own."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway.pages import jobs as job_pages
from services.registry import metrics
from shared.ledger.tables import batch_lines, jobs
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.results import a_result
from tests.servers import finish_next


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_pages, "LENS_SECONDS", 0)


def asked_of(client: httpx.Client, job_id: str, words: str) -> httpx.Response:
    form = {"csrf": token(client.get(f"/jobs/{job_id}")), "words": words}
    return client.post(f"/jobs/{job_id}/lens", data=form)


def request_of(engine: Engine, address: str) -> dict[str, Any]:
    with engine.connect() as connection:
        made = jobs.c.id == address.partition("lens=")[2].partition("#")[0]
        [row] = connection.execute(jobs.select().where(made)).all()
    found: dict[str, Any] = row.request
    return found


def test_the_words_are_asked_about_once_and_the_answer_stands_on_the_page(
    client: httpx.Client, engine: Engine
) -> None:
    _, [job_id] = make_batch(engine, [0.9])
    first = asked_of(client, job_id, "quite friendly")
    assert first.status_code == 303
    address = first.headers["location"]
    assert "has not answered yet" in client.get(address).text
    assert asked_of(client, job_id, "quite friendly").headers["location"] == address
    sent = metrics()["hatexscore"].request.model_validate(request_of(engine, address))
    assert sent.model_dump()["explanation"]["quotes"] == ("quite friendly",)
    assert sent.metadata == {"edited_from": job_id}
    result = a_result(0.5) | {"probability_original": 0.93, "probability_masked": 0.08}
    finish_next(engine, result)
    shown = client.get(address).text
    assert "quite friendly</bdi>" in shown
    assert "0.93" in shown.partition('id="lens"')[2].partition("</section>")[0]
    assert "0.08" in shown.partition('id="lens"')[2].partition("</section>")[0]


def test_the_metadata_of_the_job_is_kept_so_that_a_deletion_finds_the_texts(
    client: httpx.Client, engine: Engine
) -> None:
    _, [job_id] = make_batch(engine, [0.9], metadata={"user": "u17"})
    with engine.begin() as connection:
        caller = {"metadata": {"case": "c1"}}
        connection.execute(batch_lines.update().values(caller=caller))
    address = asked_of(client, job_id, "quite friendly").headers["location"]
    kept = {"user": "u17", "case": "c1", "edited_from": job_id}
    assert request_of(engine, address)["metadata"] == kept
    finish_next(engine, a_result(0.5))
    deleted = client.delete("/v1/jobs", params={"metadata[case]": "c1"}).json()
    assert (deleted["jobs"], deleted["open"]) == (2, 0)


def test_nobody_asks_about_texts_of_others_or_texts_that_are_not_kept(
    opens: Opens, engine: Engine
) -> None:
    own, other = entered(opens, "own", "score", "batch"), entered(opens, "other", "score", "batch")
    _, [job_id, private] = make_batch(engine, [0.9, 0.8], tenant="own")
    form = {"csrf": token(other.get("/try")), "words": "quite friendly"}
    assert other.post(f"/jobs/{job_id}/lens", data=form).status_code == 404
    made = asked_of(own, job_id, "quite friendly").headers["location"]
    lens = made.partition("?")[2]
    assert other.get(made).status_code == 404
    assert own.get(f"/jobs/{private}?{lens}").status_code == 404
    assert own.post(f"/jobs/{job_id}/lens", data={"words": "quite"}).status_code == 403
    assert asked_of(own, job_id, "").status_code == 422
    with engine.begin() as connection:
        gone = {"do_not_store_text": True, "decision": "hateful"}
        connection.execute(jobs.update().where(jobs.c.id == private).values(request=gone))
    assert 'id="lens"' not in own.get(f"/jobs/{private}").text
    assert asked_of(own, private, "quite friendly").status_code == 404
