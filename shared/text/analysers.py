"""Analysers of Chinese (jieba) and Korean (kiwi): each loaded once a process, for any thread.

Workers only: a dictionary takes a second or two and tens of megabytes.
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

LONGEST_KOREAN_RUN = 1_000  # characters without a blank; kiwi takes time by the square of it

_chinese_lock = Lock()
_korean_lock = Lock()


@lru_cache(maxsize=1)
def _jieba() -> Any:
    """Load the dictionary once, and quietly: jieba logs to stderr and warns on newer Pythons."""
    with warnings.catch_warnings():
        # its patterns hold "\.": a warning of the compiler, DeprecationWarning until Python 3.11
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=SyntaxWarning)
        warnings.filterwarnings("ignore", message=".*pkg_resources.*")
        import jieba

        jieba.setLogLevel(logging.ERROR)
        tokenizer = jieba.Tokenizer()
        with TemporaryDirectory() as private:  # it would trust a cache file that others can write
            tokenizer.tmp_dir = private
            tokenizer.initialize()
    return tokenizer


def chinese_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """(word, start, end) by jieba, all characters of the text; half-open offsets.

    Without the hidden Markov model, which invents words from characters that the dictionary does
    not know: one can swallow the end of a name. Simplified script: the dictionary holds few
    traditional forms.
    """
    with _chinese_lock:
        tokenizer = _jieba()
    yield from tokenizer.tokenize(text, HMM=False)


@lru_cache(maxsize=1)
def _kiwi() -> Any:
    """Load the model once, on one thread: the worker has threads of its own.

    Without kiwi's dictionary of names of several words (titles of films and songs): it takes
    longer to load than all the rest (1.5 of 2.4 seconds) and 190 MB.
    """
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1, load_multi_dict=False)


def korean_tokens(text: str) -> Iterator[tuple[Any, int]]:
    """(kiwi's token, what to add to its `start`): morphemes, in order.

    Morphemes of a contraction share characters (한 is 하 and ㄴ), so that neighbours may overlap;
    one may own no character at all.
    """
    from kiwipiepy import Match

    options = Match.ALL & ~Match.SERIAL  # it takes "1. 1." for a serial number across sentences
    with _korean_lock:
        kiwi = _kiwi()
    for begin, end in segments(text, LONGEST_KOREAN_RUN):
        for token in kiwi.tokenize(text[begin:end], match_options=options):
            yield token, begin
