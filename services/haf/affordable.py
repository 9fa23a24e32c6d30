"""How many comparisons one request may cause: a clear refusal, before any of them is made.

A statement of N tokens is compared N times with itself, so that long statements cost their square.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor

from services.haf.contract import HafRequest
from services.haf.spoken import Spoken
from services.haf.transcript import Transcript
from shared.errors import TooCostly

MOST_PAIRS = 100_000  # a sample of four reasons has about 700
MOST_CHARACTERS = 100_000_000  # of both texts of all pairs; such a sample has about 200,000


def affordable(request: HafRequest, told: Sequence[Transcript]) -> None:
    """Raises TooCostly where the pairs are too many, or too long."""
    sizes = [size for transcript in told for size in _sizes(request, transcript)]
    pairs = sum(count for count, _ in sizes)
    characters = sum(length for _, length in sizes)
    if pairs <= MOST_PAIRS and characters <= MOST_CHARACTERS:
        return
    share = min(MOST_PAIRS / pairs, MOST_CHARACTERS / characters)
    if request.responses is None:
        fewer = floor(request.samples * share)
        tokens = floor(request.generation.max_tokens * share**0.5)
        advice = f"lower `max_tokens` to about {tokens:,}"
        advice = f"lower `samples` to at most {fewer}, or {advice[6:]}" if fewer else advice
        pointers: tuple[str, ...] = ("/generation/max_tokens", "/samples", "/permute_reasons")
    else:
        advice = f"bring fewer or shorter responses, about {share**0.5:.0%} as long"
        pointers = ("/responses",)
    raise TooCostly(
        f"this takes {pairs:,} comparisons of {characters:,} characters, and at most "
        f"{MOST_PAIRS:,} of {MOST_CHARACTERS:,} are made for one request: {advice}",
        pointers=pointers,
    )


def _sizes(request: HafRequest, told: Transcript) -> Iterator[tuple[int, int]]:
    """(pairs, characters of both texts), counted without making them; repeated ones included."""
    initial = [len(said.statement.text) for said in told.justify.reasons]
    count, together = len(initial), sum(initial)
    yield count, count * len(request.text) + together
    yield count * (count - 1) // 2, max(0, count - 1) * together
    for exchange in told.exchanges:
        said = [*exchange.reasons, *([exchange.decision] if exchange.decision else [])]
        yield from map(_own, said)
        if exchange.stage != "justify":
            new = [len(reason.statement.text) for reason in exchange.reasons]
            yield count * len(new), count * sum(new) + len(new) * together


def _own(said: Spoken) -> tuple[int, int]:
    """A statement against itself without each of its pieces."""
    return len(said.pieces), 2 * len(said.pieces) * len(said.statement.text)
