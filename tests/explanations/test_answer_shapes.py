"""Answers of guards, in tables, of classifiers, by verbs of inference, and in other languages."""

from __future__ import annotations

import json

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.guard_answers import is_guard_answer, read_guard_answer
from services.explanations.other_languages import read_other_languages
from services.explanations.parsing import by_labels
from services.explanations.service import SERVICE

CATEGORIES = {"S10": True, "S1": False, "S1,S10": True, "S2: Crimes": False, "none": False}
RELATIONS = ["entailment", "neutral", "contradiction"]


def read(answer: str, prompt: str = "Is this hateful?\n{text}") -> str | None:
    request = ExplanationsRequest.model_validate(
        {"text": "A post.", "prompt": {"user": prompt}, "answer": {"text": answer}}
    )
    return SERVICE.score(request).elicitation.decision


@pytest.mark.parametrize(("named", "hate"), CATEGORIES.items())
@pytest.mark.parametrize(
    "shape", ["unsafe\n{}", "\n\nunsafe\n{}", "Safety: Unsafe\nCategories: {}"]
)
def test_unsafe_decides_by_its_categories_alone(shape: str, named: str, hate: bool) -> None:
    assert read(shape.format(named)) == ("hateful" if hate else None)


@pytest.mark.parametrize("answer", ["safe", "Safe.", "Safety: Safe\nCategories: None"])
def test_what_is_safe_is_not_hateful(answer: str) -> None:
    found = read_guard_answer(answer)
    assert found is not None
    assert found.label == "non-hateful"
    assert answer[slice(*found.words)].casefold() == "safe"


@pytest.mark.parametrize(("named", "hate"), {"Hate/Identity Hate": True, "Threat": False}.items())
@pytest.mark.parametrize("response", [{}, {"Response Safety": "safe"}])
def test_what_a_guard_says_of_a_response_decides_nothing(
    response: dict[str, str], named: str, hate: bool
) -> None:
    fields = {"User Safety": "unsafe", **response, "Safety Categories": named}
    lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
    label = "hateful" if hate else None
    assert read(lines) == read(json.dumps(fields)) == read(json.dumps(fields, indent=2)) == label
    assert read(json.dumps({"User Safety": "safe", **response}, indent=2)) == "non-hateful"


@pytest.mark.parametrize(("said", "label"), [("no", "non-hateful"), ("yes", None)])
def test_what_is_harmful_need_not_be_hateful(said: str, label: str | None) -> None:
    rest = "Response refusal: N/A\nHarmful response: N/A"
    assert read(f"Harmful request: {said}\n{rest}") == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("No es un mensaje de odio. Critica una ley.", "non-hateful"),
        ("É discurso de ódio contra imigrantes.", "hateful"),
        ("Ce n'est pas un discours haineux.", "non-hateful"),
        ("Das ist keine Hassrede, nur ein Scherz.", "non-hateful"),
        ("Ответ: нет, это не разжигание ненависти.", "non-hateful"),
        ("Étiquette : non haineux\nExplication : rien.", "non-hateful"),
        ('<result label="hateful" confidence="0.9"/>', "hateful"),
        ("Quizás es un mensaje de odio.", None),
    ],
)
def test_a_short_sentence_or_a_field_of_another_language_decides(
    answer: str, label: str | None
) -> None:
    assert read(answer, "Label this post.\n{text}") == label


@pytest.mark.parametrize(
    "answer", ["unsafe", "safe to say, it is hateful", "unsafe\nIt attacks a group.", "safety"]
)
def test_prose_is_no_guard_answer(answer: str) -> None:
    assert not is_guard_answer(answer)


@pytest.mark.parametrize(("value", "label"), [("Yes", "hateful"), ("No", "non-hateful")])
def test_the_head_of_a_column_is_its_key(value: str, label: str) -> None:
    rule = "|---|:-:|"
    assert read(f"| Text | Hateful? |\n{rule}\n| A post. | {value} |") == label
    assert read(f"| Text | Hateful? |\n{rule}\n| One | {value} |\n| Two | {value} |") is None
    assert read(f"| Insult | Rude? |\n{rule}\n| A word | {value} |") is None


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.98])
@pytest.mark.parametrize("key", ["score", "probability"])
def test_of_a_classifiers_scores_the_higher_one_decides(key: str, share: float) -> None:
    rows = [{"label": "HATE", key: share}, {"label": "NOT_HATE", key: 1 - share}]
    expected = "hateful" if share > 0.5 else "non-hateful"
    assert read(json.dumps(rows)) == read(json.dumps(rows[::-1])) == expected


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("The premise entails the hypothesis.", "entailment"),
        ("The hypothesis is contradicted by the premise.", "contradiction"),
        ("They clearly contradict each other.", "contradiction"),
        ("The premise neither entails nor contradicts the hypothesis.", "neutral"),
        ("The premise does not entail the hypothesis.", None),
        ("The premise partly entails the hypothesis.", None),
        ("The premise entails the hypothesis. The second sentence contradicts it.", None),
    ],
)
def test_verbs_of_inference_decide_as_their_labels_do(answer: str, label: str | None) -> None:
    found = by_labels(RELATIONS)(answer)
    assert (found and found.label) == label
    assert by_labels(["entails", "other"])("The premise entails the hypothesis.") is None


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Nein, der Beitrag ist nicht hasserfüllt.", "non-hateful"),
        ("Sí, es odioso porque ataca a un grupo.", "hateful"),
        ("Este comentario es odioso porque ataca a una minoría.", "hateful"),
        ("Ce texte n'est pas haineux.", "non-hateful"),
        ("Nein, der Beitrag ist hasserfüllt.", None),
        ("Der Beitrag ist vielleicht hasserfüllt.", None),
        ("Este texto es odioso. Este comentario no es odioso.", None),
        ("Hassrede ist verboten.", None),
        ("No, this is not hateful.", None),
    ],
)
def test_other_languages_are_read_where_all_says_the_same(answer: str, label: str | None) -> None:
    found = read_other_languages(answer)
    assert (found and found.label) == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Yes. Wait, actually no: it is a quotation.", "non-hateful"),
        ("Non-hateful... hmm, no. On second thought, hateful: it names a group.", "hateful"),
        ("Hateful. Actually, let me reconsider.", None),
        ("Sonuç: Nefret içermiyor (Non-hateful)", "non-hateful"),
        ("Conclusion: maybe not at all (Hateful)", None),
        ("### Conclusion\n\n> Hateful", "hateful"),
        ("Hate probability: 0.94", "hateful"),
        ("P(hateful) = 0.03", "non-hateful"),
        ("I'd put this at 95% hateful.", "hateful"),
        ("Only 10% hateful.", "non-hateful"),
        ("It is 50% hateful.", None),
        ("This is not 100% hateful.", None),
    ],
)
def test_what_stands_behind_a_correction_or_in_brackets(answer: str, label: str | None) -> None:
    assert read(answer) == label
