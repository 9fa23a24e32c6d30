"""The tests of one request, their random token sets, and the model's scores so far.

A key consists of an operator and the set of kept tokens, and identifies inputs of the model.
Necessity scores the text without the tested tokens, so both aspects share their random sets. Texts
with words removed are unlike written texts (Hase, Xie & Bansal 2021, arXiv:2106.00786);
`RowStatistics` measures this. Source: arXiv:2603.18579, Algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from services.ice.explanations import TestedExplanation, TokenizedInput
from services.ice.kernel import Floats
from services.ice.nulls import NullSpace, TextUnits, any_tokens, null_of, tokens_null
from services.ice.operators import Operators, random_of
from services.ice.report import Aspect, IceDistance, Operator
from services.ice.variants import Subset
from shared.contracts.calls import Example, Row
from shared.process.cached import cached_property
from shared.queue.job_context import check, check_each
from shared.statistics.draws import Rankings
from shared.statistics.placements import overlaps

Key = tuple[Operator, Subset | None]  # what stays of the text; None: nothing
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Trial:
    """The tokens that an explanation selects at one budget, and their random sets. The budget
    `k` is a share of tokens, or None if the explanation marks passages."""

    explanation: TestedExplanation
    k: float | None
    rationale: Subset
    null: NullSpace


@dataclass
class Experiment:
    """The tests of one request, the random token sets, and the scores so far.

    All tests of an explanation share its random sets, as their correction requires
    (`shared.statistics.families.max_t`). Each explanation uses its random sets in a fixed order, so
    its tests do not depend on other explanations."""

    tokenized: TokenizedInput
    explanations: Sequence[TestedExplanation]
    operators: Operators
    scores: dict[Key, float | None] = field(default_factory=dict)
    rows: int = 1  # scored so far; the whole text was the first
    _drawn: dict[tuple[object, ...], NullSamples] = field(default_factory=dict)
    _known: dict[tuple[Operator, Aspect, object], tuple[int, Floats]] = field(default_factory=dict)
    _rests: dict[Subset, Subset | None] = field(default_factory=dict)
    _ranked: dict[tuple[object, ...], list[Subset]] = field(default_factory=dict)
    _overlaps: dict[tuple[object, Subset], list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        request = self.tokenized.request
        self.trials = list(self._trials())
        self.asked = RowStatistics(self.tokenized)
        self.draws = request.most_draws

    def begin(self) -> None:
        """Draw the random token sets of all tests. A random set may equal the tested set."""
        for null in {trial.null.key: trial.null for trial in self.trials}.values():
            drawn = check_each(islice(self._stream(null), self.draws + 1))
            self._drawn[null.key] = NullSamples(list(drawn))

    def random_keys(self) -> set[Key]:
        """Return the keys (operator and kept tokens) of random token sets that are not tested
        themselves."""
        request = self.tokenized.request
        tested = {trial.rationale for trial in self.trials}
        drawn = {subset for trial in self.trials for subset in self.null_subsets(trial)} - tested
        return {
            (operator, self.input_subset(subset, aspect))
            for operator in request.options.operators
            for aspect in request.options.aspects
            for subset in drawn
        }

    def of(self, explanation: TestedExplanation) -> list[Trial]:
        """Return the tests of this explanation, one for each budget."""
        return [trial for trial in self.trials if trial.explanation is explanation]

    def exact(self, trial: Trial) -> bool:
        """Return True if the random sets drawn are all possible sets, so the test of this trial is
        exact."""
        few = trial.null.others <= self.draws
        return self.tokenized.variant.distinct and few and not trial.null.sampled

    def null_positions(self, trial: Trial) -> Places:
        """Return the indices of the M random token sets that form the test's null distribution."""
        drawn = self._drawn[trial.null.key]
        every: Places = np.arange(len(drawn.subsets))
        if self.tokenized.variant.distinct:
            every = every[every != drawn.place(trial.rationale)]
        return every[: self.draws]

    def null_subsets(self, trial: Trial) -> list[Subset]:
        """Return the random token sets with which a test is compared."""
        drawn = self._drawn[trial.null.key].subsets
        return [drawn[index] for index in self.null_positions(trial).tolist()]

    def mean_overlap(self, trial: Trial, count: int) -> float:
        """Return the mean overlap of the tested tokens with the first `count` random sets. `count`
        must be positive. The overlap is the same for every operator and aspect."""
        about = trial.null.key, trial.rationale
        shares = self._overlaps.setdefault(about, [])
        shares += overlaps(trial.rationale, self.null_subsets(trial)[len(shares) : count])
        return float(np.mean(shares[:count]))

    def common_positions(self, first: Trial, second: Trial) -> Places:
        """Return the indices of the random token sets that two tests of the same kind share."""
        return np.intersect1d(self.null_positions(first), self.null_positions(second))

    def null(
        self, operator: Operator, trial: Trial, places: Places, aspect: Aspect = "sufficiency"
    ) -> Floats:
        """Return the scores of the random token sets at the indices `places`. A score is NaN if the
        model cannot read the input."""
        subsets = self._drawn[trial.null.key].subsets
        about = operator, aspect, trial.null.key
        rows, null_scores = self._known.get(about, (0, np.empty(0)))
        if rows != self.rows or null_scores.size != len(subsets):
            null_scores = self.scores_of(operator, subsets, aspect)
            self._known[about] = self.rows, null_scores
        return null_scores[places]

    def scores_of(self, operator: Operator, subsets: Sequence[Subset], aspect: Aspect) -> Floats:
        """Return one score per token set. For sufficiency it is the target's probability with only
        these tokens. For necessity it is the drop in that probability without them. A missing score
        is NaN."""
        values = (
            self.scores.get((operator, self.input_subset(subset, aspect))) for subset in subsets
        )
        kept = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return kept if aspect == "sufficiency" else self.tokenized.full - kept

    def input_subset(self, subset: Subset, aspect: Aspect) -> Subset | None:
        """Return the tokens to keep in order to test this token set. For sufficiency these are the
        set itself, for necessity all other tokens. Return None if no token is left."""
        if aspect == "sufficiency":
            return subset
        if subset not in self._rests:
            gone = set(subset)
            every = range(len(self.tokenized.eligible))
            self._rests[subset] = (
                tuple(position for position in every if position not in gone) or None
            )
        return self._rests[subset]

    def ranking_scores(
        self, operator: Operator, trial: Trial, aspect: Aspect, count: int
    ) -> Floats:
        """Return the scores of token sets of the tested size, taken from the first `count` random
        rankings, in order. The sets may repeat, and may equal the tested one."""
        choice, subsets = trial.null.choice, self._ranked.setdefault(trial.null.key, [])
        if choice is None:
            raise ValueError(
                "this null distribution has no random rankings, because it draws no random tokens"
            )
        subsets += [choice(self._rankings[index]) for index in range(len(subsets), count)]
        return self.scores_of(operator, subsets[:count], aspect)

    def subset_score(self, operator: Operator, trial: Trial, aspect: Aspect) -> float | None:
        """Return the target's score with only the tested tokens kept (sufficiency) or with these
        tokens removed. Return None if the model cannot read the input."""
        return self.scores[operator, self.input_subset(trial.rationale, aspect)]

    def observed(
        self, operator: Operator, trial: Trial, aspect: Aspect = "sufficiency"
    ) -> float | None:
        """Return the score of the tested tokens, or None if the model cannot read the input. For
        sufficiency this is the score of the text with only these tokens. For necessity it is the
        drop in score when they are removed."""
        kept = self.subset_score(operator, trial, aspect)
        if kept is None or aspect == "sufficiency":
            return kept
        return self.tokenized.full - kept

    def without(self, operator: Operator, trial: Trial) -> Floats:
        """Return the target's probability without the tested tokens, then without each of M random
        sets."""
        null = self.null(operator, trial, self.null_positions(trial), "necessity")
        return self.tokenized.full - np.array([self.observed(operator, trial, "necessity"), *null])

    def empty(self, operator: Operator) -> float | None:
        """Return the score of an empty text, or None if the model cannot read that."""
        return self.scores[operator, None]

    def missing(self) -> list[Key]:
        needed: dict[Key, None] = {}
        for operator in self.tokenized.request.options.operators:
            check()
            needed |= {(operator, None): None}
            for aspect in self.tokenized.request.options.aspects:
                needed |= dict.fromkeys(self._keys(operator, aspect))
        return [key for key in needed if key not in self.scores]

    def _keys(self, operator: Operator, aspect: Aspect) -> Iterator[Key]:
        seen = {key: np.zeros(len(d.subsets), bool) for key, d in self._drawn.items()}
        for trial in check_each(self.trials):
            yield operator, self.input_subset(trial.rationale, aspect)
            kind, places = trial.null.key, self.null_positions(trial)
            new = places[~seen[kind][places]]  # most trials share their draws
            seen[kind][new] = True
            subsets = self._drawn[kind].subsets
            for index in new.tolist():
                yield operator, self.input_subset(subsets[index], aspect)

    def record_scores(self, keys: Sequence[tuple[Key, list[Row]]], answers: Floats) -> None:
        """Store the answers for these keys (operator and kept tokens). A key with several
        variations gets their mean. `answers` has the probabilities of all labels, of shape (R, L),
        or of the target, of shape (R,)."""
        self.rows += len(answers)
        column = answers if answers.ndim == 1 else answers[:, self.tokenized.target]
        start = 0
        for key, rows in keys:
            part = column[start : start + len(rows)]
            mean = part[0] if len(rows) == 1 else np.mean(part) if rows else None
            self.scores[key] = None if mean is None else float(mean)
            start += len(rows)
        self.asked.add([(key, len(rows)) for key, rows in keys], answers)

    def example_of(self, key: Key) -> Example:
        """Return the example from which a variation is made: the request's text, or a baseline of
        the released code."""
        operator, subset = key
        other = self.operators.empty_example(operator) if subset is None else None
        return other or self.tokenized.example

    def rows_of(self, key: Key) -> list[Row]:
        """Return the variations of the text for a key (operator and kept tokens). Return [] if
        these variations have no score."""
        operator, subset = key
        if subset is None:
            return self.operators.empty(operator)
        return self.operators.rows(operator, subset)

    def _trials(self) -> Iterator[Trial]:
        budgets, rounding = self.tokenized.request.options.budgets, self.tokenized.variant.rounding
        for explanation in self.explanations:
            for k in budgets if explanation.marked is None else (None,):
                rationale = explanation.rationale(k or 1.0, rounding)
                yield Trial(explanation, k, rationale, self._null_of(explanation, rationale))

    def _null_of(self, explanation: TestedExplanation, rationale: Subset) -> NullSpace:
        """Return the null distribution of this rationale. It has random tokens if the explanation
        has token values or the variant is a published one, else sets with the rationale's shape."""
        if not self.tokenized.variant.matched_null:
            return any_tokens(self._units.tokens, len(rationale), self._units.kind)
        if explanation.marked is None:
            return tokens_null(self._units, rationale)
        return null_of(self._units, rationale, self.tokenized.request.options.null)

    @cached_property
    def _units(self) -> TextUnits:
        return TextUnits(self.tokenized)

    @cached_property
    def _rankings(self) -> Rankings:
        random = random_of(self.tokenized.request, "null", "tokens")
        return Rankings(random, len(self.tokenized.eligible))

    def _stream(self, null: NullSpace) -> Iterator[Subset]:
        request, variant = self.tokenized.request, self.tokenized.variant
        if variant.stream is not None:
            random = random_of(request, "subsets", null.size)
            return variant.stream(request.seed, random, len(self.tokenized.eligible), null.size)
        random = random_of(request, "null", *null.key)
        return null.drawn(self._rankings, random, self.draws)


