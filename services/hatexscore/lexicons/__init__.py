"""The protected groups of four policies, as data, and how they are read."""

from __future__ import annotations

from services.hatexscore.lexicons.lexicon import (
    Category,
    Entry,
    Kind,
    Lexicon,
    available,
    custom,
    load,
)

__all__ = ["Category", "Entry", "Kind", "Lexicon", "available", "custom", "load"]
