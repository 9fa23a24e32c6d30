"""German statements, beside their posts: words of the post by a German stem."""

from __future__ import annotations

import json

import numpy as np
import pytest

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE

pytestmark = pytest.mark.usefixtures("reader")


def test_fields_in_german_are_read_too() -> None:
    told = {
        "decision_visibility": ["DECISION_VISIBILITY_CONTENT_REMOVED"],
        "decision_facts": "Das Inserat bietet Karten „je 180 Euro statt 60“ an.",
        "incompatible_content_ground": "Abschnitt 4.2 der Marktplatzregeln",
        "incompatible_content_explanation": "Der Preis liegt beim Dreifachen des aufgedruckten.",
    }
    post = "Zwei Karten für das Finale, je 180 Euro statt 60."
    body = json.dumps({"text": post, "fields": told, "language": "de"})
    report = SERVICE.score(SorRequest.model_validate_json(body))
    values = {one.name: one.value for one in report.items}
    assert (values["ground"], values["explanation"]) == (1.0, 1.0)
    assert np.isclose(report.components.specificity or 0, 1.0)


def test_one_word_of_the_post_is_no_boilerplate() -> None:
    statement = "Dein Post ist weg, es ging darin um Welpen und um sonst nichts."
    post = "Welpen abzugeben, sechs Wochen alt, nur Abholung in Bremen."
    report = SERVICE.score(SorRequest(text=post, statement=statement, language="de"))
    assert report.components.post_words == 1
    assert report.reason is not None
    assert "Boilerplate" not in report.reason
    assert "one word" in report.reason
