"""Completions for many requests in as few calls as their draws allow. Loaded by workers only.

A writer draws prompt i with (seed, i): the place of a prompt is part of its draw. So greedy prompts
of all requests share a call, and the sampled ones of a request have a call of their own: a request
reads the same alone and in any batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.calls import Completion, Prompt, Sampling
from shared.models import models


@dataclass(frozen=True)
class Asked:
    """A prompt to complete; `owner` tells the requests of a batch apart."""

    owner: int
    model: str
    prompt: Prompt
    sampling: Sampling


def written(prompts: Sequence[Asked]) -> list[Completion]:
    """(N,) completions, in the order of the prompts. Raises Unavailable and BadInput."""
    groups: dict[tuple[str, Sampling, int], list[int]] = {}
    for place, one in enumerate(prompts):
        greedy = one.sampling.temperature == 0
        settled = one.sampling.model_copy(update={"seed": 0}) if greedy else one.sampling
        groups.setdefault((one.model, settled, -1 if greedy else one.owner), []).append(place)
    found: dict[int, Completion] = {}
    for (model, sampling, _), places in groups.items():
        answers = _completed(model, [prompts[place].prompt for place in places], sampling)
        found.update(zip(places, answers, strict=True))
    return [found[place] for place in range(len(prompts))]


def _completed(model: str, prompts: Sequence[Prompt], sampling: Sampling) -> Iterable[Completion]:
    """Greedy answers to equal prompts are equal: each is asked once."""
    writer = models().writer(model)
    if sampling.temperature > 0:
        return writer.generate(prompts, sampling)
    distinct = list(dict.fromkeys(prompts))
    answers = dict(zip(distinct, writer.generate(distinct, sampling), strict=True))
    return [answers[prompt] for prompt in prompts]
