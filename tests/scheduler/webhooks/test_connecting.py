"""No request reaches an internal address, whatever name leads there and however it changes."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.scheduler.webhooks import Sender, SendSuccess
from shared.ledger.webhook_deliveries import DeliveryRefusal
from shared.ledger.webhook_destinations import DestinationPolicy
from tests.receivers import Receiver, receiving
from tests.scheduler.webhooks.conftest import delivery_to
from tests.shared.webhooks.test_addresses import FORBIDDEN

NAME = "hooks.example.test"
PUBLIC = "93.184.216.34"
NOWHERE = DestinationPolicy(allowed=(), ports=(443, 8443))


class Names:
    """A resolver that answers from a script, one line a call; the last one for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not answer:
            raise OSError("no such name")
        return answer


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a socket would have been opened; none is."""
    addresses: list[str] = []

    async def connect_tcp(_self: object, host: str, *_: Any, **__: Any) -> None:
        addresses.append(host)
        raise httpcore.ConnectError("not in a test")

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_tcp)
    return addresses


def attempt(sender: Sender, url: str) -> SendSuccess | DeliveryRefusal:
    return asyncio.run(sender.send(delivery_to(url, sender)))


@pytest.mark.parametrize(
    ("kind", "address"),
    [(kind, address) for kind, addresses in FORBIDDEN.items() for address in addresses],
)
def test_a_name_that_leads_inside_is_refused(
    sender: Sender, opened: list[str], kind: str, address: str
) -> None:
    inside = replace(sender, policy=NOWHERE, resolver=Names([address]))
    found = attempt(inside, f"https://{NAME}/")
    assert found == DeliveryRefusal(
        "forbidden: the host's IP address is not public; use a public host"
    ), kind
    assert opened == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0",
        "0x7f000001",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "①②⑦.⓪.⓪.①",
    ],
)
def test_a_literal_in_any_spelling_is_refused(sender: Sender, opened: list[str], host: str) -> None:
    """With the system's own resolver: what it makes of the spelling is what is judged."""
    found = attempt(replace(sender, policy=NOWHERE), f"https://{host}/")
    assert isinstance(found, DeliveryRefusal)
    assert found.status is None
    assert opened == []


def test_one_internal_address_among_public_ones_refuses_the_name(
    sender: Sender, opened: list[str]
) -> None:
    for answer in ([PUBLIC, "127.0.0.1"], ["10.0.0.1", PUBLIC], [PUBLIC, "::1"]):
        found = attempt(replace(sender, policy=NOWHERE, resolver=Names(answer)), f"https://{NAME}")
        assert isinstance(found, DeliveryRefusal)
    assert opened == []


def test_the_socket_is_opened_to_the_address_that_was_judged(
    sender: Sender, opened: list[str]
) -> None:
    """Rebinding: the name is asked once an attempt; what it says a moment later does not count."""
    names = Names([PUBLIC], ["127.0.0.1"])
    rebinding = replace(sender, policy=NOWHERE, resolver=names)
    attempt(rebinding, f"https://{NAME}/")
    assert (opened, names.asked) == ([PUBLIC], [NAME])
    found = attempt(rebinding, f"https://{NAME}/")
    assert found == DeliveryRefusal(
        "forbidden: the host's IP address is not public; use a public host"
    )
    assert opened == [PUBLIC]


def test_a_name_that_rebinds_to_a_real_receiver_inside_never_reaches_it(sender: Sender) -> None:
    with receiving(Receiver()) as inside:
        names = Names(["127.0.0.1"])
        found = attempt(
            replace(sender, policy=DestinationPolicy((), (inside.port,)), resolver=names),
            f"https://{NAME}:{inside.port}/",
        )
    assert isinstance(found, DeliveryRefusal)
    assert inside.received == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"http://{NAME}/", "https"),
        (f"https://{NAME}:22/", "port"),
        (f"https://{NAME}:6379/", "port"),
    ],
)
def test_a_public_address_is_reached_by_https_on_the_allowed_ports_only(
    sender: Sender, opened: list[str], url: str, reason: str
) -> None:
    found = attempt(replace(sender, resolver=Names([PUBLIC])), url)  # though 127/8 is allowed
    assert isinstance(found, DeliveryRefusal)
    assert reason in found.reason
    assert opened == []


def test_the_addresses_are_tried_one_after_the_other(sender: Sender, opened: list[str]) -> None:
    many = [f"93.184.216.{last}" for last in range(1, 20)]
    attempt(replace(sender, resolver=Names(many)), f"https://{NAME}/")
    assert opened == many[:8]


def test_a_name_without_addresses_is_a_failure(sender: Sender, opened: list[str]) -> None:
    found = attempt(replace(sender, resolver=Names([])), f"https://{NAME}/")
    assert found == DeliveryRefusal("the host's name cannot be resolved")


def test_a_name_that_takes_too_long_costs_the_limit(hasty_sender: Sender) -> None:
    async def slow(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(600)
        return [PUBLIC]

    assert attempt(replace(hasty_sender, resolver=slow), f"https://{NAME}/") == DeliveryRefusal(
        "no answer within 1 s"
    )


def certificate(folder: Path, name: str) -> Path:
    """A certificate for this name, with its key, in one file; it vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / f"{name}.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.parametrize(("held", "arrives"), [(NAME, True), ("other.example.test", False)])
def test_host_sni_and_certificate_are_those_of_the_name(
    sender: Sender, tmp_path: Path, held: str, arrives: bool
) -> None:
    """We connect to 127.0.0.1, and speak to, and verify, the name."""
    file = certificate(tmp_path, held)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    trusting = replace(
        sender, tls=ssl.create_default_context(cafile=str(file)), resolver=Names(["127.0.0.1"])
    )
    with receiving(Receiver(), server) as receiver:
        found = attempt(trusting, f"https://{NAME}:{receiver.port}/hooks")
    assert receiver.names == [NAME]
    assert isinstance(found, SendSuccess) is arrives
    hosts = [got.headers["host"] for got in receiver.received]
    assert hosts == ([f"{NAME}:{receiver.port}"] if arrives else [])
