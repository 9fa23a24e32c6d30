"""`python -m bench.fast_dtype`: measures the accuracy and speed of cheaper dtypes.

Every post is scored by every dtype in turn, in this process, one thread, with the embedded models.
Reported are the largest and mean change of each metric's score and components against float32,
changed verdicts, and float32's processor time over the dtype's. (Another process on the same cores
disturbs processor time little, wall time much.) `share_of_peak`: multiplications and additions per
second of 64 rows of 16 tokens through `embedded-hate`, as a share of the best that torch reaches
here with square matrices of that dtype. `company`: distance of P of a text alone from its P among
others, also under torch's int8, which has one scale for a whole batch. Texts: those of --data if
present, else the contracts' examples. No text is printed; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from bench.environment import environment
from services.registry import metrics, service
from services.worker import local
from shared.contracts.errors import ScoringError
from shared.models import ports
from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.process.numerics import computes_bfloat16, computes_int8, fast_arithmetic

Dtype = Literal["float32", "bfloat16", "int8"]
Json = dict[str, Any]
DATA = Path("../shared/data")
POSTS = 500
SHARES = {"hatexscore": 1, "ftc": 2, "haf": 2, "ice": 4, "consistency": 4}  # of so many posts one
FILES = {"ftc": "esnli.jsonl", "haf": "haf_explanations.jsonl"}  # of the others:
RATIONALES = "hatexplain.jsonl"
LONGEST = 60  # tokens of a post
MORE: dict[str, Json] = {
    "ice": {"options": {"draws": 99}},
    "consistency": {"draws": 19, "model": "embedded-hate"},
    "hatexscore": {"decision": "hateful"},
}
SIDE = 2_048  # of the square matrices of the peak
ROWS, WIDTH = 64, 16
OTHER_UNITS = frozenset({"effect", "nsr", "histogram"})  # of ICE: no probabilities
LOGPROB = -0.5  # of every token of HAF's reasons: the data have none
TOGETHER = 100  # texts


@dataclass
class Changes:
    """The effects of a dtype on a metric. `seconds` are processor time."""

    seconds: float = 0.0
    asked: int = 0
    score: list[float] = field(default_factory=list)
    components: list[float] = field(default_factory=list)
    verdicts: int = 0
    undefined: int = 0  # a number where float32 has none, or the other way round

    def compare(self, exact: Json, found: Json) -> None:
        """Compare two JSON reports, or errors."""
        self.verdicts += exact.get("verdict") != found.get("verdict")
        self.undefined += (exact.get("score") is None) != (found.get("score") is None)
        if exact.get("score") is not None and found.get("score") is not None:
            self.score.append(abs(exact["score"] - found["score"]))
        own, other = (dict(_numbers(one.get("components") or {})) for one in (exact, found))
        self.components += [abs(own[name] - other[name]) for name in own.keys() & other.keys()]

    def figures(self, exact: Changes) -> Json:
        return {
            "asked": self.asked,
            "time_ratio": round(exact.seconds / self.seconds, 2),
            "score": _largest_and_mean(self.score),
            "components": _largest_and_mean(self.components),
            "verdicts_changed": self.verdicts,
            "became_or_ceased_to_be_null": self.undefined,
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fast_dtype", description=__doc__)
    parser.add_argument("--posts", type=int, default=POSTS)
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    catalogue = load_catalogue(Path("models.toml"))
    bound = {dtype: local(with_dtype(catalogue, dtype)) for dtype in dtypes()}
    found = {name: measured(name, asked.data, asked.posts, bound) for name in SHARES}
    ratios = {
        f"{name}_{dtype}": figures["time_ratio"]
        for name, by_dtype in found.items()
        for dtype, figures in by_dtype.items()
        if dtype != "float32"
    }
    figures = {
        **found,
        "company": {dtype: company(one, asked.data) for dtype, one in with_torch_int8(bound)},
        "share_of_peak": shares_of_peak(bound),
        "fast": fast_arithmetic("classifier"),
    }
    about = environment(torch=torch.__version__, torch_threads=1, posts=asked.posts)
    print(
        json.dumps(
            {"bench": "fast_dtype", "ratios": ratios, "figures": figures, "environment": about}
        )
    )


def dtypes() -> tuple[Dtype, ...]:
    """Return float32 and the other dtypes that this processor supports."""
    bfloat16: tuple[Dtype, ...] = ("bfloat16",) if computes_bfloat16() else ()
    int8: tuple[Dtype, ...] = ("int8",) if computes_int8() else ()
    return ("float32", *bfloat16, *int8)


def with_dtype(catalogue: Catalogue, dtype: Dtype) -> Catalogue:
    entries = tuple(
        one.model_validate(one.model_dump(exclude_unset=True) | {"dtype": dtype, "device": "cpu"})
        for one in catalogue.entries
    )
    return replace(catalogue, entries=entries)


def measured(
    name: str, data: Path, posts: int, bound: Mapping[Dtype, ports.Models]
) -> dict[str, Json]:
    found = {dtype: Changes() for dtype in bound}
    order = list(bound)
    for dtype in order:  # loaded and warm before anything counts
        ask(name, next(bodies(name, data)), bound[dtype])
    for number, body in enumerate(islice(bodies(name, data), posts // SHARES[name])):
        reports: dict[Dtype, Json] = {}
        for place in range(len(order)):
            dtype = order[(number + place) % len(order)]
            began = time.process_time()
            reports[dtype] = ask(name, body, bound[dtype])
            found[dtype].seconds += time.process_time() - began
            found[dtype].asked += 1
        for dtype, report in reports.items():
            found[dtype].compare(reports["float32"], report)
    figures: dict[str, Json] = {
        dtype: changes.figures(found["float32"]) for dtype, changes in found.items()
    }
    print(f"{name}: {json.dumps(figures)}", file=sys.stderr, flush=True)
    return figures


def ask(name: str, body: Json, models: ports.Models) -> Json:
    ports.bind(models)
    try:
        report = service(name).score(metrics()[name].request.model_validate(body))
    except ScoringError as error:
        return {"error": type(error).__name__}
    finally:
        ports.bind(None)
    found: Json = report.model_dump(mode="json")
    return found


def bodies(name: str, data: Path) -> Iterator[Json]:
    file = data / FILES.get(name, RATIONALES)
    if not file.exists():
        own = metrics()[name].examples.values()
        yield from (one for one in own if {"attribution", "explanation", "responses"} & one.keys())
        return
    for line in file.open(encoding="utf-8"):
        row = json.loads(line)
        made = MAKE.get(name, partial(_post_body, name))(row)
        if made is not None:
            yield made


def _reasons_body(row: Json) -> Json:
    words = re.findall(r"\s*\S+", row["raw_output"].strip())
    logprobs = {"tokens": words, "token_logprobs": [LOGPROB] * len(words)}
    justify = {"text": "".join(words), "logprobs": logprobs}
    return {"text": row["text"], "responses": {"justify": justify}}


def _inference_body(row: Json) -> Json:
    pair = {name: row[name] for name in ("premise", "hypothesis")}
    return pair | {"decision": row["label"], "explanation": row["explanation_1"]}


MAKE: dict[str, Callable[[Json], Json | None]] = {"ftc": _inference_body, "haf": _reasons_body}


def _post_body(name: str, row: Json) -> Json | None:
    """Return a post with marked tokens, of which the longest run is quoted."""
    runs = _runs(row["rationale_majority"] or [])
    if not runs or len(row["tokens"]) > LONGEST:
        return None
    first, last = max(runs, key=lambda run: run[1] - run[0])
    text, quoted = " ".join(row["tokens"]), " ".join(row["tokens"][first:last])
    if name == "ice":
        start = len(" ".join([*row["tokens"][:first], ""]))
        span = {"start": start, "end": start + len(quoted)}
        return {"text": text, "rationale": [span]} | MORE[name]
    explanation = f'It says "{quoted}". Conclusion: the text is hateful.'
    return {"text": text, "explanation": explanation} | MORE[name]


def _runs(marked: list[int]) -> list[tuple[int, int]]:
    """Return (first, last + 1) of each run of marked tokens."""
    edges = np.flatnonzero(np.diff([0, *(int(bool(one)) for one in marked), 0]))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _numbers(value: Json, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the path and value of each probability, share or difference of these in a report."""
    for name, inner in value.items():
        if isinstance(inner, list):
            yield from _numbers(
                {str(place): one for place, one in enumerate(inner)}, f"{path}{name}."
            )
        elif name in OTHER_UNITS:
            continue
        elif isinstance(inner, dict):
            yield from _numbers(inner, f"{path}{name}.")
        elif isinstance(inner, float):
            yield path + name, inner


