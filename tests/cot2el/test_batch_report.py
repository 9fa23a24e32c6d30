"""Reports over many results: what is pooled, what is a mean, what has failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from services.cot2el.contract import CONTRACT
from services.cot2el.metric import SERVICE
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from tests.cot2el.writers import EXAMPLE, StubWriter, bound, request, sent
from tests.summaries import summaries

score = SERVICE.score


batch_report = summaries(SERVICE)
ASKED = BatchReportRequest(jobs=("job_1",), resamples=500)


def scored(asked: Any) -> Scored[Any, Any]:
    return Scored(job_id="job_1", custom_id=None, request=asked, report=score(asked))


def test_means_over_items_and_over_explanations() -> None:
    pairs = EXAMPLE["pairs"]
    rows = [scored(sent(pairs=pairs[:count])) for count in (1, 4, 5)] + [scored(sent(pairs=[]))]
    report = batch_report(rows, ASKED)
    assert report.statuses == {"ok": 4}
    assert report.faithfulness.value == pytest.approx(np.mean([1, 1, 0.8]))
    assert (report.faithfulness.of, report.undefined) == (3, 1)
    assert report.faithfulness_pooled.value == pytest.approx(9 / 10)
    assert report.faithfulness_by_chance.value is not None
    assert report.faithfulness_by_chance.value < 0.9
    assert (report.filtered, report.parsed, report.refinement) == (None, None, None)


def test_a_failed_parse_is_a_status_and_no_score() -> None:
    with bound(StubWriter(lambda *_: "nothing")):
        rows = [scored(request()), scored(request(reasoning=None))]
    report = batch_report(rows, ASKED)
    assert report.statuses == {"no_reasoning": 1, "parse_failed": 1}
    assert (report.score.value, report.undefined) == (None, 2)


def test_refinement_brings_pairs_closer_to_the_annotator() -> None:
    human = [pair.model_dump() for pair in score(sent()).sets.filtered]
    with bound():
        rows = [scored(sent(human_pairs=human)) for _ in range(3)]
    report = batch_report(rows, ASKED)
    assert report.filtered is not None
    assert report.filtered.f1.value == pytest.approx(1)
    assert report.refinement is not None
    assert report.refinement.value is not None
    assert report.refinement.value > 0
    assert "levenshtein" in report.filtered.columns
    assert "semantic_cosine" not in report.filtered.columns


def test_no_results() -> None:
    report = batch_report([], ASKED)
    assert (report.scored, report.score.value) == (0, None)
    assert CONTRACT.batch.report.model_validate_json(report.model_dump_json()) == report


def test_explanations_and_options_are_each_counted_once() -> None:
    pairs = EXAMPLE["pairs"]
    rows = [scored(sent(pairs=pairs[:count])) for count in (0, 1, 4, 5)]
    unkept = rows[1].request.model_construct(do_not_store_text=True, metadata={})
    report = batch_report([*rows, replace(rows[1], request=unkept)], ASKED)
    parts = [row.report.components for row in [*rows, rows[1]]]
    found, options = report.explanations, report.options
    assert found is not None
    assert options is not None
    assert found.kept == sum(one.kept for one in parts)
    assert found.kept + found.contradicted + found.unlike == sum(one.parsed for one in parts)
    assert options.supported == sum(row.report.components.labels_with_support for row in rows)
    whole = options.supported + options.opposed + options.unexplained
    assert whole == sum(len(row.request.options) for row in rows)
    assert (options.unexplained >= 3, options.unknown) == (True, 1)
