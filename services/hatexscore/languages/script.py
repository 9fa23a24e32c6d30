"""Which of the three languages a text is written in, told by its script.

Words are compared, not characters, because a Chinese explanation may quote English words: a Latin
word counts 1, two Han characters count 1, three Hangul syllables count 1 (rough word lengths).
Every other script falls through to English, Japanese with more Kana than Han included.
"""

from __future__ import annotations

import re

from services.hatexscore.languages.word import Language

_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019-][A-Za-z\u00c0-\u024f]+)*")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")

HAN_PER_WORD = 2
HANGUL_PER_WORD = 3


def detect(text: str) -> Language:
    """Korean, Chinese, or else English; on a tie the rarer script wins."""
    latin = len(_LATIN_WORD.findall(text))
    han = len(_HAN.findall(text))
    hangul = len(_HANGUL.findall(text)) / HANGUL_PER_WORD
    chinese = 0.0 if len(_KANA.findall(text)) > han else han / HAN_PER_WORD
    if hangul and hangul >= max(chinese, latin):
        return "ko"
    if chinese and chinese >= latin:
        return "zh"
    return "en"
