"""Judgements and review queues over HTTP: nothing is lost, nobody is given a line twice, and no
tenant sees another's."""

from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, delete, func, select, update

from services.gateway import judgement_files
from services.gateway.judgement_views import field_of, with_elicited
from services.gateway.pages.span_input import TEXTS
from services.gateway.results import review_queues
from shared.contracts.problems import type_name
from shared.ledger import judgements as ledger
from shared.ledger.tables import deliveries, jobs, review_items
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.test_scores import GOOD, URL

Json = dict[str, Any]
LINES = {"Accept": "application/jsonl"}
TASKS = {"Accept": "application/vnd.label-studio+json"}
ANN = {"reviewer": "Ann"}


def judge(client: httpx.Client, job_id: str, verdict: str = "agree", **more: Any) -> Json:
    answer = client.post("/v1/judgements", json={"job_id": job_id} | {"verdict": verdict, **more})
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def listed(client: httpx.Client, **asked: Any) -> list[Json]:
    found: list[Json] = client.get("/v1/judgements", params=asked).raise_for_status().json()["data"]
    return found


def test_a_change_supersedes_and_a_withdrawal_is_a_row_that_takes_the_notes(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id, *_) = make_batch(engine, [0.9, 0.1])
    first = judge(client, job_id, note="it quotes nothing", human_score=0.2, **ANN)
    second = judge(client, job_id, "disagree", note="really", **ANN)
    other = judge(client, job_id, "unsure", reviewer="Ben")
    assert second["supersedes"] == first["id"]
    assert [one["id"] for one in listed(client, job=job_id)] == [other["id"], second["id"]]
    gone = client.post(f"/v1/judgements/{second['id']}/withdraw").json()
    assert (gone["verdict"], gone["supersedes"]) == ("withdrawn", second["id"])
    again = client.post(f"/v1/judgements/{first['id']}/withdraw").json()
    assert again["id"] == gone["id"]
    assert [one["id"] for one in listed(client, job=job_id)] == [other["id"]]
    history = listed(client, job=job_id, history=True)
    assert [one["verdict"] for one in history] == ["withdrawn", "unsure", "disagree", "agree"]
    assert {one["note"] for one in history} == {None}
    assert judge(client, job_id, "agree", **ANN)["supersedes"] == gone["id"]


def test_the_same_judgement_sent_again_is_the_first_and_tells_nobody(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    endpoint = {"url": "https://example.org/judged", "events": ["judgement.created"]}
    client.post("/v1/webhook-endpoints", json=endpoint).raise_for_status()
    said: Json = {"verdict": "agree", "note": "so it is", "human_score": 1, **ANN}
    said["spans"] = [{"of": "text", "start": 0, "end": 4}]
    body = said | {"job_id": job_id}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post("/v1/judgements", json=body), range(4)))
    assert {one.status_code for one in answers} == {201}
    assert len({one.json()["id"] for one in answers}) == 1
    assert [one.headers.get("Idempotent-Replayed") for one in answers].count("true") == 3
    changed = judge(client, job_id, **{**said, "human_score": 0.9})
    assert changed["supersedes"] == answers[0].json()["id"]
    assert len(listed(client, job=job_id, history=True)) == 2
    with engine.connect() as connection:
        told = connection.execute(select(func.count()).select_from(deliveries)).scalar_one()
    assert told == 2


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"verdict": "agree"}, "#/reviewer"),
        ({"verdict": "agree", "spans": [{"start": 3, "end": 3}], **ANN}, "#/spans/0"),
        ({"verdict": "agree", "spans": [{"start": 0, "end": 99}], **ANN}, "#/spans/0"),
        ({"verdict": "agree", "spans": [{"of": "a", "start": 0, "end": 1}], **ANN}, "#/spans/0/of"),
        ({"verdict": "agree", "queue": f"rq_{'0' * 32}", **ANN}, None),
    ],
)
def test_what_is_wrong_is_said(
    client: httpx.Client, engine: Engine, body: Json, pointer: str | None
) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    answer = client.post("/v1/judgements", json={"job_id": job_id} | body)
    assert answer.status_code == (404 if pointer is None else 422)
    if pointer is not None:
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert listed(client) == []


def test_what_has_no_result_yet_is_not_judged(client: httpx.Client) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    answer = client.post("/v1/judgements", json={"job_id": job_id} | {"verdict": "agree", **ANN})
    assert (answer.status_code, type_name(answer.json())) == (422, "nothing-to-judge")


