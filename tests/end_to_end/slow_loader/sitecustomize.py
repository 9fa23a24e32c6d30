"""A loader that takes its time: the model `slow` is loaded once the file $SLOW_UNTIL is there."""

from __future__ import annotations

import os
import sys
import time
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

SLOWED = "services.inference.weights.loader"


class SlowLoader(Loader):
    """The module as it is, with one function that waits."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self._real.exec_module(module)
        load = module.__dict__["load_classifier"]

        def slowly(catalogue: Any, entry: Any, adapt: Any) -> Any:
            while entry.name == "slow" and not Path(os.environ["SLOW_UNTIL"]).exists():
                time.sleep(0.1)
            return load(catalogue, entry, adapt)

        module.__dict__["load_classifier"] = slowly


class Finder(MetaPathFinder):
    """Of this module alone."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == SLOWED else None
        if spec is not None:
            spec.loader = SlowLoader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
