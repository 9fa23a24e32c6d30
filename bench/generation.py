"""Compares generating the texts of 16 jobs together with generating them job by job, with and
without cached prompt prefixes.

`python -m bench.generation`: the last line is JSON. Each job sends HAF's first prompt about one
text to a random causal model of a fixed shape (time depends on shape, not on training). Every round
runs all jobs at once, then one after the other, then one after the other without the cache. Ratios
are medians over rounds, of wall time and of processor time. The run of all jobs at once starts with
an empty cache.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from bench.environment import environment
from bench.hlv_items import byte_words
from services.haf.conversation import justify_prompt
from services.inference.local_models import LocalModels
from shared.contracts.calls import Completion, Prompt, Sampling
from shared.models.catalogue.catalogue import load_catalogue

THREADS = 2
READS = 1_024  # tokens
SHAPES = {  # "gpt2": of GPT-2 small; "tiny": a tenth of the arithmetic, so that all else counts
    "gpt2": {"n_embd": 768, "n_layer": 12, "n_head": 12},
    "tiny": {"n_embd": 256, "n_layer": 6, "n_head": 8},
}
CHAT = "{% for turn in messages %}{{ turn.content }}\n{% endfor %}"
TEXT = "Post {place}: people walk slowly under the old windows, and then they walk home again."

Written = list[list[Completion]]
Figures = dict[str, Any]


def model(folder: Path, shape: str) -> Any:
    torch.manual_seed(0)
    words = byte_words(READS, CHAT)
    config = GPT2Config(
        vocab_size=len(words),
        n_positions=READS,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        **SHAPES[shape],
    )
    GPT2LMHeadModel(config).save_pretrained(folder / "random")
    words.save_pretrained(folder / "random")
    entry = '[[models]]\nname = "random"\nkind = "causal"\nsource = "path:random"\n'
    (folder / "models.toml").write_text(f'{entry}device = "cpu"\ndtype = "float32"\n', "utf-8")
    return LocalModels(load_catalogue(folder / "models.toml")).language_model("random")


def measure(shape: str, jobs: int, tokens: int, rounds: int) -> tuple[Figures, Figures]:
    sampling = Sampling(max_tokens=tokens)
    prompts = [justify_prompt(TEXT.format(place=place), draw=0) for place in range(jobs)]
    with tempfile.TemporaryDirectory() as folder:
        writer = model(Path(folder), shape)
        forget = writer._causal.forget_prefixes  # noqa: SLF001 - as if it had been asked nothing

        def ask(prompt: Prompt) -> list[Completion]:
            found: list[Completion] = writer.generate([prompt], sampling)
            return found

        def together() -> Written:
            forget()
            with ThreadPoolExecutor(jobs) as threads:
                return list(threads.map(ask, prompts))

        def by_job() -> Written:
            return [ask(prompt) for prompt in prompts]

        def by_job_read_whole() -> Written:
            found = []
            for prompt in prompts:
                forget()
                found.append(ask(prompt))
            return found

        ways = (together, by_job, by_job_read_whole)
        turns = [[timed(way) for way in ways] for _ in range(rounds + 1)][1:]  # one warms up
        length = len(writer._prompt(prompts[0]))  # noqa: SLF001 - in tokens
    texts = [[[one.text for one in own] for own in turn.written] for turn in turns[-1]]
    ratios = {}
    for at, way in enumerate(ways[1:], 1):
        times = [turn[at].seconds / turn[0].seconds for turn in turns]
        cpu = [turn[at].cpu / turn[0].cpu for turn in turns]
        ratios[f"joined_vs_{way.__name__}"] = round(statistics.median(times), 2)
        ratios[f"joined_vs_{way.__name__}_cpu"] = round(statistics.median(cpu), 2)
    figures = {
        "jobs": jobs,
        "tokens_written": sum(len(own[0].tokens) for own in turns[-1][0].written),
        "tokens_of_a_prompt": length,
        "texts_equal": sum(one == two == three for one, two, three in zip(*texts, strict=True)),
        "seconds": {
            way.__name__: round(statistics.median(turn[at].seconds for turn in turns), 3)
            for at, way in enumerate(ways)
        },
    }
    return ratios, figures


class Turn(NamedTuple):
    """The elapsed time, the processor time and the generated texts of one run."""

    seconds: float
    cpu: float
    written: Written


def timed(work: Callable[[], Written]) -> Turn:
    started, before = time.perf_counter(), time.process_time()
    written = work()
    return Turn(time.perf_counter() - started, time.process_time() - before, written)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.generation", description=__doc__)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64, help="that each job writes (default 64)")
    parser.add_argument("--rounds", type=int, default=5, help="after a warm-up (default 5)")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    ratios: Figures = {}
    figures: Figures = {}
    for shape in SHAPES:
        found, figures[shape] = measure(shape, asked.jobs, asked.tokens, asked.rounds)
        ratios |= {f"{shape}_{name}": value for name, value in found.items()}
    about = environment(torch=torch.__version__, dtype="float32", rounds=asked.rounds)
    whole = {"bench": "generation", "ratios": ratios, "figures": figures, "environment": about}
    print(json.dumps(whole))


if __name__ == "__main__":
    main()
