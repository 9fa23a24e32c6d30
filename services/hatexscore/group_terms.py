"""Finds terms of a lexicon in an explanation. Only whole terms match, and longer matches are
preferred. Deviates from the released code, which also matches every prefix of a term. Also deviates
from the paper, which stops at trigrams and misses "democratic republic of the congo"."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from services.hatexscore.lexicon import Kind, Lexicon, LexiconEntry, NameLanguage, singular
from services.hatexscore.words import Language, words
from shared.process.cached import cache_results

FOLDER = Path(__file__).with_name("data")

Pattern = re.Pattern[str]
Forms = tuple[str, ...]
FoundAs = Literal["term", "plural", "lemma", "demonym", "added", "category_term", "slur_alias"]

PREFERENCE: tuple[Kind, ...] = ("term", "added", "demonym", "slur_alias", "category_term")
PERSON_ZH = "人"
TABLE_BYTES = 2**25  # of each of the two kinds of tables that are kept
CHARACTER_BYTES = 100  # that a character of a term takes in them
SHORTEST = 2  # characters of a term that may stop inside a word: not 女 in 女性
SPACES = frozenset(" \u00a0\u3000")
LONGEST_SPACE = 2  # places from one character to the next, with a space between
_WORD = re.compile(r"[^\W_]+\+?")
_OTHERS = re.compile(r"(?:\bnon[- ]|[비非])\Z", re.IGNORECASE)
LONGEST_PREFIX = 5  # characters
_GAP = re.compile(r"[ \u00a0\u3000'\u2019\u2010\u2011\u2013-]{0,3}")  # inside an expression


def find_terms(text: str, language: NameLanguage, lexicon: Lexicon) -> list[TermMatch]:
    """Return all expressions of the lexicon in a text, in order. Among overlapping ones the first
    and longest wins. The pronoun "us", "turkey" without a capital, and negations such as
    "non-Muslims" are excluded."""
    cues = load_cues(language)
    spoken = lexicon.language or language
    if spoken in ("zh", "ko"):
        candidates = _candidates_by_characters(text, "zh" if spoken == "zh" else "ko", lexicon)
    else:
        candidates = _candidates_by_words(text, lexicon)
    accepted: list[TermMatch] = []
    for match in candidates:
        written, term = text[match.start : match.end], match.entry.term
        if not (
            _OTHERS.search(text, max(0, match.start - LONGEST_PREFIX), match.start)
            or (term in cues.needs_upper and not written.isupper())
            or (term in cues.needs_capital and not written[0].isupper())
            or (accepted and match.start < accepted[-1].end)
        ):
            accepted.append(match)
    return accepted


@dataclass(frozen=True)
class Cues:
    """Words of one language that help to decide if a term names a group. `needs_upper` and
    `needs_capital` hold terms that are ordinary words in other letter case. `suffixes` may
    follow a term within a longer word (人 + 群). `predicates` matches words for attacks."""

    needs_upper: frozenset[str] = frozenset()
    needs_capital: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset()
    demonym_suffix: str = ""
    predicates: Pattern = re.compile("(?!)")


@lru_cache(maxsize=8)
def load_cues(language: NameLanguage) -> Cues:
    """Return the word lists that decide whether a match is a group term. They are empty if the
    language has no file."""
    path = FOLDER / f"cues.{language}.json"
    if not path.exists():
        return Cues()
    content = json.loads(path.read_text(encoding="utf-8"))
    upper, capital = frozenset(content["needs_upper"]), frozenset(content["needs_capital"])
    if language == "en":
        return Cues(upper, capital)
    predicates = content["predicates"]
    longest_first = sorted(predicates["any"], key=len, reverse=True)
    pattern = str(predicates["form"]).replace("%s", "|".join(longest_first))
    return Cues(
        upper,
        capital,
        frozenset(content["suffixes"]),
        content["demonym_suffix"],
        re.compile(pattern, re.IGNORECASE),
    )


@lru_cache(maxsize=1)
def chinese_person_nouns() -> frozenset[str]:
    return frozenset(json.loads((FOLDER / "person_nouns.zh.json").read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class TermMatch:
    """An expression of the lexicon at start:end of the explanation."""

    entry: LexiconEntry
    start: int
    end: int
    found_as: FoundAs


@dataclass(frozen=True, slots=True)
class TermTable:
    """A lookup table of expressions by their words, or by their characters in Chinese and Korean.
    `longest` maps a first word to the length of its longest expression in words."""

    entries: dict[Forms, LexiconEntry] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)

    def add(self, key: Forms, entry: LexiconEntry) -> None:
        """Insert an entry. If another one has the same key, the kind that PREFERENCE lists first
        stays."""
        present = self.entries.get(key)
        if present is None or PREFERENCE.index(entry.kind) < PREFERENCE.index(present.kind):
            self.entries[key] = entry
        self.longest[key[0]] = max(self.longest.get(key[0], 0), len(key))

    def starting_at(self, keys: Sequence[str], first: int) -> Iterator[tuple[int, LexiconEntry]]:
        """Yield (end, entry) of each expression that starts at `first`, the longest first."""
        for size in range(min(self.longest.get(keys[first], 0), len(keys) - first), 0, -1):
            entry = self.entries.get(tuple(keys[first : first + size]))
            if entry is not None:
                yield first + size, entry


def _candidates_by_characters(
    text: str, language: Language, lexicon: Lexicon
) -> Iterator[TermMatch]:
    """Yield the longest lexicon expression at each word boundary in Chinese and Korean text.
    Results may overlap. Spaces are ignored (이주 노동자 matches 이주노동자), but a match
    normally begins and ends at word boundaries (印度|教育 does not match 印度教). A Korean
    expression neither starts with a particle or an ending nor ends with an inflected verb."""
    cues, table = load_cues(language), _character_table(lexicon)
    starts, ends, stops, word_ends = _borders(text, language, cues)
    places = [index for index, character in enumerate(text) if character not in SPACES]
    keys = [text[index].lower() for index in places]
    for first, start in enumerate(places):
        if start not in starts:
            continue
        for size, entry in table.starting_at(keys, first):
            inner = places[first:size]
            end = inner[-1] + 1
            people = end + len(cues.demonym_suffix)
            rest = text[end : word_ends.get(end, end)]
            is_apart = any(
                right - left > LONGEST_SPACE or (right - left > 1 and left + 1 in stops)
                for left, right in pairwise(inner)
            )
            is_country = entry.kind == "demonym" and language == "zh"  # 韩国 of 韩国游客
            if is_apart or (is_country and not text.startswith(_groups_zh(), end)):
                continue
            if end not in ends and not _may_end(text, start, end, rest, cues):
                continue
            if (  # a country's name goes on as its people: 미국 + 인
                cues.demonym_suffix
                and entry.kind == "term"
                and people in ends
                and text.startswith(cues.demonym_suffix, end)
            ):
                yield TermMatch(entry, start, people, "demonym")
            else:
                yield TermMatch(entry, start, end, entry.kind)
            break


def _borders(
    text: str, language: Language, cues: Cues
) -> tuple[set[int], set[int], set[int], dict[int, int]]:
    """Return word boundaries: where expressions may start, where they may end, where a
    determiner ends (이 주민 is not 이주민), and the end of each character's word."""
    starts, ends, stops, word_ends = set(), set(), set(), {}
    for word in words(text, language):
        word_ends.update(dict.fromkeys(range(word.start, word.end), word.end))
        is_separate = not text[max(0, word.start - 1) : word.start].strip()
        if language == "zh" or not word.is_stop or is_separate:
            starts.add(word.start)
        if word.is_stop and is_separate:
            stops.add(word.end)
        attack = cues.predicates.match(word.text)  # 攻击性|少数 is 攻击 + 性少数
        if attack and attack.end() < len(word.text):
            starts.add(word.start + attack.end())
        if not word.lemma.endswith("다") or word.lemma == word.text:
            ends.add(word.end)
    return starts, ends, stops, word_ends


