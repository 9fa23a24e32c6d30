"""The decision about two compared systems, in one sentence. Pages, API and command line show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.contracts.service import MetricContract
from shared.reports.pages.page_text import counted

LEVEL = 0.05
P_VALUES = ("p_systems", "p_adjusted", "p_value")  # of the score: the largest one counts


def score_is_clear(score: Mapping[str, Any]) -> bool:
    """Return True if the corrected test finds a difference of the score. `score` is the first of a
    comparison's `differences`, as JSON."""
    p_values = [p for name in P_VALUES if (p := score.get(name)) is not None]
    return bool(p_values) and max(p_values) <= LEVEL


def decision_of(
    comparison: Mapping[str, Any],
    metric: MetricContract,
    names: tuple[str, str] = ("the baseline", "the new side"),
) -> str:
    """Return the decision. Problems that are clearly more or less frequent come before the score.
    `comparison` is a `SystemComparison` as JSON, and `names` are (baseline, new)."""
    old, new = names
    more: list[str] = []
    fewer: list[str] = []
    for problem in comparison.get("problems", ()):
        if problem["p_adjusted"] is not None and problem["p_adjusted"] <= LEVEL:
            gained, lost = problem["only_new"], problem["only_baseline"]
            phrase = metric.problems.get(problem["problem"], problem["problem"])
            change = f"“{phrase}” is solved in {counted(lost, 'pair')} and new in {gained:,}"
            (more if gained > lost else fewer).append(f"{change} (a clear difference)")
    score = comparison["differences"][0]
    gap = score["difference"]["value"]
    higher_is_better = metric.report.model_fields["direction"].default != "lower_is_better"
    is_better = gap is not None and (gap > 0) == higher_is_better
    if score_is_clear(score) and not is_better:
        more.append(f"the score of {new} is clearly worse")
    elif score_is_clear(score) and (fewer or not more):  # does not outweigh new problems
        fewer.append("its score is clearly better")
    if not more and not fewer:
        return f"No clear difference between {old} and {new}."
    lead = f"Do not switch to {new}" if more else f"{new[:1].upper()}{new[1:]} is better"
    lead = "Mixed" if more and fewer else lead
    return f"{lead}: {'. But '.join('; '.join(part) for part in (more, fewer) if part)}."
