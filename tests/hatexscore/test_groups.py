"""Laws of target-group identification, then the golden cases. Examples are mild on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.hatexscore.contract import POLICY_LANGUAGES
from services.hatexscore.groups import MOST_ASKED, GroupText, names_target, read_mentions
from services.hatexscore.lexicon import custom_lexicon, load_lexicon
from services.hatexscore.variant_paper import mentions_as_printed
from services.hatexscore.words import Language
from shared.models.ports import Models
from tests.hatexscore.fake import FakeClassifier, FakeModels, FakeReader, binding, bound
from tests.hatexscore.naming import found_in, identified

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "hatexscore_cases.json"
CASES: list[dict[str, Any]] = (
    json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"] if GOLDEN.exists() else []
)
LANGUAGES: list[Language] = ["en", "zh", "ko"]
PAIRS = [(policy, language) for policy, found in POLICY_LANGUAGES.items() for language in found]
ATTACK = {
    "en": "The phrase attacks {} people.",
    "zh": "这段文字攻击{}，属于仇恨言论。",
    "ko": "이 글은 {} 집단을 공격한다.",
}


def test_a_slur_identifies_nobody() -> None:
    with bound(FakeClassifier()):
        for policy, language in PAIRS:
            for entry in load_lexicon(policy, language).entries():
                if entry.kind == "slur_alias":
                    text = ATTACK[language].format(entry.term)
                    (mention,) = found_in(text, policy, language=language)
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
    lexicon = load_lexicon("un", language)
    with bound(FakeClassifier()):
        read = found_in(text, language=language, hateful=hateful)
        printed = mentions_as_printed(text, language, lexicon, hateful=hateful)
    for found in (read, printed):
        assert all(text[m.start : m.end] == m.text and m.reason for m in found)
        ends = [0, *(m.end for m in found)]
        assert all(m.start >= end for m, end in zip(found, ends[:-1], strict=True))


def test_two_groups_side_by_side_are_two_mentions() -> None:
    found = found_in("It calls black Muslims a plague.", language="en")
    assert [one.text for one in found] == ["black", "Muslims"]


@settings(max_examples=40)
@given(text=FRAGMENTS)
def test_a_hateful_prediction_asks_for_more(text: str) -> None:
    with bound(FakeClassifier()):
        for language in LANGUAGES:
            strict = found_in(text, hateful=True, language=language)
            lenient = found_in(text, hateful=False, language=language)
            assert [m.start for m in strict] == [m.start for m in lenient]
            for hard, easy in zip(strict, lenient, strict=True):
                is_ground = hard.found_as == "category_term"
                assert easy.counts or not hard.counts or is_ground


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
    texts = [
        GroupText("It mocks Red Fans.", "en", lexicon, ()),
        GroupText("该文本侮辱左撇子。", "zh", lexicon, ()),
    ]
    found = [one for each in read_mentions(texts, [True, True]) for one in each]
    assert [(m.text, m.counts) for m in found] == [("Red Fans", True), ("左撇子", True)]


class CountingReader(FakeReader):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def probabilities(self, texts: Any) -> Any:
        self.asked += texts
        return super().probabilities(texts)


def test_so_many_mentions_are_read_and_no_more() -> None:
    reader = CountingReader()
    models = FakeModels(FakeClassifier())
    models.classifier = lambda name: reader  # type: ignore[method-assign]
    text = " ".join(f"{number} times it insults Muslims." for number in range(MOST_ASKED + 9))
    with binding(cast(Models, models)):
        found = found_in(text)
    assert [one.counts for one in found] == [True] * MOST_ASKED + [False] * 9
    assert len(reader.asked) == MOST_ASKED
    assert all("[[Muslims]]" in one and len(one) < 300 for one in reader.asked)


LINES = (
    "{key}: {group}",
    "- {key}: {group}",
    "* **{key}:** {group}",
    "| {key} | {group} |\n|---|---|\n| verdict | hateful |",
    "{key} = {group}; label = hateful",
    "{key} -> {group}",
    "[{key}] {group} [LABEL] hateful",
    "label: hateful, {key}: {group}",
)
OTHER_FORMS = (
    "| id | {key} | label |\n|---|---|---|\n| 1 | {group} | hateful |",
    "id,{key},label\n7,{group},hateful",
    "{key}:\n- {group}\nlabel: hateful",
)
TARGET_KEYS = ("target", "Targets", "target_group", "Protected group", "victims")


def test_a_field_of_the_target_needs_no_reading() -> None:
    for form in LINES:
        for key in TARGET_KEYS:
            text = form.format(key=key, group="Muslims")
            assert names_target(text, text.index("Muslims")) is True
        for key in ("mentioned", "groups mentioned", "speaker", "not targeted", "quote"):
            text = form.format(key=key, group="Muslims")
            assert names_target(text, text.index("Muslims")) is None
    for none in ("target: none, Muslims are praised", "victims: n/a, though Muslims come up"):
        assert names_target(none, none.index("Muslims")) is False


def test_tables_and_lists_of_targets_are_read() -> None:
    for form in OTHER_FORMS:
        assert all(identified(form.format(key=key, group="Muslims")) for key in TARGET_KEYS)


def test_paper_reads_trigrams_of_printed_terms_only() -> None:
    lexicon = load_lexicon("un", "en")
    text = "It does not mock Muslims, women or the Democratic Republic of the Congo."
    found = mentions_as_printed(text, "en", lexicon, hateful=True)
    assert [m.text for m in found] == ["Muslims"]
    assert not found[0].counts  # the reader reads no attack
    assert mentions_as_printed(text, "en", lexicon, hateful=False)[0].counts  # Eq. 4 alone


def test_paper_looks_inside_quotations() -> None:
    text = 'The phrase "white bubble" is an insult.'
    lexicon = load_lexicon("un", "en")
    found = mentions_as_printed(text, "en", lexicon, hateful=True)
    assert any(mention.counts for mention in found)
    assert not identified(text)


@pytest.mark.skipif(not CASES, reason="golden data is not shipped")
def test_golden() -> None:
    wrong = [
        case["id"]
        for case in CASES
        if identified(case["explanation"], hateful=case["predicted_label"] == "hateful")
        != bool(case["expected"]["TGI"])
    ]
    assert len(wrong) <= 1, wrong
