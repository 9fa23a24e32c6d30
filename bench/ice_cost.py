"""Measures the costs of ICE: `python -m bench.ice_cost` prints the cost table of the metric's page.

Rows (forward passes of one text) and seconds of one core per example by operator and draws, on
`embedded-hate` with attention, 40-word texts, five in a batch. Then 20,000 characters: seconds, and
growth of the process. Processor time, so that other work on the machine counts little. Selected
lines: `--lines mask_pad:200 infill:50`; then `--long delete` names the long ones.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from services.worker import local
from shared.contracts.messages import MAX_TEXT
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue

score_batch = SERVICE.score_batch

SENTENCE = (
    "the old garden people walk rain slowly under green windows and a small town by river sells "
    "warm bread while many friends talk about weather music books or long journeys"
)
WORDS = SENTENCE.split()
LENGTH, TEXTS, ROUNDS = 40, 5, 1
OPERATORS = ("delete", "mask_unk", "mask_pad", "infill")
DRAWS = (50, 200)
LINES = tuple(f"{operator}:{draws}" for operator in OPERATORS for draws in DRAWS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ice_cost", description=__doc__)
    parser.add_argument("--lines", nargs="+", choices=LINES, metavar="OPERATOR:DRAWS")
    parser.add_argument("--long", nargs="*", choices=OPERATORS, metavar="OPERATOR")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    ports.bind(local(load_catalogue(Path("models.toml"))))
    run("delete", 50, texts(TEXTS))
    print("| operator | draws | rows an example | core seconds an example |\n|---|---|---|---|")
    for one in asked.lines or LINES:
        operator, draws = one.split(":")
        line(operator, int(draws))
    everything = OPERATORS if asked.lines is None else ()
    long_ones(everything if asked.long is None else asked.long)


def line(operator: str, draws: int) -> None:
    taken, rows = [], 0.0
    for _ in range(ROUNDS):
        started = time.process_time()
        reports = run(operator, draws, texts(TEXTS))
        taken.append((time.process_time() - started) / TEXTS)
        rows = statistics.mean(report.forward_rows for report in reports)
    print(f"| {operator} | {draws} | {rows:.0f} | {statistics.median(taken):.3f} |", flush=True)


def long_ones(operators: Sequence[str]) -> None:
    if not operators:
        return
    text = " ".join(np.random.default_rng(0).choice(WORDS, MAX_TEXT).tolist())[:MAX_TEXT]
    print(
        "\n| 20,000 characters | core seconds | process grew by (MiB) | read |\n|---|---|---|---|"
    )
    for operator in operators:
        before, started = peak(), time.process_time()
        [report] = run(operator, 50, [text])
        seconds = time.process_time() - started
        grown, read = peak() - before, report.characters_read[0]
        print(f"| {operator} | {seconds:.2f} | {grown:.0f} | {read} characters |", flush=True)
        assert any("text-cut" in warning for warning in report.warnings)


def run(operator: str, draws: int, some: list[str]) -> list[IceResult]:
    options: dict[str, Any] = {"operators": [operator], "draws": draws}
    options |= {"aspects": ["sufficiency"]}
    if operator == "infill":
        options["infill_pool"] = texts(20, seed=9)
    fields = {"attribution": "attention", "options": options}
    return score_batch([IceRequest.model_validate({"text": text, **fields}) for text in some])


def texts(count: int, seed: int = 1) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, LENGTH).tolist()) for _ in range(count)]


def peak() -> float:
    """Return the peak memory of the process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
