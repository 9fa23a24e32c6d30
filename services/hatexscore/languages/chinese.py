"""Chinese words by jieba, without its hidden Markov model.

The model invents words from characters that the dictionary does not know, and an invented word can
swallow the end of a group's name; unknown characters stand alone instead. Simplified script: the
dictionary and our lists hold few traditional forms.
"""

from __future__ import annotations

import logging
import warnings
from functools import lru_cache
from threading import Lock
from typing import Any

from services.hatexscore.languages.word import Word, is_word

STOP_WORDS = frozenset(
    "的 了 和 与 及 或 而 且 也 都 就 在 是 有 对 于 对于 从 到 被 把 将 这 那 这个 那个 之 其 其中 它 他 她 "
    "他们 她们 它们 我 我们 你 你们 自己 一 一个 一种 这种 这些 那些 并 并且 以 以及 因 因为 所以 但 但是 "
    "如果 通过 为 为了 着 过 地 得 吗 呢 吧 啊 上 下 中 里 等 不 没 没有 很 更 最 还 又 再 只 由 向 可以 可能".split()
)

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
