"""Both sides of an explanation: is it enough, is it needed, and do it and the rest replace each
other?

Sufficiency alone sees neither half of an AND nor a redundant cause. Necessity: comprehensiveness of
DeYoung et al. (2020); interaction: Grabisch & Roubens (1999), in log odds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ice import kernel
from services.ice.experiment import Experiment, Trial
from services.ice.kernel import Floats
from services.ice.report import Aspect, IceCausalReading, IceTest, Operator, Verdict
from shared.job_context import checking

ROUNDING = 1e-9  # of sums of four log odds


def readings(experiment: Experiment, tests: Sequence[IceTest]) -> tuple[IceCausalReading, ...]:
    """Of each explanation at each budget under each operator, where both sides were tested."""
    request = experiment.tokenized.request
    if "necessity" not in request.aspects:
        return ()
    verdicts = {(t.explanation, t.k, t.operator, t.aspect): t.verdict for t in tests}
    found = []
    for trial in checking(experiment.trials):
        for operator in request.operators:
            sides = [
                verdicts[trial.explanation.name, trial.k, operator, aspect]
                for aspect in request.aspects
            ]
            found.append(_reading(experiment, trial, operator, sides))
    return tuple(found)


def _reading(
    experiment: Experiment, trial: Trial, operator: Operator, sides: Sequence[Verdict | None]
) -> IceCausalReading:
    values = _interactions(experiment, trial, operator)
    value = p = None
    direction = 0
    if values is not None:
        value = float(values[0]) if abs(values[0]) > ROUNDING else 0.0
        null = values[1:]
        if null.size:
            # two-sided by size: twice a tail would count one tie, the partner of an AND, as two
            p = experiment.design.p_value(np.abs(null) >= abs(value) - ROUNDING)
        if p is not None and p <= experiment.tokenized.request.alpha:
            direction = int(np.sign(value))
    sufficiency, necessity = sides
    return IceCausalReading(
        explanation=trial.explanation.name,
        k=trial.k,
        operator=operator,
        interaction=value,
        p_interaction=p,
        reading=kernel.reading(sufficiency, necessity, direction),
    )


def _interactions(experiment: Experiment, trial: Trial, operator: Operator) -> Floats | None:
    """(M + 1,) of the rationale, then of its random ones; None without s(empty)."""
    empty = experiment.empty(operator)
    if empty is None:
        return None
    full, places = experiment.tokenized.full, experiment.null_places(trial)

    def kept(aspect: Aspect) -> Floats:
        null = experiment.null(operator, trial, places, aspect)
        own = experiment.kept(operator, trial, aspect)
        shown = null if aspect == "sufficiency" else full - null
        return np.array([np.nan if own is None else own, *shown])

    alone, without = kept("sufficiency"), kept("necessity")
    return kernel.interaction(np.full_like(alone, full), alone, without, np.full_like(alone, empty))
