"""Decisions in answers of models, in mild sentences of our own: floors of accuracy by file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.reading import is_asked_if_hateful
from services.explanations.service import SERVICE
from shared.contracts.elicitation import ExplanationsElicitation
from tests.wording import Row, check, check_pairs, load

pytestmark = pytest.mark.usefixtures("_embedded_models")

DATA = Path(__file__).parent / "data"
PROMPTS: dict[str, dict[str, Any]] = {
    "paper": {"text": "A post.", "prompt": "hatexscore-table8"},
    "yes": {"text": "A post.", "prompt": {"user": "Is this post hateful?\n\n{text}"}},
    "label": {"text": "A post.", "prompt": {"user": "Label this post.\n{text}"}},
    "ftc": {"premise": "A premise.", "hypothesis": "A hypothesis.", "prompt": "ftc-label"},
}


def elicit(row: Row) -> ExplanationsElicitation:
    answer = {"text": row["answer"], "finish": row.get("finish", "stop")}
    request = {**PROMPTS[row.get("prompt", "paper")], "answer": answer}
    return SERVICE.score(ExplanationsRequest.model_validate(request)).elicitation


def test_answers_are_read_whole() -> None:
    """Decision, explanation and outcome; without `explanation` it is the whole answer."""
    decisions, explanations, outcomes = [], [], []
    for row in load(DATA / "answers.jsonl"):
        read = elicit(row)
        explanation = row.get("explanation", row["answer"].strip())
        decisions.append((row, row["decision"], read.decision))
        explanations.append((row, explanation, read.explanation))
        outcomes.append((row, row["outcome"], read.outcome))
    check_pairs(decisions, floor=0.978)
    check_pairs(explanations, floor=0.998, inverted=1)
    check_pairs(outcomes, floor=0.955, inverted=1)


def test_decisions_are_read_in_every_form() -> None:
    rows = [row for row in load(DATA / "decisions.jsonl") if row["prompt"] != "question"]
    check(rows, lambda row: elicit(row).decision, floor=0.828)


def test_prompts_that_ask_if_a_post_is_hateful_are_known() -> None:
    rows = [row for row in load(DATA / "decisions.jsonl") if row["prompt"] == "question"]
    check(rows, lambda row: is_asked_if_hateful(row["answer"]), floor=1)
