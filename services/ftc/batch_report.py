"""FTC over many explanations: a row per label, with baselines, null distributions and the human
ceiling.

The skill is (S - B) / (1 - B), for score S and baseline B (Murphy 1988, Monthly Weather Review
116), since always answering "entailment" already scores 0.82 on normalised W. Source: Sia et al.,
AAAI 2023, arXiv:2205.12469, sections 3 and 6.4 with Eqs. 2 to 4. LAS, the leakage-adjusted
simulatability: Hase et al. (2020) with `sim_experiments/compute_sim.py` of the released code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.kernel import Floats
from services.ftc.report import (
    HUMAN_CEILING,
    LABELS,
    Case,
    FtcAgainstRandom,
    FtcBaselineScores,
    FtcBatchReport,
    FtcBatchReportRequest,
    FtcCaseScores,
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
    FtcSkill,
    Inputs,
    NliLabel,
    Statistic,
    UnexplainedAnswer,
)
from services.ftc.scoring import satisfaction
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.agreement import auc_of_groups
from shared.statistics.clusters import clustered
from shared.statistics.comparison import mean_test
from shared.statistics.families import holm
from shared.statistics.intervals import Bounds

Row = Scored[FtcRequest, FtcResult]
Statistics = BatchStatistics[FtcBatchReportRequest]
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


def las_of(rows: Sequence[Row], over: Statistics) -> FtcLas | None:
    """Return the leakage-adjusted simulatability (LAS), or None if no simulator predicted from the
    explanation alone."""
    simulations = [
        (row, simulated)
        for row, simulated in _simulations(rows)
        if simulated.from_explanation is not None
    ]
    if not simulations:
        return None
    table = np.array(
        [
            (
                _gain(answers, row.report.decision),
                float(answers.from_explanation == row.report.decision),
            )
            for row, answers in simulations
        ]
    )
    leaks = table[:, 1] == 1
    parts = np.stack([table[:, 0] * ~leaks, table[:, 0] * leaks, ~leaks, leaks], axis=1)
    return FtcLas(
        las=over.ratio("las", parts, las, over.keys([row for row, _ in simulations])),
        leaking=float(table[leaks, 0].mean()) if leaks.any() else None,
        not_leaking=float(table[~leaks, 0].mean()) if not leaks.all() else None,
        of_leaking=int(leaks.sum()),
        of_not_leaking=int((~leaks).sum()),
    )


def _simulations(rows: Sequence[Row]) -> list[tuple[Row, FtcSimulation]]:
    """Return each row that has a label and a simulator's answers, with these answers."""
    return [
        (row, row.request.study.simulation)
        for row in rows
        if row.request.study is not None
        and row.request.study.simulation is not None
        and row.report.decision is not None
    ]


def _gain(simulated: FtcSimulation, label: NliLabel | None) -> float:
    with_it = simulated.from_input_and_explanation == label
    return float(with_it) - float(simulated.from_input == label)


def lra_of(rows: Sequence[Row], over: Statistics) -> tuple[FtcLra, ...]:
    """Return the label-rationale association for each strength of noise."""
    noisy_results = [
        (row, simulated, noisy)
        for row, simulated in _simulations(rows)
        if row.request.study is not None
        for noisy in row.request.study.perturbations
    ]
    strengths = sorted({noisy.variance for _, _, noisy in noisy_results})
    return tuple(
        _lra(strength, [result for result in noisy_results if result[2].variance == strength], over)
        for strength in strengths
    )


def _lra(
    variance: float,
    noisy_results: Sequence[tuple[Row, FtcSimulation, FtcPerturbation]],
    over: Statistics,
) -> FtcLra:
    keys = over.keys([row for row, _, _ in noisy_results])
    stable = [noisy.label == row.report.decision for row, _, noisy in noisy_results]
    literal = [
        float(is_stable == _gain(simulated, row.report.decision))
        for is_stable, (row, simulated, _) in zip(stable, noisy_results, strict=True)
    ]
    described = [
        (key, float(is_stable == (noisy.simulated == simulated.from_input_and_explanation)))
        for key, is_stable, (_, simulated, noisy) in zip(keys, stable, noisy_results, strict=True)
        if noisy.simulated is not None
    ]
    return FtcLra(
        variance=variance,
        literal=over.share(literal, keys),
        stability=over.share([same for _, same in described], [key for key, _ in described]),
    )


