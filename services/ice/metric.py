"""ICE: ask the model about the rationale and about random ones, and compare.

What a reader of the report should know: what is undefined, cut, or decided by too few draws.

Where the rationales stand in the text: the evidence; and what is said of each token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from services.ice import kernel, randomization_test
from services.ice.batch_report import batch_report
from services.ice.comparison import areas, comparisons, plausibilities
from services.ice.contract import CONTRACT, PREDICTED, IceRequest
from services.ice.explanations import TEXTS, TokenizedInput, touched
from services.ice.model_calls import inquire
from services.ice.randomization_test import Inquiry, Trial
from services.ice.report import (
    Comparison,
    IceBatchReport,
    IceBatchReportRequest,
    IceChance,
    IceComponents,
    IceReport,
    IceToken,
    Of,
    RationaleEvidence,
    Test,
    TokenValues,
)
from services.ice.variants import VARIANTS, IceVariant
from shared.contracts import Scored
from shared.job_context import checking
from shared.metric import Collected, Metric
from shared.statistics.intervals import BatchStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class IceCollected(Collected):
    """All scores of one request."""

    inquiry: Inquiry


class Ice(Metric[IceRequest, IceCollected, IceReport, IceVariant]):
    """Does the explanation keep the prediction better than random tokens do?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[IceRequest]) -> list[IceCollected]:
        """The rows of all requests in common calls."""
        return [IceCollected(inquiry=inquiry, models=(use,)) for inquiry, use in inquire(requests)]

    def report(self, request: IceRequest, collected: IceCollected) -> IceReport:
        """Every explanation at every budget under every operator, against its null."""
        inquiry = collected.inquiry
        reading = inquiry.reading
        found = randomization_test.compared(inquiry)
        tests = tuple(randomization_test.test_of(inquiry, one) for one in checking(found))
        score, compared = _score(inquiry, tests), comparisons(inquiry)
        return IceReport(
            **self.envelope(request, collected, warnings(inquiry, tests, compared, score)),
            score=score,
            components=IceComponents(
                tests=tests,
                areas=areas(tests, request.budgets),
                comparisons=compared,
                plausibility=plausibilities(inquiry),
            ),
            evidence=evidence(inquiry),
            control=_chance(tests[0]),
            target=reading.labels[reading.target],
            predicted_label=reading.labels[int(np.argmax(reading.probabilities))],
            probabilities=dict(zip(reading.labels, reading.probabilities.tolist(), strict=True)),
            eligible_tokens=len(reading.eligible),
            characters_read=(reading.characters_read("text"), reading.characters_read("text_pair")),
            forward_rows=inquiry.rows,
            tokens=tokens(reading) if request.token_values else (),
            token_values=token_values(inquiry) if request.token_values else (),
        )

    def in_force(self, request: IceRequest, collected: IceCollected) -> Mapping[str, Any]:
        """How many texts fill: they are inputs themselves."""
        return {"infill_pool_texts": len(request.infill_pool)}

    def summarize(
        self,
        rows: Sequence[Scored[IceRequest, IceReport]],
        over: BatchStatistics[IceBatchReportRequest],
    ) -> IceBatchReport:
        """Tests by configuration, with what corrects for their number."""
        return batch_report(rows, over)


def _score(inquiry: Inquiry, tests: Sequence[Test]) -> float | None:
    """Win rate of the first explanation at the first budget: the mean over operators, or the test
    on their mean; None where one is undefined, or where the released code skips the example."""
    if _skipped(inquiry):
        return None
    first = [t for t in tests if (t.explanation, t.k) == (tests[0].explanation, tests[0].k)]
    means = [test for test in first if test.operator == "mean"]
    strict = inquiry.reading.variant.strict
    rates = [test.strict_win_rate if strict else test.win_rate for test in means or first]
    known = [rate for rate in rates if rate is not None]
    return float(np.mean(known)) if len(known) == len(rates) else None


def _skipped(inquiry: Inquiry) -> bool:
    least = inquiry.reading.variant.least_confidence
    return least is not None and float(np.max(inquiry.reading.probabilities)) < least


def _chance(first: Test) -> IceChance | None:
    draws = first.null.draws
    if draws == 0:
        return None
    sd = None if first.null.sequential else kernel.chance_sd(draws)
    return IceChance(win_rate=kernel.WIN_RATE_OF_CHANCE, sd=sd, draws=draws)


SERVICE = Ice()


def warnings(
    inquiry: Inquiry, tests: Sequence[Test], comparisons: Sequence[Comparison], score: float | None
) -> tuple[str, ...]:
    """Each once, in this order."""
    found = [*_cut(inquiry), *_human(inquiry), *_variant(inquiry, score)]
    found += [warning for test in tests for warning in _undefined(inquiry, test)]
    found += [*_few(inquiry, tests), *_at_the_cut(inquiry), *_incomparable(comparisons)]
    return tuple(dict.fromkeys(found))


def _cut(inquiry: Inquiry) -> Iterator[str]:
    reading = inquiry.reading
    if not reading.tokens.truncated:
        return
    for of, whole in zip(TEXTS, (reading.request.text, reading.request.text_pair), strict=True):
        length, read = len((whole or "").rstrip()), reading.characters_read(of)
        if read < length:
            yield (
                f"truncated: the model reads the first {read} of {length} characters of "
                f"{passage(of)}; {length - read} were cut and count for nothing"
            )


def _human(inquiry: Inquiry) -> Iterator[str]:
    human = inquiry.reading.request.human
    if human and not touched(inquiry.reading, human):
        yield "plausibility is undefined: the human spans hold no token that the model reads"


