"""Trains an adapter, and evaluates it on examples outside of its training data.

Training uses cross-entropy against soft targets, AdamW, linear warm-up and decay. It is
deterministic: the same recipe, examples, threads and machine give the same weights, bit for bit. A
`TrainingTask` holds everything that differs between adapters. `training.train` trains, calibrates
and measures all of them in the same way.

Evaluation computes the figures of all model cards. Rates and their intervals are over families, so
that respellings of a template count once. Rows are batched as in the service (`RowByRow`), so the
numbers of a card are those of the shipped model to the last bit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from peft import LoraConfig
from pydantic import Field

from services.inference.classifier import RowByRow
from services.inference.embedded.adapter import minilm_tokenizer, new_adapter, new_e5_adapter
from services.inference.embedded.e5 import e5_tokenizer, read_e5
from services.inference.weights.batcher import classifier_row_kind
from shared.contracts.messages import Message
from shared.models.catalogue.checkpoint import (
    BASE_NAME,
    BASE_SHA256,
    E5_NAME,
    E5_SHA256,
    EmbeddedMetadata,
    e5_path,
)
from shared.models.ports import Floats
from shared.statistics import classification, intervals
from shared.statistics.agreement import roc_auc
from training.calibration import (
    HOW,
    CardEstimate,
    Columns,
    LabelPredictions,
    ModelCalibration,
    PartCalibration,
    estimate,
    model_calibration,
)
from training.examples import Ask, Split, TrainingExample, collate, split, tokenize


class HitShare(Message):
    """A share with its 95 % interval over clusters (Wilson), all in [0, 1]."""

    count: int
    of: int
    share: float
    low: float | None = Field(description="null for a single cluster")
    high: float | None
    clusters: int


class Quality(Message):
    """The quality of a model's probabilities on one part of the data."""

    accuracy: HitShare
    majority_accuracy: float = Field(description="of always answering the more frequent label")
    macro_f1: CardEstimate
    auroc: CardEstimate = Field(
        description="of the second label; of more than two the mean over one against the others. "
        "Null where a label does not occur"
    )
    calibration: ModelCalibration


class Metrics(Message):
    """The measurements of every training task. Tasks may add fields."""

    held_back: Quality
    parts: tuple[PartCalibration, ...] = Field(description="calibration on parts of the texts")


class LabelMetrics(Metrics):
    """The metrics of a task, by label."""

    recall: dict[str, HitShare] = Field(description="by true label: answered with it")
    answered: dict[str, dict[str, int]] = Field(description="by true label: how often which")
    rows: dict[str, int] = Field(description="examples in each part")


def columns(examples: Sequence[TrainingExample]) -> Columns:
    """Return the column of each example's true label, of shape (N,)."""
    return np.array([example.label for example in examples], dtype=np.int64)


def to_predictions(logits: Floats, examples: Sequence[TrainingExample]) -> LabelPredictions:
    """Return the head's (N, L) outputs with the true labels of these examples."""
    return LabelPredictions(logits, columns(examples), [example.cluster for example in examples])


def evaluate_part(found: LabelPredictions, temperature: float) -> Quality:
    """Return accuracy, macro-F1, area under the ROC curve and calibration."""
    return Quality(
        accuracy=hit_share(found.right, found.keys),
        majority_accuracy=int(np.bincount(found.labels).max()) / len(found.labels),
        macro_f1=macro_f1(found),
        auroc=mean_roc_auc(found, temperature),
        calibration=model_calibration(found, temperature),
    )


def by_label(
    logits: Floats,
    parts: Split,
    labels: tuple[str, ...],
    temperature: float,
    partial: tuple[PartCalibration, ...],
) -> LabelMetrics:
    """Return the metrics on the held-back part, with the recall of each label.

    logits: (N, L) raw outputs of the head on the held-back part."""
    found = to_predictions(logits, parts.held_back)
    predicted = logits.argmax(axis=1)
    pairs = Counter(zip(found.labels.tolist(), predicted.tolist(), strict=True))
    answered = {
        true: {called: pairs[row, column] for column, called in enumerate(labels)}
        for row, true in enumerate(labels)
    }
    truth = [labels[column] for column in found.labels.tolist()]
    rates = hit_rates(truth, found.right, found.keys)
    return LabelMetrics(
        held_back=evaluate_part(found, temperature),
        parts=partial,
        recall={label: rates[label] for label in labels if label in rates},
        answered=answered,
        rows=parts.sizes,
    )