def simulatability_of(rows: Sequence[Row]) -> tuple[FtcSimulatability, ...]:
    """Return tests of scores against people's labels of counterfactuals, one row for each case and
    statistic."""
    tests = []
    for case, label, kind in CASES:
        voted = [
            (edited, row.request.study.human_labels[edited.kind])
            for row in rows
            if row.report.decision == label and row.request.study is not None
            for edited in row.report.counterfactuals
            if edited.kind == kind and edited.kind in row.request.study.human_labels
        ]
        if voted:
            tests += [_simulatability(case, name, voted) for name in ("delta", "k", "w")]
    adjusted = iter(holm([test.p_value for test in tests if test.p_value is not None]))
    return tuple(
        test.model_copy(update={"p_adjusted": None if test.p_value is None else next(adjusted)})
        for test in tests
    )


def _simulatability(
    case: Case, name: Statistic, voted: Sequence[tuple[FtcCounterfactual, tuple[str, ...]]]
) -> FtcSimulatability:
    """Compare the statistic between counterfactuals on which people agree with the model and those
    on which they do not."""
    groups: dict[bool, list[float]] = {True: [], False: []}
    dropped = 0
    for edited, votes in voted:
        people = majority(votes)
        if people is None:
            dropped += 1
        else:
            groups[people == edited.predicted].append(getattr(edited.satisfaction, name))
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


def sensitivity_of(rows: Sequence[Row], over: Statistics) -> tuple[FtcInputScores, ...]:
    """Return scores for each set of inputs from which explanations were generated. Each set is
    compared with the full set on results with the same premise and hypothesis."""
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
    over: Statistics,
) -> dict[Statistic, Interval]:
    """Return the mean difference over items between explanations from `all` inputs and from
    `inputs`. Explanations of one item are averaged first."""
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
    items: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.report.counterfactuals:
            items.setdefault((row.request.premise, row.request.hypothesis), []).append(row)
    return items


def _average(rows: Sequence[Row], name: Statistic) -> float:
    return float(np.mean([getattr(row.report.components, name) for row in rows]))


def las(sums: Floats) -> Floats:
    """Return the leakage-adjusted simulatability, of shape (R,) and in [-1, 1]. Higher means that
    explanations help the simulator more.

    A simulator's gain is 1[right | x, e] - 1[right | x], for input x and explanation e. An
    explanation leaks if it gives the label away. The value is the mean of the mean gains with and
    without leakage, or one of them if the other group is empty.

    `sums`, of shape (R, 4), holds sums over results: gains without leakage, gains with leakage,
    count without leakage, count with leakage. Deviates: the paper prints 1/n_0 for both groups; the
    released code divides by each group's own count.
    """
    gains, counts = sums[..., :2], sums[..., 2:]
    means = np.divide(gains, counts, out=np.zeros_like(gains), where=counts > 0)
    return np.asarray(means.sum(axis=-1) / (counts > 0).sum(axis=-1))