def _may_end(text: str, start: int, end: int, rest: str, cues: Cues) -> bool:
    """Return True if a group term may end at `end` inside a longer word. `rest` is the remainder of
    the word, such as 司机, 群, or 歧视."""
    if len(rest) > 1 and rest in chinese_person_nouns():
        return True  # 女 in 女司机
    if end - start < SHORTEST:
        return False
    alone = not any(map(str.isalnum, text[max(0, start - 1) : start] + text[end : end + 1]))
    return alone or rest in cues.suffixes or bool(rest and cues.predicates.fullmatch(rest))


@lru_cache(maxsize=1)
def _groups_zh() -> tuple[str, ...]:
    return tuple(noun for noun in chinese_person_nouns() if len(noun) > 1)


def _table_bytes(_table: TermTable, lexicon: Lexicon) -> int:
    return CHARACTER_BYTES * lexicon.characters


@cache_results(TABLE_BYTES, _table_bytes)
def _character_table(lexicon: Lexicon) -> TermTable:
    """Return a table of the lexicon's expressions, in lower case and without spaces. In Chinese,
    the table also has country names, derived from words for their people."""
    table = TermTable()
    keys = {
        entry: tuple(character.lower() for character in entry.term if character not in SPACES)
        for entry in lexicon.entries()
    }
    key_set = frozenset(keys.values())
    for entry, key in keys.items():
        if key:
            table.add(key, entry)
        stem = key[:-1]
        country = len(stem) >= SHORTEST and entry.term.endswith(PERSON_ZH) and stem not in key_set
        if lexicon.language == "zh" and country:
            table.add(stem, LexiconEntry(entry.term[:-1], entry.term, entry.category, "demonym"))
    return table


