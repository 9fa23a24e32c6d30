"""German statements by rules: as `test_statements` has it of English ones.

`german.jsonl` is what the rules were refined on; of the `german_unseen` files the card has what
each gave before the rules knew it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.stats import mannwhitneyu

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
from services.sor.report import ROUTES
from tests.sor.test_statements import Row, scored, scores

FILES = ("german", "german_unseen", "german_unseen_2")
FRENCH = (
    "Votre annonce a été supprimée parce qu'elle enfreint nos règles. Vous pouvez introduire une "
    "réclamation auprès de nous dans un délai de six mois."
)


def test_there_are_good_ones_boilerplate_and_ones_that_lack_something() -> None:
    kinds = [[row["kind"] for row, _ in scored(name)] for name in FILES]
    counted = [[one.count(kind) for kind in ("good", "boilerplate", "missing")] for one in kinds]
    assert counted == [[7, 7, 7], [4, 4, 4], [3, 2, 3]]


def test_good_ones_stand_above_the_rest_and_what_is_missing_is_named() -> None:
    for name in FILES:
        found = scored(name)
        good, rest = (scores(found, good=flag) for flag in (True, False))
        assert mannwhitneyu(good, rest).statistic / (len(good) * len(rest)) >= 0.95
        lacking = [pair for pair in found if pair[0]["kind"] == "missing"]
        assert all(set(row["missing"]) <= set(report.missing) for row, report in lacking)


def test_boilerplate_names_no_facts_and_evidence_stands_where_it_says() -> None:
    for name in FILES:
        for row, report in scored(name):
            if row["kind"] == "boilerplate":
                assert "facts" in report.missing
                assert report.verdict == "problem_found"
            assert report.languages is not None
            assert report.languages.explanation is not None
            assert report.languages.explanation.code == "de"
            for one in report.evidence:
                assert one.start is not None
                assert row["statement"][one.start : one.end] == one.text


def test_the_facts_are_those_of_this_post_and_no_other() -> None:
    good: Sequence[Row] = [row for row, _ in scored("german") if row["kind"] == "good"]
    for row, other in pairwise(good):
        own, wrong = (
            SERVICE.score(SorRequest(text=one["text"], statement=row["statement"]))
            for one in (row, other)
        )
        assert (own.components.specificity or 0) >= 0.9
        assert "facts" in wrong.missing


def test_a_statement_in_either_language_is_read_by_its_own_rules() -> None:
    row = next(row for row, _ in scored("german") if row["kind"] == "good")
    sent = SorRequest(text=row["text"], statement=row["statement"], language="de")
    assert SERVICE.score(sent).missing == ()
    as_english = sent.model_copy(update={"language": "en"})
    assert len(SERVICE.score(as_english).missing) > 4


def test_the_post_s_words_do_not_make_a_rule_a_fact() -> None:
    """The clause names what the post is about, and nothing else of it does."""
    statement = (
        "Ihr Inserat wurde gelöscht. Abschnitt 3 unserer Richtlinien untersagt den Weiterverkauf "
        "von Karten gegen Barzahlung am Samstag."
    )
    post = "Karten zum Weiterverkauf, Samstag, Barzahlung."
    report = SERVICE.score(SorRequest(text=post, statement=statement))
    assert "facts" in report.missing
    assert "ground" not in report.missing


def test_a_language_without_rules_is_null_and_says_so() -> None:
    report = SERVICE.score(SorRequest(text="Deux billets pour samedi", statement=FRENCH))
    assert report.score is None
    assert {one.code for one in report.reasons} == {"no-rules"}
    assert report.reasons[0].detail == (
        "the statement's language is French (fr); there are rules for German (de), English (en)"
    )


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


def test_a_paragraph_sign_takes_no_fact_of_its_sentence() -> None:
    """But a rule that says what it forbids is none."""
    for statement, names in [
        ("Wir haben das Inserat gelöscht: nach § 11 TierSchG, da Welpen angeboten werden.", True),
        ("Verstoß gegen § 11 Abs. 1 Nr. 8 TierSchG: Welpen, keine acht Wochen alt.", True),
        ("Gemäß Art. 4 (Tierhandel) wurde die Anzeige zu den Welpen gesperrt.", True),
        ("Das Inserat wurde gelöscht. § 11 TierSchG verbietet es, Welpen zu verkaufen.", False),
        ("Das Inserat ist gelöscht. Nach § 11 ist der Verkauf von Welpen untersagt.", False),
    ]:
        post = "Welpen abzugeben, sechs Wochen alt, nur Abholung."
        report = SERVICE.score(SorRequest(text=post, statement=statement, language="de"))
        assert (report.components.post_words > 0) is names


def test_redress_may_be_a_list_of_nouns() -> None:
    for statement, routes in [
        ("Rechtsbehelfe: internes Beschwerdeverfahren.", {"internal_complaint"}),
        ("Rechtsbehelfe:\n- Widerspruch\n- Gericht", {"internal_complaint", "court"}),
        ("Ihre Rechte: Beschwerde, außergerichtliche Streitbeilegung, Klage.", set(ROUTES)),
        ("Nach Eingang der Beschwerde eines Nachbarn haben wir geprüft.", set()),
    ]:
        body = SorRequest(text="Ein Beitrag.", statement=f"Dein Post ist weg. {statement}")
        report = SERVICE.score(body.model_copy(update={"language": "de"}))
        assert set(report.routes) == routes
        assert "restriction" not in report.missing


def test_one_word_of_the_post_is_no_boilerplate() -> None:
    statement = "Dein Post ist weg, es ging darin um Welpen und um sonst nichts."
    post = "Welpen abzugeben, sechs Wochen alt, nur Abholung in Bremen."
    report = SERVICE.score(SorRequest(text=post, statement=statement, language="de"))
    assert report.components.post_words == 1
    assert report.reason is not None
    assert "Boilerplate" not in report.reason
    assert "one word" in report.reason


def test_where_a_measure_applies_and_where_rules_do() -> None:
    for sentence, tells in [
        ("Wo: in allen Ländern.", True),
        ("Sie besteht in sämtlichen Mitgliedstaaten.", True),
        ("Die Sperre gilt für Polen und Tschechien.", True),
        ("Unionsweit nicht mehr abrufbar.", True),
        ("Ihr Beitrag enthält Bilder aus allen Ländern.", False),
        ("Wir achten die Gesetze aller Länder.", False),
        ("In allen Ländern gelten unsere Regeln.", False),
    ]:
        body = SorRequest(text="Ein Bild.", statement=f"Es geht um Ihren Beitrag. {sentence}")
        report = SERVICE.score(body.model_copy(update={"language": "de"}))
        assert ("territorial_scope" not in report.missing) is tells
