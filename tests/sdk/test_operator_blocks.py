"""Blocks of who runs the service, which ask for servers, containers or models of the reader's: what
can be typed here is, and the rest is read by what reads it in the service."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.papers.command import parser as bench_parser
from bench.papers.templates import read_templates
from cli.models import command as models_command
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings
from tests.end_to_end.service import ROOT, environment
from tests.sdk.test_blocks import Block, blocks

YOUR_OWN = ROOT / "docs" / "guide" / "your-own-model.md"
BRIDGE = ROOT / "examples" / "integrations" / "kafka_bridge"


def typed(page: Path, begins: str) -> str:
    [found] = [one.source for one in blocks(page) if one.begins.startswith(begins)]
    return found.replace("\\\n", " ")


def lines_of(page: Path, begins: str) -> Iterator[list[str]]:
    """The words of each line."""
    for line in typed(page, begins).splitlines():
        yield shlex.split(line, comments=True)


def test_a_server_is_added_as_it_is_typed(tmp_path: Path) -> None:
    """Nothing is asked of it before it is used."""
    file = tmp_path / "models.toml"
    file.write_text("schema = 2\n", "utf-8")
    path = f"{sys.prefix}/bin:{environment()['PATH']}"
    told = environment() | {"PATH": path, "TOUCHSTONE_MODELS_FILE": str(file)}
    command = ["bash", "-euc", typed(YOUR_OWN, "touchstone models add openai:")]
    subprocess.run(command, cwd=tmp_path, env=told, check=True, capture_output=True)
    catalogue = load_catalogue(file)
    [entry] = catalogue.entries
    assert (entry.served_name, entry.languages, catalogue.faults) == ("gemma3:4b", ("de", "en"), ())
    assert entry.prompt is not None
    assert entry.prompt.verbalizers is not None
    assert entry.prompt.verbalizers.keys() == {"hateful", "non-hateful"}


@pytest.mark.parametrize(
    "block", [one for one in blocks(YOUR_OWN) if one.language == "toml"], ids=lambda one: one.begins
)
def test_an_entry_is_one_that_the_service_reads(block: Block, tmp_path: Path) -> None:
    """What its files would say is said, since they are not here."""
    text = f'{block.source}\nkind = "classifier"\n'
    (tmp_path / "models.toml").write_text(text, "utf-8")
    catalogue = load_catalogue(tmp_path / "models.toml")
    assert len(catalogue.entries) == 1
    assert catalogue.faults == ()


def test_the_containers_commands_are_ones_that_there_are() -> None:
    said = list(lines_of(YOUR_OWN, "docker compose run"))
    assert len(said) == 4
    for words in said:
        assert words[:5] == ["docker", "compose", "run", "--rm", "models"]
        if words[5] != "check":  # of a process of its own
            models_command.parser().parse_args(words[5:])


def test_models_side_by_side_are_asked_for_as_typed() -> None:
    page = ROOT / "docs" / "guide" / "side-by-side.md"
    [words] = lines_of(page, "touchstone bench hatexscore --models llama")
    asked = bench_parser().parse_args(words[2:])
    assert (asked.models, asked.shots) == (["llama", "qwen"], [0, 2])


def test_the_templates_of_the_page_are_ones_that_the_command_takes(tmp_path: Path) -> None:
    file = tmp_path / "templates.toml"
    file.write_text(typed(ROOT / "docs" / "guide" / "side-by-side.md", "[standard]"), "utf-8")
    found = read_templates(file)
    assert {name: one.datasets for name, one in found.items()} == {
        "standard": ("reviews",), "question": ("reviews",)
    }  # fmt: skip


def test_a_receiver_on_this_machine_is_allowed_by_one_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [words] = lines_of(ROOT / "docs" / "guide" / "webhooks.md", "TOUCHSTONE_WEBHOOK_ALLOW")
    setting, *command = words
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    assert list(map(str, Settings().webhook_allow)) == ["127.0.0.1/32"]
    assert command == ["make", "serve"]
    assert re.search(r"^serve:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def test_a_line_of_the_log_is_json_with_what_is_logged() -> None:
    page = ROOT / "docs" / "guide" / "monitoring.md"
    said = json.loads(typed(page, '{"event"'))
    source = (ROOT / "services" / "gateway" / "request_record.py").read_text("utf-8")
    assert [name for name in said.keys() - {"event"} if name not in source] == []
    assert f'"{said["event"]}"' in source


def test_the_bridge_takes_what_is_typed() -> None:
    """Its options are read from its source, since Kafka's client need not be installed."""
    _, words = lines_of(BRIDGE / "README.md", "pip install")
    named = {word for word in words if word.startswith("--")}
    calls = [
        node
        for node in ast.walk(ast.parse((BRIDGE / "bridge.py").read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
    ]
    options = {
        one.value for call in calls for one in call.args if isinstance(one, ast.Constant)
    }  # fmt: skip
    assert named <= options
