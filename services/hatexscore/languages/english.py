"""English words by spaCy: `en_core_web_sm` where it is installed, else a blank pipeline.

The blank pipeline lemmatizes from the lookup table of spacy-lookups-data. Neither is asked for
sentences (see `sentence`), so that sentence borders do not depend on what is installed.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any

from services.hatexscore.languages.word import Word, is_word
from shared.segments import segments

MODEL = "en_core_web_sm"
UNUSED = ("ner", "parser", "senter")

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})  # one character for one: offsets stay
LONGEST_RUN = 100  # characters without a blank
_lock = Lock()


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    """Load once; spaCy is imported here because the import alone takes seconds."""
    import spacy

    if spacy.util.is_package(MODEL):
        return spacy.load(MODEL, exclude=list(UNUSED))
    pipeline = spacy.blank("en")
    pipeline.add_pipe("lemmatizer", config={"mode": "lookup"})
    pipeline.initialize()
    return pipeline


def words(text: str) -> list[Word]:
    """Tokens of `text` with lemmas.

    One thread at a time: spaCy holds the interpreter lock anyway, and a memory zone, which keeps
    the shared vocabulary from growing with every text, must not be left while another reads.
    """
    found: list[Word] = []
    with _lock:
        pipeline = _pipeline()
        for start, end in segments(text, LONGEST_RUN):
            with pipeline.memory_zone():
                document = pipeline(text[start:end].translate(_APOSTROPHES))
                found.extend(_word(token, start) for token in document)
    return found


def _word(token: Any, offset: int) -> Word:
    text = str(token.text)
    lemma = str(token.lemma_ or text).lower()
    start = offset + int(token.idx)
    return Word(text, lemma, start, start + len(text), bool(token.is_stop), is_word(text))
