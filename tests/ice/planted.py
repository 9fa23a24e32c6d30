"""A judge made of arithmetic: one token a word, and a probability that follows from the rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from shared.contracts.calls import (
    AttributionMethod,
    Attributions,
    Example,
    ExampleRows,
    Row,
    Tokens,
    WordJudgements,
    WordRows,
)
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse
from shared.models.catalogue.entry import Ability
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.models.word_rows import judged_words
from tests.fakes import bound_models

USE = ModelUse(name="planted", revision="1", sha256="0" * 64, device="cpu", dtype="float32")
CLS, SEP, MASK, UNK, PAD = range(5)
FIRST_WORD = 10

Planted = Callable[[tuple[int, ...]], float]  # token ids that are left -> P(yes)


def noise(ids: tuple[int, ...]) -> float:
    """A number in (0, 1) that knows nothing."""
    digest = hashlib.blake2b(repr(ids).encode(), digest_size=6).digest()
    return (int.from_bytes(digest, "big") + 1) / (256**6 + 1)


def word(number: int) -> str:
    """The word whose token is FIRST_WORD + number."""
    return f"w{number}"


def weighted(weights: dict[int, float], bias: float = -2.0) -> Planted:
    """Logistic in the words that are left: the signal lies where the weights are."""
    by_id = {FIRST_WORD + number: weight for number, weight in weights.items()}

    def probability(ids: tuple[int, ...]) -> float:
        return float(1 / (1 + np.exp(-bias - sum(by_id.get(id_, 0.0) for id_ in ids))))

    return probability


@dataclass
class PlantedJudge:
    """The port `Judge`, and `Models` over itself; [CLS] text [SEP], or none without `special`."""

    probability: Planted = noise
    special: bool = True
    longest: int = 512
    values: Callable[[Tokens], Sequence[float]] = lambda tokens: [float(i % 7) for i in tokens.ids]
    calls: list[int] = field(default_factory=list)  # rows of each call
    languages: tuple[str, ...] = ("*",)
    labels: tuple[str, ...] = ("no", "yes")
    use: ModelUse = USE

    abilities: frozenset[Ability] = frozenset(("judge", "word_rows", "token_rows", "attributions"))
    mask_text: str = "mask"

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        return [self._tokens(example) for example in examples]

    def _tokens(self, example: Example) -> Tokens:
        read = [(CLS, "special", None, None)] if self.special else []
        for part, text in (("text", example.text), ("text_pair", example.text_pair or "")):
            for found in re.finditer(r"\S+", text):
                known = re.fullmatch(r"w(\d+)", found[0])
                id_ = FIRST_WORD + (int(known[1]) if known else 1_000 + len(found[0]))
                read.append((id_, part, found.start(), found.end()))  # type: ignore[arg-type]
        cut = len(read) > self.longest - self.special
        read = read[: self.longest - self.special]
        if self.special:
            read.append((SEP, "special", None, None))
        ids, parts, starts, ends = zip(*read, strict=True)
        return Tokens(
            ids=ids,
            parts=parts,
            starts=starts,
            ends=ends,
            truncated=cut,
            mask_id=MASK,
            unk_id=UNK,
            pad_id=PAD,
        )

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        asked = [ExampleRows(example=example, rows=(Row(),)) for example in examples]
        return [rows[0] for rows in self._judged(asked)]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        rows = np.array(self.judge(examples)).reshape(len(examples), len(self.labels))
        return of_head(rows, None, self.labels)

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        self.calls.append(sum(len(one.rows) for one in asked))
        return judged_words(self, asked, self.mask_text)

    def judge_rows(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        self.calls.append(sum(len(one.rows) for one in asked))
        return self._judged(asked)

    def _judged(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        read = [self._tokens(one.example) for one in asked]
        return [
            np.array([self._row(tokens, row) for row in one.rows])
            for tokens, one in zip(read, asked, strict=True)
        ]

    def _row(self, tokens: Tokens, row: Row) -> list[float]:
        ids = list(tokens.ids)
        for place, id_ in row.replaced:
            ids[place] = id_
        kept = range(len(ids)) if row.kept is None else row.kept
        yes = self.probability(tuple(ids[place] for place in kept))
        return [1 - yes, yes]

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        return [Attributions(values=tuple(self.values(tokens))) for tokens in self.tokens(examples)]


@dataclass(frozen=True)
class PlantedModels:
    """The port `Models`: one judge under every name."""

    own: PlantedJudge

    def reader_of(self, _name: str) -> str | None:
        return None

    def kind(self, name: str) -> ModelKind:
        return "classifier"

    def judge(self, name: str) -> PlantedJudge:
        return self.own


@contextmanager
def planted(probability: Planted = noise, **more: object) -> Iterator[PlantedJudge]:
    """Bound while the block runs."""
    judge = PlantedJudge(probability, **more)  # type: ignore[arg-type]
    with bound_models(PlantedModels(judge)):
        yield judge
