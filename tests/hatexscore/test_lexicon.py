"""Laws of the group lists: what is printed and what is added stay apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.generators.group_lists import LANGUAGES, build_printed
from services.hatexscore.contract import POLICY_LANGUAGES
from services.hatexscore.group_terms import find_terms
from services.hatexscore.lexicon import (
    FOLDER,
    NAMES,
    WITHOUT_TABLE,
    Lexicon,
    canonical_group,
    custom_lexicon,
    group_name,
    load_lexicon,
)
from shared.contracts.errors import BadInput

SOURCE = Path(__file__).parents[3] / "shared" / "golden" / "protected_groups.json"
PRINTED = [(policy, language) for policy, found in POLICY_LANGUAGES.items() for language in found]
PAIRS = [*PRINTED, *(("un", language) for language in WITHOUT_TABLE)]
CASES = json.loads((Path(__file__).parent / "data" / "group_names.json").read_text("utf-8"))

needs_source = pytest.mark.skipif(not SOURCE.exists(), reason="golden data is not shipped")


@pytest.fixture(params=PAIRS, ids=lambda pair: ".".join(pair))
def lexicon(request: pytest.FixtureRequest) -> Lexicon:
    return load_lexicon(*request.param)


def test_a_name_of_a_group_is_its_own_name_and_synonyms_share_it(lexicon: Lexicon) -> None:
    groups = {entry.group for entry in lexicon.entries()}
    for group in groups:
        name = group_name(group)
        assert group_name(name) == name
        assert canonical_group(name) == canonical_group(group)


@pytest.mark.parametrize(
    ("text", "name"),
    [("gays, gay people, homosexuals", "gay"), ("Africans, African Americans, blacks", "black"),
     ("Islam, Muslims, Muslim people", "muslim"), ("women, girls", "women")],
)  # fmt: skip
def test_synonyms_are_one_group(text: str, name: str) -> None:
    matches = find_terms(text, "en", load_lexicon("un", "en"))
    assert {group_name(match.entry.group) for match in matches} == {name}
    assert len(matches) == text.count(",") + 1


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
        if entry.kind == "term" and lexicon.language == "en":
            assert entry.term == entry.term.lower()


def test_every_printed_country_has_a_people() -> None:
    lexicon = load_lexicon("un", "en")
    national = [entry for entry in lexicon.entries() if entry.category == "National"]
    countries = {entry.term for entry in national if entry.kind == "term"}
    # No people; "indian" is printed as an ethnic term; "dominican" is of the Dominican Republic.
    without = {"vatican city", "india", "dominica"}
    assert {entry.group for entry in national if entry.kind == "demonym"} >= countries - without


MISSING = ["women", "muslim", "hindu", "buddhist", "sikh", "congo", "cote d'ivoire", "palestine"]
MISSING += ["taiwan", "kosovo", "lgbtq+", "trans people", "people of color", "roma", "mexican"]


def test_what_the_printed_list_misses_is_there() -> None:
    for term in MISSING:
        assert any(entry.term == term for entry in load_lexicon("un", "en").entries())


@needs_source
def test_the_files_are_what_the_script_makes(tmp_path: Path) -> None:
    for made in build_printed(SOURCE, tmp_path):
        assert made.read_bytes() == (FOLDER / made.name).read_bytes()


@needs_source
@pytest.mark.parametrize("pair", PRINTED, ids=".".join)
def test_printed_terms_are_those_of_the_tables(pair: tuple[str, Any]) -> None:
    lexicon = load_lexicon(*pair)
    policies = json.loads(SOURCE.read_text(encoding="utf-8"))["policies"]
    table = policies[pair[0]][pair[1]]
    printed = {term for category in table.values() for term in category["terms"]}
    slurs = {alias["term"] for row in table.values() for alias in row.get("slur_aliases", [])}
    assert set(lexicon.printed_terms) == printed | slurs
    assert list(lexicon.category_names) == list(table)


def test_a_term_placed_nowhere_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "groups.json"
    source.write_text(json.dumps({"policies": {"un": {"zh": {"别的": {"terms": []}}}}}))
    with pytest.raises(ValueError, match="does not list"):
        build_printed(source, tmp_path)


@pytest.mark.parametrize("language", WITHOUT_TABLE)
def test_a_language_without_a_table_has_names_in_the_english_categories(language: Any) -> None:
    lexicon = load_lexicon("un", language)
    assert lexicon.category_names == load_lexicon("un", "en").category_names
    assert lexicon.printed_terms == ()


def test_each_file_of_names_gives_its_sources_and_licences() -> None:
    for language in LANGUAGES:
        about = json.loads((NAMES / f"{language}.json").read_text("utf-8"))["about"]
        assert "Unicode License v3" in about
        assert "MIT" in about


def named(sentence: str, language: Any) -> list[str]:
    """The expressions that a sentence is found to name."""
    policy = "un" if language in ("zh", "ko") else "youtube"  # YouTube's protects age, too
    matches = find_terms(sentence, language, load_lexicon(policy, language))
    return [sentence[match.start : match.end] for match in matches]


FRAMES = {"zh": "这条帖子侮辱了{}。", "ko": "이 글은 {} 집단을 모욕한다."}


def test_names_of_groups_are_found_in_eight_languages() -> None:
    cases = [(language, name) for language, names in CASES.items() for name in names]
    missed = [
        (language, name)
        for language, name in cases
        if not named(FRAMES.get(language, "… {} …").format(name), language)
    ]
    assert len(cases) == 90
    assert len(missed) <= 2, missed


ORDINARY = {
    "en": "The page is polished, and nobody is late for the meeting in the market hall.",
    "zh": "今天天气很好，我们去公园散步，然后喝茶。",
    "ko": "오늘은 날씨가 좋아서 공원에서 차를 마셨다.",
    "de": "Die alte Brücke ist lang, und wir gehen heute über den weißen Weg zum Bahnhof.",
    "fr": "La réunion commence tard et le train noir arrive à la gare.",
    "es": "La lista negra del mercado está en la mesa, y el tren llega tarde.",
    "it": "Il treno arriva tardi e la lista nera si trova sul tavolo.",
    "pt": "O trem chega tarde e a lista está sobre a mesa do mercado.",
}


def test_ordinary_sentences_name_nobody() -> None:
    for language, sentence in ORDINARY.items():
        assert named(sentence, language) == []


def test_case_accents_and_hyphens_do_not_matter_but_a_german_capital_does() -> None:
    assert named("les ALGERIENS et les afro descendants", "fr") == ["ALGERIENS", "afro descendants"]
    assert named("asylum-seekers and Asylum Seekers", "en") == ["asylum-seekers", "Asylum Seekers"]
    assert named("Schwarze und deutsche Männer", "de") == ["Schwarze", "deutsche", "Männer"]
    assert named("eine schwarze Liste", "de") == []


def test_a_list_that_does_not_exist() -> None:
    for policy, language in [("meta", "zh"), ("nope", "en"), ("../un", "en"), ("", "ko")]:
        with pytest.raises(BadInput, match=r"un \(en, ko, zh\)") as caught:
            load_lexicon(policy, language)
        assert caught.value.pointer == "/options/policy"


def test_a_list_of_ones_own() -> None:
    lexicon = custom_lexicon({"teams": ["red fans", "red fans"], "empty": []})
    assert lexicon.printed_terms == ("red fans",)
    assert lexicon.category_names == ("teams", "empty")
    assert lexicon.language is None
