"""Trains the reader, a text classifier for explanations, on the texts of this folder and writes its
adapter.

touchstone reader train [--data FILE ...] [--out FOLDER] [--from FOLDER] [--device cuda]

`--data` adds your own texts to those of `data/`. With `--from`, training continues from an
adapter for one epoch. This epoch contains the texts of `--data` three times, those of
`data/` once, and a third of the sentences of the project's tests. `touchstone reader gate`
measures the new adapter."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, set_peft_model_state_dict
from safetensors.torch import load_file

from services.inference.embedded.adapter import WEIGHTS, new_e5_adapter
from services.inference.embedded.e5 import e5_tokenizer, read_e5
from shared.models.catalogue.checkpoint import (
    E5_NAME,
    E5_SHA256,
    EMBEDDED,
    NOTE,
    EmbeddedMetadata,
    e5_path,
)
from shared.readers.model import LABELS, OUTPUTS, PLACES, Reading
from training.examples import save_adapter
from training.reader.fit import Recipe, TokenizedRow, fit
from training.reader.rows import OLD, ReaderRow, training_rows

REVISION = "1.1.0"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "ko")
TIMES: dict[Reading, int] = {  # readings with few texts are seen more often
    "stance": 2,
    "answer": 2,
    "reasons": 2,
    "polarity": 2,
    "refusal": 2,
}
CONTINUED = Recipe(epochs=1, rate=4e-4, dropout=0)
REPEATED = 3  # of `--data` where training continues
OLD_SHARE = 3  # one of three sentences of the tests, where training continues
THREADS = 2  # sums are taken in another order with another number of threads


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="touchstone reader train", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--out", type=Path, default=EMBEDDED / "reader", metavar="FOLDER")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--from", dest="start", type=Path, metavar="FOLDER", help="an adapter")
    options = parser.parse_args(arguments)
    torch.set_num_threads(THREADS)
    recipe, base = CONTINUED if options.start else Recipe(), read_e5(e5_path())
    torch.manual_seed(recipe.seed)
    model = new_e5_adapter(base, OUTPUTS, lora(recipe))
    if options.start:
        weights = load_file(options.start / WEIGHTS)
        set_peft_model_state_dict(model, {name: value.float() for name, value in weights.items()})
    rows = training_rows(options.data)
    if options.start:
        rows = _continued(rows, {file.stem for file in options.data})
    else:
        rows = [row for row in rows for _ in range(TIMES.get(row.reading, 1))]
    fit(model, tokenized(rows, e5_tokenizer(base)), recipe, options.device)
    options.out.mkdir(parents=True, exist_ok=True)
    note = EmbeddedMetadata(
        revision=REVISION,
        labels=OUTPUTS,
        languages=LANGUAGES,
        temperature=1.0,
        base_sha256=E5_SHA256,
        adapter_sha256=save_adapter(model.to("cpu"), options.out, E5_NAME),
    )
    (options.out / NOTE).write_text(note.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _continued(rows: Sequence[ReaderRow], new: set[str]) -> list[ReaderRow]:
    """Return the rows for continued training. Rows whose author is in `new` are repeated."""
    old = [row for row in rows if row.author == OLD]
    others = [row for row in rows if row.author != OLD]
    repeated = [row for row in others for _ in range(REPEATED if row.author in new else 1)]
    return [*repeated, *old[::OLD_SHARE]]


def lora(recipe: Recipe) -> LoraConfig:
    """Return the configuration of the adapter: all matrices of the first layers, and the head."""
    return LoraConfig(
        r=recipe.rank,
        lora_alpha=2 * recipe.rank,
        lora_dropout=recipe.dropout,
        target_modules=["query", "key", "value", "dense"],
        modules_to_save=["classifier"],
        layers_to_transform=list(range(recipe.layers)),
        layers_pattern="layer",
        task_type="SEQ_CLS",
    )


def tokenized(rows: Sequence[ReaderRow], tokenizer: Any) -> list[TokenizedRow]:
    """Return each row's token ids and the positions of its labels among the outputs."""
    ids = tokenizer([row.asked for row in rows])["input_ids"]
    found = []
    for row, tokens in zip(rows, ids, strict=True):
        own, labels = PLACES[row.reading], LABELS[row.reading]
        right = [own.start + labels.index(label) for label in row.labels]
        several = row.reading == "reasons"
        found.append(TokenizedRow(tokens, right, range(own.start, own.stop), several))
    return found


if __name__ == "__main__":
    main()
