"""`explain` through the real door: a job, lines of a batch, its report and the page of a result."""

from __future__ import annotations

import pytest

from tests.batches import Json
from tests.explanations.scripted import HATEFUL, NAME, Answered
from tests.explanations.test_batch import TEXT

URL = "/v1/scores/hatexscore"
BODY: Json = {"text": TEXT, "model": NAME, "explain": True}
BODY |= {"options": {"control_draws": 19}}


def test_a_line_has_the_result_of_a_single_job_and_the_report_reads_it(scene: Answered) -> None:
    alone = scene.client.post(URL, json=BODY)
    assert alone.status_code == 202, alone.text
    lines = [
        {"custom_id": str(seed), "method": "POST", "url": URL, "body": {**BODY, "seed": seed}}
        for seed in range(3)
    ]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    assert batch["request_counts"]["completed"] == 3
    results = [one["response"]["body"]["result"] for one in scene.file(batch["output_file_id"])]
    details = {"expand": "details"}
    job = scene.client.get(f"/v1/jobs/{alone.json()['id']}", params=details).json()
    assert job["result"] in results
    assert {one["elicitation"]["explanation"] for one in results} == {HATEFUL}
    assert {one["elicitation"]["provenance"]["prompt"]["name"] for one in results} == {
        "hatexscore-table8"
    }
    report = scene.client.post(
        "/v1/reports",
        json={"metric": "hatexscore", "batch": batch["id"]},
        headers={"Prefer": "wait=0"},
    ).json()
    scene.work()
    made = scene.client.get(f"/v1/jobs/{report['id']}").json()["result"]
    assert (made["scored"], made["left_out"]) == (3, {})


def test_the_page_shows_the_explanation_that_was_elicited(scene: Answered) -> None:
    job_id = scene.client.post(URL, json=BODY).json()["id"]
    scene.work()
    shown = scene.client.get(f"/jobs/{job_id}").text
    assert "for what goes wrong" in shown


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"explain": {"prompt": "none"}}, "#/explain/prompt"),
        ({"explain": {"policy": {"text": "x"}, "prompt": "haf-justify"}}, "#/explain/policy"),
        ({"explain": None}, "#/explanation"),
    ],
)
def test_what_cannot_be_elicited_is_refused_when_it_is_posted(
    scene: Answered, more: Json, pointer: str
) -> None:
    answer = scene.client.post(URL, json={**BODY, **more})
    assert answer.status_code == 422
    assert pointer in [one["pointer"] for one in answer.json()["errors"]]
