"""A decision that an answer states as data: JSON, a line `key: value`, a row of a table.

`Category: hate/threatening`, `{"violates_policy": false}`, `| Verdict | Hateful |`: the key decides
what its value means, whatever the prose around it says of hate. Read only where every field that
decides says the same. Source: our own; an inverted decision is worse than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from services.explanations.answer_tables import columns
from shared.readers.decision_words import (
    ASKING,
    CROSS,
    HATEFUL,
    IS_NOT,
    KEY,
    NO,
    NOT,
    OPEN,
    TICK,
    YES,
)
from shared.reports.metric import StatedDecision

MOST_LINES = 400  # that are looked at, from the end
LONGEST_KEY, LONGEST_VALUE = 60, 300  # characters

_BORDER = re.compile(  # between fields, and attributes of a tag
    r"\n|(?<=[.;。；])\s+(?=\S)|,\s*(?=[\"'])|[{}]|<[a-z]\w{0,19}\s(?=\w{1,20}=[\"'])"
    r"|(?<=[\"'])\s(?=\w{1,20}=[\"'])",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"[:：=|\u2192\u21d2\u27a1?？]|[-=]>|\b(?:is|was)(?=\s+[\"'\u201c\u2018])"
    r"|(?<=[答案论断定类果])[是为]|(?<=[답론단정류과벨])[은는]\s"
    rf"|[(（](?=\s?(?:{YES}|{NO})\s?[)）])|\s(?=(?:yes|no|true|false)[\s.!]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_AROUND = " \t\r\n\"'`*_#>|()[]{}<>\u201c\u201d\u2018\u2019-\u2013\u2014\u2022.?？\ufe0f"  # mark-up
_NUMBER = re.compile(r"^(?:\d{1,2}[.)]|\([a-z\d]\)|[a-z][.)])\s*", re.IGNORECASE)
_DECIDES = re.compile(KEY)
_ASKS = re.compile(
    rf"{ASKING}(?:(?:{HATEFUL}|hatefulness)(?:\s+(?:present|detected|found))?"
    rf"|(?:violat(?:es?|ion|ing)|breach(?:es)?)(?:\s+(?:of|the|our|this))*"
    rf"(?:\s+{HATEFUL})?(?:\s+(?:polic(?:y|ies)|rules?|guidelines?))?)",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"(?:(?P<no>{NOT})?(?P<label>{HATEFUL})(?P<ko>{IS_NOT})?|(?P<yes>{YES})|(?P<denied>{NO}))"
    r"(?=[\W_]*$|[\"*_]{0,3}[^\S\n]*\n|[\"'`*_)\]\u201d\u2019]*\s*(?:[.;:,(\u2013\u2014。，；（-]|입니다|이다))",
    re.IGNORECASE,
)
_GLOSSED = re.compile(  # "Sonuç: Nefret içermiyor (Non-hateful)"
    rf"(?P<said>[^()（）\n.!?]{{1,80}}?)\s{{0,2}}[(（][\s*\"]{{0,3}}(?P<no>{NOT})?(?P<label>{HATEFUL})(?P<ko>{IS_NOT})?[\s*\"]{{0,3}}[)）]"
    r"(?P<yes>(?!))?(?P<denied>(?!))?[\W_]*(?=$|\n)",
    re.IGNORECASE,
)
_IN_DOUBT = re.compile(r"\b(?:not|no|never|neither|cannot|maybe|if)\b|n['\u2019]t\b", re.IGNORECASE)
_NOTHING = re.compile(r"\s*(?P<list>\[\s*\])")  # what there is of it
_LEAN = r"(?:most\s+|very\s+|more\s+)?(?:probably|likely|presumably)(?:\s+than\s+not)?"
_KIND_OF = (
    r"(?:(?:implicit|explicit|(?:in)?direct|subtle|overt|covert|mild|severe|clear|coded)(?:ly)?\s)?"
)
_ALONE = re.compile(rf"[\W_]*(?:{_LEAN}\s+)?{_KIND_OF}", re.IGNORECASE)
_LEANS = re.compile(
    rf"(?<!less\s)\b{_LEAN}(?=\s+(?:(?:not|an?)\s+){{0,2}}(?:non[\s-]?)?hate)"
    r"|(?:很|极|非常)可能(?=(?:不是|并非|是|属于|不属于|构成|不构成)仇恨)|(?:大概|多半)(?=不?是仇恨)"
    r"|아마도?(?=\s)",
    re.IGNORECASE,
)
# "an 8, i.e. it is hateful": the same again
_MEANING = re.compile(
    r"(?<=[,;(\u2014])\s*(?:i\.\s?e\.|that\s+is(?:\s+to\s+say)?,|in\s+other\s+words|which\s+means"
    r"(?:\s+that)?|meaning(?:\s+that)?),?\s+(?=(?:it|this|the\s+\w{1,20})\s+(?:is|was|isn|does)\b)",
    re.IGNORECASE,
)
# "It follows that this is not hateful"; "Text A is hateful", of a prompt with one text
_FOLLOWS = re.compile(
    r"(?:^|(?<=[.!?\n]\s)|(?<=\n))(?:it\s+follows|this\s+means)\s+that\s+"
    r"(?=(?:it|this|the\s+\w{1,20})\s+(?:is|was|isn|does)\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:^|(?<=\n))(?:the\s)?(?:text|post|comment|tweet|message|item)\s[#(]?(?:[a-d]|\d{1,2})\)?(?=\s(?:is|was|does)\b)",
    re.IGNORECASE,
)
_GRADE = re.compile(  # "9/10 hateful", "1 out of 5 for hate", "95% hateful"
    r"(?<![\d.,/])(?P<grade>\d{1,3}(?:\.\d{1,4})?)\s?(?:(?:/|out\s+of)\s?(?P<most>\d{1,3})|%)[\s,:(\u2013-]{1,3}"
    rf"(?:(?:for|on|in)\s+)?(?P<label>{HATEFUL})\b",
    re.IGNORECASE,
)
LOW_GRADE, HIGH_GRADE = 0.3, 0.7  # shares of the most; between them nothing is decided
_ENDINGS = (  # of Korean leans, and what they lean to, as long
    ("아닐 것입니다", "아닙니다   "),
    ("일 것입니다", "입니다   "),
    ("아닌 것 같습니다", "아닙니다     "),
    ("인 것 같습니다", "입니다     "),
)
_CHOICE = re.compile(  # "Q: Hateful or not? A:", the choice that an answer repeats
    r"[\W_]{0,9}(?:(?:q|question|问题?|질문)\s{0,3}[:：])?[^?？.。!！\n:：]{1,200}[?？]\s{0,9}"
    r"(?:(?:a|answer|答案?|답변?)\s{0,3}[:：])?",
    re.IGNORECASE,
)
_SCORE = re.compile(  # "hateful": 0.91, Hate probability: 0.9, P(hateful) = 0.9
    rf"(?:^[^\w\n]{{0,9}}(?:p\(\s?)?|[\"'])(?:(?P<no>{NOT})?(?P<label>{HATEFUL})|(?P<other>neutral|normal|none|harmless"
    r"|benign|safe|ok(?:ay)?))[\"'*)]{0,3}(?:\s(?:probability|likelihood|score))?[\"'*]{0,3}"
    r"\s{0,9}[:=]\s{0,9}(?P<share>\d(?:\.\d{1,9})?)(?![\d.%])",
    re.IGNORECASE | re.MULTILINE,
)
_SCORED = re.compile(  # {"label": "NOT_HATE", "score": 0.017}, as classifiers list them
    rf"[\"']label[\"']\s{{0,3}}:\s{{0,3}}[\"'](?P<no>{NOT})?(?P<label>{HATEFUL})[\"']\s{{0,3}},\s{{0,9}}"
    r"[\"'](?:score|probability|confidence)[\"']\s{0,3}:\s{0,3}(?P<share>\d(?:\.\d{1,20})?)(?![\d.%])",
    re.IGNORECASE,
)
_GLOSS = re.compile(  # "Hateful: attacks a group", what a label means
    rf"(?:^|(?<=[.;\n]))[^\w\n]{{0,9}}(?P<no>{NOT})?(?P<label>{HATEFUL})[*_\"]{{0,3}}\s?[:=]\s{{1,3}}"
    r"(?!(?:yes|no|not|none|true|false|very|un\w{4,20}|\d|[\"'*]?\d)\b)(?=[^\W\d_]{2,20}\s+[^\W\d_])",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETED = re.compile(
    rf"\s{{0,3}}[(\uff08]\s{{0,3}}(?P<no>{NOT})?{HATEFUL}\s{{0,3}}[)\uff09]",
    re.IGNORECASE,
)
_NAMED_SIDE = re.compile(
    rf"(?P<no>(?:\b(?:not|non|no)|n['\u2019]t)[\s_-]+(?:an?\s+)?)?{HATEFUL}", re.IGNORECASE
)
_BRANCHES = re.compile(
    r"\bif\b[^.!?\n]{1,160}\bhateful\b[^.!?\n]{0,40}[;,.]\s*(?:and\s+|but\s+)?(?:if\s+not|otherwise|else)\b"
    r"[^.!?\n]{0,60}\bhateful\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z]\w{0,19}>|\\(?:boxed|text|textbf|mathbf)\{|[$}]")
_TICKED = re.compile(  # "Hateful ✅", before the other label's cross
    rf"^[^\w\n]{{0,9}}(?P<no>{NOT})?(?P<label>{HATEFUL})[^\w\n]{{0,5}}?"
    rf"(?:(?P<yes>{TICK})|{CROSS})[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES = re.compile(r"hate|仇恨|혐오|\b(?:or|unclear|unsure|but|however)\b|[?？]", re.IGNORECASE)
# "Hateful: null" is no answer.
_UNANSWERED = re.compile(rf"[\s\"'*_]{{0,9}}[:=]\s{{0,9}}[\"']?{OPEN}\b", re.IGNORECASE)
_LABEL = re.compile(rf"{NOT}?{HATEFUL}", re.IGNORECASE)
_IS_KEY = re.compile(r"[\"']\s{0,9}:")  # of data, whose value decides
_IS_DATA = re.compile(r"\s*(?:```[a-z]*\s*)?[{\[]\s*[\[{\"']", re.IGNORECASE)


def is_data(answer: str) -> bool:
    """Is the whole answer an object or a list, whose prose decides nothing?"""
    return _IS_DATA.match(answer) is not None


def read_structured(answer: str, *, asked: bool = False) -> StatedDecision | None:
    """The decision that the fields of an answer agree on; None where none decides.

    asked: whether the prompt asks "is this hateful?", so that `answer: yes` decides.
    """
    found = list(_fields(answer, asked=asked))
    if len({one.label for one in found}) != 1:
        return None
    return found[-1]


def read_lone_label(answer: str) -> StatedDecision | None:
    """The decision of an answer that begins with a label, or has it behind a question, and names
    no other one, nor doubts it: "probably hateful" is one, a prompt asks for a choice."""
    answer = _TAG.sub(lambda tag: " " * len(tag.group()), answer)
    asked = _CHOICE.match(answer)
    start = _ALONE.match(answer, asked.end() if asked else 0)
    value = _VALUE.match(answer, start.end() if start else 0)
    if value is None or (_NAMES.search(answer, value.end()) and not _heads(answer, value)):
        value = _repeated(answer, start.end() if start else 0)
    if value is None or value["label"] is None:
        return None
    if _UNANSWERED.match(answer, value.end()) or _IS_KEY.match(answer, value.end()):
        return None
    denied = value["no"] is not None or value["ko"] is not None
    label = "non-hateful" if denied else "hateful"
    return StatedDecision(label=label, start=0, end=value.end(), words=value.span())


def _behind(answer: str, value: re.Match[str]) -> int:
    """Where it ends, with the same label in brackets: "haineux (hateful)"."""
    again = _BRACKETED.match(answer, value.end())
    same = again is not None and (again["no"] is None) == (value["no"] is None)
    return again.end() if again and same else value.end()


def _heads(answer: str, value: re.Match[str]) -> bool:
    """Is it a line of its own, and is the other label named nowhere behind it?"""
    ends = answer.find("\n", value.end())
    if ends < 0 or answer[value.end() : ends].strip(_AROUND):
        return False
    rest = answer[ends:]
    sides = {one["no"] is None for one in _NAMED_SIDE.finditer(rest)}
    return sides == {value["no"] is None}


def is_within_branches(answer: str, decision: StatedDecision) -> bool:
    """Does its sentence decide both ways: "if they do, it's non-hateful; if not, it's hateful"?"""
    found = _BRANCHES.finditer(answer)
    return any(one.start() <= decision.words[0] < one.end() for one in found)


def is_left_open(answer: str, decision: StatedDecision) -> bool:
    """Is it a label under which the answer says that it does not apply, or is not known?"""
    start, end = decision.words
    label = _LABEL.match(answer, start)
    return _UNANSWERED.match(answer, label.end() if label else end) is not None


def is_gloss(answer: str, decision: StatedDecision) -> bool:
    """Is it a label whose meaning is told, as that of the other one is: "Hateful: attacks a group.
    Non-hateful: attacks none."?"""
    found = list(_GLOSS.finditer(answer))
    if len({one["no"] is None for one in found}) < 2:
        return False
    first, last = decision.words
    return any(
        one.start() <= first < one.end() or first <= one.start("label") < last for one in found
    )


