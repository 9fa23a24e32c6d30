"""Statements and sentences of our own writing, read by the trained reader: floors for each file.

`python -m bench.sor_statements` prints the figures. No rule and no training row was made from the
files of sentences; the rules that the reader replaced were refined on the statements.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bench.sor_statements import FILES, Items, Row, count, request_of, rows_of
from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
from services.sor.report import SorResult

pytestmark = [pytest.mark.usefixtures("_embedded_models"), pytest.mark.full]

FLOORS = {  # file -> least precision and recall of its items
    "german": (0.97, 0.91),
    "german_reported": (0.95, 0.95),
    "german_unseen": (0.97, 0.85),
    "german_unseen_2": (0.97, 0.93),
    "german_unseen_3": (0.97, 0.90),
    "german_unseen_4": (0.97, 0.93),
    "reported": (0.95, 0.93),
    "speech_4": (0.89, 0.97),
    "statements": (0.96, 0.89),
    "unseen_1": (0.97, 0.90),
    "unseen_2": (0.97, 0.86),
    "unseen_3": (0.96, 0.89),
    "unseen_4": (0.97, 0.89),
    "unseen_5": (0.95, 0.89),
    "unseen_6": (0.97, 0.85),
    "sentences_en": (0.82, 0.81),
    "sentences_de": (0.82, 0.90),
}
LEAST_AUC = 0.7  # of good statements against the rest, for each file of statements
STATEMENTS = [name for name in FILES if "missing" in rows_of(name)[0]]


@cache
def scored(name: str) -> list[tuple[Row, SorResult]]:
    rows = rows_of(name)
    requests = [SorRequest.model_validate(request_of(row)) for row in rows]
    return list(zip(rows, SERVICE.score_batch(requests), strict=True))


def items_of(name: str) -> Items:
    rows, reports = zip(*scored(name), strict=True)
    return count(name, rows, [report.model_dump() for report in reports])


@pytest.mark.parametrize("name", FILES)
def test_items_are_read(name: str) -> None:
    found = items_of(name)
    precision, recall = FLOORS[name]
    assert found.precision >= precision
    assert found.recall >= recall
    assert found.auc is None or found.auc >= LEAST_AUC


def test_boilerplate_names_no_facts_and_is_worth_little() -> None:
    for name in STATEMENTS:
        for row, report in scored(name):
            if row["kind"] == "boilerplate":
                assert "facts" in report.missing
                assert (report.score or 0) < 0.5
                assert report.verdict == "problem_found"


def test_evidence_stands_where_it_says() -> None:
    for name in STATEMENTS:
        for row, report in scored(name):
            for one in report.evidence:
                assert one.start is not None
                assert row["statement"][one.start : one.end] == one.text
                if one.kind in ("quote", "word"):
                    assert one.post_start is not None
                    assert 0 <= one.post_start < (one.post_end or 0) <= len(row["text"])


def test_a_statement_about_another_post_names_no_facts_of_this_one() -> None:
    for name in ("statements", "german"):
        good = [row for row, _ in scored(name) if row["kind"] == "good"]
        swapped = zip(good, good[1:] + good[:1], strict=True)
        requests = [
            SorRequest(text=one["text"], statement=other["statement"]) for one, other in swapped
        ]
        reports = SERVICE.score_batch(requests)
        assert np.mean(["facts" in report.missing for report in reports]) >= 0.9
        own = [report.score for row, report in scored(name) if row["kind"] == "good"]
        assert sum(report.score or 0 for report in reports) < sum(one or 0 for one in own) / 2


def test_other_posts_of_the_request_are_the_null() -> None:
    texts = [row["text"] for row, _ in scored("statements")]
    row = next(row for row, _ in scored("statements") if row["kind"] == "good")
    request = SorRequest(text=row["text"], statement=row["statement"], other_posts=tuple(texts))
    control = SERVICE.score(request).control
    assert control is not None
    assert (control.pool, control.draws, control.exact) == ("request", len(set(texts)) - 1, True)
    assert control.win_rate == 1
    assert control.p_value == pytest.approx(1 / (1 + control.draws))
