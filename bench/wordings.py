"""Measures how much a judge's answers depend on the wording of the prompt: `python -m
bench.wordings MODEL`.

HLV runs with prompts of several wordings and with options in several orders, crossed with
questions. The bench reports how much of the distance to human answers is due to the question, the
wording and the order. It also reports whether "explanations bring the judge closer" holds for
another wording. MODEL: a language model of the catalogue (`--models`) that takes a request's own
prompt. `--items FILE`: JSON Lines of HLV requests without model; absent: e-SNLI pairs with a human
explanation from `--data`. `--wordings FILE`: a JSON list of prompts with `{text}`. HAF's prompts
cannot be changed in a request. Only aggregate numbers are printed, no text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.components import survival_observed
from bench.environment import environment
from bench.ice_faithfulness import DATA
from bench.reliability import SHARE, SPLITS, SURVIVES, explained, ranged, with_ends
from services.hlv.contract import HlvRequest
from services.hlv.metric import SERVICE
from services.hlv.report import HlvMeasured
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.statistics.clusters import Floats
from shared.statistics.seeds import generator

TEXTS, ORDERS = 40, 3
FACTORS = ("text", "wording")
WORDINGS = (
    "{text}",
    "Read this carefully.\n\n{text}",
    "{text}\nThink of what most people would say, and answer with one letter.",
    "You are one of many annotators. {text}",
    "Question for you:\n{text}\nYour choice:",
)
SIDES = ("explained", "baseline")
DOUBT = "another wording may say otherwise"
LABELS = ("entailment", "neutral", "contradiction")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Json = dict[str, Any]


@dataclass(frozen=True)
class WordingDesign:
    """The design of the bench. `wordings` are prompts with `{text}`, `orders` is the number of
    orders of the options, and `prompt` holds further keys of a request's prompt."""

    wordings: Sequence[str]
    orders: int
    prompt: Mapping[str, Any] = field(default_factory=dict)

    def asked(self, model: str, user: str) -> Json:
        return {
            "model": model,
            "prompt": {**self.prompt, "user": user},
            "judge": {"methods": ["logits"]},
        }


def measure(model: str, items: Sequence[Json], design: WordingDesign) -> Json:
    """Return `ratios`, how often "explanations help" holds in a rerun, and `figures`, the variance
    components of each distance."""
    values = distances(model, items, design)
    found = {side: explained(values[side], len(values[side]), FACTORS) for side in SIDES}
    gap = values["explained"] - values["baseline"]
    pair = compared(gap) | {"components": explained(gap, len(gap), FACTORS)}
    sizes = {"texts": len(gap), "wordings": len(design.wordings), "orders": design.orders}
    return {
        "ratios": {"explained - baseline survival": pair["survival_observed"][0]},
        "figures": {"design": sizes, "distance": found, "explained - baseline": pair},
    }


def distances(model: str, items: Sequence[Json], design: WordingDesign) -> dict[str, Floats]:
    """Return for each side the total variation distances in [0, 1], of shape (texts, wordings,
    orders). Questions with an undefined distance are left out. Raises ValueError if fewer than two
    are left."""
    shape = (len(items), len(design.wordings), design.orders)
    found = {side: np.full(shape, np.nan) for side in SIDES}
    for wording, user in enumerate(design.wordings):
        for order in range(design.orders):
            bodies = [reordered(item, order) | design.asked(model, user) for item in items]
            reports = SERVICE.score_batch([HlvRequest.model_validate(body) for body in bodies])
            for place, report in enumerate(reports):
                [method] = report.components.methods
                for side in SIDES:
                    found[side][place, wording, order] = _distance(getattr(method, side))
    whole = ~np.any([np.isnan(values).any(axis=(1, 2)) for values in found.values()], axis=0)
    if np.count_nonzero(whole) < 2:
        raise ValueError(f"{model!r} gave no distribution of the options for two questions")
    return {side: values[whole] for side, values in found.items()}


