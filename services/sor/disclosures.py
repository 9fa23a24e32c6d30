"""What a plain statement of reasons discloses beside its facts: measure, ground, automated means,
scope and redress, sentence by sentence.

Source: Regulation (EU) 2022/2065, Article 17(3)(a) and (c) to (f). A sentence discloses an item
where the words that it takes stand in it together; sentences about redress disclose nothing else,
since "within six months" is no duration there and "a person reviews your appeal" decided nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.sor.concepts import ReadSentence
from services.sor.grounds import ground_of
from services.sor.lexicon import DATED, MONTHS, NUMBERS, UNITS
from services.sor.report import SorItemName, SorRoute
from services.sor.sentences import Span

SUBSTANCE = 3  # content words that an explanation has at least
NEAR = 3  # words before a date that say whose date it is
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?!\d)"
)  # the months in words are found among the words
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")


@dataclass(frozen=True, slots=True)
class Disclosed:
    """An item and the span of the statement that discloses it. value: 1, or 0.5 for a ground that
    names the document and no clause."""

    item: SorItemName
    span: Span
    value: float = 1.0
    route: SorRoute | None = None


def disclosures(sentences: Sequence[ReadSentence], text: str) -> list[Disclosed]:
    """Of every sentence, in order. text: the statement, quotations of the post blanked."""
    found: list[Disclosed] = []
    about_redress = False
    for one in sentences:
        routes = list(_routes(one, about_redress))
        about_redress = bool(routes)
        span = one.sentence.span
        if routes:
            found += [Disclosed("redress", span, route=route) for route in routes]
        found += [Disclosed(item, span, value) for item, value in _items(one, text, routes)]
    return found


def _items(
    one: ReadSentence, text: str, routes: Sequence[SorRoute]
) -> Iterator[tuple[SorItemName, float]]:
    if routes:
        return
    for item, told in TOLD.items():
        if told(one):
            yield item, 1.0
    if _is_dated(one, text):
        yield "duration", 1.0
    ground = ground_of(one, text)
    if ground:
        yield "ground", ground


def _routes(one: ReadSentence, after_redress: bool) -> Iterator[SorRoute]:
    """The ways of redress that a sentence names. after_redress: the one before did."""
    opened = "open to you" in one or after_redress
    settled, judged = "settlement" in one, "court" in one
    if "complaint" in one and opened and _offers(one, after_redress):
        yield "internal_complaint"
    if settled:
        yield "out_of_court_settlement"
    if judged and (opened or settled or "complaint" in one):
        yield "court"


def _offers(one: ReadSentence, after_redress: bool) -> bool:
    """Whether words of complaint are an offer to the reader, and no report of what others did, no
    rule and no reading of it."""
    words = one.folded
    for place in one.places["complaint"]:
        word, before = words[place], words[max(0, place - 3) : place]
        if word.startswith("complain") and {"after", "following", "upon", "received"} & set(before):
            continue
        if word in ("review", "reviewed") and not _asks_review(words, place):
            continue
        if word in _OF_READERS and not (_ADDRESSED & set(words) or after_redress):
            continue
        if word.startswith(_VERBS) and not (_ALLOWED & set(words) or after_redress):
            continue
        return True
    return False


_OF_READERS = frozenset(("write", "tell", "contact", "let", "get", "reply", "respond", "answer"))
_ADDRESSED = frozenset(("disagree", "wrong", "mistake", "mistaken", "agree", "unjustified", "error",
                        "incorrect", "decision", "object", "appeal", "complaint", "unfair",
                        "incorrectly", "mistakenly", "overlooked", "reconsider", "objection"))  # fmt: skip
_VERBS = ("object", "challeng", "contest", "disput", "protest")
_ALLOWED = frozenset(("may", "can", "could", "right", "wish", "want", "possible", "possibility",
                      "free", "entitled", "decision", "disagree", "option", "against", "like",
                      "within", "route", "open", "through", "via", "wrong", "form"))  # fmt: skip


def _asks_review(words: Sequence[str], place: int) -> bool:
    """Of our decision, and asked for: not "we reviewed", not "review our rules"."""
    before, after = words[max(0, place - 5) : place], words[place + 1 : place + 4]
    asked = {"request", "ask", "demand", "internal", "seek", "another", "second", "new", "want",
             "have", "get", "for", "a", "fresh"} & set(before)  # fmt: skip
    ours = {"rules", "guidelines", "policy", "policies", "standards", "terms"} & set(after)
    return bool(asked) and not ours and "we" not in before


def _restriction(one: ReadSentence) -> bool:
    return "restriction" in one


def _automation(one: ReadSentence) -> bool:
    """Automated means, or the people in their place."""
    return "automation" in one or "people" in one


def _detection(one: ReadSentence) -> bool:
    if "reported" in one and "notifier" in one:
        return True
    if _is_general(one):
        return True
    return "found" in one and _automation(one)


def _decision(one: ReadSentence) -> bool:
    if _is_general(one):
        return True
    if "people" in one and "decided" in one:
        return _is_by_people(one)
    if "people" in one and "found" not in one and "reported" not in one and "used" in one:
        return True
    return "automation" in one and "decided" in one and _is_of_decisions(one)


def _is_by_people(one: ReadSentence) -> bool:
    """"A person reported it and it was removed" leaves open who decided."""
    told = set(one.places["people"]) - set(one.places.get("notifier", ()))
    return bool(told) or "reported" not in one


def _is_of_decisions(one: ReadSentence) -> bool:
    """"Our system flagged the post, which was removed" speaks of detection alone, "was found and
    removed automatically" of both."""
    if "found" not in one and "reported" not in one:
        return True
    return any(word.startswith(_BOTH) for word in one.folded)


