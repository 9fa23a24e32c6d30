"""Compares the speed of HAF's similarities with the released code: `python -m bench.haf`. The last
line is JSON.

It scores 32 artificial samples of four reasons with all stages and log-probabilities, in the
variant `reference`. The released code: one `predict` a reason and a decision, one pair at a time
between stages and for decisions, nothing remembered; only its similarity calls are timed, ours is
the whole scoring. The cross-encoder has the shape of distilroberta and random weights. Paired: in
every round all take their turn, ours with an empty cache; ratios are medians over rounds.
`reference_f32`: the same model in float32 (target 1.4). `reference_bf16`: ours in bfloat16 against
the released code in float32 (target 3), where the processor multiplies bfloat16. `bi_encoder`: the
embedded bi-encoder against the released code in float32 (target 10), with the change of every
metric (against random weights: it says how far two similarities may lie apart, not which is right).

Made reasons are of 16 words, a stage adds one or two. Decisions come from a few sentences, as in
real responses: of the released ones' decision pairs a third is distinct.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import sentence_transformers
import torch

from bench.environment import environment
from bench.similarity_pairs import VOCABULARY, bf16_in_hardware, made_model
from services.haf.contract import HafRequest
from services.haf.conversation import converse
from services.haf.metric import SERVICE
from services.haf.model_calls import TEMPLATES, compared_with, decision_target
from services.haf.report import HafComponents, HafResult
from services.haf.transcript import Exchange, Transcript
from services.inference.weights.loader import without_progress
from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.calls import Pair
from shared.contracts.messages import ModelUse
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import BASE
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Floats, Models, Similarity, bind

score_batch = SERVICE.score_batch

SAMPLES = 32


@dataclass
class Counting:
    """A similarity model that counts and caches the pairs."""

    model: Similarity
    answers: dict[Texts, float] = field(default_factory=dict)

    @property
    def use(self) -> ModelUse:
        return self.model.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        found = self.model.similarities(pairs)
        asked = ((pair.a, pair.b) for pair in pairs)
        self.answers.update(zip(asked, found.tolist(), strict=True))
        return found


@dataclass
class Only:
    model: Similarity

    def similarity(self, _: str) -> Similarity:
        return self.model


class Ours:
    """Our metric with a local model. The cache is emptied before each run."""

    def __init__(self, source: str, kind: str, dtype: str) -> None:
        fields = {"name": "m", "kind": kind, "source": source, "dtype": dtype, "device": "cpu"}
        self._catalogue = Catalogue((ModelEntry.model_validate(fields),), Path("/"))
        self.measured = Measurement()
        self.reports: list[HafResult] = []
        self.answers: dict[Texts, float] = {}

    def run(self, requests: Sequence[HafRequest]) -> None:
        with without_progress():
            model = LocalSimilarityModels(self._catalogue).similarity("m")
        counting = Counting(model)
        bind(cast(Models, Only(counting)))
        network = model._weights.model[0].auto_model  # type: ignore[attr-defined]  # noqa: SLF001
        with counted(network, self.measured):
            self.measured.seconds.append(timed(lambda: self._score(requests)))
        self.answers = counting.answers
        bind(None)

    def _score(self, requests: Sequence[HafRequest]) -> None:
        self.reports = score_batch(requests)


def measure(rounds: int, samples: int) -> dict[str, Any]:
    """Return `ratios` and `figures`. A value that cannot be measured is null with a reason."""
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
            each.measured.seconds.clear()
        for _ in range(rounds):
            for each in ways:
                each.run(requests)
    return summed_up(released, ours, samples)


def summed_up(released: Released, ours: dict[str, Ours], samples: int) -> dict[str, Any]:
    ratios: dict[str, float | None] = dict.fromkeys(
        ("reference_f32", "reference_bf16", "bi_encoder")
    )
    figures: dict[str, Any] = {"samples": samples, "released": released.measured.figures(samples)}
    figures["reference_bf16"] = "null: this processor has neither avx512_bf16 nor amx_bf16"
    plain = ours["reference_f32"].reports
    for name, each in ours.items():
        both = zip(released.measured.seconds, each.measured.seconds, strict=True)
        ratios[name] = round(statistics.median(theirs / own for theirs, own in both), 2)
        figures[name] = each.measured.figures(samples) | {
            "distinct_pairs_per_sample": round(len(each.answers) / samples, 1),
            "change": changes(plain, each.reports),
        }
        if name != "bi_encoder":
            figures[name]["largest_difference"] = apart(released.answers, each.answers)
    return {"ratios": ratios, "figures": figures}


def apart(theirs: dict[Texts, float], own: dict[Texts, float]) -> float:
    """Return the largest difference between the similarities that both codes compute for the same
    pair."""
    missing = theirs.keys() - own.keys()
    assert not missing, f"{len(missing)} pairs of the released code were not asked for"
    return float(max(abs(value - own[pair]) for pair, value in theirs.items()))


def changes(plain: Sequence[HafResult], other: Sequence[HafResult]) -> dict[str, dict[str, float]]:
    """Return mean and largest absolute change of every metric, over results with both values."""
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
    parser = argparse.ArgumentParser(prog="python -m bench.haf", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    asked = parser.parse_args()
    found = measure(asked.rounds, asked.samples)
    about = environment(torch=torch.__version__, dtype="float32, bfloat16", rounds=asked.rounds)
    print(json.dumps({"bench": "haf", **found, "environment": about}))


Texts = tuple[str, str]


@dataclass
class Measurement:
    """The seconds per round of one way of scoring, and its calls of the model."""

    seconds: list[float] = field(default_factory=list)
    passes: int = 0
    rows: int = 0

    def figures(self, samples: int) -> dict[str, float]:
        return {
            "seconds": round(statistics.median(self.seconds), 3),
            "forward_passes_per_sample": round(self.passes / samples, 2),
            "rows_per_sample": round(self.rows / samples, 1),
        }


@contextmanager
def counted(network: Any, measured: Measurement) -> Iterator[None]:
    """Count the passes and rows of this network during the block."""
    measured.passes = measured.rows = 0
    forward = network.forward

    def counting(*args: Any, **given: Any) -> Any:
        measured.passes += 1
        measured.rows += len(given["input_ids"] if "input_ids" in given else args[0])
        return forward(*args, **given)

    network.forward = counting
    try:
        yield
    finally:
        network.forward = forward


class Released:
    """Makes the calls of the released code with sentence-transformers' cross-encoder."""

    def __init__(self, folder: Path) -> None:
        with without_progress():
            self._model = sentence_transformers.CrossEncoder(str(folder), device="cpu")
        self.measured = Measurement()
        self.answers: dict[Texts, float] = {}

    def run(self, requests: Sequence[HafRequest]) -> None:
        """Score all requests once, for a comparison of the calls."""
        transcripts = converse(requests)
        with counted(self._model[0].auto_model, self.measured):
            self.measured.seconds.append(timed(lambda: self._all(requests, transcripts)))

    def _all(self, requests: Sequence[HafRequest], transcripts: list[list[Transcript]]) -> None:
        for request, orders in zip(requests, transcripts, strict=True):
            self._sample(request, orders[0])

    def _sample(self, request: HafRequest, transcript: Transcript) -> None:
        """Call the model once per reason, decision and list, then once per pair."""
        for exchange in transcript.exchanges:
            self._relevance(request, exchange)
        initial = [reason.statement.text for reason in transcript.justify.reasons]
        self._predict([(request.text, text) for text in initial])
        self._predict([(a, b) for n, a in enumerate(initial) for b in initial[n + 1 :]])
        for exchange in transcript.later:
            self._one_by_one(exchange, initial)

    def _relevance(self, request: HafRequest, exchange: Exchange) -> None:
        for reason in exchange.reasons:
            self._predict([(reason.statement.text, masked) for masked in reason.masked])
        if exchange.decision is not None:
            target = decision_target(request, exchange, exchange.decision)
            self._predict([(target, masked) for masked in exchange.decision.masked])

    def _one_by_one(self, exchange: Exchange, initial: list[str]) -> None:
        for reason in exchange.reasons:
            for other in compared_with(exchange, initial):
                self._predict([(reason.statement.text, other)])
        if exchange.reason is not None and exchange.decision is not None:
            for known in TEMPLATES:
                self._predict([(exchange.decision.statement.text, known)])

    def _predict(self, pairs: list[Texts]) -> None:
        if pairs:
            found = self._model.predict(pairs, batch_size=32, show_progress_bar=False)
            self.answers.update(zip(pairs, found.tolist(), strict=True))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


