"""Observations of our own making, of any numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from bench.papers.columns import MacroF1Column, MeanColumn, Observation, Outcome, ShareColumn
from bench.papers.data_rows import DataRow
from bench.papers.tables import Place, TablePlan

LABELS = ("hateful", "non-hateful")


def row(number: int, gold: str = "hateful", dataset: str = "posts", **more: object) -> DataRow:
    """A row whose text is its number."""
    fields = {"text": f"text {number}", "gold": gold, **more}
    return DataRow(dataset, fields, f"{dataset} {number}")


def observed(
    model: str,
    of: DataRow,
    decision: str | None = None,
    score: float | None = None,
    outcome: Outcome = "answered",
    setting: str = "",
) -> Observation:
    """One whose result has a score and nothing else."""
    result = None if score is None else SimpleNamespace(score=score)
    job = f"job of {model} on {of.key}"
    return Observation(model, setting, of, outcome, (job,), decision, result)


def several(models: tuple[str, ...], count: int, seed: int = 0) -> list[Observation]:
    """Random decisions and scores; some are missing."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        own = row(number, LABELS[int(random.integers(2))], group=f"thread {number // 2}")
        for model in models:
            if random.random() < 0.1:
                found.append(observed(model, own, outcome="refused"))
                continue
            decision = LABELS[int(random.integers(2))]
            found.append(observed(model, own, decision, float(random.random())))
    return found


def plan() -> TablePlan:
    """A table with a column of each kind."""

    def places(one: Observation) -> Iterator[Place]:
        yield one.dataset, one.model

    def score(one: Observation) -> float | None:
        return None if one.result is None else one.result.score

    def decided(one: Observation) -> tuple[str, str] | None:
        return None if one.decision is None else (one.row.gold or "", one.decision)

    def right(one: Observation) -> float | None:
        return None if one.decision is None else float(one.decision == one.row.gold)

    columns = (
        MeanColumn("score", "Score", score, chance=0.5),
        ShareColumn("accuracy", "Accuracy", right),
        MacroF1Column("macro_f1", "Macro-F1", decided),
    )
    return TablePlan("Table 1", "of our own", ("data set", "model"), places, columns)
