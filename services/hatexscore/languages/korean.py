"""Korean morphemes by kiwipiepy (the paper names KoNLPy, which needs a Java runtime and is slower).

A word here is a morpheme, so that a noun stands apart from its particle: 무슬림은 is 무슬림 + 은.
Kiwi counts code points, as Python does. Morphemes of a contraction share characters (한 is 하 and
ㄴ), so neighbours may overlap; one that owns no character at all is dropped.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any

from services.hatexscore.languages.word import Word, is_word
from shared.segments import segments

# Particles, endings, suffixes, copula, auxiliary verbs, determiners, pronouns.
FUNCTION_TAGS = ("J", "E", "XS", "VCP", "VX", "MM", "NP")

LONGEST_RUN = 1_000  # characters without a blank; kiwi takes time by the square of it

_lock = Lock()


@lru_cache(maxsize=1)
def _kiwi() -> Any:
    """Load the model once (about two seconds, on one thread: the worker has threads of its own)."""
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


@lru_cache(maxsize=1)
def _match_options() -> Any:
    """All but serial numbers: kiwi takes "1. 1." for one, across the end of a sentence."""
    from kiwipiepy import Match

    return Match.ALL & ~Match.SERIAL


def words(text: str) -> list[Word]:
    """Morphemes of `text`; verbs and adjectives have the dictionary form (…다) as lemma."""
    with _lock:
        kiwi = _kiwi()
    found = (
        _word(text, token, begin)
        for begin, end in segments(text, LONGEST_RUN)
        for token in kiwi.tokenize(text[begin:end], match_options=_match_options())
    )
    return [word for word in found if word.start < word.end]


def _word(text: str, token: Any, begin: int) -> Word:
    start = begin + int(token.start)
    end = start + int(token.len)
    cut = text[start:end]
    is_stop = str(token.tag).startswith(FUNCTION_TAGS)
    return Word(cut, str(token.lemma).lower(), start, end, is_stop, is_word(cut))
