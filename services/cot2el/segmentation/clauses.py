"""DSeg1: clause units, near to the elementary discourse units of Rhetorical Structure Theory.

English by rules over words: subordinators, coordination of full clauses, relative clauses, clauses
after verbs of saying and thinking, strong punctuation, fronted subordinate clauses. Other languages
by strong punctuation alone. Source: Chen et al., EMNLP 2025, Eq. 3, where a trained segmenter does
this; the rules are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.cot2el.segmentation.noun_phrases import FINITE, verb_end
from services.cot2el.segmentation.spans import Span, pieces, settled, trimmed

LEAST_WORDS = 2  # a shorter piece joins its neighbour

SUBORDINATORS = (
    "because although though unless since whereas while if until till when whenever lest once "
    "provided supposing assuming"
)
LONGER_SUBORDINATORS = (
    "even though|even if|even when|so that|so long as|as long as|as soon as|as if|as though|"
    "given that|in case|provided that|except that|now that|in order to|in order that|only if|"
    "rather than|instead of|because of|due to|despite|in spite of|so as to"
)
SUBJECT = (
    "i|you|he|she|it|we|they|there|this|that|these|those|someone|somebody|nobody|nothing|people|"
    "one|everyone|everything|something"
)
DETERMINER = "the|a|an|my|your|his|her|its|our|their|some|any|no|each|every|both|neither|most|many"
SAYING = (
    "says?|said|saying|states?|stated|claims?|claimed|thinks?|thought|believes?|suggests?|"
    "suggested|implies|imply|implied|means?|meant|indicates?|indicated|argues?|argued|knows?|"
    "know|knew|guess|guesses|suppose|supposes|assumes?|assumed|concludes?|concluded|mentions?|"
    "mentioned|notes?|noted|tells? us|asks?|asked|understand|wonders?|wondered|shows?|see|"
    "realizes?|expects?|hopes?|feel|felt|sure|certain|clear|likely|possible|true"
)
# A full clause: a pronoun, or a noun phrase with its verb, which `verb_end` looks for.
CLAUSE = rf"(?:(?:{SUBJECT})\b|(?:{DETERMINER})\b(?P<{{}}>))"
LINKED, JOINED = CLAUSE.format("linked"), CLAUSE.format("joined")
ING = r"(?!thing|nothing|something|everything|anything|king|ring|during)\w{2,}ing\b"

PURPOSE = "show|protect|make|see|find|get|help|avoid|keep|call|prove|decide|check|support|explain"

BEFORE = re.compile(
    rf"""(?<=[\s(])(?:
    (?:{LONGER_SUBORDINATORS.replace(" ", r"[ ]")})\b
  | (?<!\bas\ )(?<!\beven\ )(?<!\bonly\ )(?<!\bwhat\ )(?:{"|".join(SUBORDINATORS.split())})\b
  | (?:before|after|as)\s+(?:(?:{SUBJECT})\b|{LINKED}|{ING})
  | (?:by|without)\s+{ING}
  | (?:and|but|or|so|yet|nor|for)\s+(?:then\s+|also\s+|maybe\s+|perhaps\s+|therefore\s+)?{JOINED}
  | to\s+(?:{PURPOSE})\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
AFTER_COMMA = re.compile(
    rf"""(?<=,)\s+(?:
    (?:and|but|or|so|yet|nor|not)\b(?=\s+\S+\s+\S+)
  | (?:which|who|whom|whose|where|in\ which|of\ which)\b
  | {ING}
  | (?:{SUBJECT})\s+(?:{FINITE})\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
RELATIVE = re.compile(
    rf"(?<=\w)\s+(?:who|which|whose|whom|where)\s+(?=(?:{FINITE}|{SUBJECT}|\w+s|\w+ed)\b)",
    re.IGNORECASE,
)
REPORTED = re.compile(
    rf"\b(?:{SAYING})\s+(?P<cut>(?:that|what|whether|where|how|why|if)\s+)", re.IGNORECASE
)
FRONTED = re.compile(
    rf"(?:and|but|so|or|now|okay|also|maybe)?,?\s*(?:{'|'.join(SUBORDINATORS.split())}|"
    rf"{LONGER_SUBORDINATORS}|as|after|before|by|without|to|in order to)\b",
    re.IGNORECASE,
)
STRONG = re.compile(r"[;:；：](?=\s|$|[^\x00-\x7f])|\s[—–-]{1,2}\s|—|——|[，](?=\S{6})")
BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


def clauses(text: str, sentence: Span) -> list[Span]:
    """The clause units of a sentence, in order; together they hold it whole.

    A unit that is cut out and read by itself is one unit.
    """
    return settled(text, sentence, _pieces)


def _pieces(text: str) -> list[Span]:
    return _joined(text, pieces(text, (0, len(text)), _cuts(text)))


def _cuts(text: str) -> Iterator[int]:
    yield from _before(text)
    for rule in (AFTER_COMMA, RELATIVE):
        yield from (found.start() for found in rule.finditer(text))
    yield from (found.start("cut") for found in REPORTED.finditer(text))
    yield from (found.end() for found in STRONG.finditer(text))
    for found in BRACKETS.finditer(text):
        if len(found[0].split()) >= LEAST_WORDS:
            yield from (found.start(), found.end())
    yield from _fronted(text)


def _before(text: str) -> Iterator[int]:
    """Where a subordinate or a coordinated clause begins; what it begins with holds no other."""
    found = BEFORE.search(text)
    while found:
        end = verb_end(text, found.end()) if found.lastgroup else found.end()
        if end is not None:
            yield found.start()
        found = BEFORE.search(text, found.start() + 1 if end is None else end)


def _fronted(text: str) -> Iterator[int]:
    """After the comma of each subordinate clause that stands in front of the main one."""
    found = FRONTED.match(text)
    while found:
        comma = text.find(",", found.end())
        if comma < 0:
            return
        yield comma + 1
        found = FRONTED.match(text, trimmed(text, comma + 1, len(text))[0])


def _joined(text: str, parts: list[Span]) -> list[Span]:
    """Pieces of fewer than two words join the one before; the first one the one after it."""
    joined: list[Span] = []
    for part in parts:
        short = _words(text, part) < LEAST_WORDS
        if joined and (short or _words(text, joined[-1]) < LEAST_WORDS):
            joined[-1] = (joined[-1][0], part[1])
        else:
            joined.append(part)
    return [trimmed(text, *part) for part in joined]


def _words(text: str, span: Span) -> int:
    """White space parts words; a run of letters without any counts as enough."""
    piece = text[span[0] : span[1]]
    return LEAST_WORDS if not piece.isascii() and len(piece) > 5 else len(piece.split())
