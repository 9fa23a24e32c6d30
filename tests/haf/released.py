"""What `robust` changes of the released numbers, from what is stored of them.

Exact where a number rests on stored parts only: which reasons are found, what a decision weighs.
Bounded where it does not: the log-probabilities of the first and last tokens are not stored, but
how far all tokens move a confidence was measured on the whole release (`EVERY_TOKEN`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from services.haf import kernel
from services.haf.contract import HafWeights
from services.haf.parsing import ParsedResponse
from services.haf.reading import read_responses
from services.haf.report import Answer, Stage

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
FILES = sorted((GOLDEN / "haf").glob("*.json"))
PARSES = GOLDEN / "haf_parse.jsonl"
METRICS = ("sos", "dis", "uii", "uei", "rs", "rn")
RELIANCE: tuple[tuple[str, Stage], ...] = (("uii", "internal"), ("uei", "external"))
WEIGHTS = HafWeights()

Json = dict[str, Any]


@dataclass(frozen=True)
class Moved:
    """By how much a confidence moves when no token is dropped, on average or at most."""

    reason: float
    decision: float


EVERY_TOKEN = (Moved(0.0031, 0.0125), Moved(0.023, 0.065))  # |change of C|: mean, largest


@dataclass(frozen=True)
class Change:
    """One metric of one sample. `ours`: None where it rests on a reason without numbers."""

    metric: str
    released: float
    ours: float | None
    bounds: tuple[float, ...]  # of every token: by the mean and by the largest change of C


def parses() -> dict[str, Json]:
    """The stored responses by id."""
    if not PARSES.exists():
        return {}
    rows = map(json.loads, PARSES.read_text("utf-8").splitlines())
    return {row["id"]: row for row in rows}


def changes() -> Iterator[Change]:
    """Every metric of every sample that has a released value."""
    rows = parses()
    for file in FILES:
        found = json.loads(file.read_text("utf-8"))
        for sample in found["samples"]:
            where = f"{found['model']}|{sample['text_id'].replace(':', '|')}"
            yield from _supported(sample["initial"], rows[f"{where}|initial"])
            for metric, stage in RELIANCE:
                yield from _relied(metric, sample, stage, rows[f"{where}|{stage}"])
            yield from _upheld(sample, where, rows)


@cache
def _read(response: str, stage: Stage) -> ParsedResponse:
    return read_responses([(response, stage)])[0]


def _same(row: Json, stage: Stage) -> bool:
    found = [each.text for each in _read(row["response"], stage).reasons]
    return bool(found == row["reasons"])


def _same_decision(row: Json, stage: Stage) -> bool:
    decision = _read(row["response"], stage).decision
    return bool(decision and decision.statement.text == row["decision_sentence"])


def _supported(initial: Json, row: Json) -> Iterator[Change]:
    same = _same(row, "justify")
    sos = float(np.mean([reason["sos"] for reason in initial["reasons"]]))
    share = WEIGHTS.sos_confidence
    yield Change("sos", sos, sos if same else None, tuple(share * m.reason for m in EVERY_TOKEN))
    if initial["dis_avg"] is not None:
        apart = float(np.mean([1 - g for _, _, g in initial["sims_reasons"]]))
        bounds = tuple(apart * moved.reason for moved in EVERY_TOKEN)
        yield Change("dis", initial["dis_avg"], initial["dis_avg"] if same else None, bounds)


def _relied(metric: str, sample: Json, stage: Stage, row: Json) -> Iterator[Change]:
    reasons = sample[stage]["reasons"]
    if not reasons:
        return
    value = float(np.mean([reason["expected"] for reason in reasons]))
    diverse = float(np.mean([reason["div_solved"] for reason in reasons]))
    bounds = tuple(_term(moved, diverse, sample) for moved in EVERY_TOKEN)
    yield Change(metric, value, value if _same(row, stage) else None, bounds)


def _term(moved: Moved, diverse: float, sample: Json) -> float:
    """Half a confidence, half a mean weighted by confidences, whose members are in [0, 1]."""
    mean = np.mean([reason["confidence"] for reason in sample["initial"]["reasons"]])
    return float(0.5 * moved.reason * (1 + 2 * diverse * (1 - diverse) / mean))


def _upheld(sample: Json, where: str, rows: dict[str, Json]) -> Iterator[Change]:
    metric: str = sample["individual"]["metric"].lower()
    stage: Stage = "sufficiency" if metric == "rs" else "necessity"
    items = [item for item in sample["individual"]["items"] if item["expected"] is not None]
    ours: list[float | None] = []
    for item in items:
        row = rows[f"{where}|individual|{item['index']}"]
        weight = _weight(row, stage)
        informative = item["informativeness"]
        if stage == "necessity" and not item["reasons"]:
            informative = 0.0  # nothing was recovered
        known = weight is not None and _same(row, stage) and _same_decision(row, stage)
        score = kernel.sufficiency if stage == "sufficiency" else kernel.necessity
        confidence = item["decision"]["confidence"]
        ours.append(score(weight or 0, confidence, informative) if known else None)
    if items:
        released = float(np.mean([item["expected"] for item in items]))
        value = None if None in ours else kernel.mean(ours)
        bounds = tuple(
            float(np.mean([_moved(item, moved, stage, sample) for item in items]))
            for moved in EVERY_TOKEN
        )
        yield Change(metric, released, value, bounds)


def _weight(row: Json, stage: Stage) -> float | None:
    """The weight of the decision as it is read; None without one."""
    decision = _read(row["response"], stage).decision
    if decision is None or decision.verdict is None:
        return None
    ideal: Answer = "sufficient" if stage == "sufficiency" else "insufficient"
    answers = WEIGHTS.answers
    by_answer = {ideal: answers.upheld, "doubtful": answers.doubtful}
    return by_answer.get(decision.verdict.answer, answers.denied)


def _moved(item: Json, moved: Moved, stage: Stage, sample: Json) -> float:
    """First order: the decision's confidence moves, and the informativeness."""
    informative, confidence = item["informativeness"], item["decision"]["confidence"]
    kept = 1 - informative if stage == "sufficiency" else informative
    more = 0.0
    if item["reasons"] and stage == "sufficiency":
        more = _term(moved, item["mean_div_solved"] or 0, sample)
    elif item["reasons"]:
        more = moved.reason  # half its own, at most half the left-out reason's
    return float(item["w"] * (kept * moved.decision + confidence * more))