def read_ticked(answer: str) -> StatedDecision | None:
    """The one label that is ticked, where each stands on a line with its mark."""
    found = [one for one in _TICKED.finditer(answer) if one["yes"]]
    if len(found) != 1:
        return None
    [one] = found
    label = "hateful" if one["no"] is None else "non-hateful"
    return StatedDecision(label=label, start=one.start(), end=one.end(), words=one.span("label"))


def _repeated(answer: str, start: int) -> re.Match[str] | None:
    """The first of the labels that an answer only repeats: "Hateful Hateful Hateful"."""
    words = answer[start:].split()
    alike = len({word.strip(_AROUND).casefold() for word in words[:-1]}) == 1
    return _VALUE.match(answer, start, start + len(words[0])) if alike else None


def read_scores(answer: str) -> StatedDecision | None:
    """The higher one of the labels' scores, each told once and as a share; of one label alone what
    its score decides as a grade."""
    found = list(_SCORE.finditer(answer)) or list(_SCORED.finditer(answer))
    sides = {not one.groupdict().get("other") and one["no"] is None: one for one in found}
    shares = {side: float(one["share"]) for side, one in sides.items()}
    if True not in shares or len(found) != len(sides) or max(shares.values()) > 1:
        return None
    hateful, rest = shares[True], shares.get(False)
    low, high = (LOW_GRADE, HIGH_GRADE) if rest is None else (rest, rest)
    if hateful == rest or low < hateful < high:
        return None
    is_hateful = hateful >= high
    one = sides.get(is_hateful, sides[True])
    label = "hateful" if is_hateful else "non-hateful"
    return StatedDecision(label=label, start=one.start(), end=one.end(), words=one.span("share"))


