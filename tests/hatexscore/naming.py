"""Ask for the groups that a text names, its quotations read by a simple pattern."""

from __future__ import annotations

import re

from services.hatexscore.groups import GroupMention, mentions, target_group_identified
from services.hatexscore.languages import Language, Span, detect
from services.hatexscore.lexicons import load


def quoted(text: str) -> list[Span]:
    return [found.span(1) for found in re.finditer(r'["“]([^"”]*)["”]', text)]


def found_in(
    text: str, policy: str = "un", *, hateful: bool = True, language: Language | None = None
) -> list[GroupMention]:
    spoken = language or detect(text)
    lexicon = load(policy, spoken)
    return mentions(text, spoken, lexicon, hateful=hateful, quotations=quoted(text))


def identified(text: str, *, hateful: bool = True) -> bool:
    return target_group_identified(found_in(text, hateful=hateful))
