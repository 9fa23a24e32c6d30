"""An ICE job: the verdict in words, where the explanations point, the null, and the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from services.gateway.pages.metrics.ice_sentences import alpha, by_probability, says
from services.gateway.pages.metrics.ice_tests import Told, told
from services.gateway.pages.metrics.ice_tokens import HeatMap, Marked, human, maps
from services.ice.contract import IceRequest
from services.ice.naming import MethodName
from services.ice.report import Comparison, IceReport
from shared.models.calls import Template

TEMPLATE = "metrics/ice.html"

MOST_ROWS = 60  # of a table; what is left out is said, and stands in the job's JSON
OWN_NAMES = frozenset({*get_args(MethodName), "attributions", "rationale"})  # all others: callers


@dataclass(frozen=True)
class Compared:
    """Two explanations against each other, and why their difference is null."""

    row: Comparison
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class IceView:
    """What the page shows besides the report's own numbers."""

    text_kept: bool
    says: str | None  # what the score is, and what chance would have; None without one
    by_probability: bool  # what the variant compares; else NSR
    told: tuple[Told, ...]
    first: tuple[Told, ...]  # the first explanation at the first budget, one an operator
    others: tuple[Told, ...]  # with pictures: folded
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
    own_names: frozenset[str] = OWN_NAMES  # of explanations, by us

    @property
    def tests(self) -> tuple[Told, ...]:
        """Those that the tables show."""
        return self.told[:MOST_ROWS]

    @property
    def tests_left_out(self) -> int:
        """How many they do not."""
        return len(self.told) - len(self.tests)

    def verdicts(self, explanation: str) -> str:
        """What the tests of an explanation say, at its first budget, in a few words."""
        own = [one for one in self.told if one.test.explanation == explanation]
        words = {
            one.test.operator: one.verdict.text[:1].lower() + one.verdict.text[1:]
            for one in own
            if one.test.k == own[0].test.k
        }
        return ", ".join(f"{word} ({operator})" for operator, word in words.items())


def view(request: IceRequest | None, report: IceReport) -> IceView:
    """request: None where the text was not kept."""
    tests = told(report)
    head = tests[0].test
    first = tuple(one for one in tests if _trial(one) == (head.explanation, head.k))
    compared = report.components.comparisons
    shown = maps(request, report)
    return IceView(
        text_kept=request is not None,
        says=says(report),
        by_probability=by_probability(report),
        told=tests,
        first=first,
        others=tuple(one for one in tests if one not in first and one.chart is not None),
        compared=tuple(_compared(report, row) for row in compared[:MOST_ROWS]),
        compared_left_out=max(0, len(compared) - MOST_ROWS),
        maps=shown,
        explanations_left_out=len({one.test.explanation for one in tests}) - len(shown),
        values_told=bool(report.token_values),
        human=human(request),
        template=None if request is None else request.template,
        alpha=alpha(report),
        settings=_settings(report),
    )


def _trial(one: Told) -> tuple[str, float | None]:
    return one.test.explanation, one.test.k


def _compared(report: IceReport, row: Comparison) -> Compared:
    start = f"{row.first} and {row.second}, k {row.k}: "
    return Compared(
        row, tuple(said.removeprefix(start) for said in report.warnings if said.startswith(start))
    )


def _settings(report: IceReport) -> list[tuple[str, str]]:
    """What was in force, for the reader who wants to know how."""
    named = report.provenance.parameters
    names = ("rank_by", "eligible", "draws", "infills", "nsr_epsilon")
    return [(name, str(named[name])) for name in names if name in named]