def majority(votes: Sequence[str]) -> str | None:
    """Return the most frequent label, or None for a tie or no votes."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def rank_sum(agreeing: Floats, disagreeing: Floats) -> tuple[float, float] | None:
    """Test if scores are higher where people agree with the model. Return (rho, p), or None if a
    group is empty.

    `agreeing` has the n scores where people agree, `disagreeing` the m scores where they do not.
    rho is U/(n m), in [0, 1]; chance is 0.5, and ties count half. p is from the two-sided Wilcoxon
    rank-sum test. It is 1 if all scores are the same.
    """
    if not agreeing.size or not disagreeing.size:
        return None
    p = float(mannwhitneyu(agreeing, disagreeing, alternative="two-sided").pvalue)
    return auc_of_groups(agreeing, disagreeing), 1.0 if np.isnan(p) else p


def components(reports: Iterable[FtcResult]) -> list[FtcSatisfaction]:
    return [
        FtcSatisfaction.model_validate(report.components.model_dump(exclude={"gain"}))
        for report in reports
        if report.counterfactuals
    ]


def scores_of(
    name: str,
    values: Sequence[FtcSatisfaction],
    keys: Sequence[str],
    over: Statistics,
) -> FtcScores:
    """Return the mean of each statistic over `values`. `keys` names the text (cluster) that each
    value belongs to."""
    means = {
        part: over.mean(f"{name} {part}", [getattr(v, part) for v in values], keys, BOUNDS[part])
        for part in STATISTICS
    }
    mean_k = means["k"].value
    p = None if mean_k is None else kernel.geometric_mean_p(mean_k)
    return FtcScores(**means, geometric_mean_p=p)


def against_random(rows: Sequence[Row], over: Statistics) -> FtcAgainstRandom | None:
    """Compare counterfactuals with their random phrases. Return None if no result has random
    phrases."""
    paired = [(row, pairs) for row in rows if (pairs := _with_null(row.report))]
    if not paired:
        return None
    keys = over.keys([row for row, _ in paired])
    observed = [[edited.satisfaction for edited, _ in pairs] for _, pairs in paired]
    random = [[drawn for _, drawn in pairs] for _, pairs in paired]
    return FtcAgainstRandom(
        results=len(paired),
        explanations=scores_of("beside random", [_mean(result) for result in observed], keys, over),
        random_phrases=scores_of("random", [_mean(result) for result in random], keys, over),
        difference={
            name: over.mean(
                f"beyond random {name}",
                [
                    getattr(_mean(first), name) - getattr(_mean(second), name)
                    for first, second in zip(observed, random, strict=True)
                ],
                keys,
                (-1.0, 1.0) if name != "k" else (None, None),
            )
            for name in STATISTICS
        },
    )


def _with_null(report: FtcResult) -> list[tuple[FtcCounterfactual, FtcSatisfaction]]:
    return [
        (edited, edited.null.satisfaction)
        for edited in report.counterfactuals
        if edited.null is not None
    ]


def _mean(values: Sequence[FtcSatisfaction]) -> FtcSatisfaction:
    means = {name: float(np.mean([getattr(v, name) for v in values])) for name in STATISTICS}
    return FtcSatisfaction(**means, geometric_mean_p=kernel.geometric_mean_p(means["k"]))


ORIGINAL: tuple[Case, ...] = ("contradiction", "entailment", "neutral")
BEFORE = ("always_entailment", "uniform", "unedited", "blank_premise")
SIGNIFICANT = 0.05


def batch_report(rows: Sequence[Row], over: Statistics) -> FtcBatchReport:
    """Return a report on how well models follow these explanations, compared with random phrases
    and baselines."""
    reports = [row.report for row in rows]
    covered = [report for report in reports if report.counterfactuals]
    explained = [row for row in rows if row.report.counterfactuals]
    controlled = [row for row in explained if row.report.control]
    controls = [row.report.control for row in controlled if row.report.control]
    keys = over.keys(controlled)
    significant = [_significant(row.report) for row in controlled]
    common = over.envelope()
    gaining = [row for row in explained if row.report.components.gain is not None]
    strata = [[row for row in gaining if row.report.decision == label] for label in ORIGINAL]
    groups = [
        np.array([row.report.components.gain for row in stratum], np.float64) for stratum in strata
    ]
    return FtcBatchReport(
        **common | {"warnings": tuple(dict.fromkeys((*common["warnings"], *_warnings(rows))))},
        skill=tuple(skills_of(rows, over)),
        gain=over.macro(
            "gain", groups, [over.keys(stratum) for stratum in strata], bounds=(-1.0, 1.0)
        ),
        coverage=over.share([float(bool(r.counterfactuals)) for r in reports], over.keys()),
        cases=tuple(_cases(rows, over)),
        macro=_macro(explained, over),
        micro=scores_of("micro", components(covered), over.keys(explained), over),
        baselines=tuple(_baselines(rows)),
        null_win_rate=over.mean("null", [c.null_win_rate for c in controls], keys, UNIT),
        against_random=against_random(explained, over),
        null_significant=over.share(significant, keys),
        rules=_count(report.extraction.rule for report in covered),
        transformations=_count(report.extraction.transformation for report in covered),
        abstentions=_count(report.abstained for report in reports),
        las=las_of(rows, over),
        lra=lra_of(rows, over),
        simulatability=simulatability_of(rows),
        sensitivity=sensitivity_of(rows, over),
    )


def _significant(report: FtcResult) -> float | None:
    """Return 1.0 if p is at most `SIGNIFICANT`, else 0.0. Return None if there are too few random
    phrases for such a p."""
    control = report.control
    if control is None or control.null_p_value is None:
        return None
    fewest = min((edited.null.draws for edited in report.counterfactuals if edited.null), default=0)
    least = control.null_attainable_p or 1 / (fewest + 1)
    return float(control.null_p_value <= SIGNIFICANT) if least <= SIGNIFICANT else None


def _warnings(rows: Sequence[Row]) -> tuple[str, ...]:
    warnings = [
        f"results of different {what} are averaged"
        for what in ("alpha", "epsilon")
        if len({getattr(row.request, what) for row in rows}) > 1
    ]
    if not any(row.report.counterfactuals for row in rows):
        warnings.append("no result has a score")
    return tuple(warnings)


def _count(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(name for name in names if name is not None).most_common())


def _cases(rows: Sequence[Row], over: Statistics) -> Iterable[FtcCaseScores]:
    for case in (*ORIGINAL, "neutral a", "neutral b"):
        of_label = [row for row in rows if row.report.decision == case.split()[0]]
        keys = over.keys(of_label)
        scored = [
            (satisfied, key)
            for row, key in zip(of_label, keys, strict=True)
            for satisfied in case_scores(row.report, case)
        ]
        scored_keys = [key for _, key in scored]
        yield FtcCaseScores(
            case=case,
            coverage=over.share([float(bool(case_scores(r.report, case))) for r in of_label], keys),
            scores=scores_of(case, [satisfied for satisfied, _ in scored], scored_keys, over),
            human_ceiling=HUMAN_CEILING.get(case),
            null_win_rate=over.mean(
                f"null {case}", [_win_rate(r.report, case) for r in of_label], keys, UNIT
            ),
        )


def case_scores(report: FtcResult, case: Case) -> list[FtcSatisfaction]:
    """Return the result's scores for this case (a label or counterfactual), or [] if it has
    none."""
    if " " in case:
        return [edited.satisfaction for edited in _of_kind(report, case)]
    return components([report]) if report.counterfactuals else []


def _of_kind(report: FtcResult, case: Case) -> list[FtcCounterfactual]:
    return [edited for edited in report.counterfactuals if edited.kind == case[-1]]


def _win_rate(report: FtcResult, case: Case) -> float | None:
    if " " in case:
        nulls = [edited.null for edited in _of_kind(report, case)]
        return nulls[0].win_rate if nulls and nulls[0] else None
    return report.control.null_win_rate if report.control else None


def _macro(covered: Sequence[Row], over: Statistics) -> FtcScores:
    by_label = [[row for row in covered if row.report.decision == label] for label in ORIGINAL]
    keys = [over.keys(stratum) for stratum in by_label]
    groups = [components(row.report for row in stratum) for stratum in by_label]
    statistics = {
        name: over.macro(
            f"macro {name}",
            [np.array([getattr(s, name) for s in group]) for group in groups],
            keys,
            bounds=BOUNDS[name],
        )
        for name in STATISTICS
    }
    mean_k = statistics["k"].value
    p = None if mean_k is None else kernel.geometric_mean_p(mean_k)
    return FtcScores(**statistics, geometric_mean_p=p)


def _baselines(rows: Sequence[Row]) -> Iterable[FtcBaselineScores]:
    """Yield the baselines' means over covered results. The baseline `majority` always answers the
    batch's most frequent target."""
    covered = [row for row in rows if row.report.control is not None]
    if not covered:
        return
    for name in BEFORE:
        values = [getattr(row.report.control, name) for row in covered]
        yield _baseline(name, [value for value in values if value is not None])
    yield _baseline("majority", _majority(covered))


