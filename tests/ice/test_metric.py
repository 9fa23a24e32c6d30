from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.messages import PartExcess
from tests.flat_requests import flat_request
from tests.ice.planted import FIRST_WORD, USE, noise, planted, weighted, word

score = SERVICE.score
score_batch = SERVICE.score_batch

TEXT = " ".join(word(n) for n in range(12))
POOL = ("w50 w51 w52 yes w53", "w60 w61 w62")


@st.composite
def requests(draw: st.DrawFn) -> IceRequest:
    words = draw(st.lists(st.sampled_from(["w1", "w2", "w3", "née", "🙂", "移民"]), min_size=1))
    text = " ".join(words)
    start = draw(st.integers(0, len(text) - 1))
    fields: dict[str, Any] = {
        "text": text,
        "text_pair": draw(st.sampled_from([None, "w7 w8 w9"])),
        "variant": draw(st.sampled_from(["robust", "paper", "reference"])),
        "seed": draw(st.integers(0, 3)),
        "attribution": draw(st.sampled_from([None, "attention", ["gradient", "lime"]])),
        "explanations": [
            {"name": "mine", "attributions": [{"start": start, "end": len(text), "value": -1.5}]}
        ],
        "human": draw(st.sampled_from([None, [{"start": 0, "end": 1}]])),
        "k": draw(st.sampled_from([0.2, 1.0, (0.1, 0.5)])),
        "operators": draw(st.sampled_from([("delete",), ("infill", "mask_unk"), ("mask",)])),
        "infill_pool": POOL,
        "draws": draw(st.sampled_from([1, 7, 50])),
        "decision": draw(st.sampled_from([None, "no", "yes"])),
        "rank_by": draw(st.sampled_from(["value", "magnitude"])),
    }
    if fields["variant"] == "robust":
        fields["aspects"] = draw(st.sampled_from([("sufficiency",), ("necessity", "sufficiency")]))
        fields["alternative"] = draw(st.sampled_from(["two-sided", "greater"]))
    return flat_request(IceRequest, fields)


def ask(**fields: Any) -> IceRequest:
    whole = {"text": TEXT, "attribution": "attention", **fields}
    return flat_request(IceRequest, {k: v for k, v in whole.items() if v is not None})


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_any_request_is_survived_and_stays_in_its_ranges(request: IceRequest) -> None:
    with planted():
        report = score(request)
    assert IceResult.model_validate_json(report.model_dump_json()) == report
    assert report.score is None or 0 <= report.score <= 1
    assert report.score is not None or report.warnings
    for item in report.evidence:
        whole = request.text if item.offsets_into == "text" else request.text_pair or ""
        assert item.start is not None
        assert item.text == whole[item.start : item.end] != ""
    json.dumps(report.model_dump(mode="json"), allow_nan=False)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(requests(), min_size=1, max_size=4))
def test_alone_is_as_in_a_batch_byte_for_byte(batch: list[IceRequest]) -> None:
    with planted():
        together = [report.model_dump_json() for report in score_batch(batch)]
        backwards = [report.model_dump_json() for report in score_batch(batch[::-1])]
        alone = [score(request).model_dump_json() for request in batch]
    assert together == alone == backwards[::-1]


def test_all_rows_of_a_batch_travel_in_one_call() -> None:
    with planted() as judge:
        first, second = score_batch([ask(draws=50), ask(text="w1 w2 w3", k=(0.4, 0.7))])
    assert len(judge.calls) == 1
    assert judge.calls[0] == first.forward_rows + second.forward_rows - 2


def test_the_exact_test_of_a_report_is_brute_force() -> None:
    with planted():
        report = score(ask(text="w1 w2 w3 w4 w5 w6 w7", k=0.45, decision="yes"))
    test = report.components.tests[0]
    ids = [FIRST_WORD + n for n in range(1, 8)]
    scores = {s: noise((0, *(ids[p] for p in s), 1)) for s in combinations(range(7), 3)}
    assert test.scores is not None
    observed = test.scores.rationale
    others = sorted(scores.values())
    others.remove(observed)
    assert test.null.exact
    assert test.null.draws == 34
    assert test.null.mean == pytest.approx(np.mean(others))
    assert test.p_value == pytest.approx(sum(s >= observed for s in scores.values()) / 35)
    assert test.win_rate == pytest.approx(np.mean(np.array(others) < observed))
    assert test.scores.empty == noise((0, 1))


