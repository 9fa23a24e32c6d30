"""The code is in order: every metric has its files and tests, every service its worker."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from bench.import_graph import count_floors, count_imports, find_circle, import_graph
from bench.shape import Source, shape, sources
from bench.vocabulary import vocabulary
from services.registry import all_contracts, contracts, metrics, service
from services.worker import register_all
from shared.worker import registered

ROOT = Path(__file__).parents[1]
METRIC_FILES = (
    "README.md", "contract.py", "report.py", "variants.py", "kernel.py", "metric.py",
)  # fmt: skip
MOST_HOPS = 70  # files that one HateXScore job runs through, beside those that protect the service
PROTECTION = {  # against costly and hostile requests, models that are away, and threads that hang
    "services/gateway/answer_headers.py",
    "services/gateway/request_limits.py",
    "services/gateway/site_security.py",
    "shared/process/cached.py",
    "shared/queue/thread_scheduling.py",
    "shared/queue/job_context.py",
    "shared/ledger/private_requests.py",
    "shared/ledger/claim_order.py",
    "shared/models/catalogue/availability.py",
    "shared/queue/priority.py",
    "shared/queue/priority_lock.py",
    "shared/text/segments.py",
    "shared/contracts/request_cost.py",
    "shared/worker/batch_queues.py",
    "shared/worker/watchdog.py",
    "shared/queue/worker_board.py",  # as the states of models
}
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
        {
            "services/inference/weights/loader.py",
            "services/inference/embedded/adapter.py",
        },  # handed to it
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
    "services/explanations/yes_or_no.py",  # whose decisions a yes may be
    "services/gateway/event_views.py",  # an example
    "services/gateway/pages/new_batches.py",  # what a form begins with
    "services/gateway/pages/try_it.py",
    "cli/stack/demo.py",
}
NO_NOUNS = {"utils", "helpers", "common", "core", "manager", "misc"}


@lru_cache(maxsize=1)
def tree() -> tuple[Source, ...]:
    """All files of the product, parsed once."""
    return tuple(sources(ROOT))


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
    assert f"services/{name}/README.md" in (ROOT / "README.md").read_text("utf-8")


def test_nothing_but_its_folder_names_a_metric() -> None:
    """Defaults and examples apart."""
    found = {
        str(one.path)
        for one in tree()
        for node in ast.walk(one.tree)
        if isinstance(node, ast.Constant) and node.value in metrics()
        if f"{one.path}".split("/")[1] not in metrics()
    }
    assert found <= NAMING_A_METRIC


def test_files_are_named_by_what_they_are_about() -> None:
    names = {
        path.stem for folder in ("services", "shared") for path in ROOT.glob(f"{folder}/**/*.py")
    }
    assert names & NO_NOUNS == set()


@lru_cache(maxsize=1)
def figures() -> dict[str, Any]:
    """What `python -m bench.shape` prints."""
    return shape(tree())


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


def test_files_are_neither_tiny_nor_huge() -> None:
    lines = figures()["lines_a_file"]
    assert lines["largest"] <= 510
    assert 250 <= lines["p90"] <= 400


def test_functions_are_short() -> None:
    assert figures()["functions_over_30_lines"] == []


@pytest.mark.parametrize("what", ONE_OF_EACH)
def test_there_is_one_of_each(what: str) -> None:
    made, where = ONE_OF_EACH[what]
    pattern = re.compile(made, re.MULTILINE)
    assert {str(one.path) for one in tree() if pattern.search(one.text)} == where


def test_variants_are_one_mechanism() -> None:
    tables = re.compile(r"^VARIANTS\b", re.MULTILINE)
    found = {str(one.path) for one in tree() if tables.search(one.text)}
    assert found == {f"services/{name}/variants.py" for name in metrics()}


def test_no_two_classes_bear_one_name() -> None:
    assert figures()["class_names_twice"] == []


def test_files_are_named_by_nouns() -> None:
    assert figures()["share_of_names_in_ing"] <= 0.05


def test_names_are_words_of_the_field() -> None:
    assert vocabulary(tree())["rare"] <= 0.28  # thirteen others have 0.16 to 0.47


def test_choices_by_variant_are_rows_of_a_table() -> None:
    """But for words about a result, which a verdict chooses by its provenance."""
    found = {place.partition(":")[0] for place in figures()["comparisons_with_a_variant"]}
    assert {Path(file).name for file in found} <= {"verdict.py"}


def test_no_imports_run_in_a_circle() -> None:
    assert figures()["circle"] == []


@pytest.mark.parametrize(
    ("name", "files", "floors", "imports"),
    [("haf", 17, 9, 55), ("hatexscore", 43, 11, 154), ("ice", 24, 12, 88)],
)
def test_a_metric_is_read_in_a_few_files(name: str, files: int, floors: int, imports: int) -> None:
    found = figures()["import_graph"][f"services.{name}"]
    assert found["files"] <= files
    assert found["floors"] <= floors
    assert found["imports"] <= imports


@pytest.mark.end_to_end
def test_a_job_runs_through_few_files() -> None:
    command = [sys.executable, "-m", "bench.hops"]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    names = json.loads(ran.stdout.splitlines()[-1])["figures"]["names"]
    passed = {file for leg in names.values() for file in leg}
    assert len(passed - PROTECTION) <= MOST_HOPS, sorted(passed)


def test_a_circle_is_found_and_floors_are_counted() -> None:
    graph = import_graph(
        {
            "p.low": ast.parse("import os"),
            "p.middle": ast.parse("from p import low\n\ndef late():\n    from p.top import x"),
            "p.top": ast.parse("from p.low import y"),
        }
    )
    assert graph["p.middle"] == {"p.low", "p.top"}
    assert (count_imports(graph), count_floors(graph), find_circle(graph)) == (3, 3, [])
    circular = {**graph, "p.low": frozenset({"p.middle"})}
    assert {"p.low", "p.middle"} <= set(find_circle(circular))
