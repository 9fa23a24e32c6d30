"""Tables for notebooks: escaped, without scripts; texts are closed until asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from services.registry import metrics
from tests.gateway.results import recorded
from touchstone_client import BadRequest, Scores, models, options
from touchstone_client._notebook import job_html, marked, scores_html
from touchstone_client._wire import job_of

METRICS = ("hatexscore", "ice", "haf", "ftc", "hlv", "cot2el", "sor", "consistency")
NASTY = "<script>alert('x')</script> & \"more\""
ALLOWED = {"div", "b", "small", "p", "table", "tr", "th", "td", "ul", "li", "details", "summary",
           "br", "mark", "code"}  # fmt: skip


class Tags(HTMLParser):
    """The names of all tags, and of all attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


def result_of(metric: str) -> Any:
    return job_of(recorded(f"score_{metric}")).result


def test_an_elicited_answer_is_a_table_and_its_explanation_closed() -> None:
    result = job_of(recorded("ask_explanations")).result
    said = result.elicitation.model_copy(update={"explanation": NASTY, "decision": NASTY})
    result = result.model_copy(update={"elicitation": said, "warnings": [NASTY]})
    shown = result._repr_html_()
    tags = Tags(shown)
    assert tags.found <= ALLOWED
    assert tags.attributes <= {"style"}
    assert shown.count("&lt;script&gt;alert") == 3
    assert shown.index("<details>") < shown.index("<summary>")
    assert [one.verdict in shown for one in result.scores] == [True] * len(result.scores)
    assert str(result).count("\n") == 2


@pytest.fixture
def opened() -> Iterator[None]:
    options.show_texts = True
    yield
    options.show_texts = False


@pytest.mark.parametrize("metric", METRICS)
def test_a_result_is_a_table_without_scripts(metric: str) -> None:
    result = result_of(metric).model_copy(update={"reason": NASTY, "warnings": [NASTY]})
    result._sent = {"text": NASTY, "explanation": NASTY}
    shown = result._repr_html_()
    tags = Tags(shown)
    assert tags.found <= ALLOWED
    assert tags.attributes <= {"style"}
    assert result.verdict in shown
    unmarked = re.sub("</?mark[^>]*>", "", shown)
    assert unmarked.count("&lt;script&gt;alert") == 4
    assert str(result).count("\n") == 2
    assert result._repr_mimebundle_() == {"text/plain": str(result), "text/html": shown}


def test_texts_are_closed_until_asked_for() -> None:
    result = result_of("hatexscore")
    assert "<details" not in result._repr_html_()  # nothing was sent by this process
    result._sent = {"text": "a text"}
    assert "<details><summary>Show the text</summary>" in result._repr_html_()


@pytest.mark.usefixtures("opened")
def test_they_can_be_opened() -> None:
    result = result_of("hatexscore")
    result._sent = {"text": "a text"}
    assert "<details open>" in result._repr_html_()


def test_the_evidence_is_marked() -> None:
    request = next(iter(metrics()["hatexscore"].examples.values()))
    result = job_of(recorded("score_hatexscore")).result
    result._sent = request
    quotes = [one for one in result.evidence if one.kind == "quote" and one.start is not None]
    for quote in quotes:
        text = request["text"][quote.start : quote.end]
        assert re.search(rf"<mark [^>]+>{re.escape(text)}</mark>", result._repr_html_())
    assert quotes


def test_marks_leave_the_text_as_it_is() -> None:
    text = "a < b & 👍🏽 c"
    made = marked(text, [(0, 1), (0, 3), (4, 4), (6, 8), (9, 99)])
    assert made == (
        '<mark style="background:#fff3a3">a</mark> &lt; b '
        '<mark style="background:#fff3a3">&amp; </mark>👍🏽 c'
    )


def test_lists_reports_jobs_and_comparisons() -> None:
    scores = Scores([result_of("ice"), BadRequest(422, {"detail": NASTY})] * 15)
    assert scores._repr_html_() == scores_html(scores)
    assert "and 10 more" in scores._repr_html_()
    report = models.BatchReport.model_validate(recorded("get_batch_report"))
    job = job_of(recorded("get_job"))
    for shown in (scores._repr_html_(), report._repr_html_(), job_html(job)):
        assert Tags(shown).found <= ALLOWED
        assert "<script" not in shown
    assert str(report).startswith("hatexscore: ")
