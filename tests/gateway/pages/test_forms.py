"""Forms are small, and what is too large is refused before anybody looks into it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway.pages.login import LOGIN_BYTES
from services.gateway.pages.templates import FORM_BYTES, MOST_FIELDS
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch
from tests.gateway.pages.parsed import FormFields
from tests.gateway.pages.test_pages import token

KIND = {"Content-Type": "application/x-www-form-urlencoded"}
JOB, BATCH = "/jobs/job_" + "0" * 32, "/batches/batch_" + "0" * 32
LIMITS = {path: FORM_BYTES for path in ("/logout", "/settings", f"{JOB}/cancel", f"{BATCH}/cancel")}
LIMITS["/login"] = LOGIN_BYTES  # with the form that waits for it


def in_pieces(content: bytes) -> Iterator[bytes]:
    """Without a Content-Length."""
    for start in range(0, len(content), 1_000):
        yield content[start : start + 1_000]


@pytest.mark.parametrize("path", LIMITS)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_form_has_a_few_kilobytes(client: httpx.Client, path: str, chunked: bool) -> None:
    content = b"&" * (LIMITS[path] + 1)
    sent = in_pieces(content) if chunked else content
    answer = client.post(path, content=sent, headers=KIND)
    assert answer.status_code == 413
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", LIMITS)
def test_a_form_has_a_few_fields(client: httpx.Client, path: str) -> None:
    for content in (b"&" * MOST_FIELDS, b"a=b&" * MOST_FIELDS):
        assert client.post(path, content=content, headers=KIND).status_code == 422


@pytest.mark.parametrize("content", [b"csrf=%ff%fe", b"csrf=\xff", b"\x00=%80"])
def test_a_form_is_text(client: httpx.Client, content: bytes) -> None:
    assert client.post("/settings", content=content, headers=KIND).status_code == 422


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=a", "text/plain"])
def test_a_form_is_of_one_kind(client: httpx.Client, kind: str) -> None:
    answer = client.post("/login", content=b"--a--", headers={"Content-Type": kind})
    assert answer.status_code == 415


def test_a_text_to_try_may_be_as_long_as_the_api_takes_it(client: httpx.Client) -> None:
    form = {"csrf": token(client.get("/try")), "metric": "hatexscore", "rest": "{}"}
    form |= {"action": "show", "explanation": "b"}
    # three bytes of a form for each of the request
    assert client.post("/try", data=form | {"text": "é" * 15_000}).status_code in (200, 422)
    too_long = client.post("/try", data=form | {"text": "é" * 600_000})
    assert too_long.status_code == 413
    assert client.post("/try", data=form | {"text": "a" * 4_000_000}).status_code == 413


def test_strangers_do_not_try_long_texts(opens: Opens) -> None:
    with opens() as client:
        del client.headers["Authorization"]
        answer = client.post("/try", data={"text": "a" * 2_000_000})
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login")


def test_what_was_typed_stays_where_a_form_is_refused(client: httpx.Client, engine: Engine) -> None:
    batch_id, (job_id,) = make_batch(engine, [0.5])
    own = {"csrf": token(client.get("/try"))}
    asked = {"batch": batch_id, "name": "a look"}
    queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
    judge = f"/queues/{queue}/judge"
    long = "é & <b>\n" * 400
    for path, typed, more in (
        ("/queues", {"name": "A look", "lines": "many", "query": "verdict=not_tested"}, {}),
        (f"/jobs/{job_id}/judgements", {"note": long, "reviewer": "Ann"}, {"verdict": "agree"}),
        ("/views", {"name": "x" * 61}, {"metric": "hatexscore", "query": "sort=score"}),
        (judge, {"reviewer": "A" * 90}, {"action": "start"}),
    ):
        answer = client.post(path, data=own | {"batch": batch_id} | more | typed)
        assert answer.status_code == 422, path
        form = FormFields(answer.text).sent
        for name, value in (typed | more).items():
            assert form[name].strip() == value.strip(), (path, name)
        assert f'action="{path}"' in answer.text
        assert "<b>" not in answer.text
    again = form | {"reviewer": "Ann"}
    assert client.post(judge, data=again).status_code == 303


def test_a_line_break_of_a_note_counts_once(client: httpx.Client, engine: Engine) -> None:
    _, (job_id,) = make_batch(engine, [0.5])
    form = {"csrf": token(client.get("/try")), "verdict": "agree", "reviewer": "Ann"}
    note = "a" + "\r\n" * 1_998 + "b"
    answer = client.post(f"/jobs/{job_id}/judgements", data=form | {"note": note})
    assert answer.status_code == 303
    [kept] = client.get("/v1/judgements", params={"job": job_id}).json()["data"]
    assert len(kept["note"]) == 2_000


def test_pasted_rows_stay_where_they_are_refused(client: httpx.Client) -> None:
    form = {"csrf": token(client.get("/batches/new")), "metric": "nonsense"}
    rows = "text,explanation\na,b\n"
    answer = client.post("/batches/new", data=form | {"rows": rows}, files={"file": ("", b"")})
    assert answer.status_code == 422
    assert FormFields(answer.text).sent["rows"].strip() == rows.strip()
    assert "choose the metric" in answer.text


def test_a_form_with_a_key_is_not_shown_again(client: httpx.Client) -> None:
    answer = client.post("/login", data={"csrf": "0", "key": "tsk_secret", "name": "a"})
    assert answer.status_code == 403
    assert "tsk_secret" not in answer.text
    assert "Send the request again" not in answer.text


def logged_in(client: httpx.Client, secret: str, form: httpx.Response) -> httpx.Response:
    """The answer to this page's log-in with a key, and whatever else the page keeps."""
    return client.post("/login", data=FormFields(form.text).sent | {"key": secret})


def test_what_was_typed_survives_a_session_that_has_ended(opens: Opens) -> None:
    with opens() as client:
        secret = client.headers.pop("Authorization").removeprefix("Bearer ")
        assert logged_in(client, secret, client.get("/login")).status_code == 303
        form = {"csrf": token(client.get("/try")), "metric": "hatexscore", "rest": "{}"}
        form |= {"text": "a & <b>\r\né \U0001f600", "explanation": "It is kind.", "action": "show"}
        client.cookies.clear()
        stopped, other_tab = (client.post("/try", data=form) for _ in range(2))
        assert stopped.status_code == 401
        assert "<b>" not in stopped.text
        wrong = logged_in(client, "tsk_wrong", stopped)
        assert wrong.status_code == 401
        again = logged_in(client, secret, wrong)
        assert again.status_code == 200
        assert 'action="/try"' in again.text
        sent = FormFields(again.text).sent
        assert sent["csrf"] != form["csrf"]
        answer = client.post("/try", data=sent)
        assert answer.status_code == 200
        shown = FormFields(answer.text).sent
        assert shown["text"].strip() == "a & <b>\né \U0001f600"
        assert shown["explanation"].strip() == "It is kind."
        late = logged_in(client, secret, other_tab)  # its token is of before the log-in
        assert (late.status_code, "out of date" in late.text) == (403, True)
        assert "It is kind." in logged_in(client, secret, late).text


def test_another_site_leaves_no_form_for_after_the_log_in(opens: Opens) -> None:
    with opens() as client:
        del client.headers["Authorization"]
        elsewhere = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
        answer = client.post("/try", data={"text": "a"}, headers=elsewhere)
        assert answer.status_code in (303, 403)
        assert "kept" not in answer.text
        outside = {"csrf": token(client.get("/login")), "kept": "a=b", "action": "//elsewhere"}
        assert "elsewhere" not in client.post("/login", data=outside | {"key": "wrong"}).text
