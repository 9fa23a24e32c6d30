"""Counts results of ICE, FTC and HAF with an actionable verdict.

python -m bench.decisive_metrics ice|ftc|haf DATA [--items N] [--skip N] [--random]

DATA is a folder with `hatexplain.jsonl`, the two `esnli` files and `haf_explanations.jsonl`. ICE
tests the majority rationales of posts of 15 words and more as quotations; `--random` moves each to
a random place of its post, which shows the test's size. Marks of people do not explain decisions
that differ from the judge's, and no random passage differs much from marks on most of a post. So
the shares of posts that the judge calls hateful, and of marks on at most half of the words, are
printed, too. `--skip` leaves out the first items, for figures on new ones. FTC reads
human explanations of e-SNLI pairs that `embedded-nli` never saw; `--random` replaces the
explanation's phrase by a random phrase of its type. HAF reads first answers without
log-probabilities. Prints no text.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.ftc_esnli import SEED, items
from bench.ftc_null import human
from bench.ice_faithfulness import marked_spans, posts
from services import registry
from services.ftc.contract import FtcRequest
from services.ftc.extraction import extract
from services.ftc.hypotheses import random_hypotheses
from services.worker import local
from shared.contracts.explanation_fields import written_out
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.reports.metric import Metric
from shared.statistics.wilson import Z_95, wilson

ROOT = Path(__file__).parents[1]
AT_ONCE = 5
LEAST_WORDS = 15

Json = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.decisive_metrics", description=__doc__)
    parser.add_argument("metric", choices=BODIES)
    parser.add_argument("data", type=Path)
    parser.add_argument("--items", type=int, default=150)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--random", action="store_true")
    options = parser.parse_args()
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    service = registry.service(options.metric)
    assert isinstance(service, Metric)
    contract = service.contract
    number = options.skip + options.items
    bodies = BODIES[options.metric](options.data, number, random=options.random)
    requests = [
        contract.request.model_validate(body) for body in islice(bodies, options.skip, None)
    ]
    results: list[Json] = []
    counts: Counter[str] = Counter()
    for start in range(0, len(requests), AT_ONCE):
        reports = service.score_batch(requests[start : start + AT_ONCE])
        some = [contract.judged(report).model_dump(mode="json") for report in reports]
        results += some
        counts.update(result["verdict"] for result in some)
        print(f"{len(results)} of {len(requests)}: {dict(counts)}", file=sys.stderr, flush=True)
    for verdict in ("holds_up", "problem_found"):
        print(f"{verdict}: {_share(counts[verdict], len(results))}")
    print(f"decisive: {_decisive(results)}")
    if options.metric == "ice":
        decided = [one for one in results if one["model_decision"] == one["decision"]]
        print(f"decisive, of posts that the judge calls hateful: {_decisive(decided)}")
        some = [one for one in results if _marked_share(one) <= 0.5]
        print(f"decisive, of marks on at most half of the words: {_decisive(some)}")
    print("untested:", *Counter(one["reason"] for r in results for one in r["untested"]).items())
    print("problems:", *Counter(code for r in results for code in r["problems"]).items())
    print("readings:", *Counter(r.get("reading") for r in results).items())


def _decisive(results: Sequence[Json]) -> str:
    return _share(sum(one["verdict"] != "not_tested" for one in results), len(results))


def _marked_share(result: Json) -> float:
    return float(result["components"]["tests"][0]["tokens"] / result["eligible_tokens"])


def _share(count: int, of: int) -> str:
    low, high = wilson(count / of, of, Z_95)
    return f"{count} of {of}, {count / of:.3f} [{low:.3f}, {high:.3f}]"


def _rationales(data: Path, number: int, *, random: bool) -> Iterator[Json]:
    """Yield hateful or offensive posts with the words that people marked."""
    rows = (row for row in posts(data) if len(row["tokens"]) >= LEAST_WORDS)
    draws = np.random.default_rng(SEED)
    for row in islice(rows, number):
        marks = list(row["rationale_majority"])
        if random:
            marks = np.roll(marks, int(draws.integers(1, len(marks)))).tolist()
        spans = list(marked_spans(row | {"rationale_majority": marks}))
        yield {"text": row["text"], "language": "en", "decision": "hateful", "rationale": spans}


def _human(data: Path, number: int, *, random: bool) -> Iterator[Json]:
    for row in items(data, number):
        request = human(row, row)
        if not random:
            yield request.model_dump(exclude_unset=True)
            continue
        yield from _at_random(request)


def _at_random(request: FtcRequest) -> Iterator[Json]:
    label = request.decision or "entailment"
    supplied = []
    for made in extract(
        label, request.hypothesis, written_out(request.explanation), printed=False
    ).made:
        texts = made.slot and random_hypotheses(made.slot, made.text, (), SEED, 1)
        supplied += [{"kind": made.kind, "text": text} for text in texts or ()]
    if supplied:
        yield request.model_dump(exclude_unset=True) | {"counterfactuals": supplied}


def _answers(data: Path, number: int, *, random: bool) -> Iterator[Json]:
    assert not random, "HAF compares with nothing random"
    lines = (data / "haf_explanations.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, lines[:number]):
        yield {"text": row["text"], "responses": {"justify": {"text": row["raw_output"]}}}


BODIES = {"ice": _rationales, "ftc": _human, "haf": _answers}


if __name__ == "__main__":
    main()
