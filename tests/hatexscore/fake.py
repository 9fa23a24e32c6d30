"""Classifiers and a reader that need no weights: deterministic functions of one text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from services.hatexscore.kernel import Floats
from services.hatexscore.report import HatexscoreResult
from shared.contracts.calls import Example, Pair, Tokens
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelUse, PartExcess
from shared.models.catalogue.catalogue import READER
from shared.models.label_readout import of_head
from shared.models.ports import Models, _Binding, bind
from shared.readers.model import OUTPUTS


def by_hash(text: str) -> float:
    """A probability that looks random and depends on the whole text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def nulls(report: HatexscoreResult) -> dict[str, str]:
    """Part that is null → the first reason."""
    reasons = [one for one in reversed(report.reasons) if one.component != "score"]
    return {one.component: one.code for one in reasons}


def surely(text: str) -> float:
    """The same of a model that calls every text hateful."""
    return 0.5 + by_hash(text) / 2


@dataclass
class FakeClassifier:
    """P(hateful) by a function; counts its calls."""

    hateful: Callable[[str], float] = by_hash
    labels: tuple[str, ...] = ("non-hateful", "hateful")
    languages: tuple[str, ...] = ("en", "zh", "ko")
    max_length: int = 20_000
    on_parts: tuple[PartExcess, ...] = ()
    calls: list[list[str]] = field(default_factory=list)

    @property
    def use(self) -> ModelUse:
        fixed = ModelUse(name="fake", revision="1", sha256="0" * 64, device="cpu", dtype="float64")
        return fixed.model_copy(update={"on_parts": self.on_parts})

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """A token a character."""
        texts = [example.text for example in examples]
        self.calls.append(texts)
        hateful = np.array([self.hateful(text) for text in texts], dtype=np.float64)
        found = of_head(self.rows(hateful), None, self.labels)
        return [
            one.model_copy(update={"read_share": self._tokens(example.text).read_share(example)})
            for one, example in zip(found, examples, strict=True)
        ]

    def rows(self, hateful: Floats) -> Floats:
        """(N, L) probabilities, of (N,) of hateful."""
        return np.stack([1 - hateful, hateful], axis=1)

    def _tokens(self, text: str) -> Tokens:
        places = range(min(len(text), self.max_length))
        return Tokens(
            ids=tuple(places),
            parts=("text",) * len(places),
            starts=tuple(places),
            ends=tuple(place + 1 for place in places),
            truncated=len(text) > self.max_length,
            mask_id=None,
            unk_id=None,
            pad_id=None,
        )


_NEGATED = re.compile(r"(?:\bnot|\bno|n't|\bnon)\W(?:\w+\W){0,3}$")
_DEFENDED = re.compile(r"prais|kind|welcom|not attack|not about|mention", re.IGNORECASE)


class FakeReader:
    """Reads by the last marked word, and takes every group for attacked that is not praised.

    A text with "[?]" is one that it is not sure of.
    """

    def probabilities(self, texts: Sequence[str]) -> Floats:
        return np.array([self._row(*text.split(": ", 1)) for text in texts])

    def _row(self, reading: str, text: str) -> list[float]:
        if "[?]" in text:
            return [0.4] * len(OUTPUTS)
        said = self._verdict(text) if reading == "verdict" else self._group(text)
        return [0.98 if one == f"{reading}: {said}" else 0.01 for one in OUTPUTS]

    def _verdict(self, text: str) -> str:
        before, mark, after = text.rpartition("[+]")
        if not mark:
            return "non-hateful" if "[-]" in text else "none"
        words = before.rsplit(" ", 4)
        denied = _NEGATED.search(" ".join(words[:-1]) + " ") or after.startswith(("이 아", "가 아"))
        return "non-hateful" if denied else "hateful"

    def _group(self, text: str) -> str:
        own = next(one for one in re.split(r"[.!?。] ?", text) if "[[" in one)
        return "mentioned" if _DEFENDED.search(own) else "attacked"


@dataclass
class FakeSimilarity:
    """Every pair is as similar as every other."""

    value: float
    pairs: list[Pair] = field(default_factory=list)

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        self.pairs += pairs
        return np.full(len(pairs), self.value)


@dataclass
class FakeModels:
    """The port, with one model under its default name, and the reader."""

    model: FakeClassifier
    alike: FakeSimilarity | None = None  # None: no similarity is configured

    def classifier(self, name: str) -> FakeReader:
        assert name == READER.name
        return FakeReader()

    def reader_of(self, _name: str) -> str | None:
        return None

    def similarity(self, name: str) -> FakeSimilarity:
        if self.alike is None:
            raise BadInput(f"no model {name}", pointer="/model")
        return self.alike

    def judge(self, name: str) -> FakeClassifier:
        if name != "embedded-hate":
            raise BadInput(f"no model {name}", pointer="/model")
        return self.model


@contextmanager
def bound(model: FakeClassifier, alike: FakeSimilarity | None = None) -> Iterator[FakeClassifier]:
    """Bind the model and the fake reader for a while."""
    with binding(cast(Models, FakeModels(model, alike))):
        yield model


@contextmanager
def binding(models: Models | None) -> Iterator[None]:
    """Bind these models, then those that were bound before."""
    before = _Binding.models
    bind(models)
    try:
        yield
    finally:
        bind(before)
