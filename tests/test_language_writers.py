"""A language model that writes is asked in the languages that it learned, and English rules read
what it wrote only where that is English."""

from __future__ import annotations

from typing import Any

import pytest

from services.cot2el.contract import Cot2elRequest
from services.cot2el.metric import SERVICE as COT2EL
from services.ftc.contract import CONTRACT as FTC_CONTRACT
from services.ftc.contract import FtcRequest
from services.ftc.metric import SERVICE as FTC
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE as HAF
from shared.contracts.messages import Report
from tests.cot2el import writers
from tests.ftc import fake as ftc
from tests.haf import fake as haf

ENGLISH = "Those neighbours are lazy people and should leave our lovely old town at once."
GERMAN = "Die Nachbarn sind alle faul und sollen endlich aus unserer schönen Stadt verschwinden."
JUSTIFIED_IN_GERMAN = (
    "Der Text ist beleidigend.\n\n1. Er nennt die Nachbarn faul.\n2. Er will sie vertreiben."
)


def codes(report: Report) -> set[str]:
    return {reason.code for reason in report.reasons if reason.component == "score"}


def toxicity(**more: Any) -> HafRequest:
    return HafRequest.model_validate({"text": ENGLISH, "model": "lm"} | more)


@pytest.mark.parametrize(
    ("learned", "found"),
    [(("de",), {"untrained-language"}), (("en",), set()), (("*",), set()), ((), set())],
)
def test_haf_asks_a_model_in_its_languages(learned: tuple[str, ...], found: set[str]) -> None:
    with haf.bound(languages=learned) as models:
        report = HAF.score(toxicity())
    assert codes(report) == found
    assert (report.score is None) is bool(found)
    assert bool(models.generated) is not bool(found)
    doubted = any(said.startswith("languages-not-stated") for said in report.warnings)
    assert doubted is (learned == ())


def test_haf_leaves_a_german_text_alone() -> None:
    with haf.bound() as models:
        report = HAF.score(toxicity(text=GERMAN, accept_untrained_languages=True))
    assert codes(report) == {"no-rules"}
    assert models.generated == []
    assert report.stance is None


def test_haf_does_not_read_what_was_written_in_german() -> None:
    with haf.bound(say=lambda prompt: JUSTIFIED_IN_GERMAN):
        report = HAF.score(toxicity())
    assert codes(report) == {"no-rules"}
    assert report.languages is not None
    assert report.languages.explanation is not None
    assert report.languages.explanation.code == "de"
    assert dict(report.components) == dict.fromkeys(dict(report.components))


def test_haf_reads_a_short_text_beside_an_english_answer() -> None:
    with haf.bound():
        report = HAF.score(toxicity(text="Lazy neighbours!"))
    assert report.languages is not None
    assert (report.languages.text.code, report.languages.text.by) == ("en", "assumed")
    assert report.score is not None


@pytest.mark.parametrize("language", ["zh", "de", "und"])
def test_cot2el_prompts_in_english_alone(language: str) -> None:
    with writers.bound() as models:
        report = COT2EL.score(writers.request(language=language))
    assert report.status == "not_read"
    assert codes(report) <= {"no-rules", "language-undecided"}
    assert report.score is None
    assert models.stub.calls == []


def test_cot2el_aligns_what_was_sent_where_its_rules_segment() -> None:
    with writers.bound():
        segmented = COT2EL.score(writers.sent(language="zh"))
        unread = COT2EL.score(writers.sent(language="de"))
        own_units = COT2EL.score(writers.sent(language="de", units=[{"start": 0, "end": 80}]))
    assert segmented.score is not None
    assert codes(unread) == {"no-rules"}
    assert own_units.reasons == ()


def test_cot2el_does_not_segment_what_was_written_in_german() -> None:
    def thinks_in_german(stage: int, *asked: Any) -> str:
        return (
            f"<think>\n{GERMAN} {JUSTIFIED_IN_GERMAN}\n</think>\n\nB"
            if stage == 1
            else (writers.usual(stage, *asked))
        )

    with writers.bound(writers.StubWriter(answer=thinks_in_german)):
        report = COT2EL.score(writers.request(reasoning=None))
    assert codes(report) == {"no-rules"}
    assert report.status == "not_read"


def test_cot2el_asks_a_model_in_its_languages() -> None:
    with writers.bound(writers.StubWriter(languages=("ko",))) as models:
        refused = COT2EL.score(writers.request())
        accepted = COT2EL.score(writers.request(accept_untrained_languages=True))
    assert codes(refused) == {"untrained-language"}
    assert accepted.score is not None
    assert any("learned Korean (ko)" in said for said in accepted.warnings)
    assert models.stub.calls


def test_ftc_without_rules_depends_on_its_models_alone() -> None:
    body: dict[str, Any] = FTC_CONTRACT.examples["contradiction"] | {"language": "de"}
    by_model = FtcRequest.model_validate(body | {"extractor": "llm", "writer": "lm"})
    writer = ftc.FakeWriter(lambda prompt: " playing chess\nB: playing cards", languages=("en",))
    with ftc.bound(ftc.FakeJudge(), writer):
        by_rules = FTC.score(FtcRequest.model_validate(body))
        refused = FTC.score(by_model)
        accepted = FTC.score(by_model.model_copy(update={"accept_untrained_languages": True}))
    assert codes(by_rules) == {"no-rules"}
    assert by_rules.abstained == "no-rules"
    assert codes(refused) == {"untrained-language"}
    assert accepted.reasons == ()
    assert writer.prompts


def test_one_request_s_language_is_no_other_s() -> None:
    """A batch: what is not asked leaves the others as they are."""
    requests = [toxicity(), toxicity(text=GERMAN), toxicity(seed=1)]
    with haf.bound():
        together = HAF.score_batch(requests)
        alone = [HAF.score(one) for one in requests]
    assert [one.model_dump_json() for one in together] == [one.model_dump_json() for one in alone]


def test_a_request_s_language_is_any_tag() -> None:
    found = Cot2elRequest.model_validate(writers.EXAMPLE | {"language": "zh-Hant"})
    with writers.bound():
        assert COT2EL.score(found).score is not None
