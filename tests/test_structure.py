"""The code is in order: every metric has its files and tests, every service its worker."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import lru_cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from services.registry import all_contracts, contracts, metrics, service
from services.worker import register_all
from shared.worker import registered

ROOT = Path(__file__).parents[1]
METRIC_FILES = ("contract.py", "report.py", "variants.py", "kernel.py", "metric.py")
ONE_OF_EACH = {  # what -> (how it is made, where)
    "a client of Redis": (r"\bRedis\.from_url\(", {"shared/process/redis_client.py"}),
    "a result's provenance": (r"(?<!class )\bProvenance\(", {"shared/reports/metric.py"}),
    "a bootstrap's draws": (r"generator\([^)]*\"bootstrap\"", {"shared/statistics/bootstrap.py"}),
    "a picture engine": (
        r"\bimport (vl_convert|matplotlib|altair)",
        {"shared/reports/charts/process.py"},
    ),
    "a micro-batcher": (r"^class \w*Batcher\b", {"services/inference/weights/batcher.py"}),
    "a loader of weights": (
        r"\.from_pretrained\(",
        {"services/inference/weights/loader.py", "services/inference/embedded/adapter.py"},
    ),
    "a keyed generator": (
        r"\b(Philox|SeedSequence|default_rng|RandomState)\(",
        {
            "shared/statistics/seeds.py",
            "shared/statistics/lime.py",  # the seed of a call, as is that of what is written
            "shared/models/openai/text.py",
            "services/inference/generated_text.py",
            "services/ice/variants.py",  # as released
            "services/cot2el/refinement.py",  # of the published variants
            "services/sor/likeness.py",  # hash functions, always the same
        },
    ),
}
NAMING_A_METRIC = {  # beside its own folder
    "services/explanations/contract.py",  # examples
    "shared/contracts/elicitation.py",  # whose prompts they are
    "services/explanations/reading.py",  # whose decisions a yes may be
    "services/gateway/event_views.py",  # an example
    "services/gateway/pages/new_batches.py",  # what a form begins with
    "services/gateway/pages/try_it.py",
}
NO_NOUNS = {"utils", "helpers", "common", "core", "manager", "misc"}


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """Path -> text of every file of the product, migrations apart."""
    files = (file for folder in ("services", "shared") for file in ROOT.glob(f"{folder}/**/*.py"))
    return {
        file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
        for file in files
        if "migrations" not in file.parts
    }


def test_every_contract_has_its_service() -> None:
    assert sorted(contracts()) == sorted(name for name in contracts() if service(name).contract)


def test_every_service_and_every_batch_report_that_is_offered_is_served() -> None:
    for _ in range(2):  # who registers again replaces what was there
        register_all(list(contracts()))
    assert {name: type(contract) for name, contract in all_contracts().items()}.items() <= {
        name: type(task.contract) for name, task in registered.items()
    }.items()
    for name, contract in all_contracts().items():
        assert registered[name].contract == contract


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_metric_is_complete(name: str) -> None:
    folder = ROOT / "services" / name
    missing = [file for file in METRIC_FILES if not (folder / file).exists()]
    assert missing == []
    assert list((ROOT / "tests" / name).glob("test_*.py")), f"tests/{name} has no tests"
    assert f"docs/guide/metrics/{name}.md" in (ROOT / "README.md").read_text("utf-8")


def test_nothing_but_its_folder_names_a_metric() -> None:
    """Defaults and examples apart."""
    found = {
        path
        for path, text in sources().items()
        if path.split("/")[1] not in metrics()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in metrics()
    }
    assert found <= NAMING_A_METRIC


def test_files_are_named_by_what_they_are_about() -> None:
    names = {
        path.stem for folder in ("services", "shared") for path in ROOT.glob(f"{folder}/**/*.py")
    }
    assert names & NO_NOUNS == set()


def test_what_lies_beside_the_code_is_installed_with_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    beside = (
        path
        for folder in ("services", "shared")
        for path in ROOT.glob(f"{folder}/**/*.*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    )
    assert [path for path in beside if not any(map(path.match, patterns))] == []


@pytest.mark.parametrize("what", ONE_OF_EACH)
def test_there_is_one_of_each(what: str) -> None:
    made, where = ONE_OF_EACH[what]
    pattern = re.compile(made, re.MULTILINE)
    assert {path for path, text in sources().items() if pattern.search(text)} == where


def test_variants_are_one_mechanism() -> None:
    tables = re.compile(r"^VARIANTS\b", re.MULTILINE)
    found = {path for path, text in sources().items() if tables.search(text)}
    assert found == {f"services/{name}/variants.py" for name in metrics()}


def test_choices_by_variant_are_rows_of_a_table() -> None:
    """Contracts validate, and a verdict reads a result, so both may compare."""
    compared = re.compile(r"\bvariant (?:==|!=|in\b|not in\b)")
    found = {Path(path).name for path, text in sources().items() if compared.search(text)}
    assert found <= {"contract.py", "verdict.py"}


def test_no_imports_run_in_a_circle() -> None:
    graph = grimp.build_graph("services", "shared", "cli", exclude_type_checking_imports=True)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imported).prepare()  # raises CycleError
