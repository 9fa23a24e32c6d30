"""What a post is reported to say discloses nothing of what the platform did; what the platform says
does, in whatever words.

`reported`, `german_reported`, `speech`, `speech_2`, `_3`, `unseen_5`, `_6` and `german_unseen_3`,
`_4`: labelled before the rules met them. The card has what they gave then.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
from services.sor.report import SorResult
from services.sor.sentences import sentences
from tests.sor.test_statements import FOLDER, Row, scored
from tests.wording import load

FILES = ("reported", "german_reported")
MEASURE = ("restriction", "territorial_scope", "duration")
SAID_EN = "accounts of all users will be closed for 30 days in all EU countries"
SAID_DE = "alle Konten für 30 Tage in allen EU-Ländern gesperrt werden"
OF_OTHERS_EN = (
    "The post says that {}.",
    "You write that {}.",
    "The user claims {}.",
    "According to the caption, {}.",
    "In the video you announce that {}.",
    "It is claimed that {}.",
    "Allegedly, {}.",
    "A doctor is quoted as saying that {}.",
    "Your comment repeats the rumour that {}.",
    "Its author insists: {}.",
    "As you put it, {}.",
)
OF_OTHERS_DE = (
    "In dem Beitrag heißt es, dass {}.",
    "Sie schreiben, dass {}.",
    "Es verspricht, dass {}.",
    "Der Nutzer behauptet, dass {}.",
    "Ein Arzt wird mit den Worten zitiert, dass {}.",
    "Dort steht, dass {}.",
    "Laut Inserat sollen {}.",
    "Im Video kündigen Sie an, dass {}.",
)
OF_US_EN = (
    "We inform you that {}.",
    "Our moderator concluded that {}.",
    "The decision of our team reads: {}.",
    "Please note that {}.",
    "You claim that cats can fly, so we decided that {}.",
)
OF_US_DE = (
    "Wir teilen Ihnen mit, dass {}.",
    "Unser Moderator hat entschieden, dass {}.",
    "Bitte beachten Sie, dass {}.",
    "Sie behaupten, dass Katzen fliegen, deshalb haben wir entschieden, dass {}.",
)

# What was done stands behind what somebody says, or about it.
BEHIND_EN = (
    "Your listing, in which you offer cigarettes, has been removed in the EU permanently.",
    "As your post calls people rats, it was hidden worldwide for 30 days.",
    "Your video shows a fight and was therefore taken down everywhere, permanently.",
    "The comment contains insults. It has been deleted in all countries and permanently.",
    "Since you asked others to harass her, your account is suspended for 7 days in all countries.",
    "What you wrote about him was removed across the EU for an indefinite period.",
    "You posted an ad that promises miracles; it was removed in the EEA on 4 May 2026 for good.",
    "This message tells you that your review was deleted in the EU permanently.",
    "Your post said that vaccines kill. That is false. It was removed worldwide, permanently.",
    "You did not reply to us, and the image was removed in all countries on 4 May 2026.",
)
BEHIND_DE = (
    "Ihr Inserat, in dem Sie Zigaretten anbieten, wurde in der EU dauerhaft entfernt.",
    "Da Ihr Beitrag Menschen als Ratten bezeichnet, wurde er weltweit für 30 Tage ausgeblendet.",
    "Ihr Video zeigt eine Schlägerei und wurde deshalb überall dauerhaft gelöscht.",
    "Der Kommentar enthält Beleidigungen. Er wurde in allen Ländern dauerhaft gelöscht.",
    "Weil Sie andere bitten, sie zu jagen, ist Ihr Konto in allen Ländern für 7 Tage gesperrt.",
    "Was Sie über ihn schreiben, wurde in der ganzen EU unbefristet entfernt.",
    "Diese Nachricht teilt Ihnen mit, dass Ihre Bewertung in der EU dauerhaft gelöscht wurde.",
    "Ihr Beitrag sagte, Impfungen töten. Das ist falsch. Er wurde weltweit dauerhaft gelöscht.",
    "Das Konto, mit dem Sie anderen drohen, wurde weltweit und dauerhaft gesperrt.",
)


def missing_of(row: Row) -> tuple[set[str], set[str]]:
    """What a row lacks by its label, and what it was found to lack."""
    if "sentence" not in row:
        request = SorRequest(text=row["text"], statement=row["statement"])
        return set(row["missing"]), set(SERVICE.score(request).missing)
    text = "Cats can fly." if row["language"] == "en" else "Katzen können fliegen."
    request = SorRequest(text=text, statement=row["sentence"], language=row["language"])
    lacks = set(MEASURE) if row["says"] == "reported" else set()
    return lacks, set(MEASURE) & set(SERVICE.score(request).missing)


def figures(name: str) -> list[tuple[Row, set[str], set[str]]]:
    """Of every row of a file: what it lacks, and what it was found to lack."""
    return [(row, *missing_of(row)) for row in load(FOLDER / f"{name}.jsonl")]


def report(statement: str, language: str) -> SorResult:
    text = "Cats can fly." if language == "en" else "Katzen können fliegen."
    return SERVICE.score(SorRequest(text=text, statement=statement, language=language))


def test_what_others_are_reported_to_say_is_no_measure() -> None:
    for frame, said, language in [
        *((*pair, "en") for pair in product(OF_OTHERS_EN, [SAID_EN])),
        *((*pair, "de") for pair in product(OF_OTHERS_DE, [SAID_DE])),
    ]:
        assert set(MEASURE) <= set(report(frame.format(said), language).missing)


def test_what_the_platform_says_is_one() -> None:
    for frame, said, language in [
        *((*pair, "en") for pair in product(OF_US_EN, [SAID_EN])),
        *((*pair, "de") for pair in product(OF_US_DE, [SAID_DE])),
    ]:
        assert not set(MEASURE) & set(report(frame.format(said), language).missing)


def test_the_measure_is_found_beside_a_report() -> None:
    for statement, language in [
        *((one, "en") for one in BEHIND_EN),
        *((one, "de") for one in BEHIND_DE),
    ]:
        assert not set(MEASURE) & set(report(statement, language).missing)


def test_items_that_only_the_post_has_are_missing() -> None:
    for name in FILES:
        found = scored(name)
        lacking = [(row, one) for row, one in found if row["kind"] == "missing"]
        assert np.mean([set(row["missing"]) <= set(one.missing) for row, one in lacking]) >= 0.9
        good = [one for row, one in found if row["kind"] == "good"]
        assert np.mean([not one.missing for one in good]) >= 0.9


@pytest.mark.parametrize(
    ("name", "rows", "wrong"),
    [("speech", 60, 0), ("speech_2", 40, 1), ("speech_3", 36, 0), ("speech_4", 32, 0)],
)
def test_sentences_that_no_rule_was_written_for(name: str, rows: int, wrong: int) -> None:
    """The card has what the rules gave of them first. wrong: how many are read otherwise."""
    found = [(told, lacks) for _, told, lacks in figures(name)]
    assert len(found) == rows
    assert sum(told != lacks for told, lacks in found) <= wrong


def test_statements_that_quote_deny_and_do_several_things() -> None:
    for name in ["unseen_5", "unseen_6", "german_unseen_3", "german_unseen_4"]:
        for row, told, lacks in figures(name):
            assert told <= lacks, row["id"]
            assert told or not lacks, row["id"]


def test_evidence_of_what_is_left_stands_where_it_says() -> None:
    for name in FILES:
        for row, one in scored(name):
            for each in one.evidence:
                assert each.start is not None
                assert row["statement"][each.start : each.end] == each.text


def test_an_abbreviation_ends_no_sentence() -> None:
    for text, count in [
        ("It breaks Art. 5 of our rules. You may object.", 2),
        ("It breaks T&C 9.4 and Nr. 3 of the annex.", 1),
        ("Star Academy Ltd. is not licensed, cf. Sec. 15 No. 2.", 1),
        ("Das verstößt gegen Ziff. 8 Abs. 2 lit. b der AGB, d. h. gegen Abschn. 4.", 1),
        ("Sie gilt ab dem 12. Juni in allen Ländern.", 1),
        ("1. We removed it. 2. You may object.", 2),
        ("You offered 5 kg. We removed it.", 2),
    ]:
        assert len(sentences(text)) == count
