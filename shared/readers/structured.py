"""Reads decisions that are stated as data: fields, tables, options, scores, boxes.

Examples: `Label: x`, `{"label": "x"}`, `Hateful: no`, `| Verdict | x |`, `A) x B) y / Answer: A`, a
bare label. The caller defines the labels. The trained reader reads prose, and texts with
contradictory fields. Source: our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from shared.readers import decision_words as data

Label = TypeVar("Label", bound=str)
Span = tuple[int, int]

MOST_SEGMENTS = 400  # that are looked at, from the end
LONGEST_KEY, LONGEST_LABEL = 60, 60  # characters
LOW_SCORE, HIGH_SCORE = 0.3, 0.7  # shares of the most; between them one score decides nothing


@dataclass(frozen=True, slots=True)
class StructuredVerdict(Generic[Label]):
    """The decision stated by the fields of a text. `label` is None if the fields leave the decision
    open.

    `span` covers the field with its key in the given text, and `words` covers its value. `rank`
    is the importance: 2 for the final statement of the text, 1 normally, and 0 for an earlier
    decision or one by others. `others` holds the spans of less important fields."""

    label: Label | None
    span: Span
    words: Span
    rank: int = 1
    others: tuple[Span, ...] = ()


_AROUND = " \t\r\n\"'`*_#>|()[]{}<>\u201c\u201d\u2018\u2019「」\u2013\u2014\u2022.,;:!！。?？️"
_SEGMENT = re.compile(
    r"\n|(?<=[.;!。；])\s+(?=\S)|;\s*|。|,\s*(?=[\"'\u201c])|[{}]|\s\|\s(?=[^|\n]{1,40}[:=])"
    r"|\s-\s(?=[^\n:]{1,30}:\s)|,\s+(?=[a-z_ ]{3,30}[:=]\s)"
)
_SEPARATOR = re.compile(r"\s?(?:[:：=\u2192\u21d2|](?!//)|[-=]>)|[?？](?=\s|$)|\]\s|\s\.{3,}\s")
_NUMBER = re.compile(r"(?:\(?[\dA-Za-z]{1,2}[.)]|(?:step|line|point)?\s?\d{1,2}\s?[-:])\s*")
_ASKING = re.compile(
    rf"(?:{data.ASKING}|(?:probability|likelihood|score|degree|level)\s+of\s+|p\s?\()", re.I
)
_KIND = re.compile(
    r"\([^()]*$|[\s_-]+(?:detected|present|found|identified|score|level|probability|likelihood|flag|check|rating"
    r"|程度|여부)$",
    re.I,
)
_ENDS = r"(?=[\s\"'`*_)\]}”’.!]*(?:$|[,;:.(。，（–—]|-(?!\w)|\s(?:because|since|as)\b))"
_YES = re.compile(rf"(?:{data.YES}|{data.HIGH}|present|detected|found){_ENDS}", re.I)
_NO = re.compile(rf"(?:{data.NO}|{data.LOW}){_ENDS}", re.I)
DATA = re.compile(r"[\[{]\s*[\"'\[{\]]")  # JSON, with which a text begins
_FLAG = re.compile(  # `"hateful": {"present": false`
    r"(?<=:)\s{0,3}\{\s{0,9}[\"'](?:is_)?(?:present|detected|found|value|flag(?:ged)?|label|answer|verdict)[\"']\s{0,3}:"
)
_NONE_LISTED = re.compile(r"\s*\[\s*\]")  # `"hate_speech": []`
_NO_VIOLATION = re.compile(rf"no\s(?:\w{{1,20}}\s)?violations?{_ENDS}", re.I)
_TOPIC = re.compile(rf"{data.TOPIC}[\s\"'`*_)]*[:：=]", re.I)
_OPEN = re.compile(rf"(?:{data.OPEN}|\?|-+){_ENDS}", re.I)
_SHARE = re.compile(
    r"[\s:=(]{0,4}(?P<points>\d{1,3}(?:[.,]\d{1,20})?)(?:\s?(?P<percent>%)|\s?(?:/|out\s+of)\s?(?P<most>[1-9]\d{0,2}))?"
    r"(?![\w.%/-]*\d)"
)
_LEAD = re.compile(
    r"(?:(?:(?:the|this|that|it|post|text|comment|message|content|tweet|is|was|clearly|an?|as|option"
    r"|label|answer|verdict|conclusion|decision|correct|my|final|would|be)\s+|该?文本|这是?|属于|是)){1,6}",
    re.I,
)
_OUT_OF = re.compile(r"(?<=^\d)\s?(?:/|out of)\s?\d{1,3}$")  # "4/5", where 4 is a label
_NO_LABEL = re.compile("[?？:：=]")  # behind a phrase: a question, or a key without a value
_PART = re.compile(r"\s?(?:[,;:(。，（\u2013\u2014]|\.(?=\s|$)|\s-\s|\b(?:because|since)\b)\s*")
_OPTION = re.compile(
    r"(?:^|(?<=[\s,;:/\[(]))\(?(?P<mark>[A-Ha-h]|\d{1,2})[.):]\s{0,2}[\"'*]{0,2}(?P<label>[^\n,;:.()]{1,60}?)"
    r"(?=[\"'*]{0,2}\s{0,3}(?:$|[\n,;:.]|\(?(?:[A-Ha-h]|\d{1,2})[.):]\s))"
)
_CHOOSES = re.compile(
    r"\bI(?:['\u2019]d|\s+would|\s+will|['\u2019]ll)?\s+(?:therefore\s+|thus\s+|then\s+)?(?:choose|chose|select(?:ed)?|pick(?:ed)?|go|went|opt(?:ed)?"
    r"|decide[d]?|answer)\s+(?:(?:with|for|on|option|letter|number|label|the|is)\s+){0,3}"
    r"(?P<chosen>[^\n,;:.]{1,60})",
    re.I,
)
_ORDINALS = {"first": 0, "first one": 0, "former": 0, "second": 1, "second one": 1, "latter": 1}
_TICKED = re.compile(
    rf"(?:{data.TICKED_BOX}|{data.TICK})[^\S\n]{{0,2}}(?P<label>[^\n\[\]()\u2610\u25a1\u2705\u274c]{{1,60}})"
)
_EMPTY = re.compile(rf"(?:{data.EMPTY_SQUARE}|{data.CROSS})[^\S\n]{{0,2}}[^\s\d]")
_MARKED = re.compile(  # on a line of 100 characters at most
    rf"\W{{0,8}}(?P<label>[^\n:|]{{1,60}}?)\s?:?\s?(?:(?P<yes>{data.TICK})|{data.CROSS})\W{{0,8}}$"
)
_SHORT_LINE = re.compile(r"^[^\n]{2,100}$", re.M)
_SCORED = re.compile(
    r"(?P<label>[^\W\d_][^\n,;:=/|0-9]{1,60}?)[\"'*)]{0,3}"
    r"(?:,\s?[\"'](?:score|probability|confidence)[\"'])?(?=[\s:=(]{1,4}\d)"
)
_LIST_BORDER = re.compile(r"[,;/|\n]|\bor\b|\band\b|\bvs\.?|\boder\b|\bou\b|\bo\b|或|또는")
_FROM = re.compile(r"^\W*(?:choose|pick|select)\s+(?:one\s+)?(?:from|of|between)\b")  # [x, y]:
_OFFER = re.compile(
    r"^\W*(?:options?|choices?|labels?|classes|categories|possible\s+labels?)\s*[:=]\s*", re.I
)


def read_structured(
    text: str, words: Callable[[str], Label | None]
) -> StructuredVerdict[Label] | None:
    """Return the decision stated as data. Return None if the text states none in this form, or if
    its fields disagree. `text` must be normalised (`shared.text.normalized`). `words` returns the
    label of a short phrase such as `not hate speech`, or None."""
    text = _FLAG.sub(lambda flag: " " * len(flag.group()), text)
    reading = _Reading(text, words)
    whole = 0, len(text)
    if (label := reading.label(text)) is not None:
        return StructuredVerdict(label, whole, whole)
    if (ticked := reading.boxes()) is not None:
        return ticked
    fields = reading.scores() or [
        *reading.options(),
        *filter(None, map(reading.field, reading.segments)),
        *reading.columns(),
    ]
    fields = reading.with_violations(fields)
    if not fields and len(reading.listed(_OFFER.sub("", text))) > 1:
        return StructuredVerdict(None, whole, whole)  # labels to choose from, and no more
    return _settled(text, fields)


def _settled(text: str, fields: list[StructuredVerdict[Label]]) -> StructuredVerdict[Label] | None:
    """Return the verdict of the fields with the highest rank. Return None if these fields disagree,
    are taken back by later text, or only state earlier decisions or those of others."""
    decided = [field for field in fields if field.label is not None]
    if not decided:
        return fields[-1] if fields else None
    top = max(field.rank for field in decided)
    best = sorted((field for field in decided if field.rank == top), key=lambda one: one.span)
    takes_back = not DATA.match(text) and data.TAKES_BACK.search(text, best[-1].span[1])
    if top == 0 or takes_back:
        return None
    between = text[best[0].span[1] : best[-1].span[0]]
    agree = len({field.label for field in best}) == 1 or data.CORRECTS.search(between)
    return replace(best[-1], others=tuple(field.span for field in decided)) if agree else None


class _Reading(Generic[Label]):
    """A parser that finds verdicts in the structured parts of one text, such as `key: value` lines.
    `words` maps a phrase to its label, or to None."""

    def __init__(self, text: str, words: Callable[[str], Label | None]) -> None:
        self.text, self.words = text, words
        borders = [match.span() for match in _SEGMENT.finditer(text)]
        starts = [0, *(end for _, end in borders)]
        ends = [*(start for start, _ in borders), len(text)]
        self.segments = list(zip(starts, ends, strict=True))[-MOST_SEGMENTS:]

    def label(self, phrase: str, *, alone: bool = False) -> Label | None:
        """Return the label of a phrase, or None. Marks around it are ignored, and so is "it is"
        before it unless `alone` is True."""
        bare = _OUT_OF.sub("", phrase.strip(_AROUND))
        if not 0 < len(bare) <= LONGEST_LABEL or _NO_LABEL.search(phrase.rpartition(bare)[2]):
            return None
        if phrase.lstrip().startswith("-") and bare[0].isdigit():
            return None
        bare = bare.replace("_", " ")
        lead = None if alone else _LEAD.match(bare)
        return self.words(bare) or (self.words(bare[lead.end() :].strip(_AROUND)) if lead else None)

    def field(self, span: Span) -> StructuredVerdict[Label] | None:
        """Return the decision in a `key: value` span, or in a line that consists of a label. Return
        None if there is no decision."""
        start, end = span
        inner = self.text[start:end]
        first = start + len(inner) - len(inner.lstrip(_AROUND))
        for separator in _SEPARATOR.finditer(self.text, first, min(end, first + LONGEST_KEY)):
            key = _NUMBER.sub("", self.text[first : separator.start()], count=1)
            key = key.strip(_AROUND + "-").lower().replace("_", " ")
            value = separator.end()
            if (read := self._value(key, value, end)) is not None:
                rank = 0 if data.EARLIER.search(key) else 2 if data.LAST_WORD.search(key) else 1
                return StructuredVerdict(read[0], (first, read[1]), (value, read[1]), rank)
        around = self.text[max(0, start - 1) : start] + self.text[end : end + 1]
        label = None if around.strip("\n") else self.label(inner)
        return None if label is None else StructuredVerdict(label, span, span)

    def with_violations(
        self, fields: list[StructuredVerdict[Label]]
    ) -> list[StructuredVerdict[Label]]:
        """Add the fields that state whether the text violates a policy. If there is no violation,
        drop the fields that name topics. A violation alone does not decide the label, because it
        may concern a different policy."""
        decided = any(field.label is not None for field in fields)
        for start, end in self.segments:
            key, separator, value = self.text[start:end].partition(":")
            key = _KIND.sub("", key.strip(_AROUND + "-").lower().replace("_", " "))
            words = end - len(value.lstrip(_AROUND)), end
            if data.VIOLATION.fullmatch(_ASKING.sub("", key)):
                yes, no = _YES.match(self.text, words[0]), _NO.match(self.text, words[0])
            else:
                yes, no = None, _NO_VIOLATION.match(self.text, words[0])
                no = no if data.DECIDES.fullmatch(key) else None
            if separator and (no or (yes and decided)):
                label = self.words("not hateful" if no else "hateful")
                fields = [*fields, StructuredVerdict(label, (start, end), words)]
        about_post = [field for field in fields if not _TOPIC.match(self.text, field.span[0])]
        denied = self.words("not hateful")
        return (
            about_post
            if denied and denied in {field.label for field in about_post if field.rank}
            else fields
        )

    def _value(self, key: str, start: int, end: int) -> tuple[Label | None, int] | None:
        """Return the label of the value at text[start:end] under a key, and its end."""
        value = self.text[start:end]
        lead = len(value) - len(value.lstrip(_AROUND))
        decides = data.DECIDES.fullmatch(key) or data.EARLIER.fullmatch(key)
        if decides or len(self.listed(_FROM.sub("", key))) > 1:
            is_open = _OPEN.match(value, lead) is not None
            return self._first_label(start, end) or ((None, end) if is_open else None)
        bare = _KIND.sub("", _ASKING.sub("", key).strip(_AROUND))
        if self.label(bare) is None:
            return None
        if _OPEN.match(value, lead):
            return None, end
        yes, share = _YES.match(value, lead), _SHARE.match(value)
        no = _NO.match(value, lead) or _NONE_LISTED.match(value)
        if share and (share["percent"] or share["most"] or not share["points"].isdigit()):
            of = _number(share["points"]) / float(100 if share["percent"] else share["most"] or 1)
            yes, no = (share if of >= HIGH_SCORE else None), (share if of <= LOW_SCORE else None)
        if (yes is None) == (no is None):
            return None
        label = self.words(bare) if yes else self.words(f"not {bare}")
        match = yes or no
        return None if label is None or match is None else (label, start + match.end())

    def listed(self, text: str) -> set[Label]:
        """Return the labels in a list of labels. Return an empty set if any item is not a label."""
        pieces = [piece for piece in _LIST_BORDER.split(text) if piece.strip(_AROUND)]
        labels = [self.label(re.sub(r"^\W*\w[.)]\s", "", piece), alone=True) for piece in pieces]
        return set() if None in labels else {label for label in labels if label is not None}

    def _first_label(self, start: int, end: int) -> tuple[Label | None, int] | None:
        """Return the label at the start of a value, and the end offset of that label. Return None
        if there is no label, or if another label follows."""
        label = self.label(self.text[start:end])
        if label is not None:
            return label, end
        for part in _PART.finditer(self.text, start, end):
            label = self.label(self.text[start : part.start()])
            if label is None:
                continue
            rest = _LIST_BORDER.split(self.text[part.end() : end])
            other_labels = {self.label(piece) for piece in rest} - {None, label}
            return None if other_labels else (label, part.start())
        return None

    def columns(self) -> Iterator[StructuredVerdict[Label]]:
        """Yield the verdicts in table columns with a heading such as `Verdict`. Cells are separated
        by bars, tabs, commas or semicolons."""
        rows = [match.span() for match in re.finditer(r"[^\n]+", self.text)]
        for mark in "|\t,;":
            cells = [self._cells(row, mark) for row in rows]
            if len(cells) < 2 or len(cells[0]) < 2:
                continue
            heads = [self.text[slice(*span)].strip(_AROUND).lower() for span in cells[0]]
            columns = [at for at, head in enumerate(heads) if data.DECIDES.fullmatch(head)]
            for row in cells[1:]:
                for at in columns:
                    if len(row) == len(heads) and (label := self.label(self.text[slice(*row[at])])):
                        yield StructuredVerdict(label, row[at], row[at])

    def _cells(self, row: Span, mark: str) -> list[Span]:
        pieces = re.finditer(rf"[^{re.escape(mark)}\n]+", self.text[slice(*row)])
        cells = [(row[0] + piece.start(), row[0] + piece.end()) for piece in pieces]
        return [cell for cell in cells if self.text[slice(*cell)].strip() or mark != "|"]

    def options(self) -> Iterator[StructuredVerdict[Label]]:
        """Yield a verdict for each statement that chooses an option of a list in the text. The
        statement names the option's mark (such as `b`), its position in the list, or its label."""
        marked: dict[str, Label] = {}
        for option in _OPTION.finditer(self.text):
            label = self.label(option["label"])
            if label is not None:
                marked.setdefault(option["mark"].lower(), label)
        offered = list(dict.fromkeys(marked.values()))
        if len(offered) < 2:
            offered = self._named_in_order()
        if len(offered) < 2:
            return
        for start, end in self.segments:
            key, separator, value = self.text[start:end].partition(":")
            option_text = value.strip(_AROUND).lower().removeprefix("option ")
            if (
                separator
                and option_text in marked
                and data.DECIDES.fullmatch(key.strip(_AROUND).lower())
            ):
                yield StructuredVerdict(marked[option_text], (start, end), (start, end), 2)
        for choice in _CHOOSES.finditer(self.text):
            option_text = choice["chosen"].strip(_AROUND).lower()
            position = _ORDINALS.get(option_text)
            label = marked.get(option_text) or self.label(option_text)
            if label is None and position is not None:
                label = offered[position]
            if label is not None:
                yield StructuredVerdict(label, choice.span(), choice.span("chosen"), 2)

    def _named_in_order(self) -> list[Label]:
        """Return the labels of the first list of labels in the text."""
        for start, end in self.segments:
            for part in re.split(r"[:()\[\]]|\bwere\b|\bare\b", self.text[start:end]):
                if len(self.listed(part)) > 1:
                    labels = [self.label(piece) for piece in _LIST_BORDER.split(part)]
                    return list(dict.fromkeys(label for label in labels if label is not None))
        return []

    def boxes(self) -> StructuredVerdict[Label] | None:
        """Return the label of the only ticked box, or None. Several short lines with boxes or marks
        count as a list of labels, of which exactly one must be ticked."""
        ticked = [match for match in _TICKED.finditer(self.text) if self.label(match["label"])]
        if not ticked or not _EMPTY.search(self.text):
            lines = _SHORT_LINE.finditer(self.text)
            matches = (_MARKED.match(self.text, *line.span()) for line in lines)
            ticked = [match for match in matches if match and self.label(match["label"])]
            ticked = [match for match in ticked if match["yes"]] if len(ticked) > 1 else []
        if len(ticked) != 1:
            return None
        return StructuredVerdict(
            self.label(ticked[0]["label"]), ticked[0].span(), ticked[0].span("label")
        )

    def scores(self) -> list[StructuredVerdict[Label]]:
        """Return a list with the verdict for the label of the highest score. The list is empty if
        fewer than two labels have a score, or if the highest score is tied."""
        scored: dict[Label, tuple[float, re.Match[str]]] = {}
        for line in _SCORED.finditer(self.text):
            label = self.label(_KIND.sub("", _ASKING.sub("", line["label"].strip(_AROUND))))
            share = _SHARE.match(self.text, line.end())
            if label is None or share is None:
                continue
            scored.setdefault(label, (_number(share["points"]), line))
        ranked = sorted(scored.items(), key=lambda item: -item[1][0])
        if len(ranked) < 2 or ranked[0][1][0] == ranked[1][1][0]:
            return []
        label, (_, best) = ranked[0]
        matches = [match for _, match in scored.values()]
        span = min(match.start() for match in matches), max(match.end() for match in matches)
        return [StructuredVerdict(label, span, best.span("label"))]


def _number(points: str) -> float:
    """Return the number, written with a decimal point or comma."""
    return float(points.replace(",", "."))
