"""The judges of the planted bench: arithmetic (level 0) and a small transformer (level 1).

Two layers, width 64, two heads, trained on texts of one plant with 2 % of the labels turned. Either
stands behind the ports, so that metrics ask it as they ask any model.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from bench.planted_texts import LONGEST, WORDS, Plant, by_arithmetic
from shared.contracts import ModelKind, ModelUse
from shared.models import ports
from shared.models.abilities import Ability
from shared.models.calls import Example, ExampleRows, Row, Tokens
from shared.models.judgement import Judgement
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.statistics.seeds import generator

WIDTH, HEADS, LAYERS = 64, 2, 2
TRAINING_TEXTS, TEST_TEXTS, LABEL_NOISE = 6_000, 1_000, 0.02
EPOCHS, BATCH, RATE = 24, 64, 2e-3
SECONDS = 120.0  # of all cores together that training may take: a minute of two
LEARNED, CHECKED_TEXTS = 0.999, 300  # accuracy after an epoch that ends training
GOOD = 0.96  # accuracy on new texts: a worse model is no witness
USE = ModelUse(name="planted", revision="1", sha256="0" * 64, device="cpu", dtype="float32")
CLS, MASK, UNK, PAD = (WORDS + n for n in range(4))
ROWS_A_PASS = 2_048
TOKEN = re.compile(r"\[MASK\]|\S+")

Score = Callable[[Sequence[tuple[int, ...]]], Floats]  # words of each row → (N,) P(1)


class Network(nn.Module):
    """Embeddings of words and places, an encoder, and the logit of label 1 at the first place."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS + 4, WIDTH, padding_idx=PAD)
        self.places = nn.Embedding(LONGEST + 2, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """(N, T) ids → (N,) logits."""
        there = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        found = self.encoder(there, src_key_padding_mask=ids == PAD)
        logits: Tensor = self.head(found[:, 0])[:, 0]
        return logits


@dataclass(frozen=True)
class Trained:
    """A model and how well it does on new texts. accuracy under `GOOD`: not to be used.

    seconds: of all cores together, for training."""

    score: Score
    accuracy: float
    seconds: float


def arithmetic(plant: Plant) -> Trained:
    """Level 0."""
    judge = by_arithmetic(plant)
    return Trained(lambda rows: np.array([judge(row) for row in rows]), 1.0, 0.0)


def trained(plant: Plant, seed: int, texts: int = TRAINING_TEXTS) -> Trained:
    """Level 1: until the plant is learned, or `EPOCHS` or `SECONDS` are over."""
    started = time.process_time()
    torch.manual_seed(seed)
    random = generator(seed, "planted", plant.name, "train")
    examples = [plant.write(random) for _ in range(texts)]
    noisy = [one.label != (random.random() < LABEL_NOISE) for one in examples]
    ids, labels = _ids([one.words for one in examples]), torch.tensor(noisy, dtype=torch.float32)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
    steps = EPOCHS * -(-texts // BATCH)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    order = torch.Generator().manual_seed(seed)
    for _ in range(EPOCHS):
        if time.process_time() - started > SECONDS or _accuracy(plant, seed, network) >= LEARNED:
            break
        shuffled = torch.randperm(texts, generator=order)
        for start in range(0, texts, BATCH):
            places = shuffled[start : start + BATCH]
            loss = nn.functional.binary_cross_entropy_with_logits(
                network(ids[places]), labels[places]
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it unannotated
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            pace.step()
    seconds = time.process_time() - started
    return Trained(_scorer(network), _accuracy(plant, seed, network, TEST_TEXTS), seconds)


def _accuracy(plant: Plant, seed: int, network: Network, texts: int = CHECKED_TEXTS) -> float:
    """On new texts: those of the last check are not those after each epoch."""
    random = generator(seed, "planted", plant.name, texts)
    written = [plant.write(random) for _ in range(texts)]
    called = _scorer(network)([one.words for one in written]) > 0.5
    return float(np.mean(called == np.array([one.label for one in written])))


def _scorer(network: Network) -> Score:
    known: dict[tuple[int, ...], float] = {}

    @torch.inference_mode()
    def score(rows: Sequence[tuple[int, ...]]) -> Floats:
        """Rows of like length share passes; a row keeps the value that it had first."""
        new = sorted((row for row in dict.fromkeys(rows) if row not in known), key=len)
        for start in range(0, len(new), ROWS_A_PASS):
            some = new[start : start + ROWS_A_PASS]
            found = torch.sigmoid(network(_ids(some)).double()).tolist()
            known.update(zip(some, found, strict=True))
        return np.array([known[row] for row in rows])

    return score


def _ids(rows: Sequence[Sequence[int]]) -> Tensor:
    """(N, T), [CLS] before each."""
    width = 1 + max(map(len, rows), default=0)
    table = torch.full((len(rows), width), PAD)
    table[:, 0] = CLS
    for place, row in enumerate(rows):
        table[place, 1 : 1 + len(row)] = torch.tensor(row, dtype=torch.long)
    return table


@dataclass
class PlantedJudge:
    """The port `Judge` over a scorer; the words of a text are its tokens."""

    score: Score
    labels: tuple[str, str] = ("non-hateful", "hateful")
    languages: tuple[str, ...] = ("*",)
    use: ModelUse = USE
    abilities: frozenset[Ability] = frozenset(("judge", "token_rows"))
    rows: int = 0  # asked so far

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        return [_tokens(example.text) for example in examples]

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        asked = [ExampleRows(example=example, rows=(Row(),)) for example in examples]
        return [rows[0] for rows in self.judge_rows(asked)]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        return of_head(np.array(self.judge(examples)).reshape(-1, 2), None, self.labels)

    def judge_rows(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        rows = [words for one in asked for words in _varied(one)]
        self.rows += len(rows)
        found = iter(self.score(rows).tolist())
        return [np.array([(1 - p, p) for p in islice(found, len(one.rows))]) for one in asked]


@dataclass(frozen=True)
class PlantedModels:
    """The port `Models`: one judge under every name."""

    own: PlantedJudge

    def kind(self, name: str) -> ModelKind:
        return "classifier"

    def judge(self, name: str) -> PlantedJudge:
        return self.own


@contextmanager
def judged_by(score: Score) -> Iterator[PlantedJudge]:
    """Bound while the block runs."""
    judge = PlantedJudge(score)
    ports.bind(cast(ports.Models, PlantedModels(judge)))
    try:
        yield judge
    finally:
        ports.bind(None)


def _tokens(text: str) -> Tokens:
    found = list(TOKEN.finditer(text))
    return Tokens(
        ids=tuple(_id(one[0]) for one in found),
        parts=("text",) * len(found),
        starts=tuple(one.start() for one in found),
        ends=tuple(one.end() for one in found),
        truncated=False,
        mask_id=MASK,
        unk_id=UNK,
        pad_id=PAD,
    )


def _id(word: str) -> int:
    if word == "[MASK]":
        return MASK
    known = re.fullmatch(r"w(\d+)", word)
    return int(known[1]) if known and int(known[1]) < WORDS else UNK


def _varied(asked: ExampleRows) -> Iterator[tuple[int, ...]]:
    ids = _tokens(asked.example.text).ids
    for row in asked.rows:
        own = list(ids)
        for place, id_ in row.replaced:
            own[place] = id_
        yield tuple(own if row.kept is None else (own[place] for place in row.kept))