def _largest_and_mean(values: list[float]) -> Json | None:
    if not values:
        return None
    return {"largest": round(max(values), 5), "mean": round(statistics.fmean(values), 6)}


def with_torch_int8(bound: Mapping[Dtype, ports.Models]) -> Iterator[tuple[str, Any]]:
    """Yield (dtype, `embedded-hate`) for each dtype, and last the float32 model quantised by
    torch."""
    for dtype, models in bound.items():
        yield dtype, models.classifier("embedded-hate")
    copied: Any = local(with_dtype(load_catalogue(Path("models.toml")), "float32"))
    hate = copied.classifier("embedded-hate")
    weights = hate._weights  # noqa: SLF001 - the network, changed in place
    with warnings.catch_warnings():  # it is to move to another library
        warnings.simplefilter("ignore")
        quantize: Any = torch.ao.quantization.quantize_dynamic
        quantize(weights.model, {torch.nn.Linear}, inplace=True)
    yield "int8 of torch", hate


def company(classifier: Any, data: Path) -> float:
    """Return the largest difference of P between texts scored alone and scored in a batch."""
    texts = [body["text"] for body in islice(bodies("hatexscore", data), TOGETHER)]
    together = classifier.probabilities(texts)
    alone = np.concatenate([classifier.probabilities([text]) for text in texts])
    return round(float(np.abs(together - alone).max()), 7)


