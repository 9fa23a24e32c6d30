"""Describes the machine and code on which a measurement ran."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")


def environment(**more: Any) -> dict[str, Any]:
    """Return the CPU, the number of threads, the commit, and additional fields of the bench."""
    return {"cpu": _cpu(), "threads": os.cpu_count(), **more, "commit": _commit()}


def _cpu() -> str:
    if CPUINFO.exists():
        for line in CPUINFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    ran = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip() or "unknown"
