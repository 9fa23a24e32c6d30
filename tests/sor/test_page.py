"""The page of a `sor` job, of reports that the metric made."""

from __future__ import annotations

from typing import Any

import pytest

from services.sor.contract import CONTRACT, SorRequest
from services.sor.metric import SERVICE
from services.sor.page import TEMPLATE, SorView, view
from services.sor.report import SorResult
from services.sor.verdict import NAMES
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import significant
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed

pytestmark = pytest.mark.usefixtures("reader")


def shown(body: Any, *, kept: bool = True) -> tuple[SorResult, SorView, Parsed]:
    asked = SorRequest.model_validate(body)
    report = SERVICE.score(asked)
    if not kept:
        report = SorResult.model_validate(without_text(report, asked))
    found = view(asked if kept else None, report)
    return report, found, parsed(TEMPLATE, found, report)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_is_shown(name: str) -> None:
    report, _found, page = shown(CONTRACT.examples[name])
    assert "says nothing about legal compliance" in page.bare
    for item in report.items:
        assert NAMES[item.name] in page.bare
    for value in report.components.model_dump().values():
        assert value is None or significant(value) in page.bare


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_the_texts_are_whole_and_what_they_share_is_marked(name: str) -> None:
    body = CONTRACT.examples[name]
    report, found, _ = shown(body)
    assert "".join(piece.text for piece in found.post) == body["text"]
    written = ["".join(piece.text for piece in field.text) for field in found.fields]
    assert written == list(SorRequest.model_validate(body).documents().values())
    marked = sum(bool(piece.marks) for piece in found.post)
    assert bool(marked) is any(one.kind in ("quote", "word") for one in report.evidence)


def test_without_texts_numbers_stay() -> None:
    body = CONTRACT.examples["a specific statement"]
    _, found, page = shown(body, kept=False)
    assert not found.kept
    assert "The text was not kept" in page.bare
    assert body["text"][:20] not in page.bare
    assert [line.value for line in found.lines]


def test_hostile_text_stays_text() -> None:
    _, _, page = shown({"text": HOSTILE, "statement": f"We removed this: “{HOSTILE}” for good."})
    assert is_only_blurred(page, HOSTILE)
