"""A form that is sent several times at once makes one of what it asks for, through the real door.

With other contents it asks for something else, and nothing that was typed is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, func, select, update

from shared.ledger.file_store import FileStore
from shared.ledger.tables import batches, files, jobs
from shared.process.settings import Settings
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch
from tests.gateway.pages.parsed import FormFields
from tests.gateway.pages.test_pages import entered

TIMES = 4
ASKED = {"text": "They sing well.", "explanation": "It is friendly.", "rest": "{}"}
CSV = b"text,explanation\na post,it is friendly\n"
PROBLEM = re.compile(r'(?s)(?:role="alert"|class="error").{,600}|<h1>.{,300}')
Send = Callable[[], httpx.Response]


def at_once(send: Send) -> set[str]:
    """Where the answers lead that come when the same is sent several times at once."""
    ready = Barrier(TIMES)

    def wait_and_send(_: int) -> httpx.Response:
        ready.wait()
        return send()

    with ThreadPoolExecutor(TIMES) as pool:
        answers = list(pool.map(wait_and_send, range(TIMES)))
    assert {one.status_code for one in answers} == {303}, [
        PROBLEM.findall(one.text) for one in answers
    ]
    return {one.headers["location"] for one in answers}


def form_at(client: httpx.Client, address: str, action: str) -> dict[str, str]:
    """What the page's form of this action would send."""
    page = client.get(address).raise_for_status().text
    form = page[page.index(f'action="{action}"') :]
    fields = dict(FormFields(form[: form.index("</form>")]).sent)
    assert len(fields["once"]) == 32
    return fields


def count(engine: Engine, table: Any) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def tried(client: httpx.Client, form: Mapping[str, str], **changed: str) -> Send:
    sent = {**form, **ASKED, "metric": "hatexscore", "action": "score", **changed}
    return lambda: client.post("/try", data=sent)


def test_one_explanation_is_scored_once_and_a_changed_one_anew(
    client: httpx.Client, engine: Engine
) -> None:
    form = form_at(client, "/try?metric=hatexscore", "/try")
    first = at_once(tried(client, form))
    assert len(first) == 1
    assert count(engine, jobs) == 1
    [second] = at_once(tried(client, form, explanation="They sing."))  # back, and a word changed
    assert {second} != first
    assert "They sing." in client.get(second).text
    assert at_once(tried(client, form)) == first  # forward again
    assert count(engine, jobs) == 2
    other = form_at(client, "/try?metric=hatexscore", "/try")
    assert at_once(tried(client, other)).isdisjoint({*first, second})  # another page asks anew
    assert len({str(tried(client, {**form, "once": "x"})().headers["location"]) for _ in "12"}) == 2


def test_what_is_wrong_in_a_form_that_was_used_is_shown_with_all_that_was_typed(
    client: httpx.Client, engine: Engine
) -> None:
    form = form_at(client, "/try?metric=hatexscore", "/try")
    at_once(tried(client, form))
    refused = tried(client, form, text="They hum.", rest="{]")()
    assert refused.status_code == 422
    assert "They hum." in refused.text
    assert "{]" in refused.text
    assert form["once"] not in refused.text
    assert count(engine, jobs) == 1


def test_a_form_of_one_tenant_makes_nothing_of_anothers(opens: Opens, engine: Engine) -> None:
    made = []
    for tenant in "ab":
        browser = entered(opens, tenant, "score", "batch")
        form = form_at(browser, "/try?metric=hatexscore", "/try") | {"once": "0" * 32}
        made.append(at_once(tried(browser, form)))
        form = form_at(browser, "/batches/new", "/batches/new") | {"once": "0" * 32}
        made[-1] |= at_once(uploading(browser, form))
    assert made[0].isdisjoint(made[1])
    assert (count(engine, jobs), count(engine, files)) == (2, 2)


def uploading(client: httpx.Client, form: Mapping[str, str], content: bytes = CSV) -> Send:
    file = {"file": ("posts.csv", content)}
    return lambda: client.post(
        "/batches/new", data={**form, "metric": "hatexscore", "rows": ""}, files=file
    )


