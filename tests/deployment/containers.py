"""The project's images as processes of this machine, with the environment of their containers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from cli.stack.servers import free_port
from shared.process.settings import Settings
from tests.deployment.manifests import ROOT, compose
from tests.end_to_end.load import examples, finished
from tests.end_to_end.service import environment
from tests.patience import SECONDS, eventually
from tests.shared.models.openai.computing import ClassifierDouble, Floats
from tests.shared.models.openai.stub import listening
from tests.tiny_models.encoders import ENCODERS, save_encoder

READY_SECONDS = 300  # of an idle machine, all workers at once
NAMES = ("nothate", "hate")
SERVED = """
[[models]]
name = "served"
kind = "classifier"
source = "classify:http://127.0.0.1:{port}"
served_name = "m"
outputs = ["nothate", "hate"]
languages = ["en"]
"""
SCORES = "/v1/scores/hatexscore"


def own_model(folder: Path) -> Path:
    """The shipped models.toml with `mine` besides, whose weights lie in the folder of weights, and
    `served`, behind a server that nobody has started."""
    save_encoder(folder / "models" / "mine", ENCODERS["dynabench"], 0)
    file = folder / "models.toml"
    shutil.copyfile(ROOT / "models.toml", file)
    with file.open("a", encoding="utf-8") as more:
        more.write(SERVED.format(port=free_port()))
    tool(file, "add", f"path:{folder / 'models' / 'mine'}")
    listed = tool(file, *compose()["services"]["models"]["command"]).splitlines()
    [shown] = [line for line in listed if line.startswith("mine ")]
    assert shown.endswith("here")
    for path in [*(folder / "models").rglob("*"), folder / "models", file]:
        path.chmod(0o555 if path.is_dir() else 0o444)  # as the workers see them
    return file


def tool(file: Path, *arguments: str, **more: str) -> str:
    """What the service `models` prints, by its own command."""
    entry = [sys.executable, *compose()["services"]["models"]["entrypoint"][1:]]
    told = {
        "TOUCHSTONE_MODELS_FILE": str(file),
        "TOUCHSTONE_MODELS_DIR": str(file.parent / "models"),
        "HF_HUB_OFFLINE": "1",
    }
    ran = subprocess.run(
        [*entry, *arguments], env=bare() | told | more, cwd=ROOT, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return ran.stdout


def bare() -> dict[str, str]:
    """What a container has besides: no setting of ours, and none that a test here has left."""
    own = ("TOUCH", "HF_")
    return {name: value for name, value in environment().items() if not name.startswith(own)}


def answers(probe: str) -> bool:
    """Whether it is ready, or alive, as its probe asks."""
    try:
        return httpx.get(probe, timeout=SECONDS).is_success
    except httpx.TransportError:
        return False


def they_score(gateway: str, chosen: Settings, file: Path) -> None:
    """With a key: the shipped models, `mine`, and `served` once its server is there; `mine` breaks
    alone, and is mended."""
    assert httpx.get(f"{gateway}/v1/jobs", timeout=SECONDS).status_code == 401
    bearer = {"Authorization": f"Bearer {_key(chosen)}"}
    with httpx.Client(base_url=gateway, headers=bearer, timeout=SECONDS) as client:
        waiting = _one_that_waits(client)
        configured = tomllib.loads(file.read_text("utf-8"))["models"]
        [address] = [one["source"] for one in configured if one["name"] == "served"]
        with listening(ClassifierDouble("vllm", _logits, NAMES), int(address.rpartition(":")[2])):
            for body in examples():
                finished(client, SCORES, body)
            _scores(client, "mine")
            assert _state(client, "mine") == "ready"
            _broken_and_mended(client, chosen, file)
            job = f"/v1/jobs/{waiting}"
            eventually(lambda: client.get(job).json()["result"], "it ends", every=0.5)
            found = eventually(lambda: _model(client, "served")["server"], "its record", every=0.5)
            assert found["protocol"] == "vllm"
        assert client.get(job).json()["attempts"] == 1


def _key(chosen: Settings) -> str:
    servers = {
        "DATABASE_URL": chosen.database_url.get_secret_value(),
        "PATH": os.environ["PATH"],
    }
    make = [sys.executable, "-m", "services.gateway.keys", "create"]
    made = subprocess.run(make, env=servers, cwd=ROOT, capture_output=True, text=True, check=True)
    return made.stdout.strip()


def _body(model: str) -> dict[str, Any]:
    return {**next(iter(examples())), "model": model}


def _scores(client: httpx.Client, model: str) -> None:
    job = finished(client, SCORES, _body(model))
    assert [use["name"] for use in job["result"]["provenance"]["models"]] == [model]


def _one_that_waits(client: httpx.Client) -> str:
    """A job of the server that is away."""
    answer = client.post(SCORES, json=_body("served"))
    assert answer.status_code == 202, answer.text
    job = f"/v1/jobs/{answer.json()['id']}"
    waits = eventually(
        lambda: client.get(job).json()["waiting_for"], lambda: client.get(job).json(), every=0.2
    )
    assert (waits["model"], waits["state"]) == ("served", "away")
    return str(answer.json()["id"])


def _broken_and_mended(client: httpx.Client, chosen: Settings, file: Path) -> None:
    """Its folder goes, and comes back."""
    redis = {"REDIS_URL": chosen.redis_url.get_secret_value()}
    folder = file.parent / "models" / "mine"
    folder.parent.chmod(0o755)
    folder.rename(folder.with_name("elsewhere"))
    tool(file, "reload", **redis)
    eventually(lambda: _state(client, "mine") == "absent", "it is absent", every=0.5)
    assert "no folder" in _model(client, "mine")["error"]
    assert _state(client, "embedded-hate") == "ready"
    finished(client, SCORES, _body("embedded-hate"))
    refused = eventually(lambda: _refused(client), "it is refused", every=0.5)
    assert refused["type"].endswith("#model-unusable")
    assert "no folder" in refused["detail"]
    folder.with_name("elsewhere").rename(folder)
    tool(file, "reload", **redis)
    eventually(lambda: _state(client, "mine") == "ready", "it was mended", every=0.5)
    eventually(lambda: _refused(client) is None, "it is taken", every=0.5)
    _scores(client, "mine")


def _state(client: httpx.Client, model: str) -> str | None:
    found: str | None = _model(client, model)["state"]
    return found


def _model(client: httpx.Client, model: str) -> Any:
    return client.get("/v1/models", params={"id": model}).json()["data"][0]


def _refused(client: httpx.Client) -> dict[str, Any] | None:
    """The problem of a job of `mine`; None: it is taken."""
    answer = client.post(SCORES, json=_body("mine"))
    if answer.status_code == 202:
        return None
    found: dict[str, Any] = answer.json()
    return found


def _logits(texts: Sequence[str]) -> Floats:
    """(N, 2): by the length of a text."""
    return np.array([[0.0, len(text) / 40 - 1] for text in texts])
