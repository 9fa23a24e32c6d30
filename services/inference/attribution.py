"""Importance of tokens for a model's decision: attention, gradients, integrated gradients, LIME.

The explained value is the raw logit of the target label, before softmax and temperature. LIME
explains its probability instead. Results do not depend on other examples, except by rounding in
`ExampleBatch`. Sources: rollout, Abnar & Zuidema (2020), arXiv:2005.00928, section 3; integrated
gradients, Sundararajan, Taly & Yan (2017), arXiv:1703.01365, equation 1; LIME,
`shared.statistics.lime`.
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
    """Gives attribution methods access to a model for one example and one label: embeddings,
    attention and the explained score. Implemented by `EncoderInside` and `CausalInside`."""

    @property
    def lock(self) -> PriorityLock:
        """Return the lock of the device, which allows one pass at a time."""

    @property
    def attention_index(self) -> int | None:
        """Return the position of the token from which the model decides: 0 for [CLS], -1 for the
        last token. None means that it uses the mean of all tokens."""

    def embed(self, ids: Sequence[int]) -> Tensor:
        """Return (T, d) input embeddings of these tokens, in the model's dtype, on its device."""

    def target(self, embeddings: Tensor) -> Tensor:
        """Return the label's scores, of shape (N,), from (N, T, d) embeddings. The result is
        differentiable."""

    def attentions(self) -> Sequence[Tensor] | None:
        """Return attention of shape (1, H, T, T) for each layer, or None if the model has no
        attention weights."""


@contextmanager
def eager(model: Any) -> Iterator[None]:
    """Make the model compute attention so that its weights can be read, within this block. The
    setting belongs to the model, so hold the device's lock."""
    usual = getattr(model.config, "_attn_implementation")  # noqa: B009 - there is no public name
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.set_attn_implementation(usual)


@dataclass(frozen=True)
class AttributionInput:
    """The tokens of an example, access to the model, and the maximum number of padded tokens in a
    forward pass."""

    inside: Inside
    tokens: Tokens
    budget: int  # padded tokens


def attribute(request: AttributionInput, method: AttributionMethod) -> Attributions:
    """Return the importance of each of T tokens, by any method except LIME."""
    if method.name == "attention":
        return answer(attention(request.inside, method.attention))
    if method.name == "gradient":
        return answer(gradient(request, method.gradient))
    return integrated_gradients(request, method.steps)


def answer(values: Floats, gap: float | None = None) -> Attributions:
    return Attributions(values=tuple(values.tolist()), convergence_gap=gap)


def attention(inside: Inside, over: str) -> Floats:
    """Return the attention of the token that predicts the label to each of T tokens. `over` selects
    how layers are combined: `mean`, `last` or `rollout` (see `attention_row`)."""
    with acquire(inside.lock):
        attentions = inside.attentions()
    layers = attentions and [layer if layer is None else layer[0] for layer in attentions]
    return attention_row(layers, inside.attention_index, over)


def attention_row(attentions: Sequence[Any] | None, attending: int | None, over: str) -> Floats:
    """Return one token's attention to each of T tokens, averaged over heads. The values sum to 1.
    Raises BadInput if the model has no attention.

    Each layer has shape (H, T, T). `attending` is the token, or None for the mean over all tokens.
    `over` is `mean` (of all layers), `last` (only the last layer) or `rollout`. Rollout multiplies
    the layers' matrices, each averaged with the identity for the residual connection."""
    if not attentions or any(layer is None for layer in attentions):
        raise BadInput(
            "the model does not return its attention; choose another attribution method",
            pointer="/attribution",
        )
    layers = [layer.double().mean(dim=0).cpu() for layer in attentions]  # (T, T) each
    if over == "rollout":
        together = rollout(layers)
    else:
        together = layers[-1] if over == "last" else torch.stack(layers).mean(dim=0)
    row: Floats = (together.mean(dim=0) if attending is None else together[attending]).numpy()
    return row


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """Return the (T, T) attention of the top layer to the input, from (T, T) attention of each
    layer."""
    through = torch.eye(len(layers[0]), dtype=layers[0].dtype)
    for layer in layers:
        through = (0.5 * layer + 0.5 * torch.eye(len(layer), dtype=layer.dtype)) @ through
    return through


def gradient(request: AttributionInput, kind: str) -> Floats:
    """Return the importance of T tokens by the gradient of the label's logit with respect to their
    embeddings. `kind` is `l2` for the norm of the gradient, which is never negative. It is
    `input_x_gradient` for the product of gradient and embedding, summed over d, which is positive
    if the token supports the label."""
    embeddings = request.inside.embed(request.tokens.ids)
    slopes, _ = _gradients(request.inside, embeddings[None])
    return to_float64(importance(slopes[0], embeddings.double(), kind))


def importance(slopes: Tensor, embeddings: Tensor, kind: str) -> Tensor:
    """Return the importance of T tokens from (T, d) gradients and embeddings. `kind` is `l2` or
    `input_x_gradient`, as in `gradient`."""
    return slopes.norm(dim=-1) if kind == "l2" else (slopes * embeddings).sum(dim=-1)


def integrated_gradients(request: AttributionInput, steps: int) -> Attributions:
    """Return the importance of T tokens by integrated gradients, signed and in logits: the mean
    gradient on the line from a baseline to the input, times the distance.

    In the baseline, tokens of the text are the padding token, or a zero embedding if there is
    none. Special tokens and the template get exactly 0. The integral is a midpoint Riemann sum
    of `steps` points. `convergence_gap` is the error: the sum of the values minus (logit(input)
    - logit(baseline))."""
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
    """Return (N, T, d) gradients and N logits at (N, T, d) embeddings, both in float64."""
    with acquire(inside.lock), torch.enable_grad():
        points = points.detach().requires_grad_()
        logits = inside.target(points)
        (slopes,) = torch.autograd.grad(logits.sum(), points)
    return slopes.double(), logits.detach().double()


def to_float64(values: Tensor) -> Floats:
    return np.asarray(values.detach().cpu().numpy(), dtype=np.float64)


def eligible(tokens: Tokens) -> list[int]:
    """Return the positions of tokens that may be removed: those of the text and of its pair."""
    return [index for index, part in enumerate(tokens.parts) if part in ("text", "text_pair")]


def masked_rows(masks: Floats, tokens: Tokens) -> tuple[Row, ...]:
    """Convert masks to variations of the text. Removed tokens become the mask token, or are deleted
    if the model has none."""
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
        """Return the label probabilities of each example's R variations, of shape (R, L)."""


def column(labels: Sequence[str], target: str) -> int:
    """Return the column of a label in the probabilities. Raises BadInput for an unknown label."""
    if target not in labels:
        raise BadInput(
            f"the model has no label {target!r}; its labels are {', '.join(labels)}",
            pointer="/target",
        )
    return labels.index(target)


def by_lime(
    judge: RowJudge, example: Example, tokens: Tokens, column: int, method: AttributionMethod
) -> Attributions:
    """Return the importance of T tokens for a label's probability by LIME. Tokens outside the text
    have 0."""
    positions = eligible(tokens)
    if not positions:
        raise DegenerateInput("no token of the text remains that could be removed", pointer="/text")
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
        """Return the importance of T tokens for each example, by `attention` or `gradient`.
        `budget` is the number of tokens in a pass."""
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
