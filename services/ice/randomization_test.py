"""One request's inquiry: which subsets it needs scores of, and what it knows so far.

Random rationales are drawn in rounds: one round of `draws`, or, adaptively, growing rounds until
both tails of every test have ended. A test reads its own draws in order and only as far as its
sequential rule goes, so the rounds do not show in it; comparisons of explanations use all draws.

When a test has drawn enough: Besag & Clifford's rule on both tails, and what it then says.

From scores to tests: each explanation at each budget under each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from services.ice import kernel, subsets
from services.ice.explanations import TestedExplanation, TokenizedInput
from services.ice.kernel import Floats
from services.ice.operators import Operators, random_of
from services.ice.report import IceNull, IceScores, Operator, Test, TestedOperator
from services.ice.subsets import Subset
from shared.counting import histogram_of
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

    explanation: TestedExplanation
    k: float | None
    rationale: Subset


@dataclass
class Inquiry:
    """What is asked for one request, and the answers."""

    reading: TokenizedInput
    explanations: Sequence[TestedExplanation]
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
        others = subsets.others(len(self.reading.eligible), size)
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
            return subsets.everything(eligible, size)
        random = random_of(request, "subsets", size)
        return self.reading.variant.stream(request.seed, random, eligible, size)

    def _draw(self, size: int, more: int) -> None:
        """`more` draws, and one for each rationale that may be among them."""
        spare = sum(len(trial.rationale) == size for trial in self.trials)
        if self._drawn[size].subsets:
            spare = 0
        self._drawn[size].draw(more + spare)


@dataclass(frozen=True)
class Tails:
    """Both one-sided p-values, and how many draws they rest on."""

    above: float | None
    below: float | None
    draws: int
    ended: bool  # both tails, before all draws were made


def tails(observed: float, null: Floats, most: int, ending: int) -> Tails:
    """Of a null (l,) in the order of drawing; each tail ends by itself, the draws with the later.

    most: draws planned. ending: draws beyond the rationale that end a tail.
    """
    above, first = kernel.sequential_p(null >= observed - kernel.TIE, most, ending)
    below, second = kernel.sequential_p(null <= observed + kernel.TIE, most, ending)
    if first is None or second is None:
        return Tails(above, below, null.size, ended=False)
    return Tails(above, below, max(first, second), ended=max(first, second) < most)


def ended(inquiry: Inquiry, trial: Trial, operator: Operator) -> bool:
    """Whether a test needs no more draws."""
    request = inquiry.reading.request
    places = inquiry.null_places(trial)
    if request.adaptive is None or inquiry.exact(trial) or places.size >= request.draws:
        return True
    null = inquiry.null(operator, trial, places)
    found = tails(
        inquiry.observed(operator, trial), null, request.draws, request.adaptive.exceedances
    )
    return found.ended


def read_tails(inquiry: Inquiry, trial: Trial, observed: float, null: Floats) -> Tails:
    """The p-values of a test by its request's design."""
    request, tie = inquiry.reading.request, inquiry.reading.variant.tie
    if request.adaptive is None or inquiry.exact(trial):
        above = kernel.p_value(observed, null, tie)
        below = kernel.p_anti(observed, null, tie)
        return Tails(above, below, null.size, ended=False)
    return tails(observed, null, request.draws, request.adaptive.exceedances)


@dataclass(frozen=True)
class TestInput:
    """What a test compares: the rationale's statistic with that of random rationales."""

    trial: Trial
    operator: TestedOperator
    observed: float | None  # None: the statistic is undefined
    null: Floats  # (M,)


def compared(inquiry: Inquiry) -> list[TestInput]:
    """By trial, then by operator; then their mean, where the variant has one and there are two."""
    found = []
    for trial in checking(inquiry.trials):
        by_operator = [
            _of_operator(inquiry, trial, operator) for operator in inquiry.reading.request.operators
        ]
        found += by_operator
        if inquiry.reading.variant.mean_of_operators and len(by_operator) > 1:
            found.append(_mean(trial, by_operator))
    return found


