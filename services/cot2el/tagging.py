"""Parts of speech, where an English spaCy model is installed: a plug-in, not a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

import spacy

from shared.segments import segments

LONGEST_RUN = 100  # characters without a blank
ALONE = Lock()  # one thread tags at a time
PREFERRED = ("en_core_web_md", "en_core_web_sm")  # the paper's own first


@lru_cache(maxsize=1)
def tagger_name() -> str | None:
    """The installed model, or None."""
    installed = sorted(name for name in spacy.util.get_installed_models() if _is_english(name))
    return next((name for name in PREFERRED if name in installed), next(iter(installed), None))


def tags(texts: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """text → its universal part-of-speech tags; None where no model is installed."""
    if tagger_name() is None:
        return None
    distinct = list(dict.fromkeys(texts))
    parts = [[text[a:b] for a, b in segments(text, LONGEST_RUN)] for text in distinct]
    with ALONE:
        docs = _tagger().pipe(chain.from_iterable(parts))
        return {
            text: tuple(token.pos_ for doc in islice(docs, len(own)) for token in doc)
            for text, own in zip(distinct, parts, strict=True)
        }


@lru_cache(maxsize=1)
def _tagger() -> Any:
    return spacy.load(tagger_name(), exclude=["parser", "ner", "lemmatizer"])


def _is_english(name: str) -> bool:
    return name.startswith("en_core_web_")
