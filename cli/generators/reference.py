"""Writes the generated pages of the guide: errors, settings, routes, events, counters, and tables
about the metrics.

`python -m cli.generators.reference write` writes them, and `check` fails if one is out of date. The
text comes from the code: docstrings of errors and descriptions of settings.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

import services.gateway
import services.scheduler
import shared
from cli.generators.api_reference import ROOT, reference_page
from cli.generators.metric_pages import coop_cards, metric_pages
from services.registry import metrics
from shared.contracts.checks import ACTIONS
from shared.contracts.errors import BadInput, QuotaExceeded, ScoringError
from shared.contracts.problems import RATES, TYPE_BASE, can_retry, kind_of, problem, to_public
from shared.process.settings import CommandSettings, Settings
from shared.process.settings_sources import fields_of, variable_of

COMMAND = "make reference"
WRITTEN = f"<!-- written by `{COMMAND}` from the code -->\n\n"
BEGIN, END = f"<!-- written by `{COMMAND}` -->\n", "<!-- end of generated part -->\n"
HEAVY = (
    "shared.worker",
    "shared.statistics",
    "shared.text.language",
    "shared.reports.charts",
)  # and no errors
READERS = {  # package -> process; every other package of services/ is a worker's
    "services.gateway": "gateway",
    "services.scheduler": "scheduler",
    "cli.models": "`touchstone`",
    "cli.stack": "`make serve`",
}
WORKERS = "workers"
EVERY = {*READERS.values(), WORKERS}  # where settings check it among themselves
SERVICE = {"gateway", "scheduler", WORKERS}
HOLDERS = ("settings", "settings()", "chosen")  # expressions that are the settings end so


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or print which pages are out of date and return 1."""
    parser = argparse.ArgumentParser(prog="python -m cli.generators.reference", description=__doc__)
    parser.add_argument("command", choices=("write", "check"))
    command = parser.parse_args(arguments).command
    stale = {
        file: text
        for file, text in pages().items()
        if not file.exists() or file.read_text("utf-8") != text
    }
    for file, text in stale.items():
        if command == "write":
            file.write_text(text, "utf-8")
        else:
            sys.stderr.write(f"{file} is stale: run `{COMMAND}`\n")
    return 1 if stale and command == "check" else 0


def pages() -> dict[Path, str]:
    """Return the up-to-date text of each file by its path."""
    docs = ROOT / "docs" / "guide"
    tables = {
        ROOT / "README.md": metrics_table(),
        docs / "problem-found.md": problems_table(),
        docs / "not-tested.md": untested_table(),
    }
    return {
        **metric_pages(),
        **{file: with_table(file, table) for file, table in tables.items()},
        ROOT / "examples" / "integrations" / "coop" / "cards.json": coop_cards(),
        docs / "errors.md": "".join(errors_page()),
        docs / "reference.md": "".join(reference_page(WRITTEN, _modules())),
        docs / "settings.md": "".join(settings_page()),
    }


def with_table(file: Path, table: Iterator[str]) -> str:
    """Return the page with this table inserted in its place."""
    before, begin, rest = file.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    return "".join((before, begin, *table, end, after))


def problems_table() -> Iterator[str]:
    """Yield one row per problem of each metric, worst first."""
    yield "\n| metric | code | what is wrong |\n|---|---|---|\n"
    for name, contract in metrics().items():
        for code, says in contract.problems.items():
            yield f"| [`{name}`](metrics/{name}.md) | `{code}` | {says} |\n"
    yield "\n"


def untested_table() -> Iterator[str]:
    """Yield the reasons why a check could not be tested, one row per action."""
    yield "\n| reason | what you can do |\n|---|---|\n"
    codes: dict[str, list[str]] = {}
    for code, action in sorted(ACTIONS.items()):
        codes.setdefault(action, []).append(f"`{code}`")
    for action, same in codes.items():
        yield f"| {', '.join(same)} | {action} |\n"
    yield "\n"


def metrics_table() -> Iterator[str]:
    """Yield one table row per metric, with its name and the question that it answers."""
    yield "\n| metric | the question |\n|---|---|\n"
    for name, contract in metrics().items():
        yield f"| [`{name}`](docs/guide/metrics/{name}.md) | {contract.summary} |\n"
    yield "\n"


def errors() -> dict[str, type[ScoringError]]:
    """Return all errors that the API can return, by the last part of their type (slug)."""
    for package in (services.gateway, services.scheduler, shared):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            is_entry = module.name.endswith("__main__") or ".migrations" in module.name
            if not is_entry and not module.name.startswith(HEAVY):
                importlib.import_module(module.name)
    kinds: dict[str, type[ScoringError]] = {}
    for kind in _tree(ScoringError):
        if kind.__module__.startswith(("services.", "shared.")):
            kinds.setdefault(kind.slug, kind)
    return dict(sorted(kinds.items()))


