"""Computes how many servers are needed for 1, 100 and 10,000 posts a second: `python -m
bench.capacity`.

The CPU time of each metric is measured in this process on the examples of its contract, and split
into that of models (time in forward passes, times threads) and that of the metric. The CPU time of
gateway, queue and database comes from the last figures of `bench.gateway`. A simulation of the
queues (`bench.queueing`) then finds the fewest servers whose 95th percentile of latency stays
within the promise. The tables are written into `bench/RESULTS.md`. The last line of output is JSON.

`mixed` sends requests for all metrics at once. Each service has its own Redis
(`TOUCHSTONE_QUEUE_REDIS`), and each metric's worker loads its own models (binding `local`), so that
a job is one message. The p95 is that of the slowest metric.

Assumed, not measured: that two cores do twice the work of one, and that a GPU computes the rows of
the embedded models `--gpu` times as fast as one core.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from prometheus_client import REGISTRY
from rich.console import Console

from bench.environment import environment
from bench.queueing import BUSIEST, Station, sized
from services.registry import metrics, service
from services.worker import local
from shared.contracts.errors import ScoringError
from shared.contracts.service import MetricContract
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process import telemetry
from shared.process.settings import settings
from shared.reports.metric import Metric

RESULTS = Path(__file__).with_name("RESULTS.md")
BEGIN = "<!-- simulated: rewritten by `python -m bench.capacity` -->"
END = "<!-- end of simulated -->"
RATES = (1, 100, 10_000)
MIXED = 10_000  # posts a second, of all metrics together
MIXED_SAID = (
    "**All metrics at once**, each with an equal share, a Redis a service "
    "(`TOUCHSTONE_QUEUE_REDIS`) and models in the metrics' own workers "
    "(`TOUCHSTONE_BINDING=local`); GB a day: requests and results as JSON, before PostgreSQL's "
    "compression and its indexes."
)
DATABASE_CORES, REDIS_CORES = 32, 1  # the most that one server of each can use
LIFTS = {
    "gateway": "more gateway processes: they share nothing",
    "database": "one a tenant or region (jobs know no other jobs), or fewer, larger commits",
    "redis": "a Redis a service (TOUCHSTONE_QUEUE_REDIS) and TOUCHSTONE_BINDING=local; "
    "one metric alone needs more than one service for itself",
    "metric": "more workers of the metric: a queue feeds any number of them",
    "model": "GPUs in place of cores, or more model workers on the same queue",
}


@dataclass(frozen=True)
class Size:
    metric: str
    rate: float  # posts a second
    servers: dict[str, int]
    p95: float  # seconds; inf: not to be had with one database and one Redis
    bottleneck: str
    gpus: int
    bytes_per_day: float = 0.0  # of requests and results as JSON, before compression and indexes


def way() -> dict[str, float]:
    section = RESULTS.read_text("utf-8").partition("## gateway")[2]
    text = section.partition("```json")[2].partition("```")[0]
    if not text:
        raise SystemExit("bench/RESULTS.md has no figures of bench.gateway: run `make bench` first")
    ours = json.loads(text)["dispatch_cpu_per_job"]["ours"]
    return {name.removesuffix("_ms"): milliseconds / 1_000 for name, milliseconds in ours.items()}


def stations(cost: Cost, dispatch: dict[str, float], calls: int) -> list[Station]:
    """Return the stations that a job passes, in order. A call to a model adds a message in each
    direction."""
    return [
        Station("gateway", dispatch["gateway"]),
        Station("database", dispatch["postgres"], DATABASE_CORES),
        Station("redis", (1 + calls) * dispatch["redis"], REDIS_CORES),
        Station("metric", dispatch["worker"] + cost.own),
        Station("model", max(cost.model, 1e-6)),
    ]


def size(
    cost: Cost, rate: float, dispatch: dict[str, float], asked: argparse.Namespace, calls: int = 1
) -> Size:
    """Return the fewest servers for this load, and the first bottleneck when the load grows.
    `calls` is the number of calls to models over the queue."""
    some = stations(cost, dispatch, calls)
    servers, p95 = sized(rate, some, asked.within)
    walls = [one for one in some if one.most is not None]
    fullest = max(walls, key=lambda one: rate * one.seconds / (one.most or 1))
    is_full = rate * fullest.seconds > BUSIEST * (fullest.most or 1)
    if math.isfinite(p95) or not is_full:  # else a job by itself takes longer than is promised
        fullest = max(some, key=lambda one: one.seconds)
    return Size(
        metric=cost.metric,
        rate=rate,
        servers={one.name: count for one, count in zip(some, servers, strict=True)},
        p95=p95,
        bottleneck=fullest.name,
        gpus=math.ceil(rate * cost.model / asked.gpu / 0.7),
        bytes_per_day=rate * 86_400 * cost.bytes,
    )


def mixed(
    found: list[Cost], rate: float, dispatch: dict[str, float], asked: argparse.Namespace
) -> list[Size]:
    """Return sizes for all metrics at once, each with its share of the posts and its Redis. Gateway
    and database are counted by share, without the gain from sharing them."""
    share = rate / len(found)
    return [size(cost, share, dispatch, asked, calls=0) for cost in found]


def mixed_table(sizes: list[Size], rate: float) -> list[str]:
    names = list(sizes[0].servers)
    cores = [f"{name} cores" for name in names]
    head = ["metric", "posts/s", *cores, "GPUs instead of model cores", "p95 seconds", "GB a day"]
    lines = [_line(head), "|" + "---|" * len(head)]
    for one in sizes:
        cells: list[Any] = [f"{n:,}" for n in one.servers.values()]
        end = [one.gpus, _seconds(one.p95), f"{one.bytes_per_day / 1e9:,.0f}"]
        lines.append(_line([one.metric, f"{one.rate:,.0f}", *cells, *end]))
    sums = [f"{sum(one.servers[name] for one in sizes):,}" for name in names]
    worst, stored = max(one.p95 for one in sizes), sum(one.bytes_per_day for one in sizes)
    end = [sum(one.gpus for one in sizes), _seconds(worst), f"{stored / 1e9:,.0f}"]
    return [*lines, _line(["together", f"{rate:,g}", *sums, *end])]


def _seconds(p95: float) -> str:
    return f"{p95:.2f}" if math.isfinite(p95) else "not with one of each"


def table(sizes: list[Size]) -> list[str]:
    names = list(sizes[0].servers)
    head = [
        "metric",
        "posts/s",
        *(f"{name} cores" for name in names),
        "GPUs instead of model cores",
    ]
    lines = [_line([*head, "p95 seconds", "full first", "what lifts it"])]
    lines.append("|" + "---|" * (len(head) + 3))
    for one in sizes:
        cells: list[Any] = [one.metric, f"{one.rate:,g}", *(f"{n:,}" for n in one.servers.values())]
        end = [one.gpus, _seconds(one.p95), one.bottleneck, LIFTS[one.bottleneck]]
        lines.append(_line([*cells, *end]))
    return lines


def _line(cells: list[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def measured(found: list[Cost], without: dict[str, str], dispatch: dict[str, float]) -> list[str]:
    lines = ["| metric | metric's own ms | model ms | rows |", "|---|---|---|---|"]
    for cost in found:
        own, model = 1_000 * cost.own, 1_000 * cost.model
        lines.append(_line([cost.metric, f"{own:.1f}", f"{model:.1f}", f"{cost.rows:.1f}"]))
    lines += [_line([name, "", "", why]) for name, why in without.items()]
    spent = ", ".join(f"{name} {1_000 * s:.2f} ms" for name, s in dispatch.items() if name != "all")
    return [*lines, "", f"On the way there and back, a job: {spent}."]


def write(page: Path, lines: list[str]) -> None:
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(before + "\n".join([BEGIN, *lines, END]) + after, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--within", type=float, default=5.0, help="promised p95, seconds (5)")
    parser.add_argument("--gpu", type=float, default=200.0, help="a GPU in cores (200, assumed)")
    parser.add_argument("--page", type=Path, default=RESULTS)
    asked = parser.parse_args()
    telemetry.configure_logging("warning", "console")
    dispatch = way()
    ports.bind(local(load_catalogue(settings().models_file)))
    console = Console(stderr=True)
    with console.status("measuring what a job of each metric costs …"):
        found, without = costs()
    with console.status("simulating …"):
        sizes = [size(cost, rate, dispatch, asked) for cost in found for rate in RATES]
    about = ", ".join(f"{key} {value}" for key, value in environment().items())
    lines = [f"`python -m bench.capacity`, {about}", "", *measured(found, without, dispatch), ""]
    together = mixed([cost for cost in found if cost.own + cost.model > 0], MIXED, dispatch, asked)
    lines += [*table(sizes), "", MIXED_SAID, "", *mixed_table(together, MIXED), ""]
    write(asked.page, lines)
    figures = [
        asdict(one) | {"p95": one.p95 if math.isfinite(one.p95) else None}
        for one in (*sizes, *together)
    ]
    print(json.dumps({"bench": "capacity", "figures": figures, "environment": environment()}))


MEASURED_JOBS = 48
TEXTS = ("text", "premise", "reasoning")  # fields that are made to differ
ALIKE = ("options", "human", "predictions", "counterfactuals")
STAGES = ("touchstone_inference_seconds_sum", "touchstone_similarity_seconds_sum")
ROWS = ("touchstone_inference_batch_rows_sum", "touchstone_similarity_batch_inputs_sum")


@dataclass(frozen=True)
class Cost:
    """The mean cost of a job in seconds of one core."""

    metric: str
    own: float  # of the metric's worker
    model: float  # of the model workers
    rows: float  # texts or pairs that went through a model
    bytes: float  # of request and result as JSON


def costs() -> tuple[list[Cost], dict[str, str]]:
    """Return every metric's cost, or the reason why it has none."""
    found, without = [], {}
    for metric in metrics().values():
        try:
            found.append(_cost(metric))
        except ScoringError as error:
            without[metric.name] = error.detail
    return found, without


