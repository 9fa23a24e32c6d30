"""One request's inquiry: which subsets it needs scores of, and what it knows so far.

Random rationales are drawn in rounds: one round of `draws`, or, adaptively, growing rounds until
both tails of every test have ended. A test reads its own draws in order and only as far as its
sequential rule goes, so the rounds do not show in it; comparisons of explanations use all draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from services.ice import drawing
from services.ice.drawing import Subset
from services.ice.explanations import Explanation
from services.ice.kernel import Floats
from services.ice.operators import Operators, random_of
from services.ice.reading import Reading
from services.ice.report import Operator
from shared.job_context import check, checking
from shared.models.calls import Row

FIRST_ROUND = 50

Key = tuple[Operator, Subset | None]  # None: the empty text
Places = NDArray[np.int64]
Ended = Callable[["Inquiry", "Trial", Operator], bool]


class Draws:
    """Random rationales of one size, in the order of drawing, and where each stands first."""

    def __init__(self, stream: Iterator[Subset]) -> None:
        self._stream = stream
        self.subsets: list[Subset] = []
        self._place: dict[Subset, int] = {}

    def draw(self, more: int) -> None:
        """So many more, if there are so many."""
        for subset in checking(islice(self._stream, more)):
            self._place.setdefault(subset, len(self.subsets))
            self.subsets.append(subset)

    def place(self, subset: Subset) -> int:
        """Where it was drawn first; behind the last, if it was not."""
        return self._place.get(subset, len(self.subsets))


@dataclass(frozen=True)
class Trial:
    """One explanation at one budget."""

    explanation: Explanation
    k: float | None
    rationale: Subset


@dataclass
class Inquiry:
    """What is asked for one request, and the answers."""

    reading: Reading
    explanations: Sequence[Explanation]
    operators: Operators
    scores: dict[Key, float | None] = field(default_factory=dict)
    rows: int = 1  # asked so far; the whole text was the first
    _drawn: dict[int, Draws] = field(default_factory=dict)
    _known: dict[tuple[Operator, int], tuple[int, Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trials = list(self._trials())

    def begin(self) -> None:
        """Draw the first round."""
        request = self.reading.request
        first = FIRST_ROUND if request.adaptive else request.draws
        for size in dict.fromkeys(len(trial.rationale) for trial in self.trials):
            self._drawn[size] = Draws(self._stream(size))
            self._draw(size, request.draws if self._all(size) else min(first, request.draws))

    def exact(self, trial: Trial) -> bool:
        """Whether the null is all other subsets."""
        return self._all(len(trial.rationale))

    def _all(self, size: int) -> bool:
        others = drawing.others(len(self.reading.eligible), size)
        return self.reading.variant.distinct and others <= self.reading.request.draws

    def null_places(self, trial: Trial) -> Places:
        """(M,) the random rationales that the trial is compared with: their places among the draws
        of its size."""
        drawn, most = self._drawn[len(trial.rationale)], self.reading.request.draws
        every: Places = np.arange(len(drawn.subsets))
        if self.reading.variant.distinct:
            every = every[every != drawn.place(trial.rationale)]
        return every[:most]

    def null_subsets(self, trial: Trial) -> list[Subset]:
        """The random rationales that a trial is compared with."""
        drawn = self._drawn[len(trial.rationale)].subsets
        return [drawn[place] for place in self.null_places(trial).tolist()]

    def common_places(self, first: Trial, second: Trial) -> Places:
        """Those that both trials, of one size, are compared with: each has the first ones, less its
        own rationale."""
        ours, theirs = self.null_places(first), self.null_places(second)
        if not theirs.size:
            return theirs
        common: Places = ours[ours <= theirs[-1]]
        if self.reading.variant.distinct:
            common = common[common != self._drawn[len(second.rationale)].place(second.rationale)]
        return common

    def null(self, operator: Operator, trial: Trial, places: Places) -> Floats:
        """(M,) scores of the random rationales at these places."""
        return self._scores_of(operator, len(trial.rationale))[places]

    def _scores_of(self, operator: Operator, size: int) -> Floats:
        """(D,) of every draw of this size, NaN where nobody asked; read once between answers."""
        subsets = self._drawn[size].subsets
        rows, known = self._known.get((operator, size), (0, np.empty(0)))
        if rows != self.rows or known.size != len(subsets):
            found = (self.scores.get((operator, subset)) for subset in subsets)
            known = np.array([np.nan if one is None else one for one in found], dtype=np.float64)
            self._known[operator, size] = self.rows, known
        return known

    def observed(self, operator: Operator, trial: Trial) -> float:
        """s(r)."""
        return float(self.scores[operator, trial.rationale] or 0.0)

    def empty(self, operator: Operator) -> float | None:
        """s(empty), or None where the model cannot read nothing."""
        return self.scores[operator, None]

    def missing(self) -> list[Key]:
        """What has to be asked now."""
        wanted: dict[Key, None] = {}
        for operator in self.reading.request.operators:
            check()
            wanted |= {(operator, None): None}
            seen = {size: np.zeros(len(d.subsets), bool) for size, d in self._drawn.items()}
            for trial in checking(self.trials):
                wanted |= {(operator, trial.rationale): None}
                size, places = len(trial.rationale), self.null_places(trial)
                new = places[~seen[size][places]]  # most trials share their draws
                seen[size][new] = True
                subsets = self._drawn[size].subsets
                wanted |= {(operator, subsets[place]): None for place in new.tolist()}
        return [key for key in wanted if key not in self.scores]

    def answer(self, keys: Sequence[tuple[Key, list[Row]]], answers: Floats) -> None:
        """Take the (R,) probabilities of the rows of these keys; fills are averaged."""
        self.rows += answers.size
        start = 0
        for key, rows in keys:
            part = answers[start : start + len(rows)]
            self.scores[key] = float(np.mean(part)) if rows else None
            start += len(rows)

    def draw_more(self, ended: Ended) -> None:
        """Another round where some test of a size has not ended."""
        if self.reading.request.adaptive is None:
            return
        for size, drawn in self._drawn.items():
            trials = [trial for trial in self.trials if len(trial.rationale) == size]
            tests = [(t, operator) for t in trials for operator in self.reading.request.operators]
            if not all(ended(self, *test) for test in checking(tests)):
                self._draw(size, min(len(drawn.subsets), self.reading.request.draws))

    def rows_of(self, key: Key) -> list[Row]:
        """The rows whose mean is the score of a key; none: it has none."""
        operator, subset = key
        if subset is None:
            return self.operators.empty(operator)
        return self.operators.rows(operator, subset)

    def _trials(self) -> Iterator[Trial]:
        budgets, rounding = self.reading.request.budgets, self.reading.variant.rounding
        for explanation in self.explanations:
            for k in budgets if explanation.marked is None else (None,):
                yield Trial(explanation, k, explanation.rationale(k or 1.0, rounding))

    def _stream(self, size: int) -> Iterator[Subset]:
        request, eligible = self.reading.request, len(self.reading.eligible)
        if self._all(size):
            return drawing.everything(eligible, size)
        random = random_of(request, "subsets", size)
        return self.reading.variant.stream(request.seed, random, eligible, size)

    def _draw(self, size: int, more: int) -> None:
        """`more` draws, and one for each rationale that may be among them."""
        spare = sum(len(trial.rationale) == size for trial in self.trials)
        if self._drawn[size].subsets:
            spare = 0
        self._drawn[size].draw(more + spare)
