"""The randomization test: each explanation at each budget under each operator, against random ones.

Source: arXiv:2603.18579, Algorithm 1; the sequential design: Besag & Clifford (1991), both tails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.ice import kernel, subsets
from services.ice.explanations import TestedExplanation, TokenizedInput
from services.ice.kernel import Floats
from services.ice.nulls import NullSpace, TextUnits, any_tokens, null_of
from services.ice.operators import Operators, random_of
from services.ice.report import IceNull, IceScores, IceTest, Operator, TestedOperator
from services.ice.subsets import Subset
from shared.estimates import histogram_of
from shared.job_context import check, checking
from shared.models.calls import Example, Row
from shared.statistics import ranks
from shared.statistics.placements import overlap

FIRST_ROUND = 50
MOST_PLACEMENTS = 10**15  # more are not counted to the reader

Key = tuple[Operator, Subset | None]  # None: the empty text
Places = NDArray[np.int64]


def run_tests(experiment: Experiment) -> tuple[IceTest, ...]:
    """By trial, then by operator; then their mean, where the variant has one and there are two."""
    tests = []
    for trial in checking(experiment.trials):
        request = experiment.tokenized.request
        inputs = [_input_of(experiment, trial, operator) for operator in request.operators]
        if experiment.tokenized.variant.mean_of_operators and len(inputs) > 1:
            inputs.append(_mean(trial, inputs))
        tests += [_test(experiment, one) for one in inputs]
    return tuple(tests)


@dataclass(frozen=True)
class Trial:
    """One explanation at one budget."""

    explanation: TestedExplanation
    k: float | None
    rationale: Subset
    null: NullSpace


@dataclass(frozen=True)
class TestInput:
    """What a test compares: the rationale's statistic with that of random rationales."""

    trial: Trial
    operator: TestedOperator
    observed: float | None  # None: the statistic is undefined
    null: Floats  # (M,)


def _input_of(experiment: Experiment, trial: Trial, operator: Operator) -> TestInput:
    null = experiment.null(operator, trial, experiment.null_places(trial))
    scores = np.array([experiment.observed(operator, trial), *null])
    tokenized = experiment.tokenized
    values = tokenized.variant.statistic(scores, tokenized.full, experiment.empty(operator))
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


def _test(experiment: Experiment, one: TestInput) -> IceTest:
    if one.observed is None or one.null.size == 0:
        return _undefined(experiment, one)
    tails = _tails_of(experiment, one)
    observed, null = one.observed, one.null[: tails.draws]
    variant, exact = experiment.tokenized.variant, experiment.exact(one.trial)
    effect = kernel.effect(observed, null, variant.ddof)
    return IceTest(
        **_common_fields(experiment, one),
        win_rate=ranks.win_rate(observed, null, variant.tie),
        strict_win_rate=ranks.strict_win_rate(observed, null, variant.tie),
        tie_rate=ranks.tie_rate(observed, null, variant.tie),
        effect=variant.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        verdict=kernel.verdict(tails.above, tails.below, experiment.tokenized.request.alpha),
        stopped_early=tails.ended,
        null=IceNull(
            draws=tails.draws,
            exact=exact,
            sequential=experiment.tokenized.request.adaptive is not None and not exact,
            mean=float(np.mean(null)),
            sd=kernel.null_sd(null, variant.ddof),
            deciles=kernel.deciles(null),
            histogram=histogram_of(null),
            **_null_fields(experiment, one.trial, tails.draws),
        ),
    )


def _null_fields(experiment: Experiment, trial: Trial, draws: int) -> dict[str, Any]:
    """What the random rationales are, beside their scores."""
    others = trial.null.others(len(experiment.tokenized.eligible))
    drawn = experiment.null_subsets(trial)[:draws]
    return {
        "kind": trial.null.kind,
        "placements": others if others <= MOST_PLACEMENTS else None,
        "overlap": float(np.mean([overlap(trial.rationale, one) for one in drawn])),
        "attainable_p": ranks.attainable_p(draws, sides=2),
    }


def _undefined(experiment: Experiment, one: TestInput) -> IceTest:
    return IceTest(
        **_common_fields(experiment, one),
        win_rate=None,
        strict_win_rate=None,
        tie_rate=None,
        effect=None,
        p_value=None,
        p_anti=None,
        p_two_sided=None,
        verdict=None,
        stopped_early=False,
        null=IceNull(
            draws=0,
            exact=experiment.exact(one.trial),
            sequential=False,
            mean=None,
            sd=None,
            deciles=(),
            kind=one.trial.null.kind,
            placements=0 if experiment.exact(one.trial) else None,
        ),
    )