def test_a_table_is_kept_once_and_makes_one_batch(
    client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    form = form_at(client, "/batches/new", "/batches/new")
    [address] = at_once(uploading(client, form))
    store = FileStore(chosen.files_url, engine)
    with engine.connect() as connection:
        known = connection.execute(select(files.c.id)).scalars().all()
    assert [f"/batches/new/{one}?metric=hatexscore" for one in known] == [address]
    assert b"".join(store.iter_chunks(known[0], size=len(CSV))) == CSV
    shown = form_at_table(client, address)
    [batch] = at_once(lambda: client.post(address.partition("?")[0], data=shown))
    assert (count(engine, batches), count(engine, files)) == (1, 2)  # the table, and its lines
    other = CSV + b"another,why\n"
    [second] = at_once(uploading(client, form, other))  # back, and another file chosen
    assert second != address
    assert "2 lines" in client.get(second).text
    assert at_once(uploading(client, form)) == {address}
    assert client.get(batch).status_code == 200


def form_at_table(client: httpx.Client, address: str) -> dict[str, Any]:
    """What the button sends that scores the table."""
    page = client.get(address).raise_for_status().text
    form = page[page.index('id="mapping"') :]
    fields = dict(FormFields(form[: form.index("</form>")]).sent)
    return fields | {"csrf": form_at(client, "/batches/new", "/batches/new")["csrf"]}


def test_pasted_rows_whose_file_is_gone_make_a_new_one(
    client: httpx.Client, engine: Engine
) -> None:
    form = form_at(client, "/batches/new", "/batches/new")
    rows = {**form, "metric": "hatexscore", "rows": CSV.decode()}
    empty = {"file": ("", b"")}
    [first] = at_once(lambda: client.post("/batches/new", data=rows, files=empty))
    with engine.begin() as connection:
        connection.execute(update(files).values(expires_at=func.now()))
    [second] = at_once(lambda: client.post("/batches/new", data=rows, files=empty))
    assert first != second
    assert client.get(second).status_code == 200


@pytest.fixture
def scored(client: httpx.Client, engine: Engine) -> str:
    """A batch with results, whose file is there."""
    made, _ = make_batch(engine, [0.9, 0.2])
    file = client.post("/v1/files", files={"file": b"{}"}, data={"purpose": "batch"}).json()["id"]
    with engine.begin() as connection:
        connection.execute(update(batches).where(batches.c.id == made).values(input_file_id=file))
    return made


def test_lines_and_batches_are_scored_again_once(
    client: httpx.Client, engine: Engine, scored: str
) -> None:
    address = f"/batches/{scored}/again"
    form = form_at(client, f"{address}?metric=hatexscore", address) | {"metric": "hatexscore"}
    [first] = at_once(lambda: client.post(address, data=form))
    assert count(engine, batches) == 2
    changed = form | {"model": "embedded-hate"}  # back, and a model chosen
    [second] = at_once(lambda: client.post(address, data=changed))
    assert second != first
    assert at_once(lambda: client.post(address, data=form)) == {first}
    whole = {"csrf": form["csrf"], "batch": scored, "once": "1" * 32}
    assert len(at_once(lambda: client.post("/compare/again", data=whole))) == 1
    assert count(engine, batches) == 4


def test_queues_are_made_once(client: httpx.Client, engine: Engine, scored: str) -> None:
    form = form_at(client, f"/queues?batch={scored}", "/queues") | {"name": "n"}
    first = at_once(lambda: client.post("/queues", data=form))
    assert len(first) == 1
    assert at_once(lambda: client.post("/queues", data=form | {"name": "m"})).isdisjoint(first)


def test_an_answer_that_is_pressed_several_times_is_one_judgement(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job,) = make_batch(engine, [0.9])
    page = client.get(f"/jobs/{job}").text
    form = {
        "csrf": FormFields(page).sent["csrf"],
        "reviewer": "Ann",
        "verdict": "agree",
        "note": "so it is",
    }
    at_once(lambda: client.post(f"/jobs/{job}/judgements", data=form))
    asked: dict[str, str | bool] = {"job": job, "history": True}
    [one] = client.get("/v1/judgements", params=asked).raise_for_status().json()["data"]
    assert one["note"] == "so it is"


def test_an_undo_that_is_pressed_several_times_takes_one_answer_back(
    client: httpx.Client, engine: Engine
) -> None:
    made, ids = make_batch(engine, [0.9, 0.2, 0.4])
    asked = {"batch": made, "name": "n", "blind": False}
    queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
    for job in ids[:2]:
        body = {"verdict": "agree", "reviewer": "Ann", "queue": queue}
        client.post("/v1/judgements", json={"job_id": job} | body).raise_for_status()
    client.cookies.set("touchstone_reviewer", "Ann")
    path = f"/queues/{queue}/judge"
    form = FormFields(client.get(path).text).sent | {"action": "undo"}
    assert form["done"] == "2"
    at_once(lambda: client.post(path, data=form))
    said = {"queue": queue}
    [left] = client.get("/v1/judgements", params=said).raise_for_status().json()["data"]
    assert left["job_id"] == ids[0]
    at_once(lambda: client.post(path, data=form | {"done": "1"}))
    assert client.get("/v1/judgements", params=said).json()["data"] == []
