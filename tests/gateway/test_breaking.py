"""What breaks clients is seen, and is named in the changelog or refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.gateway.breaking import taken_away, unnamed
from tests.gateway.examples import STORED

CHANGELOG = "# Changelog\n\n## Unreleased\n\n- `effect` is gone.\n\n## 1.0\n\n- `score_ice` came.\n"


@pytest.fixture
def stored() -> Any:
    return json.loads(STORED.read_text("utf-8"))


def test_nothing_is_taken_away_by_what_is_added(stored: Any) -> None:
    more = copy.deepcopy(stored)
    more["components"]["schemas"]["IceResult"]["properties"]["more"] = {"type": "string"}
    more["components"]["schemas"]["IceResult"]["required"].append("more")
    more["components"]["schemas"]["New"] = {"type": "string"}
    assert taken_away(stored, stored) == taken_away(stored, more) == []
    assert taken_away(more, stored) == ["IceResult.more", "New"]


def test_an_operation_a_field_and_a_word_are_missed(stored: Any) -> None:
    less = copy.deepcopy(stored)
    del less["paths"]["/v1/scores/ice"]["post"]
    schemas = less["components"]["schemas"]
    del schemas["IceTest"]["properties"]["effect"]
    schemas["IceResult"]["properties"]["verdict"]["enum"].remove("undefined")
    del schemas["IceArea"]
    lost = taken_away(stored, less)
    assert set(lost) == {"score_ice", "IceTest.effect", "IceResult.verdict=undefined", "IceArea"}
    assert set(unnamed(lost, CHANGELOG)) == set(lost) - {"IceTest.effect"}
