"""The cluster's Job that fetches weights: its very command, with its environment and mounts.

What it fetched is then there for whoever reads the same folder, as the workers do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from tests.cli.hub_double import hub_double
from tests.deployment.containers import bare, tool
from tests.deployment.manifests import ROOT, Json
from tests.tiny_models.encoders import ENCODERS, save_encoder

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENTRY = f'schema = 2\n[[models]]\nname = "hate"\nsource = "hf:org/hate@{COMMIT}"\n'
ENTRY += 'kind = "classifier"\n'


def job_container() -> Json:
    job = yaml.safe_load((ROOT / "k8s/components/pull/job.yaml").read_text("utf-8"))
    [container] = job["spec"]["template"]["spec"]["containers"]
    return dict(container)


def said_by_the_config_map(container: Json, volumes: dict[str, Path]) -> dict[str, str]:
    """Its environment, with the folders that its mounts are here."""
    objects = yaml.safe_load_all((ROOT / "k8s/base/configuration.yaml").read_text("utf-8"))
    [held] = [one["data"] for one in objects if one["kind"] == "ConfigMap"]
    for mount in container["volumeMounts"]:
        here = str(volumes[mount["name"]])
        path = mount["mountPath"]
        held = {name: value.replace(path, here, 1) if value.startswith(path) else value
                for name, value in held.items()}  # fmt: skip
    return dict(held)


def test_its_command_fetches_what_workers_then_find(tmp_path: Path) -> None:
    volumes = {name: tmp_path / name for name in ("tmp", "models-file", "weights")}
    for folder in volumes.values():
        folder.mkdir()
    file = volumes["models-file"] / "models.toml"
    file.write_text(ENTRY, "utf-8")
    file.chmod(0o444)
    container = job_container()
    command = [sys.executable, *container["command"][1:], *container["args"]]
    with hub_double() as hub:
        hub.add("org/hate", "main", save_encoder(tmp_path / "org", ENCODERS["dynabench"]), COMMIT)
        told = said_by_the_config_map(container, volumes) | {"HF_ENDPOINT": hub.url}
        told |= {"HF_HUB_ETAG_TIMEOUT": "300", "HF_HUB_DOWNLOAD_TIMEOUT": "300"}  # beside any load
        ran = subprocess.run(
            command, env=bare() | told, cwd=ROOT, check=False, capture_output=True, text=True
        )
    assert ran.returncode == 0, ran.stderr
    assert "hate: whole, sha256" in ran.stderr
    listed = tool(file, "list", TOUCHSTONE_MODELS_DIR=str(volumes["weights"])).splitlines()
    [shown] = [line for line in listed if line.startswith("hate ")]
    assert shown.endswith("here")
