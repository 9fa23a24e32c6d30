"""llama.cpp's server over a tiny model of our own, and the same weights in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from cli.stack.servers import HOST, free_port
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.openai.model import ServedLanguageModel
from tests.inference.shapes import save_llama
from tests.patience import looks
from tests.shared.models.openai.gguf_model import write_gguf

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


ROOT = Path(__file__).parents[4]
KEY = "sk-a-key-of-the-tests"
SERVED = """
[[models]]
name = "served"
kind = "causal"
source = "openai:http://{address}/v1"
served_name = "tiny-served"
api_key_env = "TINY_SERVER_KEY"
"""
OWN = """
[[models]]
name = "own"
kind = "causal"
source = "path:weights"
device = "cpu"
"""


@contextmanager
def llama_serving(file: Path) -> Iterator[str]:
    """llama.cpp's server over the GGUF of this file: the entry of its model in a `models.toml`."""
    port = free_port()
    module = "tests.shared.models.openai.llama_server"
    command = [sys.executable, "-m", module, str(file), str(port), KEY]
    with file.with_name("server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=dict(os.environ))
    try:
        await_health(process, f"http://{HOST}:{port}/health")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TINY_SERVER_KEY", KEY)
            yield SERVED.format(address=f"{HOST}:{port}")
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def tiny_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    """The models `served` and `own`: one and the same, behind HTTP and in here."""
    from services.inference.local_models import LocalModels

    folder = tmp_path_factory.mktemp("served")
    file = write_gguf(save_llama(folder / "weights"), folder / "tiny.gguf")
    with llama_serving(file) as entry:
        (folder / "models.toml").write_text(entry + OWN, "utf-8")
        yield LocalModels(load_catalogue(folder / "models.toml"))


@pytest.fixture(scope="session")
def tiny_served(tiny_server: LocalModels) -> ServedLanguageModel:
    """The model behind the server."""
    found = tiny_server.language_model("served")
    assert isinstance(found, ServedLanguageModel)
    return found


def await_health(process: subprocess.Popen[bytes], url: str) -> None:
    """Until it answers. Raises where the process ends."""
    for _ in looks(every=0.1):
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.HTTPError:
            continue
    raise RuntimeError("the server did not start")
