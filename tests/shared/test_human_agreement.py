"""Who judged blind is held against the verdict, who saw it is taken at his word."""

from __future__ import annotations

import pytest

from shared.reports.human_agreement import GivenJudgement


@pytest.mark.parametrize(
    ("verdict", "blind", "metric", "agrees"),
    [
        ("agree", False, "problem_found", 1),
        ("disagree", False, "holds_up", 0),
        ("agree", True, "holds_up", 1),
        ("agree", True, "problem_found", 0),
        ("disagree", True, "holds_up", 0),
        ("disagree", True, "problem_found", 1),
        ("agree", True, "not_tested", None),
        ("unsure", True, "holds_up", None),
        ("unsure", False, "holds_up", None),
    ],
)
def test_agreement_with_the_metric(
    verdict: str, blind: bool, metric: str, agrees: int | None
) -> None:
    assert GivenJudgement("job", "Ann", verdict, None, blind).agrees_with(metric) == agrees
