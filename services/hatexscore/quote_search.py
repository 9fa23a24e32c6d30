"""Finds quotations in a text: exactly, in another spelling, or approximately. Source: Hu & Lee,
arXiv:2601.13547, section 3.2 (exact and fuzzy matching). At most 15 % of the characters may be
edited, as in the released code."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import nsmallest
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Literal

from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import partial_ratio_alignment
from rapidfuzz.process import extractOne

from services.hatexscore.quotes import HAN_CLASS, Quotation, Span, count_units
from services.hatexscore.words import Language, words
from shared.process.cached import cached_property
from shared.queue.job_context import check, check_each
from shared.text.changed_meaning import changes_meaning, negates
from shared.text.normalized import NormalizedText, as_sent, normalize, replaced

MAX_EDITS = 0.15  # of the quotation's length
MIN_LENGTH = 8  # characters; shorter words are near to too much
PIECE = 4  # characters of a cut or censored quotation, at least
HITS = 32  # places of one quotation, the first ones
MOST_SPELLED = 500  # places of one word that are looked at
BORDERS = 24  # tried at either end, the nearest first: word borders, or characters of Chinese
LONGEST = 2_000  # characters of a quotation; a longer one is looked for word for word only
SLACK = 5  # percent, for a stretch that begins or ends inside a word
LOOSE_EDITS = 0.4  # of the passage that is shown beside a changed quotation
MOST_CENSORED = 50  # censored words of a text that are looked at
# Verbs, nouns and adjectives that lists of English stop words hold.
_SAY_SOMETHING = frozenset({
    "say", "call", "go", "make", "give", "show", "move", "put", "keep", "take", "name", "serious",
    "side", "top", "bottom", "empty", "full", "amount", "front", "back", "nobody", "nothing",
    "everyone", "everybody", "nowhere", "alone", "together", "please", "done",
})  # fmt: skip
_LONGEST_WORD = 20  # characters of a function word, generously
DATA = Path(__file__).parent / "data"

Match = Literal["exact", "inflected", "fuzzy"]


@dataclass(frozen=True, slots=True)
class Quote:
    """An occurrence of a quotation in the text: `text == original[start:end]`. `value` is the
    similarity in [0, 1], which is 1 - edit distance / longer length. An inflected quotation is one
    word of the text with another ending."""

    start: int
    end: int
    text: str
    quoted_as: str
    match: Match
    value: float


def is_trivial(quotation: Quotation, language: Language) -> bool:
    """Return True if the quotation is only a function word, such as "the". Finding such a word in
    the text proves nothing."""
    if len(quotation.text) > _LONGEST_WORD:
        return False
    spoken = [word for word in words(quotation.text, language) if word.is_word]
    return len(spoken) == 1 and spoken[0].is_stop and spoken[0].text.lower() not in _SAY_SOMETHING


@dataclass(frozen=True, slots=True)
class Located:
    """The occurrences of the quotations in order, and the quotations that do not occur.
    `unsearched` has those that are too long for approximate matching."""

    quotes: tuple[Quote, ...]
    missing: tuple[Quotation, ...]
    unsearched: tuple[Quotation, ...]


def locate(text: str, quoted: Sequence[Quotation]) -> Located:
    """Return all positions in the original text that match each quotation, and the missing
    quotations. An exact match ignores case and spelling variants and needs word boundaries. Without
    an exact match, the nearest passage within 15 % edits counts."""
    search = QuoteSearch(Haystack(text, as_sent(text), marks=True))
    quotes: dict[Span, Quote] = {}
    missing: list[Quotation] = []
    unsearched: list[Quotation] = []
    for quotation in check_each(quoted):
        matches = search.exact(quotation) or search.near(quotation)
        if matches is None:
            unsearched.append(quotation)
        elif not matches:
            missing.append(quotation)
        else:
            for quote in matches:
                quotes.setdefault((quote.start, quote.end), quote)
    ordered = tuple(quotes[span] for span in sorted(quotes))
    return Located(ordered, tuple(missing), tuple(unsearched))


class QuoteSearch:
    """Searches the quotations of one request in its text. Equal quotations are searched once.
    `names` has lower-case words that never count as misspellings of each other. `misquoted`
    maps a quotation that changes the meaning of a passage to this passage."""

    def __init__(self, haystack: Haystack, names: Collection[str] = ()) -> None:
        self.haystack = haystack
        self.names = names
        self.misquoted: dict[Quotation, str] = {}
        self._needles: dict[str, str] = {}
        self._exact: dict[str, tuple[Quote, ...]] = {}
        self._near: dict[str, tuple[Quote, Span] | None] = {}

    def exact(self, quotation: Quotation) -> tuple[Quote, ...]:
        """Return the exact occurrences of a quotation. Quotations that differ only in typography
        share a result, whose `quoted_as` comes from the first of them."""
        needle = self._folded(quotation.text)
        if needle not in self._exact:
            spans = exact_spans(self.haystack, needle)
            self._exact[needle] = tuple(self._quote(s, quotation, "exact", 1.0) for s in spans)
        return self._exact[needle]

    def respelled(self, quotation: Quotation) -> tuple[Quote, ...]:
        """Find the quotation with an editor's brackets, other endings, censored letters or other
        spellings."""
        haystack = self.haystack
        for reading in without_brackets(quotation.text):
            if spans := exact_spans(haystack, self._folded(reading)):
                return tuple(self._nearly(span, quotation) for span in spans)
        needle = self._folded(quotation.text)
        spans = [*haystack.pattern_spans(needle), *haystack.spelled_spans(needle)]
        is_word = needle.isalpha() and not _LONG_RUN.search(needle)
        return tuple(self._nearly(s, quotation, "inflected" if is_word else "fuzzy") for s in spans)

    def fragment(self, quotation: Quotation, *, begins: bool, ends: bool) -> tuple[Quote, ...]:
        """Find a quotation that an ellipsis cuts within a word. The result includes the whole word.
        `begins` and `ends` tell if the quotation begins or ends with a whole word."""
        needle, haystack = self._folded(quotation.text), self.haystack
        start = haystack.text.find(needle) if len(needle) >= PIECE else -1
        end = start + len(needle)
        if (
            start < 0
            or (begins and not _contains(haystack.begins, start))
            or (ends and not _contains(haystack.ends, end))
        ):
            return ()
        start = haystack.begins[bisect_right(haystack.begins, start) - 1]
        end = haystack.ends[bisect_left(haystack.ends, end)]
        return (self._nearly((start, end), quotation),)

    def nearest(self, quotation: Quotation) -> tuple[Quote, ...] | None:
        """Return the passage most similar to the quotation, with or without text in brackets.
        Return () if there is none or the meaning differs, None if the quotation is too long."""
        for text in (quotation.text, *without_brackets(quotation.text)):
            quotes = self.near(replace(quotation, text=text))
            if not quotes:
                if quotes is None:
                    return None
                continue
            needle = self._folded(text)
            start, end = self._with_negation(needle)
            if changes_meaning(needle, self.haystack.text[start:end], self.names):
                self.misquoted[quotation] = self.haystack.source_of(start, end)
                return ()
            return tuple(replace(quote, quoted_as=quotation.text) for quote in quotes)
        return ()

    def near(self, quotation: Quotation) -> tuple[Quote, ...] | None:
        """Return the passage of the text that is most similar to the quotation, or () if none is
        similar enough. Return None if the quotation is too long for this search."""
        check()
        needle = self._folded(quotation.text)
        if needle not in self._near:
            if len(needle) > LONGEST:
                return None
            nearest = nearest_span(self.haystack, needle)
            quote = nearest and self._quote(nearest[0], quotation, "fuzzy", nearest[1])
            self._near[needle] = (quote, nearest[0]) if nearest and quote else None
        cached = self._near[needle]
        return (cached[0],) if cached else ()

    def changed_passage(self, quotation: Quotation) -> str | None:
        """Return the passage of the text that a quotation misquotes, or None."""
        needle = self._folded(quotation.text)
        if quotation in self.misquoted:
            return self.misquoted[quotation]
        nearest = (
            None if len(needle) > LONGEST else nearest_span(self.haystack, needle, LOOSE_EDITS)
        )
        return self.haystack.source_of(*nearest[0]) if nearest else None

    def _with_negation(self, needle: str) -> Span:
        """Return the passage most similar to the quotation `needle`. The passage is extended by a
        preceding negation, which the quotation may have omitted."""
        cached, text = self._near[needle], self.haystack.text
        start, end = cached[1] if cached else (0, 0)
        start = text.rfind(" ", 0, start) + 1
        if text[start] != needle[0]:
            lead = SENTENCE_END.split(text[max(0, start - 60) : start])[-1]
            before = " ".join(lead.split()[-3:])
            if negates(before):
                return text.rfind(before, 0, start), end
        return start, end

    def _folded(self, text: str) -> str:
        if text not in self._needles:
            marks = self.haystack.marks
            read = as_sent(text) if marks else searchable(text)
            self._needles[text] = fold(read, marks).text
        return self._needles[text]

    def _nearly(self, span: Span, quotation: Quotation, match: Match = "fuzzy") -> Quote:
        there = self.haystack.text[slice(*span)]
        similarity = Levenshtein.normalized_similarity(self._folded(quotation.text), there)
        return self._quote(span, quotation, match, similarity)

    def _quote(self, span: Span, quotation: Quotation, match: Match, similarity: float) -> Quote:
        start, end = self.haystack.folded.original(*span)
        text = self.haystack.source[start:end]
        return Quote(start, end, text, quotation.text, match, similarity)


SENTENCE_END = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
_OMITTED = re.compile(
    r"[ ]?https?://\S+|(?P<user>(?<![\w.@])@\w{1,30})|(?P<dash>[ ]?(?:--+|\u2014)[ ]?)"
)
_SIMPLER = json.loads((DATA / "simplified.json").read_text("utf-8"))
_SIMPLIFIED = str.maketrans(_SIMPLER["traditional"], _SIMPLER["simplified"])


def searchable(text: str) -> NormalizedText:
    """Return the text in the form for searches: normalised, in simplified Chinese characters,
    without web addresses, and with uniform user names."""
    simplified = replaced(
        normalize(text),
        _OMITTED,
        lambda match: "[USER]" if match["user"] else " - " if match["dash"] else "",
    )
    return replace(simplified, text=simplified.text.translate(_SIMPLIFIED))


_SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_MARK = re.compile(
    '["\uff02\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f]'
    r"|(?<!\w)['\u2018\u2019\u201b\u02bc`\u00b4]|['\u2018\u2019\u201b\u02bc`\u00b4](?!\w)"
)
# A base character with what composes onto it: combining marks, Hangul vowels and finals.
_CLUSTER = re.compile("(?s).[\u0300-\u036f\u1160-\u11ff\u3099\u309a\ufe00-\ufe0f]*")
_BLANKS = re.compile(r"^ +| +$|(?<= ) +")


def fold(text: NormalizedText, marks: bool = True) -> NormalizedText:
    """Remove typographic differences before a comparison. Apply NFKC and case folding, use single
    spaces and straight quotation marks, and drop invisible characters and outer white space.
    `marks` keeps quotation marks. An apostrophe within a word is always kept."""
    if not marks:
        text = replaced(text, _MARK, "")
    text = replaced(text, _CLUSTER, lambda cluster: _folded(cluster.group()))
    return replaced(text, _BLANKS, "")


def _folded(cluster: str) -> str:
    if cluster.isascii():
        return " " if cluster.isspace() else cluster.lower().translate(_SAME)
    composed = unicodedata.normalize("NFKC", cluster).translate(_SAME).casefold()
    return "".join(" " if c.isspace() else c for c in composed if not _invisible(c))


def _invisible(character: str) -> bool:
    """Return True for zero-width and control characters and variation selectors."""
    if character.isspace():
        return False
    return unicodedata.category(character) in ("Cf", "Cc") or "\ufe00" <= character <= "\ufe0f"


_NO_SPACES = re.compile(f"[{HAN_CLASS}\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


def word_spans(text: str, language: Language) -> list[Span]:
    """Return the spans of words. In Chinese, neighbouring characters are grouped into words."""
    if language != "zh":
        return count_units(text)
    return [(word.start, word.end) for word in words(text, language) if word.is_word]


class Haystack:
    """A text prepared for many searches. Spans refer to the folded text, which has no typographic
    differences. `folded.original` maps them to the original text."""

    def __init__(self, source: str, read: NormalizedText, marks: bool = False) -> None:
        self.source = source
        self.marks = marks
        self.folded = fold(read, marks)
        self.text = self.folded.text

    def source_of(self, start: int, end: int) -> str:
        """Return the original text at a span of the normalised text."""
        return self.source[slice(*self.folded.original(start, end))]

    @cached_property
    def _spaced(self) -> list[bool]:
        """Return a boolean per character: True if it is part of a word in a script that puts spaces
        between words."""
        return [
            not _NO_SPACES.match(one)
            and (one.isalnum() or one == "_" or unicodedata.category(one)[0] == "M")
            for one in self.text
        ]

    @cached_property
    def begins(self) -> list[int]:
        """The possible starts of a quoted span, in ascending order: starts of words and all Han
        characters. The "s" of a possessive "'s" is not a start."""
        inner = {match.start() for match in _APOSTROPHE.finditer(self.text)}
        endings = set() if self.marks else inner
        within = [False, *(a and b for a, b in pairwise(self._spaced))]
        return [
            index
            for index, is_within in enumerate(within[: len(self.text)])
            if not (is_within or index in endings or index - 1 in inner)
        ]

    @cached_property
    def ends(self) -> list[int]:
        """The possible ends (exclusive) of a quoted span, in ascending order: ends of words, and
        positions before Korean particles."""
        hangul = {match.start() for match in _HANGUL.finditer(self.text)}
        within = [False, *(a and b for a, b in pairwise(self._spaced)), False]
        return [
            index
            for index in range(1, len(self.text) + 1)
            if not within[index] or {index - 1, index} <= hangul
        ]

    @cached_property
    def _words(self) -> list[tuple[Span, str]]:
        """Return each word's span, including censoring marks, and its simplified spelling."""
        return [(match.span(), spelling(match.group())) for match in _WORD.finditer(self.text)]

    @cached_property
    def _by_spelling(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for index, (_, spelled) in enumerate(self._words):
            positions.setdefault(spelled, []).append(index)
        return positions

    def spelled_spans(self, needle: str) -> list[Span]:
        """Return the spans of words that equal the words of `needle`. Different endings, digits in
        place of letters, and lengthened letters count as equal."""
        needle_words = _WORD.findall(needle)
        spellings = [spelling(word) for word in needle_words]
        spans = []
        for index in self._by_spelling.get(spellings[0], [])[:MOST_SPELLED] if spellings else ():
            there = self._words[index : index + len(spellings)]
            if [word[1] for word in there] == spellings:
                span = there[0][0][0], there[-1][0][1]
                if all(map(_is_same_word, needle_words, _WORD.findall(self.text, *span))):
                    spans.append(span)
        return spans[:HITS]

    @cached_property
    def _censored(self) -> list[tuple[str, re.Pattern[str]]]:
        """Return the words of the text with censored letters, each with a pattern that matches the
        possible whole words."""
        words = dict.fromkeys(filter(_is_censored, _WORD.findall(self.text)))
        return [(word, re.compile(_hidden(word))) for word in list(words)[:MOST_CENSORED]]

    def pattern_spans(self, needle: str) -> list[Span]:
        """Return the spans where the text contains the words of `needle`, even if some words are
        censored or left out in either."""
        bare = _OUTER_PLACEHOLDER.sub("", needle)
        tokens = list(_TOKEN.finditer(bare))
        gaps = sum(token["gap"] is not None for token in tokens)
        if gaps > MOST_GAPS or max((len(token.group()) for token in tokens), default=0) < PIECE:
            return []
        pattern = "".join(
            _GAP
            if token["gap"]
            else self._uncensored(token.group())
            if token["word"]
            else re.escape(token.group())
            for token in tokens
        )
        if pattern == re.escape(needle):
            return []
        spans = [match.span() for match in re.finditer(pattern, self.text)]
        return [
            span
            for span in spans
            if _contains(self.begins, span[0]) and _contains(self.ends, span[1])
        ][:HITS]

    def _uncensored(self, word: str) -> str:
        if _is_censored(word):
            return _hidden(word)
        alternatives = [hiding for hiding, pattern in self._censored if pattern.fullmatch(word)]
        return "|".join(map(re.escape, [word, *alternatives])).join(
            ("(?:", ")") if alternatives else ("", "")
        )


CENSORS = "*#@$%_\u2022\u25cf\u25a0\u2588"  # that stand for a letter
_WORD = re.compile(rf"[\w{CENSORS}](?:\S*[\w{CENSORS}])?")
_CENSORED_PART = re.compile(f"[{CENSORS}]+")
MOST_GAPS = 2  # placeholders within a quotation
UNKNOWN_LETTERS = 2  # that a run of censoring marks may hide more than it has marks
_PLACEHOLDER = r" ?(?:\[[^\[\]\n]{1,40}\]|(?<!\S)\*{3}(?!\S)) ?"
_OUTER_PLACEHOLDER = re.compile(rf"^{_PLACEHOLDER}|{_PLACEHOLDER}$")
_TOKEN = re.compile(rf"(?P<gap>{_PLACEHOLDER})|(?P<word>{_WORD.pattern})|.")
_GAP = r" ?(?:\S{1,40} ){0,2}\S{1,40} ?"
_BRACKETS = re.compile(r"\[([^\[\]\n]{0,60})\]")
_SIC = re.compile(r"\s?[\[(]\s?sic!?\s?[\])]", re.IGNORECASE)


def _is_censored(word: str) -> bool:
    return _CENSORED_PART.search(word) is not None and any(map(str.isalpha, word))


def _hidden(word: str) -> str:
    """Return a regular expression for a censored word, such as id**t. A run of n censoring marks
    matches 1 to n + 2 letters. With several runs, or at most one visible letter, it matches exactly
    n."""
    runs = _CENSORED_PART.findall(word)
    is_sure = len(runs) > 1 or len(word) - len(runs[0]) < 2
    parts = map(re.escape, _CENSORED_PART.split(word))
    hidden = [
        rf"\w{{{len(run)}}}" if is_sure else rf"\w{{1,{len(run) + UNKNOWN_LETTERS}}}"
        for run in runs
    ]
    return "".join(part + mark for part, mark in zip_longest(parts, hidden, fillvalue=""))


def without_brackets(quoted: str) -> tuple[str, ...]:
    """Return alternative readings of a quotation in which an editor inserted brackets, such as
    "leave [their] bins" or "[sic]". Brackets are removed with or without their content."""
    bare = _SIC.sub("", quoted)
    readings = (
        " ".join(_BRACKETS.sub(replacement, bare).split()).strip(" .,")
        for replacement in (r"\1", "")
    )
    return tuple(reading for reading in dict.fromkeys(readings) if reading and reading != quoted)


_DIGITS = str.maketrans("013457@$!", "oieastasi")
_RUN = re.compile(r"(.)\1+")
_LONG_RUN = re.compile(r"(.)\1{2,}")
_VOWEL = re.compile("[aeiouy]")
SHORTEST_STEM = 3  # letters: "bring" is no "br"


def spelling(word: str) -> str:
    """Return a simplified spelling. It is equal for words that differ by ending, look-alike digits
    or lengthened letters."""
    return _RUN.sub(r"\1", _stem(_LONG_RUN.sub(r"\1", word)))


def _stem(word: str) -> str:
    """Return the word without look-alike digits and, in English, without its ending."""
    word = word.removesuffix("'s")
    if any(map(str.isalpha, word)):
        word = word.translate(_DIGITS)
    word = irregular_forms().get(word, word)
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("es", "ed", "ing", "s", "e"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST_STEM and _VOWEL.search(stem):
            word = word if ending == "s" and stem[-1] in "sui" else stem
            break
    if word[-1:] == word[-2:-1]:
        word = word[:-1]
    return (word[:-1] + {"y": "i", "f": "v"}.get(word[-1], word[-1])).replace("i", "l")


def _is_same_word(said: str, there: str) -> bool:
    """Return True if two words with equal `spelling` are the same word. A doubled letter makes them
    different. A letter that occurs three or more times in a row does not."""
    return _stem(said) == _stem(there) or bool(_LONG_RUN.search(said) or _LONG_RUN.search(there))


@cache
def irregular_forms() -> dict[str, str]:
    """Return a mapping from irregular forms to base forms, such as "took" to "take"."""
    content = json.loads((DATA / "irregular_forms.en.json").read_text(encoding="utf-8"))
    return {form: base for base, forms in content.items() for form in forms.split()}


def exact_spans(haystack: Haystack, needle: str) -> list[Span]:
    """Return the spans at word boundaries that match a normalised text. After a match within a
    word, the search continues at the next boundary and not at the next character."""
    text, begins, ends = haystack.text, haystack.begins, haystack.ends
    spans: list[Span] = []
    position = text.find(needle) if needle else -1
    while position >= 0:
        after, end = position, position + len(needle)
        if _contains(begins, position) and _contains(ends, end):
            spans.append((position, end))
            after = end - 1
        following = bisect_right(begins, after)
        if following == len(begins):
            break
        position = text.find(needle, begins[following])
    return spans


def _contains(ascending: Sequence[int], value: int) -> bool:
    index = bisect_left(ascending, value)
    return index < len(ascending) and ascending[index] == value


def nearest_span(
    haystack: Haystack, needle: str, edits: float = MAX_EDITS
) -> tuple[Span, float] | None:
    """Return the passage that a misquotation refers to and its similarity, in [1 - edits, 1), or
    None. The passage begins and ends at word boundaries. On a tie the earliest passage wins, then
    the shortest."""
    text, length = haystack.text, len(needle)
    if not length >= MIN_LENGTH or not text:
        return None
    cutoff = 100 * (1 - edits) - SLACK
    stretch = partial_ratio_alignment(needle, text, score_cutoff=cutoff)
    if stretch is None:
        return None
    begin = stretch.dest_start if length <= len(text) else 0
    reach = 2 * (int(edits * length) + 1)
    longer = int(length * edits / (1 - edits)) + 1  # the least distance of texts of other lengths
    spans = sorted({
        (start, end)
        for start in _nearby(haystack.begins, begin, reach)
        for end in _nearby(haystack.ends, start + length, longer)
        if start < end and text[start] != " " and text[end - 1] != " "
    })  # fmt: skip
    match = extractOne(
        needle,
        [text[start:end] for start, end in spans],
        scorer=Levenshtein.normalized_distance,
        score_cutoff=edits,
    )
    if match is None:
        return None
    _, distance, index = match  # of equal distances the first
    return spans[index], 1.0 - distance


def _nearby(borders: Sequence[int], position: int, reach: int) -> list[int]:
    """Return boundaries within `reach` of a position, nearest first. On a tie the lower one comes
    first."""
    first, last = bisect_left(borders, position - reach), bisect_right(borders, position + reach)
    return nsmallest(BORDERS, borders[first:last], key=lambda border: abs(border - position))
