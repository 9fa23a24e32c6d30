"""Words that are quoted in another spelling than the text's: censored, lengthened, in digits.

An explanation that quotes "st*pid" of "stupid", "noobs" of "n00bs", "so" of "soooo", or an emoji
by its name, quotes the text; so does one that changes it in square brackets. To call such a
quotation hallucinated would be a false accusation. Words are compared one by one, with those of
the text that begin alike only; the number of comparisons has a budget.

Names of labels, fields and idioms in quotation marks, however they are spelled, quote nothing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from services.hatexscore.quotes import Span
from services.hatexscore.words import Language
from shared.process.cached import cached_property

CENSORS = frozenset("*#@$%_\u2022\u25cf\u25a0\u2588")  # that stand for a letter
LONGEST_WORD = 40  # characters
MOST_WORDS = 40  # of a quotation that is compared word by word
MOST_COMPARED = 100_000  # words of a request
MOST_FOUND = 32  # places of one quotation
UNKNOWN_LETTERS = 2  # that a run of censoring marks may hide more than it has marks

_WORD = re.compile(r"\S+")
_INNER = r"\w*#@$%\u2022\u25cf\u25a0\u2588"
_CORE = re.compile(rf"[{_INNER}](?:[^\s]*[{_INNER}])?")
_DIGITS = str.maketrans("03457@$", "oeastas")
_RUN = re.compile(r"(.)\1+")
_LONG_RUN = re.compile(r"(.)\1\1")
_BRACKETS = re.compile(r"\[([^\[\]\n]{0,60})\]")
_SIC = re.compile(r"\s?[\[(]\s?sic!?\s?[\])]", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_EMOJI_WORDS = re.compile(r"\b(?:emojis?|emoticons?|face|with|the|an?|of|sign|symbol)\b|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A word at start:end, folded."""

    start: int
    end: int
    text: str

    @property
    def is_censored(self) -> bool:
        return any(character in CENSORS for character in self.text) and any(
            character.isalpha() for character in self.text
        )


def without_brackets(quoted: str) -> tuple[str, ...]:
    """Other readings of a quotation with an editor's brackets: "leave [their] bins", "[sic]"."""
    bare = _SIC.sub("", quoted)
    kept = _BRACKETS.sub(r"\1", bare)
    left = _BRACKETS.sub("", bare)
    readings = (_BLANKS.sub(" ", one).strip(" .,") for one in (kept, left))
    return tuple(one for one in dict.fromkeys(readings) if one and one != quoted)


def emoji_name(name: str) -> str:
    """Without the words that hold no meaning: "clown face", "the clown emoji"."""
    return " ".join(_EMOJI_WORDS.sub(" ", name.lower()).split())


