"""What an English sentence denies and what it attacks: the scope of each negation.

A mention is denied only where the attack on it, or its being the target, is denied. "Without
evidence it accuses X", "does not soften the attack on X" and "does nothing but insult X" deny
nothing of the kind. Scopes are of words: from a negator to the end of its clause, or to what it
cannot reach (a new finite verb after a comma, an exception, a weakening that is denied, an attack
that is taken for granted: "the attack"). Two scopes over one another cancel out.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from services.hatexscore.vocabulary import base_forms

Span = tuple[int, int]  # half-open character offsets

FOLDER = Path(__file__).with_name("data")
MOST_WORDS = 80  # of a scope
BETWEEN = 12  # words between a mention and what denies it afterwards
HUMANE = 12  # words after "treat" within which "as human" belongs to it
LONGEST_ATTACK = 120  # characters of an attack predicate
NEAR = 5  # words after a negator within which a passive attack is its own

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\w\s]")
_DEFINITE = frozenset(
    ["the", "this", "that", "its", "their", "such", "his", "her", "these", "those"]
)
_INVERTING = frozenset({"nowhere", "never", "neither", "nor", "hardly", "rarely", "seldom", "not"})
_DENY = frozenset({"deny", "dispute"})
_MILDER = frozenset({"less", "milder", "softer", "better", "acceptable", "harmless", "funny"})
DENIED_NEAR = 2  # words behind "cannot" or "no one"
OBJECT_NEAR = 5  # words behind an attack within which its object begins
EXCEPTION_NEAR = 4  # words behind "nobody" within which "but X" may follow
_NOBODY = frozenset({"nobody", "none", "nothing", "no-one", "noone"})
_NOT_NONE = frozenset({"less", "more", "fewer", "longer", "other", "matter", "doubt"})
_BEFORE_OBJECT = frozenset(
    ["at", "on", "against", "towards", "toward", "to", "of", "for", "or", "nor", "and", "directly"]
)
_BEHIND_NOUN = frozenset({"against", "towards", "toward", "directed", "aimed"})
_CONCESSIVE = frozenset({"though", "although", "while", "whereas", "albeit"})
_RELATIVE = ("who", "whom", "that", "which")
_SPARING = frozenset({"spare"})
_OPENS_CLAUSE = frozenset(
    {"which", "who", "whose", "instead", "rather", "only", "then", "but", "not", "it"}
)
# "The idea that they never work is …": the denial is within the subject.
_CLAIM = re.compile(
    r"\b(?:idea|notion|claim|view|belief|suggestion|implication|stereotype|assertion|assumption|insinuation|trope)"
    r" that\b(?!.* (?:is|are|was)\b)"
)
_NO_LONGER = frozenset(
    {"stand", "think", "believe", "consider", "hold", "see", "regard", "deem", "maintain", "find"}
)
_COPULAS = frozenset({"is", "are", "was", "were", "be", "'s"})
_COPULAS_DENIED = frozenset({"isn't", "aren't", "wasn't", "weren't"})


@dataclass(frozen=True, slots=True)
class SentenceWord:
    """A word of a sentence in lower case; forms: what it may be an inflection of."""

    text: str
    start: int
    end: int
    forms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Denial:
    """A stretch that a negation reaches. attack: an attack is denied, and not a presence."""

    start: int
    end: int
    attack: bool


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """denials, attacks: spans of the explanation; attacks are those that hold.

    every_attack: the denied ones too.
    """

    words: tuple[SentenceWord, ...]
    denials: tuple[Denial, ...]
    attacks: tuple[Span, ...]
    every_attack: tuple[Span, ...]

    def denials_over(self, position: int) -> list[Denial]:
        """A scope is at most so long that few begin before it."""
        last = bisect_right(self.denials, position, key=lambda one: one.start)
        near = self.denials[max(0, last - MOST_WORDS) : last]
        return [one for one in near if position < one.end]

    def attacks_from(self, start: int, end: int) -> tuple[Span, ...]:
        """Attacks, denied ones too, that begin in the stretch."""
        first = bisect_left(self.every_attack, (start, start))
        return self.every_attack[first : bisect_left(self.every_attack, (end, end))]


def sentence_reading(
    words: tuple[SentenceWord, ...],
    denials: Iterable[Denial],
    attacked: Sequence[Span],
    rejections: Sequence[Span],
) -> SentenceReading:
    """Attacks that an odd number of denials reaches do not hold; rejections always do."""
    ordered = tuple(sorted(denials, key=lambda one: (one.start, one.end)))
    every = tuple(sorted({*attacked, *rejections}))
    unchecked = SentenceReading(words, ordered, (), every)
    holding = [span for span in attacked if len(unchecked.denials_over(span[0])) % 2 == 0]
    return replace(unchecked, attacks=tuple(sorted({*holding, *rejections})))


@dataclass(frozen=True)
class WordClasses:
    """Classes of words in `clauses.en.json`."""

    negators: frozenset[str]
    failing: frozenset[str]
    phrases: frozenset[tuple[str, ...]]
    presence_phrases: frozenset[tuple[str, ...]]
    only: frozenset[str]
    exceptive: frozenset[str]
    exceptive_pairs: frozenset[tuple[str, ...]]
    opaque_pairs: frozenset[tuple[str, ...]]
    ends: frozenset[str]
    auxiliaries: frozenset[str]
    pronouns: frozenset[str]
    opaque: frozenset[str]
    positive: frozenset[str]
    transparent: frozenset[str]
    between: frozenset[str]
    targets: frozenset[str]
    presence: frozenset[str]
    passing: frozenset[str]
    regarding: frozenset[str]
    humane: frozenset[str]
    question_auxiliaries: frozenset[str]
    speech: frozenset[str]


@lru_cache(maxsize=1)
def word_classes() -> WordClasses:
    content = json.loads((FOLDER / "clauses.en.json").read_text(encoding="utf-8"))
    del content["note"]
    several = ("phrases", "presence_phrases", "exceptive_pairs", "opaque_pairs")
    classes: dict[str, Any] = {
        name: frozenset(tuple(one.split()) if name in several else one for one in listed)
        for name, listed in content.items()
    }
    return WordClasses(**classes)


def read_en(text: str, offset: int, attacked: Sequence[Span]) -> SentenceReading:
    """Denials and attacks of one sentence.

    text:     the sentence, with blanks for what it quotes.
    offset:   where it begins in the explanation.
    attacked: attack predicates, spans of the explanation, ascending.
    """
    words = tuple(
        _sentence_word(found.group().lower().replace("\u2019", "'"), found.start() + offset)
        for found in _TOKEN.finditer(text)
    )
    return SentenceScopes(words, attacked).reading()


def _sentence_word(text: str, start: int) -> SentenceWord:
    return SentenceWord(text, start, start + len(text), base_forms(text))


class SentenceScopes:
    """The words of a sentence, and which of them attack."""

    def __init__(self, words: tuple[SentenceWord, ...], attacked: Sequence[Span]) -> None:
        self.words = words
        self.classes = word_classes()
        self.attacked = tuple(attacked)
        starts = [word.start for word in words]
        self.attacking = {
            place: bisect_left(starts, start)
            for start, end in attacked
            for place in range(bisect_left(starts, start), bisect_left(starts, end))
        }  # words of attacks → where the attack begins
        self.rejections: list[Span] = []

    def reading(self) -> SentenceReading:
        denials: list[Denial] = []
        denials += self._without_object()
        reached = -1  # of a negator whose scope goes on over "nor"
        for place, length in self._negators():
            if self._text(place) == "nor" and place < reached:
                continue
            last, attack = self._scope(place, length)
            if place < reached and self._is(place, _SPARING):
                self.rejections.append((self.words[place].start, self.words[place].end))
            if self._text(place) in self.classes.negators or self._is_contracted(place):
                reached = max(reached, last)
            first = place + length
            if last > first:
                span = (self.words[first].start, self.words[last - 1].end)
                denials.append(Denial(*span, attack))
        return sentence_reading(self.words, denials, self.attacked, self.rejections)

    def _without_object(self) -> Iterator[Denial]:
        """ "Attacks nobody", "aimed at no one", "mocks or insults no group": on whom is denied."""
        starts = [word.start for word in self.words]
        for start, end in self.attacked:
            first = bisect_left(starts, end)
            for here in range(first, min(len(self.words), first + OBJECT_NEAR)):
                if self._is_nobody(here):
                    yield Denial(start, end, attack=True)
                    break
                text = self._text(here)
                if not (text in _BEFORE_OBJECT or text.endswith("ly") or here in self.attacking):
                    break

    def _is_nobody(self, here: int) -> bool:
        """ "Nobody", "no one", "no group"; not "nobody but X", "no less than X"."""
        text, classes = self._text(here), self.classes
        if not (text in _NOBODY or (text == "no" and self._text(here + 1) not in _NOT_NONE)):
            return False
        behind = [self._text(here + place) for place in range(1, 1 + EXCEPTION_NEAR)]
        return (
            not any(
                one in classes.exceptive - {"but"} or (one, two) in classes.exceptive_pairs
                for one, two in pairwise(["", *behind])
            )
            and behind[0] != "but"
        )

    def _text(self, place: int) -> str:
        return self.words[place].text if 0 <= place < len(self.words) else ""

    def _is_contracted(self, place: int) -> bool:
        return self._text(place).endswith("n't")

    def _is(self, place: int, listed: frozenset[str]) -> bool:
        if not 0 <= place < len(self.words):
            return False
        return not listed.isdisjoint(self.words[place].forms)

    def _negators(self) -> Iterator[tuple[int, int]]:
        """(place, length in words) of every negator."""
        place = 0
        while place < len(self.words):
            length = self._phrase(place, self.classes.phrases)
            if self._text(place) == "without" and place in self.attacking:
                length = 0  # "better without them"
            elif length == 0 and self._negates(place):
                length = 1
            if length:
                yield place, length
            place += max(1, length)

    def _phrase(self, place: int, phrases: frozenset[tuple[str, ...]]) -> int:
        for length in (4, 3, 2, 1):
            if tuple(word.text for word in self.words[place : place + length]) in phrases:
                return length
        return 0

    def _negates(self, place: int) -> bool:
        text = self._text(place)
        if text in self.classes.negators or self._is_contracted(place):
            if text == "nothing" and self._text(place - 1) in ("at", "for"):
                return False  # "stops at nothing", "good for nothing"
            if text == "no" and self._text(place + 1) == "longer":
                return self._text(place + 2) in _NO_LONGER
            return not (text == "no" and self._text(place + 1) in (",", "less"))
        return self._is(place, self.classes.failing) and place not in self.attacking

    def _scope(self, place: int, length: int) -> tuple[int, bool]:
        """Where the scope of a negator ends (exclusive), and whether it denies an attack."""
        first = place + length
        denying = any(self._is(near, _DENY) for near in range(first, first + DENIED_NEAR))
        if denying or self._text(first) in self.classes.only:
            return first, False  # "cannot be denied", "not only"
        opening = self._phrase(place, self.classes.phrases) > 0
        nominal = self._text(place) in ("lack", "absence") and self._text(place + 1) == "of"
        cleft = self._text(place) == "not" and self._text(place - 1) in ("and", "but")
        presence = self._phrase(place, self.classes.presence_phrases) > 0
        attack, much = False, False
        for here in range(first, min(len(self.words), first + MOST_WORDS)):
            text = self._text(here)
            much = much or (text == "so" and self._text(here + 1) == "much")
            if self._ends_scope(here, first, much) or (
                opening and self._starts_clause(here, first)
            ):
                return here, attack
            if (nominal and text in self.classes.auxiliaries) or (cleft and text in _RELATIVE):
                return here, attack  # "the lack of slurs does …", "women and not men who …"
            if not attack and not presence and self._is_opaque(here):
                return (first if self._is_decent(here) else here), False
            if self.attacking.get(here, -1) >= first:  # not "says nobody should"
                if self._is_presupposed(here, first):
                    return here, attack
                attack = attack or not presence
        return min(len(self.words), first + MOST_WORDS), attack

    def _before(self, place: int) -> str:
        return " ".join(word.text for word in self.words[max(0, place - NEAR) : place])

    def _ends_scope(self, here: int, first: int, much: bool) -> bool:
        text, classes = self._text(here), self.classes
        if text == "as" and much and here > first + 2:
            return True
        if text == "so":
            return not much and self._text(here + 1) in classes.pronouns
        if "(" in (text, self._text(here - 1)) and ")" in (text, self._text(here + 1)):
            return False  # what it quotes in brackets
        claimed = text in ("is", "are") and here > first and _CLAIM.search(self._before(first))
        ground = text == "because" and self._text(here + 1) == "of"
        if claimed or text in classes.exceptive or (text in classes.ends and not ground):
            return True
        if (text, self._text(here + 1)) in classes.exceptive_pairs:
            return True
        if text == ",":
            return self._is_clause(here + 1) or self._ends_concession(first, here)
        return text in ("and", "or") and self._is_finite(here + 1)

    def _ends_concession(self, first: int, here: int) -> bool:
        """ "Though no insult is uttered, it …": the comma before the main clause."""
        listed = {self._text(place) for place in range(here + 1, here + 1 + NEAR)}
        if listed & {"or", "nor"}:
            return False
        for place in range(first - 1, -1, -1):
            if self._text(place) in _CONCESSIVE:
                return True
            if self._closes(place):
                return False
        return False

    def _starts_clause(self, here: int, first: int) -> bool:
        """ "Without evidence it accuses": a subject pronoun, and no "that" before it."""
        before = self._text(here - 1)
        return (
            here > first
            and self._text(here) in ("it", "they", "he", "she", "we")
            and before not in ("that", "which", "as", "than", "for", "of", "to", "with", "at", "on")
            and self._is_finite_near(here + 1)
        )

    def _is_finite_near(self, here: int) -> bool:
        return any(self._is_finite(place) for place in (here, here + 1))

    def _is_clause(self, here: int) -> bool:
        """After a comma: a clause of its own, and not one more item of a list."""
        text = self._text(here)
        if text in _OPENS_CLAUSE:
            return True
        if text.endswith("ing") and (here in self.attacking or self._is(here, self.classes.speech)):
            return True
        if text in ("and", "or") and (
            self._is_finite(here + 1) or self._text(here + 1) in self.classes.pronouns
        ):
            return True
        for place in range(here, min(len(self.words), here + 12)):
            if self._text(place) in (",", "that", "who", "which") or (
                self._text(place) in self.classes.ends
            ):
                return False
            if self._is_finite(place):
                return not self._is_listed(place)
        return False

    def _is_listed(self, place: int) -> bool:
        """ "No slurs, threats or insults towards X": a noun, as what stands beside it tells."""
        behind = self._text(place + 1)
        return behind in ("or", "nor") or behind in _BEHIND_NOUN

    def _is_finite(self, place: int) -> bool:
        text = self._text(place)
        if text in self.classes.auxiliaries and text not in ("be", "been", "being"):
            return True
        if self._text(place - 1) in ("to", "of", "the", "a", "an", "any", "no", "or") or not text:
            return False
        verb = place in self.attacking or self._is(place, self.classes.speech)
        after_pronoun = self._text(place - 1) in ("it", "they", "he", "she", "we", "who", "that")
        return verb and (text.endswith(("s", "ed")) or after_pronoun)

    def _is_opaque(self, here: int) -> bool:
        """A weakening, or decent treatment, that is denied: it denies no attack."""
        text = self._text(here)
        if self._is_decent(here):
            self.rejections.append((self.words[here].start, self.words[here].end))
            return True
        if text in ("evidence", "proof", "sign", "trace", "indication"):
            return self._text(here + 1) not in ("of", "that", "for")
        if self._text(here + 1) == "of" and "on" in (self._text(here - 1), self._text(here - 2)):
            return False  # "attacks nobody on the basis of"
        if (text, self._text(here + 1)) in self.classes.opaque_pairs:
            return True
        return here not in self.attacking and (
            self._is(here, self.classes.opaque) or text in self.classes.opaque
        )

    def _is_decent(self, here: int) -> bool:
        """ "respect", "welcome"; "treat", "regard" where a word such as "human" follows."""
        if self._is(here, self.classes.regarding):
            following = self.words[here + 1 : here + 1 + HUMANE]
            return any(word.text in self.classes.humane for word in following)
        return here not in self.attacking and self._is(here, self.classes.positive)

    def _closes(self, place: int) -> bool:
        text = self._text(place)
        return text in ("", ",") or text in self.classes.ends

    def _is_presupposed(self, here: int, first: int) -> bool:
        """ "The attack", "its contempt" after a verb of another kind: nobody denies that it is."""
        if here - first < 1 or self._text(first) in ("of", "in"):
            return False
        inverted = (
            self._text(first - 1) in _INVERTING
            and self._text(first) in self.classes.question_auxiliaries
        )
        if inverted and self._text(here - 1) not in _DEFINITE:
            return False  # "nowhere does the text insult"
        if self._text(here - 1) in ("this", "that") and self._closes(here + 1):
            return False  # "too far to call this hateful"
        before = [self._text(place) for place in range(max(first, here - 2), here)]
        if not _DEFINITE & set(before) or self._text(here).endswith(("ing", "ed")):
            return False
        if self._text(first - 2) in _COPULAS or self._text(first - 1) in _COPULAS_DENIED:
            return False  # "it is not the hateful text that one might expect"
        head = next((p for p in range(first, here) if len(self._text(p)) > 2), first)
        behind = {word.text for word in self.words[here : here + HUMANE]}
        if self._text(head) == "make" and behind & _MILDER:
            return True
        return not (
            self._is(head, self.classes.transparent) or self._is(head, self.classes.targets)
        )


def denied_here(reading: SentenceReading, position: int) -> Denial | None:
    """The denial of what stands there; one of an attack rather than of a presence.

    "Cannot mention X without insulting them" denies no attack: the one in its scope holds.
    """
    over = reading.denials_over(position)
    if len(over) % 2 == 0:
        return None
    found = next((one for one in over if one.attack), over[0])
    inside = reading.attacks_from(found.start, found.end)
    held = all(len(reading.denials_over(start)) % 2 == 0 for start, _ in inside)
    return None if inside and held else found


def denied_later(
    reading: SentenceReading, end: int, others: Sequence[Span]
) -> Literal["attack", "presence"] | None:
    """ "X are mentioned but not attacked", "X do not come up": denied of a subject.

    others: further mentions; a list of them is one subject.
    """
    classes = word_classes()
    first = bisect_left(reading.words, end, key=lambda word: word.start)
    following = reading.words[first : first + BETWEEN + NEAR]
    for place, word in enumerate(following[:BETWEEN]):
        negates = word.text in classes.negators or word.text.endswith("n't")
        if negates:
            return _denies(reading, following[place + 1 : place + 1 + BETWEEN])
        listed = any(start <= word.start < stop for start, stop in others)
        if not (listed or word.text in classes.between or word.text == ","):
            return None
    return None


def _denies(
    reading: SentenceReading, scope: Sequence[SentenceWord]
) -> Literal["attack", "presence"] | None:
    """ "attacked", "its target", "attacks them"; "mentioned", "come up"; not "only attacked"."""
    classes = word_classes()
    for place, word in enumerate(scope):
        attack = _is_denied_attack(reading, word)
        passive = attack and word.text.endswith(("ed", "en"))
        near = [one.text for one in scope[place + 1 : place + 1 + NEAR]]
        pronoun = attack and (near[:1] in (["them"], ["him"]) or _said_of_them(near))
        if passive or pronoun or word.text in classes.targets:
            return "attack"
        if not classes.presence.isdisjoint(word.forms):
            return "presence"
        if not (attack or word.text in classes.passing or word.text.endswith("ly")):
            return None
    return None


def _said_of_them(near: Sequence[str]) -> bool:
    """ "nothing hostile is said about them": the words behind "hostile"."""
    return any(
        one in ("about", "of", "against", "to", "at", "toward", "towards") and two == "them"
        for one, two in pairwise(near)
    )


def _is_denied_attack(reading: SentenceReading, word: SentenceWord) -> bool:
    near = reading.attacks_from(word.start - LONGEST_ATTACK, word.end)
    return any(
        start <= word.start < end and len(reading.denials_over(start)) % 2 == 1
        for start, end in near
    )
