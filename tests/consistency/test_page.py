"""The page of a `consistency` job, of reports that the metric made."""

from __future__ import annotations

from typing import Any

import pytest

from services.consistency.contract import CONTRACT, ConsistencyRequest
from services.consistency.metric import SERVICE
from services.consistency.page import TEMPLATE, ConsistencyView, view
from services.consistency.report import ConsistencyResult
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import significant
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed

OWN = [name for name, body in CONTRACT.examples.items() if "model" not in body]


def shown(
    asked: ConsistencyRequest, *, kept: bool = True
) -> tuple[ConsistencyResult, ConsistencyView, Parsed]:
    report = SERVICE.score(asked)
    if not kept:
        report = ConsistencyResult.model_validate(without_text(report, asked))
    found = view(asked if kept else None, report)
    return report, found, parsed(TEMPLATE, found, report)


def example(name: str, **more: Any) -> ConsistencyRequest:
    return ConsistencyRequest.model_validate(CONTRACT.examples[name] | more)


@pytest.mark.parametrize("name", OWN)
def test_every_example_is_shown(name: str) -> None:
    report, found, page = shown(example(name))
    for value in report.components.model_dump().values():
        assert value is None or significant(value) in page.bare
    assert "".join(piece.text for piece in found.text) == CONTRACT.examples[name]["text"]


def test_a_model_s_report_shows_edits_words_and_both_nulls() -> None:
    from bench.planted_consistency import CopyingModel, asked_of, copying

    with copying(CopyingModel()):
        [asked] = asked_of(CopyingModel(), 1, draws=19)
        report, found, page = shown(asked)
    assert [line.row for line in found.lines] == list(report.edit_rows)
    assert len(found.nulls) == 2
    assert all(block.chart is not None for block in found.nulls)
    assert "cited words were removed (deleted)" in page.bare
    for heat in (found.answer_heat, found.explanation_heat):
        stretches = [one for run in heat for one in run.stretches]
        assert "".join(one.text for one in stretches) == asked.text
        assert sum(one.level == 9 for one in stretches) == 1


def test_without_texts_numbers_stay() -> None:
    report, found, page = shown(example("your own predictions"), kept=False)
    assert (found.kept, found.answer_heat) == (False, ())
    assert "The text was not kept" in page.bare
    assert report.components.simulatability == 1


def test_hostile_text_stays_text() -> None:
    words = {"answer": "yes", "edits": ["no", "yes"]}
    asked = ConsistencyRequest.model_validate(
        {
            "text": f"{HOSTILE} and more",
            "explanation": f"It says “{HOSTILE}”.",
            "edits": [{"text": "and more"}, {"text": HOSTILE}],
            "predictions": words,
        }
    )
    _, _, page = shown(asked)
    assert is_only_blurred(page, HOSTILE)
