"""HAF's similarities against the released code's way: `python -m bench.haf`; the last line is JSON.

32 made samples of four reasons with all stages, brought with log-probabilities, `reference`
variant. The released way: one `predict` a reason and a decision, one pair at a time between stages
and for decisions, nothing remembered; only its similarity calls are timed, ours is the whole
scoring. The cross-encoder has the shape of distilroberta and random weights. Paired: in every round
all take their turn, ours with an empty cache; ratios are medians over rounds.
`reference_f32`: the same model in float32 (target 1.4). `reference_bf16`: ours in bfloat16 against
the released way in float32 (target 3), where the processor multiplies bfloat16. `bi_encoder`: the
embedded bi-encoder against the released way in float32 (target 10), with the change of every metric
(against random weights: it says how far two similarities may lie apart, not which is right).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from bench.environment import environment
from bench.haf_released import Released, Texts, Way, counted, timed
from bench.haf_samples import made_requests
from bench.similarity_pairs import bf16_in_hardware, made_model
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE
from services.haf.report import HafComponents, HafReport
from services.similarity.encoders import LocalSimilarities
from services.weights.loader import silent_loading
from shared.contracts import ModelUse
from shared.models.calls import Pair
from shared.models.catalogue import BASE, Catalogue, ModelEntry
from shared.models.ports import Floats, Models, Similarity, bind

score_batch = SERVICE.score_batch

SAMPLES = 32


@dataclass
class Counting:
    """A similarity that counts the pairs that it is asked for, and remembers the answers."""

    model: Similarity
    answers: dict[Texts, float] = field(default_factory=dict)

    @property
    def use(self) -> ModelUse:
        """Of the model behind."""
        return self.model.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """Of the model behind."""
        found = self.model.similarities(pairs)
        asked = ((pair.a, pair.b) for pair in pairs)
        self.answers.update(zip(asked, found.tolist(), strict=True))
        return found


@dataclass
class Only:
    """The port `Models` with one similarity."""

    model: Similarity

    def similarity(self, _: str) -> Similarity:
        """Whatever the name."""
        return self.model


class Ours:
    """The room itself with a local model, an empty cache every time."""

    def __init__(self, source: str, kind: str, dtype: str) -> None:
        fields = {"name": "m", "kind": kind, "source": source, "dtype": dtype, "device": "cpu"}
        self._catalogue = Catalogue((ModelEntry.model_validate(fields),), Path("/"))
        self.way = Way()
        self.reports: list[HafReport] = []
        self.answers: dict[Texts, float] = {}

    def run(self, requests: Sequence[HafRequest]) -> None:
        """Score them once."""
        with silent_loading():
            model = LocalSimilarities(self._catalogue).similarity("m")
        counting = Counting(model)
        bind(cast(Models, Only(counting)))
        network = model._weights.model[0].auto_model  # type: ignore[attr-defined]  # noqa: SLF001
        with counted(network, self.way):
            self.way.seconds.append(timed(lambda: self._score(requests)))
        self.answers = counting.answers
        bind(None)

    def _score(self, requests: Sequence[HafRequest]) -> None:
        self.reports = score_batch(requests)


def measure(rounds: int, samples: int) -> dict[str, Any]:
    """`ratios` and `figures`; null with a reason where there is none."""
    requests = made_requests(samples)
    with tempfile.TemporaryDirectory() as name:
        made_model(Path(name), [])
        source = f"path:{name}"
        released = Released(Path(name))
        ours = {"reference_f32": Ours(source, "cross-encoder", "float32")}
        if bf16_in_hardware():
            ours["reference_bf16"] = Ours(source, "cross-encoder", "bfloat16")
        ours["bi_encoder"] = Ours(BASE, "similarity", "float32")
        ways: tuple[Released | Ours, ...] = (released, *ours.values())
        for each in ways:
            each.run(requests[:1])  # warms up
            each.way.seconds.clear()
        for _ in range(rounds):
            for each in ways:
                each.run(requests)
    return summed_up(released, ours, samples)


def summed_up(released: Released, ours: dict[str, Ours], samples: int) -> dict[str, Any]:
    """Ratios, and what stands behind them."""
    ratios: dict[str, float | None] = dict.fromkeys(
        ("reference_f32", "reference_bf16", "bi_encoder")
    )
    figures: dict[str, Any] = {"samples": samples, "released": released.way.figures(samples)}
    figures["reference_bf16"] = "null: this processor has neither avx512_bf16 nor amx_bf16"
    plain = ours["reference_f32"].reports
    for name, each in ours.items():
        both = zip(released.way.seconds, each.way.seconds, strict=True)
        ratios[name] = round(statistics.median(theirs / own for theirs, own in both), 2)
        figures[name] = each.way.figures(samples) | {
            "distinct_pairs_per_sample": round(len(each.answers) / samples, 1),
            "change": changes(plain, each.reports),
        }
        if name != "bi_encoder":
            figures[name]["largest_difference"] = apart(released.answers, each.answers)
    return {"ratios": ratios, "figures": figures}


def apart(theirs: dict[Texts, float], own: dict[Texts, float]) -> float:
    """The largest difference of a pair's similarity. Every pair of theirs is one of ours."""
    missing = theirs.keys() - own.keys()
    assert not missing, f"{len(missing)} pairs of the released way were not asked for"
    return float(max(abs(value - own[pair]) for pair, value in theirs.items()))


def changes(plain: Sequence[HafReport], other: Sequence[HafReport]) -> dict[str, dict[str, float]]:
    """Mean and largest absolute change of every metric, over results where both have it."""
    found = {}
    for name in HafComponents.model_fields:
        pairs = [
            (getattr(a.components, name), getattr(b.components, name))
            for a, b in zip(plain, other, strict=True)
        ]
        moved = [abs(a - b) for a, b in pairs if a is not None and b is not None]
        if moved:
            found[name] = {"mean": float(np.mean(moved)), "largest": float(np.max(moved))}
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.haf", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    asked = parser.parse_args()
    found = measure(asked.rounds, asked.samples)
    about = environment(torch=torch.__version__, dtype="float32, bfloat16", rounds=asked.rounds)
    print(json.dumps({"bench": "haf", **found, "environment": about}))


if __name__ == "__main__":
    main()
