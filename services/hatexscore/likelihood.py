"""Verdicts put in plain words: what is called likely, "hence the hateful label", superlatives.

A verdict that is called likely is one where more than half speaks for it.

"May be hateful" names a possibility and states nothing. "Most likely hateful", "probably hate
speech", "an 85% chance that it is" lean to one side, as a score of 0.85 in a label line does, and
"a 10% chance that it is" leans to the other. Whoever adds that others are to decide concludes
nothing all the same (`conclusion_en.is_deferred`). "It couldn't be more hateful" denies nothing.
Source: our own.
"""

from __future__ import annotations

import re

from services.hatexscore.label_patterns import LABEL_NOUN_AFTER

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


_CONCLUDED = re.compile(
    r"[,;]?\s{0,3}\b(?:hence|therefore|thus|so)\s{1,3}(?:the|an?|my|our|this)\s[\s\"]{0,5}$"
)
# "It couldn't be more hateful", "I've never read anything more hateful than this".
_NO_MORE = re.compile(
    r"(?:(?:\b(?:could|can|would|will|does|do|did|have|has)\s{1,3})?\b(?:not|never|cannot|nothing|nobody|no\s{1,3}one|no\s{1,3}\w{1,20}|rarely|seldom|hardly(?:\s{1,3}ever)?)"
    r"|\b\w{2,7}n['\u2019]t)\s[^,;:.()]{0,80}?\bmore\s{1,3}(?:\w{1,20}ly\s{1,3})?$"
)
_THAN_THIS = re.compile(
    r"\s*(?:(?!than\b)\w+\s*)?(?:$|[.,;:!)\u2014]|than\s+(?:this|that|it|these)\b)"
)


def in_plain_words(before: str, after: str) -> tuple[str, str]:
    """What stands around a label word, lower case: before it "likely" and "not likely" for a
    chance, "it is" for a superlative, a verb of judging for "hence the … label"."""
    if any(one in before for one in _OF_CHANCES):  # for the sake of time
        before = _MEASURED.sub(_as_measured, _CHANCE.sub(_as_likely, before))
    before = _LIKELY.sub("likely", before)
    if "more" in before and _THAN_THIS.match(after):
        before = _NO_MORE.sub(" it is ", before)
    noun = LABEL_NOUN_AFTER.match(after) if _CONCLUDED.search(before) else None
    if noun is None:
        return before, after
    return _CONCLUDED.sub("; labelled as ", before), after[noun.end() :]


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
