"""The file is read again: when it is asked for, and before an accepted name is called unknown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.registry import contracts
from shared.contracts.errors import BadInput
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.reload import CatalogueReload
from tests.patience import SECONDS

ENTRY = '[[models]]\nname = "{}"\nkind = "causal"\nsource = "openai:http://127.0.0.1:1/v1"\n'
SIGNALLED = """
import signal, sys
from pathlib import Path
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.reload import CatalogueReload
file = Path(sys.argv[1])
reload = CatalogueReload(load_catalogue(file), file)
reload.on_signal()
signal.raise_signal(signal.SIGHUP)
assert reload._requested.is_set()
"""


def write(file: Path, *names: str, second: int) -> None:
    file.write_text("schema = 2\n" + "".join(map(ENTRY.format, names)), "utf-8")
    os.utime(file, (second, second))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "models.toml"
    write(made, "old", second=1)
    return made


def test_a_name_that_another_process_accepted_is_looked_for_in_the_file(file: Path) -> None:
    catalogue, told = load_catalogue(file), list[list[str]]()
    CatalogueReload(catalogue, file, told.append).update()
    write(file, "old", "new", second=2)
    assert catalogue.entry("old").name == "old"
    assert not told  # nothing unknown was asked for
    assert catalogue.entry("new").name == "new"
    assert told == [["new"]]


def test_a_file_that_did_not_change_is_not_read_for_every_unknown_name(file: Path) -> None:
    catalogue = load_catalogue(file)
    reread = CatalogueReload(catalogue, file)
    read = list[int]()
    reread.read = lambda: read.append(1) or []  # type: ignore[method-assign,func-returns-value]
    reread.update()
    for _ in range(3):
        with pytest.raises(BadInput, match="no model 'new'"):
            catalogue.entry("new")
    assert not read


def test_who_does_not_follow_waits_for_the_reload(file: Path) -> None:
    catalogue = load_catalogue(file)
    reread = CatalogueReload(catalogue, file)
    write(file, "old", "new", second=2)
    with pytest.raises(BadInput):
        catalogue.entry("new")
    assert reread.read() == ["new"]
    assert catalogue.entry("new").name == "new"


def test_a_file_that_is_broken_or_gone_changes_nothing(file: Path) -> None:
    catalogue = load_catalogue(file)
    CatalogueReload(catalogue, file).update()
    for spoil in (lambda: file.write_text("[[", "utf-8"), file.unlink):
        spoil()
        with pytest.raises(BadInput, match="choose one of: old"):
            catalogue.entry("new")
    assert catalogue.entry("old").name == "old"


def test_the_labels_that_a_metric_needs_are_looked_up_again(file: Path) -> None:
    """The gateway knows them by heart, so as to read no files at every request."""
    contract = contracts()["hatexscore"]
    asked = contract.request.model_validate({"text": "a", "explanation": "b"})
    catalogue = load_catalogue(file)
    reread = CatalogueReload(catalogue, file)
    with pytest.raises(BadInput, match="a causal model without a prompt"):
        catalogue.check_request(contract, "old", asked)
    own = '[models.prompt]\nverbalizers = { hateful = ["yes"], "non-hateful" = ["no"] }\n'
    file.write_text(file.read_text("utf-8") + own, "utf-8")
    assert reread.read() == ["old"]
    catalogue.check_request(contract, "old", asked)


def test_weights_that_were_replaced_in_place_are_another_model(tmp_path: Path) -> None:
    for name in ("same", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"before")
    file = tmp_path / "models.toml"
    entry = '[[models]]\nname = "{0}"\nkind = "classifier"\nsource = "path:{0}"\n'
    file.write_text("schema = 2\n" + entry.format("same") + entry.format("mine"), "utf-8")
    catalogue = load_catalogue(file)
    reread = CatalogueReload(catalogue, file)
    assert reread.read() == []
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"afterwards")
    assert reread.read() == ["mine"]
    assert reread.read() == []


def test_a_file_is_read_again_when_a_missing_folder_returns(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text('schema = 2\n[[models]]\nname = "m"\nsource = "path:disk"\n', "utf-8")
    reread = CatalogueReload(load_catalogue(file), file)
    (tmp_path / "disk").mkdir()
    assert not reread._has_returned()
    (tmp_path / "disk" / "config.json").write_text(
        '{"architectures": ["XForSequenceClassification"]}', "utf-8"
    )
    assert reread._has_returned()
    assert reread.read() == ["m"]
    assert not reread._has_returned()


def test_sighup_asks_for_it(file: Path) -> None:
    """In a process of its own: a signal that is not handled ends it, and all tests with it."""
    subprocess.run([sys.executable, "-c", SIGNALLED, file], check=True, timeout=SECONDS)
