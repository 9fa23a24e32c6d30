"""Ask for the groups that an explanation names, its quotations read by a simple pattern."""

from __future__ import annotations

import re
from typing import Any

from services.hatexscore.groups import GroupText, read_mentions
from services.hatexscore.lexicon import NameLanguage, load_lexicon
from services.hatexscore.words import Span, detect_language


def quoted(text: str) -> list[Span]:
    return [found.span(1) for found in re.finditer(r'["“]([^"”]*)["”]', text)]


def found_in(
    text: str, policy: str = "un", *, hateful: bool = True, language: NameLanguage | None = None
) -> list[Any]:
    spoken = language or detect_language(text)
    lexicon = load_lexicon(policy, spoken)
    [found] = read_mentions([GroupText(text, spoken, lexicon, quoted(text))], [hateful])
    return found


def identified(text: str, *, hateful: bool = True) -> bool:
    return any(mention.counts for mention in found_in(text, hateful=hateful))
