"""Compares jobs with one text each, and the model worker's batches, with infinity's server.

`python -m bench.infinity --server ENVIRONMENT/bin`: the last line is JSON. The environment must be
separate, since its transformers is older: `pip install torch "infinity-emb[server]==0.0.78"
transformers==4.57.6 click==8.1.8`. Both serve the same weights (`embedded-hate`, and the encoder of
`embedded-similarity`) in float32 on the same cores with the same number of threads.

`jobs`: requests per second of `POST /v1/inference` (P of one text) and `/v1/similarity` (one pair),
each answered with the result of a stored job, as a share of infinity's `/classify` (one text) and
`/embeddings` (two texts). Targets: 0.5. `batches`: texts per second of the model worker's batches,
with one thread per client, over infinity's engine without its server. Target: 1. Paired: in every
round each takes its turn; medians of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
import torch

from bench.environment import environment
from cli.stack.servers import HOST, Child, free_port
from cli.stack.stack import running
from services.inference.local_models import LocalModels
from shared.contracts.calls import Example
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import base_folder
from shared.process import telemetry
from shared.process.settings import settings

POSTS = Path("examples/posts.jsonl")
CLIENTS = (1, 8, 64)
WAIT = {"Prefer": "wait=30"}
STARTS_SECONDS = 300
HATE, SIMILARITY = "embedded-hate", "embedded-similarity"
# run by infinity's own Python: texts a second of its engine under so many callers
ENGINE = """
import asyncio, json, sys, time
from infinity_emb import AsyncEmbeddingEngine, EngineArgs

async def main():
    engine = AsyncEmbeddingEngine.from_args(EngineArgs(
        model_name_or_path=sys.argv[1], engine="torch", device="cpu", dtype="float32",
        model_warmup=False))
    async with engine:
        print("ready", flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            waiting = iter(asked["texts"])
            async def caller():
                for text in waiting:
                    await engine.classify(sentences=[text], raw_scores=False)
            started = time.perf_counter()
            await asyncio.gather(*(caller() for _ in range(asked["callers"])))
            print(len(asked["texts"]) / (time.perf_counter() - started), flush=True)

asyncio.run(main())
"""

Json = dict[str, Any]
Rate = Callable[[list[str], int], float]  # texts and callers at once to requests per second


def texts(number: int, turn: int) -> list[str]:
    rows = [json.loads(line)["text"] for line in POSTS.read_text("utf-8").splitlines()]
    return [f"{turn} {place} {text}" for place, text in enumerate(islice(cycle(rows), number))]


def posted(url: str, path: str, body: Callable[[str], Json], is_job: bool) -> Rate:
    def rate(asked: list[str], clients: int) -> float:
        def post(text: str) -> None:
            answer = client.post(path, json=body(text), headers=WAIT if is_job else {})
            answer.raise_for_status()
            while is_job and (job := answer.json())["status"] not in ("succeeded", "failed"):
                answer = client.get(f"/v1/jobs/{job['id']}", headers=WAIT)
            assert not is_job or job["status"] == "succeeded"

        limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
        with (
            httpx.Client(base_url=url, timeout=120, limits=limits) as client,
            ThreadPoolExecutor(clients) as pool,
        ):
            return _rate(pool, post, asked)

    return rate


def called() -> Rate:
    """Send texts to the model worker's batches from threads of this process."""
    model = LocalModels(load_catalogue(settings().models_file)).classifier(HATE)

    def rate(asked: list[str], callers: int) -> float:
        with ThreadPoolExecutor(callers) as pool:
            return _rate(pool, lambda text: model.judge([Example(text=text)]), asked)

    return rate


def _rate(pool: ThreadPoolExecutor, ask: Callable[[str], object], asked: Sequence[str]) -> float:
    started = time.perf_counter()
    list(pool.map(ask, asked))
    return len(asked) / (time.perf_counter() - started)


@contextmanager
def engine(commands: Path, weights: Path) -> Iterator[Rate]:
    command = [str(commands / "python"), "-c", ENGINE, str(weights)]
    pipes: Json = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(  # noqa: S603 - what was named
        command, env=_offline(), stderr=subprocess.DEVNULL, **pipes
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while process.stdout.readline().strip() != "ready":
            assert process.poll() is None, "infinity's engine ended"

        def rate(asked: list[str], callers: int) -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps({"texts": asked, "callers": callers}), file=process.stdin, flush=True)
            return float(process.stdout.readline())

        yield rate
        process.stdin.close()


@contextmanager
def served(commands: Path, weights: Path, logs: Path) -> Iterator[str]:
    """Serve these weights with infinity; yield its address."""
    port = free_port()
    command = (
        str(commands / "infinity_emb"), "v2", "--model-id", str(weights),
        "--served-model-name", "m", "--host", HOST, "--port", str(port), "--device", "cpu",
        "--engine", "torch", "--dtype", "float32", "--no-model-warmup",
    )  # fmt: skip
    child = Child(name=f"infinity-{port}", command=command, environment=_offline())
    child.start(logs)
    try:
        _await(child, f"http://{HOST}:{port}/health")
        yield f"http://{HOST}:{port}"
    finally:
        child.stop()


def _offline() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}