def _baseline(name: Any, values: Sequence[FtcSatisfaction]) -> FtcBaselineScores:
    means = {part: float(np.mean([getattr(v, part) for v in values])) for part in STATISTICS}
    return FtcBaselineScores(name=name, **means)


def _majority(covered: Sequence[Row]) -> list[FtcSatisfaction]:
    targets = [
        np.array(
            [[getattr(edited.target, label) for label in LABELS] for edited in r.counterfactuals]
        )
        for r in (row.report for row in covered)
    ]
    most = int(np.concatenate(targets).sum(axis=0).argmax())
    return [
        satisfaction(row.request, np.tile(np.eye(3)[most], (len(target), 1)), target)
        for row, target in zip(covered, targets, strict=True)
    ]


LEAST_ROOM = 0.05  # between the best such answer and 1; below it a ratio to it says nothing
NO_ROOM = "{name} scores {score:.3f} even without the explanation, so no gain can be measured"


def skills_of(rows: Sequence[Row], over: Statistics) -> Iterator[FtcSkill]:
    """Yield the skill, which is the gain over the best baseline: first over all labels, weighted
    equally, then for each label."""
    covered = [row for row in rows if row.report.counterfactuals]
    by_label = {
        label: stratum
        for label in LABELS
        if (stratum := [row for row in covered if row.report.decision == label])
    }
    if by_label:
        yield _skill("macro", list(by_label.values()), over)
    for label, stratum in by_label.items():
        yield _skill(label, [stratum], over)


