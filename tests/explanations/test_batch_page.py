"""The page of a batch of explanations: decisions, explanations, scores and refusals, by filter."""

from __future__ import annotations

import csv
import io

import httpx
import pytest
from sqlalchemy import Engine, text

from tests.batches import Json
from tests.explanations.scripted import HATEFUL, Answered
from tests.explanations.test_batch import ANSWERS, URL, line
from tests.gateway.pages.test_pages import created


@pytest.fixture
def path(scene: Answered) -> str:
    """Of a batch with one answer that no metric was asked about besides."""
    lines = [line(number, answer) for number, answer in enumerate(ANSWERS)]
    unasked = line(4, HATEFUL)
    unasked["body"]["score"] = []
    batch = scene.finish(scene.make([*lines, unasked], endpoint=URL))
    return f"/batches/{batch['id']}"


def rows(page: httpx.Response) -> list[str]:
    """Of the table, as they are shown."""
    body = page.text.partition('aria-label="Lines of the batch"')[2].partition("</table>")[0]
    return body.partition("<tbody")[2].split("<tr>")[1:]


def test_every_line_stands_in_the_table_with_decision_explanation_and_score(
    scene: Answered, path: str
) -> None:
    created(scene.client, f"{path}/statistics").raise_for_status()
    scene.work()
    statistics = scene.client.get(f"{path}/statistics").text
    assert '<p class="headline">' not in statistics  # there is no mean over several metrics
    assert (
        "Of 4 answers 2 give a decision and an explanation, 1 refuse and 1 cannot be read."
    ) in statistics
    assert "Outcomes of the answers" in statistics
    assert "Split the scores" not in statistics  # a report that splits scores is refused
    page = scene.client.get(path)
    assert "5 of 5 lines" in page.text
    told = {one.partition("<bdi>")[2].partition("<")[0]: one for one in rows(page)}
    assert set(told) == set("01234")
    for number in "03":
        assert "The model decides hateful. hatexscore: " in told[number]
        assert "blaming immigrants for what goes wrong" in told[number]
    assert "The model refuses: it neither decides nor explains." in told["1"]
    assert "<td><bdi>hateful</bdi></td>" in told["0"]
    assert "<td><bdi>" not in told["1"]
    assert "No decision can be read from the answer." in told["2"]
    assert (
        "The model decides hateful, but no metric was asked to score the explanation." in told["4"]
    )


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("reason=refused", "1"),
        ("reason=unparsable", "2"),
        ("decision_stated=hateful", "034"),
        ("decision_stated=hateful&score_from=0", "03"),
        ("hatexscore_from=0&hatexscore_to=1", "03"),
        ("haf_from=0", ""),
        ("verdict=not_tested", "124"),
        ("verdict=holds_up", "03"),
        ("text=RUINING", "01234"),
    ],
)
def test_filters_leave_what_they_say(scene: Answered, path: str, query: str, lines: str) -> None:
    page = scene.client.get(f"{path}?{query}")
    assert f"{len(lines)} of 5 lines" in page.text
    assert sorted(one.partition("<bdi>")[2][0] for one in rows(page)) == list(lines)


def test_an_opened_line_shows_the_text_and_the_answer(scene: Answered, path: str) -> None:
    assert '<a href="?open=1">' in scene.client.get(path).text
    shown = scene.client.get(f"{path}?open=1").text
    assert "Those immigrants are ruining our town" in shown
    assert '<mark class="mark-evidence">Conclusion: hateful.' in shown


def test_a_table_of_them_is_a_file(scene: Answered, path: str) -> None:
    file = scene.client.get(f"{path}/results.csv?decision_stated=hateful").text
    found = list(csv.DictReader(io.StringIO(file)))
    assert [one["custom_id"] for one in found] == ["0", "3", "4"]
    assert [bool(one["scores.hatexscore.score"]) for one in found] == [True, True, False]


def test_texts_that_are_not_kept_are_not_shown(scene: Answered) -> None:
    kept: Json = line(0, HATEFUL)
    kept["body"]["do_not_store_text"] = True
    batch = scene.finish(scene.make([kept], endpoint=URL))
    page = scene.client.get(f"/batches/{batch['id']}")
    assert "1 of 1 lines" in page.text
    assert "ruining" not in page.text
    assert "The model decides hateful" in page.text
    opened = scene.client.get(f"/batches/{batch['id']}?open=1").text
    assert "The texts were not kept." in opened
    assert "ruining" not in opened


def test_explanations_move_no_trend_of_a_metric(scene: Answered, path: str, engine: Engine) -> None:
    assert scene.client.get(path).status_code == 200
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM score_hours")).scalar_one() == 0
        assert connection.execute(text("SELECT count(*) FROM result_facts")).scalar_one() == 5
