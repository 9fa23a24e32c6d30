"""The plain names are complete: every part of every metric has one, and none is of nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from services.gateway.pages import templates
from services.gateway.pages.terms import WORDS, terms
from services.haf.conversation import load_prompts
from services.haf.verdict import LEADS_TO
from services.registry import metrics, reported


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_every_part_of_every_contract_has_a_plain_name(metric: str) -> None:
    contract = metrics()[metric]
    chance = contract.facts.chance.rpartition(".")[2]
    told = {*contract.parts, *([chance] if chance else [])}
    assert told
    assert set(terms()[metric]) == told


def test_no_terms_are_of_nothing() -> None:
    shown = {name for name, one in reported().items() if one.parts}
    assert {name for name, found in terms().items() if found} == {*shown, WORDS}


def test_every_metric_that_scores_answers_has_a_plain_name() -> None:
    assert set(terms()["explanations"]) == set(reported()["explanations"].parts)


def test_a_name_is_plain_and_its_own() -> None:
    for named in terms().values():
        names = [term.name for term in named.values()]
        assert len(set(names)) == len(names)
        for term in named.values():
            assert term.says.endswith(".")
            assert "_" not in term.name


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_chance_lies_within_the_range(metric: str) -> None:
    for term in terms()[metric].values():
        if term.range is not None and term.level is not None:
            low, high = term.range
            assert low <= term.level <= high


def test_a_field_name_stands_apart_from_the_plain_one() -> None:
    macros: Any = templates.environment().get_template("macros.html").module
    told = re.sub("<[^>]*>", "", str(macros.term(terms()["sor"]["post_words"])))
    assert told.startswith("Words of the post (post words) ")


def test_what_haf_leaves_unused_is_named_by_what_its_stages_ask_for() -> None:
    """Internal information is the text's (section 4.2: "some information in d_in")."""
    asked = load_prompts()["toxic"]
    assert "based solely on the TEXT" in asked["internal"]
    assert "other than what you can identify from the TEXT" in asked["external"]
    assert (LEADS_TO["internal"], LEADS_TO["external"]) == (("uii",), ("uei",))
    named = {part: terms()["haf"][part] for part in ("uii", "uei")}
    assert named["uii"].name == "Text left unused"
    assert named["uei"].name == "Outside knowledge left unused"
    assert {term.better for term in named.values()} == {"lower"}
