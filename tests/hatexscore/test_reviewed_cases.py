"""Function words that are quoted, and quotes that make a text milder."""

from __future__ import annotations

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from tests.hatexscore.fake import FakeClassifier, bound
from tests.hatexscore.test_wording import JUDGED

TEXT = "Poles fill the bus again."


def score(explanation: str) -> HatexscoreResult:
    request = HatexscoreRequest(
        text=TEXT,
        explanation=explanation,
        predicted_label="hateful",
        probabilities=JUDGED["hateful"],
    )
    with bound(FakeClassifier()):
        return SERVICE.score(request)


def test_a_function_word_that_is_quoted_alone_is_told_of() -> None:
    found = score('The word "the" sets Poles apart and insults them. Hateful.')
    (told,) = [one for one in found.warnings if "function word" in one]
    assert '"the"' in told
    quoted = score('The words "fill the bus" insult Poles. Hateful.')
    assert not any("function word" in one for one in quoted.warnings)


def test_the_reason_says_why_quotes_earn_nothing_that_make_a_text_milder() -> None:
    request = HatexscoreRequest(
        text=TEXT,
        explanation='The words "fill the bus" insult Poles. Hateful.',
        predicted_label="hateful",
        probabilities={"original": 0.7, "masked": 0.75},
    )
    with bound(FakeClassifier()):
        found = SERVICE.score(request)
    assert found.components.qf == 0
    assert "without its quotes P(hateful) is higher" in found.reason