class Spellings:
    """The words of a text, made ready for quotations in other spellings.

    compared: how many words were compared so far.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.compared = 0

    @property
    def is_spent(self) -> bool:
        return self.compared >= MOST_COMPARED

    def find(self, quoted: str) -> list[Span]:
        """Where the quotation stands in another spelling; as many words as it has."""
        wanted = list(_spelled(quoted))
        if not 0 < len(wanted) <= MOST_WORDS:
            return self._emoji(quoted)
        found = [
            (self._words[place].start, self._words[place + len(wanted) - 1].end)
            for place in self._candidates(wanted[0])
            if self._matches(wanted, place)
        ]
        return found[:MOST_FOUND] or self._emoji(quoted)

    def _matches(self, wanted: Sequence[Spelled], place: int) -> bool:
        there = self._words[place : place + len(wanted)]
        if len(there) < len(wanted):
            return False
        self.compared += len(wanted)
        return all(is_same(one, other) for one, other in zip(wanted, there, strict=True))

    def _candidates(self, first: Spelled) -> Iterator[int]:
        """Places of words that may be the first one, ascending, while the budget lasts."""
        places = set(self._by_key.get(_key(first.text), ()))
        begins = first.text[0]
        places.update(self._censored.get(begins, ()))
        if first.is_censored:
            places.update(self._by_letter.get(begins, ()))
        for place in sorted(places):
            if self.is_spent:
                return
            yield place

    def _emoji(self, quoted: str) -> list[Span]:
        return self._emojis.get(emoji_name(quoted), [])[:MOST_FOUND]

    @cached_property
    def _words(self) -> list[Spelled]:
        return list(_spelled(self.text))

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        return _index((_key(word.text), place) for place, word in enumerate(self._words))

    @cached_property
    def _by_letter(self) -> dict[str, list[int]]:
        return _index((word.text[0], place) for place, word in enumerate(self._words))

    @cached_property
    def _censored(self) -> dict[str, list[int]]:
        return _index(
            (word.text[0], place) for place, word in enumerate(self._words) if word.is_censored
        )

    @cached_property
    def _emojis(self) -> dict[str, list[Span]]:
        """By name, where Unicode has one."""
        found: dict[str, list[Span]] = {}
        for place, character in enumerate(self.text):
            if unicodedata.category(character) == "So":
                name = emoji_name(unicodedata.name(character, ""))
                found.setdefault(name, []).append((place, place + 1))
        found.pop("", None)
        return found


def _index(pairs: Iterator[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for key, place in pairs:
        found.setdefault(key, []).append(place)
    return found


def _spelled(text: str) -> Iterator[Spelled]:
    """Words between blanks, without the marks around them."""
    for match in _WORD.finditer(text):
        core = _CORE.search(match.group())
        if core is not None:
            start = match.start() + core.start()
            yield Spelled(start, start + len(core.group()), core.group().lower())


def _key(word: str) -> str:
    """Equal for words that may be one in two spellings, censored ones aside."""
    return _RUN.sub(r"\1", _letters(word))


def _letters(word: str) -> str:
    """Digits and signs as the letters that they look like, where there are letters beside them."""
    if not any(character.isalpha() for character in word):
        return word
    return word.translate(_DIGITS).replace("1", "l").replace("!", "i").replace("i", "l")


def is_same(one: Spelled, other: Spelled) -> bool:
    """Are they one word, but for censoring, digits for letters, or a lengthened letter?"""
    if one.text == other.text:
        return True
    if len(one.text) > LONGEST_WORD or len(other.text) > LONGEST_WORD:
        return False
    if _hides(one.text, other.text) or _hides(other.text, one.text):
        return True
    plain, there = _letters(one.text), _letters(other.text)
    if plain == there:
        return _has_digits(one.text) or _has_digits(other.text)
    lengthened = _LONG_RUN.search(plain) or _LONG_RUN.search(there)
    return bool(lengthened) and _RUN.sub(r"\1", plain) == _RUN.sub(r"\1", there)


def _has_digits(word: str) -> bool:
    return any(not character.isalpha() for character in word)


def _hides(censored: str, word: str) -> bool:
    """Does the word fit the letters that are left? At least two of them, or as many characters."""
    left = [character for character in censored if character not in CENSORS]
    if not left or len(left) == len(censored):
        return False
    if len(censored) == len(word):
        pairs = zip(censored, word, strict=True)
        return all(one in CENSORS or one == other for one, other in pairs)
    marks = [place for place, character in enumerate(censored) if character in CENSORS]
    first, last = marks[0], marks[-1] + 1
    if last - first != len(marks) or len(left) < 2:
        return False
    hidden = len(word) - len(left)
    return (
        word.startswith(censored[:first])
        and word.endswith(censored[last:])
        and 1 <= hidden <= len(marks) + UNKNOWN_LETTERS
    )


FOLDER = Path(__file__).with_name("data")
LONGEST_NAME = 60  # characters of a label or an idiom

_PUNCTUATION = re.compile(r"[^\w\s#/]+")
_ARTICLE = re.compile(r"(?:an?|the)\s")
_DENIAL: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:(?:an?|the|as|is|it|be|clearly|very|highly|explicitly|not|non|no|un)\s)*+"
    ),
    "zh": re.compile("(?:这?不是|并非|不|非|无|是|不属于|属于)"),
    "ko": re.compile(r"(?!)"),
}
_DENIED_AFTER_KO = re.compile(r"\s?(?:이|가)?\s?(?:아님|아니다|아닙니다|없음|입니다|이다|임)$")
_CONNECTIVE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"\s(?:or|and|but|vs)\s|\s?/\s?"),
    "zh": re.compile("[或和与/]"),
    "ko": re.compile(r"\s(?:또는|혹은|및)\s|\s?/\s?"),
}
_LABELLED = re.compile(r"\s(?:content|speech|text|language|post|comment|category|label|class)$")


def plain_name(quoted: str) -> str:
    """Lower case, one blank for any punctuation and hyphen, no article before it."""
    if len(quoted) > LONGEST_NAME:
        return ""
    name = " ".join(_PUNCTUATION.sub(" ", quoted.lower().replace("_", " ")).split())
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def is_label(quoted: str, language: Language) -> bool:
    """Only names of labels or fields: "not hate speech", "normal or offensive", "severity"?"""
    name = plain_name(quoted)
    if not name:
        return False
    return all(
        _is_name(part, spoken)
        for spoken in (_script_of(name, language),)
        for part in _CONNECTIVE[spoken].split(name)
    )


def _script_of(name: str, language: Language) -> Language:
    """A Korean explanation may quote an English label."""
    return "en" if name.isascii() else "zh" if language == "en" else language


def _is_name(part: str, language: Language) -> bool:
    names = label_names(language)
    bare = part[found.end() :] if (found := _DENIAL[language].match(part)) else part
    if language == "ko":
        bare = _DENIED_AFTER_KO.sub("", bare)
    return any(one in names for one in (part, bare, _LABELLED.sub("", bare)))


@lru_cache(maxsize=3)
def label_names(language: Language) -> frozenset[str]:
    """Words of labels and names of fields, as `plain_name` writes them."""
    content = json.loads((FOLDER / "quoted_labels.json").read_text(encoding="utf-8"))[language]
    return frozenset(plain_name(name) for names in content.values() for name in names)


@lru_cache(maxsize=3)
def idioms(language: Language) -> frozenset[str]:
    """Set phrases that explanations put in quotation marks, as `plain_name` writes them."""
    content = json.loads((FOLDER / f"idioms.{language}.json").read_text(encoding="utf-8"))
    return frozenset(map(plain_name, content))
