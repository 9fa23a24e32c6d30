"""Contradictory answers decide nothing, and a label that a field denies is not stated."""

from __future__ import annotations

import json

from services.explanations.contract import ExplanationsRequest
from services.explanations.contradictions import without_options
from services.explanations.service import SERVICE


def read(answer: str) -> str | None:
    request = ExplanationsRequest.model_validate(
        {
            "text": "A post.",
            "prompt": {"user": "Is this hateful?\n{text}"},
            "answer": {"text": answer},
        }
    )
    return SERVICE.score(request).elicitation.decision


def test_a_label_that_a_field_denies_is_not_stated() -> None:
    for flag in ["detected", "is_present", "violates", "applicable", "triggered"]:
        for denial in [False, "no", "none", 0, "not found", 0.04]:
            for label in ["hate_speech", "is_hateful"]:
                said = str(denial).lower()
                for answer in (
                    json.dumps({label: {flag: denial}}),
                    json.dumps({label: {"evidence": "A quote.", flag: denial}}),
                    json.dumps({"category": label, flag: denial}),
                    json.dumps([{flag: denial, "label": label}]),
                    f"{label}:\n  {flag}: {said}",
                    f"**Class:** hate speech\n- {flag}: {said}",
                    f"Label: hate speech. {flag.title()}: {said}.",
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
        assert read(answer) != "hateful"


def test_both_labels_decide_nothing() -> None:
    for first in ["hateful", "non-hateful"]:
        for shape in [
            "{0} | {1}",
            "Categories: {0}, {1}.",
            "(1) {0} (2) {1}",
            "{0}\n{1}",
            "Verdict: {0}\n\nVerdict: {1}",
            "Answer: {0}. Some words. Answer: {1}.",
            "Final verdict: {0}\nFinal verdict: {1}",
            '{{"verdict": "{0}", "verdict": "{1}"}}',
            '[{{"class": "{0}"}}, {{"class": "{1}"}}]',
            '{{"class": "{0}"}}\n{{"class": "{1}"}}',
            '["{0}", "{1}"]',
            "Decision: {0}.\n\nPost 2: We open at six.\nDecision: {1}.",
            'Decision: {0}.\n\nAnd one more: "We open at six."\nDecision: {1}.',
        ]:
            other = "hateful" if first == "non-hateful" else "non-hateful"
            assert read(shape.format(first, other)) in (None, first)


def test_a_label_that_is_crossed_out_or_not_ticked_is_not_stated() -> None:
    for mark in ["\u274c", "\u2718", "[ ]", "\u2610", "( )"]:
        for label in ["hateful", "non-hateful"]:
            for answer in (
                f"{mark} {label}",
                f"- {mark} **{label}**",
                f"{label} {mark}",
                f"{label}: {mark}",
            ):
                assert read(answer) != label, answer
            other = "hateful" if label == "non-hateful" else "non-hateful"
            assert read(f"{mark} {label}\n[x] {other}") == other


def test_what_is_taken_out_leaves_every_other_word_in_its_place() -> None:
    for answer in ["[ ] hateful\nx", "Options: hateful, not hateful.\nx", "x", ""]:
        plain = without_options(answer)
        assert len(plain) == len(answer)
        assert plain.strip()[-1:] == answer[-1:]
