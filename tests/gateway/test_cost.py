"""What asks for too much is refused with 422 before it is accepted, and the answer says what to
lower: over HTTP, in a batch's line, and in the worker."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text, update

from shared.contracts.messages import Report
from shared.contracts.request_cost import Size, Work
from shared.ledger import jobs
from shared.ledger.tables import batches
from shared.process import settings as settings_module
from shared.process.settings import Settings
from shared.worker import job
from shared.worker.job import run_job
from tests.batches import Scene
from tests.echo_metric import ECHO, EchoRequest, echo

WORDS = " ".join(f"word{number}" for number in range(600))
PAIRS = [{"explanation": f"{n} because of this" * 900, "label": "A"} for n in range(8)]
OPTIONS = [{"key": "A", "text": "yes"}, {"key": "B", "text": "no"}]

ICE: dict[str, Any] = {"text": WORDS, "attribution": "attention"}


def ice(draws: int, **more: Any) -> dict[str, Any]:
    """A request about five budgets and two operators."""
    options = {"k": [0.1, 0.2, 0.3, 0.4, 0.5], "operators": ["mask_unk", "mask_pad"]}
    return ICE | {"options": options | {"draws": draws}} | more


LIME = {"name": "lime", "samples": 10_000}
ROWS = {"operation": "judge_rows", "asked": [{"example": {"text": WORDS}, "rows": [{}] * 30_000}]}
UNSPACED = {"operation": "judge_rows",
            "asked": [{"example": {"text": "a," * 900}, "rows": [{}] * 10_001}]}  # fmt: skip
COT = {
    "question": "Is it so?",
    "options": OPTIONS,
    "reasoning": "This is so because of that. " * 700,
    "pairs": PAIRS,
}
JUDGE = {"methods": ["score"], "runs": 26}
LETTERS = [{"key": chr(65 + place), "text": f"option {place}"} for place in range(26)]
HLV = {
    "model": "lm",
    "question": "because of this " * 1_200,
    "options": LETTERS,
    "rationale": "of that",
    "human": {"votes": {"A": 1}},
    "judge": JUDGE,
}

TOO_MUCH = [
    ("/v1/scores/ice", ice(10_000), "#/options/draws"),
    ("/v1/scores/ice", ice(1, attribution=[LIME] * 1), None),
    ("/v1/scores/ice", ice(50, attribution=[LIME | {"seed": n} for n in range(8)]),
     "#/attribution"),
    ("/v1/scores/cot2el", COT, "#/pairs"),
    ("/v1/inference", {"model": "embedded-hate", "ask": ROWS}, "#/ask/asked"),
    ("/v1/inference", {"model": "embedded-hate", "ask": UNSPACED}, "#/ask/asked"),
    ("/v1/inference", {"model": "embedded-hate", "ask": {"operation": "attributions",
     "examples": [{"text": WORDS}] * 3, "targets": ["hateful"] * 3, "method": LIME}},
     "#/ask/examples"),
    ("/v1/reports", {"metric": "haf", "jobs": [f"job_{n}" for n in range(50_000)],
     "resamples": 100_000}, "#/resamples"),
]  # fmt: skip


def nothing_was_accepted(engine: Engine) -> bool:
    with engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM jobs")).scalar() == 0


@pytest.mark.parametrize(("url", "body", "pointer"), TOO_MUCH)
def test_too_much_is_refused_with_the_numbers_to_lower(
    client: httpx.Client, engine: Engine, url: str, body: dict[str, Any], pointer: str | None
) -> None:
    answer = client.post(url, json=body)
    if pointer is None:
        assert answer.status_code == 202
        return
    problem = answer.json()
    assert answer.status_code == 422, problem
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"].endswith("#too-costly")
    assert problem["errors"][0]["pointer"] == pointer
    assert "to at most" in problem["detail"]
    assert nothing_was_accepted(engine)


def test_who_lowers_what_was_named_is_accepted(client: httpx.Client) -> None:
    refused = client.post("/v1/scores/ice", json=ice(10_000)).json()
    told = refused["detail"].split("`draws` to at most ")[1].split(", or")[0]
    lowered = ice(int(told.replace(",", "")))
    assert client.post("/v1/scores/ice", json=lowered).status_code == 202


def test_a_large_hatexscore_request_is_accepted(client: httpx.Client) -> None:
    body = {"text": WORDS[:4_000] * 5, "explanation": '"near misss of thes" ' * 900}
    answer = client.post("/v1/scores/hatexscore", json=body | {"options": {"control_draws": 100}})
    assert answer.status_code == 202, answer.json()


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Scene:
    return Scene(client, engine, chosen)


def test_a_line_that_asks_for_too_much_is_named_and_nothing_is_scored(scene: Scene) -> None:
    url = "/v1/scores/ice"
    bodies = [ice(5), ice(10_000)]
    lines = [
        {"custom_id": str(place), "method": "POST", "url": url, "body": body}
        for place, body in enumerate(bodies)
    ]
    batch = scene.read(scene.make(lines, endpoint=url))
    assert batch["status"] == "failed"
    fault = batch["errors"]["data"][0]
    assert (fault["code"], fault["line"], fault["param"]) == (
        "too_costly",
        2,
        "#/body/options/draws",
    )
    assert "`draws` to at most" in fault["message"]
    assert nothing_was_accepted(scene.engine)


def test_a_report_over_a_batch_counts_its_results(scene: Scene) -> None:
    url = "/v1/scores/ice"
    one = {"custom_id": "a", "method": "POST", "url": url, "body": ice(5)}
    batch = scene.make([one], endpoint=url)
    asked = {"batch": batch["id"], "resamples": 100_000}
    with scene.engine.begin() as connection:
        connection.execute(update(batches).values(total=1_000_000, completed=1_000_000))
    answer = scene.client.post("/v1/reports", json={"metric": "ice"} | asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/resamples"
    with scene.engine.begin() as connection:
        connection.execute(update(batches).values(total=1_000, completed=1_000))
    assert scene.client.post("/v1/reports", json={"metric": "ice"} | asked).status_code == 202


def test_the_worker_refuses_what_the_gateway_let_pass(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older gateway, or another limit, may have accepted it."""
    settings = settings_module.settings().model_copy(update={"max_work_seconds": 1.0})
    monkeypatch.setattr(job, "settings", lambda: settings)
    scored: list[str] = []

    def score(request: EchoRequest) -> Report:
        scored.append(request.text)
        return echo(request)

    def cost(request: EchoRequest, _reads: int) -> list[Work]:
        size = Size("characters of `text`", len(request.text), "/text")
        return [Work((size,), "characters", seconds_each=0.1)]

    contract = replace(ECHO, cost=cost)
    ends = []
    for content in ("short", "much too long"):
        request = EchoRequest(text=content).model_dump(mode="json")
        with engine.begin() as connection:
            accepted = jobs.accept(
                connection, "echo", request, key=None, resend_after=timedelta(minutes=1)
            )
        run_job(accepted.job.id, contract, score)
        with engine.begin() as connection:
            ends.append(jobs.find(connection, accepted.job.id))
    assert [end.status for end in ends] == ["succeeded", "failed"]
    assert scored == ["short"]
    error = ends[1].error
    assert error is not None
    assert error["type"].endswith("#too-costly")
    assert error["errors"][0]["pointer"] == "#/text"
    assert ends[1].attempts == 1
