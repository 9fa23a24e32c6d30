"""Run first by a Python process where this folder and the root are on its PYTHONPATH: the services
of the chaos suite are added, one name of the DNS changes its address, and where a scenario says so,
the clock is another one."""

import os
import random
import socket
import sys
from pathlib import Path
from typing import Any

import services
from tests.chaos.names import INSIDE, INSIDE_SHARE, OURS, REBINDING

SHIFTED = {"services.gateway", "services.scheduler", "services.worker"}

if "CHAOS_CLOCK" in os.environ and "LD_PRELOAD" not in os.environ and SHIFTED & {*sys.orig_argv}:
    shift = {
        "LD_PRELOAD": os.environ["CHAOS_CLOCK_LIBRARY"],
        "FAKETIME": os.environ["CHAOS_CLOCK"],
    }
    os.execve(sys.executable, sys.orig_argv, os.environ | shift)  # noqa: S606 - ourselves again

services.__path__.append(str(Path(__file__).parents[1] / "services"))

_asked = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    """As the system resolves; but for that one name, which leads inside now and then."""
    if host == REBINDING:
        host = INSIDE if random.random() < INSIDE_SHARE else OURS  # noqa: S311 - not a secret
    return _asked(host, *more, **options)


socket.getaddrinfo = getaddrinfo
