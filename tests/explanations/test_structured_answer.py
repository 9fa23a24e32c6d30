"""Decisions that stand in fields, alone, or behind a lean."""

from __future__ import annotations

import json

from services.explanations.contract import ExplanationsRequest
from services.explanations.parsing import hateful_or_not
from services.explanations.service import SERVICE
from services.explanations.structured_answer import (
    is_data,
    read_lone_label,
    read_structured,
    without_leans,
)
from shared.reports.metric import StatedDecision

KEYS = ("label", "verdict", "Final decision", "classification", "结论", "판단")
SIDES = {
    "hateful": ("hateful", "Hate speech", "HATE_SPEECH", "hate/threatening", "仇恨", "혐오 표현"),
    "non-hateful": ("non-hateful", "Not hateful", "no_hate_speech", "非仇恨", "혐오 표현 아님"),
}
SHAPES = (
    "{key}: {value}",
    "- **{key}**: {value}\n- Target: none",
    "1. Tone: rough\n2. {key}: {value} (92%)",
    "| {key} | {value} |",
    "{key} → {value}",
    "{key}? {value}",
    "{key} = {value}. It is about a dog.",
)


def test_a_field_decides_in_every_shape() -> None:
    for shape in SHAPES:
        for label in SIDES:
            for key in KEYS:
                for value in SIDES[label]:
                    answer = shape.format(key=key, value=value)
                    read = read_structured(answer)
                    assert read is not None, answer
                    assert read.label == label, answer
                    assert value.casefold().endswith(answer[slice(*read.words)].casefold())


def test_of_data_the_fields_decide_and_no_prose() -> None:
    for key in ["hateful", "is_hateful", "contains_hate_speech", "violates_policy"]:
        for value, label in [(True, "hateful"), (False, "non-hateful")]:
            opposite = "The text is not hateful." if value else "The text is hateful."
            answer = json.dumps({"explanation": opposite, key: value})

            def prose(_: str) -> StatedDecision:
                return StatedDecision(label="unused", start=0, end=1, words=(0, 1))

            read = hateful_or_not(prose, asked=False)(answer)
            assert read is not None
            assert read.label == label


def test_a_lone_label_decides_and_a_lean_with_it() -> None:
    for lean in ["", "Probably ", "Most likely ", "More likely than not "]:
        for value, label in (("hateful", "hateful"), ("not hateful", "non-hateful")):
            for answer in (
                f"{lean}{value}",
                f'"{lean}{value}."',
                f"{lean}{value}: a people is named.",
            ):
                read = read_lone_label(answer)
                assert read is not None, answer
                assert read.label == label, answer


def test_leans_leave_every_other_word_in_its_place() -> None:
    for answer in [
        "It is probably hateful.",
        "很可能是仇恨言论。",
        "아마 혐오 표현이 아닐 것입니다.",
    ]:
        plain = without_leans(answer)
        assert plain != answer
        assert len(plain) == len(answer)


def test_an_object_is_data_and_a_sentence_is_not() -> None:
    assert is_data('```json\n{"label": "hateful"}\n```')
    assert is_data("{'label': 'hateful'}")
    assert not is_data("The label is {hateful}.")


def test_a_metric_that_reads_another_decision_is_told_so() -> None:
    """It is shown the explanation alone, and would give 0 for a conclusion that it cannot see."""
    for answer in ["Category: hate/threatening", '{"violates_policy": true}']:
        request = ExplanationsRequest.model_validate(
            {
                "text": "The bakery opens at six.",
                "prompt": {"user": "Classify.\n{text}"},
                "answer": {"text": answer},
                "score": {
                    "sor": {},
                    "hatexscore": {"probabilities": {"original": 0.2, "masked": 0.1}},
                },
            }
        )
        found = SERVICE.score(request)
        assert found.elicitation.decision == "hateful"
        assert [one.code for one in found.unscored if one.metric == "hatexscore"] == ["unfit"]


SAYING = {
    "hateful": (
        "yes",
        "Y",
        "true",
        "T",
        "1",
        "\u2714",
        "\u2705\ufe0f",
        "ja",
        "sí",
        "是",
        "예",
        "да",
    ),
    "non-hateful": (
        "no",
        "N",
        "false",
        "F",
        "0",
        "none",
        "\u2718",
        "\u274c",
        "nein",
        "non",
        "否",
        "아니요",
    ),
}


def test_yes_and_no_are_one_vocabulary() -> None:
    """Read under a key that asks, and no contradiction to it."""
    for shape in ["{key}: {value}", "- **{key}:** {value}\n- tone: rough", "{key} = {value}"]:
        for label in SAYING:
            for key in ("Hateful", "Hate speech", "is_hateful"):
                for value in SAYING[label]:
                    answer = shape.format(key=key, value=value)
                    request = ExplanationsRequest.model_validate(
                        {
                            "text": "A post.",
                            "prompt": "hatexscore-table8",
                            "answer": {"text": answer},
                        }
                    )
                    assert SERVICE.score(request).elicitation.decision == label, answer
