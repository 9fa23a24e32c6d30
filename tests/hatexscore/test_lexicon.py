"""Laws of the group lists: what is printed and what is added stay apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.hatexscore.build_lexicons import FOLDER, build
from services.hatexscore.lexicon import Lexicon, available, custom_lexicon, load_lexicon
from shared.contracts.errors import BadInput

SOURCE = Path(__file__).parents[3] / "shared" / "golden" / "protected_groups.json"
PAIRS = [(policy, language) for policy, found in available().items() for language in found]

needs_source = pytest.mark.skipif(not SOURCE.exists(), reason="golden data is not shipped")


@pytest.fixture(params=PAIRS, ids=lambda pair: ".".join(pair))
def lexicon(request: pytest.FixtureRequest) -> Lexicon:
    return load_lexicon(*request.param)


def test_six_lists() -> None:
    assert available() == {
        "meta": ["en"],
        "twitter": ["en"],
        "un": ["en", "ko", "zh"],
        "youtube": ["en"],
    }


def test_printed_and_added_are_disjoint(lexicon: Lexicon) -> None:
    printed = set(lexicon.printed_terms)
    for entry in lexicon.entries():
        if entry.kind in ("added", "demonym"):
            assert entry.term not in printed


def test_a_slur_is_an_alias_of_a_group_and_no_term(lexicon: Lexicon) -> None:
    entries = lexicon.entries()
    slurs = {entry.term for entry in entries if entry.kind == "slur_alias"}
    named = {entry.term for entry in entries if entry.kind != "slur_alias"}
    assert slurs.isdisjoint(named)
    assert slurs <= set(lexicon.printed_terms)


def test_expressions_are_clean(lexicon: Lexicon) -> None:
    for entry in lexicon.entries():
        assert entry.term == entry.term.strip() != ""
        assert entry.category in lexicon.category_names
        if lexicon.language == "en":
            assert entry.term == entry.term.lower()


def test_every_printed_country_has_a_people() -> None:
    lexicon = load_lexicon("un", "en")
    national = next(category for category in lexicon.categories if category.name == "National")
    without = {"vatican city", "india"}  # no people; "indian" is printed as an ethnic term
    assert {country for _, country in national.demonyms} == set(national.terms) - without


MISSING = ["women", "muslim", "hindu", "buddhist", "sikh", "congo", "cote d'ivoire", "palestine"]
MISSING += ["taiwan", "kosovo", "lgbtq+", "trans people", "people of color", "roma", "mexican"]


def test_what_the_printed_list_misses_is_there() -> None:
    for term in MISSING:
        assert any(entry.term == term for entry in load_lexicon("un", "en").entries())


@needs_source
def test_the_files_are_what_the_script_makes(tmp_path: Path) -> None:
    for made in build(SOURCE, tmp_path):
        assert made.read_bytes() == (FOLDER / made.name).read_bytes()


@needs_source
def test_printed_terms_are_those_of_the_tables(lexicon: Lexicon) -> None:
    policies = json.loads(SOURCE.read_text(encoding="utf-8"))["policies"]
    table = policies[lexicon.policy][lexicon.language]
    printed = {term for category in table.values() for term in category["terms"]}
    slurs = {alias["term"] for row in table.values() for alias in row.get("slur_aliases", [])}
    assert set(lexicon.printed_terms) == printed | slurs
    assert list(lexicon.category_names) == list(table)


def test_a_term_placed_nowhere_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "groups.json"
    source.write_text(json.dumps({"policies": {"un": {"zh": {"别的": {"terms": []}}}}}))
    with pytest.raises(ValueError, match="not printed"):
        build(source, tmp_path)


def test_a_list_that_does_not_exist() -> None:
    for policy, language in [("meta", "zh"), ("nope", "en"), ("../un", "en"), ("", "ko")]:
        with pytest.raises(BadInput, match=r"un \(en, ko, zh\)") as caught:
            load_lexicon(policy, language)
        assert caught.value.pointer == "/policy"


def test_a_list_of_ones_own() -> None:
    lexicon = custom_lexicon({"teams": [" red fans ", "red fans", ""], "empty": []})
    assert lexicon.printed_terms == ("red fans",)
    assert lexicon.category_names == ("teams", "empty")
    assert lexicon.language is None


@pytest.mark.parametrize("dictionary", [{}, {"a": []}, {"a": ["", " "]}])
def test_a_list_of_ones_own_needs_a_term(dictionary: dict[str, list[str]]) -> None:
    with pytest.raises(BadInput) as caught:
        custom_lexicon(dictionary)
    assert caught.value.pointer == "/policy"
