"""Every fenced block that people copy: it is run, or it is known why not, and is right as far as
can be told without what it needs.

The README's are run here, in their order, against a service of their own; the guide's with the info
word `tested` by `test_guide.py`.
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

from tests.end_to_end.service import ROOT, environment, serving
from tests.sdk.test_guide import TESTED, TYPED, matches
from touchstone_client.cli.parser import parser

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
DOUBLED = "tests/sdk/test_doubled_blocks.py"  # as it is typed, what only readers have doubled
OPERATOR = "tests/sdk/test_operator_blocks.py"  # the same of who runs the service
# page -> {how a block begins: who runs it, or what it needs that no test has}
ELSEWHERE = {
    "docs/guide/access.md": {
        "python -m services.gateway.keys": "tests/gateway/test_keys.py",
        "limit_conn_zone": "nginx",
    },
    "docs/guide/api.md": {
        "touchstone submit": DOUBLED,
        "KEY=$": "run after the README's, since it closes the service",
    },
    "docs/guide/capacity.md": {
        "TOUCHSTONE_QUEUE_REDIS=": DOUBLED,
    },
    "docs/guide/data.md": {"touchstone submit posts.csv": DOUBLED},
    "docs/guide/deploy.md": {
        "cp .env.example": "containers; .ci/run",
        "docker compose exec": "containers; the README's makes the same key",
        "kubectl create": "a cluster; tests/deployment",
        "helm install": "a cluster; tests/deployment/test_cluster.py",
        "rediss:": "tests/deployment/test_cluster.py",
        "# values.yaml": DOUBLED,
    },
    "docs/guide/errors.md": {"{": "made from the code; tests/stack/test_reference.py"},
    "docs/guide/side-by-side.md": {
        "touchstone bench hatexscore": f"models of the reader's; {OPERATOR} reads it",
        "[standard]": f"prompts of the reader's; {OPERATOR} reads them",
    },
    "docs/guide/explanations.md": {
        "curl ": f"a model of the reader's; {DOUBLED} reads it, tests/explanations asks",
        '{"text"': f"a model of the reader's; {DOUBLED} reads it",
        '{"model"': f"a model of the reader's; {DOUBLED} reads it",
    },
    "docs/guide/first-hour.md": {". .venv": "a browser; the notebook's cells are run"},
    "docs/guide/index.md": {"make serve": "tests/end_to_end/test_commands.py"},
    "docs/guide/integrations.md": {
        ". .venv": DOUBLED,
    },
    "docs/guide/monitoring.md": {'{"event"': f"a line of the log; {OPERATOR}"},
    "docs/guide/pushes.md": {
        ". .venv": DOUBLED,
        "touchstone webhooks create": f"tools of the reader's; {DOUBLED} reads it",
        "{": DOUBLED,
    },
    "docs/guide/sdk.md": {
        "from touchstone_client import Local": DOUBLED,
        "npx ": "`make clients`",
        "import { client": "`make clients` compiles it",
    },
    "docs/guide/upgrade.md": {
        "docker compose exec": "containers; tests/deployment/test_storage.py",
        "python -m cli.stack.backup": "a cluster; tests/deployment/test_storage.py",
        "docker compose stop": "containers; tests/deployment/test_storage.py",
    },
    "docs/guide/webhooks.md": {
        "TOUCHSTONE_WEBHOOK_ALLOW": f"it starts the service; {OPERATOR} reads it",
        "# receiver.py": DOUBLED,
        ". .venv": DOUBLED,
        "touchstone webhooks failed": DOUBLED,
        "import { createHmac": "tests/sdk/test_webhook_languages.py",
        "static void": "tests/sdk/test_webhook_languages.py",
        "func verify": "tests/sdk/test_webhook_languages.py",
        'require "openssl"': "tests/sdk/test_webhook_languages.py",
    },
    "docs/guide/your-own-model.md": {
        "MODEL=": "tests/end_to_end/test_own_model.py",
        "curl ": "tests/end_to_end/test_own_model.py",
        "touchstone models add openai:": OPERATOR,
        "docker compose run": f"containers; {OPERATOR} reads it",
        "# values.yaml": DOUBLED,
        "schema = 2": OPERATOR,
    },
    "examples/integrations/ci_gate/README.md": {"export": DOUBLED},
    "examples/integrations/coop/README.md": {
        "npm install": "`make clients`",
        '{"integrations"': "Coop",
    },
    "examples/integrations/kafka_bridge/README.md": {
        "pip install": f"Kafka; {OPERATOR} reads it, tests/integrations runs it"
    },
    "examples/integrations/osprey/README.md": {
        "pip install": "tests/integrations/test_osprey.py",
        "WeakExplanation": "Osprey; tests/integrations/test_osprey.py",
    },
    "sdk/README.md": {
        "from touchstone_client import Touchstone": DOUBLED,
        "from touchstone_client.data": DOUBLED,
    },
}
RECORDED = ("docs/guide/metrics/", "json")  # requests and answers of docs/openapi.json


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


def test_whatever_is_not_run_is_known_with_its_reason() -> None:
    for one in NOT_RUN:
        place, language = RECORDED
        if one.page.startswith(place) and one.language == language:
            continue
        reasons = ELSEWHERE.get(one.page, {})
        known = [begin for begin in reasons if one.begins.startswith(begin)]
        assert known, f"{one.page}: {one.begins!r} is neither run nor listed with a reason"


def test_no_reason_outlives_its_block() -> None:
    for page, reasons in ELSEWHERE.items():
        begins = [one.begins for one in NOT_RUN if one.page == page]
        assert [name for name in reasons if not any(one.startswith(name) for one in begins)] == []


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


def commands(program: str) -> Iterator[tuple[str, list[str]]]:
    """(page, words) of every line of a block that is not run and that this program is to take."""
    for block in NOT_RUN:
        if block.language == "sh":
            for line in block.source.replace("\\\n", " ").splitlines():
                if line.startswith(f"{program} "):
                    yield block.page, shlex.split(line, comments=True)[1:]


SERVICES = ("models", "keys", "bench", "reader")  # commands that the service's own code reads


@pytest.mark.parametrize(("page", "words"), list(commands("touchstone")))
def test_a_command_that_is_not_run_is_one_that_there_is(page: str, words: list[str]) -> None:
    if words[0] not in SERVICES:
        parser().parse_args(words)


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
        assert ran_blocks == 3
        assert json.loads(printed)["data"], "the first key's tenant does not see what was made"
        [keys] = [one for one in blocks(API) if one.begins.startswith("KEY=$")]
        typed = ["bash", "-euc", keys.source.replace(TYPED, service.url)]
        ran = subprocess.run(
            typed, cwd=tmp_path, env=told, capture_output=True, text=True, check=True
        )
        printed = ran.stdout
        assert (tmp_path / "scores.jsonl").read_text("utf-8").count("\n") > 3
        assert json.loads(printed)["data"], "the first key's tenant does not see what was made"
