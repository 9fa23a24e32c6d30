"""What a Python process does first where this folder and the root are on its PYTHONPATH: the rooms
of the chaos suite stand beside the service's own, and one name of the DNS changes its mind."""

import random
import socket
from pathlib import Path
from typing import Any

import services
from tests.chaos.names import INSIDE, INSIDE_SHARE, OURS, REBINDING

services.__path__.append(str(Path(__file__).parents[1] / "rooms"))

_asked = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    """As the system resolves; but for that one name, which leads inside now and then."""
    if host == REBINDING:
        host = INSIDE if random.random() < INSIDE_SHARE else OURS  # noqa: S311 - not a secret
    return _asked(host, *more, **options)


socket.getaddrinfo = getaddrinfo
