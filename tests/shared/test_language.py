"""No text is ever printed: the data holds real abuse."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.language import DATA, FILES, measure
from shared.contracts.language_names import NAMES, language_name, language_names
from shared.contracts.messages import LanguageFound, LanguageRequest, Languages
from shared.text.language import (
    CANDIDATES,
    MACROLANGUAGES,
    ONE_LANGUAGE,
    UNDECIDED,
    ModelLanguages,
    _load_model,
    assume_language,
    assumption,
    canonical,
    find_language,
    is_supported,
    model_coverage,
    rules_obstacle,
)

SENTENCES = {
    "en": (
        "The old bridge near our village was closed again this winter.",
        "My sister has bought a small house beside the river.",
        "We shall meet in front of the library after lunch.",
    ),
    "de": (
        "Die alte Brücke bei unserem Dorf wurde in diesem Winter wieder gesperrt.",
        "Meine Schwester hat ein kleines Haus am Fluss gekauft.",
        "Wir treffen uns nach dem Mittagessen vor der Bücherei.",
    ),
    "fr": (
        "Le vieux pont près de notre village a encore été fermé cet hiver.",
        "Ma sœur a acheté une petite maison au bord de la rivière.",
        "Nous nous retrouvons devant la bibliothèque après le déjeuner.",
    ),
    "pl": (
        "Stary most w pobliżu naszej wsi znów został tej zimy zamknięty.",
        "Moja siostra kupiła mały dom nad rzeką.",
        "Spotkamy się przed biblioteką po obiedzie.",
    ),
    "ru": (
        "Старый мост возле нашей деревни этой зимой снова закрыли.",
        "Вчера мы вместе посмотрели очень хороший фильм.",
        "Мы встретимся перед библиотекой после обеда.",
    ),
    "ar": (
        "أُغلق الجسر القديم قرب قريتنا مرة أخرى هذا الشتاء.",
        "اشترت أختي بيتا صغيرا بجانب النهر.",
        "سنلتقي أمام المكتبة بعد الغداء.",
    ),
    "hi": (
        "हमारे गाँव के पास का पुराना पुल इस सर्दी में फिर बंद कर दिया गया।",
        "मेरी बहन ने नदी के किनारे एक छोटा घर खरीदा है।",
        "हम दोपहर के खाने के बाद पुस्तकालय के सामने मिलेंगे।",
    ),
    "cy": ("Mae'r hen bont ger ein pentref ni wedi cau unwaith eto y gaeaf hwn.",),
    "eu": ("Gure herritik hurbil dagoen zubi zaharra berriro itxi zuten negu honetan.",),
    "is": ("Gamla brúin nálægt þorpinu okkar var lokuð aftur í vetur.",),
    "zh": ("今天和同事一起看了一场很好的电影。", "我姐姐在河边买了一所小房子。"),
    "ko": ("오늘 도서관에서 좋은 책을 빌렸다.", "누나가 강가에 작은 집을 샀다."),
    "ja": ("今日は図書館で良い本を借りました。", "姉が川のそばに小さな家を買った。"),
    "el": ("Η παλιά γέφυρα κοντά στο χωριό μας έκλεισε πάλι.",),
    "th": ("สะพานเก่าใกล้หมู่บ้านของเราปิดอีกแล้ว",),
    "he": ("הגשר הישן ליד הכפר שלנו נסגר שוב החורף.",),
    "hi-Latn": (
        "Hamare gaon ke paas ka purana pul is sardi mein phir band kar diya gaya.",
        "Meri behan ne nadi ke kinare ek chhota ghar kharida hai.",
        "Hum dopahar ke khane ke baad pustakalay ke saamne milenge, tum bhi aao.",
    ),
}
EACH = [(code, text) for code, texts in SENTENCES.items() for text in texts]
each = pytest.mark.parametrize(("code", "text"), EACH, ids=[code for code, _ in EACH])
texts = st.text(st.characters(), max_size=300) | st.sampled_from([text for _, text in EACH])


@each
def test_a_sentence_is_known(code: str, text: str) -> None:
    assert find_language(text).code == code


@each
def test_case_blanks_repetition_and_trimmings_change_nothing(code: str, text: str) -> None:
    found = find_language(text)
    for other in (
        text.upper(),
        text.title(),
        "\n\n" + text.replace(" ", " \t "),
        " ".join([text] * 50),
        f"@someone_else {text} https://example.org/some/english/path 😀 🇩🇪 \U0001f600",
        f"www.example.org {text} ❤️",
    ):
        assert find_language(other) == found


@pytest.mark.parametrize("code", SENTENCES)
def test_a_longer_text_of_a_language_keeps_it(code: str) -> None:
    said = SENTENCES[code]
    for length in range(1, len(said) + 1):
        assert find_language(" ".join(said[:length])).code == code


@each
def test_a_quotation_does_not_speak_for_the_text(code: str, text: str) -> None:
    quoted = SENTENCES["en" if code != "en" else "de"][0]
    for opening, closing in ('""', "“”", "„“", "«»", "「」"):
        assert find_language(f"{text} {opening}{quoted}{closing} {text}").code == code


def test_a_text_that_is_one_quotation_is_read() -> None:
    assert find_language(f'"{SENTENCES["de"][0]}"').code == "de"


QUOTATION_MARKS = set('"＂“”„«»「」『』《》')


@given(texts)
def test_no_text_is_too_strange(text: str) -> None:
    found = find_language(text)
    assert (found.code == UNDECIDED) == (found.by == "undecided")
    assert found.by == "undecided" or found.confidence >= 0.5
    if not QUOTATION_MARKS & set(text):  # one that opens meets one of the second half
        assert find_language(f"{text} {text}") == found


@given(texts, st.sampled_from(["de", "en-GB", "arz", "zh-Hant-TW", "hi-Latn", "und"]))
def test_what_is_sent_wins(text: str, tag: str) -> None:
    found = find_language(text, tag)
    assert (found.by, found.code) == ("request", canonical(tag))


@pytest.mark.parametrize(
    "text", ["", " ", "!?!", "12 34", "ok", "so what", "Hm. Na?", "😀😀😀", "\ud800"]
)
def test_too_little_is_undecided(text: str) -> None:
    found = find_language(text)
    assert (found.code, found.by) == (UNDECIDED, "undecided")


@pytest.mark.parametrize(
    ("tag", "code"),
    [("de", "de"), ("DE-at", "de"), ("arz", "ar"), ("yue-Hant", "zh"), ("nb", "no"),
     ("hi-Latn", "hi-Latn"), ("hi-Deva", "hi"), ("sr-Latn", "sr"), ("id", "id"), ("und", "und")],
)  # fmt: skip
def test_tags_are_folded(tag: str, code: str) -> None:
    assert canonical(tag) == code
    assert canonical(code) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [("اشترت أختي بيتا", "ar"), ("المكتبة الجديدة", "ar"), ("我买了房子", "zh"), ("房子", "und"),
     ("Wszystkich przyjaciół", "pl"), ("Old bridges", "und"), ("Main se par", "und"),
     ("Se la ha par main", "und")],
)  # fmt: skip
def test_a_short_text_is_decided_where_it_is_hardly_anything_else(text: str, code: str) -> None:
    assert find_language(text).code == code


def test_no_macrolanguage_is_folded_again() -> None:
    assert not set(MACROLANGUAGES) & set(MACROLANGUAGES.values())


@pytest.mark.parametrize(
    ("code", "languages", "covered"),
    [("de", ("en",), False), ("zh", ("yue",), True), ("en", ("en-GB", "fr"), True),
     ("und", ("en",), False), ("und", ("*",), True), ("hi", ("hi-Latn",), False),
     ("de", (), False)],
)  # fmt: skip
def test_what_a_model_states_covers(code: str, languages: tuple[str, ...], covered: bool) -> None:
    assert is_supported(LanguageFound(code=code, confidence=1, by="model"), languages) is covered


def test_threads_agree() -> None:
    asked = [text for _, text in EACH] * 5
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(find_language, asked)) == [find_language(text) for text in asked]


@lru_cache(maxsize=1)
def figures() -> dict[str, Any]:
    return measure()


@pytest.mark.skipif(
    not all((DATA / file).exists() for file in FILES), reason="../shared/data is absent"
)
class TestMeasured:
    def test_nothing_foreign_is_called_english(self) -> None:
        assert figures()["texts"] == 2_321
        assert figures()["called_en"] == 0

    def test_what_is_decided_is_right(self) -> None:
        assert figures()["identified"] >= 0.97  # of all, romanised or short
        assert figures()["right_of_decided"] >= 0.999

    def test_hindi_in_latin_letters_is_found_or_undecided(self) -> None:
        told = figures()["romanised_identified"] + figures()["romanised_undecided"]
        assert figures()["romanised_identified"] >= 0.8 * figures()["romanised"]
        assert told >= 0.99 * figures()["romanised"]


def found_as(code: str) -> LanguageFound:
    by: Any = "undecided" if code == UNDECIDED else "model"
    return LanguageFound(code=code, confidence=1.0, by=by)


def test_every_language_that_is_told_apart_has_a_name() -> None:
    told = {MACROLANGUAGES.get(code, code) for code in _load_model().nb_classes}
    told |= {*MACROLANGUAGES.values(), *ONE_LANGUAGE.values(), *chain(*CANDIDATES.values())}
    assert {canonical(code) for code in (*told, UNDECIDED)} <= set(NAMES)
    assert len(set(NAMES.values())) == len(NAMES)


@pytest.mark.parametrize(
    ("tag", "named"),
    [
        ("ko", "Korean (ko)"),
        ("pt-BR", "Portuguese (pt-BR)"),
        ("hi-Latn", "Hindi in Latin letters (hi-Latn)"),
        ("und", "undecided (und)"),
        ("*", "every language"),
        ("xx", "xx"),
    ],
)
def test_people_read_the_name_beside_the_code(tag: str, named: str) -> None:
    assert language_name(tag) == named


def test_sentences_name_languages() -> None:
    read = rules_obstacle("이 글은 그들을 모욕한다", found_as("ko"), ("en", "de"))
    asked = ModelLanguages("judge", ("en",)).obstacle(found_as("zh"))
    assert read is not None
    assert asked is not None
    assert read.detail == (
        "a text's language is Korean (ko); there are rules for German (de), English (en)"
    )
    assert asked.detail == "the text's language is Chinese (zh); judge learned English (en)"


def test_of_many_languages_the_first_are_named() -> None:
    tags = ["en", "de", "fr", "ko", "zh"]
    assert language_names(tags, 3) == "English (en), German (de), French (fr) and 2 more"
    assert language_names(tags[:4], 3).endswith("Korean (ko)")  # "and 1 more" is no shorter


@pytest.mark.parametrize(
    ("text", "code", "obstacle"),
    [
        ("Go home now", "en", None),
        ("Geht nach Hause", "de", "no-rules"),
        ("Go home", "und", None),
        ("иди", "und", "language-undecided"),
        ("!!! 1234", "und", None),  # nothing to read
    ],
)
def test_rules_read_english_and_what_may_be_english(
    text: str, code: str, obstacle: str | None
) -> None:
    read = rules_obstacle(text, found_as(code), ("en",))
    assert (read and read.code) == obstacle


@pytest.mark.parametrize(
    ("text", "beside", "learned", "assumed"),
    [
        ("Go home", "es", ("en",), "es"),  # the text beside it goes first
        ("Go home", None, ("en",), "en"),
        ("Go home", "und", ("en-GB", "en"), "en"),
        ("Go home", "ru", ("en",), "en"),  # not in this script
        ("Go home", "ru", ("ar",), "und"),
        ("Go home", "eo", ("eo",), "und"),  # nor is one that is unlikely
        ("Go home", None, ("en", "de"), "und"),  # which of them nobody knows
        ("Go home", None, ("*", "en"), "und"),
        ("иди", "en", ("en",), "und"),
        ("иди", "sr", ("en",), "sr"),
        ("!!", None, ("en",), "en"),
    ],
)
def test_an_unrecognised_language_is_assumed_in_its_own_script(
    text: str, beside: str | None, learned: tuple[str, ...], assumed: str
) -> None:
    found = find_language(text)
    assert found.by == "undecided"
    made = assume_language(found, None if beside is None else found_as(beside), learned)
    assert (made.code, made.by) == (assumed, "undecided" if assumed == "und" else "assumed")
    assert bool(list(assumption(made))) is (assumed != "und")


@pytest.mark.parametrize("by", ["request", "model", "script"])
def test_a_language_that_is_known_or_sent_is_never_assumed(by: Any) -> None:
    for code in ("nl", "und"):
        found = LanguageFound(code=code, confidence=1.0, by=by)
        assert assume_language(found, found_as("en"), ("en",)) == found


def test_a_model_of_many_languages_is_asked_about_a_short_text_with_a_warning() -> None:
    judge = ModelLanguages("judge", ("en", "de"))
    short, foreign = find_language("Go home"), find_language("иди")
    assert judge.obstacle(short) is None
    assert [said.partition(":")[0] for said in judge.get_warnings(short)] == ["language-assumed"]
    assert judge.obstacle(foreign) is not None


def test_several_models_are_doubted_each_by_itself() -> None:
    request, accepted = LanguageRequest(), LanguageRequest(accept_untrained_languages=True)
    stated = {"one": ("en",), "two": (), "three": ("de",)}
    asked = [ModelLanguages(name, learned) for name, learned in stated.items()]
    german = Languages(text=found_as("de"))
    found = model_coverage(request, german, asked)
    assert [one.code for one in found.obstacles] == ["untrained-language"]
    assert found.warnings == ()  # no number, no doubt about it
    computed = model_coverage(accepted, german, asked)
    assert computed.obstacles == ()
    assert len(computed.warnings) == 2
    assert model_coverage(request, german, asked[1:]).obstacles == ()