def test_explanations_of_one_text_meet_the_same_draws() -> None:
    text = " ".join(word(n) for n in range(30))
    both = [{"start": 0, "end": 30, "value": 1.0}]
    with planted(target_of := noise):
        together = score(
            ask(text=text, attribution=["attention", "gradient"], attributions=both, draws=40)
        )
        alone = score(ask(text=text, attribution="gradient", draws=40))
    assert target_of is noise
    first, _, second, _, third, _ = together.components.tests  # each side of three explanations
    assert first.null == second.null  # the same rationale by the planted values
    for one, other in zip(alone.components.tests, together.components.tests[2:4], strict=True):
        assert one.null == other.null
        assert one.p_two_sided == other.p_two_sided
    assert first.null.draws == third.null.draws == 40
    names = [(gap.first, gap.second) for gap in together.components.comparisons]
    assert ("attention", "gradient") in names
    same = together.components.comparisons[0]
    assert (same.win_rate_difference, same.low, same.high) == (0, 0, 0)


def test_all_tests_of_an_explanation_read_the_same_draws() -> None:
    text = " ".join(word(n) for n in range(40))
    tokens: dict[str, Any] = {
        "text": text,
        "attribution": None,
        "null": "tokens",
        "decision": "yes",
    }
    cause, other = [{"start": 0, "end": 5}], [{"start": 12, "end": 20}]
    with planted(weighted({0: 3.0, 1: 3.0}, bias=-3)):
        clear = score(ask(rationale=cause, draws=500, **tokens))
    with planted(lambda ids: 0.25) as judge:
        chance = score(ask(rationale=other, **tokens))
    for test in clear.components.tests:
        assert (test.null.draws, test.null.win_rate_draws) == (500, 500)
        assert (test.p_value, test.verdict) == (1 / 501, "faithful")
    for test in chance.components.tests:
        assert test.null.draws == test.null.win_rate_draws == 199
        assert test.verdict == "inconclusive"
    assert sum(judge.calls) < 410


def test_fills_are_the_same_for_the_rationale_and_its_null_and_spare_what_they_must() -> None:
    seen: list[tuple[int, ...]] = []

    def probability(ids: tuple[int, ...]) -> float:
        seen.append(ids)
        return noise(ids)

    own = TEXT.upper()
    pool = ["w90 w91 w92 yes", own, "w93 hated"]
    with planted(probability):
        score(ask(operators=["infill"], infill_pool=pool, infill_excluded=["hated"], infills=3))
    rows = [ids for ids in seen if len(ids) == 14 and ids[1:13] != tuple(range(10, 22))]
    assert rows
    allowed = {FIRST_WORD + n for n in (90, 91, 92, 93)}
    for ids in rows:
        assert (ids[0], ids[-1]) == (0, 1)
        for place, id_ in enumerate(ids[1:13]):
            assert id_ == FIRST_WORD + place or id_ in allowed
    fills = {
        tuple(ids[p] for p in (1, 2)) for ids in rows if ids[1] in allowed and ids[2] in allowed
    }
    assert len(fills) <= 3


def test_a_truncated_text_says_how_much_was_cut() -> None:
    with planted(longest=8):
        report = score(ask())
    assert report.eligible_tokens == 6
    cut = len(TEXT) - report.characters_read[0]
    assert any(f"the other {cut} are ignored" in warning for warning in report.warnings)


def test_both_texts_of_a_pair_are_eligible() -> None:
    with planted():
        report = score(ask(text="w1 w2", text_pair="w3 w4 w5", k=0.6, attribution="attention"))
    assert report.eligible_tokens == 5
    assert {item.offsets_into for item in report.evidence} <= {"text", "text_pair"}
    assert report.characters_read == (5, 8)


def test_plausibility_stands_beside_faithfulness() -> None:
    marked = [{"start": 0, "end": 5}]  # w0 w1
    values = [{"start": 3, "end": 8, "value": 1.0}]  # w1 w2
    with planted():
        report = score(
            ask(attribution=None, attributions=values, human=marked, k=0.2, decision="yes")
        )
    found = report.components.plausibility[0]
    assert (found.iou, found.precision, found.recall) == (1 / 3, 0.5, 0.5)
    assert found.prevalence == pytest.approx(2 / 12)
    assert found.auprc is not None


def test_the_whole_text_has_no_random_rival() -> None:
    with planted():
        report = score(ask(k=1.0))
    test = report.components.tests[0]
    assert (report.score, test.win_rate, report.control) == (None, None, None)
    assert any("whole text" in warning for warning in report.warnings)


