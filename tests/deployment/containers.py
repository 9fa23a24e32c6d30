"""The project's images as processes of this machine, with the environment of their containers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx

from shared.settings import Settings
from tests.deployment.manifests import ROOT, compose
from tests.end_to_end.load import examples, finished
from tests.end_to_end.service import environment
from tests.patience import SECONDS
from tests.tiny_models.encoders import ENCODERS, save_encoder

READY_SECONDS = 300  # of an idle machine, all workers at once


def own_model(folder: Path) -> Path:
    """The shipped models.toml with `mine` besides, whose weights lie in the folder of weights; as
    the service `models` says with its own command."""
    save_encoder(folder / "models" / "mine", ENCODERS["dynabench"], 0)
    file = folder / "models.toml"
    shutil.copyfile(ROOT / "models.toml", file)
    tools = compose()["services"]["models"]
    entry = [sys.executable, *tools["entrypoint"][1:]]
    told = {
        "TOUCHSTONE_MODELS_FILE": str(file),
        "TOUCHSTONE_MODELS_DIR": str(folder / "models"),
        "HF_HUB_OFFLINE": "1",
    }
    for arguments in (["add", f"path:{folder / 'models' / 'mine'}"], tools["command"]):
        subprocess.run([*entry, *arguments], env=bare() | told, cwd=ROOT, check=True)
    for path in [*(folder / "models").rglob("*"), folder / "models", file]:
        path.chmod(0o555 if path.is_dir() else 0o444)  # as the workers see them
    return file


def bare() -> dict[str, str]:
    """What a container has besides: no setting of ours."""
    return {name: value for name, value in environment().items() if not name.startswith("TOUCH")}


def answers(probe: str) -> bool:
    """Whether it is ready, or alive, as its probe asks."""
    try:
        return httpx.get(probe, timeout=SECONDS).is_success
    except httpx.TransportError:
        return False


def they_score(gateway: str, chosen: Settings) -> None:
    """With a key, the shipped models and `mine`."""
    make = [sys.executable, "-m", "services.gateway.keys", "create"]
    servers = {
        "DATABASE_URL": chosen.database_url.get_secret_value(),
        "PATH": os.environ["PATH"],
    }
    made = subprocess.run(make, env=servers, cwd=ROOT, capture_output=True, text=True, check=True)
    assert httpx.get(f"{gateway}/v1/jobs", timeout=SECONDS).status_code == 401
    bearer = {"Authorization": f"Bearer {made.stdout.strip()}"}
    with httpx.Client(base_url=gateway, headers=bearer, timeout=SECONDS) as client:
        for body in examples():
            finished(client, "/v1/scores/hatexscore", body)
        job = finished(client, "/v1/scores/hatexscore", next(iter(examples())) | {"model": "mine"})
        assert [use["name"] for use in job["result"]["provenance"]["models"]] == ["mine"]
        assert client.get("/v1/models/mine").json()["state"] == "ready"
