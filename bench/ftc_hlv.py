"""Compares FTC with all hypotheses of a batch in one call with FTC with one hypothesis per call.

`python -m bench.ftc_hlv`: the last line is JSON. Paired: in every round the batch and the loop take
their turn on the same requests; medians over rounds; no parse is remembered from a round before.
Both give the same reports, to the byte where that is promised. The figures of HLV and CoT2EL are
`bench.hlv_items`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from bench import hlv_items
from bench.agreement import difference
from bench.environment import environment
from services.ftc import phrases
from services.ftc.contract import FtcRequest
from services.ftc.metric import SERVICE
from services.ftc.report import FtcResult
from services.worker import local
from shared.contracts.calls import Example
from shared.contracts.judgement import Judgement
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import Judge, Models
from shared.process.settings import settings

score = SERVICE.score
score_batch = SERVICE.score_batch

THREADS = 2
GAMES = ("chess", "tennis", "football", "golf", "cricket", "hockey", "darts", "cards")
PLACES = (
    "in the park",
    "in a garden",
    "on the beach",
    "at school",
    "near a lake",
    "in the kitchen",
)
PEOPLE = ("Two men", "Two women", "Four friends", "Some children", "Several students", "A man")

Json = dict[str, Any]


def requests(number: int, draws: int) -> list[FtcRequest]:
    """Return `count` requests about different sentences, a third for each label."""
    made = []
    for place in range(number):
        who, where = PEOPLE[place % len(PEOPLE)], PLACES[place // 6 % len(PLACES)]
        one, other = GAMES[place % 8], GAMES[(place + 1 + place // 8 % 7) % 8]
        verb = "is" if who == "A man" else "are"
        made.append(
            FtcRequest(
                premise=f"{who} {verb} playing {one} {where}, scene {place}.",
                hypothesis=f"{who} {verb} playing {other} {where}.",
                explanation=EXPLAINED[place % 3].format(one=one, other=other),
                decision=("contradiction", "neutral", "entailment")[place % 3],
                language="en",
                seed=place,
                draws=draws,
            )
        )
    return made


EXPLAINED = (
    "They cannot be playing {one} and playing {other} at the same time.",
    "Playing {one} does not imply playing {other}.",
    "Playing {one} is a form of playing {other}.",
)


class OneAtATime:
    def __init__(self, inner: Models) -> None:
        self._inner = inner

    def judge(self, name: str) -> Any:
        return Loop(self._inner.judge(name))


class Loop:
    def __init__(self, inner: Judge) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Judge with one forward pass per example."""
        return [self._inner.judgements([example])[0] for example in examples]


def timed(work: Callable[[], list[FtcResult]]) -> tuple[float, list[FtcResult]]:
    """Empty the caches, then return the seconds and the reports."""
    for remembered in (phrases.parse, phrases.phrase, phrases.shape):
        remembered.cache_clear()
    started = time.perf_counter()
    reports = work()
    return time.perf_counter() - started, reports


def measured(number: int, draws: int, rounds: int) -> tuple[Json, Json]:
    inner = local(load_catalogue(settings().models_file))
    work = requests(number, draws)
    batched: list[float] = []
    single: list[float] = []
    for count in range(rounds + 1):
        ports.bind(inner)
        quick, together = timed(lambda: score_batch(work))
        ports.bind(OneAtATime(inner))  # type: ignore[arg-type]
        slow, alone = timed(lambda: [score(request) for request in work])
        reports = [[one.model_dump(mode="json") for one in way] for way in (together, alone)]
        assert difference(*reports) is None
        if count:  # the first round warms up
            batched.append(quick)
            single.append(slow)
    covered = sum(bool(report.counterfactuals) for report in together)
    ours, theirs = statistics.median(batched), statistics.median(single)
    figures = {
        "items": number,
        "covered": covered,
        "draws": draws,
        "items_per_second": round(number / ours, 2),
        "items_per_second_one_at_a_time": round(number / theirs, 2),
        "seconds": [round(value, 3) for value in batched],
        "seconds_one_at_a_time": [round(value, 3) for value in single],
    }
    return {"batched_vs_single": round(theirs / ours, 2)}, {"ftc": figures}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ftc_hlv", description=__doc__)
    parser.add_argument("--items", type=int, default=48)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3, help="after a warm-up")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    ratios, figures = measured(asked.items, asked.draws, asked.rounds)
    figures["hlv"] = hlv_items.measure(asked.rounds)
    about = environment(torch=torch.__version__, dtype="float32")
    print(
        json.dumps({"bench": "ftc_hlv", "ratios": ratios, "figures": figures, "environment": about})
    )


if __name__ == "__main__":
    main()
