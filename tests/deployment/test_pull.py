"""The cluster's Job that fetches weights: its very command, with its environment and mounts.

What it fetched is then there for whoever reads the same folder, as the workers do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.hub_double import hub_double
from tests.deployment.containers import bare, tool
from tests.deployment.manifests import ROOT, Json, needs_helm, of_kind, pod_specs, rendered
from tests.tiny_models.encoders import ENCODERS, save_encoder

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENTRY = f'schema = 2\n[[models]]\nname = "hate"\nsource = "hf:org/hate@{COMMIT}"\n'
ENTRY += 'kind = "classifier"\n'


def job() -> tuple[Json, dict[str, str]]:
    """Return the Job's container and the variables of the ConfigMap that it reads."""
    peers = {"hub": [{"cidr": "0.0.0.0/0", "port": 443}]}
    models = {"file": ENTRY, "pull": True, "claim": {"name": "weights"}}
    objects = rendered(models=models, network={"egress": peers})
    [spec] = [one for name, one in pod_specs(objects).items() if name.startswith("models-pull")]
    return spec["containers"][0], of_kind(objects, "ConfigMap")["touchstone"]["data"]


@needs_helm
def test_its_command_fetches_what_workers_then_find(tmp_path: Path) -> None:
    volumes = {name: tmp_path / name for name in ("tmp", "models-file", "weights")}
    for folder in volumes.values():
        folder.mkdir()
    file = volumes["models-file"] / "models.toml"
    file.write_text(ENTRY, "utf-8")
    file.chmod(0o444)
    container, held = job()
    for mount in container["volumeMounts"]:
        path, here = mount["mountPath"], str(volumes[mount["name"]])
        held = {name: value.replace(path, here) if value.startswith(path) else value
                for name, value in held.items()}  # fmt: skip
    command = [sys.executable, *container["command"][1:], *container["args"]]
    with hub_double() as hub:
        hub.add("org/hate", "main", save_encoder(tmp_path / "org", ENCODERS["dynabench"]), COMMIT)
        told = held | {"HF_ENDPOINT": hub.url}
        told |= {"HF_HUB_ETAG_TIMEOUT": "300", "HF_HUB_DOWNLOAD_TIMEOUT": "300"}  # beside any load
        ran = subprocess.run(
            command, env=bare() | told, cwd=ROOT, check=False, capture_output=True, text=True
        )
    assert ran.returncode == 0, ran.stderr
    assert "hate: complete, sha256" in ran.stderr
    listed = tool(file, "list", TOUCHSTONE_MODELS_DIR=str(volumes["weights"])).splitlines()
    [shown] = [line for line in listed if line.startswith("hate ")]
    assert shown.endswith("here")