def _variant(inquiry: Inquiry, score: float | None) -> Iterator[str]:
    reading = inquiry.reading
    if reading.variant.gold_label and reading.request.target == PREDICTED:
        yield "variant paper scores the gold label; without `target` it is the predicted one"
    least, dead_zone = reading.variant.least_confidence, reading.variant.dead_zone
    confidence = float(max(reading.probabilities))
    if least is not None and confidence < least:
        yield (
            f"the score is null: the released code skips an example whose confidence "
            f"({confidence:.3f}) is under {least}"
        )
    if dead_zone is None:
        return
    for operator in reading.request.operators:
        empty = inquiry.empty(operator)
        if empty is not None and abs(reading.full - empty) < dead_zone:
            yield (
                f"{operator}: |s(x) - s(empty)| < {dead_zone}, so the released code makes every "
                "NSR 0 and counts the example as lost"
            )


def _undefined(inquiry: Inquiry, test: Test) -> Iterator[str]:
    name = f"{test.explanation}, k {test.k}, {test.operator}"
    if test.win_rate is None and test.tokens == len(inquiry.reading.eligible):
        yield f"{name}: the rationale is the whole text, so there is no random one to compare with"
    elif test.win_rate is None:
        yield f"{name}: NSR is undefined, so nothing is compared: s(x) = s(empty), or no s(empty)"
    elif test.effect is None:
        yield f"{name}: the effect is null: all random rationales score the same, or there is one"
    if test.operator != "mean" and test.nsr is None and test.win_rate is not None:
        yield (
            f"{name}: NSR is null: |s(x) - s(empty)| is under "
            f"{inquiry.reading.request.nsr_epsilon}, or s(empty) cannot be had"
        )


def _few(inquiry: Inquiry, tests: Sequence[Test]) -> Iterator[str]:
    alpha = inquiry.reading.request.alpha
    for test in tests:
        if test.null.draws and 2 / (test.null.draws + 1) > alpha and not test.stopped_early:
            yield (
                f"{test.explanation}, k {test.k}: with {test.null.draws} random rationales the "
                f"two-sided p is at least {2 / (test.null.draws + 1):.3f}, so that no verdict but "
                f"`inconclusive` can come at level {alpha}"
            )


def _at_the_cut(inquiry: Inquiry) -> Iterator[str]:
    """Ranks that do not tell which tokens belong to the rationale."""
    for trial in inquiry.trials:
        ranked, size = trial.explanation.ranked, len(trial.rationale)
        if ranked is None or size == ranked.size:
            continue
        inside, outside = np.sort(ranked)[::-1][size - 1 : size + 1]
        if inside == outside:
            yield (
                f"{trial.explanation.name}, k {trial.k}: tokens inside and outside the rationale "
                "have the same value; of these, the first in the text are inside"
            )


def _incomparable(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for one in comparisons:
        if one.draws == 0:
            yield (
                f"{one.first} and {one.second}, k {one.k}: no random rationale is left that both "
                "could be compared with, so their win rates' difference is null"
            )


def evidence(inquiry: Inquiry) -> tuple[RationaleEvidence, ...]:
    """The spans of every explanation at its first budget; neighbouring tokens are one span."""
    return tuple(span for trial in _first(inquiry) for span in _spans(inquiry.reading, trial))


def tokens(reading: TokenizedInput) -> tuple[IceToken, ...]:
    """All that the model reads of a request, in order."""
    read, eligible = reading.tokens, set(reading.eligible)
    return tuple(
        IceToken(start=start, end=end, of=part, eligible=place in eligible)
        for place, (start, end, part) in enumerate(
            zip(read.starts, read.ends, read.parts, strict=True)
        )
    )


def token_values(inquiry: Inquiry) -> tuple[TokenValues, ...]:
    """What every explanation says of these tokens, and its rationale at the first budget."""
    return tuple(_told(inquiry.reading, trial) for trial in _first(inquiry))


def _first(inquiry: Inquiry) -> list[Trial]:
    """Every explanation at its first budget."""
    first = {trial.explanation.name: trial for trial in reversed(inquiry.trials)}
    return [first[explanation.name] for explanation in inquiry.explanations]


def _told(reading: TokenizedInput, trial: Trial) -> TokenValues:
    values: list[float | None] = [None] * len(reading.tokens.ids)
    if trial.explanation.values is not None:
        for position, value in zip(
            reading.eligible, trial.explanation.values.tolist(), strict=True
        ):
            values[position] = value
    return TokenValues(
        explanation=trial.explanation.name,
        values=tuple(values),
        rationale=tuple(reading.eligible[place] for place in trial.rationale),
    )


def _spans(reading: TokenizedInput, trial: Trial) -> Iterator[RationaleEvidence]:
    for of in TEXTS:
        text = reading.request.text if of == "text" else reading.request.text_pair or ""
        places = [p for p in trial.rationale if reading.tokens.parts[reading.eligible[p]] == of]
        for run in _runs(places):
            start, end = _borders(reading, run)
            yield RationaleEvidence(
                start=start,
                end=end,
                text=text[start:end],
                offsets_into=of,
                explanation=trial.explanation.name,
                value=_mean_value(trial, run),
            )


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Maximal runs of neighbours."""
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        yield [place for _, place in run]


def _borders(reading: TokenizedInput, run: Sequence[int]) -> tuple[int, int]:
    tokens, positions = reading.tokens, [reading.eligible[place] for place in run]
    starts = [tokens.starts[position] or 0 for position in positions]
    return min(starts), max(tokens.ends[position] or 0 for position in positions)


def _mean_value(trial: Trial, run: Sequence[int]) -> float | None:
    values = trial.explanation.values
    return None if values is None else float(np.mean(values[list(run)]))


def passage(of: Of) -> str:
    """How a part is called in a sentence."""
    return "the text" if of == "text" else "the text pair"
