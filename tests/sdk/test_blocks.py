"""Fenced blocks that people copy. The README's are run in their order, against a service of their
own. `test_guide.py` runs blocks of the guide with the info word `tested`, `test_doubled_blocks.py`
some of the others. A block that is not run is well formed, and its commands can be parsed.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from sybil.document import Document
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

import touchstone_client.cli.main  # noqa: F401 - it adds the commands
from bench.papers.command import parser as bench_parser
from cli.models.command import parser as models_parser
from services.gateway.keys import parser as keys_parser
from shared.models.catalogue.catalogue import load_catalogue
from tests.end_to_end.service import ROOT, environment, serving
from tests.sdk.test_guide import TESTED, TYPED, matches
from touchstone_client.cli.app import app

README = ROOT / "README.md"
API = ROOT / "docs" / "guide" / "api.md"
CLIENT = ROOT / "sdk" / "README.md"
PAGES = [
    README,
    CLIENT,
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
FENCED = RawFencedCodeBlockLexer(re.compile(r"(?P<language>\w+)[^\n]*\n"))
STARTS = "make demo "  # of the README's block that starts services of its own: `test_commands.py`


@dataclass(frozen=True)
class Block:
    """One fenced block as it stands on its page."""

    page: str
    language: str
    source: str

    @property
    def begins(self) -> str:
        return self.source.lstrip().splitlines()[0]


def blocks(page: Path) -> Iterator[Block]:
    """All of them, in their order."""
    for one in FENCED(Document(page.read_text("utf-8"), str(page))):
        name = str(page.relative_to(ROOT))
        yield Block(name, one.lexemes["language"], str(one.lexemes["source"]))


def untested(page: Path) -> list[Block]:
    """Those without the info word."""
    run = TESTED(Document(page.read_text("utf-8"), str(page)))
    sources = {str(one.lexemes["source"]) for one in run}
    return [one for one in blocks(page) if one.source not in sources]


NOT_RUN = [one for page in PAGES if page != README for one in untested(page)]


@pytest.mark.parametrize("block", NOT_RUN, ids=lambda one: f"{Path(one.page).stem}-{one.language}")
def test_what_is_not_run_is_well_formed(block: Block) -> None:
    if block.language == "sh":
        subprocess.run(["bash", "-n"], input=block.source, text=True, check=True)
    elif block.language == "python":
        ast.parse(block.source)
    elif block.language == "json":
        json.loads(block.source)
    elif block.language == "toml":
        tomllib.loads(block.source)
    elif block.language == "yaml":
        yaml.safe_load(block.source)


PARSERS = {
    "bench": bench_parser,
    "keys": keys_parser,
    "models": models_parser,
}  # of commands of the service itself


def commands() -> Iterator[list[str]]:
    """The words after `touchstone` of every command that is not run."""
    for block in NOT_RUN:
        if block.language == "sh":
            for line in block.source.replace("\\\n", " ").splitlines():
                own = line.startswith("touchstone models check")  # parsed by another process
                if line.startswith("touchstone ") and not own:
                    yield shlex.split(line, comments=True)[1:]


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_a_command_that_is_not_run_can_be_parsed(words: list[str]) -> None:
    name, *arguments = words
    if name in PARSERS:
        PARSERS[name]().parse_args(arguments)
    else:
        _, whole, _ = app.meta.parse_args(words, exit_on_error=False)
        app.parse_args(whole.args, exit_on_error=False)


@pytest.mark.parametrize("block", [one for one in NOT_RUN if "[[models]]" in one.source])
def test_an_entry_of_a_model_is_one_that_the_service_reads(block: Block, tmp_path: Path) -> None:
    """The kind, which the model's files would say, is added."""
    (tmp_path / "models.toml").write_text(f'{block.source}\nkind = "classifier"\n', "utf-8")
    catalogue = load_catalogue(tmp_path / "models.toml")
    assert len(catalogue.entries) == 1
    assert catalogue.faults == ()


def without_ends(said: Any, found: Any) -> bool:
    """Whether the README's answer, which is shortened anywhere, is of this one."""
    if isinstance(said, dict) and isinstance(found, dict):
        return all(name in found and without_ends(one, found[name]) for name, one in said.items())
    if isinstance(said, list) and isinstance(found, list):
        return len(said) <= len(found) and all(map(without_ends, said, found))
    return matches(said, found)


@pytest.mark.end_to_end
def test_the_readmes_commands_run_in_their_order(tmp_path: Path) -> None:
    """In a folder that looks as a clone does to who types them; the last makes a key."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    with serving(tmp_path / "var") as service:
        told = environment() | {"TOUCHSTONE_URL": service.url}
        printed, ran_blocks = "", 0
        for block in blocks(README):
            if block.begins.startswith(STARTS):
                continue
            if block.language != "sh":
                assert without_ends(json.loads(block.source), json.loads(printed)), printed
                continue
            typed = ["bash", "-euc", block.source.replace(TYPED, service.url)]
            ran = subprocess.run(
                typed, cwd=tmp_path, env=told, capture_output=True, text=True, check=False
            )
            assert ran.returncode == 0, f"{block.source}\n{ran.stdout}\n{ran.stderr}"
            printed, ran_blocks = ran.stdout, ran_blocks + 1
        assert ran_blocks == 4
        assert json.loads(printed)["data"], "the first key's tenant does not see what was made"
        [keys] = [one for one in blocks(API) if one.begins.startswith("KEY=$")]
        typed = ["bash", "-euc", keys.source.replace(TYPED, service.url)]
        ran = subprocess.run(
            typed, cwd=tmp_path, env=told, capture_output=True, text=True, check=True
        )
        printed = ran.stdout
        assert (tmp_path / "scores.jsonl").read_text("utf-8").count("\n") > 3
        assert json.loads(printed)["data"], "the first key's tenant does not see what was made"
