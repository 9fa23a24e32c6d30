"""HLV's page, of reports that the metric made."""

from __future__ import annotations

from typing import Any

import pytest

from services.hlv.contract import CONTRACT, HlvRequest
from services.hlv.metric import SERVICE
from services.hlv.page import TEMPLATE, HlvView, view
from services.hlv.report import HlvResult
from shared.contracts.messages import Report
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import significant
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed
from tests.hlv.judges import OPTIONS, StubJudge, bound, request

score = SERVICE.score

GOOD = {"distributions": [{"A": 0.7, "B": 0.2, "C": 0.1}]}
BAD = {"distributions": [{"A": 0.1, "B": 0.2, "C": 0.7}]}
EXPLAINED = [{"explanation": "A sleeping dog is at rest.", "label": "A"}]


def shown(
    asked: HlvRequest, *, kept: bool = True, judge: StubJudge | None = None
) -> tuple[HlvResult, HlvView, Parsed]:
    with bound(judge):
        report = score(asked)
    if not kept:
        report = HlvResult.model_validate(without_text(report, asked))
    found = view(asked if kept else None, report)
    return report, found, parsed(TEMPLATE, found, report)


def sent(explained: Any = GOOD, baseline: Any = BAD, **fields: Any) -> HlvRequest:
    sides = {"explained": explained, "baseline": baseline}
    return request(predictions={k: v for k, v in sides.items() if v is not None}, **fields)


def said(report: Report) -> str:
    """What its checks say."""
    return " ".join(one.sentence for one in report.checks)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_is_shown(name: str) -> None:
    report, found, page = shown(HlvRequest.model_validate(CONTRACT.examples[name]))
    assert found.chance is not None
    assert found.chance in page.bare
    numbers: list[Any] = [*report.gold.ranks.values(), *(report.gold.values or {}).values()]
    parts = report.components.model_dump(exclude={"methods"}).values()
    numbers += [number for number in parts if number is not None]
    for method in report.components.methods:
        for side in (method.explained, method.baseline):
            if side is not None:
                numbers += [side.tau_b, side.tau_a, side.spearman, *side.ranks.values()]
                numbers += (side.distribution or side.scalar or method).model_dump().values()
    assert report.ceiling is not None
    for one in report.ceiling.metrics.values():
        numbers += [one.high, one.low, one.chance]
    first = report.components.methods[0]
    for judged in filter(None, (first.explained, first.baseline)):
        numbers += judged.normalised.values()
    numbers = [number for number in numbers if isinstance(number, int | float)]
    assert [number for number in numbers if significant(number) not in page.bare] == []


@pytest.mark.parametrize(
    ("explained", "baseline", "tone", "words"),
    [
        (GOOD, BAD, "holds_up", "a gain of +2.00"),
        (BAD, GOOD, "problem_found", "a gain of −2.00"),
        (GOOD, GOOD, "not_tested", "a gain of 0."),
    ],
)
def test_the_gain_is_said_with_its_sign(
    explained: Any, baseline: Any, tone: str, words: str
) -> None:
    report, found, page = shown(sent(explained, baseline))
    assert report.score is not None
    assert report.verdict == tone
    assert words in said(report)
    lines = {line.name: line for line in found.methods[0].lines}
    meant = "closer to humans" if report.score > 0 else "farther from humans"
    assert lines["total variation distance"].word == (meant if report.score else "no change")
    if report.score > 0:
        assert "+0.6" in page.bare


def test_a_gain_of_one_pair_is_no_praise() -> None:
    near = {"distributions": [{"A": 0.6, "B": 0.1, "C": 0.3}]}
    for explained, baseline, gain in ((GOOD, near, 1), (near, GOOD, -1)):
        report, _found, page = shown(sent(explained, baseline))
        assert report.score is not None
        assert report.score * gain > 0
        assert report.verdict == "not_tested"
        assert "1 of 3 pairs of options changed order" in said(report)
        assert "Explanations without effect would score 0" in page.bare
        assert "A single item proves little" in page.bare


def test_without_a_baseline_it_is_an_agreement() -> None:
    report, found, page = shown(sent(baseline=None))
    assert found.chance is not None
    assert "A random order would score 0" in found.chance
    assert said(report) == "The judge's agreement with humans is +1.00 (Kendall's tau)."
    assert report.verdict == "not_tested"
    assert "no value" in page.bare


def test_a_live_judge_has_a_part_for_each_way_of_asking() -> None:
    report, found, page = shown(request(explanations=EXPLAINED))
    assert [one.result.method for one in found.methods] == ["rank", "logits", "score"]
    assert all(one.ranks is not None for one in found.methods)
    assert [one.values is None for one in found.methods] == [True, False, True]
    assert "There is no chart of values" in page.bare
    assert "total probability of the option letters" in page.bare
    assert is_only_blurred(page, EXPLAINED[0]["explanation"])
    assert report.components.methods[0].explained is not None


def test_what_was_not_kept_is_said() -> None:
    report, found, page = shown(request(explanations=EXPLAINED), kept=False)
    assert "The text was not kept" in page.bare
    assert page.sensitive.strip() == ""
    assert [option.key for option in found.options] == ["A", "B", "C"]
    assert found.methods[0].ranks is not None
    assert significant(report.gold.ranks["A"]) in page.bare


def test_hostile_texts_are_texts() -> None:
    fields: dict[str, Any] = {
        "question": HOSTILE,
        "options": [{"key": "A", "text": HOSTILE}, *OPTIONS[1:]],
        "explanations": [{"explanation": HOSTILE, "label": "A"}],
        "rationale": HOSTILE,
    }
    _, _, page = shown(request(**fields))
    assert is_only_blurred(page, HOSTILE)
    assert page.sensitive.count(HOSTILE) >= 4
