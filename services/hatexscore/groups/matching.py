"""Where the expressions of a lexicon occur in a passage: whole, and the longest first.

Deviates from the released code: full terms only (it also matches every prefix of a term), and
n-grams as long as the longest term (the paper stops at trigrams, where "democratic republic of the
congo" cannot be found).
"""

from __future__ import annotations

from services.hatexscore.groups import letters, wording
from services.hatexscore.groups.passage import Passage
from services.hatexscore.groups.tree import Match
from services.hatexscore.lexicons import Lexicon


def matches(passage: Passage, lexicon: Lexicon) -> list[Match]:
    """All expressions found, in order; of overlapping ones the first, and the longest there."""
    finder = wording if passage.language == "en" else letters
    kept: list[Match] = []
    for match in finder.candidates(passage, lexicon):
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept
