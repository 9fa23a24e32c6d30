"""Train an embedded adapter anew, measure it, and write its model card.

python -m services.inference.embedded.train hate --data-folder ../shared/data
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import AutoTokenizer

from services.inference.classifier import LocalClassifier, Weights
from services.inference.embedded.adapter import load_adapter, save_adapter
from services.inference.embedded.base import BASE_SHA256, base_folder
from services.inference.embedded.calibration import best_temperature
from services.inference.embedded.card import render
from services.inference.embedded.evaluation import Metrics, columns, evaluate
from services.inference.embedded.examples import FILES, LABELS, read
from services.inference.embedded.split import Split, split
from services.inference.embedded.training import Recipe, train
from shared.catalogue import EMBEDDED, NOTE, EmbeddedNote
from shared.contracts import ModelUse

REVISION = "1.0.0"  # raise it when the recipe or the data changes
THREADS = 2  # sums are taken in another order with another number of threads
METRICS = "metrics.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    chosen = _parser().parse_args(arguments)
    paths = chosen.data or [chosen.data_folder / name for name in FILES]
    torch.set_num_threads(THREADS)
    console = Console(stderr=True)
    metrics = make(split(read(paths)), chosen.out / chosen.task, Recipe(), console)
    posts = metrics.held_back
    console.print(
        f"held-back posts: accuracy {posts.accuracy.share:.4f}, macro-F1 {posts.macro_f1:.4f}, "
        f"calibration error {posts.calibration_error:.4f} "
        f"(before: {posts.calibration_error_before:.4f}); "
        f"HateCheck accuracy {metrics.hatecheck.accuracy.share:.4f}"
    )


def make(parts: Split, folder: Path, recipe: Recipe, console: Console) -> Metrics:
    """Train, write the adapter, calibrate and measure it as written, write its card."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("training"), BarColumn(), TextColumn("{task.fields[loss]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task("training", loss="")

        def step(done: int, steps: int, loss: float) -> None:
            progress.update(bar, completed=done, total=steps, loss=f"loss {loss:.3f}")

        model = train(parts.train, recipe, step)
    note = EmbeddedNote(
        revision=REVISION,
        labels=LABELS,
        languages=("en",),
        temperature=1.0,
        base_sha256=BASE_SHA256,
        adapter_sha256=save_adapter(model, folder),
    )
    return _measure(parts, folder, note)


def _measure(parts: Split, folder: Path, note: EmbeddedNote) -> Metrics:
    """Fit the temperature, evaluate, and write note, metrics and card."""
    raw = LocalClassifier(_weights(folder, note))
    logits = raw.logits([example.text for example in parts.calibration])
    temperature = best_temperature(logits, columns(parts.calibration))
    note = note.model_copy(update={"temperature": temperature})
    metrics = evaluate(raw, parts, note.temperature)
    (folder / NOTE).write_text(note.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / METRICS).write_text(metrics.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(render(note, metrics), encoding="utf-8")
    return metrics


def _weights(folder: Path, note: EmbeddedNote) -> Weights:
    return Weights(
        model=load_adapter(folder, note).eval(),
        tokenizer=AutoTokenizer.from_pretrained(base_folder(), local_files_only=True),
        longest=512,
        labels=note.labels,
        languages=note.languages,
        temperature=note.temperature,
        use=ModelUse(
            name="embedded-hate",
            revision=note.revision,
            sha256=note.adapter_sha256,
            device="cpu",
            dtype="float32",
        ),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m services.inference.embedded.train",
        description="Train an embedded adapter (5 to 12 minutes on two cores), measure it on "
        "what was held back, and write its model card.",
    )
    parser.add_argument("task", choices=["hate"], help="which adapter")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument(
        "--data", type=Path, action="append", metavar="PATH", help="a JSONL file; may be repeated"
    )
    data.add_argument(
        "--data-folder", type=Path, metavar="FOLDER", help=f"a folder with {' and '.join(FILES)}"
    )
    parser.add_argument(
        "--out", type=Path, default=EMBEDDED, metavar="FOLDER", help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    main()
