"""Chinese words by jieba, without its hidden Markov model.

The model invents words from characters that the dictionary does not know, and an invented word can
swallow the end of a group's name; unknown characters stand alone instead. Simplified script: the
dictionary and our lists hold few traditional forms.
"""

from __future__ import annotations

import logging
import warnings
from functools import lru_cache
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from services.hatexscore.languages.word import Word, is_word

STOP_CHARACTERS = frozenset(
    "的了和与及或而且也都就在是有对于从到被把将这那之其它他她我你一并以因但为着过地得吗呢吧啊上"
    "下中里等不没很更最还又再只由向"
)
STOP_WORDS = STOP_CHARACTERS | {
    "对于",
    "这个",
    "那个",
    "其中",
    "他们",
    "她们",
    "它们",
    "我们",
    "你们",
    "自己",
    "一个",
    "一种",
    "这种",
    "这些",
    "那些",
    "并且",
    "以及",
    "因为",
    "所以",
    "但是",
    "如果",
    "通过",
    "为了",
    "没有",
    "可以",
    "可能",
}

_lock = Lock()


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    """Load the dictionary once, and quietly: jieba logs to stderr and warns on newer Pythons."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=SyntaxWarning)  # "\." in its patterns
        warnings.filterwarnings("ignore", message=".*pkg_resources.*")
        import jieba

        jieba.setLogLevel(logging.ERROR)
        tokenizer = jieba.Tokenizer()
        with TemporaryDirectory() as private:  # it would trust a cache file that others can write
            tokenizer.tmp_dir = private
            tokenizer.initialize()
    return tokenizer


def words(text: str) -> list[Word]:
    """Tokens of `text`; a Chinese word is its own lemma."""
    with _lock:
        tokenizer = _tokenizer()
    return [
        Word(found, found.lower(), start, end, found in STOP_WORDS, is_word(found))
        for found, start, end in tokenizer.tokenize(text, HMM=False)
    ]
