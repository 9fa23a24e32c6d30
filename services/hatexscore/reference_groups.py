"""Group identification as released: n-grams against every prefix of every term.

Source: Social-AI-Studio/HateXScore, `hatexscore/tgi.py` and the target list of `metrics/utils.py`
(terms and category names alike). So "down" is Down syndrome, and "non-hateful" is non-binary.
"""

from __future__ import annotations

import re
from functools import lru_cache

from services.hatexscore.languages import Language, Word, words
from services.hatexscore.lexicons import Lexicon
from services.hatexscore.report import GroupEvidence

LONGEST = 3  # tokens of an n-gram

# The released English UN list follows the grounds of the paper's Table 13 (Chinese), with peoples
# for countries, none of them hyphenated; here Table 13's category names, and its gender and age
# terms, in English.
_UN_ENGLISH = (
    *("race", "religion", "gender", "disability", "age", "caste", "migration"),
    *("women", "men", "female", "male", "transgender", "non-binary", "intersex", "cisgender"),
    *("children", "teenager", "youth", "adult", "senior"),
)
_COUNTRIES = "National"


def prefix_matches(
    explanation: str, language: Language, lexicon: Lexicon
) -> tuple[GroupEvidence, ...]:
    """Every n-gram of lemmas, n <= 3, that is a prefix of a term or of a category's name."""
    tokens = _lemmatized(explanation, language)
    prefixes = _prefixes(_terms(lexicon), language)
    return tuple(
        _evidence(explanation, tokens[first : first + length], prefixes)
        for first in range(len(tokens))
        for length in range(1, min(LONGEST, len(tokens) - first) + 1)
        if tuple(word.lemma for word in tokens[first : first + length]) in prefixes
    )


def _terms(lexicon: Lexicon) -> tuple[str, ...]:
    if (lexicon.policy, lexicon.language) != ("un", "en"):
        return (*lexicon.category_names, *lexicon.printed_terms)
    terms = list(_UN_ENGLISH)
    for category in lexicon.categories:
        if category.name == _COUNTRIES:
            terms += [people for people, _ in category.demonyms if "-" not in people]
        else:
            terms += [*category.terms, *(slur for slur, _ in category.slur_aliases)]
    return tuple(terms)


@lru_cache(maxsize=32)
def _prefixes(terms: tuple[str, ...], language: Language) -> dict[tuple[str, ...], str]:
    """Prefix (lemmas) -> the first term that it opens."""
    prefixes: dict[tuple[str, ...], str] = {}
    for term in terms:
        lemmas = [word.lemma for word in _lemmatized(term, language)]
        for length in range(1, min(LONGEST, len(lemmas)) + 1):
            prefixes.setdefault(tuple(lemmas[:length]), term)
    return prefixes


def _lemmatized(text: str, language: Language) -> list[Word]:
    """English keeps punctuation as tokens, as spaCy does; the others drop it."""
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if language == "en":
        return words(lowered, language)
    return words(re.sub(r"[^\w\s]", " ", lowered), language)


def _evidence(
    explanation: str, run: list[Word], prefixes: dict[tuple[str, ...], str]
) -> GroupEvidence:
    term = prefixes[tuple(word.lemma for word in run)]
    start, end = run[0].start, run[-1].end
    return GroupEvidence(
        start=start,
        end=end,
        text=explanation[start:end],
        group=term,
        category="",
        found_as="prefix",
        counts=True,
        reason="as released: a prefix of a listed term or category name",
    )
