"""Two records differ exactly where an answer changed; what is allowed is overlooked, no more."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from bench import golden_results
from bench.golden import ALLOWED, differences, read
from bench.golden_text import page_lines, resolved, settled, table_rows

Json = dict[str, Any]


def records() -> Json:
    def scored() -> Json:
        provenance = {"metric_version": "1.0", "parameters": {"k": 0.2, "draws": 50}}
        return {"result": {"score": 0.5, "provenance": provenance}}

    interval = {"value": 0.5, "low": 0.4, "high": 0.6, "of": 9}
    plot = {"name": "forest", "svg": "sha256:" + "0" * 64}
    return {
        "score/ice/a": scored(),
        "score/hlv/a": scored(),
        "report/ice": {"score": interval, "plots": [plot]},
        "lines/ice/1": ["<td>", "0.5 [0.4, 0.6]"],
        "page/ice/a": ["<p>", "a word"],
    }


def changed(change: Callable[[Json], Any]) -> tuple[Json, Json]:
    """Where records differ after the change: strictly, and with what is allowed."""
    new = copy.deepcopy(records())
    change(new)
    return differences(records(), new, None), differences(records(), new, ALLOWED)


def parameters(found: Json, metric: str) -> Json:
    return found[f"score/{metric}/a"]["result"]["provenance"]["parameters"]  # type: ignore[no-any-return]


def reversed_parameters(found: Json) -> None:
    own = parameters(found, "ice")
    found["score/ice/a"]["result"]["provenance"]["parameters"] = dict(reversed(own.items()))


ALLOWED_CHANGES: list[Callable[[Json], Any]] = [
    lambda found: parameters(found, "ice").update(token_values=False),
    reversed_parameters,
    lambda found: found["report/ice"]["score"].update(low=0.41, high=0.59),
    lambda found: found["report/ice"]["plots"][0].update(svg="sha256:" + "1" * 64),
    lambda found: found["lines/ice/1"].__setitem__(1, "0.5 [0.41, 0.59]"),
]
FAULTS: list[tuple[Callable[[Json], Any], str]] = [
    (lambda found: parameters(found, "hlv").update(token_values=False), "token_values"),
    (lambda found: parameters(found, "ice").pop("k"), "k"),
    (lambda found: parameters(found, "ice").update(k=0.3), "/result/provenance/parameters/k: 0.2"),
    (lambda found: found["score/ice/a"]["result"].update(score=0.5 + 1e-12), "/result/score"),
    (lambda found: found["report/ice"]["score"].update(value=0.51), "/score/value"),
    (lambda found: found["report/ice"]["score"].update(low=0.2), "/score/low"),
    (lambda found: found["report/ice"]["plots"][0].update(name="tree"), "/plots/0/name"),
    (lambda found: found["lines/ice/1"].__setitem__(1, "0.5 to 0.6"), "/1: "),
    (lambda found: found["page/ice/a"].__setitem__(1, "a turn"), "/1: 'a word' and 'a turn'"),
    (lambda found: found.pop("page/ice/a"), "is no more"),
]


@pytest.mark.parametrize("change", ALLOWED_CHANGES)
def test_what_is_allowed_is_overlooked_and_only_then(change: Callable[[Json], Any]) -> None:
    strictly, overlooked = changed(change)
    assert len(strictly) == 1
    assert overlooked == {}


@pytest.mark.parametrize(("change", "told"), FAULTS)
def test_all_else_is_found(change: Callable[[Json], Any], told: str) -> None:
    for apart in changed(change):
        [place] = apart.values()
        assert told in place


def test_recorded_results_are_made_again() -> None:
    """Of every metric, variant and batch report: `python -m bench.golden_results` records them."""
    recorded = read(golden_results.FILE, "")
    assert len(recorded) >= 60
    again = dict(golden_results.entries())
    assert differences(twelve_digits(recorded), twelve_digits(again), None) == {}


def twelve_digits(entries: Json) -> Json:
    """Round every number: processors add in different orders, so the last bits differ."""
    text = json.dumps(entries)
    rounded: Json = json.loads(text, parse_float=lambda number: float(f"{float(number):.12g}"))
    return rounded


def test_only_a_model_without_promise_has_a_tolerance() -> None:
    def record(numerics: str, score: float, name: str = "embedded-hate") -> Json:
        use = {"name": name, "dtype": "float32", "numerics": numerics}
        return {"score/x": {"score": score, "models": [use]}}

    assert not differences(record("tolerance", 0.5), record("tolerance", 0.5 + 1e-6), None)
    assert differences(record("bytes", 0.5), record("bytes", 0.5 + 1e-6), None)
    scripted = [record("tolerance", score, "scripted") for score in (0.5, 0.5 + 1e-6)]
    assert differences(scripted[0], scripted[1], None)


def test_ids_times_and_addresses_do_not_count() -> None:
    job = "job_" + "0" * 32
    assert settled({"error_id": "x", "detail": f"{job} at http://127.0.0.1:1234/a"}) == {
        "detail": "job_ID at http://service/a"
    }
    html = f"<main>\n<h1>  {job}</h1> <time datetime='1'>now</time></main> <p>foot"
    assert page_lines(html) == ["<main>", "<h1> job_ID", "</h1>", "<time>"]
    assert table_rows("a,0.5\nb,0.50\n") == [["a", 0.5], ["b", "0.50"]]


def test_schemas_stand_in_place_of_their_names() -> None:
    schemas = {
        "Tree": {
            "title": "Tree",
            "properties": {
                "title": {"title": "Title"},
                "of": {"$ref": "#/components/schemas/Tree"},
            },
        }
    }
    assert resolved({"$ref": "#/components/schemas/Tree"}, schemas) == {
        "properties": {"title": {"title": "Title"}, "of": {"recursive": 1}}
    }
