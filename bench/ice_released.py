"""The released ICE, for comparison: the package's evaluator, and the scripts' loop.

`package`: `ICEEvaluator` of ice-faithfulness 1.0.1, as a user calls it, deletion only. `script`:
the procedure of the authors' English script, one forward pass a draw, typed anew from its
description; its masks are given, so that both ways meet the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from services.ice.kernel import Floats
from services.ice.subsets import Subset

BUDGET = 0.2


@dataclass(frozen=True)
class Asked:
    """A causal model, what its labels are read off, and one example's tokens."""

    model: Any
    tokenizer: Any
    labels: Sequence[int]  # token ids
    ids: Sequence[int]


@dataclass(frozen=True)
class Scored:
    """What the script says of one example."""

    full: float
    rationale: Subset
    observed: float
    null: Floats  # (M,)
    win_rate: float
    effect: float
    p_value: float


@torch.no_grad()
def probability(asked: Asked, ids: Sequence[int], column: int | None = None) -> tuple[float, int]:
    """(softmax over the labels' logits alone, read at the predicted or given one; which)."""
    logits = asked.model(input_ids=torch.tensor([list(ids)])).logits[0, -1, list(asked.labels)]
    place = int(logits.argmax()) if column is None else column
    return float(logits.softmax(dim=0)[place]), place


def last_row_attention(asked: Asked) -> torch.Tensor:
    """(L,) of the last position, mean over heads and layers; eager for this pass only."""
    usual = asked.model.config._attn_implementation  # noqa: SLF001 - there is no public name
    asked.model.set_attn_implementation("eager")
    with torch.no_grad():
        ids = torch.tensor([list(asked.ids)])
        layers = asked.model(input_ids=ids, output_attentions=True).attentions
    asked.model.set_attn_implementation(usual)
    return torch.stack([layer[0, :, -1].mean(dim=0) for layer in layers]).mean(dim=0)


def gradient_norm(asked: Asked, token: int) -> torch.Tensor:
    """(L,) L2 norm of the gradient of a label token's logit by each embedding."""
    table = asked.model.get_input_embeddings()
    embedded = table(torch.tensor([list(asked.ids)])).detach().requires_grad_()
    asked.model(inputs_embeds=embedded).logits[0, -1, token].backward()
    assert embedded.grad is not None
    norms: torch.Tensor = embedded.grad[0].norm(dim=-1)
    return norms


def script(asked: Asked, method: str, masks: Sequence[Subset]) -> Scored:
    """Predict, attribute, score the rationale, score every mask; W strict, d with ddof 0.

    Every position is eligible; the kept ones go through the model alone, numbered from 0.
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
    return Scored(
        full=full,
        rationale=rationale,
        observed=observed,
        null=values,
        win_rate=float(np.mean(observed > values)),
        effect=float((observed - values.mean()) / values.std()),
        p_value=float((1 + np.sum(values >= observed)) / (len(values) + 1)),
    )


def package(asked: Asked, method: str, draws: int, seed: int) -> Any:
    """`evaluate_dataset` over this one example: its example result, a dict."""
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
    """The package seeds NumPy's global generator: put it back."""
    before = np.random.get_state()  # noqa: NPY002 - it is this one that the package turns
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
