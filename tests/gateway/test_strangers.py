"""What somebody without a key can do to a gateway, as a process of its own: very little.

Judged by counts and by bytes, never by how fast this machine is: every wait has much patience.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from cli.stack.servers import HOST, Child, free_port
from services.gateway.connections import CHUNK_BYTES, HEAD_LINES, LINGER_BYTES, SPARE
from shared.process.settings import Settings

PATIENCE = 60.0
IDLE_SECONDS = 4.0  # uvicorn keeps an idle connection for five
FLOODERS = 30
CONNECTIONS = 40
SOCKET_BUFFERS = 8 * 1_048_576  # what both kernels may hold of a stream that nobody reads
PIECE = b"ffff\r\n" + b"&" * 0xFFFF + b"\r\n"
LIMITS = {
    "connections.CONNECTIONS_PER_ADDRESS": CONNECTIONS,
    "connections.HEAD_SECONDS": 2,
    "request_limits.BODY_SECONDS": 3,
}


@dataclass(frozen=True)
class Process:
    """A running gateway."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection((HOST, self.port), timeout=PATIENCE)

    def is_alive(self) -> bool:
        return httpx.get(f"{self.url}/healthz", timeout=PATIENCE).text == '{"status":"ok"}'

    @property
    def processor_seconds(self) -> float:
        spent = psutil.Process(self.pid).cpu_times()
        return float(spent.user + spent.system)


@pytest.fixture(scope="module")
def gateway(_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with running(tmp_path_factory.mktemp("gateway"), LIMITS) as found:
        yield found


@contextlib.contextmanager
def running(logs: Path, limits: Mapping[str, float], **environment: str) -> Iterator[Process]:
    """A gateway with these limits, ready; ledger and broker are those of the tests."""
    port = free_port()
    placed = environment | {
        "TOUCHSTONE_AUTHENTICATION": "keys",
        "TOUCHSTONE_HOST": HOST,
        "TOUCHSTONE_PORT": str(port),
    }
    command = (sys.executable, "-m", "tests.gateway.limited", json.dumps(limits))
    child = Child("gateway", command, dict(os.environ) | placed)
    child.start(logs)
    try:
        assert child.process is not None
        found = Process(port, child.process.pid)
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            with contextlib.suppress(httpx.TransportError):
                if found.is_alive():
                    break
            assert child.is_running, (logs / "gateway.log").read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield found
    finally:
        child.stop()


def head(method: str, path: str, *fields: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *fields, "", ""]).encode()


