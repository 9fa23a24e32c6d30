"""Laws of reading an answer: fields decide, contradictions decide nothing, guards name harms."""

from __future__ import annotations

import json

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.prompts import load_prompts
from services.explanations.reading import is_asked_if_hateful
from services.explanations.report import ExplanationsResult
from services.explanations.service import SERVICE

pytestmark = pytest.mark.usefixtures("_embedded_models")

QUESTION = "Is this hateful?"
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
YES = ("yes", "Y", "true", "T", "1", "\u2714", "\u2705\ufe0f", "ja", "sí", "是", "예", "да")
NO = ("no", "N", "false", "F", "0", "none", "\u2718", "\u274c", "nein", "non", "否", "아니요")
CATEGORIES = {"S10": True, "S1": False, "S1,S10": True, "S2: Crimes": False, "none": False}


def score(answer: str, question: str = QUESTION, **more: object) -> ExplanationsResult:
    sent = {
        "text": "A post.",
        "prompt": {"user": f"{question}\n{{text}}"},
        "answer": {"text": answer},
    }
    return SERVICE.score(ExplanationsRequest.model_validate({**sent, **more}))


def read(answer: str, question: str = QUESTION) -> str | None:
    return score(answer, question).elicitation.decision


def test_a_field_decides_in_every_shape() -> None:
    for shape in SHAPES:
        for label, values in SIDES.items():
            for key in KEYS:
                for value in values:
                    answer = shape.format(key=key, value=value)
                    assert read(answer) == label, answer


def test_yes_and_no_decide_under_a_key_that_asks() -> None:
    for shape in ["{key}: {value}", "- **{key}:** {value}\n- tone: rough", "{key} = {value}"]:
        for label, values in (("hateful", YES), ("non-hateful", NO)):
            for key in ("Hateful", "Hate speech", "is_hateful"):
                for value in values:
                    answer = shape.format(key=key, value=value)
                    assert read(answer, "Classify.") == label, answer


def test_a_field_of_data_decides_and_no_prose() -> None:
    for key in ["hateful", "is_hateful", "contains_hate_speech"]:
        for value, label in [(True, "hateful"), (False, "non-hateful")]:
            opposite = "The text is not hateful." if value else "The text is hateful."
            assert read(json.dumps({"explanation": opposite, key: value})) == label


def test_unsafe_decides_by_its_categories_alone() -> None:
    for named, hate in CATEGORIES.items():
        for shape in ["unsafe\n{}", "\n\nunsafe\n{}", "Safety: Unsafe\nCategories: {}"]:
            assert read(shape.format(named)) == ("hateful" if hate else None)


def test_what_is_safe_is_not_hateful() -> None:
    for answer in ["safe", "Safe.", "Safety: Safe\nCategories: None"]:
        stated = score(answer).elicitation
        assert stated.decision == "non-hateful"


def test_what_a_guard_says_of_a_response_decides_nothing() -> None:
    for named, hate in {"Hate/Identity Hate": True, "Threat": False}.items():
        for response in [{}, {"Response Safety": "safe"}]:
            fields = {"User Safety": "unsafe", **response, "Safety Categories": named}
            lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
            for answer in (lines, json.dumps(fields), json.dumps(fields, indent=2)):
                assert read(answer) == ("hateful" if hate else None), answer
            assert read(json.dumps({"User Safety": "safe", **response}, indent=2)) == "non-hateful"


def test_what_is_harmful_need_not_be_hateful() -> None:
    for said, label in [("no", "non-hateful"), ("yes", None)]:
        rest = "Response refusal: N/A\nHarmful response: N/A"
        assert read(f"Harmful request: {said}\n{rest}") == label


def test_of_a_classifiers_scores_the_higher_one_decides() -> None:
    for share in [0.02, 0.3, 0.7, 0.98]:
        for key in ["score", "probability"]:
            rows = [{"label": "HATE", key: share}, {"label": "NOT_HATE", key: 1 - share}]
            expected = "hateful" if share > 0.5 else "non-hateful"
            assert read(json.dumps(rows)) == read(json.dumps(rows[::-1])) == expected


def test_a_label_that_a_field_denies_is_not_stated() -> None:
    for flag in ["detected", "is_present", "found"]:
        for denial in [False, "no", "none", 0, "not found", 0.04]:
            for label in ["hate_speech", "is_hateful"]:
                for answer in (
                    json.dumps({label: {flag: denial}}),
                    json.dumps({label: {"evidence": "A quote.", flag: denial}}),
                ):
                    assert read(answer) != "hateful", answer


def test_a_value_that_denies_its_label_is_not_stated() -> None:
    for answer in [
        "Hateful content (none)",
        "Flagged as hateful: no",
        "Hate score: 2/10",
        "Hateful: n",
        "Hate: absent",
        '{"hateful": {}}',
        '{"hate": "undetected"}',
    ]:
        assert read(answer) != "hateful", answer


def test_both_labels_in_fields_decide_nothing() -> None:
    for first, other in [("hateful", "non-hateful"), ("non-hateful", "hateful")]:
        for shape in [
            "{0} | {1}",
            "Categories: {0}, {1}.",
            "(1) {0} (2) {1}",
            '{{"verdict": "{0}", "verdict": "{1}"}}',
            '[{{"class": "{0}"}}, {{"class": "{1}"}}]',
            '{{"class": "{0}"}}\n{{"class": "{1}"}}',
            '["{0}", "{1}"]',
            "Decision: {0}.\n\nPost 2: We open at six.\nDecision: {1}.",
            'Decision: {0}.\n\nAnd one more: "We open at six."\nDecision: {1}.',
        ]:
            assert read(shape.format(first, other)) in (None, first), shape


def test_the_ticked_label_decides_beside_one_that_is_not() -> None:
    for mark in ["\u274c", "\u2718", "[ ]", "\u2610", "( )"]:
        for label, other in [("hateful", "non-hateful"), ("non-hateful", "hateful")]:
            assert read(f"{mark} {label}\n[x] {other}") == other


def test_no_prompt_of_ours_asks_for_yes_or_no() -> None:
    for prompt in load_prompts().values():
        assert not is_asked_if_hateful(f"{prompt.system or ''}\n{prompt.user}")


def test_the_question_of_a_request_decides_what_no_means() -> None:
    """A metric that is shown the explanation alone would find no conclusion there."""
    metrics = {"sor": {}, "hatexscore": {"probabilities": {"original": 0.2, "masked": 0.1}}}
    for question, decision in [
        ("Is this post hateful?", "non-hateful"),
        ("Is this post acceptable?", None),
    ]:
        result = score("no", question, score=metrics)
        assert result.elicitation.decision == decision
        details = [one.detail for one in result.unscored if one.metric == "hatexscore"]
        assert any("reads only the explanation" in one for one in details) == (decision is not None)
