"""The judges of `bench.planted`: arithmetic (level 0) and a small transformer (level 1).

The transformer has two layers of width 64 with two heads. It is trained on texts of one plant with
2 % of the labels inverted. Metrics call both like any model. Trained models are stored by the hash
of their inputs, so that a long bench can be run in parts.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Never, cast

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from bench.planted_texts import LONGEST, USE, WORDS, Plant, by_arithmetic
from shared.contracts.calls import Example, ExampleRows, Row, Tokens
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse
from shared.models import ports
from shared.models.catalogue.entry import Ability
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.statistics.seeds import generator

WIDTH, HEADS, LAYERS = 64, 2, 2
TRAINING_TEXTS, TEST_TEXTS, LABEL_NOISE = 6_000, 1_000, 0.02
EPOCHS, BATCH, RATE = 24, 64, 2e-3
SECONDS = 120.0  # of all cores together that training may take: a minute of two
LEARNED, CHECKED_TEXTS = 0.999, 300  # accuracy after an epoch that ends training
GOOD = 0.96  # accuracy on new texts: a worse model is no witness
CLS, MASK, UNK, PAD = (WORDS + n for n in range(4))
ROWS_A_PASS = 2_048
TOKEN = re.compile(r"\[MASK\]|\S+")

Score = Callable[[Sequence[tuple[int, ...]]], Floats]  # words of each row → (N,) P(1)


class Network(nn.Module):
    """Embeddings of words and positions, an encoder, and the logit of label 1 at the first
    position."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS + 4, WIDTH, padding_idx=PAD)
        self.places = nn.Embedding(LONGEST + 2, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
            )
            for _ in range(LAYERS)
        )
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, ids: Tensor) -> Tensor:
        """Map (N, T) ids to (N,) logits."""
        there = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        empty = ids == PAD
        *layers, last = self.layers
        for layer in layers:
            there = layer(there, src_key_padding_mask=empty)
        logits: Tensor = self.head(_at_first(last, there, empty))[:, 0]
        return logits


def _at_first(layer: nn.Module, there: Tensor, empty: Tensor) -> Tensor:
    """Return the layer's output at the first position, from (N, T, W) to (N, W). No other position
    is needed."""
    assert isinstance(layer, nn.TransformerEncoderLayer)
    known = layer.norm1(there)
    seen, _ = layer.self_attn(
        known[:, :1], known, known, key_padding_mask=empty, need_weights=False
    )
    first = (there[:, :1] + seen)[:, 0]
    own: Tensor = layer.linear2(layer.activation(layer.linear1(layer.norm2(first))))
    found: Tensor = first + own
    return found


@dataclass(frozen=True)
class Trained:
    """A model with its accuracy on new texts. Models below `GOOD` are not used.

    `seconds` is the training time of all cores together.
    """

    score: Score
    accuracy: float
    seconds: float


def arithmetic(plant: Plant) -> Trained:
    judge = by_arithmetic(plant)
    return Trained(lambda rows: np.array([judge(row) for row in rows]), 1.0, 0.0)


def trained(
    plant: Plant, seed: int, texts: int = TRAINING_TEXTS, store: Path | None = None
) -> Trained:
    """Train a judge of level 1 until it has learned the plant, or for at most `EPOCHS` or
    `SECONDS`.

    `store` is the folder from which it is loaded and in which it is saved.
    """
    random = generator(seed, "planted", plant.name, "train")
    examples = [plant.write(random) for _ in range(texts)]
    noisy = [one.label != (random.random() < LABEL_NOISE) for one in examples]
    ids, labels = _ids([one.words for one in examples]), torch.tensor(noisy, dtype=torch.float32)
    path = None if store is None else store / f"{_name(ids, labels, seed)}.safetensors"
    network = Network()
    if path is not None and path.exists():
        network.load_state_dict(load_file(path))
        seconds = float(json.loads(path.with_suffix(".json").read_text("utf-8"))["seconds"])
    else:
        network, seconds = _learned(plant, seed, ids, labels)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(json.dumps({"seconds": seconds}), "utf-8")
            save_file(network.state_dict(), path)
    return Trained(_scorer(network), _accuracy(plant, seed, network, TEST_TEXTS), seconds)


