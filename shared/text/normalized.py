"""Normalises texts before they are parsed, and maps offsets back to the original.

Wrapped lines are joined. HTML, JSON escapes and Markdown are removed. Unicode is NFKC. Placeholders
and ellipses get one spelling. Structured lines are not joined: headings, list items, `key: value`,
table rows, block quotes."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Edit = tuple[int, int, str]  # start, end, replacement
Step = Callable[[str], Iterator[Edit]]

MOST_COMPOSED = 4  # characters per ligature; longer ones, such as a sentence, stay
ROUNDS = 8  # of decoding, since an entity may hide a tag, and an escape an entity


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """The normalised `text`, and the original span of each of its characters."""

    text: str
    starts: list[int]
    ends: list[int]
    length: int  # of the original

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original text that corresponds to the span `text[start:end]` of
        the normalised text."""
        if start < end:
            return self.starts[start], self.ends[end - 1]
        position = self.starts[start] if start < len(self.starts) else self.length
        return position, position

    def normalized(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the normalised text that corresponds to a span of the original."""
        return bisect_left(self.starts, start), bisect_right(self.starts, end - 1)


def as_sent(text: str) -> NormalizedText:
    """Return the text unchanged, with identical offsets."""
    return NormalizedText(text, list(range(len(text))), list(range(1, len(text) + 1)), len(text))


def normalize(text: str) -> NormalizedText:
    """Return the normalised text. This takes linear time. Text that is already normalised stays
    unchanged."""
    normalized = as_sent(text)
    for _ in range(ROUNDS):
        before = normalized.text
        for step in _STEPS:
            normalized = edited(normalized, step(normalized.text))
        if normalized.text == before:
            break
    return normalized


def replaced(
    normalized: NormalizedText,
    pattern: re.Pattern[str],
    replacement: Callable[[re.Match[str]], str] | str,
) -> NormalizedText:
    """Return the text with every match replaced."""
    return edited(normalized, _replace(pattern, replacement)(normalized.text))


def edited(normalized: NormalizedText, edits: Iterable[Edit]) -> NormalizedText:
    """Apply edits, which must be in order and must not overlap."""
    text, starts, ends = normalized.text, normalized.starts, normalized.ends
    pieces: list[str] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    position = 0
    for start, end, replacement in edits:
        pieces += (text[position:start], replacement)
        new_starts += starts[position:start]
        new_ends += ends[position:start]
        new_starts += [starts[start]] * len(replacement)
        new_ends += [ends[end - 1]] * len(replacement)
        position = end
    if not pieces:
        return normalized
    return NormalizedText(
        "".join([*pieces, text[position:]]),
        new_starts + starts[position:],
        new_ends + ends[position:],
        normalized.length,
    )


def _replace(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str] | str) -> Step:
    def step(text: str) -> Iterator[Edit]:
        for match in pattern.finditer(text):
            new = replacement if isinstance(replacement, str) else replacement(match)
            if new != match.group():
                yield *match.span(), new

    return step


def _unwrap(pattern: re.Pattern[str]) -> Step:
    """Replace each match by its group `inner`."""

    def step(text: str) -> Iterator[Edit]:
        for match in pattern.finditer(text):
            for start, end in (
                (match.start(), match.start("inner")),
                (match.end("inner"), match.end()),
            ):
                if start < end:
                    yield start, end, ""

    return step


# JSON: `\"` inside the strings of an object becomes a curly mark, so that strings keep their ends.
# A text that is one JSON string is decoded once more.
_OBJECT = re.compile(r"[{\[]\s{0,40}\"|\"\s{0,9}:\s{0,9}\"")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}"
    r"|(?<!\b[A-Za-z]:)\\[nrt](?![a-zA-Z]{1,12}\{)|\\[\"'/\\*_#`~>\[\]()]"
)
_TEX = re.compile(
    r"\$?\\(?:boxed|fbox|text|textbf|textit|mathbf|mathrm|emph|underline)\s{0,3}"
    r"\{(?P<inner>[^{}\n]{0,400})\}\$?"
)


def _escapes(text: str) -> Iterator[Edit]:
    stripped = text.strip()
    is_string = stripped[:2] in ('"{', '"[') and stripped[-2:] in ('}"', ']"')
    if is_string:
        first = text.index('"')
        yield first, first + 1, ""
    is_object = not is_string and _OBJECT.search(text) is not None
    for match in _ESCAPE.finditer(text):
        escape = match.group()
        if escape[1] == "u":
            codes = [int(part, 16) for part in escape.split("\\u")[1:]]
            pair = b"".join(code.to_bytes(2, "big") for code in codes)
            new = pair.decode("utf-16-be", "replace")
        elif escape == '\\"' and is_object:
            before = text[match.start() - 1 : match.start()]
            new = (
                "\u201d"
                if before and not before.isspace() and before not in "([{:\"'"
                else "\u201c"
            )
        else:
            new = {"n": "\n", "r": "\n", "t": "\t"}.get(escape[1], escape[1])
        yield *match.span(), new
    if is_string:
        last = text.rindex('"')
        yield last, last + 1, ""


_ENTITY = re.compile(
    r"&(?:amp;){0,20}(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)


def _entity(match: re.Match[str]) -> str:
    return html.unescape(re.sub("&(?:amp;)+", "&", match.group()))


# Tags: the names of HTML, and other names that the text also closes (<verdict>…</verdict>).
_TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z][\w-]{0,30})(?:\s{1,9}[\w:-]{1,30}=[^<>]{0,300})?\s{0,9}/?>"
    r"|<\|/?[\w-]{1,30}\|>"
)
_CLOSING = re.compile(r"</([A-Za-z][\w-]{0,30})\s{0,9}>")
_INLINE = re.compile(
    "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|s|small|span|strike|strong|sub"
    "|sup|tt|u|var|wbr"
)
_BLOCK = re.compile(
    "article|body|br|center|dd|div|dl|dt|footer|h[1-6]|head|header|hr|html|main|ol|p|pre|section"
    "|table|tbody|tfoot|thead|title|tr|ul"
)
_STARTED = {"li": "\n- ", "blockquote": "\n> ", "td": " | ", "th": " | ", "q": "\u201c"}
_ENDED = {"li": "", "td": "", "th": "", "q": "\u201d"}


def _tags(text: str) -> Iterator[Edit]:
    closed = {name.lower() for name in _CLOSING.findall(text)}
    for match in _TAG.finditer(text):
        name = (match["name"] or "").lower()
        if not name or _BLOCK.fullmatch(name):
            new = "\n"
        elif _INLINE.fullmatch(name):
            new = ""
        elif name in _STARTED:
            new = _ENDED.get(name, "\n") if match["closes"] else _STARTED[name]
        elif name in closed:
            new = "\n" if match["closes"] else f"\n{name}: "
        else:
            continue
        yield *match.span(), new


# Unicode. Korean compatibility letters and wide Chinese punctuation are usual and stay.
_KEPT = re.compile("[\u3131-\u318e\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]")
_CHARACTERS = {"\u2033": '"', "\u301e": "\u201d", "\u301d": "\u201c", "\u22ef": "..."}
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]+"
)
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def _continues(character: str) -> bool:
    """Return True if the character may combine with the one before it."""
    if character < "\u0300" or _KEPT.match(character):
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _nfkc(text: str) -> Iterator[Edit]:
    if text.isascii() or (
        unicodedata.is_normalized("NFKC", text) and _CHARACTERS.keys().isdisjoint(text)
    ):
        return
    position = 0
    while position < len(text):
        end = position + 1
        while end < len(text) and end - position < 64 and _continues(text[end]):
            end += 1
        cluster = text[position:end]
        if cluster in _CHARACTERS:
            yield position, end, _CHARACTERS[cluster]
        elif not _KEPT.match(cluster):
            composed = unicodedata.normalize("NFKC", cluster)
            if composed != cluster and len(composed) <= MOST_COMPOSED * len(cluster):
                yield position, end, composed
        position = end


# Lines. A line with a marker or key at its start is not joined.
_LINE = re.compile(r"[^\n]+")
_KEYED = re.compile(
    r"[*_`\"']{0,3}[^\s:\uff1a=|*_`>][^\n:\uff1a=|]{0,40}?[*_`\"']{0,3}[ \t]?"
    r"(?:[:\uff1a=](?!//)|->|\u2192)"
)
_MARKER = re.compile(
    r"#{1,6}[ \t]|[>|{}]|[-*+\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014\u00b7][ \t]"
    r"|\(?(?:[0-9]{1,3}|[A-Za-z]|[ivx]{1,4})[.)][ \t]|\[[ xX]?\]|[\u2610-\u2612\u2705\u274c]"
    r"|[\[\]]\s*$|\"[^\"\n]{1,40}\"[ \t]?:|```|---|===|\*\*\*$|[^\n]*\t"
)
_FIELD = re.compile(
    r"(?:label|verdict|reason(?:s|ing)?|rationale|explanation|targets?|groups?|evidence|quotes?"
    r"|spans?|category|class(?:ification)?|decision|answer|conclusion|confidence|score|severity"
    r"|output|result|prediction)[ \t]?[:=]",
    re.IGNORECASE,
)
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]{1,80}\1:?$")
_TICKED_LINE = re.compile(r"[\u2705\u274c\u2714\u2718\u2611\u2612]\ufe0f?\s*$")
_ENDED_LINE = re.compile(
    r"[.!?:;\u3002\uff01\uff1f\uff1a\uff1b][\"'\u201d\u2019\u00bb\u300d\u300f)\uff09\]*_]{0,3}$"
)
_UNFINISHED = re.compile(
    r"(?:\b(?:a|an|the|is|are|was|were|be|been|not|no|nor|never|neither|of|to|and|or|but|as|in|on"
    r"|for|with|by|that|this|these|those|cannot|isn['\u2019]t|n['\u2019]t|nicht|kein|keine|est|pas"
    r"|no es|n[a\u00e3]o)|[,\uff0c\u3001\u4e0d\u975e\u6ca1\u662f\u7684\u8be5\u8fd9"
    r"\uc740\ub294\uc744\ub97c\uc758\uc774\uac00])$",
    re.IGNORECASE,
)
_CJK = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)
FEWEST_WORDS = 4  # in the first half of a wrapped sentence; a label has fewer


def _lines(text: str) -> Iterator[Edit]:
    previous: tuple[int, int] | None = None  # the line above, as joined so far
    words = 0
    is_structured = is_separate = False
    for match in _LINE.finditer(text):
        start, end = match.span()
        line = match.group()
        is_keyed, is_marked = _KEYED.match(line) is not None, _MARKER.match(line) is not None
        count = len(line.split()) + len(_CJK.findall(line)) // 2
        if (
            previous
            and start - previous[1] == 1
            and not (is_separate or is_marked or _FIELD.match(line))
        ):
            tail = text[max(previous[0], previous[1] - 16) : previous[1]]
            if line[0].islower() or line[0] in ",;)\u2019\uff0c\uff1b\u3001":
                is_joined = not (is_keyed and is_structured) and not _TICKED_LINE.search(tail)
            elif is_keyed:
                is_joined = False
            else:
                is_long = words >= FEWEST_WORDS and not _ENDED_LINE.search(tail)
                is_joined = not is_structured and bool(is_long or _UNFINISHED.search(tail))
            if is_joined:
                is_tight = tail[-1] == "-" and tail[-2:-1].isalpha()
                is_tight |= bool(_CJK.match(line)) and (
                    _CJK.match(tail[-1]) is not None or tail[-1] in "\uff0c\u3001\uff1b"
                )
                yield previous[1], start, "" if is_tight else " "
                words += count
                previous = (previous[0], end)
                continue
        previous = (start, end)
        words = count
        is_structured = is_keyed or is_marked
        is_separate = line[0] in "#>|{}[`" or "\t" in line or _BOLD_LINE.match(line) is not None


# Markdown. Marks of emphasis touch the emphasised words; a censored "f**k" has letters on both
# sides.
_LETTER = "A-Za-z0-9\u00c0-\u024f"
_EMPHASIS = re.compile(
    rf"(?<![*_~\\{_LETTER}])(\*{{1,3}}|_{{1,3}}|~~)(?=[^\s*_~])(?P<inner>[^*_~\n]{{1,300}})(?<=\S)\1"
    rf"(?![*_~{_LETTER}])"
)
_CODE = re.compile(
    rf"(?<![`{_LETTER}])(`{{1,3}})(?=[^\s`])(?P<inner>[^`\n]{{1,300}})(?<=\S)\1(?![`{_LETTER}])"
)
_FENCE = re.compile(r"^[ \t]*```[\w-]{0,20}[ \t]*$\n?", re.MULTILINE)
_LINK = re.compile(r"!?\[(?P<inner>[^\[\]\n]{1,300})\]\([^\s()]{1,500}\)")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(?P<inner>[^\n]*?)[ \t]*#*$", re.MULTILINE)

_ELLIPSIS = re.compile(r"\.(?:[ \u00a0]?\.){2,}|(?<=\s)\.\.(?=\s)")
_USER = re.compile(
    r"(?<![\w@.])@user(?!\w)|<(?:user|username|mention)>|\[(?:username|mention|@user)\]",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[\[<(]{1,2}(user|url|link|name|email|phone|number|slur|n-word|expletive|profanity|redacted"
    r"|censored|removed|deleted|hashtag|location)[\])>]{1,2}",
    re.IGNORECASE,
)
_STARS = re.compile(
    r"(?<![\w*\\])(?:\*[ \t]?){2,}\*(?![\w*])|(?<!\w)[\u2022\u25cf\u25a0\u2588]{3,}(?!\w)"
)


def _headings(text: str) -> Iterator[Edit]:
    """Yield the edits that remove the `#` of headings and put a blank line between a heading and
    the text below it."""
    for match in _HEADING.finditer(text):
        yield match.start(), match.start("inner"), ""
        end = match.end()
        if match.end("inner") < end:
            yield match.end("inner"), end, ""
        if text[end : end + 1] == "\n" and text[end + 1 : end + 2] not in ("", "\n"):
            yield end, end + 1, "\n\n"


_BLANKS = re.compile(r"^[^\S\n]+|[^\S\n]+$|[^\S\n]{2,}|[^\S\n \t]", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")
_OUTER = re.compile(r"\A\n+|\n+\Z")


def _blank(match: re.Match[str]) -> str:
    """Return a tab if the white space contains one, else a blank. At the edge of a line, return
    ""."""
    blanks = match.group()
    at_edge = match.start() == 0 or match.end() == len(match.string)
    if at_edge or "\n" in (match.string[match.start() - 1], match.string[match.end()]):
        return ""
    return "\t" if "\t" in blanks else " "


_STEPS: tuple[Step, ...] = (
    _escapes,
    _unwrap(_TEX),
    _replace(_LINE_END, "\n"),
    _replace(_INVISIBLE, ""),
    _replace(_ENTITY, _entity),
    _replace(_USER, "[USER]"),
    _replace(_PLACEHOLDER, lambda match: f"[{match[1].upper()}]"),
    _tags,
    _nfkc,
    _replace(_ELLIPSIS, "..."),
    _replace(_FENCE, ""),
    _replace(_BLANKS, _blank),
    _lines,
    _headings,
    _unwrap(_LINK),
    _unwrap(_EMPHASIS),
    _unwrap(_CODE),
    _replace(_STARS, "***"),
    _replace(_EMPTY_LINES, "\n\n"),
    _replace(_OUTER, ""),
)
