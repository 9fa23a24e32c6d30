"""Measures how often ICE calls random explanations significant: `python -m bench.ice_sizes`.

Random explanations of three kinds, contiguous passages, whole words and values, on `embedded-hate`
under `delete`, `mask` and `infill`. Prints the mean win rate, and the share of two-sided p-values
at or under a level beside the share expected by chance for this number of draws. 39 draws per text,
shared by all its explanations of one kind; intervals over texts. `--data` names HateXplain's posts,
of which no text is printed; without it the texts are sentences of everyday words.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.environment import environment
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceTest
from services.worker import local
from shared.contracts.fields import merge_fields
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.statistics.intervals import mean

EACH = 6  # explanations a text and kind
DRAWS = 39
LEVELS = (0.05, 0.1, 0.2)
KINDS = ("contiguous", "whole words", "values")
OPERATORS = ("delete", "mask", "infill")
SENTENCES = (
    "the garden was green after rain",
    "we lost the match and went home",
    "bread and cheese on a warm evening",
    "she reads old books near a quiet river",
    "they built small houses while children played",
    "dark music came from an open window",
    "my neighbour grows roses every summer",
    "trains run late when it snows",
)
DESIGN = {
    "options": {
        "operators": OPERATORS,
        "aspects": ["sufficiency"],
        "draws": DRAWS,
        "infill_pool": SENTENCES,
        "infills": 1,
    },
}
SPANS, WORDS = {"options": {"null": "spans"}}, {"options": {"null": "words"}}
EVERYDAY = [word for sentence in SENTENCES for word in sentence.split()]

Json = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ice_sizes", description=__doc__)
    parser.add_argument("--data", type=Path, help="hatexplain.jsonl")
    parser.add_argument("--models", type=Path, default=Path("models.toml"))
    parser.add_argument("--texts", type=int, default=700)
    parser.add_argument("--aspects", nargs="+", default=["sufficiency"])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    parser.add_argument("--operators", nargs="+", choices=OPERATORS, default=OPERATORS)
    asked = parser.parse_args()
    ports.bind(local(load_catalogue(asked.models)))
    texts = list(everyday(asked.texts)) if asked.data is None else posts(asked.data, asked.texts)
    more = {"options": {"aspects": asked.aspects, "operators": asked.operators}}
    found = sizes(texts, asked.kinds, more)
    print("\n".join(markdown(found)), flush=True)
    figures = {name: vars(one) for name, one in found.items()}
    print(json.dumps({"bench": "ice_sizes", "ratios": {}, "figures": figures,
                      "environment": environment()}))  # fmt: skip


def posts(path: Path, count: int) -> list[str]:
    """Return the first posts of 12 words and more."""
    rows = (json.loads(line)["text"] for line in path.open(encoding="utf-8"))
    return [text for text in rows if len(text.split()) >= 12][:count]


def everyday(count: int) -> Iterator[str]:
    random = np.random.default_rng(0)
    for _ in range(count):
        yield " ".join(random.choice(EVERYDAY, int(random.integers(15, 61))))


@dataclass(frozen=True)
class Size:
    """The counts of tests and texts, the mean win rate with its interval, and the shares of small
    p-values. `shares` maps a level to (observed, expected, standard error over texts)."""

    tests: int
    texts: int
    win_rate: tuple[float | None, float | None, float | None]
    shares: dict[str, tuple[float, float, float]]


def sizes(
    texts: Sequence[str], kinds: Sequence[str] = KINDS, more: Json | None = None
) -> dict[str, Size]:
    """Return the error rates by kind, operator and aspect. `more` replaces fields of the design.
    Call `bind` first."""
    tests: dict[str, list[tuple[int, IceTest]]] = defaultdict(list)
    for number, text in enumerate(texts):
        for kind, body in bodies(text, number):
            if kind not in kinds:
                continue
            asked = merge_fields(merge_fields(body, DESIGN), more or {}) | {"text": text}
            report = SERVICE.score(IceRequest.model_validate(asked))
            for test in report.components.tests:
                if test.p_two_sided is not None:
                    tests[f"{kind}, {test.operator}, {test.aspect}"].append((number, test))
        if number % 20 == 0:
            print(f"{number} of {len(texts)}", file=sys.stderr, flush=True)
    return {name: size(found) for name, found in sorted(tests.items())}


def bodies(text: str, number: int) -> Iterator[tuple[str, Json]]:
    """Yield random explanations of each kind."""
    random = np.random.default_rng(number)
    words = spans_of(text)
    length = int(random.integers(2, 6))
    starts = random.integers(0, len(words) - length + 1, EACH).tolist()
    runs = [{"start": words[s]["start"], "end": words[s + length - 1]["end"]} for s in starts]
    yield "contiguous", {"explanations": named([[run] for run in runs])} | SPANS
    picks = [sorted(random.choice(len(words), 3, replace=False).tolist()) for _ in range(EACH)]
    own = [[words[place] for place in pick] for pick in picks]
    yield "whole words", {"explanations": named(own)} | WORDS
    values = [
        {"name": f"random {n}", "attributions": [one | {"value": float(random.random())}
                                                 for one in words]}
        for n in range(EACH)
    ]  # fmt: skip
    yield "values", {"explanations": values}


def spans_of(text: str) -> list[dict[str, int]]:
    found, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        found.append({"start": start, "end": end})
    return found


def named(rationales: Sequence[list[dict[str, int]]]) -> list[Json]:
    return [{"name": f"random {n}", "rationale": one} for n, one in enumerate(rationales)]


def size(tests: Sequence[tuple[int, IceTest]]) -> Size:
    """Return the error rates over texts, because explanations of a text share draws."""
    keys = [str(number) for number, _ in tests]
    rates = mean("win rate", [test.win_rate for _, test in tests], keys, (0.0, 1.0))
    shares = {}
    for level in LEVELS:
        under = mean("size", [float((t.p_two_sided or 1) <= level + 1e-9) for _, t in tests], keys)
        expected = float(np.mean([attained(test.null.draws, level) for _, test in tests]))
        shares[str(level)] = (under.value or 0.0, expected, under.se or 0.0)
    return Size(len(tests), len(set(keys)), (rates.value, rates.low, rates.high), shares)


def attained(draws: int, level: float) -> float:
    """Return the probability that p is at most this level by chance, if no draws tie."""
    return min(1.0, 2 * math.floor(level / 2 * (draws + 1) + 1e-9) / (draws + 1))


def markdown(found: dict[str, Size]) -> Iterator[str]:
    heads = [f"p ≤ {level:g} (by chance)" for level in LEVELS]
    yield " | ".join(["| explanation, operator, side", "tests", "texts", "win rate", *heads]) + " |"
    yield "|---" * (4 + len(LEVELS)) + "|"
    for name, one in found.items():
        value, low, high = (f"{end:.3f}" if end is not None else "–" for end in one.win_rate)
        cells = [f"{own:.3f} ± {se:.3f} ({chance:.3f})" for own, chance, se in one.shares.values()]
        row = [f"| {name}", str(one.tests), str(one.texts), f"{value} [{low}, {high}]", *cells]
        yield " | ".join(row) + " |"


if __name__ == "__main__":
    main()