def _distance(side: HlvMeasured | None) -> float:
    if side is None or side.distribution is None or side.distribution.tvd is None:
        return np.nan
    return float(side.distribution.tvd)


def reordered(item: Json, order: int) -> Json:
    """Return the request with its options in another order. Letters follow the new positions."""
    places = generator(order, "wordings", item["question"]).permutation(len(item["options"]))
    options = [item["options"][place] for place in places] if order else item["options"]
    letter = {one["key"]: LETTERS[place] for place, one in enumerate(options)}
    votes = item["human"]["votes"]
    return item | {
        "options": [one | {"key": letter[one["key"]]} for one in options],
        "human": {"votes": {letter[key]: count for key, count in votes.items()}},
        "explanations": [one | {"label": letter[one["label"]]} for one in item["explanations"]],
    }


def compared(differences: Floats) -> Json:
    """Analyse the differences explained - baseline, of shape (texts, wordings, orders). Below 0,
    explanations help."""

    def observed(some: Floats) -> float | None:
        means = some.mean(axis=2).T
        return survival_observed(means, SPLITS, generator(0, "survival", *means.shape))

    kept = with_ends(differences, observed, SHARE)
    return {
        "difference": round(float(differences.mean()), 4),
        "survival_observed": kept,
        "says": DOUBT if kept[0] is not None and kept[0] < SURVIVES else None,
    }


def pairs_of(data: Path) -> Iterator[Json]:
    """Yield e-SNLI pairs with the annotators' agreed label, and one explanation."""
    rows = [json.loads(line) for line in (data / "esnli.jsonl").open(encoding="utf-8")]
    rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
    for row in rows:
        keys = dict(zip(LABELS, LETTERS, strict=False))
        yield {
            "question": {"premise": row["premise"], "hypothesis": row["hypothesis"]},
            "options": [{"key": key, "text": text} for text, key in keys.items()],
            "human": {"votes": {key: float(text == row["label"]) for text, key in keys.items()}},
            "explanations": [{"explanation": row["explanation_1"], "label": keys[row["label"]]}],
            "language": "en",
        }


def markdown(figures: Json) -> Iterator[str]:
    gap = figures["explained - baseline"]
    sides = figures["distance"] | {"explained - baseline": gap["components"]}
    yield f"| {figures['design']['texts']} questions | {' | '.join(sides)} |"
    yield "|---|" + "---|" * len(sides)
    for name in sides["baseline"]["components"]:
        parts = [one["components"][name] for one in sides.values()]
        cells = (f"{one['share']} ({ranged(one['variance'])})" for one in parts)
        yield f"| {name} | {' | '.join(cells)} |"
    for name in (key for key in sides["baseline"] if key not in ("components", "mean")):
        yield f"| {name} | {' | '.join(ranged(one[name]) for one in sides.values())} |"
    yield (
        f"\nexplained - baseline {gap['difference']}, survival "
        f"{ranged(gap['survival_observed'])} {gap['says'] or ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.wordings", description=__doc__)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--models", type=Path, default=Path("models.toml"))
    parser.add_argument("--items", type=Path, help="HLV requests, JSON Lines")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--orders", type=int, default=ORDERS, help="of the options, 2 at least")
    parser.add_argument("--wordings", type=Path, help="a JSON list of prompts with {text}")
    parser.add_argument(
        "--prompt", type=json.loads, default={}, help='further keys of it, as {"style": "raw"}'
    )
    asked = parser.parse_args()
    wordings = WORDINGS if asked.wordings is None else json.loads(asked.wordings.read_text("utf-8"))
    given = pairs_of(asked.data) if asked.items is None else map(json.loads, asked.items.open())
    ports.bind(local(load_catalogue(asked.models)))
    try:
        items = list(islice(given, asked.texts))
        found = measure(asked.model, items, WordingDesign(wordings, asked.orders, asked.prompt))
    finally:
        ports.bind(None)
    print("\n".join(markdown(found["figures"])))
    print(json.dumps({"bench": "wordings", **found, "environment": environment()}))


if __name__ == "__main__":
    main()
