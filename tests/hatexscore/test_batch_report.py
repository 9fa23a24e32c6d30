"""HateXScore over many: means of the parts, conflicts by name; nothing depends on who is first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from services.hatexscore.batch_report import Row
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreBatchReport
from shared.contracts import BatchReportRequest, Scored
from shared.estimates import BatchStatistics

score = SERVICE.score


def batch_report(rows: Any, request: Any) -> HatexscoreBatchReport:
    """The report over these results."""
    over = BatchStatistics(SERVICE.contract, rows, request)
    return SERVICE.summarize(rows, over)


REQUEST = BatchReportRequest(batch="batch_1")


def row(name: str, **change: Any) -> Row:
    asked = CONTRACT.examples["your own probabilities"] | change
    request = HatexscoreRequest.model_validate(asked)
    return Scored(f"job_{name}", name, request, score(request))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [
        row("kind"),
        row("conflict", predicted_label="hateful"),
        row("silent", explanation="Nobody knows."),
        row("moved", probabilities={"original": 0.4, "masked": 0.1}),
    ]


def test_each_component_is_the_mean_of_what_is_defined(rows: list[Row]) -> None:
    report = batch_report(rows, REQUEST)
    for part, found in report.components.items():
        values = [getattr(one.report.components, part) for one in rows]
        defined = [value for value in values if value is not None]
        assert found.of == len(defined)
        assert found.value == pytest.approx(np.mean(defined))
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_conflicts_are_named(rows: list[Row]) -> None:
    labels = batch_report(rows, REQUEST).labels
    assert (labels.compared, labels.conflicting, labels.conflicts) == (3, 1, ("conflict",))
    assert labels.no_conclusion == 1


def test_the_means_do_not_depend_on_the_order(rows: list[Row]) -> None:
    forth, back = batch_report(rows, REQUEST), batch_report(rows[::-1], REQUEST)
    assert forth.labels == back.labels
    for part, found in forth.components.items():
        assert found.value == pytest.approx(back.components[part].value)


def test_nothing_is_undefined_and_said(rows: list[Row]) -> None:
    empty = batch_report([], REQUEST)
    assert (empty.scored, empty.score.value) == (0, None)
    assert empty.warnings
