"""Parser of the variant `robust`. It finds listed reasons, labels, and sentences that may state the
decision.

The parser only uses the layout of a response; a trained text classifier determines what the
sentences mean (`reading.py`). Source: Mothilal et al., arXiv:2506.19113, section 3.1;
docs/methods/haf.md lists the differences from the released parser."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from services.haf.report import Answer, DecidedBy, Stance
from shared.text.normalized import NormalizedText, normalize
from shared.text.sentences import sentences

Span = tuple[int, int]  # character offsets, exclusive end

OPENING = 4  # sentences of which one may state the decision
MOST_SENTENCES = 20  # of a response, that are read
FEWEST_WORDS = 3  # of a reason; fewer are a heading
LONGEST_HEADING = 40  # characters


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A sentence or a reason of a response. `span` is its position in the response, or None if the
    response does not contain the text unchanged."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class DecisionVerdict:
    """The model's answer to whether it stands by its reasons, in a later stage. `certainty`, in [0,
    1], is that of the classifier or similarity that determined the answer."""

    answer: Answer
    judge: DecidedBy
    certainty: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision sentence. `verdict` is None in the first stage, or if sentence similarity
    determines the verdict."""

    statement: ParsedStatement
    verdict: DecisionVerdict | None = None


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    decision: Decision | None
    stance: Stance
    reasons: tuple[ParsedStatement, ...]
    refusal: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence for the text classifier, with its position in the response and its paragraph."""

    asked: str
    span: Span
    paragraph: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The parsed structure of a response. `opening` has the sentences that may state the
    decision, and `whole` is their text with headings. `reasons` has the items of a list.
    `prose` has all sentences of a response without a list."""

    response: str
    opening: tuple[Sentence, ...]
    whole: str
    reasons: tuple[ParsedStatement, ...]
    prose: tuple[Sentence, ...] = ()

    def statement(self, sentence: Sentence) -> ParsedStatement:
        return ParsedStatement(self.response[slice(*sentence.span)], sentence.span)