def received(stranger: socket.socket) -> bytes:
    """Everything until the gateway closes; a reset ends it too."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := stranger.recv(65_536):
            found += piece
    return found


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def probed(stranger: socket.socket) -> int:
    """The status of /healthz on a connection that stays open."""
    stranger.sendall(head("GET", "/healthz"))
    found = b""
    while not found.endswith(b"}"):
        piece = stranger.recv(65_536)
        assert piece
        found += piece
    return status_of(found)


def flood(gateway: Process, begin: bytes, piece: bytes) -> tuple[int, bytes]:
    """Send this for ever; bytes until the gateway would take no more, and what it answered."""
    sent = 0
    with gateway.connect() as stranger:
        with contextlib.suppress(ConnectionError):
            stranger.sendall(begin)
            while sent < 10 * (LINGER_BYTES + SOCKET_BUFFERS):
                stranger.sendall(piece)
                sent += len(piece)
        return sent, received(stranger)


CHUNKED = "Transfer-Encoding: chunked"
FORM = "Content-Type: application/x-www-form-urlencoded"
ENDLESS = {
    "a form": (head("POST", "/logout", FORM, CHUNKED), PIECE),
    "a log-in": (head("POST", "/login", FORM, CHUNKED), PIECE),
    "a form that says its length": (
        head("POST", "/settings", FORM, "Content-Length: 999999999999"),
        b"&" * 65_536,
    ),
    "a form of tiny chunks": (head("POST", "/logout", FORM, CHUNKED), b"1\r\n&\r\n" * 10_000),
    "what no route reads": (head("POST", "/nothing", CHUNKED), PIECE),
    "a body of a reader": (head("GET", "/healthz", CHUNKED), PIECE),
    "a request without a key": (head("POST", "/v1/scores/hatexscore", CHUNKED), PIECE),
    "an upload without a key": (head("POST", "/v1/files", CHUNKED), PIECE),
    "a head": (b"GET / HTTP/1.1\r\n", b"X-Field: " + b"x" * 1_000 + b"\r\n"),
    "tiny header fields": (b"GET / HTTP/1.1\r\n", b"a:b\r\n" * 1_000),
    "no HTTP": (b"", b"\x00\xff" * 10_000),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_never_ends_is_soon_not_read_any_more(gateway: Process, what: str) -> None:
    sent, _ = flood(gateway, *ENDLESS[what])
    assert sent <= LINGER_BYTES + SOCKET_BUFFERS


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("a form", 413),
        ("a form that says its length", 413),
        ("what no route reads", 404),
        ("a request without a key", 401),
    ],
)
def test_who_stops_in_time_reads_why(gateway: Process, what: str, status: int) -> None:
    begin, piece = ENDLESS[what]
    with gateway.connect() as stranger:
        stranger.sendall(begin + piece)
        assert status_of(received(stranger)) == status


@pytest.mark.parametrize("what", ["a form", "a form of tiny chunks", "what no route reads"])
def test_a_flood_costs_little_and_probes_are_answered(gateway: Process, what: str) -> None:
    """Thirty strangers, one connection after another; the flood lasts as long as the probes do."""
    over, floods = threading.Event(), []

    def keep_flooding() -> None:
        while not over.is_set():
            with contextlib.suppress(ConnectionError):
                floods.append(flood(gateway, *ENDLESS[what]))

    strangers = [threading.Thread(target=keep_flooding) for _ in range(FLOODERS)]
    before = gateway.processor_seconds
    for stranger in strangers:
        stranger.start()
    try:
        assert all([gateway.is_alive() for _ in range(20)])
    finally:
        over.set()
        for stranger in strangers:
            stranger.join()
    assert len(floods) >= FLOODERS
    spent = gateway.processor_seconds - before
    assert spent / len(floods) < 0.25  # seconds of a processor; without limits there is no end


@pytest.mark.parametrize("begun", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"G", b""])
def test_a_head_that_does_not_end_is_given_up(gateway: Process, begun: bytes) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(begun)
        drip(stranger, b"a")
        answer = received(stranger)
        assert b"408" in answer.split(b"\r\n")[0] or not answer  # nobody waits for an answer to it


def test_half_a_head_is_told_that_it_was_too_slow(gateway: Process) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(b"GET /healthz HTTP/1.1\r\nHost: lo")
        answer = received(stranger)
    assert status_of(answer) == 408
    assert b"application/problem+json" in answer


def test_who_says_nothing_is_told_nothing(gateway: Process) -> None:
    with gateway.connect() as stranger:
        assert received(stranger) == b""


def test_the_second_head_of_a_connection_has_its_time_too(gateway: Process) -> None:
    with gateway.connect() as stranger:
        assert probed(stranger) == 200
        stranger.sendall(b"GET /healthz HTT")
        assert status_of(received(stranger)) == 408


@contextlib.contextmanager
def unless_it_stood_still(over: list[bool]) -> Iterator[None]:
    """What fails in the block counts only where no idle connection was left for so long that a
    gateway closes it."""
    begun = time.monotonic()
    try:
        yield
    except (AssertionError, OSError):
        if time.monotonic() - begun < IDLE_SECONDS:
            raise
    else:
        over.append(True)


def test_a_pause_between_two_requests_is_no_fault(gateway: Process) -> None:
    over: list[bool] = []
    while not over:
        with unless_it_stood_still(over), gateway.connect() as stranger:
            for pause in (0, 1.1, 1.1):  # in all longer than a head may take
                time.sleep(pause)
                assert probed(stranger) == 200


def test_a_body_that_does_not_come_is_given_up(gateway: Process) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(head("POST", "/login", FORM, "Content-Length: 100") + b"csrf=")
        drip(stranger, b"a")
        answer = received(stranger)
    assert not answer or status_of(answer) == 408


def drip(stranger: socket.socket, piece: bytes) -> None:
    """A byte now and then, until the gateway has had enough."""
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            stranger.sendall(piece)
            time.sleep(0.3)
            if socket_is_over(stranger):
                return
    assert time.monotonic() < deadline


def socket_is_over(stranger: socket.socket) -> bool:
    """Whether the gateway has closed or answered."""
    stranger.setblocking(False)
    try:
        stranger.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    finally:
        stranger.settimeout(PATIENCE)
    return True


def test_tiny_chunks_are_refused(gateway: Process) -> None:
    with gateway.connect() as stranger:
        with contextlib.suppress(ConnectionError):
            stranger.sendall(head("POST", "/login", FORM, CHUNKED) + b"1\r\na\r\n" * 5_000)
        answer = received(stranger)
    assert not answer or status_of(answer) == 400


SMUGGLED = b"0\r\n\r\n" + head("GET", "/healthz")


@pytest.mark.parametrize(
    "fields",
    [
        ("Content-Length: 5", CHUNKED),
        (CHUNKED, "Content-Length: 5"),
        (CHUNKED, "content-length: 0"),
        ("Content-Length: 5", "tRANSFER-eNCODING: chunked"),
        ("Content-Length: 5", "Content-Length: 6"),
        (CHUNKED, CHUNKED),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/scores/hatexscore"), ("GET", "/")])
def test_a_body_of_two_lengths_is_refused_with_all_that_follows(
    gateway: Process, method: str, path: str, fields: tuple[str, ...]
) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(head(method, path, *fields) + SMUGGLED)
        answer = received(stranger)
    assert status_of(answer) in (400, 501)
    assert answer.count(b"HTTP/1.1 ") == 1  # what follows is no request
    assert b"connection: close" in answer.lower()


def test_too_many_header_fields_are_refused(gateway: Process) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(head("GET", "/healthz", *["a: b"] * (HEAD_LINES + 1)))
        assert status_of(received(stranger)) == 431


@pytest.mark.parametrize(("size", "status"), [(15_000, 200), (17_000, 431), (20_000, 431)])
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_head_has_at_most_16_kb(gateway: Process, size: int, status: int, pieces: int) -> None:
    whole = head("GET", "/healthz", "X-Field: " + "x" * size)
    with gateway.connect() as stranger:
        for start in range(0, len(whole), len(whole) // pieces + 1):
            stranger.sendall(whole[start : start + len(whole) // pieces + 1])
            time.sleep(0.2 * (pieces - 1))
        stranger.shutdown(socket.SHUT_WR)
        assert status_of(received(stranger)) == status


@pytest.mark.parametrize("size", [CHUNK_BYTES, 100, 5_000])
def test_small_chunks_of_an_honest_client_are_read(gateway: Process, size: int) -> None:
    form = b"csrf=" + b"a" * 6_000
    pieces = [form[start : start + size] for start in range(0, len(form), size)]
    headers = {"Content-Type": FORM.partition(": ")[2]}
    answer = httpx.post(f"{gateway.url}/login", content=iter(pieces), headers=headers)
    assert answer.status_code == 403  # it was read, and its token is wrong


def test_requests_sent_at_once_are_answered_in_turn(gateway: Process) -> None:
    with gateway.connect() as stranger:
        stranger.sendall(
            head("GET", "/healthz") * 60 + head("GET", "/healthz", "Connection: close")
        )
        assert received(stranger).count(b"200 OK") == 61


def test_of_one_address_there_are_so_many_and_probes_pass(gateway: Process) -> None:
    over: list[bool] = []
    while not over:
        with unless_it_stood_still(over), contextlib.ExitStack() as held:
            for _ in range(CONNECTIONS):  # each is counted once it has been answered
                assert probed(held.enter_context(gateway.connect())) == 200
            refused = httpx.get(f"{gateway.url}/v1/jobs", timeout=PATIENCE)
            assert refused.status_code == 503
            assert refused.json()["type"].endswith("#busy")
            assert refused.headers["retry-after"]
            assert gateway.is_alive()
            assert httpx.get(f"{gateway.url}/readyz", timeout=PATIENCE).status_code == 200
    assert status_in_the_end(gateway, "/v1/jobs") == 401


def status_in_the_end(gateway: Process, path: str) -> int:
    """The gateway may notice a little later that somebody has hung up."""
    deadline = time.monotonic() + PATIENCE
    while True:
        status = httpx.get(gateway.url + path, timeout=PATIENCE).status_code
        if status != 503 or time.monotonic() > deadline:
            return status
        time.sleep(0.1)


def test_beyond_the_spare_ones_nothing_is_accepted(tmp_path: Path, chosen: Settings) -> None:
    few = LIMITS | {"connections.HEAD_SECONDS": 60}
    with (
        running(tmp_path, few, TOUCHSTONE_CONNECTIONS="4") as gateway,
        contextlib.ExitStack() as held,
    ):
        strangers = [held.enter_context(gateway.connect()) for _ in range(4 + SPARE + 20)]
        ended = [received(stranger) for stranger in strangers[4 + SPARE :]]
        assert ended == [b""] * 20
        assert received(strangers[4]) == b""  # a spare one has two seconds to ask
        assert gateway.is_alive()
        strangers[0].sendall(head("GET", "/v1/jobs", "Connection: close"))
        assert status_of(received(strangers[0])) == 401  # who was there stays


def test_requests_at_a_time_are_limited_but_for_probes(tmp_path: Path, chosen: Settings) -> None:
    one = {"request_limits.CONCURRENT_REQUESTS": 1}
    with running(tmp_path, one) as gateway, gateway.connect() as slow:
        slow.sendall(head("POST", "/login", FORM, "Content-Length: 100"))
        assert status_busy(gateway) == 503
        assert gateway.is_alive()
        slow.close()
        assert status_in_the_end(gateway, "/v1/jobs") == 401


def status_busy(gateway: Process) -> int:
    """Until the slow request has been noticed."""
    deadline = time.monotonic() + PATIENCE
    while True:
        status = httpx.get(f"{gateway.url}/v1/jobs", timeout=PATIENCE).status_code
        if status == 503 or time.monotonic() > deadline:
            return status
        time.sleep(0.05)
