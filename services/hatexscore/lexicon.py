"""A policy's list of protected groups in one language: one of four built-in policies, or a custom
list. Printed terms and our additions are separate. Source: Hu & Lee, EACL 2026 (arXiv:2601.13547),
§3.3 and appendix A.6: lists of the UN, Meta, Twitter and YouTube."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from services.hatexscore.contract import POLICY_LANGUAGES
from services.hatexscore.words import Language
from shared.contracts.errors import BadInput
from shared.process.cached import cached_property

FOLDER = Path(__file__).parent / "data" / "lexicons"
NAMES = Path(__file__).parent / "data" / "groups"
CUSTOM = "custom"
WITHOUT_TABLE = ("de", "fr", "es", "it", "pt")  # languages that the paper prints no list in
DEMONYM_CONCEPTS = frozenset({"nation", "race"})

NameLanguage = Literal["en", "zh", "ko", "de", "fr", "es", "it", "pt"]

Kind = Literal["term", "added", "demonym", "category_term", "slur_alias"]


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """One expression to look for, and the group that it names."""

    term: str
    group: str
    category: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Category:
    """A category of a policy. Its entries of the kinds `term` and `slur_alias` are printed in the
    paper, and they come first. This project added the others. A `category_term` is a word for the
    category itself (race, religion), which does not name a group."""

    name: str
    entries: tuple[LexiconEntry, ...]


@dataclass(frozen=True)
class Lexicon:
    """The categories of one policy. `language` is None for a user's own dictionary."""

    policy: str
    language: NameLanguage | None
    categories: tuple[Category, ...]

    @property
    def category_names(self) -> tuple[str, ...]:
        return tuple(category.name for category in self.categories)

    @property
    def printed_terms(self) -> tuple[str, ...]:
        """Return every term of the paper's table, including slurs, in order and without
        duplicates."""
        printed = (entry.term for entry in self.entries() if entry.kind in ("term", "slur_alias"))
        return tuple(dict.fromkeys(printed))

    @property
    def characters(self) -> int:
        """The total length of all expressions in characters."""
        return sum(len(entry.term) for entry in self.entries())

    @cached_property
    def single_words(self) -> frozenset[str]:
        """The expressions without a space, in lower case."""
        return frozenset(entry.term.casefold() for entry in self.entries() if " " not in entry.term)

    def entries(self) -> tuple[LexiconEntry, ...]:
        return tuple(entry for category in self.categories for entry in category.entries)


@lru_cache(maxsize=16)
def load_lexicon(policy: str, language: NameLanguage) -> Lexicon:
    """Return the list of `policy` in `language`: the printed terms and the names that we add. Only
    English, Korean and Chinese lists have printed terms. Raises BadInput for an unknown policy, or
    for one without Korean or Chinese tables."""
    printed = language not in WITHOUT_TABLE
    table_language = language if printed else "en"
    if table_language not in POLICY_LANGUAGES.get(policy, ()):
        lists = "; ".join(
            f"{name} ({', '.join(languages)})" for name, languages in POLICY_LANGUAGES.items()
        )
        raise BadInput(
            f"the policy '{policy[:64]}' has no list in the language '{language}'; "
            f"choose one of: {lists}",
            pointer="/options/policy",
        )
    path = FOLDER / f"{policy}.{table_language}.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["categories"]
    names = json.loads((NAMES / f"{language}.json").read_text(encoding="utf-8"))
    if not printed:
        tables = {
            name: {**table, "terms": [], "slur_aliases": []} for name, table in tables.items()
        }
    terms = {term for table in tables.values() for term in table["terms"]}
    terms |= {alias["term"] for table in tables.values() for alias in table["slur_aliases"]}
    categories = tuple(_category(name, table, names, terms) for name, table in tables.items())
    return Lexicon(policy, language, categories)


def _category(name: str, table: dict[str, Any], names: dict[str, Any], taken: set[str]) -> Category:
    """Combine a category as printed in the paper with further names of its concepts. Names in
    `taken` are left out, and the new names are added to it."""
    concepts_by_name = names["concepts"]
    concepts = [
        concepts_by_name[concept] for concept in table["concepts"] if concept in concepts_by_name
    ]
    added = {
        form: base
        for concept in concepts
        for base, forms in concept["names"].items()
        for form in forms
    }
    demonyms = names["demonyms"] if DEMONYM_CONCEPTS & set(table["concepts"]) else {}
    peoples = {form: country for country, forms in demonyms.items() for form in forms}
    fresh = {
        form: added.get(form) or peoples[form] for form in added | peoples if form not in taken
    }
    taken.update(fresh)
    pairs: list[tuple[Kind, Iterable[tuple[str, str]]]] = [
        ("term", ((term, term) for term in table["terms"])),
        ("slur_alias", ((alias["term"], alias["group"]) for alias in table["slur_aliases"])),
        ("added", (pair for pair in fresh.items() if pair[0] in added)),
        ("demonym", (pair for pair in fresh.items() if pair[0] not in added)),
        ("category_term", ((word, word) for each in concepts for word in each["category_terms"])),
    ]
    entries = (LexiconEntry(*pair, name, kind) for kind, of_kind in pairs for pair in of_kind)
    return Category(name, tuple(entries))


