"""`touchstone report`: which figures of a report stand in its table."""

from __future__ import annotations

import re
from types import SimpleNamespace

from shared.contracts.reports import Interval, PartSummary
from shared.reports.pages.page_text import p_value
from tests.shared.test_gold_agreement import found, rated, row
from touchstone_client._notebook import parts_without
from touchstone_client.cli.reports import (
    beside_people,
    p_shown,
    parts_in,
)

MEAN = Interval(value=0.4, low=0.2, high=0.6, of=12)


def test_gold_labels_and_ratings_stand_in_the_table() -> None:
    rows = [
        row(number, 0.5, "hateful", metadata={"gold": "hateful" if number % 3 else "non-hateful"})
        for number in range(12)
    ]
    told = {name: value for name, value, *_ in beside_people(SimpleNamespace(gold=found(rows)))}
    assert told["accuracy"] == 8 / 12
    assert {"macro f1", "kappa", "accuracy of all"} <= told.keys()
    of_ratings = {name for name, *_ in beside_people(SimpleNamespace(gold=found(rated(2, 200))))}
    assert {"spearman", "alpha", "agreed", "alpha people"} <= of_ratings
    assert list(beside_people(SimpleNamespace(gold=None))) == []
    assert list(beside_people(SimpleNamespace())) == []


def test_answers_without_a_score_show_the_means_of_their_metrics() -> None:
    none = Interval(value=None, low=None, high=None, of=0)
    mean = {"metric": "hatexscore", "score": MEAN.model_dump()}
    report = SimpleNamespace(score=none, parts={}, details={"scores": [mean]})
    assert list(parts_in(report)) == [("hatexscore", 0.4, 0.2, 0.6, 12)]
    assert next(parts_in(SimpleNamespace(score=MEAN, parts={}, details={})))[0] == "score"


def test_a_p_value_is_never_shown_as_0() -> None:
    assert [p_shown(one) for one in (None, 1, 0.5, 0.001)] == [None, "1.000", "0.500", "0.001"]
    assert p_shown(1e-4) == "< 0.001"
    small = [0.0, *(factor * 10.0**-power for power in range(3, 300, 9) for factor in (1, 3.7))]
    assert all(re.search("[1-9]", str(p_shown(one))) for one in small)
    assert [p_shown(one) for one in small] == [p_value(one) for one in small]


def test_what_does_not_apply_is_told_apart_from_what_is_undefined() -> None:
    parts = {
        "htc": PartSummary(mean=MEAN, undefined=0, not_applicable=0),
        "tgi": PartSummary(mean=MEAN, undefined=2, not_applicable=5),
    }
    report = SimpleNamespace(score=MEAN, parts=parts, details={})
    assert [name for name, *_ in parts_in(report)] == ["score", "htc", "tgi"]
    assert list(parts_without(report)) == [("tgi", 2, 5)]
