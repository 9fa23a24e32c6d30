"""What compose and the cluster would be told, as data."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
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
    """The services that run the project's images and stay, or prepare the others."""
    return {
        name: service
        for name, service in compose()["services"].items()
        if service["image"].startswith("touchstone-") and "profiles" not in service
    }


@lru_cache(maxsize=2)
def objects(overlay: str) -> list[Json]:
    """Every object that this overlay makes."""
    return built(ROOT, overlay)


def built(root: Path, overlay: str, *components: str, models: str | None = None) -> list[Json]:
    """The objects of this checkout's overlay, by `kubectl kustomize`.

    components: of `k8s/components`, besides. models: a `models.toml` instead of the base's.
    """
    assert KUBECTL is not None
    with TemporaryDirectory(dir=root / "k8s" / "overlays") as name:
        folder = Path(name)
        mine: Json = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [f"../{overlay}"],
            "components": [f"../../components/{component}" for component in components],
        }
        if models is not None:
            (folder / "models.toml").write_text(models, "utf-8")
            generated = {"name": "touchstone-models", "files": ["models.toml"]}
            mine["configMapGenerator"] = [generated | {"behavior": "replace"}]
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(mine), "utf-8")
        command = [KUBECTL, "kustomize", str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return [found for found in yaml.safe_load_all(ran.stdout) if found]


def of_kind(overlay: str, *kinds: str) -> list[Json]:
    """The objects of these kinds."""
    return [found for found in objects(overlay) if found["kind"] in kinds]