def test_a_small_denominator_makes_nsr_null_and_nothing_else() -> None:
    with planted(lambda ids: 0.5 + noise(ids) / 100):
        report = score(ask())
    test = report.components.tests[0]
    assert test.nsr is None
    assert test.win_rate is not None
    assert any("NSR is null" in warning for warning in report.warnings)


def test_the_dead_zone_of_the_released_code_is_shown_as_what_it_is() -> None:
    with planted(lambda ids: 0.5 + noise(ids) / 100):
        report = score(ask(variant="reference"))
    test = report.components.tests[0]
    assert (report.score, test.nsr, test.effect, test.p_value) == (0, 0, 0, 1)
    assert any("makes every NSR 0" in warning for warning in report.warnings)


def test_operators_are_averaged_as_the_variant_says() -> None:
    operators = ["delete", "mask_unk"]
    with planted():
        robust = score(ask(operators=operators))
        paper = score(ask(operators=operators, variant="paper", decision="yes"))
    sides = [test for test in robust.components.tests if test.aspect == "sufficiency"]
    rates = [test.win_rate for test in sides]
    assert len(rates) == 2
    assert robust.score == pytest.approx(np.mean([rate for rate in rates if rate is not None]))
    *each, mean = paper.components.tests
    assert mean.operator == "mean"
    assert mean.nsr == pytest.approx(np.mean([test.nsr for test in each if test.nsr is not None]))
    assert paper.score == mean.strict_win_rate


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"decision": "maybe"}, "/decision"),
        ({"operators": ["infill"], "infill_pool": [TEXT]}, "/options/infill_pool"),
    ],
)
def test_what_the_caller_must_change_is_named(fields: dict[str, Any], pointer: str) -> None:
    with planted(), pytest.raises(BadInput) as caught:
        score(ask(**fields))
    assert caught.value.pointer == pointer


def test_spans_that_hold_no_word_give_no_score() -> None:
    with planted():
        report = score(ask(attribution=None, rationale=[{"start": 2, "end": 3}]))
    assert report.score is None
    assert "no-words" in {reason.code for reason in report.reasons}


def test_without_models_it_must_wait() -> None:
    with pytest.raises(Unavailable):
        score(ask())


def test_a_model_that_errs_on_parts_is_doubted_at_the_shares_that_are_asked() -> None:
    off = PartExcess(operator="delete", kept=0.2, excess=0.19)
    fine = PartExcess(operator="delete", kept=0.8, excess=0.01)
    use = USE.model_copy(update={"on_parts": (off, fine)})

    def doubts(**fields: Any) -> list[str]:
        with planted(noise, use=use):
            warnings = score(ask(**fields)).warnings
        return [warning for warning in warnings if warning.startswith("ece_perturbed: ")]

    assert len(doubts(k=(0.1, 0.3))) == 1
    assert "20% of the words left (delete)" in doubts()[0]
    assert doubts(k=0.9, aspects=["sufficiency"]) == []
    assert len(doubts(k=0.9)) == 1  # what the rationale leaves is a tenth
    assert doubts(operators=("infill",), infill_pool=POOL) == []
    assert doubts(variant="reference") == []


@pytest.mark.parametrize("operator", ["delete", "mask_unk"])
def test_rows_of_odd_lengths_are_counted(operator: str) -> None:
    """By the judge itself: the tokens of every row but the text's own, which comes first."""
    lengths: list[int] = []

    def counting(ids: tuple[int, ...]) -> float:
        lengths.append(len(ids))
        return noise(ids)

    def measured(ends: tuple[int, int] | None) -> tuple[float | None, bool]:
        lengths.clear()
        use = USE.model_copy(update={"training_tokens": ends})
        with planted(counting, use=use):
            report = score(ask(operators=(operator,)))
        assert report.distance is not None
        assert report.distance.rows == len(lengths) - 1
        return report.distance.length_share, any(
            "outside the range of lengths" in w for w in report.warnings
        )

    assert measured(None) == (None, False)
    whole = lengths[0]
    for ends in ((whole, whole), (1, whole), (whole + 1, whole + 9)):
        share, told = measured(ends)
        outside = [not ends[0] <= length <= ends[1] for length in lengths[1:]]
        assert share == pytest.approx(np.mean(outside))
        assert told == (np.mean(outside) > 0.5)
