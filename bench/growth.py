"""`python -m bench.growth`: measures how costs grow with the size of a request.

The number and length of texts, draws, jobs, rows of a report and lines of a batch are doubled
repeatedly. The exponent is the slope of log cost over log size for the three largest sizes, where
fixed costs matter little; 1 means linear growth. Processor time is the smallest of several tries in
this process. Memory is the peak of Python's objects, without small amounts. The limit is 1.1,
except for attention, which grows with the square of a text's length. The last line is JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.environment import environment
from services.registry import metrics, service
from services.scheduler.batch_files import Reader
from services.worker import local
from shared.contracts.calls import Example, ExampleRows, Row
from shared.contracts.messages import Scored
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import settings
from shared.reports.estimates import BatchStatistics
from shared.reports.metric import Metric

MOST = 1.1  # of an exponent
TRIES = 2
FITTED = 3  # of the sizes, the largest
NEGLIGIBLE = 2_000_000  # bytes; less says nothing
WORDS = ("old", "garden", "people", "walk", "rain", "slowly", "under", "green", "windows", "town")
RESAMPLES = 200


@dataclass(frozen=True)
class Growth:
    """A quantity whose size is doubled. `prepare` returns the function to measure for a size."""

    name: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Callable[[], object]]
    squares: bool = False  # attention's part is a square


def main() -> None:
    torch.set_num_threads(1)
    ports.bind(local(load_catalogue(Path("models.toml"))))
    found = {one.name: measured(one) for one in growths()}
    exponents = {f"{name}_time": one["time"] for name, one in found.items()}
    exponents |= {f"{name}_memory": one["memory"] for name, one in found.items()}
    about = environment(torch=torch.__version__, torch_threads=1, tries=TRIES)
    print(
        json.dumps({"bench": "growth", "ratios": exponents, "figures": found, "environment": about})
    )


def growths() -> tuple[Growth, ...]:
    return (
        Growth("texts", (64, 128, 256, 512, 1_024), texts),
        Growth("tokens_of_a_text", (30, 60, 120, 240, 480), tokens, squares=True),
        Growth("characters_read_by_rules", (1_000, 2_000, 4_000, 8_000, 16_000), characters),
        Growth("draws", (100, 200, 400, 800), draws),
        Growth("jobs", (50, 100, 200, 400, 800), jobs),
        Growth("rows_of_a_report", (200, 400, 800, 1_600), report_rows),
        Growth("batch_lines", (2_000, 4_000, 8_000, 16_000), batch_lines),
    )


def measured(one: Growth) -> dict[str, Any]:
    one.prepare(one.sizes[0])()  # what is loaded once
    seconds, peaks = [], []
    for size in one.sizes:
        run = one.prepare(size)
        seconds.append(min(_seconds(run) for _ in range(TRIES)))
        peaks.append(_memory(run))
    print(f"{one.name}: {[round(each, 3) for each in seconds]} s", file=sys.stderr)
    return {
        "sizes": one.sizes,
        "seconds": [round(each, 4) for each in seconds],
        "megabytes": [round(each / 1e6, 1) for each in peaks],
        "time": exponent(one.sizes, seconds),
        "memory": exponent(one.sizes, peaks) if max(peaks) > NEGLIGIBLE else None,
        "most": None if one.squares else MOST,
    }


def exponent(sizes: tuple[int, ...], values: list[Any]) -> float:
    kept = [max(value, 1e-9) for value in values[-FITTED:]]
    return round(float(np.polyfit(np.log(sizes[-FITTED:]), np.log(kept), 1)[0]), 2)


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    run()
    return time.process_time() - began


def _memory(run: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    run()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def words(count: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, count))


def texts(size: int) -> Callable[[], object]:
    asked = [words(12, seed) for seed in range(size)]
    return lambda: ports.models().classifier("embedded-hate").probabilities(asked)


def tokens(size: int) -> Callable[[], object]:
    asked = [words(size, seed) for seed in range(16)]
    return lambda: ports.models().classifier("embedded-hate").probabilities(asked)


def characters(size: int) -> Callable[[], object]:
    quoted = words(12)
    text = (quoted + ". " + words(size // 5))[:size]
    body = {
        "text": text,
        "explanation": f'It says "{quoted}". ' + text[: size - 80] + ". Conclusion: hateful.",
        "decision": "hateful",
        "probabilities": {"original": 0.8, "masked": 0.2},
    }
    return _score("hatexscore", [body])


def draws(size: int) -> Callable[[], object]:
    """Score variations of one text in which random tokens are kept, like ICE's draws."""
    model = ports.models().judge("embedded-hate")
    example = Example(text=words(24))
    tokens = len(model.tokens([example])[0].ids)
    random = np.random.default_rng(0)
    kept = [
        (0, *sorted(random.choice(np.arange(1, tokens - 1), 8, replace=False)), tokens - 1)
        for _ in range(size)
    ]
    rows = tuple(Row(kept=tuple(int(place) for place in places)) for places in kept)
    return lambda: model.judge_rows([ExampleRows(example=example, rows=rows)])


def jobs(size: int) -> Callable[[], object]:
    return _score("hatexscore", [_job(number) for number in range(size)])


def report_rows(size: int) -> Callable[[], object]:
    metric = service("hatexscore")
    if not isinstance(metric, Metric):
        raise TypeError("hatexscore is no metric")
    asked = [metric.contract.request.model_validate(_job(number)) for number in range(64)]
    made = list(zip(asked, metric.score_batch(asked), strict=True))
    rows = [
        Scored(job_id=f"job_{n}", custom_id=str(n), request=request, report=report)
        for n in range(size)
        for request, report in (made[n % len(made)],)
    ]
    request = metric.contract.batch_request(
        jobs=tuple(row.job_id for row in rows), resamples=RESAMPLES
    )
    return lambda: metric.summarize(rows, BatchStatistics(metric.contract, rows, request))


def batch_lines(size: int) -> Callable[[], object]:
    chosen, contract = settings(), metrics()["hatexscore"]
    reader = Reader(
        contract=contract,
        endpoint=contract.path,
        catalogue=load_catalogue(Path("models.toml")),
        most_lines=size,
        most_body_bytes=100_000,
        work_limit=chosen.work_limit,
    )
    lines = [
        json.dumps({"custom_id": str(n), "method": "POST", "url": contract.path, "body": _job(n)})
        for n in range(size)
    ]
    return lambda: [reader.line(raw.encode(), n, len(raw)) for n, raw in enumerate(lines, 1)]


def _job(number: int) -> dict[str, Any]:
    text = words(20, number)
    own = {"probabilities": {"original": 0.8, "masked": 0.2}}
    return _post(text, " ".join(text.split()[:5])) | own


def _post(text: str, quoted: str) -> dict[str, Any]:
    explanation = f'It says "{quoted}". Conclusion: the text is hateful.'
    return {"text": text, "explanation": explanation, "decision": "hateful"}


def _score(name: str, bodies: list[dict[str, Any]]) -> Callable[[], object]:
    metric = service(name)
    if not isinstance(metric, Metric):
        raise TypeError(f"{name} is no metric")
    asked = [metric.contract.request.model_validate(body) for body in bodies]
    return lambda: metric.score_batch(asked)


if __name__ == "__main__":
    main()
