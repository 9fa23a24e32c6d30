"""How much work a HateXScore request asks for: counted from its marks, without reading it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.hatexscore.contract import HatexscoreRequest

MARKS = "\"'\uff02\u201c\u201e\u201f\u00ab\u300c\u300e\u300a\u2018\u201b"  # that open a quotation
SECONDS_A_CHARACTER = 5e-5  # of text and explanation: words, groups, conclusion
SECONDS_A_QUOTATION = 2e-3  # that is looked for among near misses
SECONDS_A_TERM = 1.5e-4  # of a policy of your own
VARIANTS = 3


def cost(request: HatexscoreRequest, reads: int) -> Sequence[Work]:
    """At most so much: not every mark opens a quotation, and not every quotation is masked."""
    return tuple(_works(request, reads))


def _works(request: HatexscoreRequest, reads: int) -> Iterator[Work]:
    variants = Size("variants", VARIANTS if request.other_variants else 1, "/other_variants")
    characters = len(request.text) + len(request.explanation)
    read = Size("characters of `text` and `explanation`", characters, "/text", least=2)
    yield Work((read, variants), "characters", seconds_each=SECONDS_A_CHARACTER)
    marks = sum(map(request.explanation.count, MARKS))
    quotations = Size("quotation marks of `explanation`", marks, "/explanation")
    yield Work((quotations, variants), "quotations", seconds_each=SECONDS_A_QUOTATION)
    if isinstance(request.policy, dict):
        terms = sum(map(len, request.policy.values()))
        size = Size("terms of `policy`", terms, "/policy")
        yield Work((size,), "terms", seconds_each=SECONDS_A_TERM)
    if marks and request.probabilities is None:
        draws = Size("texts (`control_draws` and two)", 2 + request.control_draws, "/control_draws")
        tokens = Size("tokens of `text`", max(1, min(words_of(request.text), reads)), "/text")
        yield Work((draws, tokens, variants))
