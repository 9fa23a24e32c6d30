"""Results beside what people say: laws, SciPy and scikit-learn as oracles, nulls with reasons."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import accuracy_score, f1_score  # type: ignore[import-untyped]

from shared.contracts.batches import BatchReportRequest
from shared.contracts.gold import GoldAgreement, GoldColumns
from shared.contracts.gold_metadata import gold_spans, has_gold, ratings
from shared.contracts.messages import Evidence, Scored
from shared.contracts.service import FactPaths
from shared.reports.estimates import BatchStatistics
from shared.reports.gold_agreement import GoldResults, metric_source
from tests.echo_metric import ECHO, EchoReport, EchoRequest, echo

LABELLED = replace(ECHO, facts=FactPaths(decision_stated="label", passages=("passage",)))
TEXT = "0123456789" * 4


class LabelledReport(EchoReport):
    """What the model decided, and the passages that it names."""

    label: str | None = None


def row(
    number: int, score: float | None, label: str | None = None, **more: Any
) -> Scored[Any, Any]:
    """A result of a text of its own; spans: of its passages; metadata: what people say."""
    metadata = {name: str(value) for name, value in more.get("metadata", {}).items()}
    request = EchoRequest(text=more.get("text", f"{TEXT} {number}"), metadata=metadata)
    made = echo(request).model_dump() | {"score": score, "label": label}
    made["evidence"] = tuple(
        Evidence(kind="passage", start=start, end=end, text="")
        for start, end in more.get("spans", ())
    )
    return Scored(f"job_{number}", None, request, LabelledReport.model_validate(made))


def found(rows: Sequence[Scored[Any, Any]], **columns: Any) -> GoldAgreement:
    asked = BatchReportRequest(jobs=("job_1",), resamples=200, gold=GoldColumns(**columns))
    over: Any = BatchStatistics(LABELLED, rows, asked)
    report = GoldResults(over, metric_source(LABELLED), asked.gold).agreement()
    assert report is not None
    return report


def nothing(rows: Sequence[Scored[Any, Any]]) -> bool:
    asked = BatchReportRequest(jobs=("job_1",))
    over: Any = BatchStatistics(LABELLED, rows, asked)
    return GoldResults(over, metric_source(LABELLED), asked.gold).agreement() is None


def labelled(seed: int, count: int = 80) -> list[tuple[str, str]]:
    random = np.random.default_rng(seed)
    gold = random.choice(["hateful", "non-hateful"], count, p=[0.3, 0.7])
    decided = np.where(
        random.random(count) < 0.8, gold, random.choice(["hateful", "non-hateful"], count)
    )
    return list(zip(gold.tolist(), decided.tolist(), strict=True))


def test_lines_that_say_nothing_have_no_such_part() -> None:
    assert nothing([row(1, 0.5), row(2, 0.7, "hateful")])


@pytest.mark.parametrize("seed", range(3))
def test_accuracy_and_f1_are_scikit_learns_and_their_intervals_hold_them(seed: int) -> None:
    pairs = labelled(seed)
    rows = [row(i, 0.5, own, metadata={"gold": gold}) for i, (gold, own) in enumerate(pairs)]
    told = found(rows).labels
    assert told is not None
    gold, own = zip(*pairs, strict=True)
    assert told.accuracy.value == pytest.approx(accuracy_score(gold, own))
    assert told.macro_f1.value == pytest.approx(f1_score(gold, own, average="macro"))
    for one in (told.accuracy, told.macro_f1, told.kappa, *(label.f1 for label in told.labels)):
        assert one.low is not None
        assert one.low <= (one.value or 0) <= (one.high or 0)
    assert told.chance == max(gold.count("hateful"), gold.count("non-hateful")) / 80
    assert sum(cell.results for cell in told.confusion) == 80


def test_decisions_without_a_mistake_have_no_false_certainty() -> None:
    """Of macro-F1 and kappa, whose resamples are all alike; accuracy has Wilson's ends."""
    golds = ["hateful", "non-hateful"] * 10
    rows = [row(i, 0.5, gold, metadata={"gold": gold}) for i, gold in enumerate(golds)]
    told = found(rows).labels
    assert told is not None
    for one in (told.macro_f1, told.kappa, *(label.f1 for label in told.labels)):
        assert (one.value, one.low, one.high) == (1, None, None)
    assert told.accuracy.low == pytest.approx(0.839, abs=5e-4)


