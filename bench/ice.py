"""ICE against the released ways: `python -m bench.ice`; the last line is JSON.

Paired in one process, medians over rounds: in every round the package's evaluator, a loop of one
forward pass a draw, and ours take their turn on the same texts of 40 tokens (8 kept), at the same
50 draws, deletion, 2 threads, on a random GPT-2 (124M) and a tiny one. Ours scores the texts as one
batch; `single` is one request at a time. Targets: `api_gpt2` 20, `api_tiny` 35, `loop_gpt2` 8,
`loop_tiny` 13 (the smaller of attention and gradient); scores equal to 1e-5.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

from bench import ice_gpu, ice_service
from bench.environment import environment
from bench.ice_models import (
    GPT2,
    LABEL_TOKENS,
    TEMPLATE,
    TINY,
    behind_the_port,
    random_model,
    tokenizer,
)
from bench.ice_released import Asked, package, script
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.ice.subsets import Subset, released
from shared.models import ports

score = SERVICE.score
score_batch = SERVICE.score_batch

DRAWS, SEED, LENGTH, KEPT, THREADS = 50, 42, 40, 8, 2
METHODS = ("attention", "gradient")

Way = Callable[[], object]


@dataclass(frozen=True)
class Shape:
    """A model to measure on."""

    name: str
    config: Any
    texts: int
    rounds: int


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.ice", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="on GPT-2, after a warm-up")
    parser.add_argument("--jobs", type=int, default=96, help="through the service (0: none)")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    shapes = (Shape("gpt2", GPT2, 4, asked.rounds), Shape("tiny", TINY, 8, 7 * asked.rounds))
    ratios: dict[str, float] = {}
    figures: dict[str, Any] = {}
    for shape in shapes:
        found = {method: measured(shape, method) for method in METHODS}
        figures |= {f"{shape.name}_{method}": one for method, one in found.items()}
        for other in ("api", "loop"):
            ratios[f"{other}_{shape.name}"] = min(one[f"{other}_ratio"] for one in found.values())
    figures["service"] = ice_service.measured(asked.jobs) if asked.jobs else None
    figures["gpu"] = ice_gpu.measured()
    about = environment(torch=torch.__version__, dtype="float32", rounds=asked.rounds)
    about |= {"threads": THREADS}
    print(json.dumps({"bench": "ice", "ratios": ratios, "figures": figures, "environment": about}))


def measured(shape: Shape, method: str) -> dict[str, float]:
    """Seconds an example of every way, in turn, and their ratios."""
    words, model = tokenizer(), random_model(shape.config)
    theirs = copy.deepcopy(model)  # the package leaves its own settings on the model
    ports.bind(behind_the_port(copy.deepcopy(model), words))
    requests = [request_of(text, method) for text in texts(shape.texts)]
    asked = [Asked(model, words, LABEL_TOKENS, ids_of(request)) for request in requests]
    masks = list(islice(released(SEED, LENGTH, KEPT), DRAWS))
    agreement = compare(requests, asked, method, masks)
    ways: dict[str, Way] = {
        "ours": lambda: score_batch(requests),
        "single": lambda: [score(request) for request in requests],
        "loop": lambda: [script(one, method, masks) for one in asked],
        "api": lambda: [
            package(Asked(theirs, one.tokenizer, one.labels, one.ids), method, DRAWS, SEED)
            for one in asked
        ],
    }
    seconds = in_turn(ways, shape.rounds, shape.texts)
    return (
        agreement
        | seconds
        | {
            f"{other}_ratio": round(seconds[other] / seconds["ours"], 2)
            for other in ("api", "loop")
        }
        | {
            f"{other}_ratio_single": round(seconds[other] / seconds["single"], 2)
            for other in ("api", "loop")
        }
    )


def in_turn(ways: dict[str, Way], rounds: int, examples: int) -> dict[str, float]:
    """Median seconds an example; the first round is thrown away."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            taken[name].append((time.perf_counter() - started) / examples)
    return {name: round(statistics.median(found[1:]), 5) for name, found in taken.items()}


def compare(
    requests: Sequence[IceRequest], asked: Sequence[Asked], method: str, masks: Sequence[Subset]
) -> dict[str, float]:
    """Ours against the loop: the same rationale, and every score to 1e-5."""
    apart = 0.0
    for (experiment, _), one in zip(run_experiments(requests), asked, strict=True):
        theirs = script(one, method, masks)
        trial = experiment.trials[0]
        assert trial.rationale == theirs.rationale
        assert experiment.null_subsets(trial) == list(masks)
        null = experiment.null("delete", trial, experiment.null_places(trial))
        ours = [experiment.observed("delete", trial), *null]
        gap = np.max(np.abs(np.array(ours) - np.array([theirs.observed, *theirs.null])))
        apart = max(apart, float(gap), abs(experiment.tokenized.full - theirs.full))
    assert apart <= 1e-5, apart
    return {"max_score_difference": apart}


def request_of(text: str, method: str) -> IceRequest:
    """Variant reference draws as the package does."""
    fields = {"text": text, "template": TEMPLATE, "attribution": method, "draws": DRAWS}
    return IceRequest.model_validate(fields | {"variant": "reference", "seed": SEED})


def texts(count: int) -> list[str]:
    """Different texts of 40 words."""
    random = np.random.default_rng(3)
    drawn = random.integers(100, 1_000, (count, LENGTH))
    return [" ".join(f"w{word}" for word in row) for row in drawn]


def ids_of(request: IceRequest) -> list[int]:
    """Each word is a token."""
    return [int(word[1:]) for word in request.text.split()]


if __name__ == "__main__":
    main()
