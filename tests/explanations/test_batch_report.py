"""The report over a batch of answers: decisions beside gold labels, what is no answer apart."""

from __future__ import annotations

import csv
import io
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from sklearn.metrics import accuracy_score, f1_score  # type: ignore[import-untyped]

from services.explanations.batch_report import SOURCE
from services.registry import metrics
from shared.contracts.messages import Scored
from tests.batches import Json, WorkedScene
from tests.gateway.results import a_result

pytestmark = pytest.mark.usefixtures("_embedded_models")

URL = "/v1/explanations"
LINES = 200
ANSWERS = {
    "hateful": "It blames immigrants for what goes wrong. Conclusion: hateful.",
    "non-hateful": "It speaks of a town and blames nobody. Conclusion: non-hateful.",
    "refused": "I'm sorry, but I can't help with that.",
    "unparsable": "The weather is fine.",
}


def line(number: int, gold: str, ends: str) -> Json:
    body = {
        "text": f"Those immigrants are ruining our town, says number {number}",
        "answer": {"text": ANSWERS[ends]},
        **({"gold": gold} if number % 2 else {"metadata": {"gold": gold}}),  # the same
        "score": ["sor"] if number < 20 else [],
    }
    return {"custom_id": str(number), "method": "POST", "url": URL, "body": body}


def drawn() -> list[tuple[str, str]]:
    """(gold label, how the answer ends)."""
    random = np.random.default_rng(21)
    golds = random.choice(["hateful", "non-hateful"], LINES, p=[0.4, 0.6]).tolist()
    others = {"hateful": "non-hateful", "non-hateful": "hateful"}
    ends = random.choice(["right", "wrong", "refused", "unparsable"], LINES, p=[0.6, 0.2, 0.1, 0.1])
    told = {"right": golds, "wrong": [others[gold] for gold in golds]}
    return [
        (gold, told[end][number] if end in told else str(end))
        for number, (gold, end) in enumerate(zip(golds, ends.tolist(), strict=True))
    ]


def test_two_hundred_answers_beside_gold_labels(scene: WorkedScene) -> None:
    pairs = drawn()
    lines = [line(number, *pair) for number, pair in enumerate(pairs)]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    assert batch["request_counts"]["completed"] == LINES
    address = f"/v1/batches/{batch['id']}/report"
    assert scene.client.post(address).status_code == 202
    scene.work()
    report = scene.client.get(address).json()
    details = report["details"]
    ends = Counter(end if end in ("refused", "unparsable") else "answered" for _, end in pairs)
    assert {name: one["results"] for name, one in details["outcomes"].items()} == ends
    assert report["undefined"] == LINES - ends["answered"]
    assert report["score"]["value"] is None
    labels = report["gold"]["labels"]
    assert (labels["refused"], labels["unread"]) == (ends["refused"], ends["unparsable"])
    decided = [pair for pair in pairs if pair[1] in ("hateful", "non-hateful")]
    gold, own = zip(*decided, strict=True)
    assert labels["accuracy"]["value"] == pytest.approx(accuracy_score(gold, own))
    assert labels["macro_f1"]["value"] == pytest.approx(f1_score(gold, own, average="macro"))
    right = sum(one == other for one, other in pairs)
    assert labels["accuracy_of_all"]["value"] == pytest.approx(right / LINES)
    cells = {(one["gold"], one["decided"]): one["results"] for one in labels["confusion"]}
    expected = Counter((one, other if other in ANSWERS and other in ("hateful", "non-hateful")
                        else None) for one, other in pairs)  # fmt: skip
    assert cells == expected
    [of_metric] = details["scores"]
    assert (of_metric["metric"], of_metric["results"] + of_metric["unscored"]) == ("sor", 20)
    page = scene.client.get(f"/batches/{batch['id']}/statistics").text
    told = (
        f"Of 200 answers {ends['answered']} give a decision and an explanation, "
        f"{ends['refused']} refuse"
    )
    assert told in page
    assert "gold › labels" in page


def test_items_csv_has_decisions_and_scores(scene: WorkedScene) -> None:
    pairs = drawn()[:30]
    lines = [line(number, *pair) for number, pair in enumerate(pairs)]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    results = {
        one["custom_id"]: one["response"]["body"]["result"]
        for one in scene.file(batch["output_file_id"])
    }
    sheet = scene.client.get(
        f"/v1/batches/{batch['id']}/report", headers={"Accept": "text/csv"}
    ).text
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert [row["gold"] for row in rows] == [gold for gold, _ in pairs]
    for row in rows:
        result = results[row["custom_id"]]
        told = result["elicitation"]
        assert row["elicitation.outcome"] == told["outcome"]
        assert row["elicitation.decision"] == (told["decision"] or "")
        scores = {one["metric"]: one["score"] for one in result["scores"]}
        own = scores.get("sor")
        assert row["scores.sor.score"] == ("" if own is None else repr(own))
        assert row["scores.hatexscore.score"] == ""
        assert row["unscored.count"] == str(len(result["unscored"]))
    assert any(row["scores.sor.score"] for row in rows)
    assert not set(rows[0]) & {"elicitation.answer", "elicitation.explanation"}  # no texts


def test_gold_labels_are_shown_as_they_are_and_never_run(scene: WorkedScene) -> None:
    wild = ("<b>hateful</b>", '"><script>alert(1)</script>', "{{ 7 * 7 }}", "<img src=x onerror=a>")
    lines = [line(number, gold, "hateful") for number, gold in enumerate(wild)]
    batch = scene.finish(scene.make(lines, endpoint=URL))
    scene.client.post(f"/v1/batches/{batch['id']}/report")
    scene.work()
    page = scene.client.get(f"/batches/{batch['id']}").text
    for gold in wild:
        assert str(escape(gold)) in page
    for gold in (one for one in wild if "<" in one):
        assert gold not in page
    found = scene.client.get(f"/v1/batches/{batch['id']}/report").json()["gold"]["labels"]
    assert {one["gold"] for one in found["confusion"]} == set(wild)


def test_what_is_about_scores_is_refused(scene: WorkedScene) -> None:
    asked = {"jobs": ["job_1"], "by": ["metadata.market"]}
    answer = scene.client.post("/v1/reports", json={"metric": "explanations"} | asked)
    assert answer.status_code == 422
    assert "`by` compares scores" in answer.text


def test_marked_passages_lie_beside_those_of_the_first_metric_that_points_at_any() -> None:
    own, other = (
        metrics()[name].report.model_validate(a_result(0.9, name)) for name in ("hatexscore", "sor")
    )

    def spans(*scores: Any) -> list[tuple[int, int]] | None:
        return SOURCE.spans(Scored("job", None, None, SimpleNamespace(scores=scores)))

    assert spans(other, own) == [
        (one.start, one.end) for one in own.evidence if one.kind == "quote"
    ]
    assert spans(other, own)
    assert spans(other) is None
