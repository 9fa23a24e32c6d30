"""A service under trial: a witness in its database, and a key of each tenant that uses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.chaos import audit
from tests.end_to_end.keys import opened
from tests.end_to_end.service import Service, serving

LOAD, OTHER, CROWD = "load", "other", "crowd"  # sends the jobs; asks beside; is too many
SECONDS = 90.0  # for an answer
KEYS = {"TOUCHSTONE_AUTHENTICATION": "keys"}


@dataclass(frozen=True)
class Trial(Service):
    """Addresses and keys. keys: tenant → its Authorization header."""

    keys: Mapping[str, str] = field(default_factory=dict)

    def client(self, tenant: str = LOAD) -> httpx.Client:
        """Of this tenant."""
        bearer = {"Authorization": self.keys[tenant]}
        return httpx.Client(base_url=self.url, timeout=SECONDS, headers=bearer)


@contextmanager
def trying(folder: Path, *options: str, **settings: str) -> Iterator[Trial]:
    """A service as users start it, ready and watched."""
    with serving(folder, *options, **KEYS, **settings) as service:
        audit.install(service)
        yield Trial(
            **vars(service), keys={name: _key(service, name) for name in (LOAD, OTHER, CROWD)}
        )


def _key(service: Service, tenant: str) -> str:
    with opened(service, tenant, "admin") as client:
        return str(client.headers["Authorization"])
