"""Which tokens matter to a model's decision: attention, gradients, integrated gradients, LIME.

The number that is explained is the raw logit of the target label, before softmax and temperature;
LIME explains its probability. One example at a time, so that no other example can change a bit;
only `ExampleBatch` passes examples of one length through a causal model at once, where a row moves
with its company by rounding, as every row of a causal model does.

Sources: rollout, Abnar & Zuidema (2020), arXiv:2005.00928, section 3; integrated gradients,
Sundararajan, Taly & Yan (2017), arXiv:1703.01365, equation 1; LIME, `shared.statistics.lime`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from services.inference.causal_pass import CausalPass
from services.inference.causal_prompt import CausalReading
from shared.contracts.calls import (
    AttributionMethod,
    Attributions,
    Example,
    ExampleRows,
    Row,
    Tokens,
)
from shared.contracts.errors import BadInput, DegenerateInput
from shared.models.ports import Floats
from shared.queue.job_context import acquire
from shared.queue.priority_lock import PriorityLock
from shared.statistics import lime


class Inside(Protocol):
    """One example and one target label inside a model: embeddings, attention, a number to explain.

    Encoders and causal models implement it: `EncoderInside`, `CausalInside`.
    """

    @property
    def lock(self) -> PriorityLock:
        """Held while the device works: one pass at a time."""

    @property
    def attention_index(self) -> int | None:
        """The token whose row of attention is read: 0 for [CLS], -1 for the last one.

        None: the mean of all rows, where the head reads the mean of all tokens.
        """

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(T, d) input embeddings of these tokens, in the model's dtype, on its device."""

    def target(self, embeddings: Tensor) -> Tensor:
        """(N,) the target's score, from (N, T, d) embeddings; differentiable."""

    def attentions(self) -> Sequence[Tensor] | None:
        """For each layer (1, H, T, T); None where the model does not give them."""


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """Within it, the model computes attention so that its weights can be read.

    Only under the lock of the device: the switch is the model's own.
    """
    usual = getattr(model.config, "_attn_implementation")  # noqa: B009 - there is no public name
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(usual)


@dataclass(frozen=True)
class AttributionInput:
    """An example's tokens, the model that they are in, and how many of them fit into one pass."""

    inside: Inside
    tokens: Tokens
    budget: int  # padded tokens


def attribute(request: AttributionInput, method: AttributionMethod) -> Attributions:
    """(T,) importance of each token by any method but LIME."""
    if method.name == "attention":
        return answer(attention(request.inside, method.attention))
    if method.name == "gradient":
        return answer(gradient(request, method.gradient))
    return integrated_gradients(request, method.steps)


def answer(values: Floats, gap: float | None = None) -> Attributions:
    return Attributions(values=tuple(values.tolist()), convergence_gap=gap)


def attention(inside: Inside, over: str) -> Floats:
    """(T,) how much the reading token attends to each token; see `attention_row`."""
    with acquire(inside.lock):
        attentions = inside.attentions()
    layers = attentions and [layer if layer is None else layer[0] for layer in attentions]
    return attention_row(layers, inside.attention_index, over)


def attention_row(attentions: Sequence[Any] | None, attending: int | None, over: str) -> Floats:
    """(T,) the row of one token in the attention of each layer (H, T, T): mean over heads, [0, 1].

    attending: the token, or None for the mean of all rows.

    over: `mean` of the layers, the `last` one, or `rollout`: the product of the layers' matrices,
    each averaged with the identity for the residual connection. Every choice sums to 1.
    Raises BadInput where the model gives no attention.
    """
    if not attentions or any(layer is None for layer in attentions):
        raise BadInput("this model does not give its attention", pointer="/attribution")
    layers = [layer.double().mean(dim=0).cpu() for layer in attentions]  # (T, T) each
    if over == "rollout":
        together = rollout(layers)
    else:
        together = layers[-1] if over == "last" else torch.stack(layers).mean(dim=0)
    row: Floats = (together.mean(dim=0) if attending is None else together[attending]).numpy()
    return row


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """(T, T) attention from the top to the input through (T, T) attention of each layer."""
    through = torch.eye(len(layers[0]), dtype=layers[0].dtype)
    for layer in layers:
        through = (0.5 * layer + 0.5 * torch.eye(len(layer), dtype=layer.dtype)) @ through
    return through


