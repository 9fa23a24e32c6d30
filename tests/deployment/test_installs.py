"""Each target's locks install into an empty environment, by hash, and its processes start there."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.deployment.manifests import ROOT

MODEL_CODE = ("torch", "transformers", "sentence_transformers")
BUILD_ONLY = ("pip", "setuptools", "_distutils_hack")  # the images have them no more
TARGETS = {  # as the Dockerfile installs them; entries; megabytes of packages at most
    "gateway": (
        ("gateway", "object-storage"),
        ("services.gateway.app", "services.scheduler.__main__", "shared.ledger.migrate"),
        350,
    ),
    "metrics": (("metrics",), ("services.worker", "services.hatexscore.metric"), 1_200),
    "models": (
        ("models", "openvino", "torch"),
        ("services.worker", "services.inference.service", "services.similarity.service"),
        2_500,  # with torch's build for processors
    ),
}


@pytest.mark.parametrize("target", TARGETS)
def test_the_locks_are_those_of_the_image(target: str) -> None:
    stage = (ROOT / "Dockerfile").read_text("utf-8").partition(f"AS build-{target}\n")[2]
    line = next(line for line in stage.splitlines() if "install.sh" in line)
    named = line.partition("/venv/bin/python ")[2].split()
    assert [name.removesuffix("-cpu") for name in named] == list(TARGETS[target][0])


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_installs_by_hash_and_starts(target: str, tmp_path: Path) -> None:
    locks, entries, most = TARGETS[target]
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(["sh", "requirements/install.sh", str(python), *locks], cwd=ROOT, check=True)
    for entry in entries:
        said = subprocess.run(
            [str(python), "-c", f"import {entry}, sys; print(*sys.modules)"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        assert target == "models" or not set(MODEL_CODE) & set(said.stdout.split())
    installed = tmp_path / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    there = {path.name for path in installed.iterdir()}
    assert (target == "models") == bool(set(MODEL_CODE) & there)
    if any(name.startswith("nvidia") for name in there):
        return  # torch's build is the machine's
    files = (path for path in installed.rglob("*") if path.is_file())
    size = sum(
        path.stat().st_size
        for path in files
        if path.relative_to(installed).parts[0] not in BUILD_ONLY
    )
    assert size <= most * 1e6, f"{size / 1e6:.0f} MB"