class NullSamples:
    """Random token sets of one kind, as generated. A repeated set has the index of its first
    occurrence."""

    def __init__(self, subsets: list[Subset]) -> None:
        self.subsets = subsets
        self._place: dict[Subset, int] = {}
        for index, subset in enumerate(subsets):
            self._place.setdefault(subset, index)

    def place(self, subset: Subset) -> int:
        """Return the index of the first random set that equals this set, or the number of random
        sets if there is none."""
        return self._place.get(subset, len(self.subsets))


@dataclass
class RowStatistics:
    """Sums over the model's answers for each operator and set of remaining tokens: the number of
    inputs, their entropies, and the number of changed labels."""

    tokenized: TokenizedInput
    counts: dict[Key, int] = field(default_factory=dict)
    entropies: dict[Key, float] = field(default_factory=dict)
    flips: dict[Key, int] = field(default_factory=dict)

    def add(self, keys: Sequence[tuple[Key, int]], answers: Floats) -> None:
        """Record the answers of one model call. `keys` holds each key with its number of
        variations. `answers` holds the probabilities of all labels, of shape (R, L), or of the
        target, of shape (R,). Entropies and label changes are only recorded for all labels."""
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
        """Return the share of text variations whose number of tokens is outside the range
        `ends`. Return None if `ends` is None, or if the variations consist of words."""
        if ends is None or self.tokenized.words is not None or not self.counts:
            return None
        least, most = ends
        outside = sum(
            count for key, count in self.counts.items() if not least <= self._length(key) <= most
        )
        return outside / sum(self.counts.values())

    def _length(self, key: Key) -> int:
        """Return the number of tokens in each model input for this operator and set of kept tokens.
        Only `delete` removes tokens."""
        operator, kept = key
        every = len(self.tokenized.tokens.ids)
        if operator != "delete":
            return every
        return every - len(self.tokenized.eligible) + len(kept or ())

    def distance(self, random: Collection[Key]) -> IceDistance:
        """Return how much the perturbed texts differ from natural texts. `random` has the keys of
        the random token sets, the only ones that count for `flip_share`."""
        rows = sum(self.counts.values())
        stay = sum(count * len(key[1] or ()) for key, count in self.counts.items())
        drawn = [key for key in self.flips if key in random]
        some = sum(self.counts[key] for key in drawn)
        gain = None
        if self.entropies:
            mean = math.fsum(self.entropies.values()) / sum(
                self.counts[key] for key in self.entropies
            )
            gain = mean - float(entropy(self.tokenized.probabilities[None, :])[0])
        return IceDistance(
            rows=rows,
            kept=stay / len(self.tokenized.eligible) / rows if rows else None,
            entropy_gain=gain,
            flip_share=sum(self.flips[key] for key in drawn) / some if some else None,
        )


def entropy(probabilities: Floats) -> Floats:
    """Return the entropy in nats of each row of probabilities, with 0 log 0 = 0."""
    safe = np.where(probabilities > 0, probabilities, 1.0)
    return np.asarray(-np.sum(probabilities * np.log(safe), axis=1))
