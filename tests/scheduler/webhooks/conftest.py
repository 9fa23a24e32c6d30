"""A sender that may reach this machine, and deliveries for it."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from ipaddress import ip_network

import pytest

from services.scheduler.webhooks import Sender
from shared.ledger.webhook_deliveries import Delivery
from shared.ledger.webhook_destinations import DestinationPolicy
from shared.process.encryption import Sealer, new_key, new_secret
from tests.patience import SECONDS

POLICY = DestinationPolicy(allowed=(ip_network("127.0.0.0/8"),), ports=(443, 8443))
SECRET = new_secret()
BODY = json.dumps({"type": "job.succeeded", "timestamp": "2026-01-01T00:00:00Z", "data": {"ä": 1}})


@pytest.fixture
def sender() -> Sender:
    """It waits for as long as a busy machine may need."""
    return Sender(policy=POLICY, sealer=Sealer(new_key()), seconds=SECONDS)


@pytest.fixture
def hasty_sender(sender: Sender) -> Sender:
    """It waits a second and no longer."""
    return replace(sender, seconds=1)


def delivery_to(url: str, sender: Sender, earlier: str | None = None) -> Delivery:
    """A first attempt at this URL, signed with SECRET (and with an earlier one)."""
    return Delivery(
        id=f"msg_{secrets.token_hex(16)}",
        endpoint_id="we_0",
        attempt=1,
        event="job.succeeded",
        body=BODY,
        url=url,
        secret=sender.sealer.seal(SECRET),
        earlier_secret=None if earlier is None else sender.sealer.seal(earlier),
    )
