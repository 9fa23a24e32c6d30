"""Modules that are only imported when first used, because the import is slow: httpx, and the
generated messages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from touchstone_client import models
else:

    class LazyModule:
        """Stands for a module and imports it when first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    httpx = LazyModule("httpx")
    models = LazyModule("touchstone_client.models")

__all__ = ["httpx", "models"]