def _await(child: Child, url: str) -> None:
    until = time.monotonic() + STARTS_SECONDS
    while time.monotonic() < until and child.is_running:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise RuntimeError("infinity's server did not start")


def save_weights(folder: Path) -> None:
    """Save the classifier with a tokenizer class that infinity's older Transformers knows."""
    weights = LocalModels(load_catalogue(settings().models_file)).local_classifier(HATE)._weights  # noqa: SLF001
    weights.model.save_pretrained(folder)
    weights.tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    held = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**held, "tokenizer_class": "PreTrainedTokenizerFast"}), "utf-8")


def compared(ours: Rate, theirs: Rate, requests: int, rounds: int) -> Json:
    found: Json = {}
    for callers in CLIENTS:
        number = requests if callers > 1 else max(12, requests // 4)
        pairs = []
        for turn in range(rounds + 1):  # the first is thrown away
            asked = texts(number, turn)
            pairs.append((ours(asked, callers), theirs(asked, callers)))
        own, other = (statistics.median(side) for side in zip(*pairs[1:], strict=True))
        found[f"clients{callers}"] = {
            "ratio": round(statistics.median(one / two for one, two in pairs[1:]), 3),
            "ours_per_second": round(own, 1),
            "infinity_per_second": round(other, 1),
        }
    return found


def measured(commands: Path, folder: Path, requests: int, rounds: int) -> Json:
    """Run every comparison. Only the two compared servers run at a time."""
    classifier = folder / "classifier"
    save_weights(classifier)
    with engine(commands, classifier) as theirs:
        found = {"batches": compared(called(), theirs, requests, rounds)}
    with ExitStack() as held:
        hate = held.enter_context(served(commands, classifier, folder))
        similar = held.enter_context(served(commands, base_folder(), folder))
        free = settings().model_copy(update={"port": 0})
        stack = held.enter_context(running(folder / "var", free))
        found["classify"] = compared(
            posted(stack.url, "/v1/inference", _judged, is_job=True),
            posted(hate, "/classify", lambda text: {"model": "m", "input": [text]}, is_job=False),
            requests,
            rounds,
        )
        found["similarity"] = compared(
            posted(stack.url, "/v1/similarity", _paired, is_job=True),
            posted(similar, "/embeddings", _embedded, is_job=False),
            requests,
            rounds,
        )
    return found


def _judged(text: str) -> Json:
    return {"model": HATE, "ask": {"operation": "judge", "examples": [{"text": text}]}}


def _paired(text: str) -> Json:
    return {"model": SIMILARITY, "pairs": [{"a": text, "b": text[::-1]}]}


def _embedded(text: str) -> Json:
    return {"model": "m", "input": [text, text[::-1]]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.infinity", description=__doc__)
    parser.add_argument("--server", type=Path, required=True, help="its environment's bin folder")
    parser.add_argument("--requests", type=int, default=192, help="in a turn (default 192)")
    parser.add_argument("--rounds", type=int, default=5, help="after a warm-up (default 5)")
    asked = parser.parse_args()
    telemetry.configure_logging("warning", "console")
    with tempfile.TemporaryDirectory() as folder:
        found = measured(asked.server, Path(folder), asked.requests, asked.rounds)
    about = environment(torch=torch.__version__, dtype="float32", requests=asked.requests)
    print(json.dumps({"bench": "infinity", "figures": found, "environment": about}))


if __name__ == "__main__":
    main()
