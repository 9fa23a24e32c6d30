"""A ground of discrimination named instead of a group: "a racial slur", "because of their race".

The paper's own example (table 3) identifies its target by "based on their race" alone. The released
code counts any occurrence of a category's name, "whatever the age of the account" included.
"""

from __future__ import annotations

from services.hatexscore.groups.cues import Cues
from services.hatexscore.groups.ordinary import around
from services.hatexscore.groups.passage import Passage
from services.hatexscore.groups.tree import Match


def is_ground(passage: Passage, match: Match, known: Cues) -> bool:
    """Is the category named as the ground of what is said about people?"""
    if known.says("standalone_category", passage.text[match.start : match.end]):
        return True
    before, after = around(passage, match)
    return known.says("category_before", before) or known.says("category_after", after)
