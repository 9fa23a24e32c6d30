"""An explanation as fields: what is given is taken as it is, and nothing reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from shared.models.ports import Floats, Models
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, FakeModels, FakeReader, binding

POST = "Honestly, those immigrants are ruining our lovely old town, somebody should do something."
FIELDS: dict[str, Any] = {
    "text": "The post blames immigrants for what goes wrong in the town.",
    "reasons": ["It blames a whole group."],
    "quotes": ["those immigrants are ruining our lovely old town"],
    "target_groups": ["immigrants"],
    "decision": "hateful",
}


class Silent(FakeReader):
    """A reader that must not be asked."""

    def probabilities(self, texts: Sequence[str]) -> Floats:
        assert not texts, texts
        return super().probabilities(texts)


@dataclass
class NotRead(FakeModels):
    """The port, with a reader that must not be asked."""

    def classifier(self, name: str) -> FakeReader:
        return Silent()


def by_words(text: str) -> float:
    return 0.95 if "ruining" in text else 0.05


def scored(explanation: Any, text: str = POST, **more: Any) -> HatexscoreResult:
    body = {"text": text, "explanation": explanation, "language": "en", **more}
    request = flat_request(HatexscoreRequest, {"decision": "hateful", **body})
    with binding(cast(Models, NotRead(FakeClassifier(by_words)))):
        return CONTRACT.judged(SERVICE.score(request))


def outcomes(result: HatexscoreResult) -> dict[str, str]:
    return {check.name: check.outcome for check in result.checks}


def test_given_fields_are_taken_and_nothing_reads_them() -> None:
    result = scored(FIELDS)
    assert not result.problems
    passed = ("states-this-decision", "quotes-in-post", "group-named", "hangs-together")
    assert {outcomes(result)[name] for name in passed} == {"passed"}
    assert [POST[one.start : one.end] for one in result.evidence if one.kind == "quote"] == [
        FIELDS["quotes"][0]
    ]
    assert result.reader is not None
    assert result.reader.by == "rules"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"decision": "non-hateful"}, "opposite-decision"),
        ({"quotes": ["they should all be sent away"]}, "quote-not-in-post"),
        ({"target_groups": []}, "group-not-named"),
    ],
)
def test_a_wrong_field_is_a_problem(changed: dict[str, Any], problem: str) -> None:
    result = scored(FIELDS | changed)
    assert problem in result.problems


def test_a_string_that_is_the_json_is_the_same() -> None:
    for text in (json.dumps(FIELDS), f"```json\n{json.dumps(FIELDS, indent=1)}\n```"):
        result = scored(text)
        assert result == scored(FIELDS)


def test_what_is_no_label_or_no_listed_group_is_not_tested() -> None:
    result = scored(FIELDS | {"decision": "see above", "target_groups": ["bus drivers"]})
    assert outcomes(result)["states-a-decision"] == "not_tested"
    assert outcomes(result)["group-named"] == "not_tested"


def test_a_further_class_is_compared_with_the_decision() -> None:
    for decision, outcome in (("offensive", "passed"), ("normal", "failed")):
        result = scored(FIELDS | {"decision": decision}, labels="three-way", decision="offensive")
        assert outcomes(result)["states-this-decision"] == outcome


def test_offsets_count_in_the_fields_as_they_are_written_out() -> None:
    fields = FIELDS | {"quotes": ["a \u201cquote\u201d that\nthe post lacks", *FIELDS["quotes"]]}
    result = scored(fields)
    request = HatexscoreRequest.model_validate({"text": POST, "explanation": fields})
    written = request.explanation_text
    [invented] = result.hallucinated_quotes
    assert written[invented.start : invented.end] == fields["quotes"][0]
    assert result.conclusion is not None
    assert written[result.conclusion.start : result.conclusion.end] == "hateful"
    [group] = [one for one in result.evidence if one.kind == "group"]
    assert written[group.start : group.end] == "immigrants"


def test_reasons_in_a_language_that_nobody_reads_hinder_nothing() -> None:
    polish = {
        "text": "Wpis obwinia imigrant\u00f3w o wszystko z\u0142e w mie\u015bcie.",
        "reasons": [],
    }
    result = scored(FIELDS | polish, language="auto")
    assert outcomes(result)["states-this-decision"] == "passed"
    assert outcomes(result)["group-named"] == "passed"