def _cost(metric: MetricContract) -> Cost:
    """Measure a batch of jobs with different texts, after the models are loaded."""
    scored = service(metric.name)
    if not isinstance(scored, Metric):
        raise TypeError(f"{metric.name} is no metric")
    bodies = list(metric.examples.values())
    scored.score_batch([metric.request.model_validate(body) for body in bodies])
    work = [
        metric.request.model_validate(differing(body, place))
        for place, body in enumerate(islice(cycle(bodies), MEASURED_JOBS))
    ]
    cpu, device, rows = time.process_time(), _total(STAGES), _total(ROWS)
    reports = scored.score_batch(work)
    cpu, device = time.process_time() - cpu, _total(STAGES) - device
    model = min(cpu, device * torch.get_num_threads())
    return Cost(
        metric=metric.name,
        own=(cpu - model) / MEASURED_JOBS,
        model=model / MEASURED_JOBS,
        rows=(_total(ROWS) - rows) / MEASURED_JOBS,
        bytes=sum(len(one.model_dump_json()) for one in (*work, *reports)) / MEASURED_JOBS,
    )


def differing(body: Any, place: int) -> Any:
    """Return a copy of the request with another text, so that no cache can answer it."""
    if isinstance(body, list | tuple):
        return [differing(one, place) for one in body]
    if not isinstance(body, dict):
        return body
    if {"text", "logprobs"} <= body.keys():  # an answer of a language model, token by token
        logprobs = body["logprobs"]
        values = [*logprobs["token_logprobs"], logprobs["token_logprobs"][-1]]
        tokens = [*logprobs["tokens"], f" {place}."]
        return body | {
            "text": f"{body['text']} {place}.",
            "logprobs": logprobs | {"tokens": tokens, "token_logprobs": values},
        }
    return {
        name: f"{value} {place}."
        if name in TEXTS and isinstance(value, str)
        else value
        if name in ALIKE
        else differing(value, place)
        for name, value in body.items()
    }


def _total(names: tuple[str, ...]) -> float:
    samples = (sample for family in REGISTRY.collect() for sample in family.samples)
    return sum(
        sample.value
        for sample in samples
        if sample.name in names and sample.labels.get("stage", "run") == "run"
    )


if __name__ == "__main__":
    main()
