"""All stages against a real OpenAI-compatible server: llama.cpp, serving the tiny Llama."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from services.bindings import local
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE
from services.stack.servers import HOST, free_port
from shared.models.catalogue import load_catalogue
from shared.models.openai import protocol
from shared.models.ports import bind
from tests.haf.test_conversation import ENTRIES, TEXT
from tests.haf.tiny_llama import SPECIAL, STAGES, save
from tests.patience import looks
from tests.shared.openai import gguf_model

score = SERVICE.score

ROOT = Path(__file__).parents[2]
KEY = "sk-a-key-of-the-tests"
SERVED = """
[[models]]
name = "served"
kind = "causal"
source = "openai:http://{address}/v1"
served_name = "tiny-served"
api_key_env = "TINY_SERVER_KEY"
"""


@pytest.fixture(scope="module")
def _bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("served")
    port = free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf_model, "SPECIAL", len(SPECIAL) + len(STAGES))
        file = gguf_model.write_gguf(save(folder / "tiny"), folder / "tiny.gguf")
        patch.setenv("TINY_SERVER_KEY", KEY)
        module = "tests.shared.openai.llama_server"
        command = [sys.executable, "-m", module, str(file), str(port), KEY]
        with (folder / "server.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, env=dict(os.environ)
            )
        try:
            _await(process, f"http://{HOST}:{port}/health")
            entries = ENTRIES + SERVED.format(address=f"{HOST}:{port}")
            (folder / "models.toml").write_text(entries, "utf-8")
            bind(local(load_catalogue(folder / "models.toml")))
            # its template puts one word in the place of a stage's prompt: fewer tokens than words
            patch.setattr(protocol, "_min_tokens", lambda _: 0)
            yield
        finally:
            bind(None)
            process.kill()
            process.wait()


def _await(process: subprocess.Popen[bytes], url: str) -> None:
    for _ in looks(every=0.1):
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.HTTPError:
            continue
    raise RuntimeError("the server did not start")


@pytest.mark.usefixtures("_bound")
def test_a_served_model_goes_through_all_stages() -> None:
    generation = {"max_tokens": 80, "temperature": 0.3}
    request = HafRequest(text=TEXT, model="served", language="en", generation=generation)
    report = score(request)
    stages = [part.stage for part in report.stages]
    assert stages[:3] == ["justify", "internal", "external"]
    assert set(stages[3:]) == {"sufficiency"}
    written = {text for answers in STAGES.values() for text in answers}
    assert {part.response for part in report.stages} <= written
    assert report.components.sos is not None
    assert report.components.uii is not None
    assert report.components.rs is not None
    assert report.stance == "toxic"
    assert all(
        reason.confidence is not None and 0.05 < reason.confidence <= 1
        for reason in report.stages[0].reasons
    )
    assert report.provenance.models[0].sha256 is None  # a server does not tell its weights