def test_a_job_that_keeps_no_text_takes_no_note(client: httpx.Client, engine: Engine) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    with engine.begin() as connection:
        kept = select(jobs.c.request).where(jobs.c.id == job_id)
        request = connection.execute(kept).scalar_one() | {"do_not_store_text": True}
        connection.execute(update(jobs).where(jobs.c.id == job_id).values(request=request))
    quoting = {"note": "as it says", "human_label": "as it says", "spans": [{"start": 0, "end": 4}]}
    for name, value in quoting.items():
        body = {"verdict": "agree", name: value, **ANN}
        answer = client.post("/v1/judgements", json={"job_id": job_id} | body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"#/{name}")
    judge(client, job_id, **ANN)


def test_a_key_judges_as_its_reviewer_and_may_nothing_else(opens: Opens, engine: Engine) -> None:
    _, (job_id,) = make_batch(engine, [0.9], tenant="a")
    ann, shared = opens("a", "review", reviewer="Ann"), opens("a", "review")
    admin, foreign = opens("a", "admin"), opens("b", "admin")
    made = judge(ann, job_id, note="so it is")
    assert (made["reviewer"], made["verified"]) == ("Ann", True)
    body = {"job_id": job_id, "verdict": "agree", "reviewer": "Ben"}
    url = "/v1/judgements"
    assert ann.post(url, json=body).status_code == 422
    assert judge(shared, job_id, reviewer="Ben")["verified"] is False
    assert opens("a", "score").post(url, json=body).status_code == 403
    assert shared.post(f"/v1/judgements/{made['id']}/withdraw").status_code == 403
    assert ann.post(f"/v1/jobs/{job_id}/cancel").status_code == 403
    assert ann.get(f"/v1/jobs/{job_id}").status_code == 200
    assert ann.get("/v1/judgements").json()["data"][0]["key_id"] is None
    assert foreign.post(url, json=body).status_code == 404
    assert foreign.post(f"/v1/judgements/{made['id']}/withdraw").status_code == 404
    assert listed(foreign) == []
    every = admin.get("/v1/judgements", params={"history": True})
    entries = every.raise_for_status().json()["data"]
    assert [one["reviewer"] for one in entries] == ["Ben", "Ann"]
    assert all(one["address_family"] and one["request_id"] and one["key_id"] for one in entries)
    assert admin.post(f"/v1/judgements/{made['id']}/withdraw").status_code == 200


def test_they_are_forgotten_with_their_job_and_told_to_endpoints(
    client: httpx.Client, engine: Engine
) -> None:
    endpoint = {"url": "https://example.com/hook", "events": ["judgement.created"]}
    assert client.post("/v1/webhook-endpoints", json=endpoint).status_code == 201
    _, (job_id,) = make_batch(engine, [0.9])
    made = judge(client, job_id, note="never told", **ANN)
    with engine.begin() as connection:
        bodies = connection.execute(select(deliveries.c.event, deliveries.c.body)).all()
        connection.execute(jobs.delete().where(jobs.c.id == job_id))
    ((event, body),) = bodies
    assert (event, json.loads(body)["data"]["id"]) == ("judgement.created", made["id"])
    assert "never told" not in body
    assert listed(client, history=True) == []


def a_queue(client: httpx.Client, batch_id: str, **more: Any) -> Json:
    body = {"batch": batch_id, "name": "first look", **more}
    answer = client.post("/v1/review-queues", json=body)
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def test_the_same_key_makes_one_queue(client: httpx.Client, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.1])
    body = {"batch": batch_id, "name": "first look"}
    key = {"Idempotency-Key": "once"}
    first, again = (client.post("/v1/review-queues", json=body, headers=key) for _ in range(2))
    assert first.json() == again.json()
    other = client.post("/v1/review-queues", json=body | {"name": "other"}, headers=key)
    assert other.json()["type"].endswith("#idempotency-key-reused")


def test_a_head_request_leases_nothing(client: httpx.Client, engine: Engine) -> None:
    queue = a_queue(client, make_batch(engine, [0.9])[0])
    assert client.head(f"/v1/review-queues/{queue['id']}/lease").status_code == 405
    assert next_of(client, queue, "Ann") is not None


def next_of(client: httpx.Client, queue: Json, who: str) -> Json | None:
    answer = client.post(f"/v1/review-queues/{queue['id']}/lease", json={"reviewer": who})
    found: Json | None = answer.raise_for_status().json()["item"]
    return found


