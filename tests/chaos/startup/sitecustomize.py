"""Run first by a Python process where this folder and the root are on its PYTHONPATH: the services
of the chaos suite are added, one name of the DNS changes its address, and where a scenario says so,
the clock is another one, or files are slow to open."""

import os
import random
import socket
import sys
import time
from pathlib import Path
from typing import Any

import services
from tests.chaos.names import INSIDE, INSIDE_SHARE, OURS, REBINDING

SLOW_SECONDS = 3.0
SHIFTED = {"services.gateway", "services.scheduler", "services.worker"}

CLOCKS = {"CHAOS_CLOCK": "FAKETIME", "CHAOS_CLOCK_FILE": "FAKETIME_TIMESTAMP_FILE"}
clocks = {ours: os.environ[name] for name, ours in CLOCKS.items() if name in os.environ}
if clocks and "LD_PRELOAD" not in os.environ and SHIFTED & {*sys.orig_argv}:
    shift = {
        "LD_PRELOAD": os.environ["CHAOS_CLOCK_LIBRARY"],
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_CACHE_DURATION": "1",
    }
    os.execve(sys.executable, sys.orig_argv, os.environ | shift | clocks)  # noqa: S606 - ourselves

if "CHAOS_SLOW_FILES" in os.environ and SHIFTED & {*sys.orig_argv}:
    from fsspec.implementations.local import LocalFileSystem

    _open = LocalFileSystem._open

    def slow_open(system: LocalFileSystem, path: str, *more: Any, **options: Any) -> Any:
        """As from a busy network disk, while the mark is there."""
        if os.path.exists(os.environ["CHAOS_SLOW_FILES"]):  # noqa: PTH110
            time.sleep(SLOW_SECONDS)
        return _open(system, path, *more, **options)

    LocalFileSystem._open = slow_open

services.__path__.append(str(Path(__file__).parents[1] / "services"))

_asked = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    """As the system resolves; but for that one name, which leads inside now and then."""
    if host == REBINDING:
        host = INSIDE if random.random() < INSIDE_SHARE else OURS  # noqa: S311 - not a secret
    return _asked(host, *more, **options)


socket.getaddrinfo = getaddrinfo
