"""Apostrophes as keyboards have them, one character for one, so that offsets stay."""

from __future__ import annotations

# Right single quotation mark, modifier letter apostrophe, full-width apostrophe.
_STRAIGHT = str.maketrans(dict.fromkeys("\u2019\u02bc\uff07", "'"))


def straighten_apostrophes(text: str) -> str:
    """Of the same length; what patterns, tokenizers and parsers of English are written for."""
    return text.translate(_STRAIGHT)
