"""The packages of each image install by hash into an empty environment, and its modules load."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from tests.deployment.manifests import ROOT

MODEL_CODE = ("torch", "transformers", "sentence_transformers")
BUILD_ONLY = ("pip", "setuptools", "_distutils_hack")  # the images remove them
TARGETS = {  # of the Dockerfile: modules, megabytes of packages at most
    "gateway": (
        (
            "services.gateway.app", "services.gateway.keys", "services.scheduler.__main__",
            "shared.ledger.migrate", "cli.stack.backup", "touchstone_client",
        ),
        350,
    ),
    "metrics": (("services.worker", "services.hatexscore.metric"), 1_200),
    "models": (
        (
            "services.worker", "services.inference.service", "services.similarity.service",
            "cli.models.command", "training.reader.train",
        ),
        2_500,  # with torch's build for processors
    ),
}  # fmt: skip


def locks(target: str) -> list[str]:
    """The arguments of `install.sh` for this target of the Dockerfile."""
    stage = (ROOT / "Dockerfile").read_text("utf-8").partition(f"AS build-{target}\n")[2]
    line = re.search(r"install\.sh /venv/bin/python (.*)", stage)
    assert line is not None
    return line[1].split()


def build_context(folder: Path) -> Path:
    """A copy of the files that `.dockerignore` lets a build see."""
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        path = line.removeprefix("!")
        if path == line or "*" in path:
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
            shutil.copytree(ROOT / path, folder / path, ignore=ignored)
        else:
            shutil.copy(ROOT / path, folder / path)
    return folder


def test_a_build_sees_the_code_of_every_command(tmp_path: Path) -> None:
    context = build_context(tmp_path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for commands in project["entry-points"].values():
        for entry in commands.values():
            module, _, _ = entry.partition(":")
            assert (context / f"{module.replace('.', '/')}.py").is_file(), entry


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("target", TARGETS)
def test_an_image_installs_by_hash_and_starts(target: str, tmp_path: Path) -> None:
    modules, most = TARGETS[target]
    context = build_context(tmp_path / "context")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    installs = (
        ["sh", "requirements/install.sh", python, *locks(target)],
        [python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", ".", "./sdk"],
    )
    for command in installs:
        subprocess.run(command, cwd=context, check=True)
    for module in modules:
        loaded = subprocess.check_output(
            [python, "-c", f"import {module}, sys; print(*sys.modules)"], cwd=tmp_path, text=True
        )
        assert target == "models" or not set(MODEL_CODE) & set(loaded.split())
    installed = tmp_path / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    names = {path.name for path in installed.iterdir()}
    assert (target == "models") == bool(set(MODEL_CODE) & names)
    assert not any(name.startswith("nvidia") for name in names)
    files = (path for path in installed.rglob("*") if path.is_file())
    size = sum(
        path.stat().st_size
        for path in files
        if path.relative_to(installed).parts[0] not in BUILD_ONLY
    )
    assert size <= most * 1e6, f"{size / 1e6:.0f} MB"
