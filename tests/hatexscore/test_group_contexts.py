"""Groups that text and explanation name, however each writes them, and names that persons have."""

from __future__ import annotations

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import OTHER_GROUPS, detect_languages
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from tests.hatexscore.fake import FakeClassifier, bound

WRITTEN = {  # in an explanation → in texts
    "Poles": ("The Poles", "POLES", "Poles", "a Polish man", "the Poles' shop", "Polish people"),
    "Polish people": ("The Poles", "a Pole", "Poland", "this Pole's shop"),
    "Turks": ("the Turk", "Turkish people", "TURKS", "a Turk's van", "Turkey"),
    "women": ("Women", "a woman", "the women's team", "WOMEN", "females", "girls"),
    "Muslims": ("Muslim", "the muslims", "Islam", "a Muslim's shop", "Moslems"),
    "Black people": ("the blacks", "Black people", "a Black man", "black women"),
    "Jews": ("the Jew", "Jewish people", "JEWS", "jews'"),
    "immigrants": ("an immigrant", "Immigrants'", "migrants", "the foreigners"),
    "deaf people": ("the deaf", "a deaf man", "Deaf people's club"),
    "Finns": ("Finnish people", "the Finns", "A Finn", "Finland"),
}


def score(text: str, explanation: str, decision: str = "hateful") -> HatexscoreResult:
    request = HatexscoreRequest(
        text=text, explanation=explanation, predicted_label=decision, language="en"
    )
    with bound(FakeClassifier()):
        return SERVICE.score(request)


def test_the_text_names_a_group_in_any_number_case_and_with_any_article() -> None:
    for named in WRITTEN:
        wrong = []
        for written in WRITTEN[named]:
            text = f"I told you that {written} came here again and again."
            groups = [
                each
                for each in score(text, f"It attacks {named}. Hateful.").evidence
                if each.kind == "group"
            ]
            wrong += [written for each in groups if each.in_text is not True]
            assert groups
        assert wrong == []


def test_another_group_is_not_in_the_text_which_is_told() -> None:
    found = score("I met the Poles again.", "It attacks Sikhs. Hateful.")
    (group,) = [each for each in found.evidence if each.kind == "group"]
    assert group.in_text is False
    assert OTHER_GROUPS in found.warnings


def test_one_of_the_text_is_enough() -> None:
    for said in ["It attacks Poles. Hateful.", "It attacks Sikhs and Poles. Hateful."]:
        assert OTHER_GROUPS not in score("I met the Poles again.", said).warnings


def test_of_a_text_that_names_no_group_none_is_another() -> None:
    assert OTHER_GROUPS not in score("They are back again.", "It attacks Sikhs. Hateful.").warnings


PERSONS = (
    "{name}, you always ruin everything you touch.",
    "You always ruin everything you touch, {name}.",
    "My friend {name} always ruins everything.",
    "Please stop it, {name}!",
    "Hey {name}, nobody asked for that.",
)


def test_a_person_is_no_group() -> None:
    for text in PERSONS:
        for name in ["Jordan", "Chad", "Georgia", "Christian"]:
            written = text.format(name=name)
            harmless = score(written, f"It teases {name} alone. Not hateful.", "non-hateful")
            assert harmless.components.tgi is None
            assert "tgi" in harmless.not_applicable
            assert score(written, f"It insults {name}. Hateful.").components.tgi == 0


def test_a_country_is_a_group() -> None:
    for name in ["Jordan", "Chad", "Georgia", "Turkey"]:
        text = f"Nobody from {name} can cook."
        assert score(text, f"It insults {name}. Hateful.").components.tgi == 1


GERMAN = "Die Polen nehmen uns die Arbeit weg und lachen noch darüber."
QUOTED = (
    'The words "{text}" blame a whole people for unemployment. The text is hateful.',
    "The words '{text}' blame a whole people for unemployment. The text is hateful.",
    "‘{text}’ blames a whole people. Hateful.",
    "Text: {text}\nThis is hateful, as it blames a whole people for unemployment.",
    "> {text}\n\nThis is hateful, as it blames a whole people for unemployment.",
    "„{text}“ is hateful.",
    "`{text}`: this blames a whole people for unemployment and is hateful.",
)


def test_what_is_quoted_decides_no_language() -> None:
    for form in QUOTED:
        request = HatexscoreRequest(text=GERMAN, explanation=form.format(text=GERMAN))
        found = detect_languages(request)
        assert (found.explanation, found.explanation_code, found.no_rules) == ("en", "en", None)


def test_its_own_words_do() -> None:
    for explanation in [
        "Der Text ist Hassrede, weil er ein ganzes Volk beschuldigt.",
        "'nehmen uns die Arbeit weg' beschuldigt ein ganzes Volk und ist deshalb Hassrede.",
        "Le texte est haineux, car il accuse tout un peuple.",
    ]:
        found = detect_languages(HatexscoreRequest(text=GERMAN, explanation=explanation))
        assert found.no_rules is not None


GROUND_DENIALS = (
    "doesn't target anyone",
    "does not attack anybody",
    "isn't aimed at a person",
    "never mocks people",
    "attacks nobody",
    "insults a driver without targeting anyone",
)


def test_a_denied_ground_is_none() -> None:
    for no in GROUND_DENIALS:
        for ground in ["because of", "due to", "on the basis of", "based on"]:
            for opening in ["It", "The post is rude, but it"]:
                said = score(
                    "You drive like an idiot.",
                    f"{opening} {no} {ground} race, religion or gender. Not hateful.",
                    "non-hateful",
                )
                groups = [each for each in said.evidence if each.kind == "group"]
                assert [(each.counts, each.attacked) for each in groups] == [(False, False)] * 3
                assert said.components.tgi is None


def test_a_ground_that_holds_is_one() -> None:
    for ground in ["because of", "due to", "on the basis of"]:
        said = score("They are all thieves.", f"It attacks them {ground} their religion. Hateful.")
        assert said.components.tgi == 1
