"""Contradictory answers decide nothing, and a label that a field denies is not stated."""

from __future__ import annotations

import json

import pytest

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


@pytest.mark.parametrize("flag", ["detected", "is_present", "violates", "applicable", "triggered"])
@pytest.mark.parametrize("denial", [False, "no", "none", 0, "not found", 0.04])
@pytest.mark.parametrize("label", ["hate_speech", "is_hateful"])
def test_a_label_that_a_field_denies_is_not_stated(flag: str, denial: object, label: str) -> None:
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


@pytest.mark.parametrize(
    "answer",
    [
        "Hateful content (none)",
        "Flagged as hateful: no",
        "Hate score: 2/10",
        "Hateful: n",
        "Hate: absent",
        '{"hateful": {}}',
        '{"hate": "undetected"}',
    ],
)
def test_a_value_that_denies_its_label_is_not_stated(answer: str) -> None:
    assert read(answer) != "hateful"


@pytest.mark.parametrize("first", ["hateful", "non-hateful"])
@pytest.mark.parametrize(
    "shape",
    [
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
    ],
)
def test_both_labels_decide_nothing(shape: str, first: str) -> None:
    other = "hateful" if first == "non-hateful" else "non-hateful"
    assert read(shape.format(first, other)) in (None, first)


@pytest.mark.parametrize("mark", ["\u274c", "\u2718", "[ ]", "\u2610", "( )"])
@pytest.mark.parametrize("label", ["hateful", "non-hateful"])
def test_a_label_that_is_crossed_out_or_not_ticked_is_not_stated(mark: str, label: str) -> None:
    for answer in (
        f"{mark} {label}",
        f"- {mark} **{label}**",
        f"{label} {mark}",
        f"{label}: {mark}",
    ):
        assert read(answer) != label, answer
    other = "hateful" if label == "non-hateful" else "non-hateful"
    assert read(f"{mark} {label}\n[x] {other}") == other


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ('{"hateful": true, "contains_slur": false}', "hateful"),
        ('{"category": "hate speech", "flagged": true}', "hateful"),
        ('{"flagged": false, "label": "non-hateful"}', "non-hateful"),
        ("Label: hateful\nSlurs present: no", "hateful"),
        ("Options: hateful, non-hateful.\nAnswer: hateful", "hateful"),
        ("Label (hateful/non-hateful): non-hateful", "non-hateful"),
        ("Label: non-hateful\nCorrection: the label is hateful.", "hateful"),
        ("Answer: hateful.\nFinal answer: non-hateful", "non-hateful"),
        ("Label: hateful\nLabel: hateful", "hateful"),
        ('{"hateful": {"present": true}}', "hateful"),
        ('{"hateful": {"present": false}}', "non-hateful"),
        ("Verdict: \u274c Hateful", "hateful"),
    ],
)
def test_what_only_looks_like_a_contradiction_is_read(answer: str, decision: str) -> None:
    assert read(answer) == decision


@pytest.mark.parametrize("answer", ["[ ] hateful\nx", "Options: hateful, not hateful.\nx", "x", ""])
def test_what_is_taken_out_leaves_every_other_word_in_its_place(answer: str) -> None:
    plain = without_options(answer)
    assert len(plain) == len(answer)
    assert plain.strip()[-1:] == answer[-1:]
