"""A real classification server, infinity, in an environment of its own: HateXScore's P of the same
weights here and there.

Its transformers is older than ours, hence the environment; packages by version, from the index.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from cli.stack.servers import HOST, free_port
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
from shared.models.server_check import probe
from tests.patience import looks
from tests.tiny_models.encoders import ENCODERS, save_encoder

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3_600)]

ROOT = Path(__file__).parents[3]
PACKAGES = (
    "torch",  # it is there; what it needs is not
    "infinity-emb[server]==0.0.78",
    "transformers==4.57.6",
    "click==8.1.8",  # of its command line
    "sentencepiece",
)
STARTS_SECONDS = 300
ENTRIES = """
schema = 2
[[models]]
name = "here"
preset = "hatexplain"
source = "path:weights"
device = "cpu"
dtype = "float32"
[[models]]
name = "there"
kind = "classifier"
preset = "hatexplain"
source = "classify:http://{address}"
served_name = "m"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's folder of commands."""
    folder = tmp_path_factory.mktemp("infinity")
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run(
        ["sh", "requirements/install.sh", python, "torch"], cwd=ROOT, check=False
    )  # its own come next
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def models(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    from services.inference.local_models import LocalModels

    folder, port = tmp_path_factory.mktemp("served"), free_port()
    _as_older_libraries_write_it(save_encoder(folder / "weights", ENCODERS["hatexplain"], 0))
    command = [
        str(installed / "infinity_emb"), "v2", "--model-id", str(folder / "weights"),
        "--served-model-name", "m", "--host", HOST, "--port", str(port), "--device", "cpu",
        "--engine", "torch", "--dtype", "float32", "--no-model-warmup", "--no-bettertransformer",
    ]  # fmt: skip
    told = {**os.environ, "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=told)
    try:
        _await(process, f"http://{HOST}:{port}/health")
        (folder / "models.toml").write_text(ENTRIES.format(address=f"{HOST}:{port}"), "utf-8")
        made = LocalModels(load_catalogue(folder / "models.toml"))
        bind(made)
        yield made
    finally:
        bind(None)
        process.kill()
        process.wait()


def _as_older_libraries_write_it(folder: Path) -> None:
    """Its tokenizer under the name that transformers 4 knows."""
    file = folder / "tokenizer_config.json"
    held = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**held, "tokenizer_class": "PreTrainedTokenizerFast"}), "utf-8")


def _await(process: subprocess.Popen[bytes], url: str) -> None:
    for _ in looks(STARTS_SECONDS, 0.5):
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(url).is_success:
                return
        except httpx.HTTPError:
            continue
    raise RuntimeError("the server did not start")


def test_one_request_scores_alike_here_and_behind_the_server(models: LocalModels) -> None:
    body = next(iter(CONTRACT.examples.values()))
    here, there = (
        SERVICE.score(HatexscoreRequest.model_validate(body | {"model": name}))
        for name in ("here", "there")
    )
    assert here.probability_original is not None
    for name in ("probability_original", "probability_masked", "score"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), abs=1e-5)
    found = probe(next(one for one in models._catalogue.entries if one.name == "there"))
    assert found.protocol == "infinity"
    assert found.metrics["HateXScore"] == "yes"
