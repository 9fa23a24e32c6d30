"""Controls of `/try`: every example fills them, and what they say is the request again."""

from __future__ import annotations

import pytest

from services.gateway.pages.form_controls import PREFIX, form_inputs
from services.gateway.pages.try_it import body_of, fill_form, sent
from services.registry import metrics, page_details


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_form_says_the_example_that_fills_it(metric: str) -> None:
    contract = metrics()[metric]
    for example in contract.examples.values():
        form = fill_form(contract, example)
        typed = form.values | {f"{PREFIX}{name}": one for name, one in form.controls.items()}
        again = sent(contract, typed | {"rest": form.rest})
        wanted = contract.request.model_validate(page_details(metric) | dict(example))
        assert contract.request.model_validate(body_of(contract, again)) == wanted


def test_numbers_have_their_bounds_and_choices_their_words() -> None:
    found = {one.name: one for one in form_inputs("hatexscore")}
    assert (found["tau"].kind, found["tau"].low, found["tau"].high) == ("number", 0, 1)
    assert found["seed"].whole
    assert "robust" in found["variant"].choices
    assert found["other_variants"].kind == "switch"
    assert found["model"].is_basic
    assert "weights" not in found