def macro_f1(found: LabelPredictions) -> CardEstimate:
    """Return the mean F1 of the labels. Raises ValueError for a label that is neither present nor
    predicted."""
    predicted = found.logits.argmax(axis=1).tolist()
    pairs = list(zip(found.labels.tolist(), predicted, strict=True))
    rows = classification.label_counts(pairs, found.logits.shape[1])
    undefined = np.isnan(classification.label_f1(rows.sum(axis=0)[None])[0])
    if undefined.any():
        absent = int(np.flatnonzero(undefined)[0])
        raise ValueError(f"F1 of label {absent} is undefined: it does not occur")
    return estimate(intervals.ratio("macro_f1", rows, classification.macro_f1, found.keys, HOW))


def mean_roc_auc(found: LabelPredictions, temperature: float) -> CardEstimate:
    """Return P(a row with the label scores higher than a row without it), averaged over labels.
    Ties count half."""
    probabilities = found.probabilities(temperature)
    chosen = range(probabilities.shape[1]) if probabilities.shape[1] > 2 else (1,)
    rows = np.column_stack([probabilities, found.labels])

    def mean_area(drawn: Floats) -> float:
        columns = [np.stack([drawn[:, one], drawn[:, -1] == one], axis=1) for one in chosen]
        return float(np.mean([roc_auc(column) for column in columns]))

    return estimate(intervals.statistic("auroc", rows, mean_area, found.keys, HOW))


def hit_share(hits: Floats, keys: Sequence[str]) -> HitShare:
    """Return the share of ones in N zeros and ones. Raises ValueError if N is 0."""
    if not len(hits):
        raise ValueError("a share of nothing")
    found = intervals.share(hits, keys)
    return HitShare(
        count=int(hits.sum()),
        of=len(hits),
        share=float(hits.mean()),
        low=found.low,
        high=found.high,
        clusters=found.clusters,
    )


def hit_rates(names: Sequence[str], hits: Floats, keys: Sequence[str]) -> dict[str, HitShare]:
    """Return the share of hits among the rows of each name, in alphabetical order."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    return {
        name: hit_share(hits[places[name]], [keys[place] for place in places[name]])
        for name in sorted(places)
    }


LONGEST = 512  # tokens that the base reads
BATCH = 64


@torch.inference_mode()
def logits(model: Any, examples: Sequence[TrainingExample], tokenizer: Any = None) -> Floats:
    """Return the raw outputs of the head, of shape (N, L).

    `model` is an adapter merged into its base, in evaluation mode. The default `tokenizer` is
    that of all-MiniLM-L6-v2."""
    rows = tokenize(examples, LONGEST, tokenizer)
    places: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[classifier_row_kind(len(row.ids), LONGEST)].append(place)
    found = np.empty((len(rows), model.config.num_labels))
    for (width, _), alike in places.items():
        for start in range(0, len(alike), BATCH):
            batch = alike[start : start + BATCH]
            with RowByRow(len(batch)):
                raw = model(**collate([rows[place] for place in batch], width)).logits
            found[batch] = raw.double().numpy()
    return found


MATRICES = ["query", "key", "value", "dense"]  # attention, feed-forward and pooler
POOL = 16  # batches whose rows are sorted by length together


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of training. They were chosen on the calibration part of the data, never on the
    held-back part."""

    epochs: int = 4
    batch: int = 32
    learning_rate: float = 4e-4
    weight_decay: float = 0.01
    warm_up: float = 0.1  # share of the steps
    rank: int = 16
    scale: int = 32  # LoRA's alpha
    dropout: float = 0.1  # of the adapter's input
    longest: int = 128  # tokens
    clip: float = 1.0  # norm of the gradient
    seed: int = 0
    best_epoch: bool = False  # keep the epoch with the least loss on the calibration part
    layers: int | None = None  # of multilingual-e5-small, from the first; None: all-MiniLM-L6-v2

    @property
    def base(self) -> str:
        return BASE_NAME if self.layers is None else E5_NAME

    @property
    def base_sha256(self) -> str:
        return BASE_SHA256 if self.layers is None else E5_SHA256


