"""Chinese and Korean: expressions as sequences of characters between word borders.

Spaces are skipped (이주 노동자 is 이주노동자), borders are not: 非 is no group in 非仇恨, nor
印度教 in 印度|教育. A term may stop inside the analyser's word if a person suffix or an attack is
left over (黑人|群, 种族|歧视).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from services.hatexscore.groups.cues import Cues, cues
from services.hatexscore.groups.passage import Passage
from services.hatexscore.groups.tree import Match, Node
from services.hatexscore.languages import Word
from services.hatexscore.lexicons import Entry, Lexicon

SHORTEST = 2  # characters of a term that may stop inside a word: not 女 in 女性
SPACES = frozenset(" \u00a0\u3000")


@dataclass(frozen=True)
class Borders:
    """Where words start and end, which ends are a determiner's, and who holds a character."""

    starts: frozenset[int]
    ends: frozenset[int]
    stops: frozenset[int]
    holder: dict[int, Word]


def candidates(passage: Passage, lexicon: Lexicon) -> Iterator[Match]:
    """The longest expression at each word border, overlaps not yet removed."""
    tree, known, borders = _tree(lexicon), cues(passage.language), _borders(passage)
    for start in sorted(borders.starts):
        ends = [
            (end, entry)
            for end, entry in _ends(passage.text, start, tree)
            if _may_end(passage.text, start, end, borders, known)
        ]
        if ends:
            end, entry = max(ends, key=lambda found: found[0])
            people = _people(passage.text, (end, entry), borders, known)
            found_as = "demonym" if people > 0 else entry.kind
            yield Match(entry, start, max(end, people), found_as)


@lru_cache(maxsize=16)
def _tree(lexicon: Lexicon) -> Node:
    """Each expression without its spaces, in lower case."""
    root = Node()
    for entry in lexicon.entries():
        path = tuple(c.lower() for c in entry.term if c not in SPACES)
        if path:
            root.add(path, entry)
    return root


def _borders(passage: Passage) -> Borders:
    """A particle or an ending starts no expression, nor does an inflected verb end one."""
    starts = frozenset(_starts(passage))
    ends = frozenset(word.end for word in passage.words if not _is_inflected(word))
    stops = frozenset(word.end for word in passage.words if word.is_stop and _alone(passage, word))
    holder = {place: word for word in passage.words for place in range(word.start, word.end)}
    return Borders(starts, ends, stops, holder)


def _starts(passage: Passage) -> Iterator[int]:
    """Word starts, and where a word begins with an attack: 攻击性|少数 is 攻击 + 性少数."""
    predicates = cues(passage.language).patterns["predicates"]
    for word in passage.words:
        if passage.language == "zh" or not word.is_stop or _alone(passage, word):
            yield word.start
        attack = predicates.match(word.text)
        if attack and 0 < attack.end() < len(word.text):
            yield word.start + attack.end()


def _alone(passage: Passage, word: Word) -> bool:
    """Does white space, or nothing, stand before it? Then it is no particle and no ending."""
    return not passage.text[max(0, word.start - 1) : word.start].strip()


def _is_inflected(word: Word) -> bool:
    """A Korean verb stem has …다 in its lemma and not in the text."""
    return word.lemma.endswith("다") and word.lemma != word.text


def _ends(text: str, start: int, tree: Node) -> Iterator[tuple[int, Entry]]:
    """Every (end, entry) of an expression that begins at `start`; single spaces are skipped."""
    node, position, skipped = tree, start, False
    while position < len(text):
        if text[position] in SPACES and position > start and not skipped:
            position, skipped = position + 1, True
            continue
        following = node.children.get(text[position].lower())
        if following is None:
            return
        node, position, skipped = following, position + 1, False
        if node.entry is not None:
            yield position, node.entry


def _may_end(text: str, start: int, end: int, borders: Borders, known: Cues) -> bool:
    """At a word's end; or, two characters and more, before a suffix inside the word.

    Never across a space that follows a determiner: 이 주민 (these residents) is not 이주민.
    """
    if any(text[place] in SPACES and place in borders.stops for place in range(start, end)):
        return False
    if end in borders.ends:
        return True
    holder = borders.holder.get(end)
    if holder is None or end - start < SHORTEST:
        return False
    rest = text[end : holder.end]
    return rest in known.suffixes or bool(known.patterns["predicates"].fullmatch(rest))


def _people(text: str, found: tuple[int, Entry], borders: Borders, known: Cues) -> int:
    """Where the mention ends if a country's name goes on as its people (미국 + 인), else -1."""
    end, entry = found
    suffix = known.demonym_suffix
    whole = end + len(suffix)
    if suffix and entry.kind == "term" and text.startswith(suffix, end) and whole in borders.ends:
        return whole
    return -1
