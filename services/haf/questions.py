"""Which prompts each stage puts to the model.

Source: Mothilal et al., arXiv:2506.19113, section 3.1. Every prompt has a number of its own among
the seed's draws, so that neither other requests nor other stages change what is drawn for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.haf import prompts
from services.haf.contract import HafRequest
from services.haf.report import Stage
from services.haf.transcript import Exchange, individual_stage, obstacle
from services.haf.variants import variant_of
from shared.models.calls import Prompt

DRAWS = 10_000  # from one sample of a request to the next
PLACES: dict[Stage, int] = {"justify": 0, "internal": 1, "external": 2}
PROMPTS = ("/prompts", "/completions")  # what a model refuses of these, it refuses of the text
INDIVIDUAL = 10  # the place of the first reason

Order = tuple[int, ...]


@dataclass
class Sample:
    """One generation of one request, while it grows."""

    request: HafRequest
    number: int
    justify: Exchange | None = None
    rewritten: list[tuple[Order, Exchange]] = field(default_factory=list)
    answers: list[tuple[Asked, Exchange]] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """One prompt: for which sample, in which stage, about which reason, in which order."""

    sample: Sample
    stage: Stage
    prompt: Prompt
    reason: int | None = None
    order: Order | None = None


def opening(sample: Sample) -> Asked:
    """JUSTIFY."""
    prompt = prompts.justify(sample.request.text, sample.number * DRAWS)
    return Asked(sample, "justify", prompt)


def upholding(sample: Sample) -> list[Asked]:
    """UPHOLD-REASON: both questions about all reasons, and the internal one in other orders."""
    justify = sample.justify
    if justify is None or obstacle(justify) is not None:
        return []
    plain = tuple(range(len(justify.reasons)))
    orders = [order for order, _ in sample.rewritten[1:]]
    asked = [_about_all(sample, justify, "internal", plain)]
    asked += [_about_all(sample, justify, "external", plain)]
    return asked + [_about_all(sample, justify, "internal", order) for order in orders]


def individual(sample: Sample) -> list[Asked]:
    """UPHOLD-STANCE: each reason alone (toxic, maybe), or all others (non-toxic)."""
    justify = sample.justify
    if justify is None or obstacle(justify) is not None:
        return []
    stage = individual_stage(justify.parsed.stance)
    texts = [reason.statement.text for reason in justify.reasons]
    empty = len(texts) == 1 and not variant_of(sample.request).prompts_without_reasons
    if stage is None or (stage == "necessity" and empty):
        return []
    shown = [
        [text] if stage == "sufficiency" else texts[:place] + texts[place + 1 :]
        for place, text in enumerate(texts)
    ]
    return [
        Asked(sample, stage, _prompt(sample, justify, stage, some, INDIVIDUAL + place), place)
        for place, some in enumerate(shown)
    ]


def _about_all(sample: Sample, justify: Exchange, stage: Stage, order: Order) -> Asked:
    texts = [justify.reasons[place].statement.text for place in order]
    prompt = _prompt(sample, justify, stage, texts, PLACES[stage])  # every order: the same draws
    changed = order if order != tuple(sorted(order)) else None
    return Asked(sample, stage, prompt, order=changed)


def _prompt(
    sample: Sample, justify: Exchange, stage: Stage, texts: Sequence[str], place: int
) -> Prompt:
    draw = sample.number * DRAWS + place
    return prompts.uphold(stage, justify.parsed.stance, sample.request.text, texts, draw)