def test_unread_and_refused_decisions_stand_apart_and_are_not_right() -> None:
    rows = [
        *(row(i, 0.5, "hateful", metadata={"gold": "Hateful"}) for i in range(6)),
        *(row(i, 0.5, None, metadata={"gold": "non_hateful"}) for i in range(6, 10)),
    ]
    told = found(rows).labels
    assert told is not None
    assert (told.results, told.unread, told.refused) == (10, 4, 0)
    assert (told.accuracy.value, told.accuracy.of) == (1, 6)
    assert (told.accuracy_of_all.value, told.accuracy_of_all.of) == (0.6, 10)
    assert (told.chance, told.chance_of_all) == (1, 0.6)
    assert [(one.gold, one.decided, one.results) for one in told.confusion] == [
        ("Hateful", "Hateful", 6),
        ("non_hateful", None, 4),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_chance_is_of_the_results_that_its_accuracy_is_of(seed: int) -> None:
    """Whoever always decides for the most frequent label is as good as chance, and no better."""
    random = np.random.default_rng(seed)
    golds = random.choice(["a", "b", "c"], 60).tolist()
    decided = (random.random(60) < 0.5).tolist()
    most = max("abc", key=[gold for gold, own in zip(golds, decided, strict=True) if own].count)
    told = found(
        [
            row(i, 0.5, most if own else None, metadata={"gold": gold})
            for i, (gold, own) in enumerate(zip(golds, decided, strict=True))
        ]
    ).labels
    assert told is not None
    assert told.chance == pytest.approx(told.accuracy.value)
    best = max(map(golds.count, "abc")) / 60
    assert told.chance_of_all == best
    assert (told.accuracy_of_all.value or 0) <= best


def test_without_a_decision_there_is_no_chance_of_the_decided() -> None:
    told = found([row(1, 0.5, None, metadata={"gold": "a"})]).labels
    assert told is not None
    assert (told.chance, told.chance_of_all) == (None, 1)


@pytest.mark.parametrize(
    ("plain", "as_json"),
    [("0.3;0.5", "[0.3, 0.5]"), ("4; ;5", "[4, null, 5]"), (" yes ; no", '["yes", "no"]')],
)
def test_ratings_of_several_people_need_no_json(plain: str, as_json: str) -> None:
    columns = GoldColumns()
    assert ratings({"rating": plain}, columns) == ratings({"rating": as_json}, columns)


def test_results_of_one_text_are_one_observation() -> None:
    """The same 20 answers four times each are no narrower interval than once each."""
    pairs = labelled(4, 20)
    once = [row(i, 0.5, own, metadata={"gold": gold}) for i, (gold, own) in enumerate(pairs)]
    four = [
        row(100 * i + n, 0.5, own, metadata={"gold": gold}, text=f"text {i}")
        for i, (gold, own) in enumerate(pairs)
        for n in range(4)
    ]
    one, many = found(once).labels, found(four).labels
    assert one is not None
    assert many is not None
    assert many.macro_f1.clusters == 20
    assert (many.macro_f1.high or 0) - (many.macro_f1.low or 0) == pytest.approx(
        (one.macro_f1.high or 0) - (one.macro_f1.low or 0), abs=0.05
    )


def test_labels_of_another_kind_are_said_to_be_so() -> None:
    report = found([row(1, 0.5, "hateful", metadata={"gold": "toxic"})])
    assert "gold labels: no decision equals any gold label" in report.warnings


def test_passages_beside_marked_ones() -> None:
    marked = json.dumps([[0, 10]])
    told = found(
        [
            row(1, 0.5, spans=[(0, 10)], metadata={"gold_rationale": marked}),
            row(2, 0.5, spans=[(5, 15)], metadata={"gold_rationale": '[{"start": 0, "end": 10}]'}),
            row(3, 0.5, spans=[], metadata={"gold_rationale": marked}),
            row(4, 0.5, spans=[], metadata={"gold_rationale": "[]"}),  # nothing, and nothing found
        ]
    ).rationales
    assert told is not None
    assert (told.results, told.without_spans) == (3, 1)
    assert told.character_f1.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert told.span_f1.value == pytest.approx(1 / 3)  # 5 of 15 are less than half
    length = len(TEXT) + 2
    assert told.chance.value == pytest.approx((10 / length + 10 / length + 0) / 3)
    assert told.above_chance.value == pytest.approx(0.5 - 20 / 3 / length)


def test_marks_that_cannot_be_read_are_counted() -> None:
    wrong = ("[[4, 2]]", "{", "[1]", "7")
    report = found(
        [
            row(1, 0.5, spans=[(0, 4)], metadata={"gold_rationale": "[[0, 4]]"}),
            *(row(2, 0.5, metadata={"gold_rationale": one}) for one in wrong),
        ]
    )
    assert "marked passages: 4 lines could not be read and are left out" in report.warnings


def rated(seed: int, count: int = 60, people: int = 3) -> list[Scored[Any, Any]]:
    """Scores in [0, 1]; each person says yes where the score and a noise of their own are high."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        score = float(random.random())
        said = [int(score + random.normal(0, 0.15) > 0.5) for _ in range(people)]
        rows.append(row(number, score, metadata={"rating": json.dumps(said)}))
    return rows


def test_correlations_are_scipys() -> None:
    rows = rated(1)
    told = found(rows).ratings
    assert told is not None
    scores = [one.report.score for one in rows]
    means = [np.mean(json.loads(one.request.metadata["rating"])) for one in rows]
    assert told.spearman.value == pytest.approx(spearmanr(scores, means).statistic)
    assert told.kendall.value == pytest.approx(kendalltau(scores, means).statistic)
    assert told.kendall.low is not None
    assert (told.results, told.people) == (60, 3)


def test_the_threshold_is_where_people_begin_to_accept() -> None:
    told = found(rated(2, 200)).ratings
    assert told is not None
    threshold = told.threshold
    assert threshold.low is not None
    assert threshold.low <= 0.5 <= (threshold.high or 0)
    assert (threshold.agreed.value or 0) > 0.85
    assert (threshold.kappa.value or 0) > 0.7
    assert threshold.alpha_people.value is not None
    assert threshold.alpha_with_score.value == pytest.approx(threshold.alpha_people.value, abs=0.1)
    assert threshold.reason is None


def test_of_a_metric_whose_low_scores_are_good_the_threshold_turns() -> None:
    class Low(LabelledReport):
        direction: Any = "lower_is_better"

    turned = replace(LABELLED, report=Low)
    rows = [
        replace(
            one,
            report=Low.model_validate(one.report.model_dump() | {"score": 1 - one.report.score}),
        )
        for one in rated(2, 200)
    ]
    asked = BatchReportRequest(jobs=("job_1",), resamples=200)
    over: Any = BatchStatistics(turned, rows, asked)
    low = GoldResults(over, metric_source(turned), asked.gold).agreement()
    high = found(rated(2, 200))
    assert low is not None
    assert low.ratings is not None
    assert high.ratings is not None
    own, other = low.ratings, high.ratings
    assert own.spearman.value == pytest.approx(other.spearman.value)
    assert own.threshold.value == pytest.approx(1 - (other.threshold.value or 0))
    assert own.threshold.agreed == other.threshold.agreed


def test_ratings_of_many_values_need_to_say_which_accept() -> None:
    random = np.random.default_rng(5)
    rows = [
        row(number, (stars + random.normal(0, 0.5)) / 6, metadata={"rating_anna": stars})
        for number, stars in enumerate(random.integers(1, 6, 80).tolist())
    ]
    without, with_it = found(rows).ratings, found(rows, accepted_from=3.5).ratings
    assert without is not None
    assert with_it is not None
    assert without.threshold.value is None
    assert (
        without.threshold.reason
        == "ratings have 5 values; set `accepted_from` to the lowest rating that accepts an "
        "explanation"
    )
    assert with_it.threshold.value == pytest.approx(3.5 / 6, abs=0.1)
    assert with_it.threshold.alpha_people.value is None  # one person
    assert with_it.alpha.value is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([1] * 30, "nobody says no"),
        ([1, 0] * 4, "4 texts with a no; at least 10 of each kind are needed"),
    ],
)
def test_what_cannot_be_said_is_null_with_its_reason(said: list[int], reason: str) -> None:
    rows = [row(i, i / 50, metadata={"rating": one}) for i, one in enumerate(said)]
    told = found(rows).ratings
    assert told is not None
    assert (told.threshold.value, told.threshold.reason) == (None, reason)
    assert told.threshold.agreed.value is None


def test_the_order_of_lines_changes_nothing() -> None:
    rows = [
        replace(one, report=one.report.model_copy(update={"label": label}))
        for one, (_, label) in zip(rated(7), labelled(7), strict=False)
    ]
    assert found(rows) == found(rows[::-1])


def test_what_people_say_is_read_in_every_way_it_may_stand() -> None:
    columns = GoldColumns()
    assert ratings({"rating": "4"}, columns) == {"1": 4}
    assert ratings({"rating": "[4, null, 2.5]"}, columns) == {"1": 4, "3": 2.5}
    assert ratings({"rating_anna": "yes", "rating_ben": "no"}, columns) == {"anna": 1, "ben": 0}
    assert ratings({"ratings": "4", "rated": "5", "gold": "x"}, columns) == {}
    assert gold_spans({"gold_rationale": ""}, columns) is None
    assert has_gold({"rating_anna": "1"}, columns)
    assert not has_gold({"market": "DE"}, columns)
    assert has_gold({"label": "x"}, GoldColumns(label="label"))


@pytest.mark.parametrize("wrong", ["good", "nan", "inf", "[[1]]", '{"a": 1}', "[1"])
def test_what_is_no_number_is_no_rating(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ratings({"rating": wrong}, GoldColumns())


def test_where_people_are_divided_their_alpha_says_so() -> None:
    """A third of the texts is a tie: it has no majority, and is disagreement all the same."""
    rows = [
        row(number, number % 2, metadata={"rating_a": number % 2, "rating_b": told})
        for number in range(90)
        for told in [number % 2 if number % 3 else 1 - number % 2]
    ]
    threshold = rating_of(rows).threshold
    assert (threshold.results, threshold.ties) == (60, 30)
    assert threshold.agreed.value == 1.0
    assert threshold.alpha_people.value == pytest.approx(1 - 30 * (2 * 90 - 1) / (2 * 90 * 45))
    assert threshold.alpha_with_score.value is not None
    assert threshold.alpha_with_score.value > threshold.alpha_people.value  # two of three at least


def rating_of(rows: list[Any]) -> Any:
    told = found(rows).ratings
    assert told is not None
    return told


def test_labels_in_other_words_and_keys_of_no_line_are_said() -> None:
    rows = [row(number, 0.5, "hateful", metadata={"gold": "hateful"}) for number in range(4)]
    odd = [row(4 + number, 0.5, "hateful", metadata={"gold": "1"}) for number in range(3)]
    said = found([*rows, *odd], rationale="marked").warnings
    assert (
        "gold labels: no decision equals the gold labels of 3 lines, so these lines count as wrong"
        in said
    )
    assert "gold: no line has `marked` in its metadata" in said
    alone = found(odd, label="moderator")
    assert alone.labels is None
    assert "gold: no line has `moderator` in its metadata" in alone.warnings


@pytest.mark.parametrize("given", ["[1e308, 1.2e308, 1.7e308]", "[1e160, 0]", "-1e7"])
def test_ratings_of_no_scale_are_left_out_and_counted(given: str) -> None:
    rows = [
        row(number, number / 30, metadata={"rating": given if number == 3 else number % 2})
        for number in range(30)
    ]
    report = found(rows)
    assert report.ratings is not None
    assert report.ratings.results == 29
    assert any("1 lines could not be read" in said for said in report.warnings)
    json.loads(report.model_dump_json())
