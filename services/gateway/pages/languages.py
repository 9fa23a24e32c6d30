"""The language of a text, as far as its script tells: for line breaks, fonts and voices.

Unicode 17.0, blocks of Hangul, Hiragana, Katakana and CJK Unified Ideographs.
"""

from __future__ import annotations

import re

MOST_LOOKED = 2_000  # characters: the script shows early
MOST_OTHERS = 2  # letters of other scripts a letter of these: an English text with a name in it
FEWEST = 0.05  # of the letters: below that a word is quoted

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003347f]")


def language_of(text: str) -> str:
    """`ko`, `ja` or `zh`; empty (HTML: not known) for every other script and for too few of these.

    Korean where there is Hangul, Japanese where there is kana, else Chinese: a text of Han alone
    can be Japanese or Korean too.
    """
    begin = text[:MOST_LOOKED]
    hangul, kana, han = (len(script.findall(begin)) for script in (_HANGUL, _KANA, _HAN))
    eastern = hangul + kana + han
    others = sum(map(str.isalpha, begin)) - eastern
    if not eastern or others > MOST_OTHERS * eastern:
        return ""
    if max(hangul, kana) <= FEWEST * eastern:
        return "zh"
    return "ko" if hangul >= kana else "ja"
