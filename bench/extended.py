"""One of our processes with the rooms of `bench/rooms` beside its own.

`python -m bench.extended services.gateway`, `python -m bench.extended services.worker noop`.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import services

ROOMS = Path(__file__).with_name("rooms")


def main() -> None:
    """The command."""
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    services.__path__.append(str(ROOMS))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
