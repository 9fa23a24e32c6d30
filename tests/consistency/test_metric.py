"""The metric over models that are arithmetic: what is asked, what is null, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from bench.planted_consistency import CUES, CopyingModel, copying
from services.consistency.contract import ConsistencyRequest
from services.consistency.metric import SERVICE
from services.consistency.report import ConsistencyNull, ConsistencyResult
from shared.contracts.calls import Completion, Example, Prompt
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement, unread
from shared.contracts.messages import ModelKind

CUE = min(CUES)
TEXT = f"This one has {CUE} among several other plain words of a short text"
CITING = f'I say so because of "{CUE}".'


@dataclass(frozen=True)
class PlantedModel(CopyingModel):
    """With what a model may lack."""

    model_kind: ModelKind = "causal"
    silent: bool = False  # no log-probabilities
    mute: bool = False  # P cannot be read

    def kind(self, name: str) -> ModelKind:
        return self.model_kind

    def judge(self, name: str) -> PlantedModel:
        return self

    writer = judge

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        if self.silent:
            raise BadInput("the server returns no log-probabilities", pointer="/model")
        return super().score(prompts, completions)

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        if self.mute:
            return [unread(self.labels, "answer-unread", "it said nothing") for _ in examples]
        return super().judgements(examples)


def request(**more: Any) -> ConsistencyRequest:
    body = {"text": TEXT, "explanation": CITING, "model": "m", "language": "en", **more}
    return ConsistencyRequest.model_validate(body)


def scored(model: PlantedModel | None = None, **more: Any) -> ConsistencyResult:
    with copying(model or PlantedModel()):
        return SERVICE.score(request(**more))


def citations_null(report: ConsistencyResult) -> ConsistencyNull:
    assert report.control is not None
    assert report.control.simulatability is not None
    return report.control.simulatability


def codes(report: ConsistencyResult) -> dict[str, str]:
    return {reason.component: reason.code for reason in report.reasons}


def test_what_is_cited_and_what_the_edits_did() -> None:
    report = scored()
    assert report.score == pytest.approx(1.0, abs=1e-3)
    assert (report.decision, report.cited_by) == ("yes", "quotations")
    parts = report.components
    assert (parts.words, parts.cited_words) == (13, 1)
    assert (parts.edits, parts.simulatable) == (26, 26)  # 13 places, deleted and masked
    [cited] = [one for one in report.evidence if one.kind == "cited"]
    assert TEXT[cited.start : cited.end] == cited.text == CUE
    rows = [(row.of, row.operator, row.edits, row.changed) for row in report.edit_rows]
    assert rows == [
        ("cited", "delete", 1, 1),
        ("random", "delete", 12, 0),
        ("cited", "mask", 1, 1),
        ("random", "mask", 12, 0),
    ]
    null = citations_null(report)
    assert (null.kind, null.exact, null.placements, null.p_value) == ("spans", True, 12, 1 / 13)
    assert null.overlap == 0


def test_contributions_are_what_is_lost_without_a_word() -> None:
    model = PlantedModel(noise=0.0)
    report = scored(model)
    [own] = [one for one in report.word_values if TEXT[one.start : one.end] == CUE]
    with copying(model):
        whole, without = [
            one.probabilities or ()
            for one in model.judgements([Example(text=TEXT), Example(text=TEXT.replace(CUE, ""))])
        ]
    assert own.answer == pytest.approx(whole[1] - without[1])
    assert own.explanation == pytest.approx(4.4998, abs=1e-4)  # log 0.9 - log 0.01
    assert all(one.answer == one.explanation == 0 for one in report.word_values if one != own)
    assert report.components.cosine == pytest.approx(1.0)


def test_what_stands_before_the_explanation_is_not_scored() -> None:
    before = scored(preceding=f'Answer: "{CUE}". ')
    assert before.word_values == scored().word_values


def test_one_request_among_others_is_the_same() -> None:
    asked = [request(), request(explanation='It says "plain words".'), request(variant="paper")]
    with copying(PlantedModel()):
        alone = [SERVICE.score(one) for one in asked]
        assert SERVICE.score_batch(asked[::-1])[::-1] == alone


def test_an_explanation_that_cites_nothing_has_no_simulatability() -> None:
    report = scored(explanation='Because of "something else".')
    assert codes(report) == {"simulatability": "quote-not-found"}
    assert report.parts == ("attribution",)
    assert report.score == report.components.attribution_agreement
    assert [one.kind for one in report.evidence] == ["quote_not_found"]
    nothing = scored(explanation="Because.", parts=["simulatability"])
    assert (nothing.score, nothing.verdict) == (None, "not_tested")
    assert codes(nothing) == {"simulatability": "quote-not-found", "score": "quote-not-found"}


def test_who_cites_the_whole_text_has_nothing_to_be_compared_with() -> None:
    report = scored(explanation=f'It says "{TEXT}".', parts=["simulatability"])
    assert report.score is None
    assert any("no other passage" in warning for warning in report.warnings)


def test_an_explanation_of_another_answer_is_none_of_its_own() -> None:
    report = scored(decision="no")
    assert (report.score, report.components.edits) == (None, 0)
    assert set(codes(report).values()) == {"model-disagrees"}
    with pytest.raises(BadInput, match="must be one of the labels"):
        scored(decision="maybe")


def test_a_model_that_does_not_answer_is_not_scored() -> None:
    report = scored(PlantedModel(mute=True))
    assert report.score is None
    assert codes(report)["score"] == "answer-unread"


@pytest.mark.parametrize(
    "model", [PlantedModel(model_kind="classifier"), PlantedModel(silent=True)]
)
def test_without_log_probabilities_the_first_test_is_left(model: PlantedModel) -> None:
    report = scored(model)
    assert codes(report) == {"attribution_agreement": "no-logprobs"}
    assert report.parts == ("simulatability",)
    assert report.score == report.components.simulatability == 1


def test_too_few_words_to_compare_contributions_over() -> None:
    report = scored(text=f"only {CUE}")
    assert codes(report) == {"attribution_agreement": "no-words"}


def test_own_edits_are_read_by_which_cited_words_are_gone() -> None:
    edits = [
        {"text": TEXT.replace(CUE, "nothing")},
        {"text": TEXT.replace("plain", "simple")},
        {"text": "All is gone"},
        {"text": f"Only {CUE} is there"},
    ]
    report = scored(edits=edits, parts=["simulatability"])
    assert report.components.simulatability == 1
    assert [(row.of, row.edits, row.predicted) for row in report.edit_rows] == [("sent", 4, 4)]
    null = citations_null(report)
    assert (null.kind, null.placements, null.exact, null.p_value) == ("predictions", 5, True, 1 / 6)


def test_expectations_of_a_reader_replace_the_rule() -> None:
    edits = [
        {"text": TEXT.replace(CUE, "nothing"), "expected": "stays"},
        {"text": TEXT.replace("plain", "simple"), "expected": "changes"},
    ]
    report = scored(edits=edits, explanation="So it is.", parts=["simulatability"])
    assert report.components.simulatability == 0


def test_passages_that_the_caller_knows_to_be_cited() -> None:
    start = TEXT.index(CUE)
    report = scored(
        explanation="Because of the odd word.", cited=[{"start": start, "end": start + len(CUE)}]
    )
    assert report.cited_by == "request"
    assert report.components.simulatability == 1


@dataclass(frozen=True)
class ReadingModel(PlantedModel):
    """As a reader: it says that the answer stays where the cue stands in the edited text."""

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return ("stays", "changes") if example.template else self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        found = super().judgements(examples)
        for place, one in enumerate(examples):
            if one.template is not None:
                assert one.template.prefix.count(CITING) == 1
                swapped = {"labels": ("changes", "stays")}
                found[place] = found[place].model_copy(update=swapped)
        return found


def test_a_model_as_the_reader() -> None:
    report = scored(ReadingModel(), reader="model", reader_model="r", parts=["simulatability"])
    assert report.components.simulatability == 1
    null = citations_null(report)
    assert null.kind == "predictions"
    assert (null.p_value or 1) <= 0.05
    assert [use.name for use in report.provenance.models] == [PlantedModel.use.name] * 2


REFUSED: list[dict[str, Any]] = [
    {"model": None},
    {"predictions": {"answer": "yes", "edits": []}},
    {"model": None, "predictions": {"answer": "yes"}},
    {"model": None, "predictions": {"answer": "yes", "edits": ["no"]}},
    {"reader": "model"},
    {"reader_model": "r"},
    {"cited": [{"start": 5, "end": 999}]},
    {"parts": ["attribution", "attribution"]},
    {"explanation_prompt": {"turns": [{"role": "user", "content": "Why?"}]}},
    {"explanation_prompt": {"turns": [{"role": "user", "content": "{text} {other}"}]}},
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_what_does_not_fit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(**wrong)


def test_the_prompt_is_filled_once() -> None:
    """What a text says of placeholders is not expanded."""
    seen: list[Prompt] = []

    @dataclass(frozen=True)
    class Listening(PlantedModel):
        def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
            seen.extend(prompts)
            return super().score(prompts, completions)

    asked = {"turns": [{"role": "user", "content": "{{x}} {label}: {text}"}], "style": "raw"}
    text = f"{CUE} {{label}} {{text}} and more words"
    scored(Listening(), text=text, explanation_prompt=asked)
    assert seen[0].text == f"{{x}} yes: {text}\n\n"
