"""What compose and the cluster would be told, as data."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
OVERLAYS = ("cpu", "gpu")
KUBECTL = shutil.which("kubectl")

Json = dict[str, Any]


@lru_cache(maxsize=1)
def compose() -> Json:
    """docker-compose.yml, anchors resolved, variables not."""
    found: Json = yaml.safe_load(COMPOSE_FILE.read_text("utf-8"))
    return found


def ours() -> dict[str, Json]:
    """The services that run the project's image."""
    return {
        name: service
        for name, service in compose()["services"].items()
        if service["image"] == "touchstone"
    }


@lru_cache(maxsize=2)
def objects(overlay: str) -> list[Json]:
    """Every object that this overlay makes."""
    return built(ROOT, overlay)


def built(root: Path, overlay: str) -> list[Json]:
    """The objects of this checkout's overlay, by `kubectl kustomize`."""
    assert KUBECTL is not None
    ran = subprocess.run(
        [KUBECTL, "kustomize", str(root / "k8s" / "overlays" / overlay)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [found for found in yaml.safe_load_all(ran.stdout) if found]


def of_kind(overlay: str, *kinds: str) -> list[Json]:
    """The objects of these kinds."""
    return [found for found in objects(overlay) if found["kind"] in kinds]