def _skill(label: NliLabel | str, strata: Sequence[Sequence[Row]], over: Statistics) -> FtcSkill:
    """Return the skill: (score - best baseline) / (1 - best baseline). Each stratum has the results
    of one label, and all strata count equally."""
    earned = [
        np.array([row.report.components.w_normalized for row in stratum]) for stratum in strata
    ]
    score = _mean_of_groups(earned)
    baselines = [_baseline_scores(stratum) for stratum in strata]
    common = [name for name in baselines[0] if all(name in scores for scores in baselines)]
    best = max(common, key=lambda name: _mean_of_groups([scores[name] for scores in baselines]))
    baseline = _mean_of_groups([scores[best] for scores in baselines])
    gaps = [mine - scores[best] for mine, scores in zip(earned, baselines, strict=True)]
    keys = [over.keys(stratum) for stratum in strata]
    room = 1 - baseline
    return FtcSkill(
        label=label,
        skill=(score - baseline) / room if room >= LEAST_ROOM else None,
        score=score,
        baseline=best,
        baseline_score=baseline,
        difference=over.macro(f"skill {label}", gaps, keys, bounds=(-1.0, 1.0)),
        p_value=_p_value(label, gaps, keys, over.request.seed),
        reason=None
        if room >= LEAST_ROOM
        else NO_ROOM.format(name=best.replace("_", " "), score=baseline),
    )


def _p_value(
    label: str, gaps: Sequence[Floats], keys: Sequence[Sequence[str]], seed: int
) -> float | None:
    """Return the p-value of a test that flips the signs of all values of a text together. A row has
    the same weight as in the mean of its label."""
    count = sum(gap.size for gap in gaps)
    weighted = np.concatenate([gap * count / (len(gaps) * gap.size) for gap in gaps])
    together = [key for stratum in keys for key in stratum]
    return mean_test(clustered(weighted, together), 0.0, seed, f"skill {label}").p_randomization


def _mean_of_groups(groups: Sequence[Floats]) -> float:
    return float(np.mean([group.mean() for group in groups]))


def _baseline_scores(rows: Sequence[Row]) -> dict[UnexplainedAnswer, Floats]:
    """Return the normalised W scores, of shape (N,), of each answer that ignores the explanation.
    Answers that are missing for some result are left out."""
    answers: dict[UnexplainedAnswer, Floats] = {
        "always_entailment": np.eye(3)[0],
        "always_neutral": np.eye(3)[1],
        "always_contradiction": np.eye(3)[2],
        "uniform": np.full(3, 1 / 3),
    }
    scores = {name: np.array([_constant(row, a) for row in rows]) for name, a in answers.items()}
    for name in ("unedited", "blank_premise"):
        sides = [getattr(row.report.control, name, None) for row in rows]
        if all(side is not None for side in sides):
            scores[name] = np.array([side.w_normalized for side in sides if side is not None])
    return scores


def _constant(row: Row, answer: Floats) -> float:
    """Return the score of one fixed answer to all counterfactuals of a result."""
    targets = np.array(
        [
            [getattr(edited.target, label) for label in LABELS]
            for edited in row.report.counterfactuals
        ]
    )
    answers = np.tile(answer, (len(targets), 1))
    return float(np.mean(kernel.w_normalized(answers, targets, row.request.alpha)))
