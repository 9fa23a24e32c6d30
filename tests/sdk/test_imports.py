"""It needs httpx and pydantic, and nothing else; and loads nothing that it does not use."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.end_to_end.service import ROOT

NEEDED = ("httpx", "pydantic")
UNUSED = {
    "cyclopts",
    "httpx",
    "pandas",
    "pyarrow",
    "rich",
    "tqdm",
    "torch",
    "numpy",
    "fastapi",
    "services",
    "shared",
}


def closure(names: tuple[str, ...]) -> set[str]:
    """These distributions and all that they need without extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        needed = map(Requirement, requires(name) or ())
        waiting += [
            one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return found


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder of packages that holds what the client needs, and no more."""
    for name in closure(NEEDED):
        link(name, tmp_path)
    return tmp_path


def link(name: str, folder: Path) -> None:
    """Add an installed distribution to a folder of packages."""
    files = distribution(name).files or ()
    tops = {file.parts[0] for file in files if not file.parts[0].startswith((".", "__"))}
    for top in tops:
        source = Path(str(distribution(name).locate_file(top)))
        if source.exists() and not (folder / top).exists():
            (folder / top).symlink_to(source)


def run(empty: Path, script: str) -> str:
    """What Python says that has nothing but these packages."""
    path = f"{empty}:{ROOT / 'sdk' / 'src'}"
    command = [sys.executable, "-S", "-c", script]
    ran = subprocess.run(
        command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, cwd=empty
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_it_is_imported_in_an_empty_environment(empty: Path) -> None:
    said = run(empty, "from touchstone_client import Touchstone; import sys; print(*sys.modules)")
    assert "touchstone_client.models" not in said.split(), "its import takes most of the time"
    loaded = {name.partition(".")[0] for name in said.split()}
    assert loaded & UNUSED == set()


def test_what_is_missing_is_said(empty: Path) -> None:
    script = """
from touchstone_client import Local, Touchstone, TouchstoneError
try:
    Local()
except TouchstoneError as error:
    print(error)
print(Touchstone("http://127.0.0.1:1", patience=0).score_many([], "ice"))
"""
    assert run(empty, script).splitlines() == [
        "Local() needs the service's code; run pip install -e path/to/touchstone",
        "[]",
    ]


def test_the_distribution_asks_for_no_more() -> None:
    project = tomllib.loads((ROOT / "sdk" / "pyproject.toml").read_text("utf-8"))["project"]
    assert {re.split("[<>=]", one)[0] for one in project["dependencies"]} == set(NEEDED)
    service = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"].split(".")[0] == service["version"].split(".")[0]
