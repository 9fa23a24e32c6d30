"""One of our processes with the additional services of `bench/services`.

`python -m bench.extended services.gateway`, `python -m bench.extended services.worker noop`.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import services

MORE_SERVICES = Path(__file__).with_name("services")


def main() -> None:
    module = sys.argv[1]
    sys.argv = [module, *sys.argv[2:]]
    services.__path__.append(str(MORE_SERVICES))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