def test_nobody_is_given_a_line_twice_and_each_line_as_many_people_as_it_wants(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.5, 0.1, None])
    queue = a_queue(client, batch_id, per_line=2, query="verdict=holds_up")
    assert (queue["lines"], queue["query"]) == (1, [["verdict", "holds_up"]])
    queue = a_queue(client, batch_id, per_line=2, lines=3)
    given: dict[str, list[str]] = {}
    for who in ("Ann", "Ben", "Cy"):
        while (item := next_of(client, queue, who)) is not None:
            again = next_of(client, queue, who) or {}
            assert again["leased_until"] >= item["leased_until"]
            assert again | {"leased_until": 0} == item | {"leased_until": 0}
            judge(client, item["job_id"], reviewer=who, queue=queue["id"], seconds=2.5)
            given.setdefault(who, []).append(item["job_id"])
    assert given["Ann"] == given["Ben"]
    assert len(set(given["Ann"])) == 3
    assert set(given["Ann"]) <= set(ids)
    assert "Cy" not in given
    progress = client.get(f"/v1/review-queues/{queue['id']}").json()["progress"]
    assert progress == {"done": 6, "skipped": 0, "left": 0, "seconds": 2.5}


def test_open_queues_and_judgements_of_a_job_have_an_end(
    client: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_queues, "MOST_OPEN", 2)
    monkeypatch.setattr(ledger, "MOST_OF_JOB", 2)
    batch_id, ids = make_batch(engine, [0.9])
    first, _ = a_queue(client, batch_id), a_queue(client, batch_id)
    body = {"batch": batch_id, "name": "one too many"}
    assert violated(client.post("/v1/review-queues", json=body)) == "review-queues"
    client.post(f"/v1/review-queues/{first['id']}/close").raise_for_status()
    assert client.post("/v1/review-queues", json=body).status_code == 201
    made = [judge(client, ids[0], verdict, **ANN) for verdict in ("agree", "disagree")]
    again = client.post("/v1/judgements", json={"job_id": ids[0]} | {"verdict": "agree", **ANN})
    assert violated(again) == "judgements"
    assert client.post(f"/v1/judgements/{made[1]['id']}/withdraw").is_success  # that always goes


def violated(answer: httpx.Response) -> str:
    assert answer.status_code == 429
    (policy,) = answer.json()["violated-policies"]
    assert isinstance(policy, str)
    return policy


def test_an_expired_lease_returns_the_line_and_a_skipped_one_goes_to_others(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.1])
    queue = a_queue(client, batch_id)
    first, second = next_of(client, queue, "Ann"), next_of(client, queue, "Ben")
    assert first is not None
    assert second is not None
    assert first["job_id"] != second["job_id"]
    assert next_of(client, queue, "Cy") is None
    url = f"/v1/review-queues/{queue['id']}/lease"
    skipped = client.post(url, json={"skip": first["position"], "reviewer": "Ann"})
    assert skipped.json()["item"] is None
    with engine.begin() as connection:
        late = review_items.c.leased_until - func.make_interval(0, 0, 0, 0, 1)
        connection.execute(update(review_items).values(leased_until=late))
    after = next_of(client, queue, "Cy")
    assert after is not None
    assert after["job_id"] == first["job_id"]
    assert (next_of(client, queue, "Ann") or {})["job_id"] == second["job_id"]
    assert client.post(f"/v1/review-queues/{queue['id']}/close").json()["state"] == "closed"
    assert next_of(client, queue, "Dan") is None


def test_orders_are_what_they_say(client: httpx.Client, engine: Engine) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.5, 0.1, 0.72, None])
    uncertain = a_queue(client, batch_id, order="uncertain")
    seen = []
    while (item := next_of(client, uncertain, "Ann")) is not None:
        judge(client, item["job_id"], queue=uncertain["id"], **ANN)
        seen.append(item["job_id"])
    assert seen[0] == ids[1]  # the only undecided one
    assert seen[-1] == ids[4]  # without a score
    draws = [a_queue(client, batch_id, seed=seed) for seed in (1, 1, 2, 3, 4)]
    firsts = [(next_of(client, one, "Ann") or {})["job_id"] for one in draws]
    assert firsts[0] == firsts[1]
    assert len(set(firsts)) > 1


def test_a_foreign_key_finds_no_queue(opens: Opens, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, [0.9], tenant="a")
    queue = a_queue(opens("a", "batch"), batch_id)
    own, foreign = opens("a", "review", reviewer="Ann"), opens("b", "admin")
    path = f"/v1/review-queues/{queue['id']}"
    for client, status in ((own, 200), (foreign, 404)):
        assert client.get(path).status_code == status
        body = {} if client is own else {"reviewer": "Ann"}
        assert client.post(f"{path}/lease", json=body).status_code == status
    assert foreign.post(path + "/agreement").status_code == 404
    assert foreign.post(path + "/close").status_code == 404
    assert foreign.get("/v1/review-queues").json()["data"] == []
    body = {"batch": batch_id, "name": "x"}
    assert foreign.post("/v1/review-queues", json=body).status_code == 404
    assert own.post("/v1/review-queues", json=body).status_code == 403
    export = foreign.get("/v1/judgements", params={"queue": queue["id"]}, headers=TASKS)
    assert export.status_code == 404


