"""Clauses that deny redress: "no appeal is possible", "Eine Beschwerde ist nicht möglich".

What they name is no way of redress, however well it is named. A condition ("if you do not agree")
and what redress does not take ("no fee", "without going to court") deny nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.sor.concepts import ReadSentence
from services.sor.sentences import Span

_WORDS = r"(?:[\w’'-]{1,30},?\s{1,3}){0,3}?"  # between a negation and what it denies

_BORDER = re.compile(
    r"[;:!?–—]|,?\s(?:but|however|yet|though|although|instead|unless|until|only after"
    r"|aber|jedoch|doch|sondern|stattdessen|dafür|außer|bis|obwohl)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\W{0,3}(?:and |or |und |oder )?(?:if|when|where|should|in case|wenn|falls|sofern|sollten"
    r"|sollte|soweit)\b[^,]{0,200},?",
    re.IGNORECASE,
)
# What is denied beyond a limit is granted within it: "no appeals after 30 days".
_LIMIT = re.compile(
    r"\b(?:after|beyond|later than|more than once|twice|nach|später als|mehr als einmal|zweimal)\b",
    re.IGNORECASE,
)
_MEANS = (
    r"(?:rights?|possibilit(?:y|ies)|ways?|options?|means|routes?|recourse|appeals?|complaints?"
    r"|objections?|reviews?|reconsideration|remed(?:y|ies)|redress|legal action|courts?"
    r"|settlement|disputes?|arbitration|mediation)"
)
_TAKES = (  # what redress need not take
    r"(?:costs?|charges?|fees?|later|longer|need|obligation|matter|time|deadline|form|doubt"
    r"|problem|disadvantage|lawyer|one|reasons?|prejudice|affecting|limiting|going|delay|giving"
    r"|losing|waiving|first)"
)
_DONE = (
    r"(?:appeal(?:ed)?|complain|contest(?:ed)?|challenged?|disputed?|object|review(?:ed)?|sue"
    r"|reconsider(?:ed)?|reopen(?:ed)?|revisit(?:ed)?|possible|available|open|foreseen|provided"
    r"|admissible|accept(?:ed)?|offer(?:ed)?|allowed|permitted|entitled|go to court)"
)
_ENGLISH = re.compile(
    rf"\b(?:no|not any|without(?: any)?|neither|nor)\s(?!{_TAKES}\b){_WORDS}{_MEANS}\b"
    rf"|\b(?:cannot|can not|can[’']t|may not|must not|could not|won[’']t|will not|is not|are not"
    rf"|isn[’']t|aren[’']t|no longer|unable to|do not|don[’']t|does not|doesn[’']t)\s"
    rf"(?!only\b|need\b|have to\b|hesitate\b|lose\b|waive\b|affect\b|agree\b|obliged\b|required\b)"
    rf"{_WORDS}{_DONE}\b"
    rf"|\b{_MEANS}\s{_WORDS}(?:is|are|has been|have been)\s(?:\w{{1,20}}\s)?"
    rf"(?:impossible|excluded|ruled out|unavailable|closed|barred|precluded|denied|refused)\b",
    re.IGNORECASE,
)
_GERMAN_MEANS = (
    r"(?:\w{0,20}beschwerde\w{0,12}|widerspruch\w{0,10}|einspruch\w{0,6}|(?:neue )?überprüfung"
    r"|rechts(?:mittel|behelf|weg|schutz)\w{0,3}|gericht\w{0,3}|klagen?|schlichtung\w{0,8}"
    r"|(?:außergerichtliche\w{0,2} )?streitbeilegung\w{0,8})"
)
_GERMAN = re.compile(
    rf"\b(?:keine?[mnrs]?|ohne|weder|noch)\s(?!kosten|gebühr|frist|formular|begründung|nachteil"
    rf"|anwalt|anwält){_WORDS}(?:{_GERMAN_MEANS}|recht|möglichkeit(?:en)?)\b"
    rf"|\b{_GERMAN_MEANS}\s(?:[\w-]{{1,30}},?\s{{1,3}}){{0,6}}?(?:nicht (?:mehr )?(?:möglich"
    rf"|vorgesehen|zulässig|statthaft|eröffnet|offen|angeboten|bearbeitet|angenommen|eingelegt|erhoben"
    rf"|eingereicht|zur verfügung|zu)|ausgeschlossen|unzulässig|unmöglich|verwehrt)\b"
    rf"|\b(?:können|kannst|könnt|dürfen|darfst|dürft|kann|darf)\s(?:[\w-]{{1,30}},?\s{{1,3}}){{0,6}}?"
    rf"nicht\s(?!nur\b)(?:[\w-]{{1,30}}\s{{1,3}}){{0,3}}?(?:widersprechen|beschweren|anfechten|klagen"
    rf"|einlegen|einreichen|erheben|angefochten|überprüft)\b",
    re.IGNORECASE,
)


def _clauses(told: str) -> Iterator[Span]:
    start = 0
    for border in _BORDER.finditer(told):
        yield start, border.start()
        start = border.start()
    yield start, len(told)


def _denied(told: str, denial: re.Pattern[str]) -> Iterator[Span]:
    for start, end in _clauses(told):
        condition = _CONDITION.match(told, start, end)
        begin = condition.end() if condition else start
        found = denial.search(told, begin, end)
        if found and not _LIMIT.search(told, found.start(), end):
            yield begin, end


def without_denied(one: ReadSentence, text: str) -> ReadSentence:
    """An English sentence without what it speaks of where it denies it. text: the statement."""
    start, end = one.sentence.span
    denied = [(start + first, start + last) for first, last in _denied(text[start:end], _ENGLISH)]
    if not denied:
        return one
    words = one.sentence.words
    kept = {
        concept: [
            place
            for place in places
            if not any(first <= words[place].start < last for first, last in denied)
        ]
        for concept, places in one.places.items()
    }
    return ReadSentence(one.sentence, {concept: own for concept, own in kept.items() if own})


def without_denied_german(told: str) -> str:
    """A German sentence, blank where it denies redress."""
    for start, end in _denied(told, _GERMAN):
        told = f"{told[:start]}{' ' * (end - start)}{told[end:]}"
    return told
