"""Relevance pairs of 16 reasons: one call of our cross-encoder against one `predict` a reason.

`python -m bench.similarity_pairs`: the last line is JSON. A pair is a reason and the same reason
with a word, or two in a row, left out: 20 pairs of about 30 tokens a reason. The model has the
shape of distilroberta (6 layers, 768 numbers) and random weights. Paired: in every round both take
their turn on the same pairs, ours with an empty cache; ratios are medians over rounds. Target:
1.15 in float32. bfloat16 is measured (both sides) only where the processor multiplies it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sentence_transformers
import torch
from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification

from bench.environment import CPUINFO, environment
from services.similarity.cache import Cache
from services.similarity.cross_encoder import CrossEncoder
from services.similarity.loading import load
from services.similarity.quiet import quiet
from shared.calls import Pair
from shared.catalogue import Catalogue, ModelEntry
from shared.embedded_base import base_folder

REASONS, WORDS, PAIRS = 16, 14, 20
HIDDEN, INNER, LAYERS = 768, 3_072, 6
SIDE = 2_048  # of the matrices that measure the peak
IN_HARDWARE = {"avx512_bf16", "amx_bf16"}
VOCABULARY = [
    "the",
    "post",
    "says",
    "that",
    "people",
    "from",
    "one",
    "small",
    "town",
    "should",
    "never",
    "have",
    "come",
    "here",
    "because",
    "they",
    "are",
    "all",
    "loud",
    "lazy",
    "dirty",
    "and",
    "cruel",
    "while",
    "an",
    "honest",
    "reader",
    "would",
    "ask",
    "who",
    "was",
    "hurt",
    "by",
    "these",
    "words",
]

Dtype = Literal["float32", "bfloat16"]
Reason = list[tuple[str, str]]  # its pairs


@dataclass
class Turns:
    """Seconds of each round, and FLOP/s of a large matrix product beside it."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    apart: float = 0  # largest difference of a score

    @property
    def ratio(self) -> float:
        """Median of (their time) / (our time)."""
        both = zip(self.theirs, self.ours, strict=True)
        return round(statistics.median(theirs / ours for theirs, ours in both), 3)

    def figures(self, tokens: int, rows: int) -> dict[str, float]:
        """Medians, and shares of the peak: multiplications that were needed, not those saved."""
        token = 4 * HIDDEN**2 + 2 * HIDDEN * INNER  # of one layer
        full = 2 * tokens * LAYERS * token
        saved = 2 * (tokens - rows) * (token - 2 * HIDDEN**2)
        seconds = {"ours": self.ours, "predict": self.theirs}
        work = {"ours": full - saved, "predict": full}
        found = {f"{who}_seconds": round(statistics.median(s), 3) for who, s in seconds.items()}
        for who, flop in work.items():
            both = zip(seconds[who], self.peak, strict=True)
            share = statistics.median(flop / (time_ * peak) for time_, peak in both)
            found[f"{who}_share_of_peak"] = round(share, 3)
        found["peak_gflops"] = round(statistics.median(self.peak) / 1e9, 1)
        return found | {"largest_difference": self.apart}


def measure(rounds: int) -> dict[str, Any]:
    """`ratios` and `figures` of both dtypes; null with a reason where there is none."""
    reasons = made_reasons()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = made_model(folder, reasons)
        turns = {"f32": taken(folder, "float32", reasons, rounds)}
        if bf16_in_hardware():
            turns["bf16"] = taken(folder, "bfloat16", reasons, rounds)
    rows = sum(map(len, reasons))
    figures: dict[str, Any] = {key: turn.figures(tokens, rows) for key, turn in turns.items()}
    figures.setdefault("bf16", "null: this processor has neither avx512_bf16 nor amx_bf16")
    figures |= {"rounds": rounds, "pairs": rows, "tokens_per_pair": round(tokens / rows, 1)}
    ratios = {f"similarity_{k}": turns[k].ratio if k in turns else None for k in ("f32", "bf16")}
    return {"ratios": ratios, "figures": figures}


def made_reasons() -> list[Reason]:
    """Every reason against itself with words left out: 14 times one word, 6 times two."""
    rng = np.random.default_rng(0)
    reasons = []
    for _ in range(REASONS):
        words = [str(word) for word in rng.choice(VOCABULARY, WORDS, replace=False)]
        cuts = [(k, k + 1) for k in range(WORDS)] + [(k, k + 2) for k in range(PAIRS - WORDS)]
        reason = " ".join(words)
        reasons.append([(reason, " ".join(words[:a] + words[b:])) for a, b in cuts])
    return reasons


def made_model(folder: Path, reasons: list[Reason]) -> int:
    """A distilroberta with random weights and the base's words; the tokens of all pairs."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(base_folder(), model_max_length=512)
    shape = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        max_position_embeddings=514,
        type_vocab_size=2,
        pad_token_id=tokenizer.pad_token_id,
        num_labels=1,
    )
    with quiet():
        RobertaForSequenceClassification(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(len(tokenizer(*pair)["input_ids"]) for reason in reasons for pair in reason)


def taken(folder: Path, dtype: Dtype, reasons: list[Reason], rounds: int) -> Turns:
    """Both ways in turn, the first round thrown away."""
    entry = ModelEntry(
        name="bench", kind="cross-encoder", source=f"path:{folder}", dtype=dtype, device="cpu"
    )
    weights = load(Catalogue((entry,), folder), entry)
    with quiet():
        kwargs = {"dtype": getattr(torch, dtype)}
        plain = sentence_transformers.CrossEncoder(str(folder), device="cpu", model_kwargs=kwargs)
    pairs = [Pair(a=a, b=b) for reason in reasons for a, b in reason]
    square = torch.rand(SIDE, SIDE, dtype=getattr(torch, dtype))
    turns = Turns()
    for number in range(rounds + 1):
        ours, found = timed(lambda: CrossEncoder(weights, Cache()).similarities(pairs))
        theirs, wanted = timed(lambda: [plain.predict(reason) for reason in reasons])
        peak = 2 * SIDE**3 / min(timed(lambda: square @ square)[0] for _ in range(3))
        turns.apart = max(turns.apart, float(np.abs(found - np.concatenate(wanted)).max()))
        if number > 0:
            turns.ours.append(ours)
            turns.theirs.append(theirs)
            turns.peak.append(peak)
    return turns


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def bf16_in_hardware() -> bool:
    """Whether the processor multiplies bfloat16 itself."""
    return CPUINFO.exists() and not IN_HARDWARE.isdisjoint(CPUINFO.read_text().split())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.similarity_pairs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    found = measure(parser.parse_args().rounds)
    about = environment(torch=torch.__version__, dtype="float32, bfloat16")
    print(json.dumps({"bench": "similarity_pairs", **found, "environment": about}))


if __name__ == "__main__":
    main()
