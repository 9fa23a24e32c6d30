"""Judging by forms alone: blind until answered, undone, kept apart by tenant."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, func, select

from services.gateway.pages import templates
from shared.ledger.judgements import OPINIONS
from shared.ledger.tables import jobs
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_pages import created, entered, token


def posted(client: httpx.Client, path: str, page: httpx.Response, **form: str) -> httpx.Response:
    answer = client.post(path, data={"csrf": token(page), **form})
    assert answer.status_code == 303, answer.text
    return client.get(answer.headers["location"].partition("#")[0])


def hidden(page: httpx.Response) -> dict[str, str]:
    return dict(re.findall(r'name="(job|position|given)" value="([^"]*)"', page.text))


@pytest.fixture
def made(client: httpx.Client, engine: Engine) -> tuple[str, list[str]]:
    """(path of a queue, jobs)."""
    batch_id, ids = make_batch(engine, [0.91234, 0.12345])
    form = client.get("/queues", params={"batch": batch_id})
    assert "60 random lines of this batch" in form.text
    page = posted(client, "/queues", form, batch=batch_id, name="A look", ask_note="1")
    assert "nobody has judged" in page.text
    return page.url.path, ids


def test_a_blind_queue_tells_score_and_verdict_after_the_answer(
    client: httpx.Client, engine: Engine, made: tuple[str, list[str]]
) -> None:
    path, ids = made
    judge = f"{path}/judge"
    page = client.get(judge)
    assert "Who judges?" in page.text
    page = posted(client, judge, page, reviewer="Ann", action="start")
    scores = {ids[0]: "0.912", ids[1]: "0.123"}
    first = hidden(page)
    assert all(score not in page.text for score in scores.values())
    assert "greets" in page.text
    assert ("The explanation quotes or refers to the underlined words" in page.text) == (
        "mark-evidence" in page.text
    )
    assert "Explained decision</dt><dd><bdi>non-hateful" in page.text
    page = posted(client, judge, page, action="disagree", note="It greets.", **first)
    assert "You said that the explanation is not good. The metric says" in page.text
    assert ("Your answer differs from the metric's" in page.text) == (
        first["job"] == ids[0]
    )  # 0.912
    assert scores[first["job"]] in page.text
    page = posted(client, judge, page, action="undo")
    assert hidden(page)["job"] == first["job"]
    page = posted(client, judge, page, action="agree", **hidden(page))
    page = client.get(judge)
    assert "2 of 2" in page.text
    page = posted(client, judge, page, action="skip", **hidden(page))
    assert "You have no lines left to judge" in page.text
    history = client.get("/v1/judgements", params={"history": True}).json()["data"]
    assert [one["verdict"] for one in history] == ["agree", "withdrawn", "disagree"]
    assert {one["verified"] for one in history} == {False}
    assert history[0]["blind"] is True
    assert "are being computed" in created(client, path).text
    run_reports(engine)
    assert "Agree with the metric" in client.get(path).text
    for ending in ("jsonl", "csv", "label-studio"):
        assert client.get(f"{path}/judgements.{ending}").status_code == 200


def test_the_table_counts_judgements_filters_by_them_and_sends_lines_to_a_queue(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.2, 0.5])
    path = f"/batches/{batch_id}"
    assert 'visually-hidden"> agree' not in client.get(path).text
    for job_id, name, verdict in (
        (ids[0], "Ann", "agree"), (ids[0], "Ben", "disagree"), (ids[1], "Ann", "unsure"),
    ):  # fmt: skip
        note = "group missing" if name == "Ben" else "a note of one's own"
        said = {"reviewer": name, "verdict": verdict, "note": note}
        client.post("/v1/judgements", json={"job_id": job_id} | said).raise_for_status()
    page = client.get(path).text
    assert 'sort=judged#items">Judged' in page
    for descending, line in (("", 3), ("&desc=1", 1)):
        sorted_page = client.get(f"{path}?sort=judged{descending}").text
        assert f"Choose line {line}" in sorted_page.partition('name="line"')[2][:60]
    for verdict in ("agree", "disagree", "unsure"):
        assert f'1<span class="visually-hidden"> {verdict}' in page
    assert "group missing</span>" in page
    assert "note of one" not in page
    table = list(csv.DictReader(io.StringIO(client.get(f"{path}/results.csv").text)))
    assert [[row[name] for name in ("agree", "disagree", "unsure", "tags")] for row in table] == [
        ["1", "1", "", "group missing: 1"], ["", "", "1", ""], ["", "", "", ""],
    ]  # fmt: skip
    for query, count in (
        ("judged=yes", 2), ("judged=no", 1), ("by=Ann", 2), ("by=Ben", 1), ("judged=agree", 1),
        ("judged=agree&by=Ben", 0), ("judged=no&by=Ben", 2), ("tag=group-not-named", 1),
        ("tag=misquoted", 0), ("judged=disagree&tag=group-not-named", 1),
    ):  # fmt: skip
        page = client.get(f"{path}?{query}").text
        assert f"{count} of 3 lines" in page, query
        assert "(remove this filter)" in page
    assert "remove this filter" not in client.get(f"{path}?judged=perhaps").text
    wrong = {"reviewer": "Cleo", "tag": "unsure the decision is wrong"}
    opened = client.get(f"{path}?open=3")
    assert 'value="unsure the decision is wrong"' in opened.text
    client.post(f"/jobs/{ids[2]}/judgements", data={"csrf": token(opened)} | wrong)
    assert "1 of 3 lines" in client.get(f"{path}?tag=decision-wrong").text
    [judgement, *_] = csv.DictReader(io.StringIO(client.get(f"{path}/judgements.csv?texts=1").text))
    assert judgement["tags"] == "the decision is wrong"
    assert (judgement["text"], judgement["decision"]) == (
        "post number 3 is quite friendly", "non-hateful",
    )  # fmt: skip
    assert "quite friendly" not in client.get(f"{path}/judgements.csv").text
    form = client.get(f"/queues?batch={batch_id}&line=2&line=3&sort=score")
    assert 'value="line=2&amp;line=3"' in form.text
    chosen = {"batch": batch_id, "query": "line=2&line=3", "name": "Chosen lines"}
    made = posted(client, "/queues", form, order="surprising", **chosen)
    assert client.get(f"/v1/review-queues/{made.url.path[8:]}").json()["lines"] == 2


def test_a_jobs_page_takes_judgements_and_shows_the_history(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    path = f"/jobs/{job_id}"
    page = client.get(path)
    assert "Nobody has judged this score yet." in page.text
    form = {"verdict": "unsure", "reviewer": "Bé", "note": "hm"}
    page = posted(client, f"{path}/judgements", page, **form)
    assert "? unsure" in page.text
    assert "unverified" in page.text
    marked = {"reviewer": "Bé", "verdict": "disagree"}
    spans = "explanation 0-4\r\n quite friendly "
    page = posted(client, f"{path}/judgements", page, spans=spans, **marked)
    assert re.search(r"<bdi[^>]*>Post</bdi>; <bdi[^>]*>quite friendly</bdi>", page.text)
    for wrong in ("t", "no such words", "text 3-3", "text 0-900", "label 0-1", "x\n" * 60):
        answer = client.post(
            f"{path}/judgements", data={"csrf": token(page), **marked, "spans": wrong}
        )
        assert answer.status_code == 422, wrong
    [now] = client.get("/v1/judgements", params={"job": job_id}).json()["data"]
    assert [(one["of"], one["start"]) for one in now["spans"]] == [("explanation", 0), ("text", 17)]
    (withdraw,) = re.findall(r'action="(/judgements/[^"]*/withdraw)"', page.text)
    page = posted(client, withdraw, page)
    assert "Nobody has judged this score yet." in page.text


def test_a_button_that_is_pressed_twice_makes_one_queue(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2])
    form = client.get("/queues", params={"batch": batch_id, "verdict": "holds_up"})
    assert 'name="query" maxlength="2000" value="verdict=holds_up"' in form.text
    keys = re.findall(r'name="once" value="([0-9a-f]{32})"', form.text)
    assert len(set(keys)) == 3  # of each button another one
    first, other = keys[:2]
    sent = [(first, "n"), (first, "n"), (first, "m"), (other, "n")]
    made = []
    for key, name in sent:
        data = {"csrf": token(form), "batch": batch_id, "name": name, "once": key}
        made.append(client.post("/queues", data=data).headers["location"])
    assert made[0] == made[1]
    assert len(set(made)) == 3
    assert "requires no key" in client.get(f"{made[0]}/judge").text


def test_texts_stay_shown_for_a_sitting_where_somebody_has_set_it(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2])
    form = client.get(f"/queues?batch={batch_id}")
    judge = f"{posted(client, '/queues', form, batch=batch_id, name='n').url.path}/judge"
    name = posted(client, judge, client.get(judge), reviewer="Ann", action="start")
    assert '<html lang="en">' in name.text
    assert 'href="?texts=on">Show the texts of every line' in name.text
    page = client.get(f"{judge}?texts=on&keys=off")
    answered = {"texts": "on", "keys": "off", "action": "agree", **hidden(page)}
    for shown in (page, page := posted(client, judge, page, **answered)):
        assert '<html lang="en" data-revealed>' in shown.text
        assert 'href="?keys=off">Hide the texts' in shown.text
        assert 'href="?texts=on">Turn keyboard shortcuts on' in shown.text
    assert "Next line" in page.text
    assert "texts=on" in str(page.url)
    assert not client.cookies.get("touchstone_reveal")


def test_what_is_wrong_in_a_judgement_can_be_mended_where_it_is_refused(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    page = client.get(f"/jobs/{job_id}")
    form = {"csrf": token(page), "reviewer": "Ann", "verdict": "agree", "human_score": "7"}
    refused = client.post(f"/jobs/{job_id}/judgements", data=form | {"spans": "no such words"})
    assert refused.status_code == 422
    assert 'type="hidden" name="spans"' not in refused.text
    assert '<textarea id="again-spans" name="spans"' in refused.text
    assert '<input id="again-human_score" name="human_score" value="7"' in refused.text


def test_a_form_of_another_page_judges_nothing(client: httpx.Client, engine: Engine) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    form = {"verdict": "agree", "reviewer": "Ann"}
    assert client.post(f"/jobs/{job_id}/judgements", data=form).status_code == 403
    assert client.get("/v1/judgements").json()["data"] == []


def test_the_page_of_a_batch_says_how_far_people_agree_once_there_are_enough(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [place / 20 for place in range(20)])
    path = f"/batches/{batch_id}/statistics"
    for place, job_id in enumerate(ids):
        assert "Agreement between people" not in client.get(path).text
        verdict = "agree" if place < 15 else "disagree"
        body = {"job_id": job_id, "verdict": verdict, "reviewer": "Ann"}
        answer = client.post("/v1/judgements", json=body)
        assert answer.status_code == 201
    assert "The agreement between people is being computed" in created(client, path).text
    run_reports(engine)
    shown = client.get(path).text
    assert "Agree with the metric" in shown
    assert "0.75" in shown.partition("Agree with the metric")[2][:200]
    assert "eople or a queue chose them" in shown


def test_every_answer_can_be_filtered_by(client: httpx.Client, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2])
    page = client.get(f"/batches/{batch_id}?judged={OPINIONS[-1]}").text
    choices = page.partition('<select name="judged">')[2].partition("</select>")[0]
    options = re.findall(r"<option(?: selected)?>(\w+)<", choices)
    assert options == ["yes", "no", *OPINIONS]


def test_three_people_have_a_matrix() -> None:
    pairs = [
        {"first": one, "second": other, "agreed": {"value": share}}
        for one, other, share in (("Ann", "Ben", 0.5), ("Ann", "Cyd", 0.25), ("Ben", "Cyd", None))
    ]
    macros: Any = templates.environment().get_template("agreement.html").module
    rows = re.findall(r"<tr>.*?</tr>", str(macros.matrix(pairs)), re.DOTALL)
    told = [re.sub(r"<[^>]*>", " ", row).split() for row in rows]
    assert told == [
        ["Ann", "Ben", "Cyd"],
        ["Ann", "–", "0.500", "0.250"],
        ["Ben", "0.500", "–", "–", "no", "value"],
        ["Cyd", "0.250", "–", "no", "value", "–"],
    ]


def _ends(above: tuple[float, int], below: tuple[float, int]) -> str:
    """What the page says of shares that agree, of so many answers each."""
    none = {"value": None, "low": None, "high": None, "of": 0}
    tenths = [{"low": place / 10, "high": (place + 1) / 10, "agreed": none} for place in range(10)]
    figures = {
        "warnings": [], "agreed": none, "kappa": none, "alpha": none, "with_metric": none,
        "reviewers": 1, "parts": [], "by_verdict": {}, "by_language": {}, "pairs": [],
        "disputed": [], "deciles": tenths,
    }  # fmt: skip
    ends = {"above": above, "below": below}
    figures |= {name: none | {"value": share, "of": of} for name, (share, of) in ends.items()}
    macros: Any = templates.environment().get_template("agreement.html").module
    return str(macros.figures(figures, "hatexscore"))


def test_high_and_low_scores_are_counted_as_they_are_and_a_handful_is_not_told() -> None:
    shown = _ends((6 / 7, 7), (0.2, 5))
    assert (
        "in 6 of 7 cases with a score above 0.7, and in 1 of 5 cases with a score below 0.3."
        in shown
    )
    shown = _ends((0.0, 2), (2 / 3, 9))
    assert "in 6 of 9 cases with a score below 0.3." in shown
    assert "above 0.7" not in shown
    shown = _ends((0.0, 2), (1.0, 3))
    assert "People agree with the metric in" not in shown
    assert "once each group has at least 5 answers" in shown


def test_a_part_of_a_score_is_judged_on_the_page_of_its_job(
    client: httpx.Client, engine: Engine
) -> None:
    _, (job_id,) = make_batch(engine, [0.9])
    page = client.get(f"/jobs/{job_id}")
    assert '<option value="qf">Quotes what matters</option>' in page.text
    form = {"reviewer": "Ann", "verdict": "disagree", "about": "qf"}
    page = posted(client, f"/jobs/{job_id}/judgements", page, **form)
    assert "<td>Quotes what matters</td>" in page.text


def test_who_only_judges_makes_no_report_by_looking(opens: Opens, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2, 0.5], tenant="a")
    page = entered(opens, "a", "review").get(f"/batches/{batch_id}/statistics").raise_for_status()
    assert "your API key may not make reports" in page.text
    with engine.connect() as connection:
        reports = select(func.count()).where(jobs.c.metric == "hatexscore-report")
        assert connection.execute(reports).scalar_one() == 0
    assert created(
        entered(opens, "a", "score", "batch"), f"/batches/{batch_id}/statistics"
    ).is_success
    html = entered(opens, "a", "review").get(f"/batches/{batch_id}/statistics").text
    assert "The report is being created" in html
