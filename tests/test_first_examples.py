"""What people see first has a verdict that decides: the demo, the README and every example."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from services.registry import metrics, service
from shared.contracts.messages import Report

pytestmark = pytest.mark.usefixtures("_embedded_models")

ROOT = Path(__file__).parents[1]
DECISIVE = ("holds_up", "problem_found")
FEWEST_DECISIVE, FEWEST_LANGUAGES = 9, 4  # of the demo's twelve posts
NOT_TESTED = {  # examples that show a check without an answer
    ("consistency", "a classifier, which writes no explanation"),
    ("cot2el", "one pair is not in the reasoning"),
    ("hlv", "a classifier as the judge"),
    ("ice", "attention, which might be chance"),
}


def judged(metric: str, body: dict[str, Any]) -> Report:
    contract = metrics()[metric]
    report: Any = service(metric).score(contract.request.model_validate(body))
    found: Report = contract.judged(report)
    return found


EXAMPLES = [(name, which) for name, one in metrics().items() for which in one.examples]


@pytest.mark.parametrize(("metric", "which"), EXAMPLES)
def test_every_example_decides_unless_it_shows_that_nothing_can_be_tested(
    metric: str, which: str
) -> None:
    report = judged(metric, metrics()[metric].examples[which])
    is_decisive = report.verdict in DECISIVE
    assert is_decisive is ((metric, which) not in NOT_TESTED), report.reason


def test_the_examples_that_show_nothing_tested_are_there_and_not_the_first() -> None:
    first = {(name, next(iter(one.examples))) for name, one in metrics().items()}
    assert set(EXAMPLES) >= NOT_TESTED
    assert not first & NOT_TESTED


@cache
def demo() -> tuple[tuple[str, Report], ...]:
    lines = (ROOT / "examples" / "posts.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple((row.pop("id"), judged("hatexscore", row)) for row in rows)


def test_most_posts_of_the_demo_decide_in_four_languages() -> None:
    decisive = [name for name, report in demo() if report.verdict in DECISIVE]
    assert len(demo()) == 12
    assert len(decisive) >= FEWEST_DECISIVE, decisive
    assert len({name.partition("-")[0] for name in decisive}) >= FEWEST_LANGUAGES, decisive
    assert {report.verdict for _, report in demo()} >= set(DECISIVE)


def test_the_first_request_of_the_readme_holds_up() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    typed = re.search(r"-d '(\{.*?\})'", readme, re.DOTALL)
    assert typed is not None
    assert judged("hatexscore", json.loads(typed[1])).verdict == "holds_up"
