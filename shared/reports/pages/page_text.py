"""Texts, numbers and verdicts as pages show them: pure, without a template.

Marks cut a text into pieces that a template prints one by one. A heat map joins neighbours of the
same warmth, so that a thousand tokens stay a light page. A language is what the script tells
(Unicode 17.0, blocks of Hangul, Hiragana, Katakana and CJK Unified Ideographs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, pairwise

from shared.contracts.questions import Option


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch of a text.

    start, end: character offsets (code points), end exclusive.
    kind: the CSS class is `mark-<kind>`. label: said to whoever cannot see the colour.
    """

    start: int
    end: int
    kind: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A stretch of text between two borders, and every mark that covers it."""

    text: str
    marks: tuple[Mark, ...] = ()

    @property
    def classes(self) -> str:
        """The CSS classes of all its marks."""
        return " ".join(dict.fromkeys(f"mark-{mark.kind}" for mark in self.marks))

    @property
    def label(self) -> str:
        return "; ".join(dict.fromkeys(mark.label for mark in self.marks if mark.label))


def pieces(text: str, marks: Iterable[Mark]) -> list[MarkedText]:
    """The text in order, whole: joined, the pieces are the text. Marks may overlap.

    A mark that reaches beyond the text is cut off at its end; an empty one marks nothing.
    """
    inside = [mark for mark in marks if mark.start < min(mark.end, len(text))]
    cuts = {0, len(text), *(cut for m in inside for cut in (m.start, min(m.end, len(text))))}
    opening = sorted(inside, key=lambda mark: mark.start)
    covering: list[Mark] = []
    found: list[MarkedText] = []
    upcoming = 0
    for start, end in pairwise(sorted(cuts)):
        covering = [mark for mark in covering if mark.end > start]
        while upcoming < len(opening) and opening[upcoming].start <= start:
            covering.append(opening[upcoming])
            upcoming += 1
        found.append(MarkedText(text[start:end], tuple(covering)))
    return found


LEVELS = 9


@dataclass(frozen=True, slots=True)
class Warm:
    """A token. start, end: character offsets (code points), end exclusive. level: -9 to 9."""

    start: int
    end: int
    level: int = 0
    outlined: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters of one warmth."""

    text: str
    level: int

    @property
    def heat(self) -> str:
        """Its CSS class; empty where it is neither warm nor cold."""
        if not self.level:
            return ""
        return f"heat-{'p' if self.level > 0 else 'n'}{abs(self.level)}"


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Stretches that are outlined together, or not at all."""

    stretches: tuple[Stretch, ...]
    outlined: bool


def level(value: float | None, largest: float) -> int:
    """The value as a share of the largest magnitude, in ninths: -9 to 9."""
    if value is None or largest <= 0:
        return 0
    return round(LEVELS * (value / largest))


def runs(text: str, tokens: Iterable[Warm]) -> tuple[TokenRun, ...]:
    """The text in order, whole: joined, the stretches are the text."""
    covering = _fill(len(text), _disjoint(tokens, len(text)))
    found = []
    for outlined, run in groupby(covering, key=lambda token: token.outlined):
        alike = [(warmth, [*same]) for warmth, same in groupby(run, key=lambda token: token.level)]
        stretches = (Stretch(text[same[0].start : same[-1].end], at) for at, same in alike)
        found.append(TokenRun(tuple(stretches), outlined))
    return tuple(found)


def stretches(found: Iterable[TokenRun]) -> int:
    """How many elements a page needs for these: what they weigh."""
    return sum(run.outlined + sum(1 for stretch in run.stretches if stretch.level) for run in found)


def _disjoint(tokens: Iterable[Warm], length: int) -> list[Warm]:
    """In order, without overlaps: of tokens that are parts of one character the warmest counts."""
    found: list[Warm] = []
    for token in sorted(tokens, key=lambda token: (token.start, token.end)):
        reached = found[-1].end if found else 0
        start, end = max(token.start, reached), min(token.end, length)
        if start < end:
            found.append(replace(token, start=start, end=end))
        elif found and token.start < token.end <= reached:
            last = found[-1]
            warmth = max(last.level, token.level, key=abs)
            found[-1] = replace(last, level=warmth, outlined=last.outlined or token.outlined)
    return found


def _fill(length: int, tokens: Sequence[Warm]) -> Iterator[Warm]:
    """The tokens and what lies between them: as its neighbours are where these are alike."""
    before = Warm(0, 0)
    for token in tokens:
        if before.end < token.start:
            same = token.level if token.level == before.level else 0
            outlined = token.outlined and before.outlined
            yield Warm(before.end, token.start, same, outlined)
        yield token
        before = token
    if before.end < length:
        yield Warm(before.end, length)


MOST_LOOKED = 2_000  # characters: the script shows early
MOST_OTHERS = 2  # letters of other scripts a letter of these: an English text with a name in it
FEWEST = 0.05  # of the letters: below that a word is quoted

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003347f]")


def language_of(text: str) -> str:
    """`ko`, `ja` or `zh`; empty (HTML: not known) for every other script and for too few of these.

    Korean where there is Hangul, Japanese where there is kana, else Chinese: a text of Han alone
    can be Japanese or Korean too.
    """
    begin = text[:MOST_LOOKED]
    hangul, kana, han = (len(script.findall(begin)) for script in (_HANGUL, _KANA, _HAN))
    eastern = hangul + kana + han
    others = sum(map(str.isalpha, begin)) - eastern
    if not eastern or others > MOST_OTHERS * eastern:
        return ""
    if max(hangul, kana) <= FEWEST * eastern:
        return "zh"
    return "ko" if hangul >= kana else "ja"


def moment(unix_seconds: float | None) -> str:
    """A time as people read it, in UTC."""
    if unix_seconds is None:
        return "–"
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float | None) -> str:
    """A length of time."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def significant(value: float | int | str | None, digits: int = 3) -> str:
    """A number with so many decimals, shorter where they are zeros; what is no number as it is."""
    if value is None:
        return "–"
    if isinstance(value, bool | str | int):
        return str(value)
    if value and abs(value) < 10**-digits:
        return f"{value:.1e}"
    rounded = f"{value:.{digits}f}".rstrip("0").rstrip(".") if math.isfinite(value) else "–"
    return "0" if rounded == "-0" else rounded


