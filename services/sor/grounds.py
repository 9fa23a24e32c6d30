"""The ground of a decision: which provision of which law, or which clause of which policy.

Source: Regulation (EU) 2022/2065, Article 17(3)(d) and (e): "a reference to the legal ground",
"a reference to the contractual ground". A reference names a number or a subject; "our Community
Guidelines" alone, or "applicable law", names the document and leaves its reader to search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from services.sor.concepts import ReadSentence
from services.sor.lexicon import (
    CLAUSE,
    LAW_NOUNS,
    OF_THE_WHOLE,
    ORDINALS,
    POLICY_NOUNS,
    TIES,
    UNTOLD_LAW,
)
from services.sor.sentences import StatementWord, quotations, words

VAGUE = 0.0  # it names where to search, not the ground
OF_THE_DSA = frozenset(
    ("14", "16", "17", "20", "21", "22", "24")
)  # articles on notices, statements, redress
LONGEST_NAME = 8  # words behind a document's name in which its subject stands


def ground_of(one: ReadSentence, text: str) -> float | None:
    """1 where a provision or a clause is named, 0 where only a document is, None without either."""
    if not one.any_of("law", "policy") and not _cites_number(one):
        return None
    if "provisions" in one and "policy" not in one and not _other_law(one):
        return None
    if _cites_number(one) or _names_law(one) or _names_clause(one, text):
        return 1.0
    return VAGUE if "broken" in one else None


def _cites_number(one: ReadSentence) -> bool:
    """Such as "section 4.2", "§ 130", "rule no. 5", "the third rule". A clause with a dotted number
    needs no word of rules beside it."""
    found = one.folded
    tied = one.any_of("law", "policy", "broken")
    for place, (word, upcoming) in enumerate(pairwise(found)):
        if "provisions" in one and upcoming in OF_THE_DSA:
            continue
        if word in CLAUSE and _is_number(found, place + 1):
            return tied or word.startswith("\u00a7") or "." in found[place + 1]
        if word in ORDINALS and upcoming in CLAUSE and word.endswith(("t", "d", "h")):
            return tied
    return False


def _is_number(found: Sequence[str], place: int) -> bool:
    word = found[place]
    if word in ("no", "nr", "number", "numbers", "\u00a7") and place + 1 < len(found):
        return found[place + 1][0].isdigit() or found[place + 1] in ORDINALS
    if word[0].isdigit():
        return not (len(word) == 4 and word.startswith(("19", "20")))
    return word in ORDINALS or (len(word) == 1 and word.isalpha() and word != "a")


def _other_law(one: ReadSentence) -> bool:
    return _names_law(one) or any(
        word in ("code", "criminal", "penal", "\u00a7") for word in one.folded
    )


def _names_law(one: ReadSentence) -> bool:
    """Such as "the Tobacco Products Act", "trade mark law": a law by its subject."""
    found = one.sentence.words
    for before, noun in pairwise(found):
        if noun.folded in LAW_NOUNS and before.folded not in UNTOLD_LAW | OF_THE_WHOLE:
            written = noun.text[0].isupper() and before.text[0].isupper()
            if written or noun.folded == "law":
                return True
    return any(word.folded in ("stgb", "gdpr", "dsgvo", "copyright", "urhg") for word in found)


def _names_clause(one: ReadSentence, text: str) -> bool:
    """Such as "our spam policy", "the rule against touting", "Guidelines (Harassment)"."""
    if "policy" not in one:
        return False
    found = one.sentence.words
    for place, word in enumerate(found):
        if word.folded in POLICY_NOUNS and (
            _has_subject_before(found, place) or _has_subject_after(found, place, text)
        ):
            return True
    start, end = one.sentence.span
    written = text[start : end + 1]
    return any(_is_title(written[a:b]) for a, b in quotations(written))


def _is_title(quoted: str) -> bool:
    """A quotation that is not of the post, in a sentence about rules."""
    return any(_is_subject(word) for word in words(quoted))


def _has_subject_before(found: Sequence[StatementWord], place: int) -> bool:
    return place > 0 and _is_subject(found[place - 1]) and found[place - 1].folded not in TIES


def _has_subject_after(found: Sequence[StatementWord], place: int, text: str) -> bool:
    """A subject after "on", "against", "that forbid", a colon, a dash or a bracket."""
    behind = found[place + 1 : place + 1 + LONGEST_NAME]
    if not behind:
        return False
    gap = text[found[place].end : behind[0].start]
    tied = behind[0].folded in TIES or any(mark in gap for mark in "(:\u2013\u2014->/")
    if behind[0].folded in ("which", "that") and len(behind) > 1:
        tied = behind[1].folded in TIES
    return tied and _contains_subject(behind)


def _contains_subject(behind: Sequence[StatementWord]) -> bool:
    """Whether a subject comes before the sentence goes on: "terms of use your offer" has none."""
    for word in behind:
        if _is_subject(word):
            return True
        if word.folded in GOES_ON:
            return False
    return False


GOES_ON = frozenset(("your", "you", "was", "were", "is", "are", "has", "have", "been", "we", "it",
                     "because", "since", "as", "so", "and", "therefore"))  # fmt: skip


def _is_subject(word: StatementWord) -> bool:
    return word.is_content and word.folded not in OF_THE_WHOLE and not word.folded[0].isdigit()


def reference_of(text: str) -> float:
    """Of a field that holds nothing but the ground: 1 with a number or a subject, else 0.5."""
    found = words(text)
    numbered = any(word.folded[0].isdigit() for word in found)
    return 1.0 if numbered or any(_is_subject(word) for word in found) else VAGUE


def words_of_policy(policy: str) -> frozenset[str]:
    """Numbers as written, all else as stems."""
    return frozenset(
        word.folded if word.folded[0].isdigit() else word.stem for word in words(policy)
    )


def matches_policy(known: frozenset[str], one: ReadSentence) -> bool:
    """Whether a number that the sentence cites is one of the policy's, or every second word of
    its subject is. known: numbers and stems of the policy."""
    cited = {word.folded for word in one.sentence.words if word.folded[0].isdigit()}
    if cited & known:
        return True
    named = {word.stem for word in one.sentence.words if _is_subject(word)}
    return bool(named) and not cited and 2 * len(named & known) >= len(named)