def read_grade(answer: str) -> StatedDecision | None:
    """The decision of an answer that grades the text on a scale of hate, and says no more of it."""
    found = _GRADE.search(answer)
    most = int(found["most"] or 100) if found else 0
    if found is None or _GRADE.search(answer, found.end()) or most == 0:
        return None
    around = answer[: found.start()] + answer[found.end() :]
    share = float(found["grade"]) / most
    if (
        _NAMES.search(around)
        or _IN_DOUBT.search(around)
        or share > 1
        or LOW_GRADE < share < HIGH_GRADE
    ):
        return None
    label = "hateful" if share >= HIGH_GRADE else "non-hateful"
    return StatedDecision(
        label=label, start=found.start(), end=found.end(), words=found.span("label")
    )


def without_leans(answer: str) -> str:
    """Blanks for `probably` and the like before a label, and for `i.e.` before a clause that has
    one; as long as the answer."""
    plain = _LEANS.sub(lambda lean: " " * len(lean.group()), answer)
    for blank in (_MEANING, _FOLLOWS):
        plain = blank.sub(lambda words: " " * len(words.group()), plain)
    plain = _NUMBERED.sub(lambda item: "It".ljust(len(item.group())), plain)
    for leaning, plainly in _ENDINGS:
        plain = plain.replace(leaning, plainly)
    return plain


