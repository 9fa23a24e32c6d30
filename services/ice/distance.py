"""How far the inputs that a model was asked about lie from texts.

Taking words away makes inputs that no writer wrote, and what a model says of such may mean little:
Hase, Xie & Bansal (2021), arXiv:2106.00786.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.ice.explanations import TokenizedInput
from services.ice.kernel import Floats
from services.ice.report import IceDistance, Operator
from services.ice.subsets import Subset

Key = tuple[Operator, Subset | None]


@dataclass
class AskedRows:
    """Sums over the rows of each key, in the order of asking."""

    tokenized: TokenizedInput
    counts: dict[Key, int] = field(default_factory=dict)
    entropies: dict[Key, float] = field(default_factory=dict)
    flips: dict[Key, int] = field(default_factory=dict)

    def add(self, keys: Sequence[tuple[Key, int]], answers: Floats) -> None:
        """keys: with the number of their rows. answers: (R, L) probabilities of these rows; (R,) of
        the target alone tell no entropy and no label."""
        if answers.ndim == 1:
            self.counts |= {key: count for key, count in keys if count}
            return
        whole = int(np.argmax(self.tokenized.probabilities))
        entropies = entropy(answers).tolist()
        flips = (np.argmax(answers, axis=1) != whole).tolist()
        start = 0
        for key, count in keys:
            end = start + count
            if count:
                self.counts[key] = count
                self.entropies[key] = math.fsum(entropies[start:end])
                self.flips[key] = sum(flips[start:end])
            start = end

    def length_share(self, ends: tuple[int, int] | None) -> float | None:
        """Share of the rows with fewer tokens than `ends`, or with more; None where `ends`, or the
        tokens of rows of words, are not known."""
        if ends is None or self.tokenized.words is not None or not self.counts:
            return None
        least, most = ends
        outside = sum(
            count for key, count in self.counts.items() if not least <= self._length(key) <= most
        )
        return outside / sum(self.counts.values())

    def _length(self, key: Key) -> int:
        """Tokens of each row of this key: all operators but `delete` replace one by one."""
        operator, kept = key
        every = len(self.tokenized.tokens.ids)
        if operator != "delete":
            return every
        return every - len(self.tokenized.eligible) + len(kept or ())

    def distance(self, random: Collection[Key]) -> IceDistance:
        """random: the keys of random rationales, of either aspect."""
        rows = sum(self.counts.values())
        drawn = [key for key in self.flips if key in random]
        some = sum(self.counts[key] for key in drawn)
        gain = None
        if self.entropies:
            mean = math.fsum(self.entropies.values()) / sum(
                self.counts[one] for one in self.entropies
            )
            gain = mean - float(entropy(self.tokenized.probabilities[None, :])[0])
        return IceDistance(
            rows=rows,
            kept=self._kept() / rows if rows else None,
            entropy_gain=gain,
            flip_share=sum(self.flips[key] for key in drawn) / some if some else None,
        )

    def _kept(self) -> float:
        """Over the rows, the share of the eligible tokens that stay."""
        every = len(self.tokenized.eligible)
        stay = (count * len(key[1] or ()) for key, count in self.counts.items())
        return sum(stay) / every


def entropy(probabilities: Floats) -> Floats:
    """(R,) of (R, L) probabilities, nats; 0 log 0 is 0."""
    safe = np.where(probabilities > 0, probabilities, 1.0)
    return np.asarray(-np.sum(probabilities * np.log(safe), axis=1))
