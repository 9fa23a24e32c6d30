"""Train an embedded adapter again, measure it, and write its model card.

python -m training.train {hate,nli,sentiment} --data-folder ../shared/data

With `--measure` nothing is trained: the shipped weights are measured, with the temperature from
training.

`TASKS` lists the tasks that have an embedded adapter."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from services.inference.embedded.adapter import WEIGHTS, load_adapter
from shared.models.catalogue.checkpoint import EMBEDDED, NOTE, EmbeddedMetadata, file_sha256
from training.calibration import best_temperature, excesses, row_log_loss
from training.examples import Ask, Split, TrainingExample, save_adapter, token_range
from training.hate import HATE
from training.nli import NLI
from training.sentiment import SENTIMENT
from training.training import (
    Measured,
    TrainingConfig,
    TrainingTask,
    columns,
    logits,
    tokenizer_of,
    train,
)

THREADS = 2  # sums are taken in another order with another number of threads
METRICS = "metrics.json"
TASKS: dict[str, TrainingTask[Any]] = {task.name: task for task in (HATE, NLI, SENTIMENT)}


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    task = TASKS[chosen.task]
    paths = chosen.data or [chosen.data_folder / name for name in task.files]
    torch.set_num_threads(THREADS)
    console = Console(stderr=True)
    parts, folder = task.split(task.read(paths)), chosen.out / task.name
    if chosen.measure:
        note = EmbeddedMetadata.model_validate_json((folder / NOTE).read_bytes())
        metrics = measure(task, parts, folder, note)
    else:
        metrics = make(task, parts, folder, task.recipe, console)
    held_back, found = metrics.held_back, metrics.held_back.calibration
    console.print(
        f"{task.name}, held back: accuracy {held_back.accuracy.share:.4f}, "
        f"macro-F1 {held_back.macro_f1.value:.4f}, ECE {found.ece.value:.4f}, "
        f"its floor {found.floor:.4f}, p {found.p_calibrated:.3f}"
    )


def make(
    task: TrainingTask[Measured],
    parts: Split,
    folder: Path,
    recipe: TrainingConfig,
    console: Console,
) -> Measured:
    """Train a model and write its adapter. Calibrate and measure the adapter as saved, then write
    its model card."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = (TextColumn("training"), BarColumn(), TextColumn("{task.fields[loss]}"))
    with Progress(*shown, TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task("training", loss="")

        def step(done: int, steps: int, loss: float) -> None:
            progress.update(bar, completed=done, total=steps, loss=f"loss {loss:.3f}")

        after_epoch = BestEpoch(parts, folder, recipe) if recipe.best_epoch else lambda _: None
        model = train(parts.train, task.labels, recipe, step, after_epoch)
    if not recipe.best_epoch:
        save_adapter(model, folder, recipe.base)
    note = EmbeddedMetadata(
        revision=task.revision,
        labels=task.labels,
        languages=task.languages,
        temperature=1.0,
        base_sha256=recipe.base_sha256,
        adapter_sha256=file_sha256(folder / WEIGHTS),
    )
    ask = shipped(folder, note)
    temperature = best_temperature(ask(parts.calibration), columns(parts.calibration))
    return measure(task, parts, folder, note.model_copy(update={"temperature": temperature}))


class BestEpoch:
    """Writes the adapter after each epoch with a new lowest loss, so that the best one stays.

    The loss is the sum of the log losses on the calibration examples and on `Split.watched`
    (further examples for choosing the epoch). Each log loss uses the temperature that fits its
    examples best."""

    def __init__(self, parts: Split, folder: Path, recipe: TrainingConfig) -> None:
        self._parts = [part for part in (parts.calibration, parts.watched) if part]
        self._folder, self._base = folder, recipe.base
        self._tokenizer = tokenizer_of(recipe)
        self._least = math.inf

    def __call__(self, model: Any) -> None:
        loss = sum(self._loss(model, part) for part in self._parts)
        if loss < self._least:
            self._least = loss
            save_adapter(model, self._folder, self._base)

    def _loss(self, model: Any, examples: Sequence[TrainingExample]) -> float:
        raw, labels = logits(model, examples, self._tokenizer), columns(examples)
        return float(row_log_loss(raw / best_temperature(raw, labels), labels).mean())


def shipped(folder: Path, note: EmbeddedMetadata) -> Ask:
    """Return a function that computes the logits of the adapter in this folder."""
    model, tokenizer = load_adapter(folder, note)
    return partial(logits, model.eval(), tokenizer=tokenizer)


def measure(
    task: TrainingTask[Measured], parts: Split, folder: Path, note: EmbeddedMetadata
) -> Measured:
    """Evaluate the weights in this folder, and write metadata, metrics and model card to it."""
    metrics = task.evaluate(shipped(folder, note), parts, note.temperature)
    of_card = {
        "on_parts": excesses(metrics.parts),
        "training_tokens": token_range(parts.train, task.recipe.longest, tokenizer_of(task.recipe)),
    }
    note = note.model_copy(update=of_card)
    (folder / NOTE).write_text(note.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / METRICS).write_text(metrics.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(task.card(note, metrics), encoding="utf-8")
    return metrics


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Train an embedded adapter (up to 15 minutes on two cores), measure it on "
        "what was held back, and write its model card.",
    )
    parser.add_argument("task", choices=list(TASKS), help="which adapter")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument(
        "--data", type=Path, action="append", metavar="PATH", help="a JSONL file; may be repeated"
    )
    files = "; ".join(f"{task.name}: {', '.join(task.files)}" for task in TASKS.values())
    data.add_argument("--data-folder", type=Path, metavar="FOLDER", help=f"with {files}")
    parser.add_argument(
        "--out", type=Path, default=EMBEDDED, metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--measure", action="store_true", help="train nothing: measure the weights that are there"
    )
    return parser


if __name__ == "__main__":
    main()