def _fields(answer: str, *, asked: bool) -> Iterator[StatedDecision]:
    for start, end in _segments(answer):
        separator = _SEPARATOR.search(answer, *_inner(answer, start, end, LONGEST_KEY))
        if separator is not None:
            key = _NUMBER.sub("", answer[start : separator.start()].strip(_AROUND)).casefold()
            named = key.strip(_AROUND).replace("_", " ")
            decides = asked and _DECIDES.fullmatch(named) is not None
            read = _decision(named, answer, (separator.end(), end), by_yes=decides)
            if read is not None:
                yield replace(read, start=_inner(answer, start, end, LONGEST_KEY)[0])


def read_column(answer: str, *, asked: bool = False) -> StatedDecision | None:
    """The decision below the head of a table's column; None where columns differ."""
    found: list[StatedDecision] = []
    for head, cell in columns(answer):
        named = answer[slice(*head)].strip(_AROUND).casefold().replace("_", " ")
        by_yes = asked and _DECIDES.fullmatch(named) is not None
        found += filter(None, [_decision(named, answer, cell, by_yes=by_yes)])
    return found[-1] if len({one.label for one in found}) == 1 else None


def _segments(answer: str) -> list[tuple[int, int]]:
    """Spans between borders, the last MOST_LINES."""
    borders = [match.span() for match in _BORDER.finditer(answer)]
    starts = [0, *(end for _, end in borders)]
    ends = [*(start for start, _ in borders), len(answer)]
    return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]][-MOST_LINES:]


