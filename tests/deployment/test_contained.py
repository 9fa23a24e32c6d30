"""Commands of docker-compose.yml with the user, rights and file systems of their containers.

Each process gets a mount namespace with a read-only root that holds the operating system, Python,
this checkout and what its service mounts. It runs as the service's user without capabilities.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from cli.stack.servers import HOST, Child, free_port
from services.registry import contracts
from shared.process.settings import Settings
from tests.deployment.containers import READY_SECONDS, answers
from tests.deployment.manifests import ROOT, Json, compose
from tests.patience import SECONDS, busy, eventually

SCRIPT = r"""
set -eu
new=$1 uid=$2 gid=$3; shift 3
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$new"
while [ "$1" != -- ]; do
    source=$1 target=$new$2 options=$3; shift 3
    if [ "$source" = tmpfs ] || [ -d "$source" ]; then mkdir -p "$target"
    else mkdir -p "${target%/*}"; : >"$target"; fi
    if [ "$source" = tmpfs ]; then
        mount -t tmpfs -o "mode=1777${options:+,$options}" tmpfs "$target"
    else
        mount --rbind "$source" "$target"
        [ "$options" = rw ] || mount -o remount,bind,ro "$target"
    fi
done
shift
mount -o remount,ro "$new"
exec chroot "$new" setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs \
    --inh-caps=-all --bounding-set=-all env --ignore-environment --chdir=/app "$@"
"""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/etc/passwd", "/etc/group")
LIKE_THE_MACHINE = {"/dev", "/proc"}
DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
REQUEST = contracts()["hlv"].examples["your own distributions"]  # it asks no model
PURPOSE = {"purpose": "batch"}


def can_contain() -> bool:
    """Return whether this process may make mount namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("setpriv"):
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


def mounts(service: Json, sources: dict[str, Path]) -> Iterator[tuple[str, str, str]]:
    """(source, target, options) of each mount; sources: what is behind a target of the service."""
    yield from (("tmpfs", *one.partition(":")[::2]) for one in service["tmpfs"])
    yield from ((path, path, "rw" if path in LIKE_THE_MACHINE else "") for path in SYSTEM)
    for path in {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve(), ROOT}:
        if not path.is_relative_to("/usr"):
            yield str(path), str(path), ""
    for one in service["volumes"]:
        _, target, *options = DEFAULT.sub(r"\1", one).split(":")
        yield str(sources[target]), target, "" if options == ["ro"] else "rw"
    for name in service["secrets"]:
        yield str(sources["secrets"] / name), f"/run/secrets/{name}", ""
    yield str(sources["/app/models.toml"]), "/app/models.toml", ""
    yield str(sources["database"]), str(sources["database"]), "rw"


