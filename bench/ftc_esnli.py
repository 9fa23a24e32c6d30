"""Measures FTC on human and generated explanations of e-SNLI, through the whole service.

`python -m bench.ftc_esnli DATA`: DATA is a folder with `esnli.jsonl` and `esnli_train.jsonl`. The
items' premises were held back when the weights of `embedded-nli` were trained. Prints aggregates as
JSON. With `--show N` it prints N seeded counterfactuals instead, to be read for their grammar; no
model is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.environment import environment
from cli.stack.stack import running
from services.ftc.batch_report import Row
from services.ftc.contract import FtcRequest
from services.ftc.extraction import extract
from services.ftc.metric import SERVICE
from services.ftc.report import LABELS, FtcBatchReport, FtcBatchReportRequest, FtcResult
from shared.contracts.answers import stored_result
from shared.contracts.messages import Scored
from shared.process import telemetry
from shared.process.settings import settings
from shared.reports.estimates import BatchStatistics
from training.examples import normalize_text
from training.nli import NLI, read


def batch_report(rows: Any, request: Any) -> FtcBatchReport:
    over = BatchStatistics(SERVICE.contract, rows, request)
    return SERVICE.summarize(rows, over)


Json = dict[str, Any]

FILES = ("esnli_train.jsonl", "esnli.jsonl")  # the order of the training
SEED = 20
OTHERS = 3  # explanations of other items for each item
CLIENTS = 8
WAIT = {"Prefer": "wait=30"}
SOURCES = {
    "human": ("label", "explanation_1"),
    "generated": ("generated_label", "generated_explanation"),
}


def items(data: Path, number: int) -> list[Json]:
    """Return `count` items with equal numbers of each label, whose premises were not in the model's
    training data. If these do not suffice, premises used only for its temperature are added."""
    parts = NLI.split(read(data / name for name in FILES))
    lines = (data / FILES[1]).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(SEED).permutation(len(rows))
    mixed: list[Json] = []
    for part in (parts.held_back, parts.calibration):
        families = {example.family for example in part}
        mixed += [
            rows[place] for place in order if normalize_text(rows[place]["premise"]) in families
        ]
    each = number // len(LABELS)
    return [row for label in LABELS for row in [r for r in mixed if r["label"] == label][:each]]


def body(row: Json, source: str, explained: Json, inputs: str) -> Json:
    """Return a request about this item with the label and explanation of this source."""
    label, explanation = SOURCES[source]
    return {
        "premise": row["premise"],
        "hypothesis": row["hypothesis"],
        "explanation": explained[explanation],
        "decision": row[label],
        "draws": 50 if inputs == "all" else 0,
        "study": {"inputs": inputs},
    }


def bodies(rows: Sequence[Json], source: str) -> Iterator[Json]:
    generator = np.random.default_rng(SEED)
    label = SOURCES[source][0]
    for row in rows:
        yield body(row, source, row, "all")
        others = [r for r in rows if r[label] == row[label] and r["premise"] != row["premise"]]
        for place in generator.permutation(len(others))[:OTHERS]:
            yield body(row, source, others[place], "another_item")


DETAILS = {"expand": "details"}


def scored(client: httpx.Client, sent: Json) -> Row:
    answer = client.post("/v1/scores/ftc", params=DETAILS, json=sent, headers=WAIT)
    while (job := answer.raise_for_status().json())["status"] not in ("succeeded", "failed"):
        answer = client.get(f"/v1/jobs/{job['id']}", params=DETAILS)
    assert job["status"] == "succeeded", job["error"]
    result = FtcResult.model_validate(stored_result(job["result"]))
    return Scored(job["id"], None, FtcRequest.model_validate(sent), result)


def through_service(work: dict[str, list[Json]]) -> dict[str, list[Row]]:
    free = settings().model_copy(update={"port": 0})
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), free) as stack,
        httpx.Client(base_url=stack.url, timeout=120) as client,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        return {
            source: list(with_progress(source, pool.map(lambda sent: scored(client, sent), some)))
            for source, some in work.items()
        }


def with_progress(source: str, rows: Iterator[Row]) -> Iterator[Row]:
    for place, row in enumerate(rows, 1):
        if place % 200 == 0:
            print(f"{source}: {place} jobs", file=sys.stderr)
        yield row


def summed_up(rows: Sequence[Row]) -> dict[str, Json]:
    """Return figures for true explanations, for explanations of the model's own label, and for
    other labels."""
    own = [row for row in rows if row.request.study and row.request.study.inputs == "all"]
    faithful = [row for row in own if _own_label(row.report) == row.report.decision]
    asked = FtcBatchReportRequest(jobs=("all",), seed=SEED)

    def report(some: Sequence[Row]) -> FtcBatchReport:
        return batch_report(some, asked)

    return {
        "true": report(own).model_dump(mode="json", exclude={"sensitivity", "plots"}),
        "of_the_model_s_own_label": report(faithful).model_dump(
            mode="json", include={"scored", "coverage", "macro", "micro", "cases", "baselines"}
        ),
        "against_others": {
            "sensitivity": [one.model_dump(mode="json") for one in report(rows).sensitivity]
        },
    }


def _own_label(report: FtcResult) -> str | None:
    if report.original is None:
        return None
    return max(LABELS, key=lambda label: float(getattr(report.original, label)))


def show(rows: Sequence[Json], number: int) -> None:
    """Print counterfactuals for people to read, in equal numbers for each label and source."""
    each = number // (len(LABELS) * len(SOURCES))
    for source, (named, written) in SOURCES.items():
        for label in LABELS:
            found = 0
            for row in [row for row in rows if row[named] == label]:
                made = extract(label, row["hypothesis"], row[written], printed=False).made
                if made and found < each:
                    found += 1
                    print(f"{source} | {row['hypothesis']} | {row[written]}")
                    print(f"    => {' ## '.join(one.text for one in made)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ftc_esnli", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--show", type=int, metavar="N")
    asked = parser.parse_args()
    rows = items(asked.data, asked.items)
    if asked.show:
        show(rows, asked.show)
        return
    telemetry.configure_logging("warning", "console")
    found = through_service({source: list(bodies(rows, source)) for source in SOURCES})
    figures = {source: summed_up(some) for source, some in found.items()}
    about = environment(items=len(rows), seed=SEED)
    print(json.dumps({"study": "ftc_esnli", "figures": figures, "environment": about}))


if __name__ == "__main__":
    main()
