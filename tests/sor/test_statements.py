"""Statements of our own writing: good ones stand above all others, and what is missing is named.

`statements.jsonl` is what the rules were refined on; of the `unseen_*` files the card has what each
gave before the rules knew it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
from services.sor.report import ITEMS, SorResult

FOLDER = Path(__file__).parent
FILES = ("statements", "unseen_1", "unseen_2", "unseen_3", "unseen_4")
Row = dict[str, Any]


@cache
def scored(name: str) -> list[tuple[Row, SorResult]]:
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]
    requests = [SorRequest(text=row["text"], statement=row["statement"]) for row in rows]
    return list(zip(rows, SERVICE.score_batch(requests), strict=True))


def scores(found: Sequence[tuple[Row, SorResult]], *, good: bool) -> list[float]:
    values = [report.score for row, report in found if (row["kind"] == "good") is good]
    assert all(value is not None for value in values)
    return [value for value in values if value is not None]


def test_there_are_sixty_and_four_sets_that_were_unseen() -> None:
    kinds = [row["kind"] for row, _ in scored("statements")]
    assert [kinds.count(kind) for kind in ("good", "boilerplate", "missing")] == [20, 20, 20]
    assert [len(scored(name)) for name in FILES[1:]] == [20, 20, 20, 14]
    missing = {item for row, _ in scored("statements") for item in row["missing"]}
    assert missing == set(ITEMS) - {"restriction"}


def test_good_ones_stand_above_the_rest() -> None:
    for name in FILES:
        good, rest = (scores(scored(name), good=flag) for flag in (True, False))
        assert mannwhitneyu(good, rest).statistic / (len(good) * len(rest)) >= 0.95


def test_what_is_missing_is_named() -> None:
    for name in FILES:
        lacking = [pair for pair in scored(name) if pair[0]["kind"] == "missing"]
        named = [set(row["missing"]) <= set(report.missing) for row, report in lacking]
        alone = [set(row["missing"]) == set(report.missing) for row, report in lacking]
        assert np.mean(named) >= 0.95
        assert np.mean(alone) >= 0.85


def test_boilerplate_names_no_facts_and_is_worth_little() -> None:
    for name in FILES:
        found = [report for row, report in scored(name) if row["kind"] == "boilerplate"]
        assert all("facts" in report.missing and (report.score or 0) < 0.5 for report in found)
        assert all(report.verdict == "problem_found" for report in found)


def test_evidence_stands_where_it_says() -> None:
    for name in FILES:
        for row, report in scored(name):
            for one in report.evidence:
                assert one.start is not None
                assert row["statement"][one.start : one.end] == one.text
                if one.kind in ("quote", "word"):
                    assert one.post_start is not None
                    assert 0 <= one.post_start < (one.post_end or 0) <= len(row["text"])


def test_a_statement_about_another_post_names_no_facts_of_this_one() -> None:
    for name in FILES:
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


def test_where_a_measure_applies_and_where_rules_do() -> None:
    for sentence, tells in [
        ("Scope: every market we serve.", True),
        ("It concerns viewers in Chile and Peru.", True),
        ("We care for the safety of all users.", False),
        ("Our rules apply in all countries.", False),
    ]:
        body = SorRequest(text="A picture.", statement=f"This is about your post. {sentence}")
        assert ("territorial_scope" not in SERVICE.score(body).missing) is tells