def percent(share: float) -> str:
    """A share in whole percent, as pages, reports and the command line write it."""
    return f"{100 * share:.0f} %"


LEAST_P = 0.001  # a smaller p-value is shown as below it


def p_value(value: float | None) -> str:
    """Three decimals, and never shown as 0; as the command line shows it."""
    if value is None:
        return "–"
    if value < LEAST_P:
        return f"< {LEAST_P}"
    return f"{value:.3f}"


def thousands(count: int) -> str:
    """With thin spaces, which break no line, between thousands."""
    return f"{count:,}".replace(",", "\u202f")


@dataclass(frozen=True, slots=True)
class ResponseTable:
    """An answer as the page of any result shows it: one row each that was asked.

    lead: the first sentence. field: of the report, the list that has these rows.
    subjects: the texts that its rows are about. columns: names of the numbers in a row.
    """

    lead: str
    field: str = ""
    subjects: Sequence[str] = ()
    columns: Sequence[str] = ()


def counted(count: int, noun: str) -> str:
    """`1 pair`, `2,000 pairs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option by its letter; `text` is "" where it was not kept."""

    key: str
    text: str


def choices(options: Iterable[Option] | None, keys: Collection[str]) -> tuple[OptionRow, ...]:
    """In the order in which they were shown; where that is not known, `keys` by letter."""
    if options is None:
        return tuple(OptionRow(key, "") for key in sorted(keys))
    return tuple(OptionRow(option.key, option.text) for option in options)