def _name(ids: Tensor, labels: Tensor, seed: int) -> str:
    how = (seed, WIDTH, HEADS, LAYERS, EPOCHS, BATCH, RATE, SECONDS, LEARNED, CHECKED_TEXTS)
    made = hashlib.sha256(json.dumps(how).encode())
    made.update(ids.numpy().tobytes())
    made.update(labels.numpy().tobytes())
    return made.hexdigest()[:16]


def _learned(plant: Plant, seed: int, ids: Tensor, labels: Tensor) -> tuple[Network, float]:
    started = time.process_time()
    torch.manual_seed(seed)
    network, texts = Network(), len(ids)
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
    return network, time.process_time() - started


def _accuracy(plant: Plant, seed: int, network: Network, texts: int = CHECKED_TEXTS) -> float:
    """Return the accuracy on new texts. The final check uses other texts than those after each
    epoch."""
    random = generator(seed, "planted", plant.name, texts)
    written = [plant.write(random) for _ in range(texts)]
    called = _scorer(network)([one.words for one in written]) > 0.5
    return float(np.mean(called == np.array([one.label for one in written])))


def _scorer(network: Network) -> Score:
    known: dict[tuple[int, ...], float] = {}

    @torch.inference_mode()
    def score(rows: Sequence[tuple[int, ...]]) -> Floats:
        """Score rows of similar length in shared passes. A row that was scored before keeps its
        value."""
        new = sorted((row for row in dict.fromkeys(rows) if row not in known), key=len)
        for start in range(0, len(new), ROWS_A_PASS):
            some = new[start : start + ROWS_A_PASS]
            found = torch.sigmoid(network(_ids(some)).double()).tolist()
            known.update(zip(some, found, strict=True))
        return np.array([known[row] for row in rows])

    return score


def _ids(rows: Sequence[Sequence[int]]) -> Tensor:
    width = 1 + max(map(len, rows), default=0)
    table = torch.full((len(rows), width), PAD)
    table[:, 0] = CLS
    for place, row in enumerate(rows):
        table[place, 1 : 1 + len(row)] = torch.tensor(row, dtype=torch.long)
    return table


@dataclass
class PlantedJudge:
    """Implements `Judge` with a scoring function. Its tokens are [CLS] and the words of the
    text."""

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
    """Implements `Models` with one judge for every name."""

    own: PlantedJudge

    def kind(self, name: str) -> ModelKind:
        return "classifier"

    def judge(self, name: str) -> PlantedJudge:
        return self.own

    def similarity(self, name: str) -> Never:
        """Raise BadInput, because texts of artificial words have no sentences to compare."""
        raise BadInput(f"{name} is no planted model")


@contextmanager
def judged_by(score: Score) -> Iterator[PlantedJudge]:
    judge = PlantedJudge(score)
    ports.bind(cast(ports.Models, PlantedModels(judge)))
    try:
        yield judge
    finally:
        ports.bind(None)


def _tokens(text: str) -> Tokens:
    found = list(TOKEN.finditer(text))
    return Tokens(
        ids=(CLS, *(_id(one[0]) for one in found)),
        parts=("special", *("text",) * len(found)),
        starts=(None, *(one.start() for one in found)),
        ends=(None, *(one.end() for one in found)),
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
    """Yield the words of each row, without [CLS]."""
    ids = _tokens(asked.example.text).ids
    for row in asked.rows:
        own = list(ids)
        for place, id_ in row.replaced:
            own[place] = id_
        kept = own if row.kept is None else [own[place] for place in row.kept]
        yield tuple(id_ for id_ in kept if id_ != CLS)
