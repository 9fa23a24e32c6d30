"""Compares the speed of HLV and CoT2EL on a batch of items with that on the same items one at a
time.

`python -m bench.hlv_items`: the last line is JSON. Paired: in every round the batch and the single
items take their turn; medians over rounds. `hlv`: first-token judging with and without explanations
by a random causal model of a fixed shape (time depends on shape, not on training).
`hlv_classifier`: the shipped `embedded-nli`. `cot2el`: alignment on this CPU, in items per second,
since there is nothing to share.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from bench.environment import environment
from services.cot2el.contract import CONTRACT as COT2EL
from services.cot2el.metric import SERVICE as COT2EL_SERVICE
from services.hlv.contract import CONTRACT as HLV
from services.hlv.metric import SERVICE as HLV_SERVICE
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue

refine_batch = COT2EL_SERVICE.score_batch
score_batch = HLV_SERVICE.score_batch

ITEMS = 32
SHAPE = {"n_embd": 128, "n_layer": 4, "n_head": 4, "n_positions": 2_048}
ROOT = Path(__file__).parents[1]

Score = Callable[[Sequence[Any]], list[Any]]


def measure(rounds: int, items: int = ITEMS) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        ports.bind(local(load_catalogue(_catalogue(Path(folder)))))
        try:
            found = {
                "hlv": _paired(score_batch, _judged("random", items), rounds),
                "hlv_classifier": _paired(score_batch, _classified(items), rounds),
                "cot2el": _paired(refine_batch, _refined(items), rounds),
            }
        finally:
            ports.bind(None)
    ratios = {
        f"{name}_batched_vs_single": round(single / batch, 2)
        for name, (batch, single) in found.items()
        if name != "cot2el"
    }
    figures = {f"{name}_items_per_second": round(items / b, 2) for name, (b, _) in found.items()}
    return {"ratios": ratios, "figures": figures | {"items": items}}


def _paired(score: Score, requests: Sequence[Any], rounds: int) -> tuple[float, float]:
    batch, single = [], []
    for number in range(rounds + 1):
        started = time.perf_counter()
        score(requests)
        between = time.perf_counter()
        for request in requests:
            score([request])
        if number:
            batch.append(between - started)
            single.append(time.perf_counter() - between)
    return statistics.median(batch), statistics.median(single)


def _catalogue(folder: Path) -> Path:
    """Return the embedded models and a random causal model named `random` with a byte
    vocabulary."""
    torch.manual_seed(0)
    words = byte_words(2_048)
    config = GPT2Config(
        vocab_size=len(words), bos_token_id=None, eos_token_id=words.eos_token_id, **SHAPE
    )
    GPT2LMHeadModel(config).save_pretrained(folder / "random")
    words.save_pretrained(folder / "random")
    entry = '\n[[models]]\nname = "random"\nkind = "causal"\nsource = "path:random"\n'
    path = folder / "models.toml"
    path.write_text((ROOT / "models.toml").read_text("utf-8") + entry, "utf-8")
    return path


def byte_words(longest: int, chat: str | None = None) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are the bytes and an end-of-text token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: place for place, letter in enumerate([*alphabet, "<end>"])}
    words = Tokenizer(models.BPE(vocabulary, []))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    ends = {"eos_token": "<end>", "pad_token": "<end>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=words, model_max_length=longest, chat_template=chat, **ends
    )


def _item(place: int, model: str) -> dict[str, Any]:
    example = HLV.examples["your own distributions"]
    question = {
        "premise": f"A crowd of {place} people has gathered, all looking the same way.",
        "hypothesis": "People are curious" + " about something" * (place % 4),
    }
    return {
        "model": model,
        "question": question,
        "options": example["options"],
        "human": example["human"],
    }


def _judged(model: str, items: int) -> list[Any]:
    more = {
        "explanations": [{"explanation": "Looking is not being curious.", "label": "B"}],
        "judge": {"methods": ["logits"], "chat": False},
    }
    return [HLV.request.model_validate(_item(place, model) | more) for place in range(items)]


def _classified(items: int) -> list[Any]:
    return [HLV.request.model_validate(_item(place, "embedded-nli")) for place in range(items)]


def _refined(items: int) -> list[Any]:
    body = COT2EL.examples["your own pairs"]
    return [
        COT2EL.request.model_validate(body | {"reasoning": f"{body['reasoning']} Case {place}."})
        for place in range(items)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hlv_items", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="after a warm-up (default 5)")
    parser.add_argument("--items", type=int, default=ITEMS)
    asked = parser.parse_args()
    found = measure(asked.rounds, asked.items)
    about = environment(torch=torch.__version__, dtype="float32", items=asked.items)
    print(json.dumps({"bench": "hlv_items", **found, "environment": about}))


if __name__ == "__main__":
    main()
