"""A trained reader that goes by words: what a sentence discloses is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shared.models.catalogue.catalogue import READER
from shared.models.ports import Floats
from shared.readers.model import OUTPUTS
from tests.fakes import bound_models
from tests.haf.fake import use

WORDS = {  # a sentence with the word makes the disclosure
    "removed": "restriction",
    "entfernt": "restriction",
    "permanent": "duration",
    "countries": "territorial_scope",
    "detected": "automated_detection",
    "took the decision": "automated_decision",
    "Section": "ground",
    "Abschnitt": "ground",
    "since": "explanation",
    "asks": "facts",
    "complain": "internal_complaint",
    "settlement": "out_of_court_settlement",
    "to court": "court",
}


@dataclass
class WordReader:
    """The port of the trained reader."""

    calls: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def use(self) -> Any:
        return use(READER.name)

    def probabilities(self, texts: Sequence[str]) -> Floats:
        self.calls.append(tuple(texts))
        return np.array([self._row(text) for text in texts])

    def _row(self, text: str) -> list[float]:
        assert text.startswith("reasons: ")
        made = {f"reasons: {label}" for word, label in WORDS.items() if word in text}
        return [0.9 if one in made else 0.1 if one.endswith("none") else 1e-3 for one in OUTPUTS]


class SorModels:
    """The port `Models`: the trained reader, and one other model for all else."""

    def __init__(self, reader: WordReader, other: Any = None) -> None:
        self._reader, self._other = reader, other

    def classifier(self, name: str) -> WordReader:
        assert name == READER.name
        return self._reader

    def writer(self, _: str) -> Any:
        return self._other

    judge = writer


@contextmanager
def reading_words(other: Any = None) -> Iterator[WordReader]:
    """Bind the fakes for a while."""
    reader = WordReader()
    with bound_models(SorModels(reader, other)):
        yield reader
