"""The guide's tested blocks run as they are typed, in the order of their page, against a service.

A block whose info line ends in `{.tested}` is run: `sh` in a shell, `python` as one script a page.
A `json` block is what the shell block before it prints: `…` stands for anything, as a member for
all others, and numbers agree to three digits.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from sybil.document import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from services.registry import metrics
from tests.end_to_end.service import ROOT, Service, environment

GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(GUIDE.rglob("*.md"))
TESTED = RawFencedCodeBlockLexer(re.compile(r"(?P<language>\w+) \{\.tested\}\n"))
ANY = "…"
TYPED = "http://127.0.0.1:8000"  # where a reader's service is


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, source) of each tested block."""
    regions = TESTED(Document(page.read_text("utf-8"), str(page)))
    return [(one.lexemes["language"], str(one.lexemes["source"])) for one in regions]


def matches(said: Any, found: Any) -> bool:
    """Whether an answer is as the page says."""
    if isinstance(said, dict) and isinstance(found, dict):
        named = {name for name in said if name != ANY}
        return (
            named <= found.keys()
            and (ANY in said or named == found.keys())
            and all(matches(said[name], found[name]) for name in named)
        )
    if isinstance(said, list) and isinstance(found, list):
        return len(said) == len(found) and all(map(matches, said, found))
    if isinstance(said, str) and ANY in said:
        return (
            re.fullmatch(".*".join(map(re.escape, said.split(ANY))), str(found), re.S) is not None
        )
    if isinstance(said, float) and isinstance(found, float | int):
        return math.isclose(said, found, rel_tol=2e-3, abs_tol=1e-3)
    return bool(said == found)


@pytest.mark.parametrize(
    ("said", "found", "same"),
    [
        ({"a": 1, ANY: ANY}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, ANY: ANY}, {"b": 2}, False),
        ("job_…", "job_01", True),
        ("job_…", "file_01", False),
        (0.951, 0.95143, True),
        (0.951, 0.961, False),
        ([1, ANY], [1, None], True),
        ([1], [1, 2], False),
        (None, 0, False),
    ],
)
def test_what_stands_for_anything(said: object, found: object, same: bool) -> None:
    assert matches(said, found) is same


def test_every_page_is_in_the_table_of_contents() -> None:
    def named(node: Any) -> list[str]:
        if isinstance(node, str):
            return [node]
        inner = node.values() if isinstance(node, dict) else node
        return [name for one in inner for name in named(one)]

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert sorted(named(settings["nav"])) == [str(page.relative_to(GUIDE)) for page in PAGES]
    assert settings["plugins"] == ["search"]
    assert settings["theme"]["font"] is False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_link_leaves_the_guide(page: Path) -> None:
    """What is outside is no part of the site."""
    for target in re.findall(r"\]\(([^)#\s:]+)[^):]*\)", page.read_text("utf-8")):
        assert (page.parent / target).resolve().is_relative_to(GUIDE), target


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_metrics_page_has_one_example_and_its_verdict_decides(name: str) -> None:
    page = blocks(GUIDE / "metrics" / f"{name}.md")
    [answer] = [json.loads(source) for language, source in page if language == "json"]
    assert answer["result"]["verdict"] in ("holds_up", "problem_found")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As a clone looks to who types the commands."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def run(command: list[str], folder: Path, service: Service) -> str:
    told = {"TOUCHSTONE_URL": service.url, "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run(
        command, cwd=folder, env=environment() | told, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{command[-1]}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem
)
def test_its_blocks_run(page: Path, service: Service, folder: Path) -> None:
    printed = ""
    for language, source in blocks(page):
        if language == "sh":
            printed = run(["bash", "-euc", source.replace(TYPED, service.url)], folder, service)
        elif language == "json":
            assert matches(json.loads(source), json.loads(printed)), f"{source}\n{printed}"
    scripts = [source for language, source in blocks(page) if language == "python"]
    if scripts:
        run([sys.executable, "-c", "\n".join(scripts)], folder, service)


@pytest.mark.end_to_end
def test_the_notebooks_cells_run(service: Service, folder: Path) -> None:
    cells = json.loads((GUIDE / "first-hour.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert all(cell.get("outputs", []) == [] for cell in cells)
    run([sys.executable, "-c", "\n".join(code)], folder, service)
