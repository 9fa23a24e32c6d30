"""Laws of the tables: order changes nothing, what is alike does not differ, nothing is dropped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import permutation_test
from sklearn.metrics import accuracy_score, f1_score  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests

from bench.papers.columns import MeanColumn, Observation
from bench.papers.formats import as_csv, as_jobs, as_json, as_markdown
from bench.papers.tables import PaperTable, table_of
from shared.statistics.bootstrap import Resampling
from tests.papers.observations import observed, plan, row, several

HOW = Resampling(resamples=199)
ABOUT = {"paper": "p", "source": "s", "seed": 0, "confidence": 0.95, "data": []}
MODELS = ("a", "b", "c")


def table(observations: Sequence[Observation], order: Sequence[str] = ()) -> PaperTable:
    return table_of(plan(), observations, HOW, order)


def test_the_order_of_rows_changes_no_byte() -> None:
    found = several(MODELS, 30)
    shuffled = [found[place] for place in np.random.default_rng(1).permutation(len(found))]
    for form in (as_csv, as_jobs):
        assert form([table(found)]) == form([table(shuffled)])
    for written in (as_json, as_markdown):
        assert written(ABOUT, [table(found)]) == written(ABOUT, [table(shuffled)])


def test_the_order_of_models_changes_lines_places_and_no_number() -> None:
    found = several(MODELS, 20)
    first = table(found, MODELS)
    for order in permutations(MODELS):
        other = table(found, order)
        assert [line.place[1] for line in other.lines] == list(order)
        assert {line.place: line for line in other.lines} == {
            line.place: line for line in first.lines
        }
        assert other.differences == first.differences


def test_another_model_changes_no_cell_of_the_others() -> None:
    found = several(MODELS, 20)
    without = [one for one in found if one.model != "b"]
    all_cells = {(line.place, c.column): c.found for line in table(found).lines for c in line.cells}
    for line in table(without).lines:
        for cell in line.cells:
            assert cell.found == all_cells[line.place, cell.column]


def test_equal_rows_have_equal_intervals_and_p_wherever_they_stand() -> None:
    """In another line, another table, another column: a number has one interval."""
    one = several(("a",), 30)
    named = plan()
    again = replace(named, name="again", columns=tuple(
        replace(column, name=f"{column.name}_again") for column in named.columns))  # type: ignore[type-var]  # fmt: skip
    twins = [*one, *(replace(each, model="b") for each in one)]
    other = [replace(each, model="c") for each in several(("a",), 30, seed=9)]
    here, there = (table_of(each, [*twins, *other], HOW) for each in (named, again))
    cells = [
        [(cell.found, cell.p) for cell in line.cells]
        for found in (here, there)
        for line in found.lines
        if line.place[1] in ("a", "b")
    ]
    assert len(cells) == 4
    assert all(line == cells[0] for line in cells)
    gaps = [
        (one.found, one.p) for found in (here, there) for one in found.differences
        if one.second[1] == "c"
    ]  # fmt: skip
    assert gaps[:3] == gaps[3:6] == gaps[6:9] == gaps[9:]


def test_models_that_answer_alike_do_not_differ() -> None:
    one = several(("a",), 30)
    twin = [replace(each, model="b") for each in one]
    for difference in table([*one, *twin]).differences:
        assert difference.found.value == 0
        assert difference.p == 1
        assert difference.p_adjusted == 1


def test_models_that_always_differ_do() -> None:
    rows = [row(number, "hateful" if number % 2 else "non-hateful") for number in range(24)]
    turned = {"hateful": "non-hateful", "non-hateful": "hateful"}
    good = [observed("a", one, one.gold, 0.9) for one in rows]
    bad = [observed("b", one, turned[one.gold or ""], 0.1) for one in rows]
    for difference in table([*good, *bad]).differences:
        assert difference.found.value is not None
        assert difference.found.value > 0.5
        assert difference.p_adjusted is not None
        assert difference.p_adjusted < 0.01


def test_p_values_are_corrected_over_the_whole_table() -> None:
    found = table(several(MODELS, 25)).differences
    assert len(found) == 3 * 3
    raw = [one.p for one in found]
    _, oracle, _, _ = multipletests(raw, method="holm")
    assert [one.p_adjusted for one in found] == pytest.approx(list(oracle))


def test_against_chance_is_one_family_too() -> None:
    cells = [cell for line in table(several(MODELS, 25)).lines for cell in line.cells]
    tested = [cell for cell in cells if cell.p is not None]
    assert [cell.column for cell in tested] == ["score"] * 3
    _, oracle, _, _ = multipletests([cell.p for cell in tested], method="holm")
    assert [cell.p_adjusted for cell in tested] == pytest.approx(list(oracle))


def test_accuracy_and_macro_f1_are_scikit_learns() -> None:
    found = several(MODELS, 40, seed=5)
    for line in table(found).lines:
        own = [one for one in found if one.model == line.place[1] and one.decision is not None]
        gold, decided = [one.row.gold for one in own], [one.decision for one in own]
        cells = {cell.column: cell.found.value for cell in line.cells}
        assert cells["accuracy"] == pytest.approx(accuracy_score(gold, decided))
        assert cells["macro_f1"] == pytest.approx(f1_score(gold, decided, average="macro"))


def test_every_row_is_counted_and_every_cell_names_its_jobs() -> None:
    found = several(("a",), 30, seed=2)
    [line] = table(found).lines
    assert sum(line.outcomes.values()) == 30
    assert line.outcomes["refused"] == sum(one.outcome == "refused" for one in found) > 0
    jobs = {cell["column"]: cell["jobs"] for cell in json.loads(as_jobs([table(found)]))["cells"]}
    for cell in line.cells:
        assert len(jobs[cell.column]) == cell.found.rows
    assert set(jobs["score"]) == {one.jobs[0] for one in found if one.result is not None}


def test_a_model_that_failed_has_a_line_without_numbers() -> None:
    failing = [
        replace(observed("away", row(n)), outcome="failed", error="no such model", jobs=())
        for n in range(4)
    ]
    found = table([*failing, *several(("a",), 4)])
    [line] = [line for line in found.lines if line.place[1] == "away"]
    assert line.outcomes["failed"] == 4
    assert [cell.found.value for cell in line.cells] == [None] * 3
    assert "posts, away: no such model" in as_markdown(ABOUT, [found])
    assert all(one.p is None for one in found.differences)


def test_each_form_has_the_same_numbers() -> None:
    found = table(several(MODELS, 12))
    rows = list(csv.DictReader(io.StringIO(as_csv([found]))))
    lines = json.loads(as_json(ABOUT, [found]))["tables"][0]["lines"]
    assert len(rows) == 9
    for one in rows:
        [line] = [line for line in lines if line["model"] == one["model"]]
        cell = line["cells"][one["column"]]
        assert float(one["value"]) == cell["value"]
        assert int(one["n"]) == cell["n"]
        assert f"{cell['value']:.3f}" in as_markdown(ABOUT, [found])


def test_rows_of_one_group_are_one_cluster() -> None:
    [line] = table(several(("a",), 20)).lines
    assert {cell.found.clusters for cell in line.cells} <= {9, 10}


def test_lines_that_share_no_row_are_compared_as_two_samples() -> None:
    """Against scipy's permutation test of two means; the order of rows changes nothing."""
    random = np.random.default_rng(8)
    score = plan().columns[0]
    assert isinstance(score, MeanColumn)
    low, high = (
        [
            observed("m", row(n), score=float(value))
            for n, value in zip(numbers, values, strict=True)
        ]
        for numbers, values in (
            (range(12), random.random(12) * 0.8),
            (range(50, 59), random.random(9) * 0.8 + 0.2),
        )
    )
    found = score.contrast(high, low, Resampling(resamples=1_999))
    values = [[one.result.score for one in some] for some in (high, low)]
    gap = float(np.mean(values[0]) - np.mean(values[1]))
    assert found.difference.value == pytest.approx(gap)
    oracle = permutation_test(
        values, lambda a, b: np.mean(a) - np.mean(b), n_resamples=9_999, rng=random
    )
    assert found.p == pytest.approx(oracle.pvalue, abs=0.04)
    assert score.contrast(high[::-1], low[::-1], Resampling(resamples=1_999)) == found
    alike = score.contrast(low, [replace(one, row=row(99 + n)) for n, one in enumerate(low)],
                           HOW)  # fmt: skip
    assert alike.difference.value == pytest.approx(0.0)
    assert alike.p == 1
    assert score.contrast(low, [], HOW).p is None
