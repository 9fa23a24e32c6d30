"""What a guard answers: safe or unsafe, then the categories that are violated.

A guard that was asked about hate still answers about every harm that it knows: "unsafe" with the
category of violent crimes decides nothing of hate, with that of hate it does. Source: specs
"models" §3.1: Llama Guard 3 and 4 name S10 for hate, Qwen3Guard and others spell theirs out, NeMo's
write the same as JSON, WildGuard asks itself whether the request is harmful. The post is the user's
turn: what they say of a response is about nothing.
"""

from __future__ import annotations

import re

from shared.reports.metric import StatedDecision

_ANSWER = re.compile(
    r"[\W_]*(?:json\s{1,3}[\W_]{1,9})?(?:(?:(?:content|prompt|user|response)\s)?(?:safety|moderation|verdict|assessment|rating"
    r"|label)(?:\s(?:label|rating|assessment))?[\W_]{1,6})?"
    r"(?P<label>(?P<unsafe>un)?safe|(?P<between>controversial))(?!\w)[^\w\n]*(?P<rest>(?s:.*))\Z",
    re.IGNORECASE,
)
_CATEGORIES = re.compile(
    r"(?:(?:violated\s|unsafe\s|harm\s|safety\s)?(?:policy\s|policies|categor(?:y|ies))[^\w\n]{1,6})?"
    r"(?P<named>[SO]\d{1,2}\b[^\n]{0,300}|none\b[^\w\n]*|[^\n.]{3,100})"
    r"(?:\nrefusal[^\w\n]{1,6}\w{1,10}\W*)?\Z",
    re.IGNORECASE,
)
_OF_HATE = re.compile(r"\bS10\b|\bhat(?:e|eful|red)\b", re.IGNORECASE)
_IS_LISTED = re.compile(
    r"(?:violated\s|unsafe\s|harm\s|safety\s)?(?:polic|categor)|[SO]\d{1,2}\b|none\b", re.IGNORECASE
)
_OF_RESPONSE = re.compile(
    r"(?:response|agent|assistant)\ssafety[\W_]{1,6}(?:un)?safe\b[\W_]{0,9}", re.IGNORECASE
)
_AROUND = " \t\r\n\"'`{},"  # of JSON
_HARM = re.compile(
    r"[\W_]*harmful\s(?:request|prompt)[\W_]{1,6}(?P<label>yes|no)\b[^\w\n]*"
    r"(?:\n(?:response\srefusal|harmful\sresponse|refusal)[\W_]{1,6}(?:yes|no|n/a)\b[^\w\n]*){0,3}\Z",
    re.IGNORECASE,
)


def is_guard_answer(answer: str) -> bool:
    """Is it safe or unsafe alone, or with categories, harmful or not, and nothing else?"""
    return _HARM.match(answer) is not None or _read(answer) is not None


def read_guard_answer(answer: str) -> StatedDecision | None:
    """Safe is not hateful, unsafe is where hate is among its categories; else None."""
    harm = _HARM.match(answer)
    if harm is not None:
        return None if harm["label"].casefold() == "yes" else _decision(harm, "non-hateful")
    found = _read(answer)
    if found is None or found["between"]:
        return None
    named = found["rest"]
    if found["unsafe"] and not _OF_HATE.search(named):
        return None
    if not found["unsafe"] and _OF_HATE.search(named):
        return None
    return _decision(found, "hateful" if found["unsafe"] else "non-hateful")


def _decision(found: re.Match[str], label: str) -> StatedDecision:
    return StatedDecision(label=label, start=0, end=found.end("label"), words=found.span("label"))


def _read(answer: str) -> re.Match[str] | None:
    found = _ANSWER.match(answer)
    if found is None:
        return None
    rest = _OF_RESPONSE.sub("", found["rest"].strip(_AROUND), count=1).strip(_AROUND)
    if not rest:
        return None if found["unsafe"] else found  # "unsafe" alone is a word like others
    return found if _IS_LISTED.match(rest) and _CATEGORIES.match(rest) else None
