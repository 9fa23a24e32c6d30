"""ICE: ask the model about the rationale and about random ones, and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.ice import kernel, testing
from services.ice.batch_messages import IceBatchReport, IceBatchReportRequest
from services.ice.batch_report import batch_report
from services.ice.comparing import areas, comparisons, plausibilities
from services.ice.contract import CONTRACT, IceRequest
from services.ice.gather import inquire
from services.ice.inquiry import Inquiry
from services.ice.report import Chance, Components, IceReport, Test
from services.ice.showing import evidence, token_values, tokens
from services.ice.variants import VARIANTS, IceVariant
from services.ice.warning import warnings
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
        found = testing.compared(inquiry)
        tests = tuple(testing.test_of(inquiry, one) for one in checking(found))
        score, compared = _score(inquiry, tests), comparisons(inquiry)
        return IceReport(
            **self.envelope(request, collected, warnings(inquiry, tests, compared, score)),
            score=score,
            components=Components(
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


def _chance(first: Test) -> Chance | None:
    draws = first.null.draws
    if draws == 0:
        return None
    sd = None if first.null.sequential else kernel.chance_sd(draws)
    return Chance(win_rate=kernel.WIN_RATE_OF_CHANCE, sd=sd, draws=draws)


SERVICE = Ice()
