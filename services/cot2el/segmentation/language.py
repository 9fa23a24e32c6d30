"""Which rules a text needs, by its letters."""

from __future__ import annotations

import re

from services.cot2el.segmentation.units import Language

LETTERS: tuple[tuple[Language, re.Pattern[str]], ...] = (
    ("ko", re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")),
)
LATIN = re.compile(r"[A-Za-z]")


def detected(text: str) -> Language:
    """The language whose letters are the most, a syllable or an ideograph counting as three.

    Chinese characters in a text with kana are Japanese. Anything else is read by the rules for
    English.
    """
    counts = {language: 3 * len(letters.findall(text)) for language, letters in LETTERS}
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > len(LATIN.findall(text)) else "en"
