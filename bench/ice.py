"""Compares the speed of ICE with the released code: `python -m bench.ice`. The last line is JSON.

Paired in one process, medians over rounds. In every round the package's evaluator, a loop of one
forward pass per draw, and our code take their turn on the same texts of 40 tokens (8 kept), at the
same 50 draws, deletion, 2 threads, on a random GPT-2 (124M) and a tiny one. Our code scores the
texts as one batch; `single` is one request at a time. Targets: `api_gpt2` 22, `api_tiny` 50,
`loop_gpt2` 9, `loop_tiny` 18 (the smaller of attention and gradient); scores equal to 1e-5. If the
processor multiplies bfloat16 in hardware, `fast` is our batch in bfloat16 against theirs in
float32: `api_gpt2_fast` 45, `loop_gpt2_fast` 18.

`package`: `ICEEvaluator` of ice-faithfulness 1.0.1, as a user calls it, deletion only. `script`:
the procedure of the authors' English script, one forward pass per draw, rewritten from its
description with given masks, so that both use the same ones.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import torch

from bench import ice_gpu, ice_service
from bench.environment import environment
from bench.ice_gpu import (
    GPT2,
    LABEL_TOKENS,
    TEMPLATE,
    TINY,
    behind_the_port,
    random_model,
    tokenizer,
)
from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.kernel import Floats
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.ice.variants import Subset, released
from shared.models import ports
from shared.process.numerics import fast_arithmetic

score = SERVICE.score
score_batch = SERVICE.score_batch

DRAWS, SEED, LENGTH, KEPT, THREADS = 50, 42, 40, 8, 2
METHODS = ("attention", "gradient")
WAYS = ("ours", "single", "fast", "loop", "api")  # that take turns

Contender = Callable[[], object]


@dataclass(frozen=True)
class Shape:
    name: str
    config: Any
    texts: int
    rounds: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ice", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="on GPT-2, after a warm-up")
    parser.add_argument("--jobs", type=int, default=96, help="through the service (0: none)")
    parser.add_argument("--only", nargs="+", choices=WAYS, default=WAYS, help="these take turns")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    shapes = (Shape("gpt2", GPT2, 4, asked.rounds), Shape("tiny", TINY, 8, 7 * asked.rounds))
    ratios: dict[str, float] = {}
    figures: dict[str, Any] = {}
    for shape in shapes:
        found = {method: measured(shape, method, asked.only) for method in METHODS}
        figures |= {f"{shape.name}_{method}": one for method, one in found.items()}
        for other, way in product(("api", "loop", "ours"), ("", "_fast")):
            if all(f"{other}_ratio{way}" in one for one in found.values()):
                least = min(one[f"{other}_ratio{way}"] for one in found.values())
                ratios[f"{other}_{shape.name}{way}"] = least
    figures["service"] = ice_service.measured(asked.jobs) if asked.jobs else None
    figures["gpu"] = ice_gpu.measured()
    about = environment(torch=torch.__version__, dtype="float32", rounds=asked.rounds)
    about |= {"threads": THREADS}
    print(json.dumps({"bench": "ice", "ratios": ratios, "figures": figures, "environment": about}))


def measured(shape: Shape, method: str, only: Sequence[str] = WAYS) -> dict[str, float]:
    """Return the seconds per example of each implementation, measured in turn, and their ratios."""
    words, model = tokenizer(), random_model(shape.config)
    theirs = copy.deepcopy(model)  # the package leaves its own settings on the model
    float32 = behind_the_port(copy.deepcopy(model), words)
    ports.bind(float32)
    requests = [request_of(text, method) for text in texts(shape.texts)]
    asked = [ReleasedInput(model, words, LABEL_TOKENS, ids_of(request)) for request in requests]
    masks = list(islice(released(SEED, LENGTH, KEPT), DRAWS))
    agreement = compare(requests, asked, method, masks)
    contenders: dict[str, Contender] = {
        "ours": lambda: bound(float32, lambda: score_batch(requests)),
        "single": lambda: bound(float32, lambda: [score(request) for request in requests]),
        "loop": lambda: [script(one, method, masks) for one in asked],
        "api": lambda: [
            package(ReleasedInput(theirs, one.tokenizer, one.labels, one.ids), method, DRAWS, SEED)
            for one in asked
        ],
    }
    if fast_arithmetic("causal").dtype == "bfloat16":
        cheaper = copy.deepcopy(model).to(torch.bfloat16)
        bfloat16 = behind_the_port(cheaper, words, dtype="bfloat16")
        contenders["fast"] = lambda: bound(bfloat16, lambda: score_batch(requests))
    chosen = {name: contender for name, contender in contenders.items() if name in only}
    seconds = in_turn(chosen, shape.rounds, shape.texts)
    ways = {"ours": "", "single": "_single", "fast": "_fast"}
    ratios = {
        f"{other}_ratio{ways[way]}": round(seconds[other] / seconds[way], 2)
        for way, other in product(ways, ("api", "loop", "ours"))
        if {way, other} <= seconds.keys() and way != other
    }
    return agreement | seconds | ratios


def bound(models: ports.Models, contender: Contender) -> object:
    ports.bind(models)
    return contender()


def in_turn(contenders: dict[str, Contender], rounds: int, examples: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, contender in contenders.items():
            started = time.perf_counter()
            contender()
            taken[name].append((time.perf_counter() - started) / examples)
    return {name: round(statistics.median(found[1:]), 5) for name, found in taken.items()}


def compare(
    requests: Sequence[IceRequest],
    asked: Sequence[ReleasedInput],
    method: str,
    masks: Sequence[Subset],
) -> dict[str, float]:
    """Check that our code and the loop find the same rationale, and the same scores to 1e-5."""
    apart = 0.0
    for (experiment, _), one in zip(run_experiments(requests), asked, strict=True):
        assert isinstance(experiment, Experiment)
        theirs = script(one, method, masks)
        trial = experiment.trials[0]
        assert trial.rationale == theirs.rationale
        assert experiment.null_subsets(trial) == list(masks)
        null = experiment.null("delete", trial, experiment.null_positions(trial))
        ours = [experiment.observed("delete", trial), *null]
        gap = np.max(np.abs(np.array(ours) - np.array([theirs.observed, *theirs.null])))
        apart = max(apart, float(gap), abs(experiment.tokenized.full - theirs.full))
    assert apart <= 1e-5, apart
    return {"max_score_difference": apart}


def request_of(text: str, method: str) -> IceRequest:
    """Return a request of variant `reference`, which draws as the package does."""
    options = {"template": TEMPLATE, "draws": DRAWS}
    fields = {"text": text, "attribution": method, "options": options}
    return IceRequest.model_validate(fields | {"variant": "reference", "seed": SEED})


def texts(count: int) -> list[str]:
    random = np.random.default_rng(3)
    drawn = random.integers(100, 1_000, (count, LENGTH))
    return [" ".join(f"w{word}" for word in row) for row in drawn]


def ids_of(request: IceRequest) -> list[int]:
    return [int(word[1:]) for word in request.text.split()]


BUDGET = 0.2


@dataclass(frozen=True)
class ReleasedInput:
    """A causal model, the tokens of its labels, and one example's tokens."""

    model: Any
    tokenizer: Any
    labels: Sequence[int]  # token ids
    ids: Sequence[int]


