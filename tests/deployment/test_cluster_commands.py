"""Each command of the cluster's manifests works as a process, with its environment and mounts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from cli.stack.servers import HOST, Child, free_port
from shared.process.encryption import new_key
from shared.process.settings import Settings
from tests.deployment.containers import READY_SECONDS, answers, bare, own_model, they_score
from tests.deployment.manifests import ROOT, Json, needs_helm, of_kind, rendered
from tests.end_to_end.service import COLD
from tests.patience import SECONDS, busy, eventually

pytestmark = [
    needs_helm,
    pytest.mark.end_to_end,
    pytest.mark.nightly,  # by day the same commands of compose score, in `test_compose.py`
    pytest.mark.timeout(1_200),
]
LOCAL = "TOUCHSTONE_HOST", "TOUCHSTONE_METRICS_HOST"  # all addresses in a pod, one here


class Cluster:
    """The chart's pods on this machine: their secrets, and the folder of each volume."""

    def __init__(self, chosen: Settings, folder: Path) -> None:
        self.volumes = {"models-file": own_model(folder).parent, "weights": folder / "models"}
        self.volumes |= {name: folder / name for name in ("tmp", "files")}
        for volume in self.volumes.values():
            volume.mkdir(exist_ok=True)
        stores = {
            "REDIS_URL": chosen.redis_url.get_secret_value(),
            "DATABASE_URL": chosen.database_url.get_secret_value(),
            "TOUCHSTONE_SECRET_KEYS": new_key(),
        }
        models = {name: value for name, value in stores.items() if name != "DATABASE_URL"}
        webhooks = {"TOUCHSTONE_WEBHOOK_KEYS": new_key()}
        self._held = {
            "touchstone-migrate": {"DATABASE_URL": stores["DATABASE_URL"]},
            "touchstone-gateway": stores | webhooks,
            "touchstone-scheduler": stores | webhooks,
            "touchstone-metrics": stores,
            "touchstone-models": models,
        }
        self.objects = rendered(models={"file": "schema = 2\n", "claim": {"name": "weights"}})
        self._held["touchstone"] = of_kind(self.objects, "ConfigMap")["touchstone"]["data"]

    def environment(self, container: Json) -> dict[str, str]:
        """As the container has it; a path is another one where a volume is mounted there."""
        found: dict[str, str] = {}
        for source in container.get("envFrom", []):
            held = source.get("configMapRef") or source["secretRef"]
            if not held.get("optional"):
                found |= self._held[held["name"]]
        found |= {one["name"]: one["value"] for one in container.get("env", [])}
        mounts = {one["mountPath"]: one["name"] for one in container["volumeMounts"]}
        return {name: self._mounted(value, mounts) for name, value in found.items()}

    def _mounted(self, value: str, mounts: dict[str, str]) -> str:
        for path, volume in mounts.items():
            if value == path or value.startswith(f"{path}/"):
                return str(self.volumes[volume]) + value.removeprefix(path)
        return value


@contextmanager
def process(cluster: Cluster, container: Json, logs: Path) -> Iterator[str]:
    """Run a container's command; the address that its readiness is asked at. That each worker can
    score its examples when it starts is told by the same commands of compose."""
    port, other = free_port(), free_port()
    said = cluster.environment(container)
    probe = container["readinessProbe"]["httpGet"]
    own = "TOUCHSTONE_PORT" if "TOUCHSTONE_PORT" in said else "TOUCHSTONE_METRICS_PORT"
    said |= {"TOUCHSTONE_METRICS_PORT": str(other), "PYTHONPATH": str(ROOT)}
    said |= {own: str(port)} | {name: HOST for name in LOCAL if name in said}
    child = Child(container["name"], command(container), bare() | said | COLD)
    child.start(logs)
    try:
        yield f"http://{HOST}:{port}{probe['path']}"
    finally:
        child.stop()


def command(container: Json) -> tuple[str, ...]:
    return (sys.executable, *container["command"][1:], *container.get("args", []))


@pytest.fixture
def started(chosen: Settings, tmp_path: Path) -> Iterator[str]:
    """Every pod of the chart, once; the gateway's address."""
    cluster = Cluster(chosen, tmp_path)
    specs = {
        name: one["spec"]["template"]["spec"]
        for name, one in of_kind(cluster.objects, "Deployment").items()
    }
    for spec in specs.values():
        for container in spec.get("initContainers", []):
            told = bare() | cluster.environment(container) | {"PYTHONPATH": str(ROOT)}
            subprocess.run(
                command(container), env=told, cwd=ROOT, check=True, timeout=SECONDS * busy()
            )
    with ExitStack() as held:
        probes = {}
        for name, spec in specs.items():
            [container] = spec["containers"]
            logs = tmp_path / "logs" / name
            logs.mkdir(parents=True)
            probes[name] = held.enter_context(process(cluster, container, logs))
        for probe in probes.values():
            eventually(partial(answers, probe), probe, seconds=READY_SECONDS, every=0.2)
        yield probes["gateway"].rpartition("/")[0]


def test_every_command_of_a_pod_works_and_together_they_score(
    started: str, chosen: Settings, tmp_path: Path
) -> None:
    they_score(started, chosen, tmp_path / "models.toml")
