"""Finds the quotations of an explanation by quotation marks, and masks spans of a text.

JSON, tags and TeX around an explanation are replaced with blanks of the same length. Source: Hu &
Lee, arXiv:2601.13547, section 3.2 (quoted spans, "[MASK]"). Deviates: only text in quotation marks
is a quotation. The released code takes every token that text and explanation share, even "the". It
masks token by token; here merged spans are masked in one pass.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from shared.text.normalized import Edit, NormalizedText, edited, normalize

Span = tuple[int, int]  # half-open character offsets
MASK = "[MASK]"

# With all the blanks around it.
_ELLIPSIS = re.compile(
    r"(?:(?<!\s)\s++|(?!\s))(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\.{3,}|\u2026+"
    r"|(?<=\s)--+(?=\s))\s*"
)
_EDGES = " \t\r\n\u3000*_~`.,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f-"


@dataclass(frozen=True, slots=True)
class Quotation:
    """The text within quotation marks: `text == explanation[start:end]`."""

    start: int
    end: int
    text: str


def quotations(explanation: str) -> list[Quotation]:
    """Return the quotations in an explanation, in order and split at ellipses. Those that consist
    of punctuation are left out."""
    return [part for parts in quoted_parts(explanation) for part in parts]


def quoted_parts(explanation: str, quoted: Sequence[Span] | None = None) -> list[list[Quotation]]:
    """Return the parts of each quotation, which is split at ellipses. `quoted` holds the spans of
    the quotations, without quotation marks. If it is None, the quotations are searched."""
    if quoted is None:
        quoted = [(start + 1, end - 1) for start, end in quoted_spans(explanation)]
    every = (list(_parts(explanation, start, end)) for start, end in quoted)
    return [parts for parts in every if parts]


def _parts(explanation: str, start: int, end: int) -> Iterator[Quotation]:
    """Yield the parts between ellipses, without punctuation and mark-up at their edges."""
    borders = [match.span() for match in _ELLIPSIS.finditer(explanation, start, end)]
    starts = [start, *(after for _, after in borders)]
    ends = [*(before for before, _ in borders), end]
    for left, right in zip(starts, ends, strict=True):
        part = explanation[left:right]
        text = part.strip(_EDGES)
        if text:
            offset = left + len(part) - len(part.lstrip(_EDGES))
            yield Quotation(offset, offset + len(text), text)


HAN_CLASS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_MARK_LETTER = r"A-Za-z0-9\u00c0-\u024f"  # Chinese and Korean letters may touch a mark
_BLANK_LINE = r"\n[^\S\n]*\n"

_OPENING_MARK = re.compile(
    rf"(?<![{_MARK_LETTER}])[\"\uff02]|[\u201c\u201e\u201f\u00ab\u300c\u300e\u300a]"
    r"|(?<!\w)[\u2018\u201b]|(?<![\w'])'(?=[^\s'])"
)
_CLOSING_MARK = {
    mark: re.compile(f"{closing}|{_BLANK_LINE}")
    for marks, closing in (
        ('"\uff02', rf"[\"\uff02](?![{_MARK_LETTER}])"),
        ("\u201c\u201e\u201f", "[\u201c\u201d]"),
        ("\u00ab", "\u00bb"),
        ("\u300c", "\u300d"),
        ("\u300e", "\u300f"),
        ("\u300a", "\u300b"),
        ("\u2018\u201b", rf"\u2019(?![{_MARK_LETTER}])"),
        ("'", rf"(?<=[^\s'])'(?![{_MARK_LETTER}'])"),
    )
    for mark in marks
}


def quoted_spans(text: str) -> list[Span]:
    """Return the spans of the quotations, including their marks. Marks around the whole text are
    ignored.

    Straight marks are classified by their neighbours. No letter precedes an opening mark or follows
    a closing mark, so an apostrophe is neither. A quotation may contain marks of other kinds, but
    no blank line.
    """
    spans = _spans(text)
    stripped = text.strip()
    lead = len(text) - len(text.lstrip())
    if spans != [(lead, lead + len(stripped))]:
        return spans
    return [(start + lead + 1, end + lead + 1) for start, end in _spans(stripped[1:-1])]


def _spans(text: str) -> list[Span]:
    """Return the spans of quotations, from left to right. An opening mark without a closing one is
    ignored."""
    spans: list[Span] = []
    unclosed: set[str] = set()  # no closing mark is left in the text
    position = 0
    while opening := _OPENING_MARK.search(text, position):
        position = opening.end()
        mark = opening.group()
        closing = None if mark in unclosed else _CLOSING_MARK[mark].search(text, position)
        if closing is None:
            unclosed.add(mark)
        elif not closing.group().isspace():
            position = closing.end()
            spans.append((opening.start(), position))
    return spans


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts of the letters in a text by their Unicode names, such as LATIN, CJK,
    HANGUL."""
    letters = filter(str.isalpha, set(text))
    return frozenset(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order with overlapping ones merged. Spans that only touch stay
    separate."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """Replace each merged span of `text` with a mask. All other characters stay."""
    pieces: list[str] = []
    position = 0
    for start, end in merge_spans(spans):
        pieces += [text[position:start], MASK]
        position = end
    return "".join([*pieces, text[position:]])


_UNIT = re.compile(rf"[{HAN_CLASS}]|[^\W{HAN_CLASS}]+(?:['\u2019][^\W{HAN_CLASS}]+)*|[^\w\s]")


def count_units(text: str) -> list[Span]:
    """Return the spans of words, single Han characters and emoji. Words may have inner apostrophes.
    Punctuation does not count."""
    matches = _UNIT.finditer(text)
    return [match.span() for match in matches if _is_counted(match.group())]


def _is_counted(unit: str) -> bool:
    """Return True for a word character or a pictograph."""
    return unit[0].isalnum() or unit[0] == "_" or unicodedata.category(unit[0]) == "So"


def overlap_words(counted: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Return the index ranges (first, last + 1) of the words that overlap with the spans, merged
    and in order."""
    starts = [start for start, _ in counted]
    ends = [end for _, end in counted]
    ranges = ((bisect_right(ends, start), bisect_right(starts, end - 1)) for start, end in spans)
    return merge_spans((first, last) for first, last in ranges if first < last)


_OBJECT = re.compile(r"\{\s{0,40}([\"'])[^\"'\n{}]{1,60}\1\s{0,40}:")
_TOKEN = re.compile(r"\\.|[\"'{}\[\],]", re.DOTALL)
_CLOSES = re.compile(r"\s{0,40}(?:[:,}\]]|$)")
_IS_KEY = re.compile(r"\s{0,40}:")
_OPENS_AFTER = re.compile(r"[{\[,:]\s*$")
_QUOTING_KEY = re.compile(
    r"quot|evidence|span|phrase|excerpt|highlight|trigger|snippet|wording|expression|引用|引文|证据"
    r"|原文|词语|短语|인용|zitat|beleg|textstelle|\bcita|evidencia|extrait|preuve|frase|증거|근거_?표현|구절|문구|표현"
)
_NAMING_KEY = re.compile(
    r"target|group|label|categor|class|victim|communit|polic|tag|类别|标签|群体|对象|目标|대상|집단"
    r"|라벨|분류"
)
_OTHER_MARKS = re.compile(
    "\u00ab[^\u00ab\u00bb\n]{1,400}\u00bb|\u00bb([^\u00ab\u00bb\n]{1,400})\u00ab"
    "|\u2039([^\u2039\u203a\n]{1,400})\u203a|\u203a([^\u2039\u203a\n]{1,400})\u2039"
    r"|(?<!\w)\u201a([^\u201a\u2018\u2019\n]{1,400})[\u2018\u2019](?!\w)"
    "|\u275d([^\u275d\u275e\n]{1,400})[\u275d\u275e]"
    rf"|(?<=[{HAN_CLASS}])[\u2018']([^\u2018\u2019'\n]{{1,200}})[\u2019'](?![A-Za-z])"
)
_CODE = re.compile(
    rf"(?<![`{_MARK_LETTER}])`(?:(?=[^\s`])([^`\n]{{1,300}})(?<!\s)`(?![`{_MARK_LETTER}])"
    r"|`(?=[^\s`])([^`'\n]{1,400})'')"
)


_EMPHASIS = re.compile(r"(?<![\w*_'])(\*{1,2}|__?|'')(?=\S)([^*_'\n]{3,300})(?<=\S)\1(?![\w*_'])")


def code_as_quotations(explanation: str, text: str = "") -> str:
    """Replace backticks and TeX quotation marks with quotation marks, without changing offsets.
    Emphasis marks are replaced in the same way if the emphasised text has several words and occurs
    in `text`."""

    def emphasized(match: re.Match[str]) -> str:
        blank, inner = " " * (len(match[1]) - 1), match[2]
        is_quoted = " " in inner and inner.lower() in text.lower()
        return f"{blank}\u201c{inner}\u201d{blank}" if is_quoted else match[0]

    marked = _CODE.sub(
        lambda match: f"\u201c{match[1]}\u201d" if match[1] else f" \u201c{match[2]}\u201d ",
        explanation,
    )
    return _EMPHASIS.sub(emphasized, marked)


def _as_curly(quoted: re.Match[str]) -> str:
    inner = quoted[quoted.lastindex or 0]
    return f"\u201c{inner}\u201d" if quoted.lastindex else inner


def plain_format(explanation: str, text: str = "") -> NormalizedText:
    """Return the normalised explanation without JSON syntax. `text` must be normalised.

    A JSON string counts as a quotation in a list or under a key such as "evidence". So does one
    that consists of several words of `text`. Each JSON field becomes one line. Quotations that lack
    quotation marks get them."""
    normalized = normalize(explanation)
    plain = replace(normalized, text=_OTHER_MARKS.sub(_as_curly, normalized.text))
    if _OBJECT.search(plain.text):
        plain = edited(plain, _json_marks(plain.text, text))
    return _marked_lines(plain, text)


_MARKS_QUOTES = re.compile(r"[\"\uff02\u201c-\u201f\u00ab\u300c\u300e\u300a]")
# "> …"; "- Quote: …", "引用：…", "| span | … |"; and the items of a list below such a key.
_BLOCK = re.compile(r"[ \t]{0,9}>[ \t>]*")
_KEYED_LINE = re.compile(
    r"[ \t]{0,9}(?:[-*\u2022|]{0,3}[ \t]{0,3}|\d{1,2}[.)][ \t]{1,3})"
    r"(?P<key>[^\s:\uff1a=|][^\n:\uff1a=|]{0,40}?)[ \t]{0,3}(?:[:\uff1a=|]|->|\u2192)"
)
_ITEM = re.compile(r"[ \t]{0,9}(?:[-*\u2022]|\d{1,2}[.)])(?=[ \t])")
# A line, or one field of several: "label = x; span = …; target = y".
_LINE = re.compile(r"(?:[^\n;]|;(?![ \t]{0,3}[^\W\d][\w ]{0,30}[=:]))+")
_BETWEEN_VALUES = re.compile(r"[;,/|\uff0c\uff1b\u3001][ \t]{1,3}|[ \t][/|][ \t]")


def _marked_lines(plain: NormalizedText, text: str) -> NormalizedText:
    """Add quotation marks to values in lines that list quotations without marks. Marks are added
    only if all values of a line occur word for word in the text. They therefore never cause a
    hallucinated quotation."""
    there = f" {_bare(text)} "
    marks: list[Edit] = []
    for block, first, last in _quoting_lines(plain.text):
        value = plain.text[first:last]
        borders = [match.span() for match in _BETWEEN_VALUES.finditer(value)]
        starts = [0, *(end for _, end in borders)]
        ends = [*(start for start, _ in borders), len(value)]
        for spans in ([(0, len(value))], list(zip(starts, ends, strict=True))):
            items = [_stripped(plain.text, first + start, first + end) for start, end in spans]
            if all(
                len(bare := _bare(plain.text[a:b])) > 1 and f" {bare} " in there for a, b in items
            ):
                if block:
                    marks.append((first - 1, items[0][0], ""))
                for start, end in items:
                    marks.append((start, start + 1, f"\u201c{plain.text[start]}"))
                    marks.append((end - 1, end, f"{plain.text[end - 1]}\u201d"))
                break
    return edited(plain, marks)


def _quoting_lines(explanation: str) -> Iterator[tuple[bool, int, int]]:
    """Yield (is_block_quote, start, end) of each passage that may quote without quotation marks.
    Such a passage follows ">", a key such as "evidence:", or the bullet of a list below such a key.
    """
    listing = False  # do the items of the list quote?
    for line in _LINE.finditer(explanation):
        begin, end = line.span()
        block, keyed = _BLOCK.match(line.group()), _KEYED_LINE.match(line.group())
        item = _ITEM.match(line.group())
        quotes = keyed is not None and _QUOTING_KEY.search(keyed["key"].lower()) is not None
        opening = block or (keyed if quotes else None) or (item if listing and not keyed else None)
        listing = (quotes and keyed is not None and not line.group()[keyed.end() :].strip()) or (
            listing and opening is item and item is not None
        )
        if opening and not _MARKS_QUOTES.search(line.group(), opening.end()):
            yield opening is block, begin + opening.end(), end


def _stripped(text: str, start: int, end: int) -> Span:
    value = text[start:end]
    return start + len(value) - len(value.lstrip(" \t>|")), start + len(value.rstrip(" \t|"))


def _bare(text: str) -> str:
    """Return the words in lower case, and each Chinese character, separated by spaces."""
    return " ".join(text[slice(*span)].lower().replace("\u2019", "'") for span in count_units(text))


def _json_marks(found: str, text: str) -> Iterator[Edit]:
    """Yield edits to an explanation in JSON. They replace the quotation marks of keys and of
    strings that quote nothing by spaces, and put each field on its own line."""
    lists: list[bool] = []  # of each open bracket whether it is a list's
    key, opened = "", None
    for token in _TOKEN.finditer(found):
        mark, start = token.group(), token.start()
        if opened is not None:
            if mark == found[opened] and _CLOSES.match(found, token.end()):
                body = found[opened + 1 : start]
                is_key = _IS_KEY.match(found, token.end()) is not None
                key = body.lower() if is_key else key
                names = _NAMING_KEY.search(key) is not None
                copied = len(body.split()) > 1 and body.strip() in text
                quotes = not names and (copied or lists[-1])
                if is_key or not (quotes or _QUOTING_KEY.search(key)):
                    yield from ((opened, opened + 1, " "), (start, start + 1, " "))
                opened = None
        elif mark in "{[":
            lists.append(mark == "[")
        elif mark in "}]":
            del lists[-1:]
        elif mark == "," and lists == [False]:
            yield start, start + 1, "\n"
        elif mark in "\"'" and lists and _OPENS_AFTER.search(found, max(0, start - 40), start):
            opened = start