def test_agreement_is_a_report_over_the_judgements_that_there_are(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.8, 0.2, 0.1])
    queue = a_queue(client, batch_id, per_line=2)
    url = f"/v1/review-queues/{queue['id']}/agreement"
    assert client.post(url).status_code == 409
    for who, verdicts in (("Ann", "aadd"), ("Ben", "aaad")):
        for job_id, verdict in zip(ids, verdicts, strict=True):
            word = {"a": "agree", "d": "disagree"}[verdict]
            judge(client, job_id, word, reviewer=who, queue=queue["id"])
    assert client.post(url).status_code == 202
    assert len(run_reports(engine)) == 1
    found = client.post(url).raise_for_status().json()["result"]["agreement"]
    assert (found["judgements"], found["texts"], found["reviewers"]) == (8, 4, 2)
    assert found["agreed"]["value"] == 0.75
    assert found["kappa"]["value"] == pytest.approx(0.5)
    assert found["with_metric"]["value"] == 5 / 8
    assert (found["above"]["value"], found["below"]["value"]) == (1.0, 0.25)
    assert found["random"] is True
    assert [one["job_id"] for one in found["disputed"]] == [ids[2]]
    judge(client, ids[0], "unsure", reviewer="Ann", queue=queue["id"])
    assert client.post(url).status_code == 202


def test_an_export_comes_back_by_an_import(client: httpx.Client, engine: Engine) -> None:
    batch_id, ids = make_batch(engine, [0.9, None])
    spans = [{"of": "explanation", "start": 0, "end": 4}]
    judge(client, ids[0], "disagree", note="=1+1", human_label="hateful", spans=spans, **ANN)
    judge(client, ids[1], human_score=0.25, **ANN)
    lines = client.get("/v1/judgements", params={"batch": batch_id}, headers=LINES)
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["score"] for row in rows] == [None, 0.9]
    table = client.get("/v1/judgements", headers={"Accept": "text/csv"}).text
    (first, second) = csv.DictReader(io.StringIO(table))
    assert (first["human_score"], second["note"]) == ("0.25", "'=1+1")
    assert [(row["batch_id"], row["line"], row["custom_id"]) for row in rows] == [
        (batch_id, 2, "line-2"),
        (batch_id, 1, "line-1"),
    ]
    assert (first["batch_id"], first["line"], first["metadata"]) == (batch_id, "2", "{}")
    assert datetime.fromisoformat(first["created_iso"]).timestamp() == int(first["created_at"])
    assert (json.loads(first["spans"]), json.loads(second["spans"])) == ([], spans)
    url, kind = "/v1/judgements?source=elsewhere", {"Content-Type": "application/jsonl"}
    sent = "\n".join(json.dumps(row | {"reviewer": "Eve"}) for row in rows)
    taken = client.post(url, content=sent, headers=kind).raise_for_status().json()
    assert (taken["imported"], taken["unchanged"]) == (2, 0)
    bytes_of_any_kind = {"Content-Type": "application/octet-stream"}
    taken = client.post(url, content=sent, headers=bytes_of_any_kind).json()
    assert (taken["imported"], taken["unchanged"]) == (0, 2)
    ours = listed(client, reviewer="Eve")
    assert {one["source"] for one in ours} == {"elsewhere"}
    assert [one["spans"] for one in ours] == [rows[0]["spans"], rows[1]["spans"]]
    broken = f"{sent}\n{{\n" + json.dumps({"job_id": ids[0], "reviewer": "Z", "verdict": "meh"})
    refused = client.post(url, content=broken.replace("Eve", "Flo"), headers=kind)
    assert refused.status_code == 422
    pointers = [one["pointer"] for one in refused.json()["errors"]]
    assert pointers == ["#/2", "#/3/verdict"]
    unknown = json.dumps({"job_id": f"job_{'9' * 32}", "reviewer": "Z", "verdict": "agree"})
    refused = client.post(url, content=f"{sent.replace('Eve', 'Flo')}\n{unknown}", headers=kind)
    assert refused.json()["errors"][0]["pointer"] == "#/2/job_id"
    assert listed(client, reviewer="Flo") == []


