"""What a model answered: its decision, or that it refused, or that nothing can be read.

Of the answer alone, without reasoning and what the model goes on with (`answer_parts`). A refusal
and an unreadable answer end as such: no metric sees them. Where an answer corrects itself, what
stands behind the correction counts; where it breaks off, a field or a label, since prose may be
about to turn. Source: specs "models" §5.1, §7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.explanations.answer_parts import Answer
from services.explanations.contradictions import is_contradicted, without_options
from services.explanations.guard_answers import is_guard_answer, read_guard_answer
from services.explanations.other_languages import read_other_languages
from services.explanations.structured_answer import (
    is_data,
    is_gloss,
    is_left_open,
    is_within_branches,
    read_column,
    read_grade,
    read_lone_label,
    read_scores,
    read_structured,
    read_ticked,
    without_leans,
)
from services.explanations.yes_or_no import asks_itself, read_yes_or_no
from shared.contracts.elicitation import ExplanationsObstacle, Outcome
from shared.readers.refusals import REFUSES_WITHIN, is_refusal
from shared.reports.metric import StatedDecision

_BORDER = re.compile(r"(?<=[.!?。！？])(?=\s|[^\x00-\x7f])|\n")  # between sentences
_NAMED = r"(?:label|decision|answer|conclusion|classification|verdict|relation(?:ship)?)"
_WORD = r"(?:conclusion|label|verdict|decision|answer|classification|assessment|judge?ment|rating)"
_CORRECTS = re.compile(  # at the beginning of a sentence
    r"(?:^|(?<=[.!?\u3002\uff01\uff1f]))[^\w\n]{0,9}(?:(?:oh|hmm+|no|but|actually|sorry)[\s,.\u2026]{1,4}){0,2}"
    r"(?:wait\b|hold\s+on\b|correction\b|scratch\s+that|strike\s+that|on\s+second\s+thoughts?"
    r"|(?:on|upon|after)\s+(?:(?:further|some|more)\s+)?(?:reflection|reconsider(?:ation|ing)|re-?reading)|let\s+me\s+(?:correct|revise|reconsider|re-?evaluate|rethink)"
    r"|i\s+(?:was\s+wrong|made\s+a\s+mistake|misread|stand\s+corrected|take\s+that\s+back"
    r"|(?:need|have|must|should|want)(?:\s+to)?\s+(?:correct|revise)|apologi[sz]e,?\s+(?:for|i))"
    rf"|(?:my\s+|the\s+)?(?:revised|corrected|updated|amended|new)\s+{_WORD}\b|(?:edit|update)\s*:"
    r"|\u66f4\u6b63|\u4fee\u6b63|\u7b49\u7b49|\u4e0d\u5bf9|\uc815\uc815|\uc218\uc815|\uc7a0\uae50|\uc544\ub2c8,)",
    re.IGNORECASE | re.MULTILINE,
)

_CORRECTION = re.compile(  # what is said before the other decision: "Hmm, wait, actually"
    r"[^\w\n]{0,9}(?:(?:oh|hmm+|no(?=,?\.?\s+(?:on|upon|after|wait|actually|scratch)\b)|but|sorry|wait|hold\s+on|correction|scratch\s+that|strike\s+that|actually"
    r"|in\s+fact|on\s+second\s+thoughts?|(?:on|upon|after)\s+(?:(?:further|some|more)\s+)?(?:reflection"
    r"|reconsider(?:ation|ing)|re-?reading))\b[\s,.:;!\u2026\u2014-]{1,4}){1,5}",
    re.IGNORECASE,
)

_CITED = re.compile(r"^[ \t]{0,3}>(?=\s)", re.MULTILINE)  # Markdown's mark of a quotation

Stated = Callable[[str], StatedDecision | None]


@dataclass(frozen=True)
class AnswerOutcome:
    """How an answer ends: with a decision, or without one, and why."""

    outcome: Outcome
    decision: StatedDecision | None = None
    obstacle: ExplanationsObstacle | None = None


def parse_answer(answer: Answer, stated: Stated) -> AnswerOutcome:
    """stated: what reads a decision."""
    if answer.cut:
        detail = "the model was still reasoning when its tokens were used up: allow more"
        return _unparsable("answer-cut-by-reasoning", detail)
    text = answer.own_text
    if not text.strip():
        return _unparsable("conclusion-unread", "the model wrote nothing")
    decision = _corrected(text, stated)
    if decision is not None and answer.breaks_off and decision.words[1] >= len(text.rstrip()):
        decision = None  # "Hateful" may be about to become "Hateful or not"
    if refuses(text, decision):
        detail = "the model refuses to decide or to explain"
        obstacle = ExplanationsObstacle(component="decision", code="refused", detail=detail)
        return AnswerOutcome("refused", None, obstacle)
    if decision is not None:
        return AnswerOutcome("answered", decision)
    ended = "; its tokens were used up: allow more" if answer.breaks_off else ""
    return _unparsable("conclusion-unread", f"no decision can be read from the answer{ended}")


def refuses(answer: str, decision: StatedDecision | None) -> bool:
    """Whether one of its first sentences refuses, and no other one decides: none does where the
    request names the label, whose place in the answer is empty."""
    first = [span for span in _sentences(answer) if answer[slice(*span)].strip()][:REFUSES_WITHIN]
    refusing = [span for span in first if is_refusal(answer[slice(*span)])]
    if decision is None or decision.start == decision.end or not refusing:
        return bool(refusing)
    return any(decision.start < end and start < decision.end for start, end in refusing)


def _corrected(text: str, stated: Stated) -> StatedDecision | None:
    """The decision behind the last correction of itself; None where it takes a decision back and
    states no other."""
    decision, start = stated(text), _last_correction(text)
    if start == 0:
        return decision
    later = stated(text[start:])
    if later is None and (mark := _CORRECTION.match(text, start)) is not None:
        start, later = mark.end(), stated(text[mark.end() :])
    if later is None:
        return None if decision is None or decision.start < start else decision
    first, last = later.words
    return replace(
        later, start=later.start + start, end=later.end + start, words=(first + start, last + start)
    )


def _last_correction(text: str) -> int:
    """Where it begins; 0: there is none."""
    marks = (match.start() for match in _CORRECTS.finditer(text))
    return max((mark for mark in marks if text[:mark].strip()), default=0)


def by_labels(labels: Sequence[str]) -> Stated:
    """Reads a label on a line of its own or behind a word such as `Label:`, else one that begins
    the answer or is what "this is"; where they differ, nothing."""
    known, ways = {label.casefold(): label for label in labels}, _label_patterns(labels)
    if set(known) == set(_RELATIONS.values()):
        known |= {verb: known[label] for verb, label in _RELATIONS.items()}
        ways = [*ways, [_RELATES]]

    def read(answer: str) -> StatedDecision | None:
        for way in ways:
            found = [match for pattern in way for match in pattern.finditer(answer)]
            told = [known[" ".join(match["label"].casefold().split())] for match in found]
            if len(set(told)) > 1:
                return None
            if found:
                match, label = found[0], told[0]
                words = match.span("label")
                return StatedDecision(
                    label=label, start=match.start(), end=match.end(), words=words
                )
        return None

    return read


_RELATIONS = {  # verbs of inference
    "entails": "entailment",
    "entail": "entailment",
    "entailed": "entailment",
    "contradicts": "contradiction",
    "contradict": "contradiction",
    "contradicted": "contradiction",
    "neither entails nor contradicts": "neutral",
    "neither entailed nor contradicted": "neutral",
}
_RELATES = re.compile(  # "The premise entails the hypothesis", "they contradict each other"
    r"(?:^|(?<=[.!?\n]))[^\w\n]{0,9}(?:(?:so|thus|therefore|hence)[\s,]{1,3})?"
    r"(?:(?:the|this)\s)?(?:(?:premise|hypothesis|text|statement|sentence|it|they|two|and|the|first|second)\s){1,5}"
    r"(?:(?:is|are)\s)?(?:(?:clearly|directly|logically|therefore|thus|plainly|flatly)\s){0,2}"
    r"(?P<label>(?:neither\sentail(?:s|ed)\snor\s)?(?:entail|contradict)(?:s|ed)?)\b"
    r"(?=\s(?:the|this|it|each|one|what|by)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def _label_patterns(labels: Sequence[str]) -> list[list[re.Pattern[str]]]:
    """In the order in which they are believed, each with a group `label`."""
    listed = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    another = rf"(?:or\s|and\s)?(?:{listed})\b"
    ends = (
        r"(?=[\"'*_`)\]]{0,4}\s{0,3}(?:$|[.;:!(}\n\u2013\u2014-]"
        rf"|,(?!\W{{0,3}}{another})|(?:because|since|as)\b))"
    )
    starts, so = r"(?:^|(?<=[.!?{,\n]))[^\w\n]{0,9}", r"(?:so|thus|therefore|hence)"
    told = (
        rf"^[^\w\n]{{0,9}}(?:{_NAMED}[^\w\n]{{0,9}})?(?P<label>{listed})[^\w\n]{{0,9}}$",
        rf"{starts}(?:(?:the|my|final|correct|best|{so})[\s,]{{1,3}}){{0,4}}{_NAMED}[^\w\n]{{0,9}}"
        rf"(?:(?:is|would\s+be|=)\s)?[^\w\n]{{0,4}}(?:an?\s)?(?P<label>{listed}){ends}",
        rf"\A[^\w\n]{{0,9}}(?P<label>{listed}){ends}",
        rf"{starts}(?:{so}[\s,]{{1,3}})?(?:this|it|that)\s+is\s+(?:an?\s+)?(?:case\s+of\s+)?"
        rf"[^\w\n]{{0,3}}(?P<label>{listed}){ends}",
    )
    made = [re.compile(one, re.IGNORECASE | re.MULTILINE) for one in told]
    return [made[:2], made[2:3], made[3:]]


def hateful_or_not(stated: Stated, *, asked: bool, breaks_off: bool = False) -> Stated:
    """Reads an answer of data by its fields, any other as `stated` does, else by its fields.

    asked: whether the prompt asks "is this hateful?", so that yes and no decide too. breaks_off:
    whether the answer has no end, so that its prose decides nothing.
    """

    def read(answer: str) -> StatedDecision | None:
        if is_guard_answer(answer):
            return read_guard_answer(answer)
        answer = without_options(_CITED.sub(lambda mark: " " * len(mark.group()), answer))
        found = decided(answer)
        if found is None or not is_contradicted(answer, found):
            return found
        field = read_structured(answer, asked=asked)  # "Hateful: F", of which prose has the label
        within = field is not None and field.start <= found.words[0] < field.end
        return field if field and within and not is_contradicted(answer, field) else None

    def decided(answer: str) -> StatedDecision | None:
        fields = read_structured(answer, asked=asked)
        if is_data(answer) and (data := fields or read_scores(answer)) is not None:
            return data
        prose = None if breaks_off else stated(without_leans(answer))
        if prose and any(
            one(answer, prose) for one in (is_gloss, is_within_branches, is_left_open)
        ):
            prose = None
        told = read_ticked(answer) or read_column(answer, asked=asked)
        read = told or prose or fields or read_lone_label(answer)
        read = read or read_grade(answer) or read_scores(answer)
        if read is not None or breaks_off:
            return read
        answers = asked or asks_itself(answer)
        return read_other_languages(answer) or (read_yes_or_no(answer) if answers else None)

    return read


def explanation_in(answer: str, after: str | None) -> str:
    """What explains: behind the words that head it, or of data the field of that name."""
    if after is None:
        return answer.strip()
    if is_data(answer) and (told := _field(answer, after)) is not None:
        return told
    head, corrected = re.compile(re.escape(after), re.IGNORECASE), _last_correction(answer)
    found = head.search(answer, corrected) or head.search(answer)
    return answer[found.end() :].strip().lstrip("*_ \n") if found else answer.strip()


def _field(answer: str, after: str) -> str | None:
    """Its text as JSON has it; None where it is cut, or there is none."""
    name = re.escape(after.strip(" :"))
    found = re.search(rf"\"{name}\"\s{{0,9}}:\s{{0,9}}(?=\")", answer, re.IGNORECASE)
    if found is None:
        return None
    try:
        told, _ = json.JSONDecoder(strict=False).raw_decode(answer, found.end())
    except ValueError:
        return None
    return str(told).strip()


def _sentences(answer: str) -> Iterator[tuple[int, int]]:
    start = 0
    for border in _BORDER.finditer(answer):
        yield start, border.start()
        start = border.end()
    yield start, len(answer)


def _unparsable(code: str, detail: str) -> AnswerOutcome:
    obstacle = ExplanationsObstacle.model_validate(
        {"component": "decision", "code": code, "detail": detail}
    )
    return AnswerOutcome("unparsable", None, obstacle)
