"""FTC's raw scores: those of its own route, beside decisions against gold labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.papers.data_rows import DataRow
from bench.papers.ftc import FtcPaper
from bench.papers.protocol import RunOptions
from bench.papers.tables import table_of
from services.ftc.report import FtcResult
from shared.statistics.bootstrap import Resampling
from tests.explanations.scripted import of_own_job
from tests.papers.scripted_service import Body, ran

ITEMS = [
    ("Two skateboarders navigate a curve in the park.",
     "Two skateboarders are navigating a bend.", "entailment", "A curve is a bend."),
    ("A man sleeps on a bench.", "A man is running.", "contradiction",
     "A man who sleeps is not running."),
]  # fmt: skip
OPTIONS = RunOptions(labels={"e": "entailment"}, parameters={"ftc": {"draws": 19}})


def rows() -> Iterator[DataRow]:
    for number, (premise, hypothesis, label, because) in enumerate(ITEMS):
        answers = {
            "right": f"Label: {label}\nExplanation: {because}",
            "vague": "It could be either, who knows.",
        }
        gold = "e" if label == "entailment" else label
        fields = {"premise": premise, "hypothesis": hypothesis, "gold": gold, "answers": answers}
        yield DataRow("nli", {**fields, "language": "en"}, f"nli {number}")


def _as_it_is(_: str, body: Body) -> Body:
    return body


def test_scores_and_decisions(tmp_path: Path) -> None:
    paper = FtcPaper()
    found, _ = ran(paper, ["right", "vague"], list(rows()), tmp_path, _as_it_is, OPTIONS)
    own = []
    for premise, hypothesis, label, because in ITEMS:
        body = {"premise": premise, "hypothesis": hypothesis, "decision": label, "language": "en"}
        told = of_own_job("ftc", {**body, "explanation": because, "draws": 19})
        assert isinstance(told, FtcResult)
        own.append(told.components)
    [plan] = paper.tables(OPTIONS)
    right, vague = table_of(plan, found, Resampling(resamples=99), ["right", "vague"]).lines
    cells = {cell.column: cell.found for cell in right.cells}
    for name in ("delta", "k", "w", "w_normalized"):
        values = [value for one in own if (value := getattr(one, name)) is not None]
        assert values
        assert cells[name].value == pytest.approx(sum(values) / len(values))
        assert cells[name].rows == len(values)
    assert (cells["accuracy"].value, cells["macro_f1"].value) == (1.0, 1.0)
    assert vague.outcomes == {"answered": 0, "refused": 0, "unparsable": 2, "failed": 0}
    assert all(cell.found.value is None for cell in vague.cells)
