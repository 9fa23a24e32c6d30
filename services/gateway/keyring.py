"""The callers that were found lately: a revoked key opens for these few seconds still."""

from __future__ import annotations

from dataclasses import dataclass

from cachetools import TTLCache

from shared.ledger.keys import Key, Scope, hashed
from shared.ledger.owner import Owner
from shared.ledger.tables import DEFAULT_TENANT
from shared.settings import Settings

REMEMBERED_SECONDS = 10.0
MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class Caller:
    """Who calls. key: None where keys are not asked for: then no limits apply either."""

    tenant: str
    scopes: frozenset[Scope]
    key: Key | None = None

    def may(self, *scopes: Scope) -> bool:
        """Whether one of these scopes is among the caller's; `admin` may do everything."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)

    def owner(self, chosen: Settings) -> Owner:
        """The owner of what this caller makes."""
        if self.key is None:
            return Owner(self.tenant)
        return Owner(
            self.tenant,
            most_open=chosen.open_jobs,
            most_batches=chosen.open_batches,
            most_files=chosen.stored_files,
            most_bytes=chosen.stored_bytes,
        )


ANYBODY = Caller(DEFAULT_TENANT, frozenset({"admin"}))


class Keyring:
    """What this process knows of keys without asking the ledger. For the event loop's thread."""

    def __init__(self, chosen: Settings) -> None:
        self._demanded = {"keys": True, "none": False, "auto": None}[chosen.authentication]
        self._none_made: TTLCache[str, bool] = TTLCache(1, REMEMBERED_SECONDS)
        self._callers: TTLCache[str, Caller] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)

    @property
    def demanded(self) -> bool | None:
        """Whether keys are asked for; None: the ledger must say whether one was made."""
        return False if self._demanded is None and "none" in self._none_made else self._demanded

    def demand(self) -> None:
        """Ask for keys from now on."""
        self._demanded = True

    def learn(self, *, any_made: bool) -> None:
        """What the ledger said: once a key was made, keys are asked for; that never goes back."""
        if any_made:
            self.demand()
        else:
            self._none_made["none"] = True

    def remembered(self, secret: str) -> Caller | None:
        """The caller with this key, if it was found lately."""
        return self._callers.get(hashed(secret))

    def remember(self, secret: str, key: Key) -> Caller:
        """The caller with this key, which the ledger knows."""
        found = Caller(key.tenant, frozenset(key.scopes), key)
        self._callers[hashed(secret)] = found
        return found
