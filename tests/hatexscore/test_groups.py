"""Laws of target-group identification, then the golden cases. Examples are mild on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.hatexscore.group_terms import load_cues, read_passage
from services.hatexscore.groups import find_mentions, target_group_identified
from services.hatexscore.lexicon import available, custom_lexicon, load_lexicon
from services.hatexscore.variant_paper import mentions_as_printed
from services.hatexscore.words import Language, detect_language
from tests.hatexscore.naming import found_in, identified, quoted

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "hatexscore_cases.json"
CASES: list[dict[str, Any]] = (
    json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"] if GOLDEN.exists() else []
)
LANGUAGES: list[Language] = ["en", "zh", "ko"]
PAIRS = [(policy, language) for policy, found in available().items() for language in found]

ATTACK = {
    "en": "The phrase attacks {} people.",
    "zh": "这段文字攻击{}，属于仇恨言论。",
    "ko": "이 글은 {} 집단을 공격한다.",
}
DENIAL = {
    "en": "The phrase does not attack {} people.",
    "zh": "这段文字没有攻击{}。",
    "ko": "이 글은 {} 집단을 공격하지 않는다.",
}
AFTERWARDS = {
    "en": 'I like tea. {} people live here. "x" is a word.',
    "zh": "我喜欢茶。{}住在这里。天气很好。",
    "ko": "나는 차를 좋아한다. {} 사람이 여기 산다. 날씨가 좋다.",
}


def written(term: str, language: Language) -> str:
    """As one writes it: "Turkey", "AIDS"; other terms stand as they do in the list."""
    known = load_cues(language)
    if term in known.needs_upper:
        return term.upper()
    return term.capitalize() if term in known.needs_capital else term


def test_every_group_of_a_list_is_found_when_attacked() -> None:
    for policy, language in PAIRS:
        for kind in ["term", "added", "demonym"]:
            missed = []
            for entry in load_lexicon(policy, language).entries():
                if entry.kind != kind:
                    continue
                term = written(entry.term, language)
                text = ATTACK[language].format(term)
                start = text.index(term)
                found = found_in(text, policy, language=language)
                if not any(
                    m.counts and m.start == start and m.end >= start + len(term) for m in found
                ):
                    missed.append(entry.term)
            assert missed == []


def test_a_denied_group_never_counts() -> None:
    for policy, language in PAIRS:
        for hateful in [True, False]:
            wrong = []
            for entry in load_lexicon(policy, language).entries():
                text = DENIAL[language].format(written(entry.term, language))
                found = found_in(text, policy, hateful=hateful, language=language)
                wrong += [entry.kind for mention in found if mention.counts]
            assert wrong == []


def test_a_group_away_from_any_attack_is_no_target() -> None:
    for policy, language in PAIRS:
        wrong = []
        for entry in load_lexicon(policy, language).entries():
            if entry.kind in ("term", "demonym"):
                text = AFTERWARDS[language].format(written(entry.term, language))
                found = found_in(text, policy, language=language)
                wrong += [entry.term for mention in found if mention.counts]
        assert wrong == []


def test_a_slur_identifies_nobody() -> None:
    for policy, language in PAIRS:
        for entry in load_lexicon(policy, language).entries():
            if entry.kind == "slur_alias":
                (mention,) = found_in(
                    ATTACK[language].format(entry.term), policy, language=language
                )
                assert (mention.found_as, mention.group) == ("slur_alias", entry.group)
                assert not mention.counts


ENGLISH = ["Muslims ", "black ", "people", " not ", "attacks ", ", ", ". ", '"', "non-", "race "]
OTHERS = ["穆斯林", "没有", "攻击", "种族", "女", "。", "무슬림을 ", "공격하지 ", "않는다", "인종 "]
FRAGMENTS = st.lists(
    st.one_of(st.text(max_size=6), st.sampled_from(ENGLISH + OTHERS)), max_size=15
).map("".join)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=80)
@given(text=FRAGMENTS, hateful=st.booleans())
def test_any_text_is_survived_and_offsets_are_exact(
    language: Language, text: str, hateful: bool
) -> None:
    lexicon, passage = load_lexicon("un", language), read_passage(text, language, quoted(text))
    for judge in (find_mentions, mentions_as_printed):
        found = judge(passage, lexicon, hateful=hateful)
        assert all(text[m.start : m.end] == m.text and m.reason for m in found)
        ends = [0, *(m.end for m in found)]
        assert all(m.start >= end for m, end in zip(found, ends[:-1], strict=True))


def test_two_groups_side_by_side_are_two_mentions() -> None:
    found = found_in("It calls black Muslims a plague.", language="en")
    assert [one.text for one in found] == ["black", "Muslims"]


def test_unrelated_text_moves_offsets_and_nothing_else() -> None:
    for text, around in [
        ("The phrase attacks Muslims and whites.", "Tea is nice.\n"),
        ("这段文字攻击穆斯林。", "茶很好。\n"),
        ("이 글은 무슬림을 공격한다.", "차가 좋다.\n"),
    ]:
        language = detect_language(text)
        alone = found_in(text, language=language)
        framed = found_in(f"{around}{text}\n{around}", language=language)
        assert alone
        assert [(m.start - len(around), m.text, m.counts, m.reason) for m in framed] == [
            (m.start, m.text, m.counts, m.reason) for m in alone
        ]


@settings(max_examples=40)
@given(text=FRAGMENTS)
def test_a_hateful_prediction_asks_for_more(text: str) -> None:
    for language in LANGUAGES:
        strict = found_in(text, hateful=True, language=language)
        lenient = found_in(text, hateful=False, language=language)
        assert [m.start for m in strict] == [m.start for m in lenient]
        assert all(
            easy.counts or not hard.counts for hard, easy in zip(strict, lenient, strict=True)
        )


def test_how_a_group_was_found() -> None:
    text = "It attacks a Muslim, Christians, Mexicans, women and their religious group."
    found = {mention.text: mention for mention in found_in(text)}
    assert {name: mention.found_as for name, mention in found.items()} == {
        "Muslim": "term",
        "Christians": "plural",
        "Mexicans": "demonym",
        "women": "added",
        "religious": "category_term",
    }
    assert found["Mexicans"].group == "mexico"
    assert found["Mexicans"].category == "National"


def test_groups_of_ones_own() -> None:
    lexicon = custom_lexicon({"teams": ["red fan", "左撇子"]})
    english = find_mentions(read_passage("It mocks Red Fans.", "en", ()), lexicon, hateful=True)
    chinese = find_mentions(read_passage("该文本侮辱左撇子。", "zh", ()), lexicon, hateful=True)
    assert [(m.text, m.counts) for m in english + chinese] == [("Red Fans", True), ("左撇子", True)]


def test_paper_reads_trigrams_of_printed_terms_only() -> None:
    lexicon = load_lexicon("un", "en")
    text = "It does not mock Muslims, women or the Democratic Republic of the Congo."
    passage = read_passage(text, "en", ())
    found = mentions_as_printed(passage, lexicon, hateful=True)
    assert [m.text for m in found] == ["Muslims"]
    assert not found[0].counts  # its sentence denies the attack
    assert mentions_as_printed(passage, lexicon, hateful=False)[0].counts  # Eq. 4 alone


def test_paper_looks_inside_quotations() -> None:
    text = 'The phrase "white bubble" is an insult.'
    lexicon = load_lexicon("un", "en")
    found = mentions_as_printed(read_passage(text, "en", quoted(text)), lexicon, hateful=True)
    assert target_group_identified(found)
    assert not identified(text)


@pytest.mark.skipif(not CASES, reason="golden data is not shipped")
def test_golden() -> None:
    for case in CASES:
        hateful = case["predicted_label"] == "hateful"
        assert identified(case["explanation"], hateful=hateful) == bool(case["expected"]["TGI"])
