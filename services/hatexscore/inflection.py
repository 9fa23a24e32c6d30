"""English inflection: the words that a word may be a form of, and the participles of a verb.

Source: our own; irregular forms are `data/irregular_forms.en.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FORMS = Path(__file__).parent / "data" / "irregular_forms.en.json"

# English words that are forms of one: by the endings of nouns and verbs, or by a list.
ENGLISH_WORD = re.compile(r"[A-Za-z]{2,24}(?:['\u2019][A-Za-z]{1,2})?")
POSSESSIVE = re.compile(r"['\u2019][sS]\Z")
_VOWEL = re.compile("[aeiouy]")
SHORTEST_FORM = 3  # letters: "bring" is no "br"


def base_forms(word: str) -> frozenset[str]:
    """The words that it may be an inflection of, itself among them: parasites, cheats, running.

    Endings of nouns and verbs, and irregular forms from a list; nothing that makes another part of
    speech of a word: "dirtiness" is not "dirty".
    """
    plain = POSSESSIVE.sub("", word.lower())
    found = {form for form in _stems(plain) if len(form) >= SHORTEST_FORM and _VOWEL.search(form)}
    return frozenset({plain, irregular_forms().get(plain, plain)} | found)


def _stems(word: str) -> Iterator[str]:
    for ending, put in _ENDINGS:
        if word.endswith(ending):
            stem = word[: len(word) - len(ending)]
            yield stem + put
            if not put and ending in ("ed", "ing") and len(stem) > 2 and stem[-1] == stem[-2]:
                yield stem[:-1]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]


_ENDINGS = (
    ("ies", "y"),
    *((f"{sibilant}es", sibilant) for sibilant in ("s", "x", "z", "ch", "sh", "o")),
    ("ves", "f"),
    ("ves", "fe"),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
)


@cache
def irregular_forms() -> dict[str, str]:
    """Irregular form → base form: "took" → "take"."""
    content = json.loads(FORMS.read_text(encoding="utf-8"))
    return {form: base for base, forms in content.items() for form in forms.split()}


_DOUBLED = re.compile(r"[^aeiou]?[aeiou][bdgklmnprt]\Z")


def participles(word: str) -> tuple[str, ...]:
    """What a verb may be in "should be ...": removed, flagged, denied, kept."""
    irregular = tuple(form for form, base in irregular_forms().items() if base == word)
    if word.endswith("e"):
        return (*irregular, f"{word}d")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return (*irregular, f"{word[:-1]}ied")
    doubled = (f"{word}{word[-1]}ed",) if _DOUBLED.search(word) else ()
    return (*irregular, f"{word}ed", *doubled)
