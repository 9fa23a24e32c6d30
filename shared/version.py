"""The version of the running service, as the package metadata states it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    SERVICE_VERSION = version("touchstone")
except PackageNotFoundError:  # a checkout that was never installed
    SERVICE_VERSION = "0.0.0+checkout"
