"""The files that are written from the registry: up to date, and refused where they cannot be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.generators import manifests
from tests.deployment.manifests import ROOT


def test_they_are_as_the_registry_says() -> None:
    assert manifests.main(["check"]) == 0


def test_a_stale_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("docker-compose.yml", "README.md", "models.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("k8s", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    compose = tmp_path / "docker-compose.yml"
    compose.write_text(compose.read_text("utf-8").replace("services.worker, hlv", "services.hlv"))
    assert manifests.main(["check", "--root", str(tmp_path)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{compose} is not as the registry says: run `python -m ")
    assert manifests.main(["write", "--root", str(tmp_path)]) == 0
    assert compose.read_text("utf-8") == (ROOT / "docker-compose.yml").read_text("utf-8")


def test_what_stands_outside_the_marked_lines_stays() -> None:
    page = "before\n# written by `{0}`\nold\n# end of what is written\nafter\n"
    page = page.format(manifests.COMMAND)
    assert manifests.between(page, "# {}\n", "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="are missing"):
        manifests.between("before\nafter\n", "# {}\n", "new\n")
