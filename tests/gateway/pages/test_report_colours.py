"""What a report says by colour and title: bad looks bad everywhere, names are words."""

from __future__ import annotations

from typing import Any

import pytest

from services.gateway.pages.batch_report import design_of
from services.gateway.pages.templates import STATIC
from services.registry import metrics
from shared.contracts.service import ReportedContract
from shared.reports.pages.report_design import CountBars

MEAN = {"value": 0.5, "low": 0.4, "high": 0.6, "of": 9}
QUOTES = dict.fromkeys(("exact", "fuzzy", "missing", "results_exact", "results_missing"), 1)
REPORTS: dict[str, dict[str, Any]] = {
    "hatexscore": {
        "scored": 9,
        "labels": {"compared": 6, "conflicting": 2, "no_conclusion": 1},
        "quotes": QUOTES,
    },
    "hlv": {"paired": [{"method": "rank", "closer": 3, "equal": 2, "farther": 1}]},
    "cot2el": {
        "explanations": {"kept": 1, "contradicted": 1, "unlike": 1},
        "options": {"supported": 1, "opposed": 1, "unexplained": 1},
    },
    "ice": {
        "configurations": [
            {
                "configuration": {
                    "model": "embedded-hate", "explanation": "attention", "k": 0.2,
                    "operator": "delete", "aspect": aspect, "variant": "robust",
                },
                "win_rate": MEAN,
                "verdicts": {"faithful": 1, "inconclusive": 1, "anti-faithful": 1},
            }
            for aspect in ("sufficiency", "necessity")
        ]
    },
    "haf": {"groups": [{"model": "(unnamed)", "dataset": "(unnamed)", "means": {"sos": MEAN}}]},
}  # fmt: skip
BAD = {
    "state a different decision", "not in the text", "some quotes not in the text",
    "farther from people", "dropped: not in the reasoning", "anti-faithful",
}  # fmt: skip


@pytest.mark.parametrize("metric", ["hatexscore", "hlv", "cot2el", "ice"])
def test_what_is_bad_looks_like_a_problem_and_nothing_else_does(metric: str) -> None:
    stacked = [
        one
        for one in design_of(metric, REPORTS[metric])
        if isinstance(one, CountBars) and one.stacked
    ]
    assert stacked
    for one in stacked:
        for name, _ in one.bars:
            assert (one.tones.get(name) == "problem_found") == (name in BAD), name
    rules = (STATIC / "batch.css").read_text("utf-8").splitlines()
    [orange] = [rule for rule in rules if rule.startswith(".fill") and "--orange" in rule]
    assert orange.startswith(".fill-problem_found {")


def test_a_configuration_is_told_in_plain_words() -> None:
    titles = " ".join(one.title for one in design_of("ice", REPORTS["ice"]))
    assert "Single tests: Top 20 % of the tokens by attention, deleted" in titles
    assert "Single tests: Top 20 % of the tokens by attention, all others deleted" in titles
    assert "embedded-hate" not in titles  # of one model that is said elsewhere


def test_what_has_no_name_has_none_in_a_title() -> None:
    assert [one.title for one in design_of("haf", REPORTS["haf"])] == ["The six parts"]


def test_the_range_of_a_score_is_the_results_own() -> None:
    ranges = {name: one.score_range for name, one in metrics().items()}
    assert ranges["cot2el"] == (0, 1)
    assert isinstance(metrics()["hlv"], ReportedContract)
    assert ranges["hlv"] is None  # a gain and an agreement have different ones
