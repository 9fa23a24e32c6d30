"""Ask for the groups that a text names, its quotations read by a simple pattern."""

from __future__ import annotations

import re

from services.hatexscore.group_terms import GroupMention, read_passage
from services.hatexscore.groups import find_mentions, target_group_identified
from services.hatexscore.lexicon import load_lexicon
from services.hatexscore.words import Language, Span, detect_language


def quoted(text: str) -> list[Span]:
    return [found.span(1) for found in re.finditer(r'["“]([^"”]*)["”]', text)]


def found_in(
    text: str, policy: str = "un", *, hateful: bool = True, language: Language | None = None
) -> list[GroupMention]:
    spoken = language or detect_language(text)
    lexicon = load_lexicon(policy, spoken)
    return find_mentions(read_passage(text, spoken, quoted(text)), lexicon, hateful=hateful)


def identified(text: str, *, hateful: bool = True) -> bool:
    return target_group_identified(found_in(text, hateful=hateful))
