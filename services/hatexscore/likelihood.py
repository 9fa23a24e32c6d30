"""A verdict that is called likely: one, where more than half speaks for it.

"May be hateful" names a possibility and states nothing. "Most likely hateful", "probably hate
speech", "an 85% chance that it is" lean to one side, as a score of 0.85 in a label line does, and
"a 10% chance that it is" leans to the other. Whoever adds that others are to decide concludes
nothing all the same (`conclusion_en.is_deferred`). Source: our own.
"""

from __future__ import annotations

import re

EVEN = 50.0  # percent

_LIKELY = re.compile(
    r"\b(?:(?:most|very|quite|highly|extremely|overwhelmingly)\s+(?:likely|probabl[ey])|probabl[ey]"
    r"|in\s+all\s+(?:likelihood|probability)|presumably|almost\s+certainly)\b"
)
_OPENS = (
    r"(?:\b(?:there(?:\s+is|['\u2019]s)|i(?:\s+|['\u2019]d\s+)(?:see|say|give)|we\s+see|with|at)\s+)?"
    r"(?:\b(?:an?|about|around|roughly|only|over|some|nearly|approximately|at\s+least|the|just)\s+){0,3}"
)
_SHARE = r"(?P<share>\d{1,3}(?:\.\d{1,3})?)\s*(?:%|percent\b|per\s+cent\b)"
_DEGREE = (
    r"(?:(?:very|rather|quite)\s+)?(?:(?P<high>high|strong|good|great|considerable|substantial|significant|big)"
    r"|(?P<low>low|small|slim|slight|little|remote|minimal|tiny))"
)
_CHANCE = re.compile(
    rf"(?P<has>\b(?:has|carries)\s+)?{_OPENS}(?:{_SHARE}|{_DEGREE})\s+(?:chance|likelihood|probability|possibility)\s+"
    r"(?:(?P<being>(?:of|for)\s+(?:it\s+|this\s+)?being\s+)|that\s+|of\s+)"
)
_OF_CHANCES = "%", "cent", "chance", "ility", "hood"  # what the next two cannot do without
_MEASURED = re.compile(
    rf"(?:\b(?:about|around|roughly|at\s+least)\s+)?{_SHARE}\s+(?P<word>likely|probable|sure|certain|confident)\b"
)


def in_plain_words(before: str) -> str:
    """What stands before a label word, lower case, with "likely" and "not likely" for a chance."""
    if any(one in before for one in _OF_CHANCES):  # for the sake of time
        before = _MEASURED.sub(_as_measured, _CHANCE.sub(_as_likely, before))
    return _LIKELY.sub("likely", before)


def _leans(found: re.Match[str]) -> bool | None:
    """Does more than half speak for it? None where it is even."""
    if found["share"] is None:
        return found["high"] is not None
    share = float(found["share"])
    return None if share == EVEN or share > 2 * EVEN else share > EVEN


def _as_likely(found: re.Match[str]) -> str:
    leans = _leans(found)
    if leans is None:
        return found.group()
    degree = "likely " if leans else "not likely "
    return f"is {degree}" if found["has"] or found["being"] else f"{degree}that "


def _as_measured(found: re.Match[str]) -> str:
    share = float(found["share"])
    return found["word"] if EVEN < share <= 2 * EVEN else found.group()
