"""From an inquiry to its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from services.ice import kernel, testing
from services.ice.comparing import areas, comparisons, plausibilities
from services.ice.contract import METRIC
from services.ice.inquiry import Inquiry
from services.ice.report import Chance, Components, IceReport, Test
from services.ice.rules import CONFIDENCE
from services.ice.showing import evidence, token_values, tokens
from services.ice.warning import warnings
from shared.contracts import ModelUse, Provenance
from shared.job_context import checking
from shared.version import SERVICE_VERSION


def assemble(inquiry: Inquiry, use: ModelUse) -> IceReport:
    """The report of one request."""
    reading, asked = inquiry.reading, inquiry.reading.request.token_values
    found = testing.compared(inquiry)
    tests = tuple(testing.test_of(inquiry, one) for one in checking(found))
    score, compared = _score(inquiry, tests), comparisons(inquiry)
    probabilities = dict(zip(reading.labels, reading.probabilities.tolist(), strict=True))
    return IceReport(
        metric=METRIC.name,
        score=score,
        components=Components(
            tests=tests,
            areas=areas(tests, reading.request.budgets),
            comparisons=compared,
            plausibility=plausibilities(inquiry),
        ),
        evidence=evidence(inquiry),
        control=_chance(tests[0]),
        warnings=warnings(inquiry, tests, compared, score),
        provenance=_provenance(inquiry, use),
        target=reading.labels[reading.target],
        predicted_label=reading.labels[int(np.argmax(reading.probabilities))],
        probabilities=probabilities,
        eligible_tokens=len(reading.eligible),
        characters_read=(reading.characters_read("text"), reading.characters_read("text_pair")),
        forward_rows=inquiry.rows,
        tokens=tokens(inquiry.reading) if asked else (),
        token_values=token_values(inquiry) if asked else (),
    )


def _score(inquiry: Inquiry, tests: Sequence[Test]) -> float | None:
    """Win rate of the first explanation at the first budget: the mean over operators, or the test
    on their mean; None where one is undefined, or where the released code skips the example."""
    if inquiry.reading.request.variant == "reference" and _skipped(inquiry):
        return None
    first = [t for t in tests if (t.explanation, t.k) == (tests[0].explanation, tests[0].k)]
    means = [test for test in first if test.operator == "mean"]
    strict = inquiry.reading.rules.strict
    rates = [test.strict_win_rate if strict else test.win_rate for test in means or first]
    known = [rate for rate in rates if rate is not None]
    return float(np.mean(known)) if len(known) == len(rates) else None


def _skipped(inquiry: Inquiry) -> bool:
    return float(np.max(inquiry.reading.probabilities)) < CONFIDENCE


def _chance(first: Test) -> Chance | None:
    draws = first.null.draws
    if draws == 0:
        return None
    sd = None if first.null.sequential else kernel.chance_sd(draws)
    return Chance(win_rate=kernel.WIN_RATE_OF_CHANCE, sd=sd, draws=draws)


def _provenance(inquiry: Inquiry, use: ModelUse) -> Provenance:
    request = inquiry.reading.request
    return Provenance(
        metric_version=METRIC.version,
        variant=request.variant,
        seed=request.seed,
        parameters=_parameters(inquiry),
        models=(use,),
        service_version=SERVICE_VERSION,
    )


def _parameters(inquiry: Inquiry) -> dict[str, Any]:
    """What was in force, without the texts."""
    request = inquiry.reading.request
    names = {"target", "template", "attribution", "rank_by", "k", "operators", "draws", "adaptive"}
    names |= {"infills", "infill_excluded", "alpha", "nsr_epsilon"}
    sent = request.model_dump(mode="json", include=names)
    which = request.eligible or inquiry.reading.rules.eligible
    return {**sent, "eligible": which, "infill_pool_texts": len(request.infill_pool)}
