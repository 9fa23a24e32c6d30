"""API keys as an operator makes them, and clients that hold one."""

from __future__ import annotations

import subprocess
import sys

import httpx

from tests.answers import CheckedClient
from tests.end_to_end.service import ROOT, Service, environment
from tests.patience import SECONDS

NO_LIMIT = ("--requests-per-minute", "1000000")


def opened(service: Service, tenant: str, *scopes: str) -> httpx.Client:
    """A client with a new key of this tenant's."""
    command = [sys.executable, "-m", "services.gateway.keys", "--var", str(service.folder)]
    asked = [word for scope in scopes for word in ("--scope", scope)]
    made = subprocess.run(
        [*command, "create", "--tenant", tenant, *asked, *NO_LIMIT],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    bearer = {"Authorization": f"Bearer {made.stdout.strip()}"}
    return CheckedClient(base_url=service.url, timeout=SECONDS, headers=bearer)
