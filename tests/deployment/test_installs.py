"""The packages of each image install by hash into an empty environment, and its modules load."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.deployment.manifests import ROOT

MODEL_CODE = ("torch", "transformers", "sentence_transformers")
BUILD_ONLY = ("pip", "setuptools", "_distutils_hack")  # the images remove them
WORKER = "from services.worker import parse, register_all; register_all(parse(['{}']))"
TARGETS = {  # of the Dockerfile: what its commands import, megabytes of packages at most
    "gateway": (
        (
            "import services.gateway.app", "import services.gateway.keys",
            "import services.scheduler.__main__", "import shared.ledger.migrate",
            "import cli.stack.backup", "import touchstone_client",
        ),
        350,
    ),
    "metrics": ((WORKER.format("metrics"),), 1_200),
    "models": (
        (WORKER.format("models"), "import cli.models.command", "import training.reader.train"),
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


WITHOUT = """import sys
class Absent:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {0}:
            raise ModuleNotFoundError(f"{{name}} is not in the image", name=name)
sys.meta_path.insert(0, Absent())
{1}"""


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def absent_modules(target: str) -> set[str]:
    """The top-level modules installed here that the image does not have."""
    texts = [(ROOT / "requirements" / f"{lock}.lock").read_text("utf-8") for lock in locks(target)]
    locked = {normalized(name) for name in re.findall(r"(?m)^([\w.-]+)==", "\n".join(texts))}
    return {
        module
        for module, names in packages_distributions().items()
        if not locked.intersection(map(normalized, names))
        and "touchstone-server" not in map(normalized, names)
    } - {"touchstone_client"}


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_has_the_packages_that_its_command_imports(target: str) -> None:
    code = WITHOUT.format(absent_modules(target), TARGETS[target][0][0])
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.nightly
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("target", TARGETS)
def test_an_image_installs_by_hash_and_starts(target: str, tmp_path: Path) -> None:
    commands, most = TARGETS[target]
    context = build_context(tmp_path / "context")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    installs = (
        ["sh", "requirements/install.sh", python, *locks(target)],
        [python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", ".", "./sdk"],
    )
    for install in installs:
        subprocess.run(install, cwd=context, check=True)
    for code in commands:
        loaded = subprocess.check_output(
            [python, "-c", f"{code}; import sys; print(*sys.modules)"], cwd=tmp_path, text=True
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