def gradient(request: AttributionInput, kind: str) -> Floats:
    """(T,) by the gradient g of the target's logit with respect to each token's embedding e.

    kind: `l2`: |g|, never negative. `input_x_gradient`: the sum over d of g·e, with its sign:
    positive where the token speaks for the target. Take its magnitude where only size counts.
    """
    embeddings = request.inside.embed(request.tokens.ids)
    slopes, _ = _gradients(request.inside, embeddings[None])
    return to_float64(importance(slopes[0], embeddings.double(), kind))


def importance(slopes: Tensor, embeddings: Tensor, kind: str) -> Tensor:
    """(T,) from (T, d) gradients and embeddings; `kind` as `gradient` has it."""
    return slopes.norm(dim=-1) if kind == "l2" else (slopes * embeddings).sum(dim=-1)


def integrated_gradients(request: AttributionInput, steps: int) -> Attributions:
    """(T,) the gradient's mean on the line from the baseline, times the way: logit units, signed.

    baseline: the tokens of the text become the padding token (a zero embedding where there is
    none); special tokens and the template stay as they are, and so get exactly 0. Midpoint Riemann
    sum of `steps` points. The values' sum misses logit(input) - logit(baseline) by the gap.
    """
    embeddings = request.inside.embed(request.tokens.ids)
    tokens = request.tokens
    of_text = [part in ("text", "text_pair") for part in tokens.parts]
    empty = torch.zeros_like(embeddings[0])
    if tokens.pad_id is not None:
        empty = request.inside.embed([tokens.pad_id])[0]
    is_text = torch.tensor(of_text, device=embeddings.device)[:, None]  # (T, 1)
    baseline = torch.where(is_text, empty, embeddings)
    total = torch.zeros(embeddings.shape, dtype=torch.float64, device=embeddings.device)
    shares = (torch.arange(steps, dtype=torch.float64, device=embeddings.device) + 0.5) / steps
    for some in torch.split(shares, max(1, request.budget // len(embeddings))):
        points = baseline.double() + some[:, None, None] * (embeddings.double() - baseline.double())
        slopes, _ = _gradients(request.inside, points.to(embeddings.dtype))
        total += slopes.sum(dim=0)
    values = to_float64((total / steps * (embeddings.double() - baseline.double())).sum(dim=-1))
    _, ends = _gradients(request.inside, torch.stack([embeddings, baseline]))
    return answer(values, float(values.sum()) - float(ends[0] - ends[1]))


def _gradients(inside: Inside, points: Tensor) -> tuple[Tensor, Tensor]:
    """((N, T, d) gradients, (N,) logits) at (N, T, d) embeddings, both float64."""
    with acquire(inside.lock), torch.enable_grad():
        points = points.detach().requires_grad_()
        logits = inside.target(points)
        (slopes,) = torch.autograd.grad(logits.sum(), points)
    return slopes.double(), logits.detach().double()


def to_float64(values: Tensor) -> Floats:
    """A tensor of any device as float64."""
    return np.asarray(values.detach().cpu().numpy(), dtype=np.float64)


def eligible(tokens: Tokens) -> list[int]:
    """Positions that may be taken away: those of the text and of its pair."""
    return [index for index, part in enumerate(tokens.parts) if part in ("text", "text_pair")]


def masked_rows(masks: Floats, tokens: Tokens) -> tuple[Row, ...]:
    """Each mask as a row: tokens become the mask token, or are deleted where there is none."""
    positions = eligible(tokens)
    if tokens.mask_id is not None:
        return tuple(
            Row(
                replaced=tuple(
                    (positions[gone], tokens.mask_id) for gone in np.flatnonzero(mask == 0)
                )
            )
            for mask in masks
        )
    always = set(range(len(tokens.ids))) - set(positions)
    return tuple(
        Row(kept=tuple(sorted(always | {positions[stays] for stays in np.flatnonzero(mask)})))
        for mask in masks
    )


class RowJudge(Protocol):
    def judge_rows(self, examples: Sequence[ExampleRows]) -> list[Floats]:
        """For each example (R, L) probabilities."""


def column(labels: Sequence[str], target: str) -> int:
    """Raises BadInput for a label that the model does not know."""
    if target not in labels:
        raise BadInput(f"no label {target!r}; there are {', '.join(labels)}", pointer="/target")
    return labels.index(target)


def by_lime(
    judge: RowJudge, example: Example, tokens: Tokens, column: int, method: AttributionMethod
) -> Attributions:
    """(T,) LIME's coefficients: probability of the label in column `place`; 0 outside the text."""
    positions = eligible(tokens)
    if not positions:
        raise DegenerateInput("no token of the text is left to remove", pointer="/text")
    masks = lime.draws(method.samples, len(positions), method.seed)
    rows = ExampleRows(
        example=example, rows=masked_rows(masks, tokens), calibrated=method.calibrated
    )
    probabilities = judge.judge_rows([rows])[0][:, column]
    values = np.zeros(len(tokens.ids))
    values[positions] = lime.coefficients(masks, probabilities)
    return Attributions(values=tuple(values.tolist()))


LAST = -1  # the token whose row of attention is read


@dataclass(frozen=True)
class ExampleBatch:
    """Examples of one causal model, each with the token of its target label."""

    causal: CausalPass
    readings: Sequence[CausalReading]
    targets: Sequence[int]  # token ids

    def values(self, method: AttributionMethod, budget: int) -> list[Floats]:
        """For each example (T,) by `attention` or `gradient`; `budget`: tokens of a pass."""
        ask: Callable[[list[int]], list[Floats]] = (
            (lambda indices: self._attention(indices, method.attention))
            if method.name == "attention"
            else (lambda indices: self._gradient(indices, method.gradient))
        )
        answers: dict[int, Floats] = {}
        for length, indices in self._by_length().items():
            size = max(1, budget // length)
            for start in range(0, len(indices), size):
                batch = indices[start : start + size]
                answers |= zip(batch, ask(batch), strict=True)
        return [answers[index] for index in range(len(self.readings))]

    def _by_length(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = defaultdict(list)
        for index, reading in enumerate(self.readings):
            groups[len(reading.tokens.ids)].append(index)
        return groups

    def _ids(self, indices: Sequence[int]) -> Tensor:
        """(N, T)"""
        ids = [self.readings[index].tokens.ids for index in indices]
        return torch.tensor(ids, device=self.causal.model.device)

    @torch.no_grad()
    def _attention(self, indices: list[int], over: str) -> list[Floats]:
        model = self.causal.model
        with acquire(self.causal.lock), eager(model):
            attentions = model.base_model(
                input_ids=self._ids(indices), output_attentions=True, use_cache=False
            ).attentions
        layers = attentions or ()
        return [
            attention_row([layer if layer is None else layer[n] for layer in layers], LAST, over)
            for n in range(len(indices))
        ]

    def _gradient(self, indices: list[int], kind: str) -> list[Floats]:
        readout, model = self.causal.readout, self.causal.model
        targets = torch.tensor([self.targets[index] for index in indices], device=model.device)
        with acquire(self.causal.lock), torch.enable_grad():
            embedded = model.get_input_embeddings()(self._ids(indices)).detach().requires_grad_()
            states, _ = readout.states(1, inputs_embeds=embedded, use_cache=False)
            logits = readout.token_logits(
                states[:, -1], targets
            )  # (N, N): only the diagonal is asked for
            (slopes,) = torch.autograd.grad(logits.diagonal().sum(), embedded)  # (N, T, d)
        pairs = zip(slopes.double(), embedded.detach().double(), strict=True)
        return [to_float64(importance(slope, embedding, kind)) for slope, embedding in pairs]
