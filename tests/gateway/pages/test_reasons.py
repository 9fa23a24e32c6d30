"""Why something is null or failed: plain where it is our own, blurred where it may hold text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway.pages.jobs import failed, warnings
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.ice.contract import CONTRACT as ICE
from shared.ledger import leases
from shared.ledger.jobs import Job

score = SERVICE.score

SENT = CONTRACT.examples["your own probabilities"]
TEXT: str = SENT["text"]


def job(metric: str = "hatexscore", request: dict[str, Any] | None = None, **fields: Any) -> Job:
    now = datetime.now(UTC)
    whole = {
        "id": "job_1",
        "metric": metric,
        "tenant": "a",
        "status": "succeeded",
        "request": SENT if request is None else request,
        "attempts": 1,
        "result": None,
        "error": None,
        "created_at": now,
        "started_at": now,
        "finished_at": now,
        "batch_id": None,
    }
    return Job(**{**whole, **fields})


def told(*said: str, **fields: Any) -> list[bool]:
    """Whether each warning is shown plainly."""
    return [one.plain for one in warnings(job(result={"warnings": list(said)}, **fields))]


def test_what_repeats_the_text_is_blurred_and_all_else_is_plain() -> None:
    assert told("no control: nothing is quoted", f"cut: {TEXT[:20]!r}") == [True, False]


def test_what_is_ours_by_its_type_is_plain_without_a_look_at_the_request() -> None:
    assert told("uii: nobody answered", metric="haf", request={"gone": 1}) == [True]


def test_without_the_request_nobody_can_tell() -> None:
    assert told("no control", request={"gone": 1}) == [False]
    assert told("no control", metric="no-such-metric") == [False]


def test_what_the_worker_has_screened_is_plain() -> None:
    assert told("no control", request={"do_not_store_text": True}) == [True]


def test_a_name_that_the_caller_chose_is_the_callers() -> None:
    own = {"name": "nasty name", "rationale": [{"start": 0, "end": 5}]}
    asked = ICE.examples["attention, which might be chance"] | {"explanations": [own]}
    said = "nasty name, k None, delete: the effect is null", "attention, k 0.2: equal values"
    assert told(*said, metric="ice", request=asked) == [False, True]


def test_a_job_without_warnings_or_error_has_no_reasons() -> None:
    assert warnings(job()) == warnings(job(result={"answer": []})) == ()
    assert failed(job()) is None


@pytest.mark.parametrize(
    ("detail", "pointer", "plain"),
    [
        ("no label is called so", "#/policy", (True, True)),
        (f"{TEXT} is too short", "#/text", (False, False)),
        ("no label is called so", f"#/policy/{TEXT}", (True, False)),
    ],
)
def test_why_a_job_failed(detail: str, pointer: str, plain: tuple[bool, bool]) -> None:
    error = {"title": "t", "detail": detail, "errors": [{"detail": detail, "pointer": pointer}]}
    found = failed(job(status="failed", error=error))
    assert found is not None
    assert (found.detail.plain, found.errors[0].plain) == plain
    assert found.errors[0].where == pointer


def test_the_page_shows_each_as_it_is(client: httpx.Client, engine: Engine) -> None:
    posted = client.post("/v1/scores/hatexscore", json=SENT).raise_for_status().json()["id"]
    error = {"type": "t", "title": "Bad", "status": 422, "detail": f"cut: {TEXT}"}
    error["errors"] = [{"detail": "our own words", "pointer": "#/text"}]
    with engine.begin() as connection:
        held = leases.claim(connection, posted, lease=timedelta(minutes=1), max_attempts=3)
        assert held is not None
        assert leases.fail(connection, held, error)
    page = client.get(f"/jobs/{posted}").text
    assert '<bdi class="sensitive"' in page.partition("cut: ")[0].rpartition("<p>")[2]
    assert "<code>#/text</code> our own words" in page


@pytest.mark.usefixtures("_embedded_models")
def test_a_warning_on_the_page_is_plain(client: httpx.Client, engine: Engine) -> None:
    report = score(HatexscoreRequest.model_validate(SENT))
    assert report.warnings
    said = f"cut: {TEXT}"
    report = report.model_copy(update={"warnings": ("our own words", said)})
    posted = client.post("/v1/scores/hatexscore", json=SENT).raise_for_status().json()["id"]
    with engine.begin() as connection:
        held = leases.claim(connection, posted, lease=timedelta(minutes=1), max_attempts=3)
        assert held is not None
        assert leases.succeed(connection, held, report.model_dump(mode="json"))
    page = client.get(f"/jobs/{posted}").text
    assert "<li>our own words</li>" in page
    assert '<li><bdi class="sensitive"' in page
