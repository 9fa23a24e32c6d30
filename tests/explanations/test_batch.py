"""Batches of explanations: every line ends as what it is, and scores are those of single jobs."""

from __future__ import annotations

from tests.batches import Json
from tests.explanations.scripted import HATEFUL, Answered

URL = "/v1/explanations"
TEXT = "Those immigrants are ruining our town"
ANSWERS = [HATEFUL, "I'm sorry, but I can't help with that.", "The weather is fine.", HATEFUL]


def line(number: int, answer: str) -> Json:
    body = {"text": TEXT, "answer": {"text": answer}, "score": ["hatexscore"], "seed": number % 3}
    return {"custom_id": str(number), "method": "POST", "url": URL, "body": body}


def test_every_line_ends_as_what_it_is(scene: Answered) -> None:
    lines = [line(number, answer) for number, answer in enumerate(ANSWERS)]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    assert (batch["status"], batch["request_counts"]["completed"]) == ("completed", 4)
    ended = {
        int(one["custom_id"]): one["response"]["body"]["result"]
        for one in scene.file(batch["output_file_id"])
    }
    outcomes = [ended[number]["elicitation"]["outcome"] for number in range(4)]
    assert outcomes == ["answered", "refused", "unparsable", "answered"]
    assert [len(ended[number]["scores"]) for number in range(4)] == [1, 0, 0, 1]
    assert ended[0]["scores"] == ended[3]["scores"]
    alone = scene.client.post(URL, json=lines[0]["body"]).json()["id"]
    scene.work()
    job = scene.client.get(f"/v1/jobs/{alone}", params={"expand": "details"}).json()
    assert job["result"] == ended[0]


def test_a_line_that_no_metric_can_score_is_named_before_any_is_asked(scene: Answered) -> None:
    wrong = line(1, HATEFUL)
    wrong["body"]["score"] = {"hatexscore": {"options": {"tau": 3}}}
    batch = scene.read(scene.make([line(0, HATEFUL), wrong], endpoint=URL))
    assert batch["status"] == "failed"
    [fault] = batch["errors"]["data"]
    assert fault["line"] == 2
    assert "tau" in fault["param"]


def test_a_job_s_page_shows_how_it_ended(scene: Answered) -> None:
    for answer, says in [
        (HATEFUL, "The decision is hateful. 1 metric scored the explanation."),
        (ANSWERS[1], "The model refused, so nothing is scored."),
    ]:
        job = scene.client.post(URL, json=line(0, answer)["body"]).json()["id"]
        scene.work()
        page = scene.client.get(f"/jobs/{job}")
        assert (page.status_code, says in page.text) == (200, True)
