"""Decisions in answers of models, in mild sentences of our own: floors of accuracy by file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.explanations.answer_parts import answer_of
from services.explanations.contract import ExplanationsRequest
from services.explanations.guard_answers import is_guard_answer
from services.explanations.other_languages import read_other_languages
from services.explanations.parsing import by_labels, hateful_or_not, parse_answer
from services.explanations.service import SERVICE
from services.explanations.structured_answer import read_lone_label, read_structured
from services.explanations.yes_or_no import is_asked_if_hateful, read_yes_or_no
from services.registry import service
from shared.contracts.calls import Completion
from shared.contracts.elicitation import ExplanationsElicitation
from shared.reports.metric import Metric, StatedDecision
from tests.wording import Row, check, check_pairs, load

DATA = Path(__file__).parent / "data"
RELATIONS = ["entailment", "neutral", "contradiction"]
PROMPTS: dict[str, dict[str, Any]] = {
    "paper": {"text": "A post.", "prompt": "hatexscore-table8"},
    "yes": {"text": "A post.", "prompt": {"user": "Is this post hateful?\n\n{text}"}},
    "ftc": {"premise": "A premise.", "hypothesis": "A hypothesis.", "prompt": "ftc-label"},
}


def elicit(answer: str, finish: str = "stop", **request: Any) -> ExplanationsElicitation:
    sent = {**request, "answer": {"text": answer, "finish": finish}}
    return SERVICE.score(ExplanationsRequest.model_validate(sent)).elicitation


def test_answers_are_read_whole() -> None:
    """Decision, explanation and outcome; without `explanation` it is the whole answer."""
    decisions, explanations, outcomes = [], [], []
    for row in load(DATA / "answers.jsonl"):
        prompt = PROMPTS[row.get("prompt", "paper")]
        read = elicit(row["answer"], row.get("finish", "stop"), **prompt)
        explanation = row.get("explanation", row["answer"].strip())
        decisions.append((row, row["decision"], read.decision))
        explanations.append((row, explanation, read.explanation))
        outcomes.append((row, row["outcome"], read.outcome))
    check_pairs(decisions, floor=0.998)
    check_pairs(explanations, floor=0.998, inverted=1)
    check_pairs(outcomes, floor=0.998, inverted=1)


def read_label(row: Row, language: Any) -> str | None:
    """The decision that an answer to "is this hateful?" is taken to state."""
    metric = service("hatexscore")
    assert isinstance(metric, Metric)

    def stated(text: str) -> StatedDecision | None:
        return metric.stated_decision("A post.", text, language)

    completion = Completion(text=row["text"], tokens=(), finish="stop")
    decision = parse_answer(answer_of(completion), hateful_or_not(stated, asked=True)).decision
    return decision.label if decision else None


@pytest.mark.parametrize(("language", "floor"), [("en", 0.9876), ("ko", 0.9814), ("zh", 0.992)])
def test_elicited_answers_are_read(language: str, floor: float) -> None:
    rows = load(DATA / f"elicited.{language}.jsonl")
    check(rows, lambda row: read_label(row, language), floor=floor)


def yes_or_no(answer: str) -> str | None:
    read = read_yes_or_no(answer)
    if read is None:
        return None
    word = answer[slice(*read.words)].casefold().partition(",")[0]
    assert word in ["yes", "no", "是的", "不是", "네", "아니요"]
    return read.label


def request(row: Row) -> str | None:
    user = row.get("prompt", "Is this hateful?\n{text}")
    return elicit(row["answer"], text="A post.", prompt={"user": user}).decision


LABELS: dict[str, Callable[[str], Any]] = {
    "inference": by_labels(RELATIONS),
    "other_languages": read_other_languages,
    "fields": read_structured,
    "lone_label": read_lone_label,
    "scores": hateful_or_not(lambda _: None, asked=False),
}
READERS: dict[str, Callable[[str], Any]] = {
    "guard": is_guard_answer,
    "question": is_asked_if_hateful,
    "yes_or_no": yes_or_no,
}


def read_decision(row: Row) -> str | bool | None:
    if row["reader"] == "request":
        return request(row)
    if row["reader"] in READERS:
        return READERS[row["reader"]](row["answer"])  # type: ignore[no-any-return]
    read = LABELS[row["reader"]](row["answer"])
    return read.label if read else None


def test_decisions_are_read_in_every_form() -> None:
    check(load(DATA / "decisions.jsonl"), read_decision, floor=0.9923)
