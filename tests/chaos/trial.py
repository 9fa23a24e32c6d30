"""A service under trial: a witness in its database, and a key of each tenant that uses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from shared.ledger import keys
from shared.ledger.engine import connect
from shared.ledger.keys import NewKey
from tests.chaos import audit
from tests.end_to_end.service import WARM, Service, serving

LOAD, OTHER, CROWD = "load", "other", "crowd"  # sends the jobs; asks beside; is too many
SECONDS = 90.0  # for an answer
A_MINUTE = 1_000_000  # requests
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
    with serving(folder, *options, **KEYS, **(WARM | settings)) as service:
        audit.install(service)
        yield Trial(**vars(service), keys=_keys(service))


def _keys(service: Service) -> dict[str, str]:
    """As an operator makes them, for the whole run."""
    engine = connect(service.database_url)
    with engine.begin() as connection:
        made = {
            tenant: keys.make(connection, NewKey(tenant, "chaos", ("admin",), A_MINUTE))[1]
            for tenant in (LOAD, OTHER, CROWD)
        }
    engine.dispose()
    return {tenant: f"Bearer {secret}" for tenant, secret in made.items()}
