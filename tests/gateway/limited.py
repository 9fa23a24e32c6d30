"""Run a gateway with smaller limits: `python -m tests.gateway.limited '{"MODULE.CONSTANT": 1}'`."""

from __future__ import annotations

import json
import sys
from importlib import import_module

from services.gateway.__main__ import main

if __name__ == "__main__":
    for name, value in json.loads(sys.argv.pop()).items():
        module, _, constant = name.partition(".")
        setattr(import_module(f"services.gateway.{module}"), constant, value)
    main()
