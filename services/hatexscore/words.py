"""Tokenises explanations in the three languages of the paper, with exact offsets. Source: Hu & Lee,
EACL 2026 (arXiv:2601.13547), §3.3: "language-appropriate tokenization (spaCy, jieba or KoNLPy)".
Deviates: Korean uses kiwipiepy, because KoNLPy needs a Java runtime and is slower."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, Literal

from shared.text.analysers import chinese_tokens, korean_tokens
from shared.text.english import straighten_apostrophes
from shared.text.segments import segments

Language = Literal["en", "zh", "ko"]
Span = tuple[int, int]  # half-open character offsets

CACHED_LENGTH = 2_000  # characters; longer texts are analysed anew, so the cache stays small

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextWord:
    """A token of a text: `text == string[start:end]`. `lemma` is the dictionary form in lower case;
    for a Korean noun it is the noun without its particle. `is_stop` is True for a function word (in
    Korean: particle, ending, suffix, auxiliary). `is_word` is False for punctuation and symbols."""

    text: str
    lemma: str
    start: int
    end: int
    is_stop: bool
    is_word: bool


def words(text: str, language: Language) -> list[TextWord]:
    """Return the words and punctuation marks of `text` in order, without white space."""
    if len(text) <= CACHED_LENGTH:
        return list(_cached(text, language))
    return _tokenize(text, language)


@lru_cache(maxsize=64)
def _cached(text: str, language: Language) -> tuple[TextWord, ...]:
    return tuple(_tokenize(text, language))  # several parts of one score need the same words


def _tokenize(text: str, language: Language) -> list[TextWord]:
    """Run the language's analyser. Lone surrogates are replaced first."""
    tokens = _ANALYSERS[language](_SURROGATE.sub("\ufffd", text))
    cut = (replace(word, text=text[word.start : word.end]) for word in tokens)
    return [word for word in cut if word.text.strip()]


def is_word(text: str) -> bool:
    """Return True if the text has a letter or a digit of any script."""
    return any(character.isalnum() for character in text)


_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019-][A-Za-z\u00c0-\u024f]+)*")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")

HAN_PER_WORD = 2
HANGUL_PER_WORD = 3


def detect_language(text: str) -> Language:
    """Return the language whose tokenizer suits the script of a text: Korean, Chinese, or else
    English. On a tie the rarer script wins. The scripts are counted in rough numbers of words: one
    Latin word, two Han characters or three Hangul syllables count 1."""
    latin = len(_LATIN_WORD.findall(text))
    han = len(_HAN.findall(text))
    hangul = len(_HANGUL.findall(text)) / HANGUL_PER_WORD
    chinese = 0.0 if len(_KANA.findall(text)) > han else han / HAN_PER_WORD
    if hangul and hangul >= max(chinese, latin):
        return "ko"
    if chinese and chinese >= latin:
        return "zh"
    return "en"


MODEL = "en_core_web_sm"
UNUSED = ("ner", "parser", "senter")

LONGEST_ENGLISH_RUN = 100  # characters without a blank
_english_lock = Lock()


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    """Return `en_core_web_sm` if it is installed, else a blank pipeline that looks up lemmas. spaCy
    is imported here because the import alone takes seconds."""
    import spacy

    if spacy.util.is_package(MODEL):
        return spacy.load(MODEL, exclude=list(UNUSED))
    pipeline = spacy.blank("en")
    pipeline.add_pipe("lemmatizer", config={"mode": "lookup"})
    pipeline.initialize()
    return pipeline


def _words_en(text: str) -> Iterator[TextWord]:
    """Yield the English tokens of `text` with lemmas. Only one thread runs at a time, because a
    spaCy memory zone must not end while another thread reads."""
    with _english_lock:
        pipeline = _pipeline()
        for begin, end in segments(text, LONGEST_ENGLISH_RUN):
            with pipeline.memory_zone():
                for token in pipeline(straighten_apostrophes(text[begin:end])):
                    start, word = begin + int(token.idx), str(token.text)
                    lemma = str(token.lemma_ or word).lower()
                    stop = start + len(word)
                    yield TextWord(word, lemma, start, stop, bool(token.is_stop), is_word(word))


_STOP_CHARACTERS = (
    "的了和与及或而且也都就在是有对于从到被把将这那之其它他她我你一并以因但为着过地得吗呢吧啊上"
    "下中里等不没很更最还又再只由向"
)
_LONGER_STOP_WORDS = (
    "对于 这个 那个 其中 他们 她们 它们 我们 你们 自己 一个 一种 这种 这些 那些 并且 以及 因为 "
    "所以 但是 如果 通过 为了 没有 可以 可能"
)
STOP_WORDS = frozenset(_STOP_CHARACTERS).union(_LONGER_STOP_WORDS.split())


def _words_zh(text: str) -> Iterator[TextWord]:
    """Yield the tokens of `text` from jieba. A Chinese word is its own lemma."""
    for word, start, end in chinese_tokens(text):
        yield TextWord(word, word.lower(), start, end, word in STOP_WORDS, is_word(word))


# Particles, endings, suffixes, copula, auxiliary verbs, determiners, pronouns.
FUNCTION_TAGS = ("J", "E", "XS", "VCP", "VX", "MM", "NP")


def _words_ko(text: str) -> Iterator[TextWord]:
    """Yield the morphemes of `text`, so that a noun is separate from its particle: 무슬림은
    becomes 무슬림 + 은. The lemma of a verb or adjective is its dictionary form (…다)."""
    for token, begin in korean_tokens(text):
        start = begin + int(token.start)
        word = text[start : start + int(token.len)]
        is_stop = str(token.tag).startswith(FUNCTION_TAGS)
        if word:
            end = start + len(word)
            yield TextWord(word, str(token.lemma).lower(), start, end, is_stop, is_word(word))


_ANALYSERS = {"en": _words_en, "zh": _words_zh, "ko": _words_ko}
