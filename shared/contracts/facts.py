"""Converts results into rows of the results table, and marks surprising results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.contracts.checks import TO_A_PERSON
from shared.contracts.messages import Finding
from shared.contracts.service import FactPaths, MetricContract, ReportedContract, SurprisingRule

FAILED = "failed"  # the reason that every line without a result has
OF_ALL = {  # name → dotted path, of every metric
    "score": "score",
    "verdict": "verdict",
    "sentence": "reason",
    "metric_version": "provenance.metric_version",
    "variant": "provenance.variant",
    "text_key": "provenance.text_key",
    "model": "provenance.models.0.name",
}


KINDS: Mapping[str | None, int] = {"problem_found": 0, "not_tested": 2, "holds_up": 3}
NO_VERDICT, HARMLESS = 1, 4  # kinds of rows, worst first

UNTESTED = (  # why the verdict is `not_tested`: of a result, or of the first metric's result in it
    ("untested", '$ ? (@.verdict == "not_tested").untested[0].reason'),
    ("untested", '$.scores[0] ? (@.verdict == "not_tested").untested[0].reason'),
)


@dataclass(frozen=True)
class SurprisingRules:
    """A metric's rules that find surprising results, most surprising first."""

    listed: tuple[SurprisingRule, ...]
    higher_is_better: bool = True

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the rules."""
        return hashlib.sha256(
            repr([(rule.name, rule.path) for rule in self.listed]).encode()
        ).hexdigest()

    @property
    def names(self) -> list[str]:
        """Return the names of all rules in order, then `FAILED`, the reason of lines without a
        result."""
        return [*(rule.name for rule in self.listed), FAILED]


@dataclass(frozen=True)
class FactPlan:
    """Describes how results become table rows. `contract` is None for an unknown metric. `finding`
    derives a missing verdict."""

    rules: SurprisingRules
    contract: ReportedContract | None = None
    finding: Callable[[Mapping[str, Any]], Finding] = lambda _: Finding("not_tested", "")

    @property
    def has_scores(self) -> bool:
        """Return True if the results have scores."""
        return self.contract is None or isinstance(self.contract, MetricContract)

    @property
    def facts(self) -> FactPaths:
        return (None if self.contract is None else self.contract.facts) or FactPaths()

    @property
    def paths(self) -> dict[str, str]:
        """Map the names of facts to their paths in a result. A path is dotted, or an SQL/JSON path
        that starts with `$`."""
        if self.contract is None:
            return OF_ALL
        facts = self.facts
        paths = {
            "score": facts.score,
            "model": facts.model,
            "chance": facts.chance,
            "decision_stated": facts.decision_stated,
            "language": facts.language,
        }
        parts = {f"part {name}": path for name, path in self.contract.parts.items()}
        return OF_ALL | {name: path for name, path in paths.items() if path} | parts

    @property
    def facets(self) -> tuple[tuple[str, str], ...]:
        """Return (name, SQL path) for each property by which results can be filtered."""
        return (*UNTESTED, *self.facts.facets)

    def rank(self, verdict: str | None, reasons: Sequence[str], facets: Collection[str]) -> int:
        """Return a row's place in the order of tables, lowest first: results with a problem, rows
        without a result, untested results, and results that hold up. Inside each kind the worst
        reason counts. Results without a problem that have all facets of `last` come last."""
        kind, last = KINDS.get(verdict, NO_VERDICT), self.facts.last
        if kind > NO_VERDICT and last and set(last) <= set(facets):
            kind = HARMLESS
        names = self.rules.names
        return kind * (len(names) + 1) + min(map(names.index, reasons), default=len(names))

    @property
    def part_names(self) -> list[str]:
        """Return the ordered names of the score's parts."""
        return [] if self.contract is None else list(self.contract.parts)

    @property
    def fingerprint(self) -> str:
        """Return a hash of the rules, paths, order, routes and default model."""
        paths = "".join(f"{name}={path};" for name, path in self.paths.items())
        paths += "".join(f"facet {name}={path};" for name, path in self.facets)
        paths += f"default model={self.contract and self.contract.default_model};"
        paths += f"last={self.facts.last};kinds={KINDS};to a person={sorted(TO_A_PERSON)};"
        return hashlib.sha256(f"{self.rules.fingerprint}{paths}".encode()).hexdigest()
