"""Compares the speed of inference with plain code: `python -m bench.inference`. The last line is
JSON.

Paired: in every round each way takes its turn on the same rows; medians over rounds.
`concurrent_vs_offline`: share of the throughput of one offline, length-sorted batch run of the same
texts in this process that 64 threads of two short texts each reach (target 0.8).
`deletion_vs_loop`: 51 deletion rows (8 of 40 tokens kept) of a random GPT-2 124M against one
forward pass a row (target 8); `template_vs_loop`: the same with 23 tokens of template (target 6).
`similarity_f32`, `similarity_bf16`: see `bench.similarity_pairs` (targets 1.15 and 2.5).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from bench import similarity_pairs
from bench.environment import environment
from services.inference.causal import LocalLanguageModel
from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.contracts.calls import Example, ExampleRows, Row, Template
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.numerics import tolerance

CALLERS, TEXTS_EACH = 64, 2
ROWS, LENGTH, KEPT = 51, 40, 8
WORDS = ["the", "old", "garden", "people", "walk", "rain", "slowly", "under", "green", "windows"]
PLAIN = Template(verbalizers={"up": " w1", "down": " w2"})
FRAMED = Template(
    prefix=" ".join(f"w{n}" for n in range(100, 119)) + " ",
    suffix=" " + " ".join(f"w{n}" for n in range(200, 204)),
    verbalizers=PLAIN.verbalizers,
)

Way = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.inference", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="after a warm-up (default 5)")
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    hate = LocalModels(load_catalogue(Path("models.toml"))).local_classifier("embedded-hate")
    model = random_gpt2()
    pairs = {
        "concurrent_vs_offline": (concurrent(hate), offline(hate)),
        "deletion_vs_loop": deletions(model, PLAIN),
        "template_vs_loop": deletions(model, FRAMED),
    }
    ratios: dict[str, float | None] = {}
    figures: dict[str, Any] = {}
    for name, (ours, other) in pairs.items():
        seconds = paired(ours, other, rounds)
        ratios[name] = round(seconds[1] / seconds[0], 2)
        figures[name] = {"our_seconds": seconds[0], "other_seconds": seconds[1]}
    similarity = similarity_pairs.measure(rounds)
    ratios |= similarity["ratios"]
    figures["similarity"] = similarity["figures"]
    about = environment(torch=torch.__version__, dtype="float32", rounds=rounds)
    found = {"bench": "inference", "ratios": ratios, "figures": figures, "environment": about}
    print(json.dumps(found))


def paired(ours: Way, other: Way, rounds: int) -> tuple[float, float]:
    """Return median seconds of both, in turn, after a warm-up round."""
    taken = [(_seconds(ours), _seconds(other)) for _ in range(rounds + 1)][1:]
    first, second = (statistics.median(column) for column in zip(*taken, strict=True))
    return round(first, 4), round(second, 4)


def _seconds(way: Way) -> float:
    started = time.perf_counter()
    way()
    return time.perf_counter() - started


def short_texts() -> list[str]:
    random = np.random.default_rng(0)
    count = CALLERS * TEXTS_EACH
    return [" ".join(random.choice(WORDS, random.integers(3, 25))) for _ in range(count)]


def concurrent(hate: LocalClassifier) -> Way:
    texts = short_texts()
    calls = [texts[n : n + TEXTS_EACH] for n in range(0, len(texts), TEXTS_EACH)]

    def run() -> None:
        with ThreadPoolExecutor(CALLERS) as threads:
            list(threads.map(hate.probabilities, calls))

    return run


def offline(hate: LocalClassifier, batch: int = 32) -> Way:
    """Score the texts as scripts usually do: sorted by length, and padded to the longest text of
    each batch."""
    texts = sorted(short_texts(), key=len)
    weights = hate._weights  # noqa: SLF001 - the same weights, asked directly

    @torch.inference_mode()
    def run() -> None:
        for first in range(0, len(texts), batch):
            some = texts[first : first + batch]
            read = weights.tokenizer(some, padding=True, truncation=True, return_tensors="pt")
            torch.softmax(weights.model(**read).logits / weights.temperature, dim=1).numpy()

    return run


def random_gpt2() -> LocalLanguageModel:
    """Return GPT-2's shape (124M) with random weights and a tokenizer of whole words."""
    config = GPT2Config(bos_token_id=0, eos_token_id=0)
    words = Tokenizer(models.WordLevel({f"w{n}": n for n in range(1_000)}, unk_token="w0"))  # noqa: S106 - no password
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w0")  # noqa: S106
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        GPT2LMHeadModel(config).save_pretrained(folder / "gpt2")
        tokenizer.save_pretrained(folder / "gpt2")
        entry = '[[models]]\nname = "m"\nkind = "causal"\nsource = "path:gpt2"\ndevice = "cpu"\n'
        (folder / "models.toml").write_text(entry, "utf-8")
        found = LocalModels(load_catalogue(folder / "models.toml")).language_model("m")
        assert isinstance(found, LocalLanguageModel)
        return found


def deletions(model: LocalLanguageModel, template: Template) -> tuple[Way, Way]:
    """Return two functions that score rows with 8 of 40 tokens: `judge_rows`, and one pass per row.
    Template tokens are always kept."""
    text = " ".join(f"w{n}" for n in range(300, 300 + LENGTH))
    example = Example(text=text, template=template)
    tokens = model.tokens([example])[0]
    of_text = [place for place, part in enumerate(tokens.parts) if part == "text"]
    always = sorted(set(range(len(tokens.ids))) - set(of_text))
    random = np.random.default_rng(1)
    kept = [
        tuple(sorted([*always, *random.choice(of_text, KEPT, replace=False).tolist()]))
        for _ in range(ROWS)
    ]
    asked = ExampleRows(example=example, rows=tuple(Row(kept=places) for places in kept))
    ids = [[tokens.ids[place] for place in places] for places in kept]
    answers = model.judge_rows([asked])[0]
    assert np.abs(answers - loop(model, ids)).max() <= tolerance(model.use.dtype)
    return (lambda: model.judge_rows([asked])), (lambda: loop(model, ids))


@torch.inference_mode()
def loop(model: LocalLanguageModel, rows: Sequence[Sequence[int]]) -> Any:
    """Return (R, L) probabilities from one full forward pass per row, as the paper's scripts do."""
    torch_model = model._weights.model  # noqa: SLF001 - the same weights, asked directly
    found = []
    for row in rows:
        logits = torch_model(input_ids=torch.tensor([row])).logits[0, -1, [1, 2]]
        found.append(torch.softmax(logits, dim=0).numpy())
    return np.stack(found)


if __name__ == "__main__":
    main()
