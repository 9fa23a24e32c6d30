"""The words that decide whether a mention counts, per language: data, not code.

`cues.{language}.json` is our own work; the paper says only "NER and part-of-speech patterns to
check for direct relationships (e.g., verbs, adjectives)" (§3.3). Each pattern there is a `form`
whose `%s` stands for the alternatives in `any`. A form cuts words only where that can matter,
before a last "and" and before `%s`: one that may cut them anywhere tries every way to.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.hatexscore.languages import Language

HERE = Path(__file__).parent

Words = frozenset[str]
Pattern = re.Pattern[str]


@dataclass(frozen=True)
class Cues:
    """One language's cues. Patterns `…_before` and `…_after` look at what surrounds a mention.

    negators:          open a denial, unless a word of `cancelling` ("not only") or of `rejecting`
                       ("does not respect") follows; the latter is an attack.
    clause_ends:       close a denial, as does a comma before one of `comma_starters`.
    linking:           Korean: endings that close a clause if a comma follows.
    deniable:          Korean: a negation denies if one of these, or a predicate, stands before it.
    suffixes:          what may follow a term inside the analyser's longer word (人 + 群).
    needs_person_noun: terms that are ordinary words too, such as colours.
    """

    negators: Words
    cancelling: Words
    rejecting: Words
    clause_ends: Words
    comma_starters: Words
    linking: Words
    deniable: Words
    suffixes: Words
    needs_person_noun: Words
    group_of: Words
    capital_is_enough: Words
    needs_capital: Words
    needs_upper: Words
    needs_plural: Words
    demonym_suffix: str
    patterns: dict[str, Pattern]

    def says(self, name: str, text: str) -> bool:
        """Does the pattern `name` occur in `text`?"""
        return bool(self.patterns[name].search(text))


@lru_cache(maxsize=3)
def cues(language: Language) -> Cues:
    """The cues of `language`, read once."""
    content = json.loads((HERE / f"cues.{language}.json").read_text(encoding="utf-8"))
    patterns = {name: _compile(made) for name, made in content.pop("patterns").items()}
    suffix = content.pop("demonym_suffix")
    lists = {name: frozenset(words) for name, words in content.items()}
    return Cues(**lists, demonym_suffix=suffix, patterns=patterns)


def _compile(made: dict[str, Any]) -> Pattern:
    """Longer alternatives first, so that the longest wins."""
    alternatives = sorted(made["any"], key=len, reverse=True)
    form = str(made["form"]).replace("%s", "|".join(alternatives))
    return re.compile(form, re.IGNORECASE)