def _tree(kind: type[ScoringError]) -> Iterator[type[ScoringError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _tree(inner)


def errors_page() -> Iterator[str]:
    """Yield the text of the page about errors, with one section per error."""
    yield "# Errors\n\n" + WRITTEN
    yield f"""\
Every error is `application/problem+json` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)); a
failed job's `error` has the same shape. `type` ends in the slug, `errors` points at the fault, and
`error` repeats it for OpenAI's SDKs:

```json
{json.dumps(_example(), ensure_ascii=False, indent=1)}
```

With `x-should-retry: true` the same request may succeed after `Retry-After` seconds. Do not
repeat it if the error's entry has no “Retry”. An entry gives the cause, then the remedy.

"""
    for slug, kind in errors().items():
        yield _entry(slug, kind)


def _example() -> dict[str, Any]:
    return to_public(problem(BadInput("Field required", pointer="/explanation")), "req_4f…")


def _entry(slug: str, kind: type[ScoringError]) -> str:
    cause = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    problem = {"type": TYPE_BASE + slug, "status": kind.status}
    retry = {True: " Retry: yes.", False: "", None: " Retry: perhaps."}[can_retry(problem)]
    if issubclass(kind, QuotaExceeded):
        retry = f" Retry: yes for {_join_names(RATES)}; no for others."
    return (
        f"## `{slug}`\n\nStatus {kind.status}, `{kind_of(problem)}`.{retry}\n\n"
        f"{cause[0].upper()}{cause[1:]}\n\n{kind.cure}\n\n"
    )


def _join_names(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def settings_page() -> Iterator[str]:
    """Yield one row per setting. Raises ValueError if one has no description."""
    yield "# Settings\n\n" + WRITTEN
    yield (
        "Environment variables, read once when a process starts. Write a list with commas or as "
        "JSON. `<NAME>_FILE` may name a file that contains a secret. “All” are gateway, scheduler "
        "and workers.\n"
    )
    groups = _groups() | {fields_of(CommandSettings)[0][0]: "Command line and SDK"}
    for kind in (Settings, CommandSettings):
        for name, field in fields_of(kind):
            if name in groups:
                yield f"\n## {groups[name]}\n\n| variable | type | default | meaning | read by |\n"
                yield "|---|---|---|---|---|\n"
            yield _row(kind, name, field)


def _groups() -> dict[str, str]:
    pattern = re.compile(r"^    # (.+)\n    (\w+):", re.MULTILINE)
    return {name: title for title, name in pattern.findall(inspect.getsource(Settings))}


def _row(kind: type[BaseSettings], name: str, field: FieldInfo) -> str:
    variable = variable_of(name, field)
    if not field.description:
        raise ValueError(f"{variable} has no description")
    properties = kind.model_json_schema(mode="validation")["properties"]
    schema = properties.get(str(field.validation_alias or name)) or properties[name]
    readers = {"`touchstone`"} if kind is CommandSettings else readers_of(name) or EVERY
    cells = (
        f"`{variable}`",
        _type(schema),
        _default(field),
        f"{field.description[0].upper()}{field.description[1:]}",
        "all" if readers >= SERVICE else ", ".join(sorted(readers)),
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def _type(schema: dict[str, Any]) -> str:
    arms = [arm for arm in schema.get("anyOf", [schema]) if arm.get("type") != "null"]
    arm = arms[0]
    if "enum" in arm:
        return " or ".join(f"`{word}`" for word in arm["enum"])
    words = {"integer": "integer", "number": "number", "boolean": "`on` or `off`",
             "array": "list"}  # fmt: skip
    kind = words.get(str(arm.get("type")), "text")
    if arm.get("format") == "password":
        kind = "secret"
    bounds = [
        f"{sign} {arm[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in arm
    ]
    return f"{kind} {', '.join(bounds)}".strip()


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return "`on`" if value else "`off`"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{value.get_secret_value() if isinstance(value, SecretStr) else value}`"


def readers_of(name: str) -> set[str]:
    """Return the names of the processes that use this setting."""
    accessors = {name} | {
        property_name for property_name, uses in _properties().items() if name in uses
    }
    processes: set[str] = set()
    for module, names in _settings_by_module().items():
        if accessors & names:
            processes |= _processes(module)
    return processes


@cache
def _properties() -> dict[str, set[str]]:
    """Return the fields that each property of Settings uses."""
    tree = ast.parse(inspect.getsource(Settings))
    return {
        function.name: {
            node.attr
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
        }
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
    }


@cache
def _modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module in cli, services and shared."""
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            file.read_text("utf-8")
        )
        for folder in ("cli", "services", "shared")
        for file in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def _settings_by_module() -> dict[str, set[str]]:
    """Return the settings that each module reads."""
    return {
        module: {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(HOLDERS)
        }
        for module, tree in _modules().items()
    }


@cache
def _processes(module: str) -> frozenset[str]:
    """Return the processes that run a module. A module in `shared` is run by the processes of the
    modules that import it."""
    package = ".".join(module.split(".")[:2])
    if not module.startswith("shared."):
        reader = READERS.get(package, WORKERS if package.startswith("services.") else None)
        return frozenset() if reader is None else frozenset({reader})
    if module == "shared.process.settings":  # what settings check among themselves
        return frozenset()
    if package == "shared.worker":
        return frozenset({WORKERS})
    processes: set[str] = set()
    seen, look = {module}, [module]
    while look:
        for importer in _importers().get(look.pop(), set()) - seen:
            seen.add(importer)
            if not importer.startswith("shared."):
                processes |= _processes(importer)
            else:
                look.append(importer)
    return frozenset(processes)


@cache
def _importers() -> dict[str, set[str]]:
    """Map each module, and each `module.name`, to the modules that import it with `from`."""
    importers: dict[str, set[str]] = {}
    for module, tree in _modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    importers.setdefault(name, set()).add(module)
    return importers


if __name__ == "__main__":
    sys.exit(main())