@dataclass(frozen=True)
class ReleasedScores:
    """The script's scores of one example."""

    full: float
    rationale: Subset
    observed: float
    null: Floats  # (M,)
    win_rate: float
    effect: float
    p_value: float


@torch.no_grad()
def probability(
    asked: ReleasedInput, ids: Sequence[int], column: int | None = None
) -> tuple[float, int]:
    """Return the softmax probability of the predicted or given label, and the label's index."""
    logits = asked.model(input_ids=torch.tensor([list(ids)])).logits[0, -1, list(asked.labels)]
    place = int(logits.argmax()) if column is None else column
    return float(logits.softmax(dim=0)[place]), place


def last_row_attention(asked: ReleasedInput) -> torch.Tensor:
    """Return the attention of the last position to L tokens, averaged over heads and layers."""
    usual = asked.model.config._attn_implementation  # noqa: SLF001 - there is no public name
    asked.model.set_attn_implementation("eager")
    with torch.no_grad():
        ids = torch.tensor([list(asked.ids)])
        layers = asked.model(input_ids=ids, output_attentions=True).attentions
    asked.model.set_attn_implementation(usual)
    return torch.stack([layer[0, :, -1].mean(dim=0) for layer in layers]).mean(dim=0)


def gradient_norm(asked: ReleasedInput, token: int) -> torch.Tensor:
    """Return (L,) L2 norm of the gradient of a label token's logit by each embedding."""
    table = asked.model.get_input_embeddings()
    embedded = table(torch.tensor([list(asked.ids)])).detach().requires_grad_()
    asked.model(inputs_embeds=embedded).logits[0, -1, token].backward()
    assert embedded.grad is not None
    norms: torch.Tensor = embedded.grad[0].norm(dim=-1)
    return norms