def _common_fields(experiment: Experiment, one: TestInput) -> dict[str, object]:
    scores = None
    nsr = one.observed
    if one.operator != "mean":
        scores = IceScores(
            full=experiment.tokenized.full,
            rationale=experiment.observed(one.operator, one.trial),
            empty=experiment.empty(one.operator),
        )
        if experiment.tokenized.variant.nsr_beside:
            epsilon = experiment.tokenized.request.nsr_epsilon
            nsr = kernel.nsr(scores.rationale, scores.full, scores.empty, epsilon)
    return {
        "explanation": one.trial.explanation.name,
        "k": one.trial.k,
        "tokens": len(one.trial.rationale),
        "operator": one.operator,
        "nsr": nsr,
        "scores": scores,
    }


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
    above, first = kernel.sequential_p(null >= observed - ranks.TIE, most, ending)
    below, second = kernel.sequential_p(null <= observed + ranks.TIE, most, ending)
    if first is None or second is None:
        return Tails(above, below, null.size, ended=False)
    return Tails(above, below, max(first, second), ended=max(first, second) < most)


def _tails_of(experiment: Experiment, one: TestInput) -> Tails:
    """By the request's design: fixed, or sequential."""
    request, tie = experiment.tokenized.request, experiment.tokenized.variant.tie
    observed = one.observed or 0.0
    if request.adaptive is None or experiment.exact(one.trial):
        above = ranks.p_value(observed, one.null, tie)
        below = ranks.p_anti(observed, one.null, tie)
        return Tails(above, below, one.null.size, ended=False)
    return tails(observed, one.null, request.draws, request.adaptive.exceedances)