def contained(
    service: Json, sources: dict[str, Path], module: str, *arguments: str, **ports: int
) -> tuple[str, ...]:
    """Return a command line that runs this module as in the service's container.

    ports: settings that differ from the service's, since the network is the machine's.
    """
    root = sources["secrets"].with_name("root")
    root.mkdir(exist_ok=True)
    words = [word for mount in mounts(service, sources) for word in mount]
    stated = {
        name: DEFAULT.sub(r"\1", value)
        for name, value in service["environment"].items()
        if value is not None
    }
    paths = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT / 'sdk' / 'src'}"}
    variables = [f"{name}={value}" for name, value in (stated | paths | ports).items()]
    python = str(Path(sys.prefix).resolve() / "bin" / "python")
    run = (*variables, python, "-m", module, *arguments)
    owner = service["user"].split(":")
    return ("unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(root), *owner, *words, "--", *run)


@pytest.fixture
def sources(chosen: Settings, tmp_path: Path) -> dict[str, Path]:
    """Volumes, secrets and the sockets of stores, as the containers would get them."""
    owner = compose()["services"]["gateway"]["user"].split(":")[0]
    for name in ("files", "models"):
        (tmp_path / name).mkdir()
    os.chown(tmp_path / "files", int(owner), int(owner))  # as the image has it
    script = ["sh", str(ROOT / "cli" / "secrets.sh"), str(tmp_path / "secrets")]
    subprocess.run(script, cwd=tmp_path, check=True, capture_output=True)
    stores = {"redis_url": chosen.redis_url, "database_url": chosen.database_url}
    for name, address in stores.items():
        file = tmp_path / "secrets" / name
        file.chmod(0o644)
        file.write_text(address.get_secret_value(), "utf-8")
    folder = Path(parse_qs(urlsplit(chosen.database_url.get_secret_value()).query)["host"][0])
    [socket] = (path for path in folder.glob(".s.PGSQL.*") if path.is_socket())
    os.chown(socket, int(owner), -1)
    return {
        "/files": tmp_path / "files",
        "/models": tmp_path / "models",
        "/etc/touchstone/models.toml": ROOT / "models.toml",
        "/app/models.toml": ROOT / "models.toml",
        "secrets": tmp_path / "secrets",
        "database": socket,
    }


@pytest.mark.end_to_end
@pytest.mark.full
@pytest.mark.skipif(not can_contain(), reason="needs root and mount namespaces")
def test_services_score_with_the_rights_of_their_containers(
    sources: dict[str, Path], tmp_path: Path
) -> None:
    services = compose()["services"]
    port, ready = free_port(), free_port()
    worker = next(one for one in services.values() if one["image"] == "touchstone-metrics")
    migrate = contained(services["migrate"], sources, "shared.ledger.migrate")
    subprocess.run(migrate, check=True, timeout=SECONDS * busy())
    ports = {"TOUCHSTONE_PORT": port, "TOUCHSTONE_METRICS_PORT": free_port()}
    commands = {
        "gateway": contained(services["gateway"], sources, "services.gateway", **ports),
        "scheduler": contained(
            services["scheduler"],
            sources,
            "services.scheduler",
            TOUCHSTONE_METRICS_PORT=free_port(),
        ),
        "worker": contained(
            worker, sources, "services.worker", "hlv", TOUCHSTONE_METRICS_PORT=ready
        ),
    }
    with ExitStack() as held:
        children = [Child(name, command) for name, command in commands.items()]
        for child in children:
            child.start(tmp_path)
            held.callback(child.stop)
        url = f"http://{HOST}:{port}"
        for probe in (f"{url}/readyz", f"http://{HOST}:{ready}/readyz"):
            eventually(partial(up, probe, children), probe, seconds=READY_SECONDS)
        assert [rights(child) for child in children] == [("10001", 0, "1")] * len(children)
        create = ("create", "--scope", "admin")
        key = contained(services["gateway"], sources, "services.gateway.keys", *create)
        made = subprocess.run(key, check=True, capture_output=True, text=True)
        bearer = {"Authorization": f"Bearer {made.stdout.strip()}"}
        with httpx.Client(base_url=url, headers=bearer, timeout=SECONDS) as client:
            job = f"/v1/jobs/{client.post('/v1/scores/hlv', json=REQUEST).json()['id']}"
            eventually(lambda: client.get(job).json()["status"] == "succeeded", job, every=0.5)
            sent = client.post("/v1/files", files={"file": ("a.jsonl", b"{}\n")}, data=PURPOSE)
            assert sent.is_success, sent.text
    assert any((tmp_path / "files").rglob("*"))


def up(probe: str, children: list[Child]) -> bool:
    """Return whether the probe succeeds. Fails at once when a process has ended."""
    assert all(child.is_running for child in children)
    return answers(probe)


def rights(child: Child) -> tuple[str, int, str]:
    """Return the effective user, the effective capabilities and whether privileges are barred."""
    assert child.process is not None
    text = Path(f"/proc/{child.process.pid}/status").read_text("utf-8")
    status = dict(line.split(":\t", 1) for line in text.splitlines())
    return status["Uid"].split()[1], int(status["CapEff"], 16), status["NoNewPrivs"].strip()
