"""Run first by a Python process where this folder and the root are on its PYTHONPATH: the services
of the chaos suite are added, one name of the DNS changes its address, and where a scenario says so,
the clock is another one, or the store of files is slow or hangs."""

import os
import random
import socket
import sys
import time
from pathlib import Path
from typing import Any

import services
from tests.chaos.names import INSIDE, INSIDE_SHARE, OURS, REBINDING

SLOW_SECONDS, LOOK_SECONDS = 3.0, 0.1
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

if "CHAOS_FILES" in os.environ and SHIFTED & {*sys.orig_argv}:
    from fsspec.implementations.local import LocalFileSystem

    _open, _info = LocalFileSystem._open, LocalFileSystem.info
    mark = Path(os.environ["CHAOS_FILES"])

    def fault() -> str:
        try:
            return mark.read_text()
        except FileNotFoundError:
            return ""

    def open_later(*arguments: Any, **options: Any) -> Any:
        """As from a network disk that is busy, or that does not answer while the mark is there."""
        if fault() == "slow":
            time.sleep(SLOW_SECONDS)
        while fault() == "hanging":
            time.sleep(LOOK_SECONDS)
        return _open(*arguments, **options)

    def look_later(*arguments: Any, **options: Any) -> Any:
        while fault() == "hanging":
            time.sleep(LOOK_SECONDS)
        return _info(*arguments, **options)

    LocalFileSystem._open, LocalFileSystem.info = open_later, look_later

services.__path__.append(str(Path(__file__).parents[1] / "services"))

_asked = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    """As the system resolves; but for that one name, which leads inside now and then."""
    if host == REBINDING:
        host = INSIDE if random.random() < INSIDE_SHARE else OURS  # noqa: S311 - not a secret
    return _asked(host, *more, **options)


socket.getaddrinfo = getaddrinfo
