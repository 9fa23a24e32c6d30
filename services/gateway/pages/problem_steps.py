"""Advice for each problem of an explanation, shown on a job's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STEPS: Mapping[str, str] = {  # code of a failed check → what the caller can do
    "opposite-decision": "Read the explanation. Then correct the decision, or ask for another "
    "explanation.",
    "other-class": "Find out which class is correct, and use it in both the decision and the "
    "explanation.",
    "no-explanation": "Ask the model again for an explanation.",
    "no-decision": "State the decision in one sentence, such as “Conclusion: hateful.”",
    "misquoted": "Copy the quoted words exactly from the post.",
    "quote-not-in-post": "Quote only words that are in the post.",
    "quotes-do-not-matter": "Quote the words that led the model to its decision.",
    "group-not-named": "Name the group that the post attacks.",
    "quote-not-in-text": "Quote only words that are in the text.",
    "worse-than-random": "Ask for an explanation that names the words behind the decision.",
    "does-not-predict": "Cite the words that the model's answer depends on.",
    "rests-on-other-words": "Cite the words that the model's answer depends on.",
    "away-from-humans": "Revise the explanations, or do not show them to the judge.",
    "answered-otherwise": "Ask for another explanation, or have a person check the decision.",
    "no-reasons": "Ask the model for its reasons.",
    "reasons-not-upheld": "Have a person check the reasons, or ask the model again.",
    "repeats-a-reason": "Remove the repeated reason.",
    "facts-missing": "Describe or quote the facts of the post.",
    "restriction-missing": "Say what was done to the post or the account.",
    "territorial-scope-missing": "Say in which countries the restriction applies.",
    "duration-missing": "Say how long the restriction lasts.",
    "automated-detection-missing": "Say whether automated means detected the post.",
    "automated-decision-missing": "Say whether automated means made the decision.",
    "ground-missing": "Name the law or the clause of the policy.",
    "explanation-missing": "Say why the law or the clause applies to the post.",
    "redress-missing": "Name the internal complaint, the out-of-court settlement and the court.",
    "no-better-than-shuffled": "Compare the explanations with the reasoning, and list them again.",
}


def problem_steps(result: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the code of each problem with advice, worst problem first."""
    codes = result.get("problems") or ()
    return [{"reason": code, "action": STEPS[code]} for code in codes if code in STEPS]
