"""The house is in order: every room has its files, its tests and its doors."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.registry import contracts, every_contract, metrics, service
from services.worker import register_all
from shared.worker import registered

ROOT = Path(__file__).parents[1]
METRIC_FILES = (
    "README.md", "contract.py", "report.py", "variants.py", "kernel.py", "metric.py",
)  # fmt: skip
NO_NOUNS = {"utils", "helpers", "common", "core", "manager", "misc"}


def test_every_contract_has_its_service() -> None:
    assert sorted(contracts()) == sorted(name for name in contracts() if service(name).contract)


def test_every_room_and_every_batch_report_that_is_offered_is_served() -> None:
    register_all(list(contracts()))
    assert {name: type(room) for name, room in every_contract().items()}.items() <= {
        name: type(task.contract) for name, task in registered.items()
    }.items()
    for name, room in every_contract().items():
        assert registered[name].contract == room


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_room_is_complete(name: str) -> None:
    folder = ROOT / "services" / name
    missing = [file for file in METRIC_FILES if not (folder / file).exists()]
    assert missing == []
    assert list((ROOT / "tests" / name).glob("test_*.py")), f"tests/{name} has no tests"
    assert f"services/{name}/README.md" in (ROOT / "README.md").read_text("utf-8")


def test_files_are_named_by_what_they_are_about() -> None:
    names = {
        path.stem for folder in ("services", "shared") for path in ROOT.glob(f"{folder}/**/*.py")
    }
    assert names & NO_NOUNS == set()
