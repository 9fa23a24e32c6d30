"""The parts of the batch report that need more than scores: simulators, people, reduced inputs.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, sections 3.3, 3.4 and 6.4. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ftc import simulation
from services.ftc.contract import FtcRequest
from services.ftc.report import Counterfactual, FtcReport, NliLabel
from services.ftc.report_over_many import (
    Case,
    FtcBatchReportRequest,
    InputScores,
    Las,
    Lra,
    Simulatability,
    Statistic,
)
from services.ftc.study import Inputs, Perturbation, Simulation
from services.ftc.tables import STATISTICS, components, scores_of
from shared.contracts import Interval, Scored
from shared.statistics.intervals import BatchStatistics

Row = Scored[FtcRequest, FtcReport]
CASES: tuple[tuple[Case, NliLabel, str], ...] = (
    ("contradiction", "contradiction", "substituted"),
    ("entailment", "entailment", "substituted"),
    ("neutral a", "neutral", "a"),
    ("neutral b", "neutral", "b"),
)
INPUTS: tuple[Inputs, ...] = ("all", "hypothesis", "premise", "label", "another_item")


def las_of(rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> Las | None:
    """Of the results whose simulator also saw the explanation alone."""
    observed = [
        (_gain(simulated, row.report.label), float(simulated.from_explanation == row.report.label))
        for row, simulated in _simulations(rows)
        if simulated.from_explanation is not None
    ]
    if not observed:
        return None
    table = np.array(observed)
    leaks = table[:, 1] == 1
    return Las(
        las=over.statistic("las", table, simulation.las),
        leaking=float(table[leaks, 0].mean()) if leaks.any() else None,
        not_leaking=float(table[~leaks, 0].mean()) if not leaks.all() else None,
        of_leaking=int(leaks.sum()),
        of_not_leaking=int((~leaks).sum()),
    )


def _simulations(rows: Sequence[Row]) -> list[tuple[Row, Simulation]]:
    return [
        (row, row.request.study.simulation)
        for row in rows
        if row.request.study is not None and row.request.study.simulation is not None
    ]


def _gain(simulated: Simulation, label: NliLabel) -> float:
    with_it = simulated.from_input_and_explanation == label
    return float(with_it) - float(simulated.from_input == label)


def lra_of(rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> tuple[Lra, ...]:
    """A point a strength of noise: together the curve."""
    seen = [
        (row, simulated, noisy)
        for row, simulated in _simulations(rows)
        if row.request.study is not None
        for noisy in row.request.study.perturbations
    ]
    strengths = sorted({noisy.variance for _, _, noisy in seen})
    return tuple(
        _lra(strength, [one for one in seen if one[2].variance == strength], over)
        for strength in strengths
    )


def _lra(
    variance: float,
    seen: Sequence[tuple[Row, Simulation, Perturbation]],
    over: BatchStatistics[FtcBatchReportRequest],
) -> Lra:
    stable = np.array([float(noisy.label == row.report.label) for row, _, noisy in seen])
    gain = np.array([_gain(simulated, row.report.label) for row, simulated, _ in seen])
    described = [
        (place, float(noisy.simulated == simulated.from_input_and_explanation))
        for place, (_, simulated, noisy) in enumerate(seen)
        if noisy.simulated is not None
    ]
    places = [place for place, _ in described]
    same = np.array([value for _, value in described])
    literal = simulation.lra_literal(stable, gain)
    stability = simulation.lra_stability(stable[places], same)
    return Lra(
        variance=variance,
        literal=over.mean(f"lra literal {variance}", literal.tolist()),
        stability=over.mean(f"lra stability {variance}", stability.tolist()),
    )


def simulatability_of(rows: Sequence[Row]) -> tuple[Simulatability, ...]:
    """A row a case and statistic, where people labelled counterfactuals."""
    found = []
    for case, label, kind in CASES:
        voted = [
            (made, row.request.study.human_labels[made.kind])
            for row in rows
            if row.report.label == label and row.request.study is not None
            for made in row.report.counterfactuals
            if made.kind == kind and made.kind in row.request.study.human_labels
        ]
        if voted:
            found += [_simulatability(case, name, voted) for name in ("delta", "k", "w")]
    return tuple(found)


def _simulatability(
    case: Case, name: Statistic, voted: Sequence[tuple[Counterfactual, tuple[str, ...]]]
) -> Simulatability:
    """An answer whose two likeliest labels tie agrees with nobody."""
    groups: dict[bool, list[float]] = {True: [], False: []}
    dropped = 0
    for made, votes in voted:
        people = simulation.majority(votes)
        if people is None:
            dropped += 1
        else:
            groups[people == made.predicted].append(getattr(made.satisfaction, name))
    tested = simulation.rank_sum(np.array(groups[True]), np.array(groups[False]))
    return Simulatability(
        case=case,
        statistic=name,
        rho=tested[0] if tested else None,
        p_value=tested[1] if tested else None,
        agreeing=len(groups[True]),
        disagreeing=len(groups[False]),
        dropped=dropped,
    )


def sensitivity_of(
    rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]
) -> tuple[InputScores, ...]:
    """A row a set of inputs, paired with the full set by premise and hypothesis."""
    by_inputs = {
        inputs: [row for row in rows if row.request.study and row.request.study.inputs == inputs]
        for inputs in INPUTS
    }
    whole = by_inputs["all"]
    return tuple(
        InputScores(
            inputs=inputs,
            results=len(some),
            coverage=over.mean(
                f"coverage {inputs}", [float(bool(row.report.counterfactuals)) for row in some]
            ),
            scores=scores_of(f"inputs {inputs}", components(row.report for row in some), over),
            difference=_differences(inputs, whole, some, over) if inputs != "all" else {},
        )
        for inputs, some in by_inputs.items()
        if some
    )


def _differences(
    inputs: Inputs,
    whole: Sequence[Row],
    some: Sequence[Row],
    over: BatchStatistics[FtcBatchReportRequest],
) -> dict[Statistic, Interval]:
    """`all` minus these, item by item; several explanations of an item are averaged."""
    full, reduced = _by_item(whole), _by_item(some)
    items = [item for item in full if item in reduced]
    return {
        name: over.mean(
            f"{inputs} {name}",
            [_average(full[item], name) - _average(reduced[item], name) for item in items],
        )
        for name in STATISTICS
    }


def _by_item(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.report.counterfactuals:
            found.setdefault((row.request.premise, row.request.hypothesis), []).append(row)
    return found


def _average(rows: Sequence[Row], name: Statistic) -> float:
    return float(np.mean([getattr(row.report.components, name) for row in rows]))
