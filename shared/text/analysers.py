"""Analysers of Chinese (jieba) and Korean (kiwi), each loaded once per process. Thread-safe.

For workers only: a dictionary takes a second or two to load and tens of megabytes.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from functools import lru_cache
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from shared.text.segments import segments

LONGEST_KOREAN_RUN = 1_000  # characters without white space; kiwi's time is quadratic in it

_chinese_lock = Lock()
_korean_lock = Lock()


@lru_cache(maxsize=1)
def _jieba() -> Any:
    """Load the dictionary without jieba's log lines and warnings."""
    with warnings.catch_warnings():
        # its patterns have "\.", which the compiler warns about
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*")
        import jieba

        jieba.setLogLevel(logging.ERROR)
        tokenizer = jieba.Tokenizer()
        with TemporaryDirectory() as private:  # its shared cache file is writable by others
            tokenizer.tmp_dir = private
            tokenizer.initialize()
    return tokenizer


def chinese_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (word, start, end) for all characters of the text, split by jieba. The hidden Markov
    model is off, because it invents words from unknown characters and may swallow the end of a
    name. The dictionary has simplified script and few traditional forms."""
    with _chinese_lock:
        tokenizer = _jieba()
    yield from tokenizer.tokenize(text, HMM=False)


@lru_cache(maxsize=1)
def _kiwi() -> Any:
    """Load the Korean analyser kiwi with one thread, because the worker has its own threads. Its
    dictionary of multi-word names (films and songs) is not loaded, because that would take 1.5 of
    2.4 seconds and 190 MB."""
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1, load_multi_dict=False)


def korean_tokens(text: str) -> Iterator[tuple[Any, int]]:
    """Yield (kiwi's morpheme, offset to add to its `start`) in order. Morphemes of a contraction
    share characters (한 is 하 and ㄴ). Neighbours may therefore overlap, and a morpheme may have no
    character."""
    from kiwipiepy import Match

    options = Match.ALL & ~Match.SERIAL  # SERIAL joins "1. 1." across sentences
    with _korean_lock:
        kiwi = _kiwi()
    for begin, end in segments(text, LONGEST_KOREAN_RUN):
        for token in kiwi.tokenize(text[begin:end], match_options=options):
            yield token, begin