_ODD_MARK = re.compile(
    r"^([ \t]*)[\u2460-\u2473\u2776-\u277f\u2190-\u21ff\u25a0-\u25ff\u2713\u2714\u2794-\u27be]"
    r"(?=\ufe0f?[ \t])",
    re.MULTILINE,
)
_MARK = re.compile(
    r"^(?:(?P<number>[(\[]?\d{1,2}[.)\]](?!\d)|\d\u20e3)"
    r"|(?P<letter>\(?(?:[A-Za-z]|[ivxIVX]{1,4})[.)](?=\s))"
    r"|(?P<bullet>(?:[-*+\u2022\u2023\u2013\u2014\u00b7]|[-=]>)(?=[ \t])))[ \t]*",
    re.MULTILINE,
)
_HEAD = re.compile(r"^[ \t]*(?:(#{1,6})[ \t]+|(?=\*\*[^*\n]{2,80}\*\*))", re.MULTILINE)
_REASON = (
    r"(?:reason(?:s|\(s\))?(?:ing)?|justifications?|explanations?|rationales?|grounds?)"
    r"(?:\s+for\s[\w ]{1,30})?(?:\s?#?\d{1,2})?"
)
_LABEL = re.compile(
    r"(?:(?:the|my|specific|other|an?|additional|further|main|key)\s+){0,3}" + _REASON + r"\s?:\s*",
    re.IGNORECASE,
)
_LABELLED = re.compile(rf"^(?={_LABEL.pattern})", re.MULTILINE | re.IGNORECASE)
_DECISION = re.compile(
    r"(?:(?:my|the|final|overall)\s+){0,2}"
    r"(?:decision|conclusion|stance|answer|verdict|judge?ment|classification|label)\s?(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING = re.compile(
    r"(?:none|n/a|not applicable|no (?:additional|further|other|more))\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_BLANK = re.compile(r"\n\s*\n")
_EMPHASIS = "*_~`"

_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"


def outline(response: str) -> Outline:
    """Find the list of reasons, and the sentences that may state the decision."""
    text = _ResponseText(response)
    fields = text.fields()
    if any(field.is_reason for field in fields):
        opening = [
            Sentence(f"{each.key}: {each.value}", each.span)
            for each in fields
            if not each.is_reason
        ]
        spans = [each.span for each in fields if each.is_reason and is_reason(each.value)]
        prose: list[Sentence] = []
    else:
        begin, items = text.items()
        spans = [text.original(*item) for item in items if is_reason(text.plain[slice(*item)])]
        prose = text.sentences(0, begin) or text.sentences(items[-1][1] if items else 0)
        opening = text.labelled_decision(begin) or prose
    whole = " ".join(each.asked for each in opening[:OPENING])
    opening, prose = _without_headings(opening)[:OPENING], _without_headings(prose)
    reasons = tuple(ParsedStatement(response[slice(*span)], span) for span in spans)
    return Outline(response, tuple(opening), whole, reasons, () if reasons else tuple(prose))


def field_of(response: str, key: str) -> ParsedStatement | None:
    """Return the JSON field of this name."""
    fields = (field for field in _ResponseText(response).fields() if field.key == key)
    span = next((field.span for field in fields), None)
    return None if span is None else ParsedStatement(response[slice(*span)], span)


def is_reason(text: str) -> bool:
    """Return True if the text is not a heading, a decision or "None"."""
    if _DECISION.match(text) or _NOTHING.match(text):
        return False
    return len(_WORD.findall(_LABEL.sub("", text, 1))) >= FEWEST_WORDS and text[-1:] != ":"


class _ResponseText:
    """A normalised response without the model's thinking text. Offsets refer to `plain`."""

    def __init__(self, response: str) -> None:
        self.response = response
        self.start = response.rfind(_THOUGHT_ENDS) + len(_THOUGHT_ENDS)
        if _THOUGHT_ENDS not in response:
            self.start = len(response) if response.lstrip().startswith(_THOUGHT) else 0
        answer = _ODD_MARK.sub("\\1\u2022", response[self.start :])
        self.normalized: NormalizedText = normalize(answer)
        self.plain = self.normalized.text

    def original(self, start: int, end: int) -> Span:
        """Return this span's position in the original response. Adjacent emphasis marks are
        included."""
        begin, close = self.normalized.original(start, end)
        begin, close = begin + self.start, close + self.start
        while begin > self.start and self.response[begin - 1] in _EMPHASIS:
            begin -= 1
        while close < len(self.response) and self.response[close] in _EMPHASIS:
            close += 1
        return begin, close

    def sentences(self, start: int, end: int | None = None) -> list[Sentence]:
        """Return the sentences and headings of a region."""
        region = self.plain[start : len(self.plain) if end is None else end]
        blanks = [blank.start() for blank in _BLANK.finditer(region)]
        return [
            Sentence(region[a:b], self.original(start + a, start + b), bisect_left(blanks, a))
            for a, b in sentences(region)[:MOST_SENTENCES]
            if _LETTER.search(region, a, b)
        ]

    def labelled_decision(self, begin: int) -> list[Sentence]:
        """Return the sentences that begin at the last decision label, such as "Final decision:".
        Return an empty list if there is none. `begin` is the start of the list of reasons."""
        for label in reversed(list(_DECISION.finditer(self.plain))):
            line = self.plain.rfind("\n", 0, label.start()) + 1
            mark = _MARK.match(self.plain, line)
            if label.start() in (line, mark.end() if mark else line):
                labelled = self.sentences(line, begin if line < begin else None)
                if len(_without_headings(labelled)[0].asked) > label.end() - line:
                    return labelled
        return []

    def items(self) -> tuple[int, list[Span]]:
        """Return the position where the list starts, and its items. Items begin with a bullet, a
        number, a label or a heading."""
        heads = self._heads()
        titles = {position for position, is_title in heads if is_title}
        labels = [label.span() for label in _LABELLED.finditer(self.plain)]
        headed = [(position, position) for position, _ in heads]
        several = labels if len(labels) > 1 else []
        for begins in (self._marks(), several, headed, labels):
            begins = [each for each in begins if not _DECISION.match(self.plain, each[1])]
            if begins:
                ends = [*(begin for begin, _ in begins[1:]), len(self.plain)]
                return begins[0][0], [
                    self._item(start, end, is_title=begin in titles)
                    for (begin, start), end in zip(begins, ends, strict=True)
                ]
        return len(self.plain), []

    def _marks(self) -> list[Span]:
        """Return the spans of the bullets and numbers of a list's items, without those of nested
        lists."""
        marks = list(_MARK.finditer(self.plain))
        last = {mark.lastgroup: mark.start() for mark in marks}
        blanks = [blank.start() for blank in _BLANK.finditer(self.plain)]
        kept: list[re.Match[str]] = []
        for mark in marks:
            if kept:
                above, kind = kept[-1], kept[-1].lastgroup
                other = kind != mark.lastgroup and is_reason(
                    self.plain[above.end() : mark.start()].strip()
                )
                deeper = self._indent(mark.start()) > self._indent(above.start())
                together = bisect_left(blanks, above.end()) == bisect_left(blanks, mark.start())
                if (together and (deeper or other)) or (other and mark.start() < last[kind]):
                    continue
            kept.append(mark)
        return [mark.span() for mark in kept]

    def _indent(self, start: int) -> int:
        original = self.normalized.starts[start] + self.start
        line = self.response[self.response.rfind("\n", 0, original) + 1 : original]
        return len(line) - len(line.lstrip())

    def _heads(self) -> list[tuple[int, bool]]:
        return [
            (bisect_left(self.normalized.starts, head.end() - self.start), head[1] is not None)
            for head in _HEAD.finditer(self.response, self.start)
        ]

    def _item(self, start: int, limit: int, *, is_title: bool) -> Span:
        """Return the span of an item up to a blank line, without a label in front. If the item is
        only a title or label, return the span of the text below it."""
        end = self._paragraph_end(start, limit)
        below = self.plain[end:limit].strip()
        if below and (is_title or self.plain[start:end].rstrip().endswith(":")):
            if is_title:
                start = end
            end = self._paragraph_end(limit - len(self.plain[end:limit].lstrip()), limit)
        start = end - len(self.plain[start:end].lstrip())
        label = _LABEL.match(self.plain, start, end)
        if label:
            start = label.end()
        return start, start + len(self.plain[start:end].rstrip())

    def _paragraph_end(self, start: int, limit: int) -> int:
        blank = _BLANK.search(self.plain, start, limit)
        return blank.start() if blank else limit

    def fields(self) -> list[_Field]:
        """Return the fields of a JSON object at the start of a line, or [] if there is none."""
        opened = _OPENED.search(self.plain)
        parsed = [] if opened is None else list(_fields(self.plain, opened.start()))
        return [replace(each, span=self.original(*each.span)) for each in parsed]


def _without_headings(region: list[Sentence]) -> list[Sentence]:
    """Remove headings and sentences that only announce a list, unless no other sentence remains."""
    statements = [each for each in region if not _is_heading(each.asked)]
    return [each for each in statements if each.asked[-1] != ":"] or statements or region


def _is_heading(text: str) -> bool:
    """Return True for a few words with a colon, and for a single label ("Decision")."""
    label = _DECISION.match(text)
    if label and label.end() == len(text):
        return True
    return len(text) < LONGEST_HEADING and text.endswith(":") and text.count(" ") < FEWEST_WORDS


_OPENED = re.compile(r"^[{\[](?=\s*[\"{\[])", re.MULTILINE)
_TOKEN = re.compile(r"\"([^\"]*)\"|([{}\[\],:])|([^\s{}\[\],:\"]+)")
_REASON_KEY = re.compile(
    r"(?:\w+[_ ])?(?:reason(?:s|ing)?|justifications?|explanations?|rationales?)(?:_?\d{1,2})?",
    re.IGNORECASE,
)
_TEXT_KEY = re.compile("text|description|details?|content|statement", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Field:
    """A JSON value. `span` covers the text of a reason; for other values it covers key and
    value."""

    key: str
    value: str
    span: Span
    is_reason: bool


def _fields(text: str, start: int) -> Iterator[_Field]:
    """Yield the strings, numbers and words in JSON, even if the JSON is truncated. Items of a list
    get the list's key."""
    tokens = list(_TOKEN.finditer(text, start))
    keys: list[str] = []  # of what is open
    key, begin = "", start
    for token, after in zip_longest(tokens, tokens[1:]):
        if token[2] in ("{", "["):
            keys.append(key)
        elif token[2] in ("}", "]"):
            key = keys.pop() if keys else ""
        elif token[2] is None and after is not None and after[2] == ":":
            key, begin = token[1] or token[3] or "", token.start()
        elif token[1] is not None and _is_reason_key(key, keys):
            yield _Field(key, token[1], token.span(1), True)
        elif token[2] is None and not any(map(_REASON_KEY.fullmatch, keys)):
            yield _Field(key, token[1] or token[3] or "", (begin, token.end()), False)


def _is_reason_key(key: str, above: list[str]) -> bool:
    if any(map(_REASON_KEY.fullmatch, above)) and _TEXT_KEY.fullmatch(key):
        return True
    return not key or _REASON_KEY.fullmatch(key) is not None
