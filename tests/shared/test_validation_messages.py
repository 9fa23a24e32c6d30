"""What is wrong with a field is said in words of JSON, never of Python or of pydantic."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core._pydantic_core import list_all_errors

from services.registry import metrics
from shared.contracts.problems import validation_problem
from shared.contracts.validation_messages import SAID

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