def _of_operator(inquiry: Inquiry, trial: Trial, operator: TestedOperator) -> TestInput:
    if operator == "mean":
        raise AssertionError("the mean is no operator of a request")
    null = inquiry.null(operator, trial, inquiry.null_places(trial))
    scores = np.array([inquiry.observed(operator, trial), *null])
    values = inquiry.reading.variant.statistic(
        scores, inquiry.reading.full, inquiry.empty(operator)
    )
    if values is None:
        return TestInput(trial, operator, None, np.empty(0))
    return TestInput(trial, operator, float(values[0]), values[1:])


def _mean(trial: Trial, by_operator: Sequence[TestInput]) -> TestInput:
    """Algorithm 1, lines 1 and 4."""
    observed = [one.observed for one in by_operator if one.observed is not None]
    if len(observed) < len(by_operator):
        return TestInput(trial, "mean", None, np.empty(0))
    null = np.mean([one.null for one in by_operator], axis=0)
    return TestInput(trial, "mean", float(np.mean(observed)), null)


def test_of(inquiry: Inquiry, one: TestInput) -> Test:
    """The numbers of one test."""
    if one.observed is None or one.null.size == 0:
        return _undefined(inquiry, one)
    tails = read_tails(inquiry, one.trial, one.observed, one.null)
    observed, null = one.observed, one.null[: tails.draws]
    row, tie = inquiry.reading.variant, inquiry.reading.variant.tie
    effect = kernel.effect(observed, null, row.ddof)
    return Test(
        **_named(inquiry, one),
        win_rate=kernel.win_rate(observed, null, tie),
        strict_win_rate=kernel.strict_win_rate(observed, null, tie),
        tie_rate=kernel.tie_rate(observed, null, tie),
        effect=row.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=kernel.two_sided(tails.above, tails.below),
        verdict=kernel.verdict(tails.above, tails.below, inquiry.reading.request.alpha),
        stopped_early=tails.ended,
        null=_null(inquiry, one.trial, null, tails),
    )


def _undefined(inquiry: Inquiry, one: TestInput) -> Test:
    exact = inquiry.exact(one.trial)
    return Test(
        **_named(inquiry, one),
        win_rate=None,
        strict_win_rate=None,
        tie_rate=None,
        effect=None,
        p_value=None,
        p_anti=None,
        p_two_sided=None,
        verdict=None,
        stopped_early=False,
        null=IceNull(draws=0, exact=exact, sequential=False, mean=None, sd=None, deciles=()),
    )


def _named(inquiry: Inquiry, one: TestInput) -> dict[str, object]:
    scores = None
    nsr = one.observed
    if one.operator != "mean":
        scores = IceScores(
            full=inquiry.reading.full,
            rationale=inquiry.observed(one.operator, one.trial),
            empty=inquiry.empty(one.operator),
        )
        if inquiry.reading.variant.nsr_beside:
            epsilon = inquiry.reading.request.nsr_epsilon
            nsr = kernel.nsr(scores.rationale, scores.full, scores.empty, epsilon)
    return {
        "explanation": one.trial.explanation.name,
        "k": one.trial.k,
        "tokens": len(one.trial.rationale),
        "operator": one.operator,
        "nsr": nsr,
        "scores": scores,
    }


def _null(inquiry: Inquiry, trial: Trial, null: Floats, tails: Tails) -> IceNull:
    return IceNull(
        draws=tails.draws,
        exact=inquiry.exact(trial),
        sequential=inquiry.reading.request.adaptive is not None and not inquiry.exact(trial),
        mean=float(np.mean(null)),
        sd=kernel.null_sd(null, inquiry.reading.variant.ddof),
        deciles=kernel.deciles(null),
        histogram=histogram_of(null),
    )
