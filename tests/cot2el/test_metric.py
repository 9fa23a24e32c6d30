"""The whole metric: pairs that were sent, pairs that a model writes, an annotator's pairs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from services.cot2el import model_calls
from services.cot2el.contract import CONTRACT
from services.cot2el.metric import SERVICE
from services.cot2el.stages import split_reasoning
from shared.contracts.calls import Prompt, Sampling
from shared.contracts.errors import BadInput
from shared.contracts.redaction import without_text
from tests.cot2el.writers import EXAMPLE, PARSE, THOUGHT, StubWriter, bound, request, sent, usual

score = SERVICE.score
score_batch = SERVICE.score_batch


def test_evidence_is_verbatim_and_the_rest_is_dropped() -> None:
    report = score(sent())
    for one in report.evidence:
        assert one.start is not None
        assert one.text == THOUGHT[one.start : one.end]
    assert len(report.evidence) == 4
    assert [one.label for one in report.dropped] == ["C"]
    assert report.control is not None
    assert report.control.faithfulness < 0.8


def test_the_ablation_sets() -> None:
    sets = score(sent()).sets
    assert sets.el == sets.el_sup[:1] + sets.el_opp[:1] + sets.el_sup[1:2] + (
        sets.el_opp[1],
        sets.el_sup[2],
    )
    assert {pair.stance for pair in (*sets.el_sup, *sets.filtered_sup)} == {"support"}
    assert {pair.stance for pair in (*sets.el_opp, *sets.filtered_opp)} == {"oppose"}
    assert len(sets.filtered) == len(sets.filtered_sup) + len(sets.filtered_opp) == 4
    assert all(pair.explanation in THOUGHT for pair in sets.filtered)


def test_the_variants_differ_as_the_card_says() -> None:
    robust, paper, reference = (
        score(sent(variant=name)) for name in ("robust", "paper", "reference")
    )
    assert (robust.score, paper.score) == (0.8, 1)
    assert paper.dropped == ()
    assert paper.provenance.parameters["granularity"] == "edu"
    assert reference.provenance.parameters["autojunk"] is True
    assert not any("sentence" in one.unit_sources for one in paper.evidence)


def test_units_of_a_trained_segmenter_take_the_place_of_the_rules() -> None:
    start = THOUGHT.index("So the statement")
    units = [{"start": 0, "end": start}, {"start": start, "end": len(THOUGHT)}]
    report = score(sent(units=units, min_similarity=0))
    assert {(one.start, one.end) for one in report.evidence} <= {
        (0, start),
        (start, len(THOUGHT)),
    }
    assert all(one.unit_sources == ("given",) for one in report.evidence)


def test_no_pairs_are_undefined_not_zero() -> None:
    report = score(sent(pairs=[]))
    assert report.score is None
    assert report.control is None
    assert any("undefined" in warning for warning in report.warnings)


def test_three_stages_of_a_model_that_reasons() -> None:
    with bound() as models:
        report = score(request(reasoning=None))
    assert models.stub.stages == [1, 2, 3]
    parse_turns = models.stub.calls[1][0][0].turns or ()
    assert [turn.role for turn in parse_turns] == ["user", "assistant", "user"]
    assert parse_turns[1].content == "B. Neutral"
    assert "<think>" not in parse_turns[2].content
    assert "support and oppose each option" in parse_turns[2].content
    assert (report.status, report.reasoning) == ("ok", f"{THOUGHT} I draw 0 at 0.")
    assert [one.text for one in report.evidence if one.label == "B"] == [
        "So the statement cannot be confirmed."
    ]
    assert [(one.key, one.statements) for one in report.unplaced] == [("weather", 1)]
    assert report.provenance.models[0].name == "stub"


def test_a_given_reasoning_is_only_parsed_and_turns_alternate() -> None:
    with bound() as models:
        score(request())
    assert models.stub.stages == [2, 3]
    (turn,) = models.stub.calls[0][0][0].turns or ()
    assert THOUGHT in turn.content
    assert "A. Entailment\nB. Neutral\nC. Contradiction\nAnswer:" in turn.content


def test_a_batch_is_as_one_by_one_byte_for_byte_in_fewer_calls() -> None:
    requests = [
        request(reasoning=None, seed=1),
        sent(similarity="letters", human_pairs=EXAMPLE["pairs"][:2]),
        request(writing={"temperature": 0}),
        request(reasoning=None, writing={"temperature": 0}),
        request(reasoning=None, seed=2),
        sent(similarity="letters", human_pairs=EXAMPLE["pairs"][1:]),
    ]
    with bound() as models:
        together = score_batch(requests)
        calls = len(models.stub.calls)
    with bound() as models:
        alone = [score(one) for one in requests]
    assert [one.model_dump_json() for one in together] == [one.model_dump_json() for one in alone]
    assert calls < len(models.stub.calls)
    assert len(models.letters.calls) == 2


def answering(third: Any, first: Any = None) -> StubWriter:
    def answer(stage: int, prompt: Prompt, sampling: Sampling, place: int) -> str:
        if stage == 3:
            return str(third(sampling))
        if stage == 1 and first is not None:
            return str(first)
        return usual(stage, prompt, sampling, place)

    return StubWriter(answer)


def test_json_is_tried_three_times_then_the_parse_has_failed() -> None:
    with bound(answering(lambda _: "no JSON today")) as models:
        report = score(request())
    assert models.stub.stages == [2, 3, 3, 3]
    temperatures = [sampling.temperature for _, sampling in models.stub.calls[1:]]
    assert temperatures == [0, 0.6, 0.6]
    assert (report.status, report.score) == ("parse_failed", None)
    assert report.parse is not None
    assert any("three" in w or "3 answers" in w for w in report.warnings)


def test_an_empty_structure_is_no_finding() -> None:
    empty: dict[str, Any] = {"A": {"support": [], "oppose": []}}
    with bound(answering(lambda _: json.dumps(empty))):
        assert score(request()).status == "parse_failed"


def test_a_later_try_may_succeed() -> None:
    with bound(answering(lambda s: json.dumps(PARSE) if s.seed == 2 else "{")) as models:
        report = score(request())
    assert report.status == "ok"
    assert models.stub.stages == [2, 3, 3, 3]


def test_an_answer_without_reasoning_is_a_status() -> None:
    with bound(answering(lambda _: "{}", first="B. Neutral, I think.")) as models:
        report = score(request(reasoning=None))
    assert (report.status, report.score, models.stub.stages) == ("no_reasoning", None, [1])
    with bound(answering(lambda _: json.dumps(PARSE), first=THOUGHT)):
        report = score(request(reasoning=None, writing={"source": "answer_text"}))
    assert (report.status, report.reasoning) == ("ok", THOUGHT)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>a</think>b", "a", "b"),
        ("a\n</think>\n\nb", "a", "b"),
        ("<think>a", "a", ""),
        ("<think>\n\n</think>b", None, "b"),
        ("b", None, "b"),
    ],
)
def test_where_the_reasoning_ends(text: str, reasoning: str | None, answer: str) -> None:
    assert split_reasoning(text) == (reasoning, answer)


def validation(**fields: Any) -> Any:
    with bound():
        return score(sent(**fields)).validation


def test_an_annotator_who_agrees_in_everything() -> None:
    filtered = [pair.model_dump() for pair in score(sent()).sets.filtered]
    found = validation(human_pairs=filtered, similarity="letters")
    for one in (found.group_mean, found.column_mean):
        assert (one.precision, one.recall, one.f1) == pytest.approx((1, 1, 1))
    assert found.parsed.f1 < 1
    assert {"lexical", "semantic", "levenshtein"} <= set(found.metrics_used)


def test_what_was_not_found_costs_recall_only() -> None:
    filtered = [pair.model_dump() for pair in score(sent()).sets.filtered]
    more = {"explanation": "a man is holding a red umbrella", "label": "A", "stance": "support"}
    found = validation(human_pairs=[*filtered, more]).group_mean
    assert found.precision == pytest.approx(1)
    assert found.recall < 1
    assert found.recall < found.f1 < found.precision


def test_what_cannot_be_measured_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_calls, "tagger_name", lambda: None)
    monkeypatch.setattr("services.cot2el.model_calls.tagger_name", lambda: None)
    with bound():
        report = score(sent(human_pairs=EXAMPLE["pairs"]))
    assert report.validation is not None
    assert report.validation.metrics_used == ("lexical", "levenshtein")
    columns = report.validation.group_mean.columns
    assert columns.syntactic_1 is columns.semantic_cosine is None
    assert sum("similarity is not computed" in w for w in report.warnings) == 2


def test_parts_of_speech_where_a_tagger_is_installed() -> None:
    if model_calls.tagger_name() is None:
        pytest.skip("no English spaCy model on this machine")
    found = validation(human_pairs=EXAMPLE["pairs"])
    assert found.metrics_used == ("lexical", "syntactic", "levenshtein")
    assert found.group_mean.columns.syntactic_3 is not None


def test_chinese_words_are_characters() -> None:
    text = "他拿着伞。因为下雨，所以他在等车。"
    pairs = [{"explanation": "因为下雨", "label": "A"}]
    fields = {"reasoning": text, "pairs": pairs, "human_pairs": pairs, "min_similarity": 0.4}
    found = validation(**fields)
    assert found.group_mean.columns.lexical_1 == pytest.approx(4 / 12)
    assert found.metrics_used == ("lexical", "levenshtein")


def test_a_similarity_that_is_not_there_is_pointed_at() -> None:
    with bound(), pytest.raises(BadInput) as caught:
        score(sent(human_pairs=EXAMPLE["pairs"], similarity="nobody"))
    assert caught.value.pointer == "/similarity"


def test_a_report_can_be_kept_without_the_text() -> None:
    asked = sent(human_pairs=EXAMPLE["pairs"])
    with bound():
        report = score(asked)
    kept = json.dumps(without_text(report, asked))
    assert THOUGHT[:20] not in kept
    assert not any(pair["explanation"][:12] in kept for pair in EXAMPLE["pairs"])
    assert CONTRACT.report.model_validate_json(kept).score == report.score
    assert [one["label"] for one in json.loads(kept)["evidence"]] == ["A", "A", "B", "C"]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"pairs": [{"explanation": "x", "label": "D"}]}, {"pairs"}),
        ({"human_pairs": [{"explanation": "x", "label": "D"}]}, {"human_pairs"}),
        ({"pairs": [{"explanation": "x", "label": "A", "stance": "neutral"}]}, {"pairs"}),
        ({"units": [{"start": 0, "end": 10_000}]}, {"units"}),
        ({"units": [{"start": 3, "end": 3}]}, {"units"}),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, Any], where: set[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        sent(**fields)
    assert {error["loc"][0] for error in caught.value.errors()} == where


def test_either_a_model_or_pairs() -> None:
    for fields in ({"model": None}, {"pairs": EXAMPLE["pairs"], "model": "stub"}):
        with pytest.raises(ValidationError):
            request(**fields)
    with pytest.raises(ValidationError):
        sent(reasoning=None)
