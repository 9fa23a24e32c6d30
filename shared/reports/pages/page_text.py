"""Texts, numbers and verdicts for pages. The functions are pure and use no template.

Marks cut a text into pieces that a template prints one by one. A heat map joins neighbouring tokens
of the same level, so that a page with a thousand tokens stays small. A language is detected by
script (Unicode 17.0, blocks of Hangul, Hiragana, Katakana and CJK Unified Ideographs).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, pairwise

from shared.contracts.questions import Option


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked passage of a text, in character offsets (code points), end exclusive."""

    start: int
    end: int
    kind: str  # the CSS class is `mark-<kind>`
    label: str = ""  # for readers who cannot see the colour
    link: str = ""  # of a quotation: the same in the text that is quoted


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A piece of a text, and all marked passages that cover it."""

    text: str
    marks: tuple[Mark, ...] = ()

    @property
    def classes(self) -> str:
        return " ".join(dict.fromkeys(f"mark-{mark.kind}" for mark in self.marks))

    @property
    def label(self) -> str:
        return "; ".join(dict.fromkeys(mark.label for mark in self.marks if mark.label))

    @property
    def links(self) -> str:
        return " ".join(dict.fromkeys(mark.link for mark in self.marks if mark.link))


def pieces(text: str, marks: Iterable[Mark]) -> list[MarkedText]:
    """Split a text into consecutive pieces, each with the marks that cover it. Marks may overlap. A
    mark is cut off at the end of the text. An empty mark is ignored."""
    inside = [mark for mark in marks if mark.start < min(mark.end, len(text))]
    cuts = {0, len(text), *(cut for m in inside for cut in (m.start, min(m.end, len(text))))}
    opening = sorted(inside, key=lambda mark: mark.start)
    covering: list[Mark] = []
    result: list[MarkedText] = []
    upcoming = 0
    for start, end in pairwise(sorted(cuts)):
        covering = [mark for mark in covering if mark.end > start]
        while upcoming < len(opening) and opening[upcoming].start <= start:
            covering.append(opening[upcoming])
            upcoming += 1
        result.append(MarkedText(text[start:end], tuple(covering)))
    return result


def quote_links(quotes: Iterable[object]) -> dict[str, str]:
    """Map each different quotation to the link that its marks in both texts share."""
    written = dict.fromkeys(quote for quote in quotes if isinstance(quote, str) and quote)
    return {quote: str(number) for number, quote in enumerate(written)}


def quote_marks(text: str, links: Mapping[str, str], kind: str) -> Iterator[Mark]:
    """Yield a mark for each place where `text` repeats one of the quotations in `links`."""
    word = r"[a-zA-Z0-9]"
    for quote, link in links.items():
        for match in re.finditer(rf"(?<!{word}){re.escape(quote)}(?!{word})", text):
            yield Mark(*match.span(), kind, "quote", link)


LEVELS = 9


@dataclass(frozen=True, slots=True)
class Warm:
    """A coloured or outlined token of a heat map. `start` and `end` are offsets of characters (code
    points), end exclusive. `level` is from -9 to 9."""

    start: int
    end: int
    level: int = 0
    outlined: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive characters with the same heat level."""

    text: str
    level: int

    @property
    def heat(self) -> str:
        """The CSS class for the color of the heat level, or "" for level 0."""
        if not self.level:
            return ""
        return f"heat-{'p' if self.level > 0 else 'n'}{abs(self.level)}"


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Adjacent pieces of a heat map that are either all inside marked spans (`outlined`) or all
    outside."""

    stretches: tuple[Stretch, ...]
    outlined: bool


def level(value: float | None, largest: float) -> int:
    """Return the value as a level from -9 to 9, proportional to its share of the largest magnitude.
    Return 0 if there is no value."""
    if value is None or largest <= 0:
        return 0
    return round(LEVELS * (value / largest))


def runs(text: str, tokens: Iterable[Warm]) -> tuple[TokenRun, ...]:
    """Return the text as consecutive runs of tokens, each with its background colours (heat
    levels)."""
    covering = _fill(len(text), _disjoint(tokens, len(text)))
    token_runs = []
    for outlined, run in groupby(covering, key=lambda token: token.outlined):
        levels = [
            (warmth, [*tokens_of_level])
            for warmth, tokens_of_level in groupby(run, key=lambda token: token.level)
        ]
        stretches = (
            Stretch(text[tokens_of_level[0].start : tokens_of_level[-1].end], at)
            for at, tokens_of_level in levels
        )
        token_runs.append(TokenRun(tuple(stretches), outlined))
    return tuple(token_runs)


def stretches(lines: Iterable[TokenRun]) -> int:
    """Return the number of HTML elements that these token runs take on a page."""
    return sum(run.outlined + sum(1 for stretch in run.stretches if stretch.level) for run in lines)


def _disjoint(tokens: Iterable[Warm], length: int) -> list[Warm]:
    """Return the tokens in order and without overlaps. If tokens share a character, the one with
    the strongest level is kept."""
    result: list[Warm] = []
    for token in sorted(tokens, key=lambda token: (token.start, token.end)):
        reached = result[-1].end if result else 0
        start, end = max(token.start, reached), min(token.end, length)
        if start < end:
            result.append(replace(token, start=start, end=end))
        elif result and token.start < token.end <= reached:
            last = result[-1]
            warmth = max(last.level, token.level, key=abs)
            result[-1] = replace(last, level=warmth, outlined=last.outlined or token.outlined)
    return result


def _fill(length: int, tokens: Sequence[Warm]) -> Iterator[Warm]:
    """Yield the tokens and the gaps between tokens. A gap between two tokens of equal level gets
    this level, and every other gap gets level 0."""
    before = Warm(0, 0)
    for token in tokens:
        if before.end < token.start:
            level = token.level if token.level == before.level else 0
            outlined = token.outlined and before.outlined
            yield Warm(before.end, token.start, level, outlined)
        yield token
        before = token
    if before.end < length:
        yield Warm(before.end, length)


MOST_LOOKED = 2_000  # characters; the script shows early
MOST_OTHERS = 2  # letters of other scripts per letter; more is an English text with a name
FEWEST = 0.05  # of the letters; less is a quoted word

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003347f]")


def language_of(text: str) -> str:
    """Return `ko`, `ja` or `zh`, or "" for other scripts and for too few letters of these. Hangul
    means Korean, kana mean Japanese, and other Han text counts as Chinese, although a text of Han
    alone can be Japanese or Korean."""
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
    """Return a time in UTC, formatted for people."""
    if unix_seconds is None:
        return "–"
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def significant(value: float | int | str | None, digits: int = 3) -> str:
    """Return a number with up to `digits` decimals, without trailing zeros. Other values are
    returned as text."""
    if value is None:
        return "–"
    if isinstance(value, bool | str | int):
        return str(value)
    if value and abs(value) < 10**-digits:
        return f"{value:.1e}"
    rounded = f"{value:.{digits}f}".rstrip("0").rstrip(".") if math.isfinite(value) else "–"
    return "0" if rounded == "-0" else rounded


def percent(share: float) -> str:
    """Return a share in whole percent, as on pages, in reports and on the command line."""
    return f"{100 * share:.0f} %"


LEAST_P = 0.001  # smaller p-values are shown as below it


def p_value(value: float | None) -> str:
    """Return the p-value with three decimals, or `< 0.001` for smaller values, as on the command
    line. Return a dash for None."""
    if value is None:
        return "–"
    if value < LEAST_P:
        return f"< {LEAST_P}"
    return f"{value:.3f}"


def thousands(count: int) -> str:
    """Return the count with thin non-breaking spaces between thousands."""
    return f"{count:,}".replace(",", "\u202f")


@dataclass(frozen=True, slots=True)
class ResponseTable:
    """A table on the page of a result, with the rows of the model's answer."""

    lead: str  # the first sentence
    field: str = ""  # the report's list with these rows
    subjects: Sequence[str] = ()  # texts of the rows
    columns: Sequence[str] = ()  # names of the numbers in a row


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option with its letter. `text` is "" if it was not kept."""

    key: str
    text: str


def choices(options: Iterable[Option] | None, keys: Collection[str]) -> tuple[OptionRow, ...]:
    """Return the options in the order shown. If they are unknown, return `keys` in alphabetical
    order."""
    if options is None:
        return tuple(OptionRow(key, "") for key in sorted(keys))
    return tuple(OptionRow(option.key, option.text) for option in options)
