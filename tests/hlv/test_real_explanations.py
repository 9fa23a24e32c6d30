"""300 items of e-SNLI before a judge made of one rule: does it tell true explanations from others?

The judge gives an option weight for every supporting explanation, by the share of its words that
the question has. Texts are never printed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.hlv.metric import SERVICE
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from tests.hlv.judges import StubJudge, bound, request
from tests.summaries import summaries

score_batch = SERVICE.score_batch


batch_report = summaries(SERVICE)
DATA = Path(__file__).parents[3] / "shared" / "data" / "esnli.jsonl"
KEYS = {"entailment": "A", "neutral": "B", "contradiction": "C"}
RATIONALE = re.compile(r"^- Supporting ([A-C])\. \w+: (.*)$", re.MULTILINE)

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="no sample data on this machine")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower()))


def by_overlap(prompt: str, written: str) -> float:
    question = words(prompt[prompt.index("Context: ") : prompt.index("\nA. ")])
    weight = 0.0
    for letter, said in RATIONALE.findall(prompt):
        if letter == written.strip():
            weight += 4 * len(words(said) & question) / max(1, len(words(said)))
    return weight - 9.0


def asked(row: dict[str, Any], explanation: str) -> Any:
    label = KEYS[row["label"]]
    return request(
        question={"premise": row["premise"], "hypothesis": row["hypothesis"]},
        human={"votes": {label: 1}},
        explanations=[{"explanation": explanation, "label": label}],
        judge={"methods": ["logits"]},
    )


def gain(rows: list[dict[str, Any]], explanations: list[str]) -> Interval:
    """How much nearer the judge comes to humans, in total variation."""
    requests = [asked(*pair) for pair in zip(rows, explanations, strict=True)]
    with bound(StubJudge(logprob=by_overlap)):
        reports = score_batch(requests)
    scored = [Scored("job", None, *pair) for pair in zip(requests, reports, strict=True)]
    report = batch_report(scored, BatchReportRequest(jobs=("job",)))
    (table,) = [one for one in report.tables if one.judged == "gain"]
    gain: Interval = table.metrics["tvd"].mean
    return gain


def test_true_explanations_help_more_than_those_of_other_items() -> None:
    lines = DATA.read_text("utf-8").splitlines()
    picked = np.random.default_rng(0).choice(len(lines), 300, replace=False)
    rows = [json.loads(lines[place]) for place in picked]
    true = [row["explanation_1"] for row in rows]
    own, others = gain(rows, true), gain(rows, true[1:] + true[:1])
    assert own.of == others.of == 300
    assert own.low is not None
    assert others.high is not None
    assert own.low > others.high
