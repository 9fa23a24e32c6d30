"""Who judged blind is held against the verdict, who saw it is taken at his word."""

from __future__ import annotations

import pytest

from shared.reports.human_agreement import GivenJudgement


@pytest.mark.parametrize(
    ("verdict", "blind", "metric", "agrees"),
    [
        ("agree", False, "unsupported", 1),
        ("disagree", False, "supported", 0),
        ("agree", True, "supported", 1),
        ("agree", True, "unsupported", 0),
        ("disagree", True, "supported", 0),
        ("disagree", True, "unsupported", 1),
        ("agree", True, "undecided", None),
        ("disagree", True, "undefined", None),
        ("unsure", True, "supported", None),
        ("unsure", False, "supported", None),
    ],
)
def test_agreement_with_the_metric(
    verdict: str, blind: bool, metric: str, agrees: int | None
) -> None:
    assert GivenJudgement("job", "Ann", verdict, None, blind).agrees_with(metric) == agrees
