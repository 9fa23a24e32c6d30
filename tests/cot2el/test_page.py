"""CoT2EL's page, of reports that the metric made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.cot2el.contract import CONTRACT, Cot2elRequest
from services.cot2el.metric import SERVICE
from services.cot2el.page import TEMPLATE, Cot2elView, view
from services.cot2el.report import Cot2elResult
from shared.contracts.messages import Report
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import significant
from tests.cot2el.writers import EXAMPLE, THOUGHT, StubWriter, bound, request, sent
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed

score = SERVICE.score


def shown(
    asked: Cot2elRequest, *, kept: bool = True, writer: StubWriter | None = None
) -> tuple[Cot2elResult, Cot2elView, Parsed]:
    with bound(writer):
        report = score(asked)
    if not kept:
        report = Cot2elResult.model_validate(without_text(report, asked))
    found = view(asked if kept else None, report)
    return report, found, parsed(TEMPLATE, found, report)


def said(report: Report) -> str:
    """What its checks say."""
    return " ".join(one.sentence for one in report.checks)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_is_shown_whole(name: str) -> None:
    asked = Cot2elRequest.model_validate(CONTRACT.examples[name])
    report, found, page = shown(asked)
    assert "".join(part.piece.text for part in found.parts) == asked.reasoning
    pairs = len(asked.pairs or ())
    similar = 4 if name == "one pair is not in the reasoning" else pairs
    assert said(report).startswith(f"{similar} of {pairs} explanations")
    assert report.control is not None
    assert report.control.other_items is not None
    numbers = [*report.components.model_dump().values()]
    numbers += report.control.model_dump(exclude={"other_items"}).values()
    numbers += report.control.other_items.model_dump().values()
    for one in report.evidence:
        numbers += [one.value, one.start, one.end]
        assert one.original in page.sensitive
    numbers += [one.similarity for one in report.dropped]
    if report.validation is not None:
        for way in (report.validation.group_mean, report.validation.parsed):
            numbers += way.model_dump(exclude={"columns"}).values()
            numbers += [number for number in way.columns.model_dump().values() if number]
    assert [number for number in numbers if significant(number) not in page.bare] == []
    assert ("Compared with an annotator" in page.bare) is (report.validation is not None)


def test_overlapping_spans_each_keep_their_tag() -> None:
    sentence = "People often carry umbrellas when it rains"
    pairs = [
        {"explanation": sentence, "label": "A"},
        {"explanation": sentence, "label": "C", "stance": "oppose"},
    ]
    _, found, page = shown(sent(pairs=pairs))
    (ending,) = [part for part in found.parts if part.tags]
    assert [tag.text for tag in ending.tags] == ["A+", "C−"]
    assert ending.piece.classes == "mark-support mark-oppose"
    assert "[speaks for A; speaks against C]" in page.sensitive


def test_what_belongs_to_no_option_is_shown() -> None:
    report, found, page = shown(request(reasoning=None))
    assert report.unplaced
    assert "weather" in page.sensitive
    assert found.parse
    assert "".join(piece.text for piece in found.parse) == report.parse


@pytest.mark.parametrize("third", ["no JSON today", "{}"])
def test_a_parse_that_failed_is_no_finding(third: str) -> None:
    usual = StubWriter().answer
    writer = StubWriter(lambda stage, *rest: third if stage == 3 else usual(stage, *rest))
    report, _found, page = shown(request(), writer=writer)
    assert report.status == "parse_failed"
    assert "nothing about the reasoning" in said(report)
    assert report.verdict == "not_tested"
    assert "no value" in page.bare


def test_shuffled_words_that_do_as_well_are_told() -> None:
    pairs = [{"explanation": "no no no", "label": "A"}]
    report, _found, _ = shown(sent(reasoning="no no no", pairs=pairs))
    assert report.components.faithfulness == 1
    assert report.verdict == "problem_found"
    assert "Explanations with shuffled words score just as well" in said(report)


@pytest.mark.parametrize("fields", [{"variant": "paper"}, {"min_similarity": 0}])
def test_without_a_threshold_being_kept_is_no_praise(fields: dict[str, Any]) -> None:
    pairs = [{"explanation": "zzz qqq xxx", "label": "A"}]
    report, _, _ = shown(sent(pairs=pairs, **fields))
    assert report.score == 1
    mean = significant(report.components.mean_similarity, 2)
    assert said(report) == (
        f"Every explanation was matched to its nearest passage, with a mean similarity of {mean}."
    )
    assert report.verdict == "not_tested"


def test_what_was_not_kept_is_said() -> None:
    report, found, page = shown(sent(human_pairs=EXAMPLE["pairs"]), kept=False)
    assert found.parts == ()
    assert "The text was not kept" in page.bare
    assert page.sensitive.strip() == ""
    assert [option.key for option in found.options] == ["A", "B", "C"]
    assert significant(report.components.faithfulness) in page.bare


def test_hostile_texts_are_texts() -> None:
    fields: dict[str, Any] = {
        "question": HOSTILE,
        "options": [{"key": "A", "text": HOSTILE}, {"key": "B", "text": "other"}],
        "language": "en",
        "reasoning": f"{HOSTILE} so it is.",
        "pairs": [
            {"explanation": HOSTILE, "label": "A"},
            {"explanation": f"Not in it. {HOSTILE[::-1]}", "label": "B"},
        ],
    }
    report, _, page = shown(sent(**fields))
    assert report.dropped
    assert is_only_blurred(page, HOSTILE)
    assert is_only_blurred(page, HOSTILE[::-1])


def test_a_hostile_key_of_the_parse_is_text() -> None:
    usual = StubWriter().answer
    parse = json.dumps({HOSTILE: {"support": ["x"], "oppose": []}, "A": {"support": [THOUGHT]}})
    writer = StubWriter(lambda stage, *rest: parse if stage == 3 else usual(stage, *rest))
    report, _, page = shown(request(), writer=writer)
    assert report.unplaced
    assert is_only_blurred(page, report.unplaced[0].key)
