"""The names and descriptions of results that pages show, from `terms.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from services.registry import reported
from shared.reports.pages.page_text import significant

WORDS = "words"  # of statistics, beside the metrics
ANSWERS = "explanations"  # what elicits answers, and has metrics as its parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The name and description of a number or word in a result.

    `symbol` is the short technical name, such as QF. `range` is (lowest, highest), or None if
    there are no bounds. `level` is the value for random decisions, if there is a single value.
    `id` is unique in a page. `guide` is the URL of the explanation, or empty."""

    id: str
    symbol: str
    name: str
    says: str
    range: tuple[float, float] | None = None
    better: Literal["higher", "lower", ""] = ""
    level: float | None = None
    chance: str = ""
    guide: str = ""

    @property
    def details(self) -> tuple[str, ...]:
        """Return sentences about the range, which direction is better, and the value for random
        decisions."""
        sentences = []
        if self.range is not None:
            low, high = self.range
            sentences.append(f"From {significant(low)} to {significant(high)}.")
        if self.better:
            sentences.append(f"{self.better.capitalize()} is better.")
        if self.level is not None:
            sentences.append(f"By chance it is {significant(self.level)}.")
        if self.chance:
            sentences.append(self.chance)
        return tuple(sentences)


class Terms(dict[str, dict[str, Term]]):
    """Display names by metric and field. The key `words` holds statistical terms."""

    def of(self, metric: str) -> dict[str, Term]:
        """Return the display names for a metric. If none are given, they are built from the names
        of its fields."""
        if metric in self:
            return self[metric]
        contract = reported().get(metric)
        names = () if contract is None else contract.parts
        return {name: _plain(metric, name) for name in names}


@lru_cache(maxsize=1)
def terms() -> Terms:
    read = tomllib.loads(Path(__file__).with_name("terms.toml").read_text("utf-8"))
    return Terms(
        (group, {name: _term(group, name, fields) for name, fields in named.items()})
        for group, named in read.items()
    )


def _plain(metric: str, name: str) -> Term:
    words = name.replace("_", " ")
    return Term(id=f"term-{metric}-{name}", symbol=words, name=words, says="A part of the score.")


def _term(group: str, name: str, fields: dict[str, Any]) -> Term:
    bounds = fields.pop("range", [] if group == WORDS else [0, 1])
    low_high = (float(bounds[0]), float(bounds[1])) if bounds else None
    guide = {WORDS: "results/", ANSWERS: "explanations/"}.get(group)
    guide = guide or f"metrics/{group}/#reading-it"
    symbol = fields.pop("symbol", name.replace("_", " "))
    return Term(id=f"term-{group}-{name}", symbol=symbol, range=low_high, guide=guide, **fields)
