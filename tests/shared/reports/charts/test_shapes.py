"""Bars and slopes: well-formed pictures with every name and number in them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from shared.contracts.null_report import Histogram
from shared.reports.charts.engine import BLUE, GREY, ORANGE, Caption, Chart
from shared.reports.charts.shapes import bars, histogram, slope


def words(chart: Chart) -> list[str]:
    """Every text in the picture, in the order in which it is drawn."""
    root = ElementTree.fromstring(str(chart.svg))  # noqa: S314 (our own picture)
    return [node.text or "" for node in root.iter() if node.tag.endswith("text")]


def test_every_bar_is_named_and_numbered() -> None:
    series = [
        ("before", {"yes": 0.27, "no": 0.73}),
        ("after", {"yes": 0.91, "no": 0.09}),
        ("demanded", {"yes": 1.0, "no": 0.0}),
    ]
    chart = bars(series, Caption("Answers", "said", "probability"), top=1)
    said = words(chart)
    assert [said.count(name) for name in ("before", "after", "demanded")] == [2, 2, 2]
    assert [said.count(name) for name in ("yes", "no", "0.27", "0.73", "0.09")] == [1] * 5
    assert "probability" in said
    assert all(colour in chart.svg for colour in (GREY, BLUE, ORANGE))
    assert said.index("yes") < said.index("no")
    assert " style=" not in chart.svg


def test_values_below_zero_have_bars_too() -> None:
    chart = bars([("one", {"A": -2.0, "B": 5.0})], Caption("t", "s", "rating"))
    assert {"-2.00", "5.00"} <= set(words(chart))


def test_a_value_that_is_missing_has_no_bar() -> None:
    series = [("one", {"A": 0.5, "B": 0.5}), ("two", {"A": 1.0})]
    chart = bars(series, Caption("t", "s", "share"), top=1)
    assert [word for word in words(chart) if word in {"0.50", "1.00"}] == ["0.50", "1.00", "0.50"]
    assert chart.table.heads[1:] == ("one", "two")
    assert chart.table.rows == (("A", 0.5, 1.0), ("B", 0.5, None))


def test_options_that_tie_share_a_label() -> None:
    humans = {"A": 1.5, "B": 3.0, "C": 1.5}
    chart = slope([("humans", humans), ("judge", {"A": 1, "B": 2, "C": 3})], title="t", summary="s")
    said = words(chart)
    assert said.count("A, C") == 1
    assert [said.count(key) for key in "ABC"] == [1, 2, 1]
    assert chart.table.rows == (("A", 1.5, 1), ("B", 3.0, 2), ("C", 1.5, 3))
    assert {"humans", "judge", "rank, 1 = best"} <= set(said)


def test_26_options_are_drawn() -> None:
    keys = [chr(ord("A") + place) for place in range(26)]
    ranks = {key: float(place) for place, key in enumerate(keys, 1)}
    backwards = {key: 27 - rank for key, rank in ranks.items()}
    chart = slope([("one", ranks), ("two", backwards)], title="t", summary="s")
    assert set(keys) <= set(words(chart))


def test_the_bars_of_a_histogram_stand_on_the_ground() -> None:
    chart = histogram(Histogram(low=0, high=3, counts=(1, 4, 2)), 1.5, Caption("t", "s", "score"))
    shapes = re.findall(
        r'd="M[\d.]+,([\d.]+)h[\d.]+v([\d.]+)h-[\d.]+Z?"[^>]*var\(--grey\)', chart.svg
    )
    assert chart.table.rows == (("0 to 1", 1), ("1 to 2", 4), ("2 to 3", 2))
    bars_drawn = [(float(top), float(height)) for top, height in shapes]
    assert [height / bars_drawn[0][1] for _, height in bars_drawn] == pytest.approx([1, 4, 2])
    assert len({round(top + height, 6) for top, height in bars_drawn}) == 1
