"""The control: random spans of the same lengths as the quoted ones, in the same text.

Our own, after the null of arXiv:2603.18579 (ICE): a quotation that moves P(hateful) no more than
random words do is no evidence. Placements are uniform over all that do not overlap, the quoted one
excluded; the generator is keyed by seed, text and quotes, so that batches and order do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.hatexscore.languages import Span
from services.hatexscore.units import touched, units
from shared.job_context import check
from shared.statistics.seeds import generator_1_0


def obstacle(text: str, quoted: Sequence[Span]) -> str | None:
    """Why there is no other placement of the quoted spans, or None if there is one."""
    counted = units(text)
    blocks = touched(counted, quoted)
    if not blocks:
        return "the quoted spans hold no word"
    if sum(last - first for first, last in blocks) == len(counted):
        return "the quotes leave no word of the text for another placement"
    return None


def placements(text: str, quoted: Sequence[Span], seed: int, draws: int) -> list[list[Span]]:
    """`draws` random placements of blocks as long as the quoted ones, in words (Chinese:
    characters); each a list of spans of the text. Requires that there is no `obstacle`."""
    counted = units(text)
    blocks = touched(counted, quoted)
    lengths = np.array([last - first for first, last in blocks])
    generator = generator_1_0(seed, str(sorted(quoted)), text)
    drawn: list[list[Span]] = []
    while len(drawn) < draws:
        check()
        placed = _place(lengths, len(counted), generator)
        if placed != blocks:
            drawn.append([(counted[first][0], counted[last - 1][1]) for first, last in placed])
    return drawn


def _place(lengths: np.ndarray, count: int, generator: np.random.Generator) -> list[Span]:
    """One uniform placement: shuffle the blocks, then choose their slots among the free units."""
    order = generator.permutation(lengths)
    free = count - int(order.sum())
    slots = np.sort(generator.choice(free + len(order), size=len(order), replace=False))
    before = np.concatenate(([0], np.cumsum(order - 1)[:-1]))
    starts = slots + before
    return [(int(start), int(start + length)) for start, length in zip(starts, order, strict=True)]
