"""The operators: what becomes of the tokens that a subset does not hold, as rows for the model.

Source: arXiv:2603.18579, section 3.2; retrieval infill after `retrieval_operator.py` of
ice-faithfulness 1.0.1. Special tokens and the template are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.ice.contract import IceRequest
from services.ice.drawing import Subset
from services.ice.infill import Pool
from services.ice.reading import Positions, Reading
from services.ice.report import Operator
from shared.errors import BadInput
from shared.models.calls import Row, Tokens
from shared.statistics.seeds import generator

BASELINE = 5  # variant reference: tokens of the empty text under masks and infill


@dataclass(frozen=True)
class Operators:
    """The operators of one request; what is the same for every subset is made once."""

    reading: Reading
    scaffold: Positions
    pool: Pool | None
    bank: tuple[tuple[int, ...], ...]  # (R, E) fills of every place, the same for all subsets

    def rows(self, operator: Operator, subset: Subset) -> list[Row]:
        """One row, or R rows whose scores are averaged."""
        if operator == "delete":
            eligible = self.reading.eligible
            kept = sorted((*self.scaffold, *(eligible[place] for place in subset)))
            return [Row(kept=tuple(kept))]
        if operator == "infill":
            return [self._replaced(subset, fill) for fill in self._fills(subset)]
        mask = replacement(operator, self.reading.tokens)
        return [self._replaced(subset, (mask,) * len(self.reading.eligible))]

    def empty(self, operator: Operator) -> list[Row]:
        """s(empty): no token of the text is left; none where the model could not read that."""
        if self.reading.variant.released_operators and operator != "delete":
            return [self._five(operator)]
        if operator == "delete" and not self.scaffold and self.reading.kind == "classifier":
            return []
        return self.rows(operator, ())

    def _replaced(self, subset: Subset, fill: Sequence[int]) -> Row:
        stays = set(subset)
        eligible = self.reading.eligible
        gone = tuple((eligible[p], fill[p]) for p in range(len(eligible)) if p not in stays)
        if self.reading.variant.released_operators and len(fill) > len(eligible):
            special = zip(self.scaffold, fill[len(eligible) :], strict=True)
            gone = tuple(sorted((*gone, *special)))  # the released operator fills these too
        return Row(replaced=gone)

    def _fills(self, subset: Subset) -> Sequence[Sequence[int]]:
        if not self.reading.variant.released_operators or self.pool is None:
            return self.bank
        return [self.pool.fill(self._random("infill", subset), len(self.reading.tokens.ids))]

    def _five(self, operator: Operator) -> Row:
        """Released baselines: five masks, or five tokens of the pool."""
        some = self.reading.eligible[:BASELINE]
        if operator == "infill" and self.pool is not None:
            ids: Sequence[int] = self.pool.fill(self._random("baseline"), len(some))
        else:
            ids = (self._released_mask(operator),) * len(some)
        kept = tuple(sorted((*self.scaffold, *some)))
        return Row(kept=kept, replaced=tuple(zip(some, ids, strict=True)))

    def _released_mask(self, operator: Operator) -> int:
        """The mask token where there is one, whatever the operator puts elsewhere."""
        mask = self.reading.tokens.mask_id
        return replacement(operator, self.reading.tokens) if mask is None else mask

    def _random(self, *about: object) -> np.random.Generator:
        return random_of(self.reading.request, *about)


def random_of(request: IceRequest, *about: object) -> np.random.Generator:
    """The generator of this request's text for one purpose."""
    return generator(request.seed, request.text, request.text_pair, *about)


def operators_of(reading: Reading, pool: Pool | None) -> Operators:
    """Raises BadInput for an operator that the model has no token for."""
    for operator in reading.request.operators:
        if operator.startswith("mask"):
            replacement(operator, reading.tokens)
    request, count = reading.request, len(reading.eligible)
    bank = (
        ()
        if pool is None
        else tuple(
            pool.fill(random_of(request, "infill", number), count)
            for number in range(request.infills)
        )
    )
    return Operators(reading, reading.scaffold, pool, bank)


def replacement(operator: Operator, tokens: Tokens) -> int:
    """The token that stands for one that is taken away. Raises BadInput where there is none."""
    ids = {"mask": tokens.mask_id, "mask_unk": tokens.unk_id, "mask_pad": tokens.pad_id}
    found = ids[operator]
    if found is None:
        raise BadInput(f"the model has no token for the operator {operator}", pointer="/operators")
    return found
