"""Training an adapter: cross-entropy against soft targets, AdamW, linear warm-up and decay.

Deterministic: the same recipe, examples, threads and machine give the same weights, bit for bit.

What a task says of itself; the command trains, calibrates and measures all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from peft import LoraConfig

from services.inference.embedded.adapter import TokenRow, fresh_adapter, padded, tokenized
from services.inference.embedded.evaluation import Metrics
from services.inference.embedded.examples import Ask, Split, TrainingExample, split
from shared.models.embedded import EmbeddedNote

MATRICES = ["query", "key", "value", "dense"]  # attention, feed-forward and pooler
POOL = 16  # batches whose rows are sorted by length together


@dataclass(frozen=True)
class Recipe:
    """How to train. Chosen on the calibration part, never on the held-back one."""

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


def train(
    examples: Sequence[TrainingExample],
    labels: tuple[str, ...],
    recipe: Recipe,
    progress: Callable[[int, int, float], None],
) -> Any:
    """A trained adapter on the base, in evaluation mode.

    progress: told (steps done, steps in all, loss) after each step.
    """
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(True)
    model = fresh_adapter(labels, _lora(recipe)).train()
    rows = tokenized(examples, recipe.longest)
    targets = _targets(examples)
    order = torch.Generator().manual_seed(recipe.seed)
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    optimizer, schedule = _optimizer(model, recipe, steps)
    done = 0
    for _ in range(recipe.epochs):
        for batch in _batches([len(row.ids) for row in rows], recipe.batch, order):
            loss = _loss(model, [rows[row] for row in batch], targets[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it unannotated
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimizer.step()
            schedule.step()
            done += 1
            progress(done, steps, loss.item())
    return model.eval()


def _lora(recipe: Recipe) -> LoraConfig:
    return LoraConfig(
        task_type="SEQ_CLS",  # so the head, `classifier`, is trained and saved too
        r=recipe.rank,
        lora_alpha=recipe.scale,
        lora_dropout=recipe.dropout,
        target_modules=MATRICES,
    )


def _targets(examples: Sequence[TrainingExample]) -> torch.Tensor:
    """(N, L) probabilities that sum to 1 in float32 too: the first is what the rest leave."""
    targets = torch.tensor([example.target for example in examples])
    targets[:, 0] = 1 - targets[:, 1:].sum(dim=1)
    return targets


def _optimizer(
    model: Any, recipe: Recipe, steps: int
) -> tuple[torch.optim.AdamW, torch.optim.lr_scheduler.LambdaLR]:
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )

    def pace(step: int) -> float:
        return min(1.0, (step + 1) / (recipe.warm_up * steps)) * (steps - step) / steps

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, pace)


def _batches(lengths: Sequence[int], size: int, order: torch.Generator) -> Iterator[list[int]]:
    """Row numbers of each step of an epoch: shuffled, rows of similar length together."""
    shuffled = torch.randperm(len(lengths), generator=order).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(shuffled), size * POOL):
        pool = sorted(shuffled[start : start + size * POOL], key=lambda row: lengths[row])
        batches += [pool[first : first + size] for first in range(0, len(pool), size)]
    for place in torch.randperm(len(batches), generator=order).tolist():
        yield batches[place]


def _loss(model: Any, rows: list[TokenRow], targets: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of (N, L) logits against the probabilities of the labels."""
    logits = model(**padded(rows, max(len(row.ids) for row in rows))).logits
    return torch.nn.functional.cross_entropy(logits, targets)


DEFAULT = Recipe()
Measured = TypeVar("Measured", bound=Metrics)


@dataclass(frozen=True)
class TrainingTask(Generic[Measured]):
    """One adapter to train."""

    name: str
    labels: tuple[str, ...]
    files: tuple[str, ...]  # in the data folder
    read: Callable[[Iterable[Path]], list[TrainingExample]]
    evaluate: Callable[[Ask, Split, float], Measured]  # the float is the temperature
    card: Callable[[EmbeddedNote, Measured], str]
    measured: type[Measured]
    split: Callable[[Sequence[TrainingExample]], Split] = split
    recipe: Recipe = DEFAULT
    revision: str = "1.0.0"  # raise it when the recipe or the data changes
