"""Decisions compared with gold labels: every result is in one cell, as the sentence counts."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import Engine

from services.gateway.pages.gold_section import MOST_SHOWN, gold_section
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_pages import created
from tests.gateway.pages.test_report_designs import changed


def a_report(cells: list[tuple[str, str | None, int]], **labels: Any) -> dict[str, Any]:
    confusion = [{"gold": a, "decided": b, "results": n} for a, b, n in cells]
    found = {"results": sum(n for *_, n in cells), "confusion": confusion}
    return {"gold": {"labels": found | labels, "warnings": []}}


@pytest.mark.parametrize("count", [1, 2, MOST_SHOWN + 1, 30])
def test_every_result_is_in_one_cell_whatever_labels_are_called(count: int) -> None:
    random = np.random.default_rng(count)
    names = ["not read", "all others", *(f"label {i}" for i in range(count))]
    drawn = {(str(random.choice(names)), str(random.choice(names))) for _ in range(80)}
    cells: list[tuple[str, str | None, int]] = [(a, b, 2) for a, b in sorted(drawn)]
    cells.append(("label 0", None, 3))
    found = gold_section(a_report(cells))
    assert found is not None
    total = sum(n for row in found.confusion for n, _ in row.counts)
    assert total == sum(n for *_, n in cells)
    assert max(len(found.confusion), len(found.decided)) <= MOST_SHOWN + 2
    assert {len(row.counts) for row in found.confusion} == {len(found.decided)}
    right = sum(n for a, b, n in cells if a == b)
    assert found.sentence.startswith(f"{right:,} of {total - 3:,} decisions")
    if len(names) <= MOST_SHOWN + 1:
        assert sum(n for row in found.confusion for n, same in row.counts if same) == right


@pytest.mark.parametrize("report", [None, {}, {"gold": None}, {"gold": {"labels": None}}])
def test_without_gold_labels_there_is_no_such_section(report: Any) -> None:
    assert gold_section(report) is None


def test_a_page_and_its_file_say_how_far_decisions_agree(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2, 0.5, 0.7])
    created(client, f"/batches/{batch_id}/statistics")
    [report_id] = run_reports(engine)
    one = {"value": 0.75, "low": 0.3, "high": 0.9, "of": 4}
    none = {"value": None, "low": None, "high": None, "of": 0}
    own = a_report(
        [("hateful", "hateful", 3), ("<b>mild</b>", "hateful", 1)],
        accuracy=one, kappa=one, macro_f1=none, chance=0.5,
    )  # fmt: skip
    changed(engine, report_id, **own)
    for path in (f"/batches/{batch_id}/statistics", f"/batches/{batch_id}/report.html"):
        page = client.get(path).text
        section = page.partition('aria-labelledby="gold"')[2].partition("</section>")[0]
        assert "3 of 4 decisions agree with the gold label" in section
        assert "right in 50 %" in section
        assert "Agrees with the gold label" in section
        assert "kappa" in section
        assert "Macro-F1" not in section  # it is null
        assert "&lt;b&gt;mild" in section
        assert "<b>mild" not in section