def script(asked: ReleasedInput, method: str, masks: Sequence[Subset]) -> ReleasedScores:
    """Run the authors' script on one example: predict, attribute, and score the rationale and every
    mask. Ties count as losses, and the effect uses ddof 0.

    Every position may be selected. The model gets only the selected tokens, with positions numbered
    from 0.
    """
    full, column = probability(asked, asked.ids)
    if method == "attention":
        importance = last_row_attention(asked)
    else:
        importance = gradient_norm(asked, asked.labels[column])
    size = max(1, int(BUDGET * len(asked.ids)))
    best = torch.argsort(importance, descending=True, stable=True)[:size]
    rationale = tuple(sorted(best.tolist()))
    observed, *null = [
        probability(asked, [asked.ids[place] for place in mask], column)[0]
        for mask in (rationale, *masks)
    ]
    values = np.array(null)
    return ReleasedScores(
        full=full,
        rationale=rationale,
        observed=observed,
        null=values,
        win_rate=float(np.mean(observed > values)),
        effect=float((observed - values.mean()) / values.std()),
        p_value=float((1 + np.sum(values >= observed)) / (len(values) + 1)),
    )


def package(asked: ReleasedInput, method: str, draws: int, seed: int) -> Any:
    """Return the result of the released package's `evaluate_dataset` for this one example."""
    from ice import ICEConfig, ICEEvaluator
    from ice.extractors import LLMAttentionExtractor, LLMGradientExtractor
    from ice.operators import DeletionOperator

    config = ICEConfig(
        n_permutations=draws,
        k_values=[BUDGET],
        candidate_token_ids=list(asked.labels),
        device="cpu",
        seed=seed,
    )
    with np_state(), torch.random.fork_rng(devices=[]):
        evaluator = ICEEvaluator(asked.model, asked.tokenizer, config)
        evaluator.operators = [DeletionOperator(asked.tokenizer)]
        kind = LLMAttentionExtractor if method == "attention" else LLMGradientExtractor
        extractor = kind(asked.model, asked.tokenizer, device="cpu")
        ids = torch.tensor(list(asked.ids))
        items = [{"input_ids": ids, "attention_mask": torch.ones_like(ids), "label": 0}]
        result = evaluator.evaluate_dataset(items, extractor, k=BUDGET, show_progress=False)
    return result.example_results[0]


@contextmanager
def np_state() -> Iterator[None]:
    """Restore NumPy's global generator, which the package seeds."""
    before = np.random.get_state()  # noqa: NPY002 - it is this one that the package turns
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


if __name__ == "__main__":
    main()
