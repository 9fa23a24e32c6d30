"""Rows to requests, results to columns; what a mapping does to a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.gateway.results import recorded
from touchstone_client import BadRequest, Scores, models
from touchstone_client._tables import Framed, Listed, flat
from touchstone_client._wire import encoded, job_of
from touchstone_client.data.frames import frame_of
from touchstone_client.data.mapping import ColumnMapping


def result_of(metric: str) -> Any:
    """A recorded one, of its own type."""
    return job_of(recorded(f"score_{metric}")).result


def framed(data: Any, columns: Any) -> Framed:
    found = frame_of(data)
    assert found is not None
    return Framed(found, "hatexscore", columns)


@pytest.mark.parametrize("empty", [None, math.nan, np.nan, pd.NaT])
def test_an_empty_cell_is_not_sent(empty: Any) -> None:
    assert ColumnMapping({"text": "a", "explanation": "b"}).request({"a": "x", "b": empty}) == {
        "text": "x"
    }


def test_what_a_mapping_can_say() -> None:
    row = {"body": "x", "flag": 1, "model": "v7", "market": None, "spans": [{"start": 0, "end": 1}]}
    columns = {
        "text": "body",
        "decision": {"column": "flag", "values": {"1": "hateful"}},
        "seed": {"value": 7},
        "metadata": ["model", "market"],
        "rationale": "spans",
    }
    assert ColumnMapping(columns).request(row) == {
        "text": "x",
        "decision": "hateful",
        "seed": 7,
        "metadata": {"model": "v7"},
        "rationale": [{"start": 0, "end": 1}],
    }


def test_numbers_of_numpy_can_be_sent() -> None:
    values = {"a": np.int64(3), "b": np.float64(0.5), "c": np.array([1, 2]), "d": np.bool_(True)}
    assert encoded(values) == b'{"a": 3, "b": 0.5, "c": [1, 2], "d": true}'
    with pytest.raises(TypeError, match="set"):
        encoded({"a": {1}})
    with pytest.raises(ValueError, match="JSON"):
        encoded({"a": math.inf})


def test_columns_are_found_by_their_names() -> None:
    frame = pd.DataFrame({"text": ["a"], "explanation": ["b"], "other": ["c"], "seed": [3]})
    (row,) = framed(frame, None).rows()
    assert row.fields == {"text": "a", "explanation": "b", "seed": 3}
    with pytest.raises(ValueError, match="explanation"):
        framed(frame.drop(columns="explanation"), None)
    with pytest.raises(ValueError, match="'nowhere'"):
        framed(frame, {"text": "nowhere"})
    with pytest.warns(UserWarning, match="text is body"):
        framed(frame.rename(columns={"text": "body"}), None)


@pytest.mark.parametrize(
    "metric", ["hatexscore", "ice", "haf", "ftc", "hlv", "cot2el", "sor", "consistency"]
)
def test_a_result_becomes_columns_of_scalars(metric: str) -> None:
    result = result_of(metric)
    found = flat(result, "job_1")
    assert found["score"] == result.score
    assert found["verdict"] == result.verdict
    scalars = (type(None), bool, int, float, str)
    assert all(isinstance(value, scalars) for value in found.values())


def test_an_elicited_answer_becomes_columns() -> None:
    """Of the names that `items.csv` has for them."""
    result = job_of(recorded("ask_explanations")).result
    assert result is not None
    found = flat(result, "job_1")
    assert found["elicitation.outcome"] == result.elicitation.outcome
    assert found["elicitation.explanation"] == result.elicitation.explanation
    for one in result.scores:
        assert found[f"scores.{one.metric}.score"] == one.score
        assert found[f"scores.{one.metric}.verdict"] == one.verdict
    assert found["score"] is None
    unread = models.ExplanationsUnscored(metric="sor", code="unparsable", detail="no")
    taken = result.model_copy(update={"scores": [], "unscored": [unread]})
    assert flat(taken, "job_1")["unscored.sor"] == "unparsable"


def test_results_are_in_order_however_they_come() -> None:
    table = Listed([{"text": "a"}] * 3, None)
    error = BadRequest(422, {"detail": "no"})
    result = result_of("hatexscore")
    for index, one in ((2, error), (0, result), (1, result)):
        table.add(index, one, None)
    assert table.finished() == Scores([result, result, error])
    lost = Listed([{}] * 3, None)
    lost.add(2, result, None)
    with pytest.raises(KeyError):
        lost.finished()


def test_no_column_of_the_frame_is_overwritten() -> None:
    frame = pd.DataFrame({"text": ["a"], "explanation": ["b"], "score": ["mine"]}, index=["x"])
    table = framed(frame, None)
    table.add(0, result_of("hatexscore"), "job_1")
    found = table.finished()
    assert found.loc["x", "score"] == "mine"
    assert found.loc["x", "touchstone.score"] == result_of("hatexscore").score
    assert frame_of([1]) is None


@pytest.mark.parametrize("library", ["pandas", "polars", "datasets"])
def test_a_table_of_any_library_becomes_another_of_it(library: str) -> None:
    module = pytest.importorskip(library)
    rows = {"text": ["a", "b"], "explanation": ["c", "d"], "flag": [1, None]}
    table = module.Dataset.from_dict(rows) if library == "datasets" else module.DataFrame(rows)
    columns = {
        "text": "text",
        "explanation": "explanation",
        "decision": {"column": "flag", "values": {"1": "hateful"}},
    }
    frame = framed(table, columns)
    assert [row.fields.get("decision") for row in frame.rows()] == ["hateful", None]
    result = result_of("hatexscore")
    frame.add(1, result, "job_1")
    frame.add(0, BadRequest(422, {"detail": "no"}), None)
    found = frame.finished()
    assert type(found) is type(table)
    assert found["score"][1] == result.score
    assert found["error"][0] == "no"
    assert found["components.qf"][1] == result.components.qf