def _candidates_by_words(text: str, lexicon: Lexicon) -> Iterator[TermMatch]:
    """Yield the longest group term that starts at each word. Do not use this for Chinese or Korean.
    Results may overlap. Case, accents and hyphens are ignored, except that German nouns need a
    capital."""
    table = _word_table(lexicon)
    spans = [word.span() for word in _WORD.finditer(text)]
    keys = [_key(text[start:end], lexicon) for start, end in spans]
    for first, (start, _) in enumerate(spans):
        for stop, entry in table.starting_at(keys, first):
            inner = spans[first:stop]
            adjacent = all(
                _GAP.fullmatch(text, left[1], right[0]) for left, right in pairwise(inner)
            )
            is_small = lexicon.language is not None and text[start].islower()
            if adjacent and (entry.term[0].islower() or not is_small):
                last = slice(*inner[-1])
                yield TermMatch(entry, start, last.stop, _found_as(entry, text[last].lower()))
                break


@cache_results(TABLE_BYTES, _table_bytes)
def _word_table(lexicon: Lexicon) -> TermTable:
    table = TermTable()
    for entry in sorted(lexicon.entries(), key=lambda entry: entry.term[:1].isupper()):
        key = tuple(_key(word, lexicon) for word in _WORD.findall(entry.term))
        if key and not (key in table.entries and entry.term[0].isupper()):  # "deutsche" stays
            table.add(key, entry)
            if key[-1].endswith(("i", "u")):  # "Hindus", which no rule tells from "virus"
                table.add((*key[:-1], key[-1] + "s"), entry)
    return table


def _key(word: str, lexicon: Lexicon) -> str:
    """Return the word in lower case and without accents. In English and in a caller's list it is
    also in the singular."""
    if not word.isascii():
        letters = unicodedata.normalize("NFD", word)
        word = "".join(letter for letter in letters if not unicodedata.combining(letter))
    word = word.casefold()
    return singular(word) if lexicon.language in (None, "en") else word


def _found_as(entry: LexiconEntry, seen: str) -> FoundAs:
    """Return how an expression was found: as printed, as a plural or singular of it, or else as one
    of our additions."""
    if entry.kind != "term":
        return entry.kind
    printed = entry.term.split()[-1].lower()
    if printed.endswith(seen):
        return "term" if printed == seen or "-" in printed or "'" in printed else "lemma"
    return "plural" if len(seen) > len(printed) or singular(seen) == printed else "lemma"
