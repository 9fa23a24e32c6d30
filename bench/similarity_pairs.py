"""Compares one call of our cross-encoder for the relevance pairs of 16 reasons with one `predict`
per reason.

`python -m bench.similarity_pairs`: the last line is JSON. A pair is a reason and the same reason
with a word, or two in a row, left out: 20 pairs of about 30 tokens a reason. The model has the
shape of distilroberta (6 layers, 768 numbers) and random weights. Paired: in every round both take
their turn on the same pairs, ours with an empty cache; ratios are medians over rounds.
`similarity_f32`: both in float32 (target 1.15). `similarity_bf16`: ours in bfloat16 against
`predict` as it comes, in float32 (target 2.5), only where the processor multiplies bfloat16;
`predict` in bfloat16 is among the figures.
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
from services.inference.weights.loader import load_encoder, without_progress
from services.similarity.cache import Cache
from services.similarity.encoders import CrossEncoder
from services.similarity.layers import optimize_layers
from shared.contracts.calls import Pair
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import base_folder
from shared.models.catalogue.entry import ModelEntry
from shared.process.numerics import tolerance

REASONS, WORDS, PAIRS = 16, 14, 20
HIDDEN, INNER, LAYERS = 768, 3_072, 6
SIDE = 2_048  # of the matrices that measure the peak
IN_HARDWARE = {"avx512_bf16", "amx_bf16"}
VOCABULARY = (
    "the post says that people from one small town should never have come here because they are "
    "all loud lazy dirty and cruel while an honest reader would ask who was hurt by these words"
)

Dtype = Literal["float32", "bfloat16"]
Reason = list[tuple[str, str]]  # its pairs


@dataclass
class Turns:
    """The seconds of each round, and the FLOP/s of a large matrix product in the same round."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    scores: Any = None  # (N,) ours, the last round's

    def ratio(self, theirs: Turns) -> float:
        """Return the median of (their time) / (our time), round by round."""
        both = zip(theirs.theirs, self.ours, strict=True)
        return round(statistics.median(other / own for other, own in both), 3)

    def figures(self, tokens: int, rows: int) -> dict[str, float]:
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
        return found


def measure(rounds: int) -> dict[str, Any]:
    """Return `ratios` and `figures` for both dtypes. A value that cannot be measured is null with a
    reason."""
    reasons = made_reasons()
    with tempfile.TemporaryDirectory() as name:
        tokens = made_model(Path(name), reasons)
        dtypes: list[Dtype] = ["float32", "bfloat16"] if bf16_in_hardware() else ["float32"]
        ways = [Ways(Path(name), dtype) for dtype in dtypes]
        taken = [Turns() for _ in ways]
        for number in range(rounds + 1):  # the first is thrown away
            for way, turns in zip(ways, taken, strict=True):
                way.take(reasons, turns if number else Turns())
    return summed_up(taken, tokens, sum(map(len, reasons)))


def summed_up(taken: list[Turns], tokens: int, pairs: int) -> dict[str, Any]:
    plain, *half = taken
    ratios = {"similarity_f32": plain.ratio(plain), "similarity_bf16": None}
    figures: dict[str, Any] = {"f32": plain.figures(tokens, pairs)}
    figures["bf16"] = "null: this processor has neither avx512_bf16 nor amx_bf16"
    for turns in half:
        ratios["similarity_bf16"] = turns.ratio(plain)
        same, apart = turns.ratio(turns), float(np.abs(turns.scores - plain.scores).max())
        more = {"against_predict_in_bf16": same, "largest_difference_to_f32": apart}
        figures["bf16"] = turns.figures(tokens, pairs) | more
    figures |= {"pairs": pairs, "tokens_per_pair": round(tokens / pairs, 1)}
    return {"ratios": ratios, "figures": figures}


def made_reasons() -> list[Reason]:
    """Return 20 pairs of a reason and a copy without one word (14 pairs) or two words (6 pairs)."""
    rng = np.random.default_rng(0)
    reasons = []
    for _ in range(REASONS):
        words = [str(word) for word in rng.choice(VOCABULARY.split(), WORDS, replace=False)]
        cuts = [(k, k + 1) for k in range(WORDS)] + [(k, k + 2) for k in range(PAIRS - WORDS)]
        reason = " ".join(words)
        reasons.append([(reason, " ".join(words[:a] + words[b:])) for a, b in cuts])
    return reasons


def made_model(folder: Path, reasons: list[Reason]) -> int:
    """Save a distilroberta with random weights, and return the tokens of all pairs."""
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
    with without_progress():
        RobertaForSequenceClassification(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(len(tokenizer(*pair)["input_ids"]) for reason in reasons for pair in reason)


class Ways:
    """Runs our code and `predict` in one dtype."""

    def __init__(self, folder: Path, dtype: Dtype) -> None:
        entry = ModelEntry(
            name="bench", kind="cross-encoder", source=f"path:{folder}", dtype=dtype, device="cpu"
        )
        self._weights = load_encoder(Catalogue((entry,), folder), entry, optimize_layers)
        kwargs = {"dtype": getattr(torch, dtype)}
        with without_progress():
            self._plain = sentence_transformers.CrossEncoder(
                str(folder), device="cpu", model_kwargs=kwargs
            )
        self._square = torch.rand(SIDE, SIDE, dtype=getattr(torch, dtype))

    def take(self, reasons: list[Reason], turns: Turns) -> None:
        """Run our code, `predict` and a large matrix product once."""
        pairs = [Pair(a=a, b=b) for reason in reasons for a, b in reason]
        ours, found = timed(lambda: CrossEncoder(self._weights, Cache()).similarities(pairs))
        theirs, wanted = timed(lambda: [self._plain.predict(reason) for reason in reasons])
        apart = float(np.abs(found - np.concatenate(wanted)).max())
        if apart > tolerance(self._weights.use.dtype):
            raise ValueError(f"the two ways do not agree: {apart:.2g} apart")
        products = [timed(lambda: self._square @ self._square)[0] for _ in range(3)]
        turns.ours.append(ours)
        turns.theirs.append(theirs)
        turns.peak.append(2 * SIDE**3 / min(products))
        turns.scores = found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def bf16_in_hardware() -> bool:
    return CPUINFO.exists() and not IN_HARDWARE.isdisjoint(CPUINFO.read_text().split())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.similarity_pairs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    found = measure(rounds)
    about = environment(torch=torch.__version__, dtype="float32, bfloat16", rounds=rounds)
    print(json.dumps({"bench": "similarity_pairs", **found, "environment": about}))


if __name__ == "__main__":
    main()