def tokenizer_of(recipe: TrainingConfig) -> Any:
    """Return the tokenizer of the recipe's base."""
    return minilm_tokenizer() if recipe.layers is None else e5_tokenizer(read_e5(e5_path()))


def untrained(labels: tuple[str, ...], recipe: TrainingConfig) -> Any:
    """Return the base model of the configuration with an untrained adapter, whose weights are drawn
    from torch's global generator."""
    which: dict[str, Any] = {}
    if recipe.layers is not None:
        which = {"layers_to_transform": list(range(recipe.layers)), "layers_pattern": "layer"}
    lora = LoraConfig(
        task_type="SEQ_CLS",  # so the head, `classifier`, is trained and saved too
        r=recipe.rank,
        lora_alpha=recipe.scale,
        lora_dropout=recipe.dropout,
        target_modules=MATRICES,
        **which,
    )
    if recipe.layers is None:
        return new_adapter(labels, lora)
    return new_e5_adapter(read_e5(e5_path()), labels, lora)


def train(
    examples: Sequence[TrainingExample],
    labels: tuple[str, ...],
    recipe: TrainingConfig,
    progress: Callable[[int, int, float], None],
    after_epoch: Callable[[Any], None] = lambda _: None,
) -> Any:
    """Return a trained adapter on the base, in evaluation mode.

    progress: called with (steps done, steps in all, loss) after each step. after_epoch: called
    after each epoch with the model, in evaluation mode.
    """
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(True)
    model = untrained(labels, recipe)
    rows = tokenize(examples, recipe.longest, tokenizer_of(recipe))
    # (N, L) probabilities that sum to 1 in float32 too: the first is what the rest leave
    targets = torch.tensor([example.target for example in examples])
    targets[:, 0] = 1 - targets[:, 1:].sum(dim=1)
    order = torch.Generator().manual_seed(recipe.seed)
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    optimizer, schedule = _optimizer(model, recipe, steps)
    done = 0
    for _ in range(recipe.epochs):
        model.train()
        for batch in _batches([len(row.ids) for row in rows], recipe.batch, order):
            width = max(len(rows[row].ids) for row in batch)
            raw = model(**collate([rows[row] for row in batch], width)).logits
            loss = torch.nn.functional.cross_entropy(raw, targets[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it unannotated
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimizer.step()
            schedule.step()
            done += 1
            progress(done, steps, loss.item())
        after_epoch(model.eval())
    return model.eval()


def _optimizer(
    model: Any, recipe: TrainingConfig, steps: int
) -> tuple[torch.optim.AdamW, torch.optim.lr_scheduler.LambdaLR]:
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )

    def pace(step: int) -> float:
        return min(1.0, (step + 1) / (recipe.warm_up * steps)) * (steps - step) / steps

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, pace)


def _batches(lengths: Sequence[int], size: int, order: torch.Generator) -> Iterator[list[int]]:
    """Yield the row numbers of each step of an epoch, shuffled. Rows of similar length share a
    step."""
    shuffled = torch.randperm(len(lengths), generator=order).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(shuffled), size * POOL):
        pool = sorted(shuffled[start : start + size * POOL], key=lambda row: lengths[row])
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    for place in torch.randperm(len(batches), generator=order).tolist():
        yield batches[place]


DEFAULT = TrainingConfig()
Measured = TypeVar("Measured", bound=Metrics)


@dataclass(frozen=True)
class TrainingTask(Generic[Measured]):
    name: str
    labels: tuple[str, ...]
    files: tuple[str, ...]  # in the data folder
    read: Callable[[Iterable[Path]], list[TrainingExample]]
    evaluate: Callable[[Ask, Split, float], Measured]  # the float is the temperature
    card: Callable[[EmbeddedMetadata, Measured], str]
    measured: type[Measured]
    split: Callable[[Sequence[TrainingExample]], Split] = split
    languages: tuple[str, ...] = ("en",)
    recipe: TrainingConfig = DEFAULT
    revision: str = "1.0.0"  # raise it when the recipe or the data changes
