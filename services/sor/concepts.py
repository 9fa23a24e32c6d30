"""Which words of a sentence speak of what: detection, people, courts, countries, dates.

Every word is looked up once, phrases first; no pattern is tried, so that time is linear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from services.sor import lexicon
from services.sor.sentences import StatementSentence, StatementWord

CONCEPTS = {
    "restriction": lexicon.RESTRICTION,
    "automation": lexicon.AUTOMATION,
    "explicit automation": lexicon.EXPLICIT_AUTOMATION,
    "people": lexicon.PEOPLE,
    "found": lexicon.FOUND,
    "notifier": lexicon.NOTIFIER,
    "reported": lexicon.REPORTED,
    "noted": lexicon.NOTED,
    "decided": lexicon.DECIDED,
    "used": lexicon.USED,
    "law": lexicon.LAW,
    "policy": lexicon.POLICY,
    "broken": lexicon.BROKEN,
    "provisions": lexicon.PROVISIONS,
    "place": lexicon.PLACES,
    "reach": lexicon.REACH,
    "lasting": lexicon.LASTING,
    "complaint": lexicon.COMPLAINT,
    "open to you": lexicon.OPEN_TO_YOU,
    "settlement": lexicon.SETTLEMENT,
    "court": lexicon.COURT,
    "because": lexicon.BECAUSE,
    "rule verbs": lexicon.RULE_VERBS,
}
Places = dict[str, list[int]]  # concept -> numbers of the words where it begins


@dataclass(frozen=True)
class _Lookup:
    """Entries by what they begin with."""

    exact: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    prefixes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return tuple(sorted({len(prefix) for prefix in self.prefixes}))

    def of_word(self, word: str) -> Iterator[str]:
        yield from self.exact.get(word, ())
        for length in self.lengths:
            if length > len(word):
                return
            yield from self.prefixes.get(word[:length], ())


def _lookup() -> _Lookup:
    found = _Lookup()
    for concept, entries in CONCEPTS.items():
        for entry in entries:
            parts = tuple(entry.split())
            if len(parts) > 1:
                found.phrases[parts[0]].append((parts, concept))
            elif entry.endswith("*"):
                found.prefixes[entry[:-1]].add(concept)
            else:
                found.exact[entry].add(concept)
    return found


LOOKUP = _lookup()
OUTSIDE_COURTS = frozenset(("settlement", "court"))
TAKEN = OUTSIDE_COURTS | {"complaint"}  # "out of court" is no court, "dispute body" no complaint


def places_of(sentence: StatementSentence) -> Places:
    """Every concept that the sentence speaks of."""
    found: Places = {}
    taken: set[int] = set()  # words of "out of court" speak of no court
    for place, length, concept in _phrases(sentence.words):
        found.setdefault(concept, []).append(place)
        if concept in OUTSIDE_COURTS:
            taken.update(range(place, place + length))
    for place, word in enumerate(sentence.words):
        for concept in LOOKUP.of_word(word.folded):
            if not (place in taken and concept in TAKEN):
                found.setdefault(concept, []).append(place)
    return found


def _phrases(words: Sequence[StatementWord]) -> Iterator[tuple[int, int, str]]:
    """(number of the first word, words, concept)."""
    for place, word in enumerate(words):
        for parts, concept in LOOKUP.phrases.get(word.folded, ()):
            if _matches(words, place, parts):
                yield place, len(parts), concept


def _matches(words: Sequence[StatementWord], place: int, parts: tuple[str, ...]) -> bool:
    if place + len(parts) > len(words):
        return False
    return all(
        word.folded.startswith(part[:-1]) if part.endswith("*") else word.folded == part
        for word, part in zip(words[place : place + len(parts)], parts, strict=True)
    )


@dataclass(frozen=True)
class ReadSentence:
    """A sentence and what it speaks of."""

    sentence: StatementSentence
    places: Places

    def __contains__(self, concept: str) -> bool:
        return concept in self.places

    def any_of(self, *concepts: str) -> bool:
        return any(concept in self.places for concept in concepts)

    @cached_property
    def folded(self) -> list[str]:
        return [word.folded for word in self.sentence.words]


def read(found: Sequence[StatementSentence]) -> list[ReadSentence]:
    return [ReadSentence(sentence, places_of(sentence)) for sentence in found]
