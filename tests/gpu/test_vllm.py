"""vLLM over a tiny model of our own, and the same weights in this process, both in bfloat16.

It brings a torch of its own, hence an environment of its own: `VLLM_COMMAND` names its
command; else `vllm` is looked for on the path. Source: specs "models" §5.3.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from cli.stack.servers import HOST, free_port
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.inference.local_models import LocalModels
from shared.contracts.calls import Example
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from shared.models.server_check import probe, render
from tests.flat_requests import flat_request
from tests.inference.shapes import SENTENCES, save_llama
from tests.shared.models.openai.conftest import await_health

COMMAND = os.environ.get("VLLM_COMMAND") or shutil.which("vllm")
APART = 0.02  # of P, in bfloat16
WIDTH = 256  # heads of 64, which its kernels take; a scale at which rounding moves P by .003
ONE, OTHER = list("abcdefghijkl"), list("mnopqrstuvwx")  # of a random model two have no mass
ENTRIES = """
schema = 2
[[models]]
name = "here"
kind = "causal"
source = "path:weights"
device = "cuda"
dtype = "bfloat16"
[models.prompt]
style = "raw"
user = "{{text}}"
verbalizers = {{ hateful = {one}, "non-hateful" = {other} }}
[[models]]
name = "there"
kind = "causal"
source = "openai:http://{address}/v1"
served_name = "tiny"
[models.prompt]
style = "raw"
user = "{{text}}"
verbalizers = {{ hateful = {one}, "non-hateful" = {other} }}
"""

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
    pytest.mark.skipif(
        COMMAND is None, reason="needs vLLM: install it, or name it by VLLM_COMMAND"
    ),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    folder, port = tmp_path_factory.mktemp("vllm"), free_port()
    weights = save_llama(folder / "weights", width=WIDTH, scale=3)
    command = [
        str(COMMAND), "serve", str(weights), "--served-model-name", "tiny", "--host", HOST,
        "--port", str(port), "--dtype", "bfloat16", "--enforce-eager", "--max-logprobs", "20",
        "--gpu-memory-utilization", "0.3", "--generation-config", "vllm",
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        await_health(process, f"http://{HOST}:{port}/health")
        (folder / "models.toml").write_text(
            ENTRIES.format(address=f"{HOST}:{port}", one=ONE, other=OTHER), "utf-8"
        )
        made = LocalModels(load_catalogue(folder / "models.toml"))
        bind(made)
        yield made
    finally:
        bind(None)
        process.terminate()  # its engine is a process of its own
        process.wait()


def test_p_is_the_same_here_and_there(models: LocalModels) -> None:
    examples = [Example(text=text, template=None) for text in SENTENCES]
    here = models.judge("here").judgements(examples)
    there = models.judge("there").judgements(examples)
    assert {one.reading for one in there} <= {"label-endpoint", "scored"}
    own, served = (np.array([one.probabilities for one in each]) for each in (here, there))
    assert np.max(np.abs(own - served)) <= APART
    assert np.ptp(own[:, 0]) > APART  # a P that never moves would agree with anything


def test_check_finds_what_the_documentation_says(models: LocalModels) -> None:
    record = probe(models._catalogue.entry("there"))
    assert record.error is None
    assert (record.completions, record.chat, record.top_logprobs) == (True, True, 20)
    assert record.given_text is not None
    shown = render(record)
    assert "owned by vllm" in shown
    assert "metrics" in shown


def test_hatexscore_is_the_same_here_and_there(models: LocalModels) -> None:
    found = []
    for name in ("here", "there"):
        body = {**next(iter(CONTRACT.examples.values())), "model": name}
        found.append(SERVICE.score(flat_request(HatexscoreRequest, body)))
    own, served = (report.components.model_dump() for report in found)
    for part, value in own.items():
        assert served[part] == pytest.approx(value, abs=2 * APART), part
