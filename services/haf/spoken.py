"""Which tokens a statement is made of, and what it reads like without each of them.

Tokens are assigned by character offsets: every token that shares a character with the statement
counts, the first and the last one included. Tokens that share a character with each other (a
letter of several bytes) are one piece. Variant `reference` takes tokens that lie wholly inside,
which loses the first (" The") and often the last (".\n\n") as the released code does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from services.haf.kernel import Floats
from services.haf.parsed import Statement


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring tokens between two characters of a response. `nll` in nats."""

    start: int
    end: int
    nll: float
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class Written:
    """A response with its tokens, in order."""

    text: str
    pieces: tuple[Piece, ...]
    cut: bool = False  # it ended at the most tokens that were allowed

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        return sum(piece.tokens for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A statement as the model wrote it; pieces: (N,), offsets into the response."""

    statement: Statement
    pieces: tuple[Piece, ...] = ()

    @property
    def nll(self) -> Floats:
        """(N,) -log p, nats."""
        return np.array([piece.nll for piece in self.pieces], dtype=np.float64)

    @property
    def masked(self) -> tuple[str, ...]:
        """(N,) texts without a piece: made when asked for, as they are N times the statement."""
        begin = self.statement.span[0] if self.statement.span else 0
        return tuple(_without(self.statement.text, piece, begin) for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        return sum(piece.tokens for piece in self.pieces)


def merged(tokens: Iterable[tuple[int, int, float]]) -> tuple[Piece, ...]:
    """(start, end, log-probability) of tokens, in order, as pieces that do not overlap."""
    pieces: list[Piece] = []
    waiting = Piece(0, 0, 0.0, 0)  # tokens without characters go with the next ones
    for start, end, logprob in tokens:
        nll, count = waiting.nll + max(0.0, -logprob), waiting.tokens + 1
        if end <= start:
            waiting = Piece(0, 0, nll, count)
            continue
        waiting = Piece(0, 0, 0.0, 0)
        if pieces and start < pieces[-1].end:
            last = pieces.pop()
            start, end = last.start, max(end, last.end)
            nll, count = nll + last.nll, count + last.tokens
        pieces.append(Piece(start, end, nll, count))
    if waiting.tokens and pieces:
        last = pieces.pop()
        both = (last.nll + waiting.nll, last.tokens + waiting.tokens)
        pieces.append(Piece(last.start, last.end, *both))
    return tuple(pieces)


def spoken(written: Written, statement: Statement, *, whole_tokens: bool) -> Spoken:
    """The tokens of a statement; none where it does not stand in the response."""
    if statement.span is None:
        return Spoken(statement)
    start, end = statement.span
    first = bisect_right(written.pieces, start, key=lambda piece: piece.end)
    last = bisect_left(written.pieces, end, key=lambda piece: piece.start)
    own = (
        piece
        for piece in written.pieces[first:last]
        if not (whole_tokens and (piece.start < start or piece.end > end))
    )
    return Spoken(statement, tuple(own))


def _without(text: str, piece: Piece, begin: int) -> str:
    return text[: max(0, piece.start - begin)] + text[max(0, piece.end - begin) :]