def _inner(answer: str, start: int, end: int, most: int) -> tuple[int, int]:
    """Without the marks at its start, so that a row of a table begins with its key."""
    inner = answer[start:end]
    first = start + len(inner) - len(inner.lstrip(_AROUND))
    return first, min(end, first + most)


def _decision(
    key: str, answer: str, span: tuple[int, int], *, by_yes: bool
) -> StatedDecision | None:
    """Of the value answer[span] under a key in lower case. by_yes: yes is hateful under it."""
    nothing = _NOTHING.match(answer, *span) if _ASKS.fullmatch(key) else None
    if nothing is not None:
        start, end = nothing.span()
        return StatedDecision(label="non-hateful", start=start, end=end, words=nothing.span("list"))
    first, last = _inner(answer, *span, LONGEST_VALUE)
    value = _VALUE.match(answer, first, last) or _glossed(answer, first, last)
    if value is None or _NAMES.search(answer, _behind(answer, value), last):
        return None
    if value["label"] is not None and _DECIDES.fullmatch(key):
        denied = value["no"] is not None or value["ko"] is not None
    elif value["label"] is None and (by_yes or _ASKS.fullmatch(key)):
        denied = value["denied"] is not None
    else:
        return None
    label = "non-hateful" if denied else "hateful"
    return StatedDecision(label=label, start=first, end=value.end(), words=value.span())


def _glossed(answer: str, first: int, last: int) -> re.Match[str] | None:
    """A value in another language with its label in brackets."""
    value = _GLOSSED.match(answer, first, last)
    if value is None or _NAMES.search(_LABEL.sub("", value["said"])):
        return None
    return None if _IN_DOUBT.search(value["said"]) and value["no"] is None else value
