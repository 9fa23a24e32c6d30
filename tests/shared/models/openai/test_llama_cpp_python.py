"""llama-cpp-python's own server, which has no wheel: compiled here, with weights that we hold too.

The environment is its own. `LLAMA_CPP_PYTHON` names a Python that has the server already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.stack.servers import HOST, free_port
from shared.contracts.calls import Example, Prompt, Template
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.openai.model import ServedLanguageModel
from shared.models.openai.scoring import Echo
from shared.models.server_check import probe, render
from tests.inference.shapes import save_llama
from tests.shared.models.openai.conftest import await_health
from tests.shared.models.openai.gguf_model import write_gguf

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


# eight minutes of processor time, nearly all of it the compiler's: 55 on two crowded cores
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(7_200)]

PACKAGE = "llama-cpp-python[server]==0.3.36"
BUILT = {"CMAKE_ARGS": "-DLLAVA_BUILD=OFF -DGGML_OPENMP=OFF", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
ENTRIES = """
schema = 2
[[models]]
name = "there"
kind = "causal"
source = "openai:http://{address}/v1"
served_name = "tiny"
[[models]]
name = "here"
kind = "causal"
source = "path:weights"
device = "cpu"
dtype = "float32"
"""
TEXTS = ("The garden was", "Is the weather good", "We lost")
TEMPLATE = Template(verbalizers={"hateful": " good", "non-hateful": " the river"})


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the environment that holds the server."""
    if given := os.environ.get("LLAMA_CPP_PYTHON"):
        return given
    if shutil.which("c++") is None:
        pytest.skip("llama-cpp-python has no wheel, and there is no compiler here")
    folder = tmp_path_factory.mktemp("llama-cpp-python")
    venv.create(folder, with_pip=True)
    made = str(folder / "bin" / "python")
    command = [made, "-m", "pip", "install", "--quiet", PACKAGE]
    subprocess.run(command, check=True, env={**os.environ, **BUILT})
    return made


@contextmanager
def serving(python: str, file: Path) -> Iterator[LocalModels]:
    """The models `there`, behind the server, and `here`, the folder `weights` beside the file."""
    from services.inference.local_models import LocalModels

    port = free_port()
    command = [
        python, "-m", "llama_cpp.server", "--model", str(file), "--model_alias", "tiny",
        "--host", HOST, "--port", str(port), "--n_ctx", "1024", "--n_threads", "1",
        "--n_gpu_layers", "0", "--type_k", "0", "--type_v", "0", "--flash_attn", "false",
    ]  # fmt: skip
    told = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with file.with_name("server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=told)
    try:
        await_health(process, f"http://{HOST}:{port}/v1/models")
        catalogue = file.with_name("models.toml")
        catalogue.write_text(ENTRIES.format(address=f"{HOST}:{port}"), "utf-8")
        yield LocalModels(load_catalogue(catalogue))
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def models(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    folder = tmp_path_factory.mktemp("served")
    with serving(python, write_gguf(save_llama(folder / "weights"), folder / "tiny.gguf")) as made:
        yield made


def served(models: LocalModels) -> ServedLanguageModel:
    found = models.language_model("there")
    assert isinstance(found, ServedLanguageModel)
    return found


def test_its_echo_has_the_log_probabilities_of_the_same_weights(models: LocalModels) -> None:
    there, here = served(models), models.language_model("here")
    assert isinstance(there.server.scoring_method, Echo)
    prompts = [Prompt(text=text) for text in TEXTS]
    written = [" green after the rain", " is good", " the river"]
    for one, other in zip(there.score(prompts, written), here.score(prompts, written), strict=True):
        assert [token.logprob for token in one.tokens] == pytest.approx(
            [token.logprob for token in other.tokens], abs=1e-3
        )


def test_p_is_that_of_the_same_weights(models: LocalModels) -> None:
    asked = [Example(text=text, template=TEMPLATE) for text in TEXTS]
    here = models.language_model("here").judgements(asked)
    for one, other in zip(served(models).judgements(asked), here, strict=True):
        assert one.reading == "scored"
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-4)


def test_check_prints_what_it_can_do(models: LocalModels) -> None:
    printed = render(probe(served(models).server.entry))
    assert "score given text echo" in " ".join(printed.split())
