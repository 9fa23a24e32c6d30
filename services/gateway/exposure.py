"""Who may reach the gateway: without keys nobody but this machine, unless a setting says so."""

from __future__ import annotations

from ipaddress import ip_address

from sqlalchemy import Engine

from shared.errors import Unavailable
from shared.ledger import keys
from shared.ledger.engine import transaction
from shared.settings import Settings


class Exposed(RuntimeError):
    """The gateway would serve other machines without asking for keys."""


def keys_needed(chosen: Settings, engine: Engine) -> bool | None:
    """Whether keys must be asked for; None: as soon as one is made. Raises Exposed.

    A ledger that cannot be asked right now counts as one with keys.
    """
    if chosen.authentication != "auto":
        return chosen.authentication == "keys"
    if is_loopback(chosen.host):
        return None
    try:
        with transaction(engine) as connection:
            made = keys.any_made(connection)
    except Unavailable:
        made = True
    if not made:
        raise Exposed(
            f"will not listen on {chosen.host}: there is no API key, and everybody who reaches it "
            "could use the service. Make a key with `python -m services.gateway.keys create`, or "
            "listen on 127.0.0.1, or set TOUCHSTONE_AUTHENTICATION=keys (ask for keys that are yet "
            "to be made) or TOUCHSTONE_AUTHENTICATION=none (serve everybody)."
        )
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a socket on this host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
