"""English: expressions as sequences of words, plural or singular, hyphen or not.

A lemma is taken for plurals only: the lemma of "blinds" is a group's name, and so is the lemma of
"disables", but neither names anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from services.hatexscore.groups.mention import FoundAs
from services.hatexscore.groups.passage import Passage
from services.hatexscore.groups.tree import Match, Node
from services.hatexscore.languages import Word, words
from services.hatexscore.lexicons import Entry, Lexicon

HYPHENS = frozenset("-\u2010\u2011\u2013")
LONGEST_GAP = 3  # characters: " - "
IRREGULAR = {"children": "child", "peoples": "people", "persons": "person", "dwarves": "dwarf"}

Forms = tuple[str, ...]


def candidates(passage: Passage, lexicon: Lexicon) -> Iterator[Match]:
    """The longest expression at each word, overlaps not yet removed."""
    tree = _tree(lexicon)
    plain = [word for word in passage.words if word.text not in HYPHENS]
    forms = [_forms(word) for word in plain]
    for first in range(len(plain)):
        ends = [
            (end, entry)
            for end, entry in _ends(forms, first, tree)
            if _together(passage.text, plain[first:end])
        ]
        if ends:
            end, entry = max(ends, key=lambda found: found[0])
            found = plain[first:end]
            yield Match(entry, found[0].start, found[-1].end, _found_as(entry, found))


@lru_cache(maxsize=16)
def _tree(lexicon: Lexicon) -> Node:
    """Each expression as it stands, and in the singular."""
    root = Node()
    for entry in lexicon.entries():
        found = _lower(entry.term)
        if found:
            root.add(found, entry)
            root.add((*found[:-1], singular(found[-1])), entry)
    return root


def _lower(term: str) -> Forms:
    """The words of an expression without its hyphens."""
    return tuple(w.text.lower() for w in words(term, "en") if w.text not in HYPHENS)


def _forms(word: Word) -> Forms:
    """What a word of the passage may match: itself, and its singular."""
    lower = word.text.lower().replace("\u2019", "'")
    found = {lower: None, singular(lower): None}
    if lower.endswith(("s", "men", "children")):
        found[word.lemma] = None
    return tuple(found)


def singular(word: str) -> str:
    """The singular by rule; a word that is no plural stays as it is."""
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


def _ends(forms: Sequence[Forms], position: int, node: Node) -> Iterator[tuple[int, Entry]]:
    """Every (end, entry) of an expression that runs on from `position`."""
    if node.entry is not None:
        yield position, node.entry
    if not node.children or position >= len(forms):
        return
    for form in forms[position]:
        if form in node.children:
            yield from _ends(forms, position + 1, node.children[form])


def _together(text: str, found: Sequence[Word]) -> bool:
    """Do the words stand side by side in one line, at most a hyphen between them?"""
    gaps = (text[left.end : right.start] for left, right in pairwise(found))
    return all(len(gap) <= LONGEST_GAP and "\n" not in gap for gap in gaps)


def _found_as(entry: Entry, found: Sequence[Word]) -> FoundAs:
    """As printed, plural, singular of a printed plural; or the layer that it is from."""
    if entry.kind != "term":
        return entry.kind
    printed, seen = entry.term.split()[-1], found[-1].text.lower()
    if printed.endswith(seen):
        return "term" if printed == seen or "-" in printed or "'" in printed else "lemma"
    return "plural" if len(seen) > len(printed) or singular(seen) == printed else "lemma"