_BOTH = ("automat", "decid", "decision", "both", "neither", "judg", "assess", "alone", "fully")


def _is_general(one: ReadSentence) -> bool:
    """"No automated means were used": of detection and of the decision."""
    if "explicit automation" not in one or one.any_of("found", "reported"):
        return False
    return "used" in one and not _names_decision(one)


def _names_decision(one: ReadSentence) -> bool:
    return any(word.startswith(("decid", "decision", "judg", "assess", "remov")) for word in one.folded)


def _territory(one: ReadSentence) -> bool:
    if "place" not in one or "reach" not in one:
        return False
    away = set(one.places["reach"]) - set(one.places["place"])
    itself = {"worldwide", "everywhere", "globally", "territorial", "territory", "anywhere",
              "wherever", "geographically", "territorially"} & set(one.folded)  # fmt: skip
    return bool(away or itself)


def _duration(one: ReadSentence) -> bool:
    if "lasting" in one and (one.any_of("restriction", "reach", "decided") or len(one.folded) < 12):
        return True
    return _spans_time(one.folded) and one.any_of("restriction", "reach")


def _spans_time(words: Sequence[str]) -> bool:
    """"for 30 days", "a three-month suspension"."""
    return any(
        unit in UNITS and (number[0].isdigit() or number in NUMBERS)
        for number, unit in zip(words, words[1:], strict=False)
    )


def _is_dated(one: ReadSentence, text: str) -> bool:
    """A date that is the measure's, not the post's."""
    if not one.any_of("restriction", "reach", "lasting", "decided"):
        return False
    words = one.folded
    for place, word in enumerate(words):
        if _is_day(words, place) or (_YEAR.fullmatch(word) and _written(one, place, text)):
            before = words[max(0, place - NEAR) : place]
            if not before or not (DATED & set(before)) or {"from", "until", "since"} & set(before):
                return True
    return False


def _is_day(words: Sequence[str], place: int) -> bool:
    """"3 March", "March 3rd": a month beside a number."""
    if words[place] not in MONTHS:
        return _DAY.fullmatch(words[place]) is not None and words[place + 1 : place + 2] in _MONTH
    return any(_DAY.fullmatch(word) for word in words[place + 1 : place + 2])


_MONTH = [[month] for month in sorted(MONTHS)]


def _written(one: ReadSentence, place: int, text: str) -> bool:
    """Whether this year begins or ends a date in figures."""
    word = one.sentence.words[place]
    around = text[max(0, word.start - 6) : word.end + 6]
    return _DATE.search(around) is not None


def _explanation(one: ReadSentence) -> bool:
    """Why it falls under the ground: a link, and words that say something."""
    return "because" in one and one.sentence.content >= SUBSTANCE


TOLD: Mapping[SorItemName, Callable[[ReadSentence], bool]] = {
    "restriction": _restriction,
    "explanation": _explanation,
    "automated_detection": _detection,
    "automated_decision": _decision,
    "territorial_scope": _territory,
    "duration": _duration,
}
