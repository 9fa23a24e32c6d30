"""A batch report of ICE as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from services.ice.batch_tables import name
from services.ice.report import ConfigurationResult, IceBatchReport
from shared.contracts import Interval


def markdown(report: IceBatchReport) -> Iterator[str]:
    """Tables."""
    yield "| explanation | win rate | strict | ties | z | q | median effect | verdicts +/o/- | BH |"
    yield "|---|---|---|---|---|---|---|---|---|"
    yield from (line(result) for result in report.configurations)
    yield "\n| paired difference of win rates | |\n|---|---|"
    for gap in report.differences:
        yield f"| {name(gap.first)} − {name(gap.second)} | {percent(gap.difference)} |"
    yield "\n| plausibility | mean | r with the win rate | ρ | p |\n|---|---|---|---|---|"
    for one in report.orthogonality:
        yield (
            f"| {name(one.configuration)}: {one.measure} | {shown(one.mean)} | "
            f"{shown(one.pearson)} | {rounded(one.spearman)} | {rounded(one.p_value)} |"
        )
    yield "\n| operators | ρ | same side | same verdict |\n|---|---|---|---|"
    for pair in report.operator_agreement:
        yield (
            f"| {name(pair.first)} / {pair.second.operator} | {rounded(pair.spearman)} | "
            f"{rounded(pair.same_side)} | {rounded(pair.same_verdict)} |"
        )
    yield f"\nanti-faithful examples (first test): {report.anti_faithful.examples_in_all}"
    yield "\n".join(report.warnings)


def line(result: ConfigurationResult) -> str:
    """One row of the first table."""
    verdicts = "/".join(str(count) for count in result.verdicts.values())
    over = result.over_examples
    return (
        f"| {name(result.configuration)}, n = {result.win_rate.of} | {percent(result.win_rate)} | "
        f"{100 * (result.strict_win_rate or 0):.1f} | {100 * (result.tie_rate or 0):.1f} | "
        f"{rounded(result.z)} | {small(result.q_value)}"
        f" | {shown(result.effect)} | {verdicts} | {over.rejected} (raw {over.raw}) |"
    )


def percent(interval: Interval) -> str:
    """In percent, with its interval."""
    if interval.value is None or interval.low is None or interval.high is None:
        return "–"
    low, high = 100 * interval.low, 100 * interval.high
    return f"{100 * interval.value:.1f} [{low:.1f}, {high:.1f}]"


def shown(interval: Interval) -> str:
    """With its interval."""
    return f"{rounded(interval.value)} [{rounded(interval.low)}, {rounded(interval.high)}]"


def small(value: float | None) -> str:
    """One digit, however small."""
    return "–" if value is None else f"{value:.1g}"


def rounded(value: float | None) -> str:
    """Two decimals."""
    return "–" if value is None else f"{value:.2f}"
