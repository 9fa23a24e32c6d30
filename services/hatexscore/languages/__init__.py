"""Words and sentences of an explanation, in the three languages of the paper, with exact offsets.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3: "language-appropriate tokenization (spaCy,
jieba or KoNLPy)". Law of this package: `text[word.start:word.end] == word.text`, for any Unicode.

Deviates: Korean goes through kiwipiepy, because KoNLPy needs a Java runtime and is slower.
"""

from __future__ import annotations

from functools import lru_cache

from services.hatexscore.languages import chinese, english, korean
from services.hatexscore.languages.script import detect
from services.hatexscore.languages.sentence import sentences
from services.hatexscore.languages.word import Language, Span, Word, without_surrogates

__all__ = ["Language", "Span", "Word", "detect", "sentences", "words"]

CACHED_LENGTH = 2_000  # characters; longer texts are analysed anew, so the cache stays small

_ANALYSERS = {"en": english.words, "zh": chinese.words, "ko": korean.words}


def words(text: str, language: Language) -> list[Word]:
    """The words and punctuation marks of `text`, in order; white space alone is no word."""
    if len(text) <= CACHED_LENGTH:
        return list(_cached(text, language))
    return _analyse(text, language)


@lru_cache(maxsize=64)
def _cached(text: str, language: Language) -> tuple[Word, ...]:
    """Several parts of one score ask for the words of the same explanation."""
    return tuple(_analyse(text, language))


def _analyse(text: str, language: Language) -> list[Word]:
    """Run the language's analyser; a lone surrogate reaches none of them."""
    found = _ANALYSERS[language](without_surrogates(text))
    return [word.cut_from(text) for word in found if text[word.start : word.end].strip()]
