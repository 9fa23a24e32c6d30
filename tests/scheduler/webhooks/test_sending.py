"""One attempt at real receivers: the library on the other side verifies it, none can harm us."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from services.scheduler.webhooks import Sender, SendSuccess, retry_after
from shared.ledger.webhook_deliveries import DeliveryRefusal
from shared.process.encryption import Sealer, new_key, new_secret
from tests.patience import SECONDS
from tests.raw_server import raw_server
from tests.receivers import Receiver, receiving, until
from tests.scheduler.webhooks.conftest import BODY, SECRET, delivery_to

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def attempt(sender: Sender, url: str, earlier: str | None = None) -> SendSuccess | DeliveryRefusal:
    return asyncio.run(sender.send(delivery_to(url, sender, earlier)))


def test_the_receiver_verifies_it_with_the_standard_library_of_webhooks(sender: Sender) -> None:
    began = int(time.time())
    with receiving(Receiver()) as receiver:
        assert attempt(sender, receiver.url) == SendSuccess(204)
    (got,) = receiver.received
    assert Webhook(SECRET).verify(got.body, got.headers) == json.loads(BODY)
    assert got.body == BODY.encode()
    assert got.headers["content-type"] == "application/json"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert began <= int(got.headers["webhook-timestamp"]) <= time.time()
    assert "." not in got.headers["webhook-id"]
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(got.body, got.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(got.body + b" ", got.headers)


def test_while_secrets_rotate_either_of_them_verifies(sender: Sender) -> None:
    earlier = new_secret()
    with receiving(Receiver()) as receiver:
        attempt(sender, receiver.url, earlier)
    (got,) = receiver.received
    assert len(got.headers["webhook-signature"].split(" ")) == 2
    for secret in (SECRET, earlier):
        Webhook(secret).verify(got.body, got.headers)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_is_success(sender: Sender, status: int) -> None:
    with receiving(Receiver(status=status)) as receiver:
        assert attempt(sender, receiver.url) == SendSuccess(status)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308, 400, 404, 410, 429, 500])
def test_anything_else_is_failure(sender: Sender, status: int) -> None:
    with receiving(Receiver(status=status)) as receiver:
        found = attempt(sender, receiver.url)
    assert isinstance(found, DeliveryRefusal)
    assert found.status == status


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_an_internal_address_is_not_followed(sender: Sender, status: int) -> None:
    with receiving(Receiver()) as inside:
        for location in (inside.url, "http://169.254.169.254/latest/meta-data/"):
            redirecting = Receiver(status=status, headers={"Location": location})
            with receiving(redirecting) as receiver:
                found = attempt(sender, receiver.url)
            assert isinstance(found, DeliveryRefusal)
            assert "not followed" in found.reason
            assert len(receiver.received) == 1
    assert inside.received == []


def test_a_receiver_that_hangs_costs_the_limit_and_no_more(hasty_sender: Sender) -> None:
    ended = threading.Event()
    hanging = Receiver(before=until(ended))
    with receiving(hanging) as receiver:
        found = attempt(hasty_sender, receiver.url)
        ended.set()
    assert found == DeliveryRefusal("no answer within 1 s")


@contextmanager
def dripping() -> Iterator[str]:
    """A server that sends a byte of its status line every 0.2 s: no single read ever times out."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS)

        def drip() -> None:
            taken, _ = server.accept()
            with taken:
                for byte in b"HTTP/1.1 200 OK\r\n" * 200:
                    if stop.wait(0.2):
                        return
                    try:
                        taken.send(bytes([byte]))
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        stop.set()
        thread.join()


def test_a_receiver_that_drips_costs_the_limit_and_no_more(hasty_sender: Sender) -> None:
    with dripping() as url:
        found = attempt(hasty_sender, url)  # the server has not yet said all, long afterwards
    assert found == DeliveryRefusal("no answer within 1 s")


def test_a_success_that_never_ends_is_a_success(sender: Sender) -> None:
    endless = Receiver(status=200, headers={"Content-Length": "99"}, body=b"")
    with receiving(endless) as receiver:
        assert attempt(sender, receiver.url) == SendSuccess(200)


def test_of_ten_megabytes_little_is_read_and_nothing_is_shown(sender: Sender) -> None:
    body = b"inside: secret " * 700_000
    with receiving(Receiver(status=500, body=body)) as receiver:
        found = attempt(sender, receiver.url)
        time.sleep(0.2)
    assert found == DeliveryRefusal("it answered 500", status=500)
    assert receiver.sent_bytes < len(body) // 2  # what the buffers of the kernel hold, and 64 kB


def test_nobody_there_is_a_failure(sender: Sender) -> None:
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        found = attempt(sender, f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert isinstance(found, DeliveryRefusal)
    assert found.status is None


def test_what_is_no_http_is_a_failure(sender: Sender) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble() -> None:
            taken, _ = server.accept()
            with taken:
                taken.recv(65_536)
                taken.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        thread = threading.Thread(target=babble)
        thread.start()
        found = attempt(sender, f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()
    assert isinstance(found, DeliveryRefusal)
    assert "OpenSSH" not in found.reason


def test_a_secret_that_no_key_opens_is_a_failure_and_sends_nothing(sender: Sender) -> None:
    with receiving(Receiver()) as receiver:
        delivery = delivery_to(receiver.url, sender)
        other = replace(sender, sealer=Sealer(new_key()))
        found = asyncio.run(other.send(delivery))
    assert isinstance(found, DeliveryRefusal)
    assert "cannot be decrypted" in found.reason
    assert receiver.received == []


def test_proxies_of_the_environment_are_not_used(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving(Receiver()) as proxy, receiving(Receiver()) as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert attempt(sender, receiver.url) == SendSuccess(204)
    assert proxy.received == []


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("7", timedelta(seconds=7)),
        (" 120 ", timedelta(seconds=120)),
        ("0", timedelta(0)),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1.5", None),
        ("9" * 400, timedelta(seconds=10**9)),
        ("Thu, 01 Jan 2026 00:01:00 GMT", timedelta(seconds=60)),
        ("Wed, 31 Dec 2025 00:00:00 GMT", timedelta(0)),
        ("Thu, 99 Jan 2026 00:01:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, wait: timedelta | None) -> None:
    assert retry_after(value, NOW) == wait


def test_endless_informational_answers_end_soon(sender: Sender) -> None:
    unsent = itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, 4_000)
    with raw_server(unsent) as url:
        found = attempt(sender, url)
        assert next(unsent, None) is not None
    assert found == DeliveryRefusal("the headers of the endpoint's answer are longer than 64 kB")
