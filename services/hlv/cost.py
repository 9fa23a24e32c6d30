"""How much work an HLV request asks for: prompts that a judge reads. Answers are not counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.questions import asked, listed
from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.hlv.contract import HlvRequest, Judge


def cost(request: HlvRequest, reads: int) -> Sequence[Work]:
    """Every prompt, with and without the explanations; nothing where `predictions` are sent."""
    if request.model is None or request.judge is None:
        return ()  # a classifier reads one pair; a language model as it is asked by default, little
    judge, options = request.judge, len(request.options)
    question = words_of(asked(request.question)) + words_of(listed(request.options))
    shown = sum(words_of(one.explanation) for one in request.explanations)
    shown += words_of(request.rationale or "")
    explained = bool(request.explanations or request.rationale)
    sides = 2 if explained else 1
    runs = Size("prompts of `judge` (`runs`, `methods`)", _prompts(judge, options), "/judge/runs")
    read = question + (shown / 2 if explained else 0)  # half of the prompts show them
    return (Work((runs, Size("conditions", sides), Size("tokens of a prompt", max(1, read)))),)


def _prompts(judge: Judge, options: int) -> int:
    """Of one condition. A greedy judge that sees one order is asked once."""
    runs = judge.runs if judge.temperature > 0 or judge.order == "rotated" else 1
    each = {
        "rank": runs,
        "score": runs * options,
        "logits": options if judge.order == "rotated" else 1,
    }
    return sum(each[method] for method in judge.methods)