@dataclass
class Experiment:
    """The trials of one request, the random rationales, and the scores so far.

    Random rationales are drawn in rounds: one round of `draws`, or, adaptively, growing rounds
    until both tails of every test have ended. A test takes its own draws in order and only as far
    as its sequential rule goes, so the rounds do not show in it; comparisons of explanations use
    all draws.
    """

    tokenized: TokenizedInput
    explanations: Sequence[TestedExplanation]
    operators: Operators
    scores: dict[Key, float | None] = field(default_factory=dict)
    rows: int = 1  # scored so far; the whole text was the first
    _drawn: dict[tuple[object, ...], Draws] = field(default_factory=dict)
    _known: dict[tuple[Operator, tuple[object, ...]], tuple[int, Floats]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.trials = list(self._trials())

    def begin(self) -> None:
        """Draw the first round."""
        request = self.tokenized.request
        first = FIRST_ROUND if request.adaptive else request.draws
        for null in {trial.null.key: trial.null for trial in self.trials}.values():
            self._drawn[null.key] = Draws(self._stream(null))
            self._draw(null, request.draws if self._all(null) else min(first, request.draws))

    def exact(self, trial: Trial) -> bool:
        """Whether the null is all other placements."""
        return self._all(trial.null)

    def _all(self, null: NullSpace) -> bool:
        others = null.others(len(self.tokenized.eligible))
        return self.tokenized.variant.distinct and others <= self.tokenized.request.draws

    def null_places(self, trial: Trial) -> Places:
        """(M,) the random rationales that the trial is compared with: their places among the draws
        of its kind."""
        drawn, most = self._drawn[trial.null.key], self.tokenized.request.draws
        every: Places = np.arange(len(drawn.subsets))
        if self.tokenized.variant.distinct:
            every = every[every != drawn.place(trial.rationale)]
        return every[:most]

    def null_subsets(self, trial: Trial) -> list[Subset]:
        """The random rationales that a trial is compared with."""
        drawn = self._drawn[trial.null.key].subsets
        return [drawn[place] for place in self.null_places(trial).tolist()]

    def common_places(self, first: Trial, second: Trial) -> Places:
        """Those that both trials, of one null, are compared with: each has the first ones, less its
        own rationale."""
        ours, theirs = self.null_places(first), self.null_places(second)
        if not theirs.size:
            return theirs
        common: Places = ours[ours <= theirs[-1]]
        if self.tokenized.variant.distinct:
            common = common[common != self._drawn[second.null.key].place(second.rationale)]
        return common

    def null(self, operator: Operator, trial: Trial, places: Places) -> Floats:
        """(M,) scores of the random rationales at these places."""
        return self._scores_of(operator, trial.null)[places]

    def _scores_of(self, operator: Operator, null: NullSpace) -> Floats:
        """(D,) of every draw of this null, NaN where not scored; made once between answers."""
        subsets = self._drawn[null.key].subsets
        rows, known = self._known.get((operator, null.key), (0, np.empty(0)))
        if rows != self.rows or known.size != len(subsets):
            found = (self.scores.get((operator, subset)) for subset in subsets)
            known = np.array([np.nan if one is None else one for one in found], dtype=np.float64)
            self._known[operator, null.key] = self.rows, known
        return known

    def observed(self, operator: Operator, trial: Trial) -> float:
        """s(r)."""
        return float(self.scores[operator, trial.rationale] or 0.0)

    def empty(self, operator: Operator) -> float | None:
        """s(empty), or None where the model cannot read nothing."""
        return self.scores[operator, None]

    def missing(self) -> list[Key]:
        """What has to be scored now."""
        needed: dict[Key, None] = {}
        for operator in self.tokenized.request.operators:
            check()
            needed |= {(operator, None): None}
            seen = {key: np.zeros(len(d.subsets), bool) for key, d in self._drawn.items()}
            for trial in checking(self.trials):
                needed |= {(operator, trial.rationale): None}
                kind, places = trial.null.key, self.null_places(trial)
                new = places[~seen[kind][places]]  # most trials share their draws
                seen[kind][new] = True
                subsets = self._drawn[kind].subsets
                needed |= {(operator, subsets[place]): None for place in new.tolist()}
        return [key for key in needed if key not in self.scores]

    def answer(self, keys: Sequence[tuple[Key, list[Row]]], answers: Floats) -> None:
        """Take the (R,) probabilities of the rows of these keys; fills are averaged."""
        self.rows += answers.size
        start = 0
        for key, rows in keys:
            part = answers[start : start + len(rows)]
            self.scores[key] = float(np.mean(part)) if rows else None
            start += len(rows)

    def draw_more(self) -> None:
        """Another round where some test of a size has not ended."""
        request = self.tokenized.request
        if request.adaptive is None:
            return
        for kind, drawn in self._drawn.items():
            trials = [trial for trial in self.trials if trial.null.key == kind]
            tests = [(trial, operator) for trial in trials for operator in request.operators]
            if not all(self._ended(*test) for test in checking(tests)):
                self._draw(trials[0].null, min(len(drawn.subsets), request.draws))

    def _ended(self, trial: Trial, operator: Operator) -> bool:
        request, places = self.tokenized.request, self.null_places(trial)
        if request.adaptive is None or self.exact(trial) or places.size >= request.draws:
            return True
        observed, null = self.observed(operator, trial), self.null(operator, trial, places)
        return tails(observed, null, request.draws, request.adaptive.exceedances).ended

    def example_of(self, key: Key) -> Example:
        """What the rows of a key vary: the request's own example, or a released baseline."""
        operator, subset = key
        other = self.operators.empty_example(operator) if subset is None else None
        return other or self.tokenized.example

    def rows_of(self, key: Key) -> list[Row]:
        """The rows whose mean is the score of a key; none: it has none."""
        operator, subset = key
        if subset is None:
            return self.operators.empty(operator)
        return self.operators.rows(operator, subset)

    def _trials(self) -> Iterator[Trial]:
        budgets, rounding = self.tokenized.request.budgets, self.tokenized.variant.rounding
        for explanation in self.explanations:
            for k in budgets if explanation.marked is None else (None,):
                rationale = explanation.rationale(k or 1.0, rounding)
                yield Trial(explanation, k, rationale, self._null_of(explanation, rationale))

    def _null_of(self, explanation: TestedExplanation, rationale: Subset) -> NullSpace:
        """Values are compared with tokens, and so is everything in the published variants."""
        if explanation.marked is None or not self.tokenized.variant.matched_null:
            return any_tokens(len(rationale), self._units.kind)
        return null_of(self._units, rationale, self.tokenized.request.null)

    @cached_property
    def _units(self) -> TextUnits:
        return TextUnits(self.tokenized)

    def _stream(self, null: NullSpace) -> Iterator[Subset]:
        request, eligible = self.tokenized.request, len(self.tokenized.eligible)
        if null.space is not None:
            return null.stream(random_of(request, "null", *null.key), request.draws)
        if self._all(null):
            return subsets.all_subsets(eligible, null.size)
        random = random_of(request, "subsets", null.size)
        return self.tokenized.variant.stream(request.seed, random, eligible, null.size)

    def _draw(self, null: NullSpace, more: int) -> None:
        """`more` draws, and one for each rationale that may be among them."""
        spare = sum(trial.null.key == null.key for trial in self.trials)
        if self._drawn[null.key].subsets:
            spare = 0
        self._drawn[null.key].draw(more + spare)


class Draws:
    """Random rationales of one null, in the order of drawing, and where each stands first."""

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
