"""A row of an example: its tokens after some were replaced and the others deleted.

Rows are literal: a special token or a piece of the template stays only where its position is kept.
The model numbers the positions of what is left from 0. Source: shared.calls.Row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from shared.calls import Row
from shared.errors import BadInput

Ids = tuple[int, ...]


def kept_positions(row: Row, length: int) -> Ids:
    """Which of an example's `length` tokens stay, ascending. Raises BadInput for others."""
    kept = tuple(range(length)) if row.kept is None else row.kept
    if any(a >= b for a, b in pairwise(kept)):
        raise BadInput("the kept positions must ascend", pointer="/rows")
    if kept and kept[-1] >= length:
        raise BadInput(f"position {kept[-1]} of an example of {length} tokens", pointer="/rows")
    return kept


def replaced_ids(ids: Sequence[int], row: Row, vocabulary: int) -> Ids:
    """(T,) the example's tokens with the row's replacements in place."""
    changed = list(ids)
    for position, token in row.replaced:
        if position >= len(changed):
            raise BadInput(
                f"position {position} of an example of {len(changed)} tokens", pointer="/rows"
            )
        if token >= vocabulary:
            raise BadInput(f"the model has {vocabulary} tokens, no {token}", pointer="/rows")
        changed[position] = token
    return tuple(changed)


def varied(ids: Sequence[int], row: Row, vocabulary: int) -> Ids:
    """(K,) the tokens of one row: replaced, then kept."""
    changed = replaced_ids(ids, row, vocabulary)
    return tuple(changed[position] for position in kept_positions(row, len(ids)))
