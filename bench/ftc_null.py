"""Measures on e-SNLI whether random phrases score at chance in FTC, and how often human
explanations beat them.

`python -m bench.ftc_null DATA [--items N] [--phrases N] [--rows ROW]`: DATA as for
`bench.ftc_esnli`. In this process, with embedded-nli; premises that were held back from its
training. Three rows: human explanations as they are; random phrases of the same type and overlap
with the premise in place of the explanation's; explanations of other items. Prints win rates, the
share of p <= 0.05 among those that could reach it, gain and skill as JSON; no text.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.environment import environment
from bench.ftc_esnli import SEED, batch_report, items
from services.ftc.contract import FtcRequest
from services.ftc.extraction import extract
from services.ftc.hypotheses import random_phrases
from services.ftc.metric import SERVICE
from services.ftc.report import FtcBatchReportRequest
from services.worker import local
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue

ROOT = Path(__file__).parents[1]
ROWS = ("human", "random_phrase", "other_items")
AT_ONCE = 10  # requests in shared calls

Json = dict[str, Any]


def human(row: Json, explained: Json) -> FtcRequest:
    """Return an item with its own human explanation or that of another item."""
    return FtcRequest(
        premise=row["premise"],
        hypothesis=row["hypothesis"],
        explanation=explained["explanation_1"],
        decision=row["label"],
        language="en",
    )


def at_random(request: FtcRequest, each: int = 1) -> Iterator[FtcRequest]:
    """Yield for each counterfactual several with a random phrase of the same class."""
    label = request.decision or "entailment"
    for made in extract(label, request.hypothesis, request.explanation_text, printed=False).made:
        others = random_phrases(request.model_copy(update={"seed": SEED}), made).texts
        for text in others[:each]:
            supplied = {"kind": made.kind, "text": text}
            yield FtcRequest.model_validate(
                request.model_dump() | {"counterfactuals": [supplied], "seed": 0}
            )


def summed_up(requests: Sequence[FtcRequest]) -> Json:
    rows = []
    for start in range(0, len(requests), AT_ONCE):
        some = requests[start : start + AT_ONCE]
        reports = SERVICE.score_batch(some)
        rows += [
            Scored(f"job_{start + place}", None, request, report)
            for place, (request, report) in enumerate(zip(some, reports, strict=True))
        ]
    found = batch_report(rows, FtcBatchReportRequest(jobs=("all",), seed=SEED))
    return {
        "results": found.scored,
        "covered": found.null_win_rate.of,
        "null_win_rate": _ends(found.null_win_rate),
        "significant_of_those_that_could_be": _ends(found.null_significant),
        "gain": None if found.gain is None else _ends(found.gain),
        "skill": [one.model_dump(mode="json") for one in found.skill],
    }


def _ends(found: Interval) -> Json:
    return {"value": found.value, "low": found.low, "high": found.high, "of": found.of}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ftc_null", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--phrases", type=int, default=1, help="random ones a counterfactual")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, metavar="ROW")
    asked = parser.parse_args()
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    rows = items(asked.data, asked.items)
    own = [human(row, row) for row in rows]
    order = np.random.default_rng(SEED).permutation(len(rows))
    swapped = [human(row, rows[place]) for row, place in zip(rows, order, strict=True)]
    random = [one for request in own for one in at_random(request, asked.phrases)]
    requests = dict(zip(ROWS, (own, random, swapped), strict=True))
    figures = {name: summed_up(requests[name]) for name in asked.rows}
    print(json.dumps({"study": "ftc_null", "figures": figures,
                      "environment": environment(items=len(rows), seed=SEED)}))  # fmt: skip


if __name__ == "__main__":
    main()
