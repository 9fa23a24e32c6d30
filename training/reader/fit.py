"""Trains the reader, a text classifier for several tasks (readings), by low-rank changes to the
matrices of a base model and one output layer.

Source: Hu et al., LoRA, arXiv:2106.09685; AdamW with linear warm-up and decay. The loss of a row is
the cross-entropy over the outputs of its task. In tasks with several correct labels, each output is
compared with the last one, "none", by a logistic loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

MOST_TOKENS = 2_048  # padded, of one pass


@dataclass(frozen=True)
class Recipe:
    rank: int = 32
    layers: int = 8  # of the base's twelve
    epochs: int = 5
    batch: int = 64  # rows
    rate: float = 7e-4
    warm_up: float = 0.06  # of the steps
    dropout: float = 0.1
    longest: int = 384  # tokens
    seed: int = 7


@dataclass(frozen=True)
class TokenizedRow:
    """A tokenized text for one question. `outputs` has the columns of the question's labels, and
    `right` those of the correct labels. `several` is True if more than one label can be
    correct."""

    ids: Sequence[int]
    right: Sequence[int]
    outputs: range
    several: bool = False


def fit(
    model: Any,
    rows: Sequence[TokenizedRow],
    recipe: Recipe,
    device: str = "cpu",
    say: Callable[[str], None] = print,
) -> None:
    """Train in place. Rows of one batch have similar lengths; the order of batches is random."""
    generator = torch.Generator().manual_seed(recipe.seed)
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=recipe.rate, weight_decay=0.01)
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    warm = max(1, round(recipe.warm_up * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, (steps - step) / max(1, steps - warm))
    )
    model.to(device).train()
    for epoch in range(recipe.epochs):
        total = 0.0
        for batch in _batches(rows, recipe.batch, generator):
            for part in _parts(batch, recipe.longest):
                with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
                    logits = model(**inputs(part, recipe.longest, device)).logits
                loss = _loss(logits.float(), part) * (len(part) / len(batch))
                torch.autograd.backward(loss)
                total += float(loss.detach()) * len(batch)
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
        say(f"epoch {epoch + 1}: loss {total / len(rows):.4f}")
    model.eval()


def _loss(logits: torch.Tensor, batch: Sequence[TokenizedRow]) -> torch.Tensor:
    """Return the mean loss over the rows."""
    losses = []
    for row_logits, row in zip(logits, batch, strict=True):
        own = row_logits[row.outputs.start : row.outputs.stop]
        target = torch.zeros_like(own)
        target[[place - row.outputs.start for place in row.right]] = 1
        if row.several:
            losses.append(
                functional.binary_cross_entropy_with_logits(
                    own[:-1] - own[-1], target[:-1], reduction="sum"
                )
            )
        else:
            losses.append(functional.cross_entropy(own, target))
    return torch.stack(losses).mean()


def inputs(batch: Sequence[TokenizedRow], longest: int, device: str) -> dict[str, torch.Tensor]:
    """Return the model's inputs, each (N, width). A long text is cut in the middle."""
    rows = [_cut(row.ids, longest) for row in batch]
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[1] * (width - len(row))] for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    mask = (torch.arange(width) < lengths[:, None]).long()
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def _cut(ids: Sequence[int], longest: int) -> list[int]:
    half = longest // 2
    return list(ids) if len(ids) <= longest else [*ids[:half], *ids[-half:]]


def _parts(batch: Sequence[TokenizedRow], longest: int) -> Iterator[Sequence[TokenizedRow]]:
    """Yield a batch, sorted by length, in parts that fit in memory; their gradients are added."""
    begin = 0
    for end in range(1, len(batch) + 1):
        width = min(longest, len(batch[end - 1].ids))
        if end - begin > 1 and (end - begin) * width > MOST_TOKENS:
            yield batch[begin : end - 1]
            begin = end - 1
    yield batch[begin:]


def _batches(
    rows: Sequence[TokenizedRow], size: int, generator: torch.Generator
) -> list[list[TokenizedRow]]:
    """Return all rows in batches of `size`, in random order. Pools of 50 batches are sorted by
    length, so that there is little padding."""
    order = torch.randperm(len(rows), generator=generator).tolist()
    pool = 50 * size
    pools = [order[at : at + pool] for at in range(0, len(order), pool)]
    sorted_ = [at for one in pools for at in sorted(one, key=lambda at: len(rows[at].ids))]
    batches = [sorted_[at : at + size] for at in range(0, len(sorted_), size)]
    drawn = torch.randperm(len(batches), generator=generator).tolist()
    return [[rows[at] for at in batches[place]] for place in drawn]
