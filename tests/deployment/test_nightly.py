"""`.ci/nightly` runs every part, or those that are named, and fails where one of them did."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deployment.manifests import ROOT

STUB = '#!/bin/sh\necho "$1" >>"$PWD/made"\n[ "$1" != "$FAILS" ]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The script, with a `make` that notes its goal."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "nightly", tmp_path / ".ci")
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text(STUB, "utf-8")
    make.chmod(0o755)
    return tmp_path


def nightly(folder: Path, *options: str, fails: str = "") -> subprocess.CompletedProcess[str]:
    told = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "FAILS": fails}
    command = [str(folder / ".ci" / "nightly"), *options]
    return subprocess.run(command, env=told, capture_output=True, text=True, check=False)


def made(folder: Path) -> list[str]:
    return (folder / "made").read_text("utf-8").split()


def test_its_parts_are_listed_and_none_is_run(folder: Path) -> None:
    assert nightly(folder, "--list").stdout.split() == ["tests", "clients", "guide", "readme"]
    assert not (folder / "made").exists()


def test_a_part_that_fails_does_not_keep_the_others_from_running(folder: Path) -> None:
    ran = nightly(folder, "--only", "clients,guide,tests", fails="clients")
    assert made(folder) == ["clients", "guide", "nightly"]
    assert ran.returncode == 1
    assert ran.stderr == "failed: clients\n"
    assert nightly(folder, "--only", "guide").returncode == 0


def test_the_first_command_that_fails_ends_the_readmes_part(folder: Path) -> None:
    """Here nothing can be cloned."""
    ran = nightly(folder, "--only", "readme")
    assert ran.returncode == 1
    assert not (folder / "made").exists()
    assert "failed: readme" in ran.stderr


@pytest.mark.parametrize("options", [["--only", "pictures"], ["--only"], ["all"]])
def test_a_part_that_there_is_not_is_refused_before_any_runs(
    folder: Path, options: list[str]
) -> None:
    assert nightly(folder, *options).returncode != 0
    assert not (folder / "made").exists()
