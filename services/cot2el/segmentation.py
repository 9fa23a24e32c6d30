"""Finds the discourse units of a chain of thought by rules, each with its offsets.

U = DSeg1(CoT) ∪ DSeg2(CoT) (Eq. 3). DSeg1 finds clauses, in English by rules over words, in other
languages only at strong punctuation. DSeg2 finds units that begin with a discourse connective, in
English only. Source: Chen et al., EMNLP 2025, who use a trained segmenter. Deviates: U also has
sentences, since the prompt asks for sentences (`granularity` "edu" leaves them out).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from services.cot2el.report import UnitSource
from shared.text.sentences import sentences as text_sentences

Span = tuple[int, int]  # start, end (exclusive): characters
Granularity = Literal["edu", "sentence", "both"]
Language = Literal["en", "zh", "ko", "ja"]


@dataclass(frozen=True, order=True)
class Unit:
    """A discourse unit: a piece of the text, with the rules that found it."""

    start: int  # characters
    end: int  # exclusive
    sources: tuple[UnitSource, ...]


def segment(text: str, language: Language, granularity: Granularity = "both") -> list[Unit]:
    """Split a text into discourse units, sorted by start and then by end. Together they contain
    every character that is not white space. No two have the same span."""
    return merge_units(_spans(text, language, granularity))


def _spans(
    text: str, language: Language, granularity: Granularity
) -> Iterator[tuple[Span, UnitSource]]:
    for sentence in sentences(text):
        if granularity != "edu":
            yield from _with_and_without_marker(text, sentence, "sentence")
        if granularity != "sentence":
            for clause in clauses(text, sentence):
                yield from _with_and_without_marker(text, clause, "clause")
            for unit in connective_units(text, sentence, language):
                yield unit, "connective"


def merge_units(spans: Iterable[tuple[Span, UnitSource]]) -> list[Unit]:
    """Merge equal spans. Each keeps the names of all rules that found it."""
    sources: dict[Span, list[UnitSource]] = {}
    for span, source in spans:
        names = sources.setdefault(span, [])
        if source not in names:
            names.append(source)
    return [Unit(*span, tuple(names)) for span, names in sorted(sources.items())]


def _with_and_without_marker(
    text: str, span: Span, source: UnitSource
) -> Iterator[tuple[Span, UnitSource]]:
    yield span, source
    unmarked = without_marker(text, span)
    if unmarked[0] < unmarked[1]:
        yield unmarked, source


def sentences(text: str) -> list[Span]:
    """Return the sentences in order. Together they contain every character that is not white space.
    Segmenting a sentence again returns it whole."""
    return split_until_stable(text, trim(text, 0, len(text)), text_sentences)


FINITE = (
    "is|are|was|were|am|be|has|have|had|does|do|did|can|could|will|would|may|might|shall|should|"
    "must|cannot|can't|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|won't|wouldn't|couldn't|"
    "shouldn't|hasn't|haven't|seems|means|makes|says|fits|gives|goes|comes|remains|needs"
)
MOST_WORDS = 5  # between the determiner and its verb
VERB = re.compile(rf"(?:{FINITE})\b", re.IGNORECASE)
# Every word as long as possible, which is tried first.
LONGEST = rf"(?:\W++[\w'-]++){{1,{MOST_WORDS}}}"
PHRASE = re.compile(rf"{LONGEST}?\W++(?:{FINITE})\b", re.IGNORECASE)
STRETCH = re.compile(rf"{LONGEST}+\W*+")

State = tuple[
    Literal["start", "gap", "word", "verb"], int, int
]  # position in the text, words so far

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
    """Return the clauses of a sentence in order. Together they contain the whole sentence.
    Segmenting a clause again returns it whole."""

    def cut(piece: str) -> list[Span]:
        return _merge_short(piece, split_at(piece, (0, len(piece)), _cut_positions(piece)))

    return split_until_stable(text, sentence, cut)


def _cut_positions(text: str) -> Iterator[int]:
    yield from _before(text)
    for rule in (AFTER_COMMA, RELATIVE):
        yield from (match.start() for match in rule.finditer(text))
    yield from (match.start("cut") for match in REPORTED.finditer(text))
    yield from (match.end() for match in STRONG.finditer(text))
    for match in BRACKETS.finditer(text):
        if len(match[0].split()) >= LEAST_WORDS:
            yield from (match.start(), match.end())
    yield from _fronted(text)


def _before(text: str) -> Iterator[int]:
    match = BEFORE.search(text)
    while match:
        end = verb_end(text, match.end()) if match.lastgroup else match.end()
        if end is not None:
            yield match.start()
        match = BEFORE.search(text, match.start() + 1 if end is None else end)


def _fronted(text: str) -> Iterator[int]:
    match = FRONTED.match(text)
    while match:
        comma = text.find(",", match.end())
        if comma < 0:
            return
        yield comma + 1
        match = FRONTED.match(text, trim(text, comma + 1, len(text))[0])


def _merge_short(text: str, pieces: list[Span]) -> list[Span]:
    """Join each piece of fewer than two words to the preceding piece, or to the next if it is the
    first."""
    joined: list[Span] = []
    for piece in pieces:
        short = _words(text, piece) < LEAST_WORDS
        if joined and (short or _words(text, joined[-1]) < LEAST_WORDS):
            joined[-1] = (joined[-1][0], piece[1])
        else:
            joined.append(piece)
    return [trim(text, *piece) for piece in joined]


def _words(text: str, span: Span) -> int:
    """Return the number of words in the span. A piece that is not all ASCII and has more than five
    characters counts as `LEAST_WORDS`, since it may have no spaces."""
    piece = text[span[0] : span[1]]
    return LEAST_WORDS if not piece.isascii() and len(piece) > 5 else len(piece.split())


def verb_end(text: str, start: int) -> int | None:
    """Return the end of the first verb that comes one to five words after `start`, or None. The
    search takes linear time, since it visits each pair of a pattern state and a text position once.
    A backtracking regular expression would try every way to split a run of hyphens."""
    phrase = PHRASE.match(text, start)
    if phrase:
        return phrase.end()
    stretch = STRETCH.match(text, start)
    if stretch is None or not any(mark in stretch[0] for mark in "'-"):
        return None  # there is only one way to divide it
    entered: set[State] = set()
    open_states: list[State] = [("start", start, 0)]
    while open_states:
        state = open_states.pop()
        if state in entered:
            continue
        entered.add(state)
        if state[0] == "verb" and (verb := VERB.match(text, state[1])):
            return verb.end()
        open_states += _next_states(text[state[1] : state[1] + 1], state)
    return None


def _next_states(character: str, state: State) -> list[State]:
    """Return the states that follow after this character, the preferred state last."""
    kind, position, words = state
    after, letter = position + 1, character.isalnum() or character == "_"
    separates = bool(character) and not letter  # \W
    belongs = letter or (separates and character in "'-")  # [\w'-]
    states: list[tuple[bool, State]]
    match kind:
        case "start":  # also after a word: a verb is looked for before one more word
            states = [(separates and words < MOST_WORDS, ("gap", after, words))]
            states += [(separates and words > 0, ("verb", after, words))]
        case "gap":
            states = [(belongs, ("word", after, words)), (separates, ("gap", after, words))]
        case "word":
            states = [(True, ("start", position, words + 1)), (belongs, ("word", after, words))]
        case "verb":
            states = [(separates, ("verb", after, words))]
    return [following for possible, following in states if possible]


LIST = Path(__file__).parent / "data" / "connectives.en.json"


def connective_units(text: str, sentence: Span, language: str) -> list[Span]:
    """Return a span from each connective to the next one, or to the end of the sentence. The list
    is empty for languages without a list of connectives."""
    if language != "en":
        return []
    start, end = sentence
    sentence_text = text[start:end]
    firsts = [match.start("first") for match in _connective().finditer(sentence_text)]
    units = [trim(sentence_text, *piece) for piece in pairwise([*firsts, len(sentence_text)])]
    return [(start + a, start + b) for a, b in units if a < b]


@lru_cache(maxsize=1)
def _connective() -> re.Pattern[str]:
    """Return a pattern that matches a connective at the start of a sentence, after punctuation, or
    after and/but. The longest connective wins."""
    connectives = sorted(json.loads(LIST.read_text("utf-8")), key=len, reverse=True)
    any_of = "|".join(re.escape(words).replace(r"\ ", r"\s+") for words in connectives)
    # "and" alone begins too much; "and therefore" begins with its adverb
    return re.compile(rf"(?:^|[,;:(—–]\s*)(?:and\s+)?(?P<first>(?:{any_of})\b)", re.IGNORECASE)


LETTERS: tuple[tuple[Language, re.Pattern[str]], ...] = (
    ("ko", re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")),
)
LATIN = re.compile(r"[A-Za-z]")


def detect_language(text: str) -> Language:
    """Return the language with the most letters. A syllable or ideograph counts as three letters.
    Chinese characters in a text with kana count as Japanese. All other languages count as English.
    """
    counts = {language: 3 * len(letters.findall(text)) for language, letters in LETTERS}
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > len(LATIN.findall(text)) else "en"


MOST_CUTS = 20

# "1. ", "(2) ", "- ", "* ", "## ", "A) " and the marks of bold type at the beginning of a line
MARKER = re.compile(r"(?:[-*•#>]+\s+|\(?(?:\d{1,3}|[A-Za-z])[.)]\s+|\*\*+|__+)+(?=\S)")


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without white space at both ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def split_at(text: str, span: Span, cuts: Iterable[int]) -> list[Span]:
    """Return the pieces of a span that is cut at `cuts`, trimmed, without empty pieces."""
    start, end = span
    inside = sorted({cut for cut in cuts if start < cut < end})
    pieces = [trim(text, *piece) for piece in pairwise([start, *inside, end])]
    return [piece for piece in pieces if piece[0] < piece[1]]


def split_until_stable(text: str, span: Span, cut: Callable[[str], list[Span]]) -> list[Span]:
    """Apply `cut` to each piece again until no piece changes, at most `MOST_CUTS` times. Return the
    pieces in order."""
    pending, spans = [(span, 0)], list[Span]()
    while pending:
        (start, end), cuts = pending.pop()
        parts = [(start + a, start + b) for a, b in cut(text[start:end])]
        if len(parts) > 1 and cuts < MOST_CUTS:
            pending += [(part, cuts + 1) for part in reversed(parts)]
        else:
            spans += parts
    return spans


def without_marker(text: str, span: Span) -> Span:
    """Return the span without a list marker at its start and without bold marks at both ends."""
    start, end = span
    marker = MARKER.match(text, start, end)
    start = marker.end() if marker else start
    while end - start > 2 and text.endswith(("**", "__"), start, end):
        end -= 2
    return trim(text, start, end)
