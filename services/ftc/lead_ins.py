"""Removes text around an explanation, such as thoughts, field names, labels and introductory
phrases."""

from __future__ import annotations

import re

from shared.text.normalized import NormalizedText, normalize, replaced

_THOUGHT = re.compile(r"\A.*</think>", re.DOTALL | re.IGNORECASE)
_NAMES = r"(?:explanation|rationale|reason(?:ing|s)?|justification|because|why)"
_FIELD = re.compile(rf"\A\{{[^}}]*?\"{_NAMES}\"\s{{0,9}}:\s{{0,9}}\"", re.IGNORECASE)
_FIELD_END = re.compile(r"\"\s{0,9}(?:,[^}]*)?\}\s{0,9}\Z")
_LINES = re.compile(
    r"^(?:(?:gold\s)?label|answer|verdict|prediction|relation|class)\s?:\s?[\w -]{1,30}\n",
    re.IGNORECASE | re.MULTILINE,
)
_LEAD_IN = re.compile(
    rf"^(?:(?:my|the)\s)?{_NAMES}\s?:\s*"
    r"|^(?:well|ok(?:ay)?|yes|no|sure|indeed|now|basically|actually|clearly|obviously|in short),\s+"
    r"|^(?:it|(?:my|the)\s(?:explanation|reason))\s(?:is|says|states)\sthat\s+",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCE = re.compile(r"\s\((?:from|in)\sthe\s(?:premise|hypothesis)\)", re.IGNORECASE)
_DASH = re.compile(r"\s?[\u2013\u2014](?=\s)")


def bare_explanation(explanation: str) -> NormalizedText:
    """Return the normalised explanation without reasoning (text up to `</think>`), field names and
    introductory phrases."""
    text = normalize(_THOUGHT.sub(lambda thought: " " * len(thought.group()), explanation))
    if _FIELD.match(text.text):
        text = replaced(replaced(text, _FIELD, ""), _FIELD_END, "")
    for pattern in (_LINES, _LEAD_IN, _SOURCE):
        text = replaced(text, pattern, "")
    if len(_DASH.findall(text.text)) == 1:  # two of them enclose an insertion
        text = replaced(text, _DASH, ";")
    return text