def test_label_studio_gets_text_explanation_our_spans_and_what_people_said(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.2])
    queue = a_queue(client, batch_id)
    spans = [{"start": 5, "end": 11}]
    judge(client, ids[0], "disagree", queue=queue["id"], spans=spans, **ANN)
    asked = {"queue": queue["id"]}
    tasks = client.get("/v1/judgements", params=asked, headers=TASKS).raise_for_status().json()
    assert len(tasks) == 2
    by_job = {task["data"]["job_id"]: task for task in tasks}
    task = by_job[ids[0]]
    assert task["data"]["text"] == "post number 1 is quite friendly"
    assert task["data"]["explanation"].startswith("Post 1 greets")
    (prediction,) = task["predictions"]
    assert prediction["score"] == 0.9
    assert all(one["type"] == "labels" for one in prediction["result"])
    for one in prediction["result"]:  # group evidence lies in the explanation
        is_group = one["value"]["labels"] == ["group"]
        assert one["to_name"] == ("explanation" if is_group else "text")
    said, marked = task["annotations"][0]["result"]
    assert said["value"] == {"choices": ["disagree"]}
    assert (marked["to_name"], marked["value"]["text"]) == ("text", "number")
    assert by_job[ids[1]]["annotations"] == []


def test_the_state_of_judgements_differs_whenever_one_is_added_changed_or_gone(
    engine: Engine, client: httpx.Client
) -> None:
    batch_id, (first, second) = make_batch(engine, [0.5, 0.6])
    wanted = ledger.JudgementFilter("default", batch_id=batch_id)

    def state() -> ledger.JudgementState:
        with engine.connect() as connection:
            return ledger.state_of(connection, wanted)

    seen = [state()]
    assert seen[0].number == 0
    judge(client, first, **ANN)
    seen.append(state())
    assert state() == seen[-1]
    made = judge(client, second, **ANN)
    seen.append(state())
    judge(client, first, "disagree", **ANN)
    seen.append(state())
    client.post(f"/v1/judgements/{made['id']}/withdraw").raise_for_status()
    seen.append(state())
    with engine.begin() as connection:
        assert ledger.count_by_job(connection, "default", [first]) == {first: {"disagree": 1}}
        connection.execute(delete(jobs).where(jobs.c.id == first))
    assert state() == seen[0]
    assert len(set(seen)) == len(seen)


def test_an_explanation_that_a_model_was_asked_for_is_marked_like_one_that_was_sent(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id, _) = make_batch(engine, [0.9, 0.2], explanation="", explain=True)
    told = {"elicitation": {"explanation": "It greets."}}
    with engine.begin() as connection:
        own = jobs.c.id == job_id
        result = connection.execute(select(jobs.c.result).where(own)).scalar_one()
        connection.execute(update(jobs).where(own).values(result=result | told))
    spans = [{"of": "explanation", "start": 3, "end": 9}]
    assert judge(client, job_id, spans=spans, **ANN)["spans"] == spans
    page = client.get(f"/jobs/{job_id}").text
    assert "greets" in page[page.index('id="judgements"') :]
    task = client.get("/v1/judgements", headers=TASKS).json()[0]
    assert task["data"]["explanation"] == "It greets."
    assert task["annotations"][0]["result"][1]["value"]["text"] == "greets"
    beyond = {"verdict": "agree", **ANN, "spans": [{"of": "explanation", "start": 0, "end": 11}]}
    assert client.post("/v1/judgements", json={"job_id": job_id} | beyond).status_code == 422


def test_a_statement_is_a_text_that_can_be_marked() -> None:
    asked = {"text": "A post.", "statement": None}
    found = with_elicited(asked, {"elicitation": {"explanation": "We removed it."}})
    assert found["statement"] == "We removed it."
    assert "statement" in TEXTS


@pytest.mark.parametrize(
    ("evidence", "judged", "field"),
    [
        ({"kind": "quote"}, "text", "text"),
        ({"kind": "replaced", "offsets_into": "hypothesis"}, "premise", "hypothesis"),
        ({"kind": "redress", "field": "statement"}, "text", "statement"),
        ({"kind": "cited"}, "premise", "premise"),
    ],
)
def test_evidence_lies_in_the_text_that_it_names(evidence: Json, judged: str, field: str) -> None:
    assert field_of(evidence, judged) == field
    spans = list(judgement_files._spans([evidence | {"start": 0, "end": 1}], judged))
    assert spans[0]["to_name"] == ("text" if field == judged else field)
