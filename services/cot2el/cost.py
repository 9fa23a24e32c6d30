"""How much work a CoT2EL request asks for: prompts, and the alignment of every explanation.

Every explanation is compared with every unit of the reasoning. The units hold each of its
characters that is not white space, so that the product of both lengths is known beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shared.questions import asked
from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.cot2el.contract import Cot2elRequest

MOST_COMPARED = 1_000_000_000  # characters of explanations times characters of units
SECONDS_A_COMPARISON = 2e-9  # two upper bounds of the similarity spare most of the work
MEASURES = 4  # of each found explanation against each human one
SECONDS_A_MEASURE = 1e-4


def cost(request: Cot2elRequest, reads: int) -> Sequence[Work]:
    """What is aligned, what is measured against people, and what a model reads."""
    return (*_aligned(request), *_measured(request, reads), *_prompted(request))


def _aligned(request: Cot2elRequest) -> Iterator[Work]:
    if request.pairs is None or request.reasoning is None:
        return
    pairs = dict.fromkeys(request.pairs)  # each is aligned once
    explained = Size(
        "characters of `pairs`", sum(len(pair.explanation) for pair in pairs), "/pairs"
    )
    spans = {(unit.start, unit.end) for unit in request.units or ()}
    units = sum(end - start for start, end in spans) or len("".join(request.reasoning.split()))
    name = "characters of `units`" if spans else "characters of `reasoning`"
    compared = Size(name, units, "/units" if spans else "/reasoning")
    yield Work(
        (explained, compared), "comparisons", seconds_each=SECONDS_A_COMPARISON, most=MOST_COMPARED
    )
    if request.control_draws:
        draws = Size("`control_draws`", request.control_draws, "/control_draws")
        yield Work((draws, explained, compared), "comparisons", seconds_each=SECONDS_A_COMPARISON)


def _measured(request: Cot2elRequest, reads: int) -> Iterator[Work]:
    found, human = request.pairs or (), request.human_pairs or ()
    if not found or not human:
        return
    pairs = (
        Size("`pairs`", len(found), "/pairs"),
        Size("`human_pairs`", len(human), "/human_pairs"),
    )
    measures = Size("measures", MEASURES)
    yield Work((*pairs, measures), "comparisons", seconds_each=SECONDS_A_MEASURE)
    if request.similarity is not None:
        texts = {pair.explanation for pair in (*found, *human)}
        tokens = sum(min(reads, words_of(text)) for text in texts)
        yield Work((Size("tokens of `pairs` and `human_pairs`", max(1, tokens), "/pairs"),))


def _prompted(request: Cot2elRequest) -> Iterator[Work]:
    """Each stage reads the question or the reasoning once; what is written is not counted."""
    if request.model is None:
        return
    words = words_of(asked(request.question)) + words_of(request.reasoning or "")
    yield Work((Size("tokens of `question` and `reasoning`", max(1, words), "/reasoning"),))
