"""Scores split by a key: laws of the test, an oracle, and the split of real results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from services.ftc.contract import CONTRACT
from services.ftc.report import FtcBatchReportRequest
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.reports.estimates import BatchStatistics
from shared.reports.score_splits import split_scores, split_test
from shared.statistics.bootstrap import Resampling
from tests.echo_metric import ECHO, EchoReport, EchoRequest, echo
from tests.ftc.test_batch_report import GAMES, contradiction, neutral, scored

ASKED = BatchReportRequest(jobs=("job_1",), resamples=200, by=("metadata.writer",))
HOW = Resampling(seed=1, resamples=399)


def keys(count: int) -> list[str]:
    return [f"text {place}" for place in range(count)]


def test_texts_are_counted_that_every_value_has() -> None:
    both = [Scored(f"job_{n}{v}", None, *echoed(n, v)) for v in "ab" for n in range(5 + (v == "a"))]
    over = BatchStatistics(ECHO, both, ASKED)
    found = split_scores(over)[0]
    assert (found.texts, found.common_texts, found.within_texts) == (6, 5, True)


def echoed(number: int, value: str) -> tuple[EchoRequest, EchoReport]:
    asked = EchoRequest(text=f"text {number}", metadata={"writer": value})
    return asked, echo(asked)


@pytest.mark.parametrize("mixed", [0, 4, 12])
def test_p_is_uniform_where_the_values_mean_nothing(mixed: int) -> None:
    """mixed: texts of several values, of 12."""
    random = np.random.default_rng(7)
    found = []
    for number in range(150):
        texts = np.repeat(np.arange(12), 3)
        scores = random.normal(size=12)[texts] + 0.1 * random.normal(size=36)
        values = random.permutation(np.arange(12) % 3)[texts]
        values[: 3 * mixed] = np.tile([0, 1, 2], mixed)
        test = split_test(f"{number}", scores, values, [f"t{text}" for text in texts], HOW)
        assert test is not None
        assert test.within is bool(mixed)
        found.append(test.p_value)
    assert stats.kstest(found, "uniform").pvalue > 0.001
    assert min(found) > 0


def test_one_text_of_two_values_does_not_hide_what_the_others_say() -> None:
    random = np.random.default_rng(8)
    values = np.append(np.arange(60) % 2, [0, 1])
    scores = values + 0.1 * random.normal(size=62)
    test = split_test("hidden", scores, values, [*keys(60), "twice", "twice"], HOW)
    assert test is not None
    assert test.within
    assert test.p_value == 1 / 400


def test_results_of_one_text_are_no_evidence_of_their_own() -> None:
    """Many results of three texts a value are three texts, however many they are."""
    texts = np.repeat(np.arange(4), 50)
    test = split_test("few", texts.astype(float), texts % 2, [f"t{text}" for text in texts], HOW)
    assert test is not None
    assert test.p_value > 0.2


def test_it_agrees_with_scipy_where_all_permutations_can_be_listed() -> None:
    first, second = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0.5, 0.7, 0.95, 0.9])
    oracle = stats.permutation_test(  # type: ignore[call-overload]
        (first, second), _distance, n_resamples=np.inf, alternative="greater"
    )
    how = Resampling(seed=3, resamples=1_999)
    scores, values = np.concatenate([first, second]), np.repeat([0, 1], 4)
    test = split_test("exact", scores, values, keys(8), how)
    assert test is not None
    assert test.p_value == pytest.approx(float(oracle.pvalue), abs=0.03)


def _distance(a: Any, b: Any, axis: int = -1) -> Any:
    return np.abs(a.mean(axis=axis) - b.mean(axis=axis))


def test_nothing_can_be_permuted_in_one_value_or_two_texts() -> None:
    two = np.array([0.1, 0.2])
    assert split_test("one", two, np.array([0, 0]), keys(2), HOW) is None
    assert split_test("two", two, np.array([0, 1]), keys(2), HOW) is None


def over(by: tuple[str, ...], **fields: Any) -> BatchStatistics[Any]:
    asked = [
        contradiction(game, metadata={"kind": "a", "half": "12"[place % 2]})
        for place, game in enumerate(GAMES)
    ] + [neutral(game, metadata={"kind": "b"}) for game in GAMES]
    request = FtcBatchReportRequest(jobs=("job",), by=by, resamples=200, **fields)
    return BatchStatistics(CONTRACT, scored(asked), request)


def test_a_split_has_every_value_and_counts_what_has_none() -> None:
    found = over(("metadata.kind", "metadata.half", "model", "metadata.none"), pairwise=True)
    kind, half, model, none = split_scores(found)
    assert {value.value for value in kind.values} == {"a", "b"}
    for value in kind.values:
        rows = [row for row in found.rows if row.request.metadata["kind"] == value.value]
        scores = [row.report.score for row in rows if row.report.score is not None]
        assert (value.results, value.undefined) == (len(rows), len(rows) - len(scores))
        if scores:
            assert value.score.value == pytest.approx(np.mean(scores))
    assert (half.without, len(half.values)) == (8, 2)
    assert [pair.first for pair in half.pairs] in ([], ["1"])
    for empty in (model, none):
        assert (empty.values, empty.p_value) == ((), None)
        assert "a split needs" in empty.warnings[0]


def test_only_known_keys_are_taken() -> None:
    with pytest.raises(ValidationError):
        over(("text",))


def test_a_shift_is_found() -> None:
    found = over(("metadata.kind",))
    rows = [
        Scored(f"job_{place}", None, row.request, row.report.model_copy(update={"score": score}))
        for place, row in enumerate(found.rows)
        for score in [0.2 + 0.6 * (row.request.metadata["kind"] == "a")]
    ]
    (split,) = split_scores(BatchStatistics(CONTRACT, rows, found.request))
    assert split.p_value is not None
    assert split.p_value <= 2 / 201
    assert [value.value for value in split.values] == ["b", "a"]