def shares_of_peak(bound: Mapping[Dtype, ports.Models]) -> Json:
    """Return for each dtype the operations per second of a matrix product and of the encoder, and
    their ratio."""
    found: Json = {}
    for dtype, models in bound.items():
        classifier: Any = models.classifier("embedded-hate")
        model = classifier._weights.model  # noqa: SLF001 - the network, asked directly
        passed = _operations(model) / _seconds(_encoder_pass(model))
        peak = 2 * SIDE**3 / _seconds(_product(dtype))
        found[dtype] = {
            "peak_gigaops": round(peak / 1e9, 1),
            "encoder_gigaops": round(passed / 1e9, 1),
            "share": round(passed / peak, 3),
        }
    return found


def _encoder_pass(model: Any) -> Callable[[], object]:
    ids = torch.randint(1_000, 20_000, (ROWS, WIDTH), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    return lambda: model(input_ids=ids, attention_mask=mask)


def _operations(model: Any) -> int:
    """Return the number of operations of the linear layers in the encoder's layers."""
    config = model.config
    layer = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    return int(2 * ROWS * WIDTH * config.num_hidden_layers * layer)


def _product(dtype: Dtype) -> Callable[[], object]:
    if dtype == "int8":
        small = torch.randint(-100, 100, (SIDE, SIDE), dtype=torch.int8)
        return lambda: torch._int_mm(small, small)  # noqa: SLF001 - it has no other name
    square = torch.rand(SIDE, SIDE, dtype=getattr(torch, dtype))
    return lambda: square @ square


@torch.inference_mode()
def _seconds(run: Callable[[], object], rounds: int = 7) -> float:
    """Return the smallest processor time of several runs, which other processes disturb least."""
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return min(taken)


if __name__ == "__main__":
    main()
