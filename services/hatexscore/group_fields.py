"""The group that an explanation in fields names as its target: "Target: Muslims", tables, lists.

Models, moderators and logs often answer in fields instead of sentences. What stands in a field for
the target is said to be attacked, and what stands in one for a group is who it is about; a field
for what is merely mentioned ties nobody, nor does one that opens with "none". A question and its
answer are a field, too. Every window is bounded.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Literal

from shared.readers.decision_words import NO, YES

FieldKind = Literal["target", "group", "mentioned"]

LONGEST_LINE = 240  # characters before a mention in its line
LONGEST_LIST = 8  # lines of a list under its key
LONGEST_TABLE = 60  # lines between a row and its header
LONGEST_ASKED = 120  # characters of a question, or of a step, that the next sentence answers
LONGEST_ANSWER = 60  # characters of a name alone that answers it

_KEY = r"[^\W\d_][^\n:=|\[\]<>{};,.!?→]{0,47}"
_MARKS = r"[\"'`*_\s\u201c\u201d]{0,6}"
_SEPARATOR = r"(?::=?|=>?|->|\u2192|\uff1a|\.{3,40}|\||\])"
# A key and its separator; the last of a line is that of what follows it.
_FIELD = re.compile(
    rf"(?:^[\s>#*\u2022\u2013\d.)-]{{0,12}}|[|;,.{{(\[\uff0c\uff1b\u3002]|\s[-*\u2022\u2013\u2014]|\d\))\s{{0,9}}{_MARKS}(?P<key>{_KEY}?){_MARKS}"
    rf"{_SEPARATOR}(?P<value>[^:=|\n;\u2192\uff1a\uff1b]*)$"
)
_QUESTION_KEY = re.compile(
    rf"(?:^|[|;.]\s?){_MARKS}(?:(?:q(?:uestion)?\s?)?\d{{0,2}}[.):]\s?)?(?P<key>{_KEY})\?"
    r"\s*(?:a(?:nswer)?\s?\d{0,2}[.):])?(?P<value>[^?\n]*)$",
    re.IGNORECASE,
)
# "Q: Group?" on a line of its own, before "A: Muslims".
_ANSWER_LINE = re.compile(r"\W{0,9}a(?:nswer)?\s?\d{0,2}[.):](?P<value>[^?\n]*)$", re.IGNORECASE)
# A value that goes on as a sentence of its own names no more members of the field.
_ENDED = re.compile(r"[.!?\u3002](?:\s|$)")
_NOBODY = re.compile(
    r"[\s\"'`*_\[({]*(?:none|nobody|no[ -]?one|no\b|not\b|n/?a\b|nil\b|null|false|unclear"
    r"|unknown|unspecified|empty|~|-+\s|\u65e0|\u6ca1\u6709|\u4e0d|\uc5c6|\ubbf8\uc0c1)",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\btarget|\bvictim|\battacked|\baffected|\baimed|\bagainst|\binsulted|\bharmed|\bwhom?\b|\b(?:object|subject)s?\s"
    r"of\s(?:the\s|this\s)?(?:attack|insult|hat|abuse|hostil)"
    "|目标|针对|对象|受害|被攻击|대상|표적|피해",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\bgroups?\b|\bcommunit|\bclass\b|\bidentit|\bpeople|\bpopulation|\bprotected|\bdemographic|\bminorit"
    "|群体|人群|身份|集体|집단|그룹|정체성",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    r"mention|\bnamed\b|referenc|referred|discuss|\btopic|\bauthor|\bspeaker|\bnot\b|\bnon|提到|提及|언급|작성자",
    re.IGNORECASE,
)
_OF_THE_TEXT = re.compile(
    r"phrase|\bspan|\bwords?\b|wording|quot|evidence|excerpt|\btext|\bterms?\b|expression|segment|snippet"
    "|原文|词|证据|표현|문구|근거",
    re.IGNORECASE,
)
# "대상은 외국인 노동자이다": the target, as a sentence.
_IS_TARGET_KO = re.compile(r"(?:대상|표적)(?:은|는|이|가)?\s(?:[가-힣]{1,8}\s)?$")
_UNDERSCORE = re.compile(r"[_/-]+")
_BULLET = re.compile(r"[ \t]{0,12}[-*\u2022\u2013]\s")
_OPENS_A_LIST = re.compile(
    rf"[\s\d.)#>*-]{{0,9}}{_MARKS}(?P<key>{_KEY}?){_MARKS}[:=\uff1a]{_MARKS}\[?\s*$"
)
_RULE_OF_TABLE = re.compile(r"[\s|:+-]+$")
_DELIMITERS = "|\t;,"
# "Step 1: find the target." "Who is it about?" before "Muslims."
_ASKS = re.compile(
    r"\b(?:target\w*|victims?|who|whom|(?:which|what)\s(?:group|people|community)|attacked|aimed|against)\b"
    "|目标|针对谁|对象|谁|대상|누구",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\W*(?:(?:against|at|it'?s|it\sis|they\sare|the|all|on|to|towards?|of|and|or|both|are|is|mainly|only|answer)\W+)*$",
    re.IGNORECASE,
)
# "Is it hateful? Yes, towards Jews.", "… it would not be hateful. It names Jews, and so it is."
_OF_HATE = re.compile(
    r"\b(?:hate(?:ful\w*|d|s)?|hatred|toxic|offensive|abusive|attacks?|insults?|insulting|racis[mt]|demeaning|degrading|derogatory"
    r"|hostile|harmful|discriminatory|unsafe|violat\w+)\b",
    re.IGNORECASE,
)
_OF_NO_HATE = re.compile(
    r"\b(?:not|no|never|nothing|neither|hardly)\b|n['\u2019]t\b|\bnon-", re.IGNORECASE
)
_TOWARDS = re.compile(
    r"\W*(?:(?:yes|yeah|yep|indeed|clearly|very|namely|and|specifically|mainly|openly|hateful|it\sis)\W+)*"
    r"(?:towards?|against|at|to)\s+(?:(?:the|all|both|many)\s+)?"
    r"(?:[\w'-]{1,25}(?:\s[\w'-]{1,25})?(?:\s*,|\s(?:and|or))\s){0,3}$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s(?:and|or)\s[\w\s,'-]{1,50}[.!]?\s*$")
_SO_IT_IS = re.compile(
    r"\s{0,3},?\s{0,3}(?:and\s)?(?:so|hence|thus|therefore|(?:that|this|which)\sis\swhy)\s(?:it|this|(?:the|this)\s\w{1,12})"
    r"\s(?:clearly\s)?(?:is|does|counts|qualifies)\W{0,9}$",
    re.IGNORECASE,
)
_DENIED = (
    r"[\"'`*_\s)]{0,6}(?::=?|=>?|->|[|?\uff1a\uff1f\u2192])[\"'`*_\s|]{0,6}"
    rf"(?:(?:{NO}|null|n/?a|nil|not|nobody)(?!\w)|0[.]0+\b|\u65e0|\u6ca1\u6709|\uc5c6|\uc544\ub2c8"
    r"|\u2014|-\s)"
)
# "attack: no", "hostile? none": an attack that its field denies.
_DENIED_FIELD = re.compile(
    rf"[\w-]{{0,24}}(?:\s(?:found|present|type|level|on\s\w+))?{_DENIED}", re.IGNORECASE
)
_DENIED_FIELD_KEY = re.compile(
    rf"\b(?:attack|hostil|insult|slur|harm|violat|abus|derog|dehumani|degrad|demean|threat|victim"
    rf"|target)[\w ]{{0,24}}{_DENIED}"
    rf"|(?:攻击|敌意|侮辱|伤害|目标|공격|모욕|비하|피해){_DENIED}",
    re.IGNORECASE,
)
_AFFIRMED_FIELD = re.compile(
    r"\b(?:attack|hostil|insult|slur|harm|abus|derog|dehumani|degrad|demean|threat)[\w ]{0,24}"
    rf"[\"'`*_\s)]{{0,6}}(?::=?|=>?|->|[|?\u2192])[\"'`*_\s|]{{0,6}}(?:{YES}|present)(?!\w)",
    re.IGNORECASE,
)
# "Label: …", "target_group = …": the name of a field says nothing of anybody.
_FIELD_NAME = re.compile(
    r"(?:target|label)[\w-]{0,24}(?:\s[\w-]{1,16}){0,2}[\"'`*_)\s]{0,6}(?::|=|->|[|\uff1a\u2192\]]|\.{3})",
    re.IGNORECASE,
)
_FIELD_NAME_ZH = re.compile(r"(?:标签|针对)(?:对象|群体|目标)?[\"'`*\s]{0,4}[:=|\uff1a]")
_NON = re.compile(r"(?:\bnon|\bnot)[-\u2010-\u2015]$|\bnon\s$|\ube44\s?$", re.IGNORECASE)
# A label of the other side.
_MILD = re.compile(
    r"\bnon[-\s]?(?:hate|toxic|offensive|harmful|abusive|violat)|\b(?:harmless|inoffensive|benign|innocuous"
    r"|compliant|complies|safe|civil|(?:does|do|did)(?:\snot|n['\u2019]t)\s(?:violate|breach|break)"
    r"|not\sin\s(?:breach|violation)|no\s(?:violation|breach|action)|false\s(?:positive|alarm)"
    r"|(?:pass(?:es)?|within|respects?|follows?)\s(?:our|the|all|your)\s(?:\w+\s){0,2}(?:rules|polic|guidelines|standards)\w*"
    r"|nothing\sto\sact\son|(?:ok|okay|fine)\sto\sstay|stays?\sup|kept\sup|left\sup)\b|无害|安全|正常|非仇恨|무해|정상|비혐오",
    re.IGNORECASE,
)
# "Target? Women." "Who is attacked? Women.": a question that the mention answers.
_WHO_IS_IT = re.compile(
    r"\W*(?:\w+\W+)?(?:who|whom|(?:which|what)\s+(?:group|people))\b[^?]{0,60}\?\W*"
    r"|\W*(?:\w+\W+){0,3}(?:target\w*|attacked|victims?|affected|demeaned|insulted)(?:\W+\w+){0,3}\s*\?\W*",
    re.IGNORECASE,
)


def is_no_attack(text: str, start: int, end: int) -> bool:
    """Is this word of an attack none: part of "non-hateful", the name of a field, or of a field
    that denies it ("attack: no")?"""
    if _NON.search(text[max(0, start - 4) : start]):
        return True
    if _FIELD_NAME.match(text, start) or _FIELD_NAME_ZH.match(text, start):
        return True
    return _DENIED_FIELD.match(text, end) is not None


def denies_attack(sentence: str) -> bool:
    """Does it say so in a field, or by a label: "attack: none", "non-hateful", "harmless"?"""
    return _DENIED_FIELD_KEY.search(sentence) is not None or _MILD.search(sentence) is not None


def asks_for_target(sentence: str) -> bool:
    """Is it a question such as "Target?", which the next sentence answers?"""
    return len(sentence) <= LONGEST_ASKED and _WHO_IS_IT.fullmatch(sentence) is not None


def names_nobody(value: str) -> bool:
    """ "None", "n/a", "无": what a field holds that has no target."""
    return _NOBODY.match(value) is not None


def field_kind(key: str) -> FieldKind | None:
    """Of a field with this key; None where it names nobody, or holds words of the text."""
    plain = _UNDERSCORE.sub(" ", key)
    if _OF_THE_TEXT.search(plain):
        return None
    if _MENTIONED.search(plain):
        return "mentioned"
    if _TARGET.search(plain):
        return "target"
    return "group" if _GROUP.search(plain) else None


def field_of(text: str, start: int) -> FieldKind | None:
    """The kind of the field in whose value a mention begins; None where it is in none."""
    first = _line_start(text, start)
    if first is None:
        return None
    line = text[first:start]
    if _IS_TARGET_KO.search(line):
        return "target"
    answer = _ANSWER_LINE.match(line)
    asked = "".join(_lines_above(text, first, 1)).rstrip(" *_") if answer else ""
    said = line if answer is None else f"{asked} {answer['value']}"
    for pattern, told in ((_FIELD, line), (_QUESTION_KEY, said)):
        found = pattern.search(told)
        if found:
            value = found["value"]
            if names_nobody(value) or _ENDED.search(value.strip()):
                return None
            kind = field_kind(found["key"])
            if kind == "mentioned" and _is_attacked_too(
                found["key"], text[start : start + LONGEST_LINE]
            ):
                return "group"
            if kind is not None:
                return kind
    return _of_list(text, first, line) or _of_column(text, first, line)


def _is_attacked_too(key: str, behind: str) -> bool:
    """ "Group mentioned? Yes, Muslims. Attack? Yes": do the next fields affirm an attack?"""
    return _GROUP.search(key) is not None and _AFFIRMED_FIELD.search(behind) is not None


def _line_start(text: str, start: int) -> int | None:
    """None where the line begins further away than LONGEST_LINE."""
    border = text.rfind("\n", max(0, start - LONGEST_LINE), start)
    return border + 1 if border >= 0 or start < LONGEST_LINE else None


def _of_list(text: str, first: int, line: str) -> FieldKind | None:
    """ "targets:" above lines of "- Muslims"."""
    if not _BULLET.match(line) or _ENDED.search(line.strip()):
        return None
    for above in _lines_above(text, first, LONGEST_LIST):
        if _BULLET.match(above) and not above.rstrip().endswith((":", "\uff1a")):
            continue
        found = _OPENS_A_LIST.match(above)
        return field_kind(found["key"]) if found else None
    return None


def _of_column(text: str, first: int, line: str) -> FieldKind | None:
    """The header over the cell, in the first line of a table that the row belongs to."""
    above = _lines_above(text, first, LONGEST_TABLE)
    for mark in _DELIMITERS:
        rows = list(takewhile(lambda one, mark=mark: mark in one, above))  # type: ignore[misc]
        header = next((one for one in reversed(rows) if not _RULE_OF_TABLE.fullmatch(one)), "")
        names = header.split(mark)
        place = line.count(mark)
        if len(names) > 1 and place < len(names):
            kind = field_kind(names[place].strip())
            if kind is not None:
                return kind
    return None


def _lines_above(text: str, first: int, most: int) -> list[str]:
    """The lines before the one that begins at `first`, the nearest first, up to an empty one."""
    found: list[str] = []
    end = first - 1
    while end > 0 and len(found) < most:
        begin = _line_start(text, end)
        line = text[begin:end] if begin is not None else ""
        if begin is None or not line.strip():
            break
        found.append(line)
        end = begin - 1
    return found


def answers(asked: str, before: str, after: str) -> bool:
    """Is a mention the whole of a sentence that answers the one before: "Find the target. Jews."?

    asked: the sentence before; before, after: what stands beside the mention in its own.
    """
    if len(asked) > LONGEST_ASKED or len(before) + len(after) > LONGEST_ANSWER:
        return False
    if _OF_HATE.search(asked) and _SO_IT_IS.fullmatch(after):
        return True
    said = asked.endswith("?") or _OF_NO_HATE.search(asked) is None
    towards = said and _OF_HATE.search(asked) and _TOWARDS.fullmatch(before)
    if towards and _LISTED.match(after):
        return True
    return bool(
        (towards or (_ASKS.search(asked) and _ANSWER.match(before)))
        and (not after.strip(" .,;!*_\u3002") or after.lstrip()[:1] in ".,;(")
    )
