"""Answers of guards and of classifiers, and in tables."""

from __future__ import annotations

import json

from services.explanations.contract import ExplanationsRequest
from services.explanations.guard_answers import read_guard_answer
from services.explanations.parsing import by_labels
from services.explanations.service import SERVICE

CATEGORIES = {"S10": True, "S1": False, "S1,S10": True, "S2: Crimes": False, "none": False}


def read(answer: str, prompt: str = "Is this hateful?\n{text}") -> str | None:
    request = ExplanationsRequest.model_validate(
        {"text": "A post.", "prompt": {"user": prompt}, "answer": {"text": answer}}
    )
    return SERVICE.score(request).elicitation.decision


def test_unsafe_decides_by_its_categories_alone() -> None:
    for named, hate in CATEGORIES.items():
        for shape in ["unsafe\n{}", "\n\nunsafe\n{}", "Safety: Unsafe\nCategories: {}"]:
            assert read(shape.format(named)) == ("hateful" if hate else None)


def test_what_is_safe_is_not_hateful() -> None:
    for answer in ["safe", "Safe.", "Safety: Safe\nCategories: None"]:
        found = read_guard_answer(answer)
        assert found is not None
        assert found.label == "non-hateful"
        assert answer[slice(*found.words)].casefold() == "safe"


def test_what_a_guard_says_of_a_response_decides_nothing() -> None:
    for named, hate in {"Hate/Identity Hate": True, "Threat": False}.items():
        for response in [{}, {"Response Safety": "safe"}]:
            fields = {"User Safety": "unsafe", **response, "Safety Categories": named}
            lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
            label = "hateful" if hate else None
            assert (
                read(lines)
                == read(json.dumps(fields))
                == read(json.dumps(fields, indent=2))
                == label
            )
            assert read(json.dumps({"User Safety": "safe", **response}, indent=2)) == "non-hateful"


def test_what_is_harmful_need_not_be_hateful() -> None:
    for said, label in [("no", "non-hateful"), ("yes", None)]:
        rest = "Response refusal: N/A\nHarmful response: N/A"
        assert read(f"Harmful request: {said}\n{rest}") == label


def test_the_head_of_a_column_is_its_key() -> None:
    for value, label in [("Yes", "hateful"), ("No", "non-hateful")]:
        rule = "|---|:-:|"
        assert read(f"| Text | Hateful? |\n{rule}\n| A post. | {value} |") == label
        assert read(f"| Text | Hateful? |\n{rule}\n| One | {value} |\n| Two | {value} |") is None
        assert read(f"| Insult | Rude? |\n{rule}\n| A word | {value} |") is None


def test_of_a_classifiers_scores_the_higher_one_decides() -> None:
    for share in [0.02, 0.3, 0.7, 0.98]:
        for key in ["score", "probability"]:
            rows = [{"label": "HATE", key: share}, {"label": "NOT_HATE", key: 1 - share}]
            expected = "hateful" if share > 0.5 else "non-hateful"
            assert read(json.dumps(rows)) == read(json.dumps(rows[::-1])) == expected


def test_verbs_of_inference_are_read_only_for_the_labels_of_inference() -> None:
    assert by_labels(["entails", "other"])("The premise entails the hypothesis.") is None
