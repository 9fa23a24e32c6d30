"""Redress that is denied is none; conditions, costs and limits deny nothing."""

from __future__ import annotations

from itertools import product

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE

POST = "Two tickets for Saturday, only cash, write me."
REST = (
    'We removed your listing worldwide for good on 3 May because "only cash, write me" breaks '
    "section 5.2 of our Terms, which forbids sales outside the shop. A person found it and decided."
)
GERMAN = (
    'Wir haben Ihr Angebot weltweit dauerhaft entfernt, weil "only cash, write me" gegen Ziffer '
    "5.2 unserer Bedingungen verstößt. Ein Mensch hat es gefunden und entschieden."
)
WAYS = ("appeal", "complain to us", "contest this decision")
DENIED = (
    *(f"You cannot {way}." for way in WAYS),
    *(f"You have no right to {way}." for way in WAYS),
    *(f"It is not possible to {way}." for way in WAYS),
    "No appeal is possible.",
    "There is no possibility of a complaint or of going to court.",
    "You have no right to complain, to a dispute settlement body or to a court.",
    "Neither a complaint nor a dispute settlement body nor a court is open to you.",
    "We will not review this decision.",
    "Appeals are excluded.",
)
OFFERED = (
    *(f"You can {way} within 14 days." for way in WAYS),
    *(f"If you do not agree, you can {way}." for way in WAYS),
    *(f"You may {way} at no cost, and no fee is due." for way in WAYS),
    "You cannot change the listing, but you can lodge a complaint.",
    "No appeals after 30 days: until then you can appeal by the form.",
    "You do not need a lawyer to lodge a complaint.",
    "We do not accept appeals by phone, but you can appeal by the form.",
    "Without going to court you can lodge a complaint with us.",
)
DENIED_DE = (
    "Eine Beschwerde ist nicht möglich, auch kein Gericht und keine Streitbeilegungsstelle.",
    "Sie können dagegen nicht Widerspruch einlegen.",
    "Es gibt keine Möglichkeit der Beschwerde.",
    "Ein Widerspruch ist ausgeschlossen.",
    "Weder eine Beschwerde noch eine Klage ist möglich.",
)
OFFERED_DE = (
    "Sie können innerhalb von 14 Tagen Beschwerde einlegen.",
    "Wenn Sie nicht einverstanden sind, können Sie Widerspruch einlegen.",
    "Sie können ohne Kosten Beschwerde einlegen.",
    "Sie können das Angebot nicht ändern, aber Sie können Beschwerde einlegen.",
)


def lacks_redress(statement: str) -> bool:
    request = SorRequest.model_validate({"text": POST, "statement": statement})
    return "redress" in SERVICE.score(request).missing


def test_only_what_is_offered_is_redress() -> None:
    for rest, sentences, denied in [
        (REST, DENIED, True),
        (REST, OFFERED, False),
        (GERMAN, DENIED_DE, True),
        (GERMAN, OFFERED_DE, False),
    ]:
        wrong = [one for one in sentences if lacks_redress(f"{rest} {one}") is not denied]
        assert wrong == []


def test_what_a_statement_offers_counts_beside_what_it_denies() -> None:
    wrong = [
        (no, yes)
        for no, yes in product(DENIED[:3], OFFERED[:3])
        if lacks_redress(f"{REST} {no} {yes}")
    ]
    assert wrong == []
