"""The guide's pages that are written from the code say what it says, and all of it."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator

import pytest
from pydantic import Field

from cli.generators import reference
from shared.contracts.errors import ScoringError
from shared.process.settings import Settings
from tests.deployment.manifests import ROOT
from tests.test_dashboard import declared

# codes of a batch's faulty lines, in OpenAI's spelling, are no types of problems
OF_LINES = "_"


def test_the_pages_are_as_the_code_says() -> None:
    assert reference.main(["check"]) == 0


def test_every_operation_event_and_counter_is_listed() -> None:
    page = (ROOT / "docs" / "guide" / "reference.md").read_text("utf-8")
    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"| `{method.upper()} {path}` |" in page
    for name in {*described["webhooks"], *declared()}:
        assert f"| `{name}` |" in page


def written(variable: str) -> str:
    """The setting's default, as the page of limits writes it."""
    value = Settings.model_fields[variable.removeprefix("TOUCHSTONE_").lower()].default
    if variable.endswith("_HOURS"):
        return f"{value} hours" if value < 48 else f"{value // 24} days"
    if variable.endswith("_BYTES"):
        units = (("GB", 10**9), ("MB", 10**6)) if value % 2**20 else (("MiB", 2**20),)
        return next(f"{value // size} {name}" for name, size in units if value >= size)
    return f"{value:,.0f}"


def test_the_limits_are_those_of_the_settings() -> None:
    page = (ROOT / "docs" / "guide" / "limits.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if "`TOUCHSTONE_" in line]
    assert len(rows) > 5
    for _, _, limit, settings, _ in rows:
        for variable in re.findall(r"`(TOUCHSTONE_[A-Z_]+)`", settings):
            assert written(variable) in limit, f"{variable} is {written(variable)}"


def raised() -> Iterator[str]:
    """Every slug that is written anywhere: as a class's, or as the first word of `make`."""
    for folder in ("services", "shared", "cli"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                said: ast.expr | None = None
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "make" and node.args:
                    said = node.args[0]
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "slug":
                    said = node.value
                if isinstance(said, ast.Constant) and isinstance(said.value, str):
                    yield said.value


def test_every_slug_has_an_entry_with_a_cause_and_a_cure() -> None:
    found = reference.errors()
    assert {slug for slug in raised() if OF_LINES not in slug} - found.keys() == set()
    page = (ROOT / "docs" / "guide" / "errors.md").read_text("utf-8")
    for slug, kind in found.items():
        assert f"\n## `{slug}`\n" in page
        assert kind is ScoringError or "cure" in vars(kind), f"{slug} inherits its cure"
        assert len(kind.cure) > len("Try again."), slug
        assert inspect.getdoc(kind)


def test_a_setting_without_a_description_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Undescribed(Settings):
        surprise: int = Field(default=1)

    monkeypatch.setattr(reference, "Settings", Undescribed)
    with pytest.raises(ValueError, match="TOUCHSTONE_SURPRISE has no description"):
        "".join(reference.settings_page())


@pytest.mark.parametrize(
    ("name", "readers"),
    [
        ("webhook_schedule", {"scheduler"}),
        ("webhook_allow", {"`make serve`", "gateway", "scheduler"}),
        ("worker_threads", {"workers"}),
        ("open_jobs", {"gateway"}),
    ],
)
def test_who_reads_a_setting(name: str, readers: set[str]) -> None:
    assert reference.readers_of(name) == readers


def test_every_setting_is_read_by_somebody() -> None:
    unread = {name for name in Settings.model_fields if not reference.readers_of(name)}
    assert unread == {"stores_tls"}  # which settings check among themselves