def custom_lexicon(dictionary: Mapping[str, Sequence[str]]) -> Lexicon:
    """Return a lexicon of the caller's own groups. `dictionary` maps a category to its terms."""
    categories = (
        Category(
            name, tuple(LexiconEntry(term, term, name, "term") for term in dict.fromkeys(terms))
        )
        for name, terms in dictionary.items()
    )
    return Lexicon(CUSTOM, None, tuple(categories))


IRREGULAR = {
    "children": "child",
    "peoples": "people",
    "persons": "person",
    "dwarves": "dwarf",
    "turkmen": "turkmen",
}


def singular(word: str) -> str:
    """Return the singular of a word by rules. A word that is not a plural is unchanged."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("men"):
        return word[:-2] + "an"
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and len(word) > 3:
        return word[:-1]
    return word


# One group under several names of the lists.
_SAME = {
    name: names[0]
    for names in (
        ("muslim", "islam", "islamic", "moslem", "islamophobia", "islamophobic"),
        ("무슬림", "이슬람", "이슬람교도", "이슬람교"),
        ("jew", "jewish", "judaism", "antisemitism", "antisemitic"),
        ("유대인", "유대교도", "유대교인"),
        ("women", "female", "girls", "misogyny", "misogynist", "misogynistic"),
        ("여성", "여자", "소녀"),
        ("men", "male", "boys"),
        ("gay", "lgbt", "homosexual", "gay men", "homophobia", "homophobic", "lgbtq", "lgbtq+"),
        ("immigrant", "migrant", "foreigner", "xenophobia", "xenophobic"),
        ("이주민", "이민자"),
        ("christian", "christianity"),
        ("roma", "romani", "romany", "romanies", "gypsy", "traveller", "traveler"),
        ("dalit", "scheduled caste", "harijan"),
        ("罗姆人", "吉普赛人", "吉普赛", "罗姆族"),
        ("로마니", "로마인", "롬인", "롬족", "집시", "집시족"),
        ("hindu", "hinduism"),
        ("buddhist", "buddhism"),
        ("sikh", "sikhism"),
        ("catholic", "catholicism"),
        ("女性", "女人", "女孩", "女生", "妇女", "女"),
        ("男性", "男人", "男孩", "男生", "男"),
        ("disabled", "disabled people", "people with disabilities"),
        ("black", "african american", "african"),
    )
    for name in names
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextGroups:
    """The groups that a text names. If `same_language` is False, they cannot be compared with the
    explanation's groups."""

    groups: frozenset[str]
    same_language: bool

    def names(self, group: str) -> bool | None:
        """Return True if the text names this group. Return None if the groups of the text are
        unknown, or if text and explanation differ in language."""
        if not self.groups or not self.same_language:
            return None
        name = canonical_group(group)
        return name in self.groups or any(_share_a_word(name, one) for one in self.groups)


UNKNOWN_GROUPS = TextGroups(frozenset(), same_language=False)

# Words of many names, which tell no group.
_OF_MANY = frozenset(["people", "person", "persons", "community", "communities", "american"])
_LEAST = 5  # letters of a shared beginning: transgender, trans people; not Roma, Romanian


def _share_a_word(name: str, other: str) -> bool:
    """Return True if a word of one name equals or begins a word of the other, as in "gay" and "gay
    people"."""
    return any(
        a == b or (min(len(a), len(b)) >= _LEAST and (a.startswith(b) or b.startswith(a)))
        for a in set(name.casefold().split()) - _OF_MANY
        for b in set(other.casefold().split()) - _OF_MANY
    )


def canonical_group(group: str) -> str:
    """Return a normalised group name for comparisons. The returned name may not be an actual
    word."""
    return _synonym(group) or singular(group.lower())


def group_name(group: str) -> str:
    """Return the name under which a group is counted. Synonyms share one name."""
    return _synonym(group) or group


def _synonym(group: str) -> str | None:
    lower = group.lower()
    bare = " ".join(word for word in lower.split() if word not in _OF_MANY)
    forms = (lower, singular(lower), bare, singular(bare))
    return next((_SAME[form] for form in forms if form in _SAME), None)


def lexicon_names(policy: str | dict[str, Any], language: Language) -> frozenset[str]:
    """Return single words, in lower case, that name a group. The set is empty if the policy has no
    list."""
    try:
        lexicon = (
            custom_lexicon(policy) if isinstance(policy, dict) else load_lexicon(policy, language)
        )
    except BadInput:
        return frozenset()
    return lexicon.single_words
