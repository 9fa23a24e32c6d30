"""A one-sided rank test that looks at its random draws a few times and may stop at each look.

At a look it stops with "no" if many draws reach the observed score, and with "yes" if few do. If
the observed score is itself random, the number of draws that reach it follows Pólya's urn. After s
of l draws have reached it, the next draw does so with probability (s + 1) / (l + 2), with or
without replacement. Dynamic programming therefore gives the exact size of the rule (Jennison &
Turnbull, Group Sequential Methods, 2000, chapter 2). The p-value follows the stage-wise order: an
earlier "yes" is more extreme than a later one, an earlier "no" less. It is uniform on the outcomes
of the rule, and at most the level for a "yes". The p-value of the other side uses the same outcome
in the opposite order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from shared.statistics import ranks

LEVEL = 0.05
LOOKS = (19, 39, 79, 139)  # draws at which the test may stop
NO_FROM = (4, 6, 9, 12)  # draws that reach the observed score, from which it stops with "no"
YES_UP_TO = (-1, 0, 1, 3)  # up to which it stops with "yes"; -1: never
MOST = 199
ROUNDING = 1e-9
DIGITS = 12  # of p: 1 / 20 is at most .05

Outcome = tuple[int, int]  # draws made, and how many of them reach the observed score


@dataclass(frozen=True)
class GroupSequential:
    """The stopping rule of a test with random samples. `looks` holds ascending sample counts; the
    last look ends the test. The test stops with "no" if at least `no_from` samples reach the
    observed score. It stops with "yes" if at most `yes_up_to` do. `no_from` has a value for each
    look except the last, `yes_up_to` for each look."""

    looks: tuple[int, ...]
    no_from: tuple[int, ...]
    yes_up_to: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.looks) == len(self.yes_up_to) == len(self.no_from) + 1:
            raise ValueError(
                "`looks` and `yes_up_to` must have the same length, and `no_from` one entry fewer"
            )
        if any(step < 1 for step in np.diff([0, *self.looks])):
            raise ValueError("`looks` must be ascending whole numbers from 1")

    @property
    def first(self) -> int:
        return self.looks[0]

    @property
    def most(self) -> int:
        return self.looks[-1]

    @property
    def attainable_p(self) -> float:
        """Return the smallest p-value that this rule can give."""
        return min(self._p_values.values())

    @property
    def size(self) -> float:
        """Return the size of the test: the exact probability of the outcome "yes" for a random
        score."""
        return self.yes_rate(None)

    def yes_rate(self, beat_rate: float | None) -> float:
        """Return the probability that the test ends with "yes". `beat_rate` is explained in
        `outcomes`."""
        outcomes = self.outcomes(beat_rate)
        return sum(mass for outcome, mass in outcomes.items() if self._is_yes(outcome))

    def stopped(self, reached: NDArray[np.bool_]) -> Outcome | None:
        """Return the outcome at which the test stops, or None if it needs more draws. `reached` has
        one boolean per draw, in order: True if the draw is at least the observed score."""
        for draws, no_from, yes_up_to in zip(
            self.looks, (*self.no_from, 0), self.yes_up_to, strict=True
        ):
            if reached.size < draws:
                return None
            count = int(np.count_nonzero(reached[:draws]))
            if count >= no_from or count <= yes_up_to:
                return draws, count
        raise AssertionError("the last look must end the test")

    def next_look(self, draws: int) -> int:
        """Return the number of draws at the next look after `draws` draws."""
        return next(look for look in self.looks if look > draws)

    def p_value(self, outcome: Outcome) -> float:
        """Return the p-value of an outcome of the test, in (0, 1]."""
        return self._p_values[outcome]

    def tails(self, observed: float, null: ranks.Floats) -> tuple[float, float] | None:
        """Return the p-value and the p-value of the opposite test, or None if the test needs more
        draws. Their sum exceeds 1, because ties count for both. `null` holds the scores of the
        draws, in order."""
        outcome = self.stopped(ranks.reaching(observed, null))
        if outcome is None:
            return None
        above = ~ranks.reaching(-observed, -null[: outcome[0]])
        without_ties = self.stopped(above)
        p_anti = 1.0
        if without_ties is not None:
            mass = self._masses[without_ties]
            p_anti = min(1.0, round(1 - self._p_values[without_ties] + mass, DIGITS))
        return self._p_values[outcome], p_anti

    @cached_property
    def _masses(self) -> Mapping[Outcome, float]:
        return self.outcomes(None)

    @cached_property
    def _p_values(self) -> Mapping[Outcome, float]:
        masses = self._masses

        def extremeness(outcome: Outcome) -> tuple[bool, int, int]:
            yes = self._is_yes(outcome)
            return not yes, outcome[0] if yes else -outcome[0], outcome[1]

        ranked = sorted(masses, key=extremeness)  # the most extreme first
        sums = np.cumsum([masses[outcome] for outcome in ranked])
        return {
            outcome: min(1.0, round(float(p), DIGITS))
            for outcome, p in zip(ranked, sums, strict=True)
        }

    def _is_yes(self, outcome: Outcome) -> bool:
        draws, count = outcome
        return count <= self.yes_up_to[self.looks.index(draws)]

    def outcomes(self, beat_rate: float | None) -> dict[Outcome, float]:
        """Return the probability of every outcome. `beat_rate` is the share of random scores below
        the observed score; ties are assumed not to occur. None means that the observed score is
        itself random."""
        outcomes: dict[Outcome, float] = {}
        going, drawn = np.ones(1), 0  # P(the test goes on with s draws that reach it), by s
        for look, draws in enumerate(self.looks):
            for number in range(drawn, draws):
                counts = np.arange(number + 1)
                reach = (counts + 1) / (number + 2) if beat_rate is None else 1 - beat_rate
                going = np.append(going * (1 - reach), 0.0) + np.append(0.0, going * reach)
            drawn = draws
            no_from = 0 if draws == self.most else self.no_from[look]
            for count in np.flatnonzero(going):
                if count >= no_from or count <= self.yes_up_to[look]:
                    outcomes[draws, int(count)] = float(going[count])
                    going[count] = 0.0
        return outcomes


@lru_cache(maxsize=256)
def looks_up_to(most: int) -> GroupSequential:
    """Return the sequential test with at most `most` comparisons with random passages, up to 199.
    The test may stop at each of the counts in `LOOKS`. At the last count, the threshold for "yes"
    is the largest that keeps the error rate within `LEVEL`."""
    indices = [index for index, look in enumerate(LOOKS) if look < most]
    looks = (*(LOOKS[index] for index in indices), most)
    no_from = tuple(NO_FROM[index] for index in indices)
    yes_up_to = tuple(YES_UP_TO[index] for index in indices)
    rule = GroupSequential(looks, no_from, (*yes_up_to, -1))
    masses, spent, last = rule.outcomes(None), rule.size, -1
    for count in range(most + 1):
        spent += masses.get((most, count), 0.0)
        if spent > LEVEL + ROUNDING:
            break
        last = count
    return GroupSequential(looks, no_from, (*yes_up_to, last))


def one_look(draws: int) -> GroupSequential:
    """Return the test without early stopping. After all draws, p = (1 + draws that reach the score)
    / (1 + draws)."""
    return GroupSequential((draws,), (), (int(LEVEL * (draws + 1) + ROUNDING) - 1,))
