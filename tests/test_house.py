"""The house is in order: every room has its files, its tests and its doors."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.gateway.rooms import every_room, metrics, rooms
from services.worker import open_doors, rooms_with_a_door
from shared.worker import doors

ROOT = Path(__file__).parents[1]
ROOM_FILES = ("README.md", "contract.py", "score.py", "gather.py", "kernel.py", "task.py")
NO_NOUNS = {"utils", "helpers", "common", "core", "manager", "misc"}


def test_every_room_with_a_contract_has_a_door() -> None:
    assert sorted(rooms()) == rooms_with_a_door()


def test_every_room_and_every_batch_report_that_is_offered_is_served() -> None:
    open_doors(rooms_with_a_door())
    assert {name: type(room) for name, room in every_room().items()}.items() <= {
        name: type(opened.room) for name, opened in doors.items()
    }.items()
    for name, room in every_room().items():
        assert doors[name].room == room


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_room_is_complete(name: str) -> None:
    folder = ROOT / "services" / name
    missing = [file for file in ROOM_FILES if not (folder / file).exists()]
    assert missing == []
    assert list((ROOT / "tests" / name).glob("test_*.py")), f"tests/{name} has no tests"
    assert f"services/{name}/README.md" in (ROOT / "README.md").read_text("utf-8")


def test_files_are_named_by_what_they_are_about() -> None:
    names = {
        path.stem for folder in ("services", "shared") for path in ROOT.glob(f"{folder}/**/*.py")
    }
    assert names & NO_NOUNS == set()
