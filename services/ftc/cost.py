"""How much work an FTC request asks for: pairs of sentences that the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.ftc.contract import FtcRequest

COUNTERFACTUALS = 2  # of a neutral pair; one of any other
SECONDS_A_CHARACTER = 1e-4  # of explanation, premise and hypothesis: patterns and alignment
SECONDS_A_DRAW = 1e-4


def cost(request: FtcRequest, reads: int) -> Sequence[Work]:
    """At most so much: where nothing is extracted, nothing is asked."""
    made = 1 if request.label in ("entailment", "contradiction") else COUNTERFACTUALS
    words = max(1, min(reads, words_of(request.premise) + words_of(request.hypothesis)))
    draws = Size("texts of a counterfactual (`draws` and two)", 2 + request.draws, "/draws")
    kinds = Size("counterfactuals", made)
    tokens = Size("tokens of `premise` and `hypothesis`", words, "/premise")
    characters = len(request.premise) + len(request.hypothesis) + len(request.explanation)
    read = Size("characters", characters, "/explanation")
    return (
        Work((draws, kinds, tokens)),
        Work((read,), "characters", seconds_each=SECONDS_A_CHARACTER),
        Work((draws, kinds), "substitutions", seconds_each=SECONDS_A_DRAW),
    )
