from __future__ import annotations

import re
from typing import Any

import pytest

from services.ftc import llm_extraction
from services.ftc.contract import FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.report import LABELS, NliLabel
from shared.contracts.errors import BadInput
from shared.statistics.group_sequential import LOOKS
from tests.ftc.fake import FakeJudge, FakeWriter, bound

score = SERVICE.score
score_batch = SERVICE.score_batch

CARDS = "Four friends are playing cards in the kitchen."


def ask(**fields: Any) -> FtcRequest:
    given = {
        "premise": "Four friends play a secretpremise in the kitchen.",
        "hypothesis": "Four friends are playing chess in the kitchen.",
        "explanation": "Chess is no card game.",
        "decision": "contradiction",
        "extractor": "llm",
        "writer": "lm",
    }
    return FtcRequest(**{"language": "en", **given, **fields})


def two_steps(prompt: str) -> str:
    """What a good language model writes, and then some."""
    if prompt.endswith("A:"):
        return " playing cards\nB: playing chess\n\nExplanation: and so on"
    return f" {CARDS}\n\nHypothesis: and so on"


def test_both_steps_are_one_call_each_for_all_requests_and_greedy() -> None:
    writer = FakeWriter(two_steps)
    with bound(FakeJudge(), writer) as judge:
        reports = score_batch([ask(), ask(hypothesis="Two friends are playing chess."), ask()])
    assert len(writer.prompts) == 2
    assert [len(set(texts)) for texts in writer.prompts] == [1, 2]
    assert all(sampling.temperature == 0 for sampling in writer.samplings)
    assert len(judge.calls) <= 2 + len(LOOKS)  # one for each look that the one before leaves open
    report = reports[0]
    assert [made.text for made in report.counterfactuals] == [CARDS]
    assert report.extraction.extractor == "llm"
    assert len(report.extraction.completions) == 2
    assert [use.name for use in report.provenance.models] == ["fake", "lm"]
    assert report.counterfactuals[0].null is not None


def test_a_prompt_holds_what_its_step_may_know_and_no_more() -> None:
    writer = FakeWriter(two_steps)
    with bound(FakeJudge(), writer):
        score(ask(explanation="Chess is no secretcard game."))
    (first,), (second,) = writer.prompts
    assert "secretcard" in first
    assert "playing chess in the kitchen" not in first
    assert "playing chess in the kitchen" in second
    assert "secretcard" not in second
    assert "secretpremise" not in first + second
    assert second.endswith("A: playing chess\nB: playing cards\nCounterfactual:")  # re-oriented


def test_both_counterfactuals_of_a_neutral_label() -> None:
    def write(prompt: str) -> str:
        if prompt.endswith("A:"):
            return " friends are in the kitchen\nB: playing chess"
        return " A: Four friends are in the kitchen.; B: Four friends are playing chess."

    with bound(FakeJudge(), FakeWriter(write)):
        report = score(ask(decision="neutral"))
    assert [(made.kind, made.text) for made in report.counterfactuals] == [
        ("a", "Four friends are in the kitchen."),
        ("b", "Four friends are playing chess."),
    ]


@pytest.mark.parametrize(
    ("spans", "rewritten", "reason"),
    [
        ("no idea", "", "contains no spans"),
        ("\nB: chess", "", "contains no spans"),
        (" a bakery\nB: a shop", CARDS, "neither of the explanation"),
        (" playing cards\nB: playing chess", "", "returned an empty answer"),
        (" playing cards\nB: playing chess", "Four friends are playing chess in the kitchen",
         "is the same as the original"),
        (" playing cards\nB: playing chess", "Four friends " * 20, "too long"),
        (" playing cards\nB: playing chess", "The the playing cards.", "does not parse"),
    ],
)  # fmt: skip
def test_it_abstains_from_what_is_no_counterfactual(
    spans: str, rewritten: str, reason: str
) -> None:
    writer = FakeWriter(lambda prompt: spans if prompt.endswith("A:") else rewritten)
    with bound(FakeJudge(), writer):
        report = score(ask())
    assert report.score is None
    assert reason in (report.abstained or "")


def test_an_unknown_writer_is_the_callers_mistake() -> None:
    with bound(FakeJudge()), pytest.raises(BadInput):
        score(ask())


@pytest.mark.parametrize("label", LABELS)
def test_the_twenty_examples_are_what_they_ask_for(label: NliLabel) -> None:
    examples = llm_extraction.examples(label)
    assert len(examples) == 20
    assert len({example["explanation"] for example in examples}) == 20
    for example in examples:
        assert all(value == value.strip() and value for value in example.values())
        spoken = set(re.findall(r"\w+", example["explanation"].lower()))
        for side in ("a", "b"):
            words = set(re.findall(r"\w+", example[side].lower()))
            assert len(words & spoken) >= len(words) / 2, example
        prompt = llm_extraction.transformation_prompt(
            example["hypothesis"], (example["a"], example["b"]), label
        )
        assert f"Counterfactual: {llm_extraction._format_output(example, label)}\n\n" in prompt


def test_what_the_examples_show_passes_the_gates() -> None:
    for label in LABELS:
        for example in llm_extraction.examples(label):
            texts, reason = llm_extraction._counterfactuals(
                example["hypothesis"], label, llm_extraction._format_output(example, label)
            )
            assert texts, (example, reason)
