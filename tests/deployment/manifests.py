"""The objects that docker-compose.yml and the Helm chart define, as data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
CHART = ROOT / "k8s" / "touchstone"
HELM = shutil.which("helm") or shutil.which("helm", path=str(Path(sys.executable).parent))
needs_helm = pytest.mark.skipif(HELM is None, reason="make test-all fetches helm")

Json = dict[str, Any]


@lru_cache(maxsize=1)
def compose() -> Json:
    """Return docker-compose.yml with its anchors resolved, but not its variables."""
    found: Json = yaml.safe_load(COMPOSE_FILE.read_text("utf-8"))
    return found


def ours() -> dict[str, Json]:
    """Return the services of a default start that run the project's images."""
    return {
        name: service
        for name, service in compose()["services"].items()
        if service["image"].startswith("touchstone-") and "profiles" not in service
    }


def helm(values: Json) -> subprocess.CompletedProcess[str]:
    """Run `helm template` with these values, and a registry."""
    assert HELM is not None
    command = [HELM, "template", "touchstone", str(CHART), "--values", "-"]
    image = {"registry": "registry.example"} | values.get("image", {})
    said = json.dumps(values | {"image": image})
    return subprocess.run(command, input=said, capture_output=True, text=True, check=False)


def rendered(**values: Any) -> list[Json]:
    """Return the objects that the chart makes with these values."""
    ran = helm(values)
    assert ran.returncode == 0, ran.stderr
    return [found for found in yaml.safe_load_all(ran.stdout) if found]


def of_kind(objects: list[Json], *kinds: str) -> dict[str, Json]:
    """Return the objects of these kinds by name."""
    return {one["metadata"]["name"]: one for one in objects if one["kind"] in kinds}


def pod_specs(objects: list[Json]) -> dict[str, Json]:
    """Return the pod spec of every workload by name."""
    found = {}
    for name, one in of_kind(objects, "Deployment", "StatefulSet", "Job", "CronJob").items():
        spec = one["spec"]
        spec = spec["jobTemplate"]["spec"] if one["kind"] == "CronJob" else spec
        found[name] = spec["template"]["spec"]
    return found


def containers(spec: Json) -> list[Json]:
    return [*spec.get("initContainers", []), *spec["containers"]]
