"""An ICE job: the verdict in words, where the explanations point, the null, and the numbers."""

from __future__ import annotations

from dataclasses import dataclass

from services.gateway.pages.metrics.ice_tests import Told, told
from services.gateway.pages.metrics.ice_tokens import HeatMap, Marked, human, maps
from services.ice.contract import IceRequest
from services.ice.report import Comparison, IceReport
from shared.calls import Template

TEMPLATE = "metrics/ice.html"

MOST_ROWS = 60  # of a table; what is left out is said, and stands in the job's JSON


@dataclass(frozen=True)
class Compared:
    """Two explanations against each other, and why their difference is null."""

    row: Comparison
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class IceView:
    """What the page shows besides the report's own numbers."""

    text_kept: bool
    first: tuple[Told, ...]  # the first explanation at the first budget, one an operator
    others: tuple[Told, ...]  # with pictures: folded
    tests: tuple[Told, ...]
    tests_left_out: int
    compared: tuple[Compared, ...]
    compared_left_out: int
    maps: tuple[HeatMap, ...]
    explanations_left_out: int
    values_told: bool  # whether the job asked for `token_values`
    human: tuple[Marked, ...]
    template: Template | None
    alpha: float | None
    settings: list[tuple[str, str]]
    most_rows: int = MOST_ROWS

    @property
    def name(self) -> str:
        """The first explanation and its budget."""
        return self.first[0].name

    def verdicts(self, explanation: str) -> str:
        """What the tests of an explanation say, at its first budget, in a few words."""
        own = [one for one in (*self.first, *self.tests) if one.test.explanation == explanation]
        first = [one for one in own if one.test.k == own[0].test.k]
        words = {one.test.operator: one.word.lower() for one in first}
        return ", ".join(f"{word} ({operator})" for operator, word in words.items())


def view(request: IceRequest | None, report: IceReport) -> IceView:
    """request: None where the text was not kept."""
    tests = told(report)
    head = tests[0].test
    first = tuple(one for one in tests if _trial(one) == (head.explanation, head.k))
    pictured = tuple(one for one in tests if one not in first and one.chart is not None)
    compared = report.components.comparisons
    shown = maps(request, report)
    return IceView(
        text_kept=request is not None,
        first=first,
        others=pictured,
        tests=tests[:MOST_ROWS],
        tests_left_out=max(0, len(tests) - MOST_ROWS),
        compared=tuple(_compared(report, row) for row in compared[:MOST_ROWS]),
        compared_left_out=max(0, len(compared) - MOST_ROWS),
        maps=shown,
        explanations_left_out=len({one.test.explanation for one in tests}) - len(shown),
        values_told=bool(report.token_values),
        human=human(request),
        template=None if request is None else request.template,
        alpha=_alpha(report),
        settings=_settings(report),
    )


def _trial(one: Told) -> tuple[str, float | None]:
    return one.test.explanation, one.test.k


def _compared(report: IceReport, row: Comparison) -> Compared:
    start = f"{row.first} and {row.second}, k {row.k}: "
    return Compared(
        row, tuple(said.removeprefix(start) for said in report.warnings if said.startswith(start))
    )


def _alpha(report: IceReport) -> float | None:
    found = report.provenance.parameters.get("alpha")
    return found if isinstance(found, float) else None


def _settings(report: IceReport) -> list[tuple[str, str]]:
    """What was in force, for the reader who wants to know how."""
    named = report.provenance.parameters
    names = ("rank_by", "eligible", "draws", "infills", "nsr_epsilon")
    return [(name, str(named[name])) for name in names if name in named]
