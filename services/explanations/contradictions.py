"""What of an answer contradicts the decision that is read in it.

A field that denies its label (`hate speech: present: no`), both labels under keys that decide, a
label beside a cross or an empty box, labels that are only listed. Read from the words between marks
alone: such a unit is a label, a key, a yes, a no, or prose, which says nothing here. Source: our
own; an inverted decision is worse than a missing one. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from shared.readers.decision_words import (
    ASKING,
    CROSS,
    EMPTY_BOX,
    HATEFUL,
    IS_NOT,
    KEY,
    LOW,
    NO,
    NOT,
    OPEN,
    TICK,
    TICKED_BOX,
    YES,
)
from shared.reports.metric import StatedDecision

LONGEST = 60  # characters of a unit that is no prose

_SIGN = (
    r"(?:[\n{}\[\]()|,;:=?!*`#>\"\u201c\u201d\uff1a\uff0c\uff1b\u3002\uff08\uff09\uff1f\uff01\u2192\u21d2\u27a1]"
    r"|(?<!\w)'|'(?!\w)|\.(?!\d)|/(?!\d)|[-=]>|(?<=\s)[-\u2013\u2014\u2022](?=\s))"
)
_MARKS = re.compile(rf"{_SIGN}(?:\s|{_SIGN})*")  # between units
_AROUND = " \t\r-\u2022_\u2013\u2014"
_KEY = re.compile(r"^[^\n.,(]{0,9}?[:=\uff1a\u2192\u21d2\u27a1]|[-=]>")  # what follows is its value
_VALUE = re.compile(r"[:=\uff1a?\uff1f(\uff08|\u2192\u21d2\u27a1\u2013\u2014]|[-=]>|\s-\s")
_EMPTY = re.compile(r"[:=]\s{0,9}(?:\[\s{0,9}\]|\{\s{0,9}\}|\"\s{0,9}\"|'\s{0,9}')")
_ENDS = re.compile(r"[\n.\u3002]")
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(told, re.IGNORECASE))
    for kind, told in (
        (
            "hateful",
            rf"(?:flagged\sas\s|detected\sas\s)?{ASKING}(?:an?\s)?{HATEFUL}"
            r"(?:\s(?:present|detected|found|score|probability|likelihood|level|status|severity|rating"
            r"|flag))?",
        ),
        ("non-hateful", rf"{NOT}{HATEFUL}|{HATEFUL}(?:\s(?!{CROSS}){NO}|{IS_NOT})"),
        ("decides", KEY),
        (
            "flag",
            r"(?:(?:is|was|it)\s){0,3}(?:present|presence|flag(?:ged)?|detect(?:ed|ion)|found|exists?"
            r"|appl(?:y|ies|ied|icable)|violat(?:es?|ed|ion|ing|ions)(?:\s(?:found|present|detected))?"
            r"|match(?:es|ed)?|positive|triggered|confirmed|score|probability|likelihood)",
        ),
        (
            "no",
            rf"{NO}|{OPEN}|never|neither|not?\s(?:present|at\sall|match(?:ed)?|violations?"
            rf"|evidence|really|true)|does\snot\sapply|[0-3]/10|[01]/5|0/\d{{1,3}}|{LOW}"
            r"|0(?:\.[012]\d*|\.30*|\.)?|(?:[012]?\d|30)(?:\.\d+)?\s?%",
        ),
        ("yes", rf"{YES}|present|0\.[789]\d*"),
    )
)
_SIDE = rf"[*_\"'`]{{0,3}}{NOT}?{HATEFUL}(?![\w-])[*_\"'`]{{0,3}}"
_UNTICKED = rf"(?:{CROSS}|{EMPTY_BOX})"  # or a box that nobody ticked
_LEADS = re.compile(
    rf"^(?:[^\w\n]{{0,9}}?|[^\n:]{{1,30}}:[^\w\n]{{0,4}}?)"
    rf"(?:{_UNTICKED}|{TICKED_BOX}|{TICK})\s{{0,2}}{_SIDE}",
    re.IGNORECASE,
)
_BEHIND_BOX = re.compile(rf"{_UNTICKED}\s{{0,2}}{_SIDE}", re.IGNORECASE)
# Behind a label "[]" is no box, it is a list of nothing; behind its colon a cross is a value.
_BEFORE_BOX = re.compile(
    rf"{_SIDE}\s{{0,2}}(?:[:=]\s{{0,2}}(?!\[\]){EMPTY_BOX}|-?\s{{0,2}}(?!\[\]){_UNTICKED})",
    re.IGNORECASE,
)
_HAS_BOX = re.compile(_UNTICKED)
_HAS_EMPTY_BOX = re.compile(EMPTY_BOX)


_CHOICE = re.compile(
    rf"(?<=[\w:*])\s{{0,3}}[(\uff08]\s{{0,3}}{_SIDE}\s{{0,3}}(?:[/|,\u3001\uff0c]|or\s|或)\s{{0,3}}{_SIDE}"
    r"\s{0,3}[)\uff09]",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    rf"[(\uff08\[]\s?(?:{YES}|{NO})\s?(?:[/|,\u3001]|or)\s?(?:{YES}|{NO})\s?[)\uff09\]]",
    re.IGNORECASE,
)
_SHARE = re.compile(r"[01]?\.?\d{1,9}")
_TURNS = re.compile(
    r"(?:^|(?<=[.!?\u2026])|\n)[^\w\n]{0,9}(?:actually|wait|hold\s+on|no,|sorry|correction|instead|rather"
    r"|on\s+(?:second|reflection|further|closer)|upon|let\s+me|i\s+(?:was|must|need|should|take)"
    r"|其实|等等|更正|修正|不对|사실|정정|수정|잠깐|아니)",
    re.IGNORECASE,
)
_FINAL = re.compile(r"(?:final|overall|最终|최종)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Unit:
    """answer[start:end], what it is, and the marks behind it."""

    start: int
    end: int
    kind: str
    behind: str

    @property
    def side(self) -> bool | None:
        """Is it the label hateful, or the other one?"""
        return {"hateful": True, "non-hateful": False}.get(self.kind)

    @property
    def is_key(self) -> bool:
        return _KEY.search(self.behind) is not None

    @property
    def has_value(self) -> bool:
        line = self.behind.partition("\n")[0].rstrip()  # a bar at its end closes a row
        return _VALUE.search(line.removesuffix("|")) is not None


_NOTHING = _Unit(0, 0, "prose", "")


def without_options(answer: str) -> str:
    """Blanks for a label beside a cross or an empty box, for "(yes/no)", and for a line or a
    sentence that has both labels and nothing else; as long as the answer."""
    plain = "\n".join(map(_without_unticked, answer.split("\n")))
    plain = _YES_OR_NO.sub(lambda found: " " * len(found.group()), plain)
    kept, place = list[str](), 0
    for group in _sentences(_units(_without_choices(plain))):
        sides = {one.side for one in group if not one.is_key}
        if {True, False} <= sides and all(map(_is_of_a_list, group)):
            start, end = group[0].start, group[-1].end
            kept += (plain[place:start], " " * (end - start))
            place = end
    return "".join((*kept, plain[place:]))


def is_contradicted(answer: str, decision: StatedDecision) -> bool:
    """Do its fields say otherwise, or both?"""
    units = list(_units(_without_choices(answer)))
    told = {*_keyed(answer, [*units, *[_NOTHING] * 3], decision.words[0]), *_denied(units)}
    if told:
        return told != {decision.label == "hateful"}
    alone = {group[0].side for group in _sentences(units) if len(group) == 1}
    return {True, False} <= alone


def _keyed(answer: str, units: list[_Unit], decided: int) -> set[bool]:
    """The labels under keys that decide: from a final one on, where there is one; of those with a
    score the one with the higher. decided: where the decision stands, which may take one back."""
    found, scores, final = list[_Unit](), dict[bool, float](), False
    for key, value, flag, score in zip(units, units[1:], units[2:], units[3:], strict=False):
        if key.kind != "decides" or value.side is None or value.is_key or not key.has_value:
            continue
        if not final and _FINAL.match(answer, key.start):
            final = True
            found.clear()
        found.append(value)
        share = _SHARE.match(answer, score.start) if flag.kind == "flag" else None
        if share is not None:
            scores[value.side] = float(share.group())
    if len(scores) == 2 and scores[True] != scores[False]:
        return {scores[True] > scores[False]}
    last = max((one.end for one in found if one.end <= decided), default=decided)
    if _TURNS.search(answer, last, decided):
        found = [one for one in found if one.end > decided]
    return {one.kind == "hateful" for one in found}


def _denied(units: list[_Unit]) -> Iterator[bool]:
    """What fields come to that have a label as their key, or within it, or that tell whether
    what stands before them is there."""
    label = _NOTHING  # the last one
    within = False  # the value of its key
    for one, after in pairwise([*units, _NOTHING]):
        answers = after.kind in ("yes", "no") and one.has_value
        if one.side is not None:
            label, within = one, one.is_key
            if answers or _EMPTY.search(one.behind):
                yield one.side == (after.kind == "yes" and answers)
        elif answers and after.kind == "no" and one.kind not in ("yes", "no"):
            if within:
                yield label.side is False
            elif one.kind == "flag" and label.side is not False:
                yield False
        else:
            within = within and (one.kind in ("decides", "flag") or one.is_key)


def _units(answer: str) -> Iterator[_Unit]:
    place = 0
    for mark in _MARKS.finditer(answer):
        if answer[place : mark.start()].strip(_AROUND):
            yield _unit(answer, place, mark.start(), mark.group())
        place = mark.end()
    if answer[place:].strip(_AROUND):
        yield _unit(answer, place, len(answer), "")


def _unit(answer: str, start: int, end: int, behind: str) -> _Unit:
    told = answer[start:end]
    first = start + len(told) - len(told.lstrip(_AROUND))
    told = told.strip(_AROUND)
    if len(told) > LONGEST:
        return _Unit(first, end, "prose", behind)
    plain = " ".join(told.replace("_", " ").split())
    kind = next((kind for kind, known in _KINDS if known.fullmatch(plain)), "prose")
    return _Unit(first, end, kind, behind)


def _sentences(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    """The units of a line, or of a sentence."""
    group: list[_Unit] = []
    for one in units:
        group.append(one)
        if _ENDS.search(one.behind):
            yield group
            group = []
    if group:
        yield group


def _is_of_a_list(one: _Unit) -> bool:
    """Such as "(a) hateful", "Options: hateful"."""
    return one.side is not None or one.is_key or one.end - one.start <= 1


def _without_choices(answer: str) -> str:
    """Blanks for both labels in brackets, which stand behind a key: "Label (hateful/not)"."""
    return _CHOICE.sub(lambda found: " " * len(found.group()), answer)


def _without_unticked(line: str) -> str:
    """Without what is crossed out. A cross behind a key that decides is an ornament."""
    if not _HAS_BOX.search(line):
        return line
    first = next(_units(line), _NOTHING)
    if first.kind == "decides" and first.has_value and not _HAS_EMPTY_BOX.search(line):
        return line
    marked = _BEHIND_BOX if _LEADS.match(line) else _BEFORE_BOX
    return marked.sub(lambda found: " " * len(found.group()), line)
