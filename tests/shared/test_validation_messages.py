"""What is wrong with a field is said in words of JSON, never of Python or of pydantic."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core._pydantic_core import list_all_errors

from services.registry import metrics
from shared.contracts.messages import Message
from shared.contracts.problems import validation_problem
from shared.contracts.validation_messages import SAID, plain

FOREIGN = re.compile(
    r"Input should|Value error|String should|Tuple|Dictionary|Extra inputs|after validation|"
    r"pydantic|unable to parse|valid (string|integer|number|boolean|array)"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def test_every_kind_is_one_of_pydantics_and_has_what_it_is_said_with() -> None:
    known = {str(error["type"]): error["example_context"] or {} for error in list_all_errors()}
    for kind, said in SAID.items():
        assert said.format(**known[kind])


@pytest.mark.parametrize("name", sorted(metrics()))
@given(data=st.data())
def test_whatever_stands_in_a_field_is_refused_in_plain_words(
    name: str, data: st.DataObject
) -> None:
    request = metrics()[name].request
    example = next(iter(metrics()[name].examples.values()))
    field = data.draw(st.sampled_from(sorted(request.model_fields)))
    body = {**example, field: data.draw(JSON)}
    try:
        request.model_validate(body)
    except ValidationError as error:
        found = validation_problem(error, body)
        places = [one["pointer"] for one in found["errors"]]
        assert len(places) == len(set(places))
        said = "; ".join(one["detail"] for one in found["errors"])
        assert not FOREIGN.search(said), said


class Wanted(Message):
    """A little of everything."""

    model_config = ConfigDict(extra="forbid")

    count: int = Field(default=1, ge=1, le=9)
    share: Literal["all"] | list[float] = "all"
    names: tuple[str, ...] = Field(default=("a",), min_length=1, max_length=2)
    endpoint: Annotated[str, StringConstraints(pattern=r"^we_[0-9a-f]{32}$")] | None = None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"count": 0}, "must be at least 1"),
        ({"count": 10}, "must be at most 9"),
        ({"count": "x"}, "must be a whole number"),
        ({"names": []}, "must not be empty"),
        ({"names": ["a", "b", "c"]}, "must have at most 2 entries"),
        ({"nobody": 1}, "there is no such field"),
        ({"share": 1}, "must be 'all', or must be a list"),
        ({"endpoint": "we_1"}, "must be we_ and 32 of the digits 0 to 9 and a to f"),
    ],
)
def test_in_words(body: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Wanted.model_validate(body)
    assert validation_problem(caught.value, body)["detail"] == said


def test_what_we_say_ourselves_stays_as_it_is() -> None:
    assert plain({"type": "value_error", "msg": "Value error, it is late"}) == "it is late"
    assert plain({"type": "missing", "msg": "Field required"}) == "Field required"
