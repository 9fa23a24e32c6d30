"""A model waits where it would take what is not there, and says both numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.inference.weights import placement
from services.inference.weights.placement import check_memory, free_bytes, loaded
from shared.models.catalogue.availability import LoadingError


@pytest.fixture
def ten_gb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "free_bytes", lambda _device: 10_000_000_000)


@pytest.mark.usefixtures("ten_gb")
def test_over_nine_tenths_of_what_is_free_waits_with_both_numbers() -> None:
    check_memory("fits", 9_000_000_000, "cpu")
    loaded("fits")
    with pytest.raises(
        LoadingError, match=r"needs 9\.1 GB, but this machine has only 10\.0 GB"
    ) as error:
        check_memory("large", 9_100_000_000, "cpu")
    assert error.value.state == "waiting"


@pytest.mark.usefixtures("ten_gb")
def test_what_another_model_is_being_given_is_not_free() -> None:
    check_memory("first", 5_000_000_000, "cpu")
    with pytest.raises(LoadingError, match=r"has only 5\.0 GB free"):
        check_memory("second", 5_000_000_000, "cpu")
    check_memory("elsewhere", 5_000_000_000, "cuda:0")
    loaded("first")
    check_memory("second", 5_000_000_000, "cpu")
    loaded("second")
    loaded("elsewhere")


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_has_what_its_limit_leaves(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        2: ("memory.max", "memory.current"),
    }[version]
    folder = tmp_path / "memory" if version == 1 else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / names[0]).write_text("2000000\n")
    (folder / names[1]).write_text("1500000\n")
    (folder / "memory.stat").write_text("anon 1\ninactive_file 100000\n")
    monkeypatch.setattr(placement, "CGROUP", tmp_path)
    assert free_bytes("cpu") == 600_000
    (folder / names[0]).write_text("max\n")
    unlimited = free_bytes("cpu")
    assert unlimited is None or unlimited > 600_000
