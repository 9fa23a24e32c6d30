"""The parts of the batch report that need more than scores: simulators, people, reduced inputs.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, sections 3.3, 3.4 and 6.4 with Eqs. 2 to 4; LAS:
Hase et al. (2020) with `sim_experiments/compute_sim.py` of the released code. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.kernel import Floats
from services.ftc.report import (
    Case,
    FtcAgainstRandom,
    FtcBatchReportRequest,
    FtcCounterfactual,
    FtcInputScores,
    FtcLas,
    FtcLra,
    FtcPerturbation,
    FtcResult,
    FtcSatisfaction,
    FtcScores,
    FtcSimulatability,
    FtcSimulation,
    Inputs,
    NliLabel,
    Statistic,
)
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.families import holm
from shared.statistics.intervals import Bounds

Row = Scored[FtcRequest, FtcResult]
CASES: tuple[tuple[Case, NliLabel, str], ...] = (
    ("contradiction", "contradiction", "substituted"),
    ("entailment", "entailment", "substituted"),
    ("neutral a", "neutral", "a"),
    ("neutral b", "neutral", "b"),
)
STATISTICS: tuple[Statistic, ...] = ("delta", "k", "w", "w_normalized")
BOUNDS: dict[Statistic, Bounds] = {
    "delta": UNIT,
    "k": (None, 1.0),
    "w": UNIT,
    "w_normalized": UNIT,
}
INPUTS: tuple[Inputs, ...] = ("all", "hypothesis", "premise", "label", "another_item")


def las_of(rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> FtcLas | None:
    """Of the results whose simulator also saw the explanation alone."""
    known = [
        (row, simulated)
        for row, simulated in _simulations(rows)
        if simulated.from_explanation is not None
    ]
    if not known:
        return None
    table = np.array(
        [
            (_gain(one, row.report.label), float(one.from_explanation == row.report.label))
            for row, one in known
        ]
    )
    leaks = table[:, 1] == 1
    parts = np.stack([table[:, 0] * ~leaks, table[:, 0] * leaks, ~leaks, leaks], axis=1)
    return FtcLas(
        las=over.ratio("las", parts, las, over.keys([row for row, _ in known])),
        leaking=float(table[leaks, 0].mean()) if leaks.any() else None,
        not_leaking=float(table[~leaks, 0].mean()) if not leaks.all() else None,
        of_leaking=int(leaks.sum()),
        of_not_leaking=int((~leaks).sum()),
    )


def _simulations(rows: Sequence[Row]) -> list[tuple[Row, FtcSimulation]]:
    """Of the results whose label is known."""
    return [
        (row, row.request.study.simulation)
        for row in rows
        if row.request.study is not None
        and row.request.study.simulation is not None
        and row.report.label is not None
    ]


def _gain(simulated: FtcSimulation, label: NliLabel | None) -> float:
    with_it = simulated.from_input_and_explanation == label
    return float(with_it) - float(simulated.from_input == label)


def lra_of(rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]) -> tuple[FtcLra, ...]:
    """A point a strength of noise: together the curve."""
    noisy_results = [
        (row, simulated, noisy)
        for row, simulated in _simulations(rows)
        if row.request.study is not None
        for noisy in row.request.study.perturbations
    ]
    strengths = sorted({noisy.variance for _, _, noisy in noisy_results})
    return tuple(
        _lra(strength, [one for one in noisy_results if one[2].variance == strength], over)
        for strength in strengths
    )


def _lra(
    variance: float,
    noisy_results: Sequence[tuple[Row, FtcSimulation, FtcPerturbation]],
    over: BatchStatistics[FtcBatchReportRequest],
) -> FtcLra:
    stable = np.array([float(noisy.label == row.report.label) for row, _, noisy in noisy_results])
    gain = np.array([_gain(simulated, row.report.label) for row, simulated, _ in noisy_results])
    described = [
        (place, float(noisy.simulated == simulated.from_input_and_explanation))
        for place, (_, simulated, noisy) in enumerate(noisy_results)
        if noisy.simulated is not None
    ]
    places = [place for place, _ in described]
    keys = over.keys([row for row, _, _ in noisy_results])
    same = np.array([value for _, value in described])
    literal = lra_literal(stable, gain)
    stability = lra_stability(stable[places], same)
    return FtcLra(
        variance=variance,
        literal=over.share(literal, keys),
        stability=over.share(stability, [keys[place] for place in places]),
    )


def simulatability_of(rows: Sequence[Row]) -> tuple[FtcSimulatability, ...]:
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
    adjusted = iter(holm([one.p_value for one in found if one.p_value is not None]))
    return tuple(
        one.model_copy(update={"p_adjusted": None if one.p_value is None else next(adjusted)})
        for one in found
    )


def _simulatability(
    case: Case, name: Statistic, voted: Sequence[tuple[FtcCounterfactual, tuple[str, ...]]]
) -> FtcSimulatability:
    """An answer whose two likeliest labels tie agrees with nobody."""
    groups: dict[bool, list[float]] = {True: [], False: []}
    dropped = 0
    for made, votes in voted:
        people = majority(votes)
        if people is None:
            dropped += 1
        else:
            groups[people == made.predicted].append(getattr(made.satisfaction, name))
    tested = rank_sum(np.array(groups[True]), np.array(groups[False]))
    return FtcSimulatability(
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
) -> tuple[FtcInputScores, ...]:
    """A row a set of inputs, paired with the full set by premise and hypothesis."""
    by_inputs = {
        inputs: [row for row in rows if row.request.study and row.request.study.inputs == inputs]
        for inputs in INPUTS
    }
    whole = by_inputs["all"]
    return tuple(
        FtcInputScores(
            inputs=inputs,
            results=len(some),
            coverage=over.share(
                [float(bool(row.report.counterfactuals)) for row in some], over.keys(some)
            ),
            scores=scores_of(
                f"inputs {inputs}",
                components(row.report for row in some),
                over.keys([row for row in some if row.report.counterfactuals]),
                over,
            ),
            difference=_paired_diff(inputs, whole, some, over) if inputs != "all" else {},
        )
        for inputs, some in by_inputs.items()
        if some
    )


def _paired_diff(
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
            over.keys([full[item][0] for item in items]),
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


def las(sums: Floats) -> Floats:
    """Leakage-adjusted simulatability, (R,) in [-1, 1], higher = the explanation helps more.

    sums: (R, 4) over results: the simulator's gains from explanations that do not give the label
    away, 1[right | x, e] - 1[right | x], and from those that do; how many do not, and how many do.

    The mean of the two groups' mean gains; of one group, where the other is empty.
    Deviates: the paper prints 1/n_0 for both groups; the released code divides by each one's own.
    """
    gains, counts = sums[..., :2], sums[..., 2:]
    means = np.divide(gains, counts, out=np.zeros_like(gains), where=counts > 0)
    return np.asarray(means.sum(axis=-1) / (counts > 0).sum(axis=-1))


def lra_literal(stable: Floats, gain: Floats) -> Floats:
    """Eq. 4 as printed, (N,) of 0 and 1: is 1[f(x) = f(x')] the simulator's gain?

    stable: (N,) 1 where the model's label survives the noise; gain: (N,) in {-1, 0, 1}.

    A gain of -1 never matches, and 0 matches a label that flipped: not the test that is described.
    """
    return np.asarray(stable == gain, dtype=np.float64)


def lra_stability(stable: Floats, simulated_stable: Floats) -> Floats:
    """The test that is described, (N,) of 0 and 1: label and explanation both stable or both not.

    simulated_stable: (N,) 1 where the simulator says the same from (x, e) and (x', e').
    """
    return np.asarray(stable == simulated_stable, dtype=np.float64)


def majority(votes: Sequence[str]) -> str | None:
    """The most frequent label; None where two are."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def rank_sum(agreeing: Floats, disagreeing: Floats) -> tuple[float, float] | None:
    """(rho, p): U/(n m), [0, 1], 0.5 is chance; Wilcoxon rank-sum, two-sided.

    agreeing: (n,) scores where people agree with the model; disagreeing: (m,) where they do not.

    Ties count half. None where a group is empty; p is 1 where all scores are the same.
    """
    if not agreeing.size or not disagreeing.size:
        return None
    found: Any = mannwhitneyu(agreeing, disagreeing, alternative="two-sided")
    rho = float(found.statistic) / (agreeing.size * disagreeing.size)
    p = float(found.pvalue)
    return rho, 1.0 if np.isnan(p) else p


def components(reports: Iterable[FtcResult]) -> list[FtcSatisfaction]:
    return [
        FtcSatisfaction.model_validate(report.components.model_dump(exclude={"gain"}))
        for report in reports
        if report.counterfactuals
    ]


def scores_of(
    name: str,
    found: Sequence[FtcSatisfaction],
    keys: Sequence[str],
    over: BatchStatistics[FtcBatchReportRequest],
) -> FtcScores:
    """Means over these; keys: the cluster of each."""
    means = {
        part: over.mean(f"{name} {part}", [getattr(one, part) for one in found], keys, BOUNDS[part])
        for part in STATISTICS
    }
    mean_k = means["k"].value
    p = None if mean_k is None else kernel.geometric_mean_p(mean_k)
    return FtcScores(**means, geometric_mean_p=p)


def against_random(
    rows: Sequence[Row], over: BatchStatistics[FtcBatchReportRequest]
) -> FtcAgainstRandom | None:
    """Of the counterfactuals that have a null; None where no result has one."""
    found = [(row, pairs) for row in rows if (pairs := _with_null(row.report))]
    if not found:
        return None
    keys = over.keys([row for row, _ in found])
    own = [[made.satisfaction for made, _ in pairs] for _, pairs in found]
    random = [[drawn for _, drawn in pairs] for _, pairs in found]
    return FtcAgainstRandom(
        results=len(found),
        explanations=scores_of("beside random", [_mean(one) for one in own], keys, over),
        random_phrases=scores_of("random", [_mean(one) for one in random], keys, over),
        difference={
            name: over.mean(
                f"beyond random {name}",
                [
                    getattr(_mean(first), name) - getattr(_mean(second), name)
                    for first, second in zip(own, random, strict=True)
                ],
                keys,
                (-1.0, 1.0) if name != "k" else (None, None),
            )
            for name in STATISTICS
        },
    )


def _with_null(report: FtcResult) -> list[tuple[FtcCounterfactual, FtcSatisfaction]]:
    return [
        (made, made.null.satisfaction)
        for made in report.counterfactuals
        if made.null is not None and made.null.satisfaction is not None
    ]


def _mean(found: Sequence[FtcSatisfaction]) -> FtcSatisfaction:
    means = {name: float(np.mean([getattr(one, name) for one in found])) for name in STATISTICS}
    return FtcSatisfaction(**means, geometric_mean_p=kernel.geometric_mean_p(means["k"]))