REASONS, WORDS, TEXT_WORDS = 4, 16, 24
ENOUGH = (
    "No, additional reasons are not required.",
    "Decision: The given reasons are sufficient.",
)
MORE = (
    "Yes, additional reasons are required to justify why the TEXT is toxic.",
    "Decision: Additional reason is required to justify why the TEXT is toxic.",
)


def made_requests(count: int) -> list[HafRequest]:
    rng = np.random.default_rng(0)
    return [_request(rng) for _ in range(count)]


def _request(rng: np.random.Generator) -> HafRequest:
    individual = [
        _response(rng, _pick(rng, MORE if place % 2 else ENOUGH), place % 2)
        for place in range(REASONS)
    ]
    return HafRequest.model_validate(
        {
            "text": _sentence(rng, TEXT_WORDS),
            "language": "en",
            "variant": "reference",
            "responses": {
                "justify": _response(rng, "The given TEXT is toxic.", REASONS),
                "internal": _response(rng, _pick(rng, MORE), 2),
                "external": _response(rng, _pick(rng, MORE), 1),
                "individual": individual,
            },
        }
    )


def _pick(rng: np.random.Generator, sentences: tuple[str, ...]) -> str:
    return sentences[int(rng.integers(len(sentences)))]


def _sentence(rng: np.random.Generator, words: int) -> str:
    return " ".join(str(word) for word in rng.choice(VOCABULARY.split(), words)) + "."


def _response(rng: np.random.Generator, decision: str, reasons: int) -> dict[str, Any]:
    listed = [f"{place}. {_sentence(rng, WORDS)}" for place in range(1, reasons + 1)]
    text = "\n".join([decision, "", *listed]).strip()
    tokens = re.findall(r"\s*\S+", text)
    values = [-float(value) for value in rng.exponential(0.4, len(tokens))]
    return {"text": text, "logprobs": {"tokens": tokens, "token_logprobs": values}}


if __name__ == "__main__":
    main()
