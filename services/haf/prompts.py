"""The prompts of the three stages: every one a conversation of its own.

Source: Mothilal et al., arXiv:2506.19113, section 3.1 and Table 6; the layout of the user's turn
follows the released code. The texts are data, in `data/prompts.json`, with a version of their own.
Every prompt has a number among the seed's draws, so that neither other requests nor other stages
change what is drawn for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.haf.contract import HafRequest
from services.haf.report import Stage, Stance
from services.haf.transcript import Exchange, individual_stage, why_no_later_stage
from services.haf.variants import variant_of
from shared.contracts.calls import Prompt, Turn

PROMPTS_FILE = Path(__file__).parent / "data" / "prompts.json"
SINGLE_REASON_STAGES: tuple[Stage, Stage] = ("sufficiency", "necessity")
DRAWS = 10_000  # from one sample of a request to the next
PLACES: dict[Stage, int] = {"justify": 0, "internal": 1, "external": 2}
PROMPTS = ("/prompts", "/completions")  # what a model refuses of these, it refuses of the text
INDIVIDUAL_STAGES = 10  # the place of the first reason

Order = tuple[int, ...]


@lru_cache(maxsize=1)
def load_prompts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PROMPTS_FILE.read_text("utf-8"))
    return found


def prompts_version() -> str:
    return str(load_prompts()["version"])


def justify_prompt(text: str, draw: int) -> Prompt:
    """Is the text toxic, and why?"""
    return _format_prompt(load_prompts()["justify"], _text(text), draw)


def uphold_prompt(
    stage: Stage, stance: Stance, text: str, reasons: Sequence[str], draw: int
) -> Prompt:
    """Is any additional reason required? `maybe` counts as toxic (section 3.1: "likely")."""
    side = load_prompts()["non-toxic" if stance == "non-toxic" else "toxic"]
    kind = "individual" if stage in SINGLE_REASON_STAGES else stage
    head = "REASON" if stage == "sufficiency" else "REASON(S)"
    listed = "".join(f"{place}. {reason}\n" for place, reason in enumerate(reasons, 1))
    return _format_prompt(side[kind], f"{_text(text)}\n\n{head}: \n{listed}", draw)


def _text(text: str) -> str:
    return f"\nTEXT: \n{text.lstrip()}"


def _format_prompt(instruction: str, content: str, draw: int) -> Prompt:
    turns = (Turn(role="system", content=instruction), Turn(role="user", content=content))
    return Prompt(turns=turns, draw=draw)


@dataclass
class Sample:
    """One generation of one request, while it grows."""

    request: HafRequest
    number: int
    justify: Exchange | None = None
    rewritten: list[tuple[Order, Exchange]] = field(default_factory=list)
    answers: list[tuple[StagePrompt, Exchange]] = field(default_factory=list)


@dataclass(frozen=True)
class StagePrompt:
    """One prompt: for which sample, in which stage, about which reason, in which order."""

    sample: Sample
    stage: Stage
    prompt: Prompt
    reason: int | None = None
    order: Order | None = None


def justify_prompts(sample: Sample) -> StagePrompt:
    prompt = justify_prompt(sample.request.text, sample.number * DRAWS)
    return StagePrompt(sample, "justify", prompt)


def uphold_prompts(sample: Sample) -> list[StagePrompt]:
    """UPHOLD-REASON: both questions about all reasons, and the internal one in other orders."""
    justify = sample.justify
    if justify is None or why_no_later_stage(justify) is not None:
        return []
    plain = tuple(range(len(justify.reasons)))
    orders = [order for order, _ in sample.rewritten[1:]]
    return [
        _prompt_all(sample, justify, "internal", plain),
        _prompt_all(sample, justify, "external", plain),
        *(_prompt_all(sample, justify, "internal", order) for order in orders),
    ]


def individual_prompts(sample: Sample) -> list[StagePrompt]:
    """UPHOLD-STANCE: each reason alone (toxic, maybe), or all others (non-toxic)."""
    justify = sample.justify
    if justify is None or why_no_later_stage(justify) is not None:
        return []
    stage = individual_stage(justify.parsed.stance)
    texts = [reason.text for reason in justify.reasons]
    empty = len(texts) == 1 and not variant_of(sample.request).prompts_without_reasons
    if stage is None or (stage == "necessity" and empty):
        return []
    remaining = [
        [text] if stage == "sufficiency" else texts[:place] + texts[place + 1 :]
        for place, text in enumerate(texts)
    ]
    return [
        StagePrompt(
            sample, stage, _prompt(sample, justify, stage, some, INDIVIDUAL_STAGES + place), place
        )
        for place, some in enumerate(remaining)
    ]


def _prompt_all(sample: Sample, justify: Exchange, stage: Stage, order: Order) -> StagePrompt:
    texts = [justify.reasons[place].text for place in order]
    prompt = _prompt(sample, justify, stage, texts, PLACES[stage])  # every order: the same draws
    changed = order if order != tuple(sorted(order)) else None
    return StagePrompt(sample, stage, prompt, order=changed)


def _prompt(
    sample: Sample, justify: Exchange, stage: Stage, texts: Sequence[str], place: int
) -> Prompt:
    draw = sample.number * DRAWS + place
    return uphold_prompt(stage, justify.parsed.stance, sample.request.text, texts, draw)
