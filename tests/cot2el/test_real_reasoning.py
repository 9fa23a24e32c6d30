"""110 outputs of language models with the reasons that a parser found in them: do they come back?

Texts are never printed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.cot2el.contract import Cot2elRequest
from services.cot2el.metric import SERVICE
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from tests.summaries import summaries

score_batch = SERVICE.score_batch


batch_report = summaries(SERVICE)
DATA = Path(__file__).parents[3] / "shared" / "data" / "haf_explanations.jsonl"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="no sample data on this machine")


def asked(number: int, row: dict[str, Any]) -> Cot2elRequest:
    options = [{"key": "A", "text": "toxic"}, {"key": "B", "text": "not toxic"}]
    pairs = [{"explanation": reason, "label": "A"} for reason in row["reasons"]]
    fields = {"question": f"Is text {number} toxic?", "options": options, "control_draws": 1}
    return Cot2elRequest.model_validate(fields | {"reasoning": row["raw_output"], "pairs": pairs})


def test_real_reasons_come_back_and_shuffled_ones_do_not() -> None:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    requests = [asked(number, row) for number, row in enumerate(rows) if row["reasons"]]
    reports = score_batch(requests)
    for request, report in zip(requests, reports, strict=True):
        verbatim = all(
            one.text == (request.reasoning or "")[one.start : one.end] for one in report.evidence
        )
        assert verbatim
    scored = [Scored("job", None, *pair) for pair in zip(requests, reports, strict=True)]
    found = batch_report(scored, BatchReportRequest(jobs=("job",)))
    assert found.faithfulness_pooled.value is not None
    assert found.faithfulness_pooled.value >= 0.95
    assert found.faithfulness_by_chance.high is not None
    assert found.faithfulness_by_chance.value is not None
    assert found.faithfulness_by_chance.value <= 0.03
    assert found.faithfulness_by_chance.high <= 0.06
