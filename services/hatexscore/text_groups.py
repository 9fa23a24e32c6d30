"""The groups that the moderated text itself names, to compare those of the explanation with.

Source: our own. One group stands in the lists under several names; a slur names its group here.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.hatexscore.group_terms import find_terms, load_cues, read_passage, singular
from services.hatexscore.lexicon import Lexicon
from services.hatexscore.words import Language

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
    """groups: as the lists call them; same_language: as the explanation's, else they cannot be
    compared."""

    groups: frozenset[str]
    same_language: bool

    def names(self, group: str) -> bool | None:
        """Does the text name this group? None where it names none, or in another language."""
        if not self.groups or not self.same_language:
            return None
        return canonical_group(group) in self.groups


def groups_of_text(
    text: str, language: Language, lexicon: Lexicon, explained_in: Language
) -> TextGroups:
    """Slurs name their group here, unlike in an explanation; categories name none."""
    passage, cues = read_passage(text, language, ()), load_cues(language)
    found = frozenset(
        canonical_group(match.entry.group)
        for match in find_terms(passage, lexicon)
        if match.entry.kind != "category_term" and match.entry.term not in cues.needs_person_noun
    )
    return TextGroups(found, language == explained_in or lexicon.language is None)


def canonical_group(group: str) -> str:
    lower = group.lower()
    return _SAME.get(lower) or _SAME.get(singular(lower)) or singular(lower)
