"""Completions for many requests in as few calls as their draws allow. Loaded by workers only.

A writer draws a prompt with (seed, `draw`), here its place among the prompts of its own request. So
prompts of all requests under the same sampling share a call, and each is drawn as if its request
were alone.
"""

from __future__ import annotations

from collections import Counter
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
    groups: dict[tuple[str, Sampling], list[int]] = {}
    drawn = _with_draws(prompts)
    for place, one in enumerate(prompts):
        greedy = one.sampling.temperature == 0
        settled = one.sampling.model_copy(update={"seed": 0}) if greedy else one.sampling
        groups.setdefault((one.model, settled), []).append(place)
    found: dict[int, Completion] = {}
    for (model, sampling), places in groups.items():
        answers = _completed(model, [drawn[place] for place in places], sampling)
        found.update(zip(places, answers, strict=True))
    return [found[place] for place in range(len(prompts))]


def _with_draws(prompts: Sequence[Asked]) -> list[Prompt]:
    """Sampled prompts numbered within their owner, model and sampling; greedy ones as they are."""
    before: Counter[tuple[int, str, Sampling]] = Counter()
    numbered = []
    for one in prompts:
        if one.sampling.temperature == 0:
            numbered.append(one.prompt)
            continue
        key = one.owner, one.model, one.sampling
        numbered.append(one.prompt.model_copy(update={"draw": before[key]}))
        before[key] += 1
    return numbered


def _completed(model: str, prompts: Sequence[Prompt], sampling: Sampling) -> Iterable[Completion]:
    """Greedy answers to equal prompts are equal: each is asked once."""
    writer = models().writer(model)
    if sampling.temperature > 0:
        return writer.generate(prompts, sampling)
    distinct = list(dict.fromkeys(prompts))
    answers = dict(zip(distinct, writer.generate(distinct, sampling), strict=True))
    return [answers[prompt] for prompt in prompts]
