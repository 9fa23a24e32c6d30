"""Rank-rank and Rank-score: what the judge writes, read back; an unreadable answer is asked again.

Source: Chen et al., EMNLP 2025, section 5.1 and Appendix D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.hlv import parsing, prompts
from services.hlv.condition import Answered, Condition, Named, collected
from services.hlv.contract import HlvRequest
from services.hlv.kernel import fractional_ranks
from services.hlv.prompts import Shown
from services.hlv.saying import Run
from services.hlv.variants import VARIANTS
from shared.models.calls import Completion, Sampling
from shared.models.ports import PromptOfRequest, written

RATED = (1.0, 5.0)  # the scale that the prompt names


@dataclass(frozen=True)
class Line:
    """One prompt, how its answer is read, and how often it was asked in vain."""

    condition: Condition
    run: int
    asked: PromptOfRequest
    read: Callable[[str], Any]  # None: unreadable
    option: int | None = None  # of Rank-score


def spoken(conditions: Sequence[Condition]) -> Answered:
    """The runs of every condition that wants `rank` or `score`."""
    lines = [line for condition in conditions for line in _lines(condition)]
    values = _read(lines, written([line.asked for line in lines]))
    again = [
        place
        for place, value in enumerate(values)
        if value is None and lines[place].asked.sampling.temperature > 0
    ]
    retried = written([_reseeded(lines[place].asked) for place in again])
    for place, value in zip(again, _read([lines[p] for p in again], retried), strict=True):
        values[place] = value
    return _runs(lines, values)


def _read(lines: Sequence[Line], completions: Sequence[Completion]) -> list[Any]:
    return [line.read(one.text) for line, one in zip(lines, completions, strict=True)]


def _reseeded(asked: PromptOfRequest) -> PromptOfRequest:
    seed = (asked.sampling.seed + 1) % 2**63
    sampling = asked.sampling.model_copy(update={"seed": seed})
    return PromptOfRequest(asked.owner, asked.model, asked.prompt, sampling)


def _lines(condition: Condition) -> Iterator[Line]:
    request, how = condition.request, condition.judge
    if condition.kind != "causal":
        return
    several = how.temperature > 0 or how.order == "rotated"
    for run in range(how.runs if several else 1):
        shown = prompts.rotated(request.options, run if how.order == "rotated" else 0)
        block = prompts.rationale(request, shown) if condition.explained else ""
        if "rank" in how.methods:
            text = prompts.rank_prompt(request, shown, block)
            yield Line(condition, run, _ask(condition, text), _ranker(request, shown))
        if "score" in how.methods:
            for place, option in enumerate(request.options):
                text = prompts.score_prompt(request, option, block)
                yield Line(condition, run, _ask(condition, text), _rater(request), place)


def _ask(condition: Condition, text: str) -> PromptOfRequest:
    how = condition.judge
    sampling = Sampling(
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=condition.request.seed,
    )
    prompt = prompts.as_prompt(text, chat=how.chat)
    return PromptOfRequest(condition.place, condition.model, prompt, sampling)


def _ranker(request: HlvRequest, shown: Shown) -> Callable[[str], list[str] | None]:
    scan = VARIANTS[request.variant].mentioned
    return lambda raw: [shown.meant[letter] for letter in scan(raw, shown.letters)] or None


def _rater(request: HlvRequest) -> Callable[[str], int | None]:
    return VARIANTS[request.variant].rating


def _runs(lines: Sequence[Line], values: Sequence[Any]) -> Answered:
    ranked: list[Named] = [
        (line.condition, "rank", _ranking(line.condition.request, value))
        for line, value in zip(lines, values, strict=True)
        if line.option is None
    ]
    rated: dict[tuple[Condition, int], list[float | None]] = {}
    for line, value in zip(lines, values, strict=True):
        if line.option is not None:
            rated.setdefault((line.condition, line.run), []).append(value)
    scored: list[Named] = [
        (condition, "score", _rating(condition.request, row))
        for (condition, _), row in rated.items()
    ]
    return collected([*ranked, *scored])


def _ranking(request: HlvRequest, order: list[str] | None) -> Run:
    keys = [option.key for option in request.options]
    return Run(parsing.ranks_of(order or [], keys), valid=order is not None)


def _rating(request: HlvRequest, row: Sequence[float | None]) -> Run:
    """Ratings 1 to 5, moved onto the scale of the human ratings."""
    low, high = request.human.scale.low, request.human.scale.high
    given = np.array([np.nan if value is None else value for value in row], dtype=np.float64)
    values = low + (given - RATED[0]) / (RATED[1] - RATED[0]) * (high - low)
    whole = not np.isnan(values).any()
    return Run(fractional_ranks(values) if whole else None, values, valid=bool(whole))
