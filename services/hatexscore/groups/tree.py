"""A prefix tree of a lexicon's expressions."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.hatexscore.groups.mention import FoundAs
from services.hatexscore.lexicons import Entry, Kind

PREFERENCE: tuple[Kind, ...] = ("term", "added", "demonym", "slur_alias", "category_term")


@dataclass(frozen=True, slots=True)
class Match:
    """An expression of the lexicon at start:end of the explanation."""

    entry: Entry
    start: int
    end: int
    found_as: FoundAs


@dataclass(slots=True)
class Node:
    """A prefix of expressions; the edges are words (English) or characters (Chinese, Korean)."""

    children: dict[str, Node] = field(default_factory=dict)
    entry: Entry | None = None

    def add(self, path: tuple[str, ...], entry: Entry) -> None:
        """Insert; of two entries with the same path the preferred kind stays."""
        node = self
        for edge in path:
            node = node.children.setdefault(edge, Node())
        held = node.entry
        if held is None or PREFERENCE.index(entry.kind) < PREFERENCE.index(held.kind):
            node.entry = entry
