"""Measures ICE on real texts: `python -m bench.ice_faithfulness` prints the tables of the metric's
page.

`hate`: 300 HateXplain posts with human rationales on `embedded-hate`: attention, gradient,
integrated gradients and the human rationales as explanations. `operators`: 60 of them under three
operators. `nli`: 300 e-SNLI pairs on `embedded-nli`. Aggregate numbers only: no text is printed.
`--examples` takes fewer of each; how far a study has come goes to standard error. `--aspects
sufficiency` leaves out the other side, whose rows are longer. The folder with the data is not part
of the project: `--data`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from services.ice.batch_report import ScoredIce, name
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import (
    IceBatchReport,
    IceBatchReportRequest,
    IceConfigurationResult,
)
from services.worker import local
from shared.contracts.fields import merge_fields
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.reports.estimates import BatchStatistics

score_batch = SERVICE.score_batch


def batch_report(rows: Any, request: Any) -> IceBatchReport:
    over = BatchStatistics(SERVICE.contract, rows, request)
    return SERVICE.summarize(rows, over)


DATA = Path(__file__).parents[2] / "shared" / "data"
POSTS, WITH_OPERATORS, PAIRS, POOL = 300, 60, 300, 60
TOGETHER = 20  # requests in one batch
COMPUTED = ["attention", "gradient", "integrated_gradients"]

Json = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ice_faithfulness", description=__doc__)
    parser.add_argument("studies", nargs="*", default=list(STUDIES), metavar="STUDY")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--models", type=Path, default=Path("models.toml"))
    parser.add_argument("--examples", type=int, help="of each study, at most")
    parser.add_argument("--draws", type=int, help="of every test")
    parser.add_argument("--aspects", nargs="+", default=["sufficiency", "necessity"])
    asked = parser.parse_args()
    ports.bind(local(load_catalogue(asked.models)))
    for study in asked.studies:
        bodies = islice(STUDIES[study](asked.data), asked.examples)
        options: Json = {} if asked.draws is None else {"draws": asked.draws}
        how = {"options": options | {"aspects": asked.aspects}}
        requests = [IceRequest.model_validate(merge_fields(body, how)) for body in bodies]
        started = time.perf_counter()
        scored = asked_of(requests)
        seconds = (time.perf_counter() - started) / len(requests)
        print(f"\n### {study}: {len(requests)} examples, {seconds:.2f} s each\n", flush=True)
        print("\n".join(markdown(summed_up(scored))), flush=True)
        known = {one.report.model_decision or "" for one in scored} - {""}
        for label in sorted(known):
            some = [one for one in scored if one.report.model_decision == label]
            print(f"\n#### {study}: predicted {label}, {len(some)} examples\n", flush=True)
            print("\n".join(markdown(summed_up(some))), flush=True)


def asked_of(requests: Sequence[IceRequest]) -> list[ScoredIce]:
    """Run all requests in groups."""
    scored: list[ScoredIce] = []
    for first in range(0, len(requests), TOGETHER):
        some = requests[first : first + TOGETHER]
        scored += [
            Scored(f"job{first + place}", None, request, report)
            for place, (request, report) in enumerate(zip(some, score_batch(some), strict=True))
        ]
        print(f"{len(scored)} of {len(requests)}", file=sys.stderr, flush=True)
    return scored


def summed_up(scored: Sequence[ScoredIce]) -> IceBatchReport:
    return batch_report(scored, IceBatchReportRequest(jobs=("all",)))


def posts(data: Path) -> list[Json]:
    """Return HateXplain posts with a majority rationale, by the hashes of their ids."""
    rows = [json.loads(line) for line in (data / "hatexplain.jsonl").open(encoding="utf-8")]
    marked = [row for row in rows if row["rationales_aligned"] and any(row["rationale_majority"])]
    return sorted(marked, key=lambda row: hashlib.sha256(row["id"].encode()).digest())


def hate(data: Path) -> Iterator[Json]:
    """Yield requests with four explanations of each post, under deletion."""
    for row in posts(data)[:POSTS]:
        spans = list(marked_spans(row))
        yield {
            "text": row["text"],
            "model": "embedded-hate",
            "attribution": COMPUTED,
            "explanations": [{"name": "human", "rationale": spans}],
            "human": spans,
        }


def operators(data: Path) -> Iterator[Json]:
    """Yield requests with attention and gradient, under three operators."""
    found = posts(data)
    pool = [row["text"] for row in found[-POOL:]]
    for row in found[:WITH_OPERATORS]:
        yield {
            "text": row["text"],
            "model": "embedded-hate",
            "attribution": COMPUTED[:2],
            "options": {"operators": ["delete", "mask_unk", "infill"], "infill_pool": pool},
        }


def nli(data: Path) -> Iterator[Json]:
    """Yield requests that compare attention with gradient on text pairs."""
    rows = [json.loads(line) for line in (data / "esnli.jsonl").open(encoding="utf-8")]
    rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
    for row in rows[:PAIRS]:
        yield {
            "text": row["premise"],
            "text_pair": row["hypothesis"],
            "model": "embedded-nli",
            "attribution": COMPUTED[:2],
        }


STUDIES: dict[str, Callable[[Path], Iterator[Json]]] = {
    "hate": hate,
    "operators": operators,
    "nli": nli,
}


def marked_spans(row: Json) -> Iterator[Json]:
    """Yield the marked tokens of a post, found in its text one after another."""
    start = 0
    for token, marked in zip(row["tokens"], row["rationale_majority"], strict=True):
        start = row["text"].index(token, start)
        if marked:
            yield {"start": start, "end": start + len(token)}
        start += len(token)


def markdown(report: IceBatchReport) -> Iterator[str]:
    yield "| explanation | win rate | strict | ties | z | q | median effect | verdicts +/o/- | BH |"
    yield "|---|---|---|---|---|---|---|---|---|"
    yield from (line(result) for result in report.configurations)
    yield "\n| paired difference of win rates | |\n|---|---|"
    for gap in report.differences:
        yield f"| {name(gap.first)} − {name(gap.second)} | {percent(gap.difference)} |"
    yield "\n| plausibility | mean | r with the win rate | ρ | p |\n|---|---|---|---|---|"
    for one in report.orthogonality:
        yield (
            f"| {name(one.configuration)}: {one.measure} | {shown(one.mean)} | "
            f"{shown(one.pearson)} | {rounded(one.spearman)} | {rounded(one.p_value)} |"
        )
    yield "\n| readings | |\n|---|---|"
    for read in report.readings:
        counts = ", ".join(f"{kind} {count}" for kind, count in read.readings.items())
        yield f"| {read.explanation} · {read.operator} | {counts} |"
    yield "\n| operators | ρ | same side | same verdict |\n|---|---|---|---|"
    for pair in report.operator_agreement:
        yield (
            f"| {name(pair.first)} / {pair.second.operator} | {rounded(pair.spearman)} | "
            f"{rounded(pair.same_side)} | {rounded(pair.same_verdict)} |"
        )
    yield f"\nanti-faithful examples (first test): {report.anti_faithful.examples_in_all}"
    yield "\n".join(report.warnings)


def line(result: IceConfigurationResult) -> str:
    verdicts = "/".join(str(count) for count in result.verdicts.values())
    over = result.over_examples
    return (
        f"| {name(result.configuration)}, n = {result.win_rate.of} | {percent(result.win_rate)} | "
        f"{100 * (result.strict_win_rate or 0):.1f} | {100 * (result.tie_rate or 0):.1f} | "
        f"{rounded(result.omnibus_z)} | {small(result.q_value)}"
        f" | {shown(result.effect)} | {verdicts} | {over.rejected} (raw {over.raw}) |"
    )


def percent(interval: Interval) -> str:
    if interval.value is None or interval.low is None or interval.high is None:
        return "–"
    low, high = 100 * interval.low, 100 * interval.high
    return f"{100 * interval.value:.1f} [{low:.1f}, {high:.1f}]"


def shown(interval: Interval) -> str:
    return f"{rounded(interval.value)} [{rounded(interval.low)}, {rounded(interval.high)}]"


def small(value: float | None) -> str:
    return "–" if value is None else f"{value:.1g}"


def rounded(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
